"""The report in a real browser: it plays, steps, stretches, and shows the numbers of the run."""

import base64
import json
import os
import shutil
import time

import numpy as np
import pytest

import carom
from carom.report import Figure, Seam, write_report
from carom.result._clip import Clip
from carom.result.impacts import Impact

selenium = pytest.importorskip("selenium", reason="selenium is not installed; run: pip install 'carom[test]'")

from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars"
)
NAME = "ball</script>"


@pytest.fixture(scope="module")
def result():
    """A steel ball falls on steel, twice: blows of a few tens of microseconds."""
    ball = carom.Mechanism([carom.Disk(radius=0.01, mass=0.03)], base=carom.Free())
    steel = carom.Material(youngs_modulus=210e9, poisson_ratio=0.29, yield_strength=1.12e9)
    law = carom.JacksonGreen(steel, steel, radius=0.01)
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), law, radius=0.01, name=NAME)
    world = carom.World(ball, contacts=floor, gravity=9.81)
    start = world.state(rates=[5.0], base=(0.0, 0.31), base_velocity=(0.1, 0.0))
    return carom.simulate(world, start, until=0.7)


@pytest.fixture(scope="module")
def page(result, tmp_path_factory):
    from matplotlib.figure import Figure as Sheet

    folder = tmp_path_factory.mktemp("report")
    sheet = Sheet(figsize=(3, 2))
    sheet.subplots().plot([0, 1])
    sheet.savefig(folder / "figure.png")
    figures = [Figure((folder / "figure.png").read_bytes(), "A line.")]
    return write_report(folder / "report.html", result, title="Ball <drop>", figures=figures)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    binary = next((b for b in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if b), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        sentence = "no Chromium with its driver here; run: apt-get install chromium chromium-driver"
        if os.environ.get("CAROM_NEEDS_BROWSER") == "1":
            pytest.fail(sentence)
        pytest.skip(sentence)
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield made
    made.quit()


@pytest.fixture
def shown(browser, page):
    """The page, fresh, at desktop size."""
    sized(browser, 1280, 900)
    browser.get(page.as_uri())
    return browser


def sized(browser, width, height):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def ask(browser, expression):
    return browser.execute_script(f"return {expression}")


def wait(browser, expression):
    """Until it is true, be the machine ever so busy; a failure tells what was waited for."""
    for _ in range(1_200):
        if ask(browser, expression):
            return
        time.sleep(0.05)
    pytest.fail(f"never true: {expression}")


def press(browser, *keys):
    ActionChains(browser).send_keys(*keys).perform()


def test_the_page_asks_nothing_of_any_network_and_complains_of_nothing(shown, page):
    shown.get_log("performance")  # the browser's own first page is of no interest
    shown.get(page.as_uri())
    wait(shown, "document.getElementById('r-time').textContent !== ''")
    logs = shown.get_log("browser")
    assert [entry for entry in logs if entry["level"] in ("WARNING", "SEVERE")] == []
    sent = [json.loads(entry["message"])["message"] for entry in shown.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"]
    assert page.as_uri() in urls
    assert [u for u in urls if not u.startswith(("data:", page.as_uri()))] == []
    assert shown.title == "Ball <drop>" and "script" in shown.find_element(By.CSS_SELECTOR, "td.word").text


def test_it_plays_and_pauses(shown):
    button = shown.find_element(By.ID, "play")
    assert ask(shown, "carom.time()") == 0 and button.get_attribute("aria-label") == "Play"
    button.click()
    wait(shown, "carom.playing() && carom.time() > 0.02")
    assert button.get_attribute("aria-label") == "Pause"
    button.click()
    stopped = ask(shown, "carom.show()")
    time.sleep(0.2)
    assert ask(shown, "carom.show()") == stopped and not ask(shown, "carom.playing()")


def test_next_and_previous_go_from_impact_to_impact(shown, result):
    starts = [i.t_start for i in result.impacts]
    assert len(starts) == 2
    onward = shown.find_element(By.ID, "next")
    for start in starts:
        onward.click()
        assert ask(shown, "carom.time()") == pytest.approx(start, abs=1e-15)
    onward.click()
    assert ask(shown, "carom.time()") == pytest.approx(starts[-1], abs=1e-15)
    shown.find_element(By.ID, "previous").click()
    assert ask(shown, "carom.time()") == pytest.approx(starts[0], abs=1e-15)
    shown.find_element(By.CSS_SELECTOR, '[data-impact="2"]').click()
    assert ask(shown, "carom.time()") == pytest.approx(starts[1], abs=1e-15)
    wait(shown, "document.querySelector('tr.current [data-impact=\"2\"]') !== null")


def test_the_stretch_gives_an_impact_a_large_share_of_the_axis(shown, result):
    share = result.impacts[0].duration / float(result.t[-1])
    assert share < 1e-3
    assert ask(shown, "carom.share(1)") > 0.3
    ask(shown, "carom.stretch(0)")
    assert ask(shown, "carom.share(1)") == pytest.approx(1.5 * share, rel=1e-6)
    assert ask(shown, "carom.length()") == pytest.approx(float(result.t[-1]), rel=1e-9)


def test_every_phase_of_an_impact_can_be_watched(shown, result):
    """The cursor's numbers at the deepest place are those of the impact, and the phases come in order."""
    first, last = ask(shown, "carom.window(1)")
    phases, deepest = [], 0.0
    for k in range(41):
        ask(shown, f"carom.goto({first + (last - first) * k / 40})")
        wait(shown, "carom.drawn() === carom.show()")
        phase = shown.find_element(By.ID, "r-phase").text
        if not phases or phases[-1] != phase:
            phases.append(phase)
        text = shown.find_element(By.ID, "r-depth").text
        if text.endswith("µm") and not text.startswith("apart"):
            deepest = max(deepest, float(text.split("\u202f")[0].replace("\u2212", "-")))
    assert [p for p in phases if p != "elastic"] == ["apart", "plastic", "restitution", "apart"]
    assert deepest == pytest.approx(1e6 * result.impacts[0].max_indentation, rel=0.02)


def test_the_table_has_the_numbers_of_the_run(shown, result):
    rows = shown.find_elements(By.CSS_SELECTOR, "table.impacts tbody tr")
    assert len(rows) == len(result.impacts)
    for row, i in zip(rows, result.impacts, strict=True):
        cells = {c.get_attribute("data-name"): c for c in row.find_elements(By.CSS_SELECTOR, "td[data-name]")}
        exact = {name: float(cell.get_attribute("data-value")) for name, cell in cells.items()}
        assert exact["t_start"] == i.t_start and exact["lasts"] == i.duration
        assert exact["largest force"] == i.max_normal_force and exact["restitution"] == i.restitution
        assert float(cells["lasts"].text) == pytest.approx(1e6 * i.duration, rel=1e-3)
        assert float(cells["restitution"].text) == pytest.approx(i.restitution, rel=1e-3)
    assert "[µs]" in shown.find_element(By.CSS_SELECTOR, "table.impacts thead").text


def test_keys_move_the_show(shown, result):
    press(shown, Keys.SPACE)
    wait(shown, "carom.playing()")
    press(shown, Keys.SPACE)
    wait(shown, "!carom.playing()")
    press(shown, Keys.END)
    assert ask(shown, "carom.time()") == pytest.approx(float(result.t[-1]))
    press(shown, Keys.HOME)
    assert ask(shown, "carom.time()") == 0.0
    press(shown, Keys.ARROW_RIGHT)
    assert 0.0 < ask(shown, "carom.show()") < 0.1
    press(shown, Keys.ARROW_LEFT, "n")
    assert ask(shown, "carom.time()") == pytest.approx(result.impacts[0].t_start, abs=1e-15)
    ActionChains(shown).key_down(Keys.SHIFT).send_keys(Keys.ARROW_RIGHT).key_up(Keys.SHIFT).perform()
    assert ask(shown, "carom.time()") == pytest.approx(result.impacts[1].t_start, abs=1e-15)
    press(shown, "p")
    assert ask(shown, "carom.time()") == pytest.approx(result.impacts[0].t_start, abs=1e-15)


def test_the_axis_can_be_dragged(shown):
    axis = shown.find_element(By.ID, "axis")
    shown.execute_script("arguments[0].scrollIntoView({block: 'center'})", axis)
    ActionChains(shown).move_to_element(axis).click_and_hold().perform()
    middle = ask(shown, "carom.show()")
    assert middle == pytest.approx(ask(shown, "carom.length()") / 2, rel=0.1)
    ActionChains(shown).move_by_offset(200, 0).release().perform()
    assert ask(shown, "carom.show()") > middle * 1.1


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
def test_it_fits(shown, size):
    sized(shown, *size)
    ask(shown, "carom.next()")
    wait(shown, "document.getElementById('r-where').textContent.startsWith('1 of 2')")
    assert ask(shown, "document.documentElement.scrollWidth") <= size[0]
    heights = ask(
        shown, "[...document.querySelectorAll('.buttons button')].map((b) => b.getBoundingClientRect().height)"
    )
    assert min(heights) >= 44
    cut = "[...document.querySelectorAll('.readout dd')].filter((e) => e.scrollWidth > e.clientWidth + 1)"
    assert ask(shown, f"{cut}.map((e) => e.textContent)") == []


def test_a_figure_opens_large(shown):
    shown.find_element(By.CSS_SELECTOR, ".large").click()
    wait(shown, "document.getElementById('enlarged').open")
    press(shown, Keys.ESCAPE)
    wait(shown, "!document.getElementById('enlarged').open")


def test_a_blow_between_two_clips_is_an_impact(browser, tmp_path):
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=2.0)], base=carom.Free())
    world = carom.World(ball, gravity=0.0)
    first = carom.simulate(world, world.state(base=(-0.5, 0.0), base_velocity=(1.0, 0.0)), until=0.5)
    second = carom.simulate(world, world.state(base_velocity=(0.25, 0.0)), until=0.5)
    numbers = {"max_indentation": 0.0, "residual_indentation": 0.0, "max_normal_force": float("inf")}
    speeds = {"normal_velocity_before": -1.0, "normal_velocity_after": -0.25}
    sides = {"tangential_velocity_before": 0.0, "tangential_velocity_after": 0.0, "tangential_impulse": 0.0}
    energies = {
        "kinetic_energy_by_link_before": (1.0,),
        "kinetic_energy_by_link_after": (0.0625,),
        "energy_lost": 0.9375,
    }
    impact = Impact(
        contact="hand takes ball", t_start=0.0, t_end=0.0, normal_impulse=1.5, **numbers, **speeds, **sides, **energies
    )
    page = write_report(
        tmp_path / "capture.html",
        [Clip(first, t0=-0.5), Clip(second)],
        title="Capture",
        blows=[Seam(impact, (0.0, 0.0), (-1.0, 0.0))],
    )
    sized(browser, 1280, 900)
    browser.get_log("browser")
    browser.get(page.as_uri())
    browser.find_element(By.ID, "next").click()
    assert ask(browser, "carom.time()") == 0.0
    begin, end = ask(browser, "carom.window(1)")
    for share, phase, kinetic in ((0.25, "before the blow", "1.000"), (0.75, "after the blow", "0.06250\u202fJ")):
        ask(browser, f"carom.goto({begin + share * (end - begin)})")
        wait(browser, f"document.getElementById('r-phase').textContent === '{phase}'")
        shown = browser.find_element(By.ID, "r-kinetic").text
        assert shown.startswith(kinetic), shown
        assert browser.find_element(By.ID, "r-time").text.startswith("0.0000000")
    taken = ask(
        browser, "JSON.parse(document.getElementById('carom-data').textContent).clips.map((c) => c.energy.taken)"
    )
    assert [float(np.frombuffer(base64.b64decode(each), "<f4")[0]) for each in taken] == [0.0, 0.9375]
    words = browser.find_element(By.CSS_SELECTOR, "main, body").text
    assert "hand takes ball: they met at 1.00 m/s, an impulse of 1.50 N s brought that to 250 mm/s" in words.replace(
        "\u00a0", " "
    )
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")] == []
