"""The studio in a real browser, from the first picture to what is written."""

import json
import random

import pytest

import carom

from .studio_server import choose, opened, settled, slide, studio, told
from .test_report import ask, press, sized, wait
from .test_report import browser as browser  # a fixture

selenium = pytest.importorskip("selenium", reason="selenium is not installed; run: pip install 'carom[test]'")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

BALL = """# A ball.
format = 2
name = "own-ball"
title = "A ball of my own"
[mechanisms.ball]
base = "free"
[mechanisms.ball.links.ball]
body = { kind = "disk", radius = 0.1, mass = 1.0 }
[surfaces.floor]
kind = "plane"
height = 0.0
[contacts.floor]
site = "ball.tip"
radius = 0.1
against = "floor"
normal = { law = "newton", restitution = 0.5 }
[start]
angles = [0.0]
base = [0.0, 0.6]
[run]
until = 0.5
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("studio") / "own.toml"
    path.write_text(BALL)
    return path


@pytest.fixture(scope="module")
def page(browser, file):
    """A studio that shows a file, opened once: its address works for one browser."""
    sized(browser, 1400, 900)
    browser.get_log("browser")
    browser.get_log("performance")
    with studio(str(file)) as address:
        opened(browser, address)
        browser.address = address
        yield browser


def fresh(page):
    """The file as it was."""
    page.find_element(By.ID, "reset").click()
    settled(page)
    page.execute_script("studio.stage.pause(); studio.stage.go(0)")
    wait(page, "studio.stage.drawn === 0")


def peak(page, side="mainSide"):
    return ask(page, f"Math.max(...studio.{side}.run.clips[0].tips[0].xy.filter((_, k) => k % 2))")


def test_a_slider_runs_it_again_and_the_run_before_is_a_ghost(page):
    fresh(page)
    slider = page.find_element(By.ID, "c-0-start-base-1")
    before = peak(page)
    slider.send_keys(Keys.ARROW_RIGHT * 3)  # by keyboard, as by hand
    settled(page)
    assert peak(page) == pytest.approx(ask(page, "studio.controls.value('start.base.1')"), rel=1e-6) != before
    assert ask(page, "Boolean(studio.mainSide.ghost)") and told(page).startswith("Ran in")
    back = page.find_element(By.CSS_SELECTOR, "[aria-label='Set start, base y back']")
    back.click()
    settled(page)
    assert peak(page) == pytest.approx(before) and not back.is_displayed()


def test_a_number_that_no_world_has_is_a_sentence_and_the_run_stays(page):
    fresh(page)
    slide(page, "contacts.floor.normal.restitution", 1.4)
    settled(page)
    assert "restitution of Newton is 1.4; it must lie in [0, 1]" in told(page) and peak(page) == pytest.approx(0.6)


def test_a_body_is_dragged_to_where_it_starts(page):
    fresh(page)
    x, y, scale = ask(page, "[...studio.mainSide.scene.px([0, 0.6]), studio.mainSide.scene.scale]")
    canvas = page.find_element(By.CSS_SELECTOR, "#sides canvas")
    size = canvas.size
    hand = ActionChains(page, duration=0).move_to_element_with_offset(
        canvas, x - size["width"] / 2, y - size["height"] / 2
    )
    hand.click_and_hold().move_by_offset(40, 30).release().perform()
    settled(page)
    assert ask(page, "studio.controls.value('start.base.0')") == pytest.approx(40 / scale, abs=2 / scale)
    assert peak(page) == pytest.approx(0.6 - 30 / scale, abs=2 / scale)


def test_it_plays_and_tells_the_formula_of_the_phase(page):
    fresh(page)
    press(page, "n")
    wait(page, "studio.stage.s > 0 && studio.stage.drawn === studio.stage.s")
    assert ask(page, "studio.time()") == pytest.approx((2 * 0.5 / 9.81) ** 0.5, rel=1e-9)
    assert "u_n+ = -e u_n-" in page.find_element(By.CSS_SELECTOR, "#sides .formula").text
    press(page, Keys.SPACE)
    wait(page, "studio.stage.playing")
    press(page, Keys.SPACE)
    wait(page, "!studio.stage.playing")


def test_two_laws_stand_side_by_side_at_one_time(page):
    fresh(page)
    choose(page, "beside", "contacts.floor.normal hertz")
    wait(page, "Boolean(studio.otherSide.run)")
    settled(page)
    titles = [e.text for e in page.find_elements(By.CSS_SELECTOR, ".side-title") if e.is_displayed()]
    assert titles == ["newton", "beside: hertz"]
    page.execute_script("studio.stage.go(studio.stage.clock.toS(0.4))")
    wait(page, "studio.stage.drawn === studio.stage.s")
    heights = [peak_at(page, side, 0.4) for side in ("mainSide", "otherSide")]
    assert heights[1] > heights[0] + 0.05  # Hertz gives everything back
    slide_beside = "[...studio.controls.all.keys()].filter((k) => k.startsWith('1'))"
    assert ask(page, slide_beside) == ["1contacts.floor.normal.stiffness"]
    fresh(page)
    assert not ask(page, "studio.otherSide.run")


def peak_at(page, side, t):
    return ask(
        page,
        f"((run) => run.clips[0].tips[0].xy[2 * run.clips[0].t.findIndex((t) => t >= {t}) + 1])(studio.{side}.run)",
    )


def test_what_was_changed_is_written_as_toml_and_as_python(page, file):
    fresh(page)
    slide(page, "start.base.1", 0.75)
    settled(page)
    texts = {}
    for kind in ("toml", "python"):
        page.find_element(By.ID, kind).click()
        wait(page, "document.getElementById('text-box').open")
        texts[kind] = ask(page, "document.getElementById('text').value")
        page.find_element(By.ID, "text-shut").click()
        wait(page, "!document.getElementById('text-box').open")
    wanted = carom.Scenario.load(file).with_({"start.base.1": 0.75})
    assert carom.Scenario.read(texts["toml"]) == wanted
    space = {}
    exec(texts["python"].replace("print(result)", ""), space)
    assert space["scenario"] == wanted and space["result"].finished


def test_a_hand_that_does_anything_leaves_a_page_that_answers(page):
    """A small part of what verify/test_studio.py does."""
    fresh(page)
    chance = random.Random(3)
    paths = ask(page, "[...studio.controls.all.values()].map((e) => [e.c.path, e.c.low, e.c.high])")
    for _ in range(25):
        path, low, high = chance.choice(paths)
        if "run." not in path:
            slide(page, path, chance.choice([low, high, low + (high - low) * chance.random()]))
    settled(page)
    assert told(page) and "mistake" not in told(page)
    for text in (BALL[:200], BALL.replace("= 0.1", "= -0.1"), BALL + "[", "\x00", "", BALL.replace("newton", "newtn")):
        page.execute_script("studio.upload('bad.toml', arguments[0])", text)
        wait(page, "document.getElementById('status').textContent.startsWith('bad.toml')")
    fresh(page)
    assert peak(page) == pytest.approx(0.6)


def test_a_file_taken_while_a_slider_settles_is_not_lost(page):
    """The run with all frames is asked for a moment after a slider is let go; the file was asked for before that."""
    fresh(page)
    for k in range(5):
        page.execute_script(
            "studio.set('start.base.1', arguments[0]); studio.upload('bad.toml', 'format =')", 0.5 + 0.01 * k
        )
        wait(page, "document.getElementById('status').textContent.startsWith('bad.toml')")
        settled(page)
        assert told(page).startswith("bad.toml") and peak(page) == pytest.approx(0.5 + 0.01 * k)
    fresh(page)


def test_a_file_that_changes_on_disk_can_be_reloaded(page, file):
    fresh(page)
    file.write_text(BALL.replace("[0.0, 0.6]", "[0.0, 0.55]"))
    wait(page, "!document.getElementById('file-news').hidden")
    assert "has changed on disk" in page.find_element(By.ID, "file-words").text and peak(page) == pytest.approx(0.6)
    page.find_element(By.ID, "reload").click()
    wait(page, "document.getElementById('file-news').hidden")
    settled(page)
    assert peak(page) == pytest.approx(0.55)
    file.write_text(BALL)
    wait(page, "!document.getElementById('file-news').hidden")
    page.find_element(By.ID, "reload").click()
    wait(page, "document.getElementById('file-news').hidden")
    settled(page)


def test_another_scenario_and_a_broken_file(page):
    page.execute_script("studio.upload('broken.toml', arguments[0])", BALL.replace("until = 0.5", "until = -1"))
    wait(page, "document.getElementById('status').textContent.startsWith('broken.toml, line')")
    assert "run.until is -1" in told(page) and peak(page) == pytest.approx(0.6)
    page.execute_script("studio.upload('higher.toml', arguments[0])", BALL.replace("0.6]", "0.9]"))
    wait(page, "Math.abs(Math.max(...studio.mainSide.run.clips[0].tips[0].xy) - 0.9) < 1e-6")
    choose(page, "scenario", "ball-drop")
    wait(page, "document.title.startsWith('A ball bounces to rest')")
    settled(page)
    page.find_element(By.ID, "lecture").click()
    wait(page, "document.body.classList.contains('lecture')")
    press(page, "l")
    wait(page, "!document.body.classList.contains('lecture')")


def test_a_second_tab_is_told_and_can_take_over(page):
    first = page.current_window_handle
    page.switch_to.new_window("tab")
    page.get(page.address)
    wait(page, "document.getElementById('cover').open")
    assert "open in another tab" in page.find_element(By.ID, "cover-title").text
    page.find_element(By.ID, "cover-act").click()
    settled(page)
    second = page.current_window_handle
    page.switch_to.window(first)
    wait(page, "document.getElementById('cover').open")
    assert "now used in another tab" in page.find_element(By.ID, "cover-title").text
    page.switch_to.window(second)
    page.close()
    page.switch_to.window(first)
    page.find_element(By.ID, "cover-act").click()
    wait(page, "!document.getElementById('cover').open")
    settled(page)


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_it_fits(page, size):
    sized(page, *size)
    wait(page, f"innerWidth === {size[0]}")
    assert ask(page, "document.documentElement.scrollWidth") <= size[0]
    play = page.find_element(By.ID, "play").rect
    assert play["height"] >= 44 and (size[0] < 600 or play["y"] + play["height"] < size[1])
    sized(page, 1400, 900)


def test_the_report_opens_in_a_tab_of_its_own(page):
    first = page.current_window_handle
    page.find_element(By.ID, "report").click()
    page.switch_to.window(next(w for w in page.window_handles if w != first))
    wait(page, "Boolean(window.carom && carom.impacts.length)")
    page.close()
    page.switch_to.window(first)


def test_nothing_was_asked_elsewhere_and_nothing_complained(page):
    """After all of the above."""
    assert [e for e in page.get_log("browser") if e["level"] in ("WARNING", "SEVERE")] == []
    sent = [json.loads(e["message"])["message"] for e in page.get_log("performance")]
    urls = [e["params"]["request"]["url"] for e in sent if e["method"] == "Network.requestWillBeSent"]
    assert urls and all(url.startswith((page.address, "data:", "blob:")) for url in urls), urls
