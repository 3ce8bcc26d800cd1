"""What a report shows first, how it draws stretched time, and whether anybody can read it: in a real browser."""

import json
import re

import numpy as np
import pytest
from selenium.webdriver.common.by import By

import carom
from carom.report import Quantity, write_report

from .test_report import ask, sized, wait
from .test_report import browser as browser  # fixtures
from .test_report import page as page
from .test_report import result as result

SIZES = [(1400, 900), (390, 844)]


@pytest.fixture(scope="module")
def bounced(tmp_path_factory):
    """A ball on a rigid floor, which comes to rest: blows, a stance, and numbers that are rounding."""
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), carom.Newton(0.5), radius=0.1, name="floor")
    world = carom.World(ball, contacts=floor, gravity=9.81)
    run = carom.simulate(world, world.state(base=(0.0, 1.1)), until=2.0)
    rows = [
        Quantity("slip", 3e-17, "m/s", 0.0, 3e-17, "agrees", 1e-9),
        Quantity("first touch", 0.45, "s", 0.4, 0.05, "DIFFERS", 0.001),
    ]
    return run, write_report(tmp_path_factory.mktemp("bounced") / "report.html", run, title="Bounces", quantities=rows)


def dark(browser, on):
    wanted = [{"name": "prefers-color-scheme", "value": "dark" if on else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})


def luminance(colour):
    rgb = np.array([float(x) for x in re.findall(r"[\d.]+", colour)[:3]]) / 255.0
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_the_first_screen_answers_what_how_hard_and_how_sure(browser, page, result):
    sized(browser, 1400, 900)
    browser.get(page.as_uri())
    facts = {
        each.find_element(By.TAG_NAME, "dt").text: each.find_element(By.TAG_NAME, "dd").text.replace("\u00a0", " ")
        for each in browser.find_elements(By.CSS_SELECTOR, ".facts div")
    }
    assert facts["What happened"].startswith("2 impacts in 0.7 s")
    hardest = max(i.max_normal_force for i in result.impacts)
    assert f"{hardest * 1e-3:.3g}" in facts["How hard"] and "kN at most" in facts["How hard"]
    assert "energy closes to" in facts["How sure"] and "rtol 1e-08, atol 1e-10" in facts["How sure"]
    below = "(id) => document.getElementById(id).getBoundingClientRect().bottom"
    assert ask(browser, f"({below})('play')") < 900 and ask(browser, f"({below})('axis')") < 900
    order = ["viewer", "impacts", "figures"]
    tops = [browser.find_element(By.ID, each).location["y"] for each in order]
    assert tops == sorted(tops)


def test_rigid_contacts_tell_their_penetration(browser, bounced):
    run, page = bounced
    sized(browser, 1400, 900)
    browser.get(page.as_uri())
    facts = browser.find_element(By.CSS_SELECTOR, ".facts").text.replace("\u00a0", " ")
    assert f"{len(run.impacts)} impacts in 2 s" in facts and "1 stance" in facts
    assert re.search(r"penetration (≤ \S+e-\d+|0) m", facts)
    assert "1 of 2 numbers agree with the source" in facts


def test_rounding_is_zero_with_its_tolerance(browser, bounced):
    """A speed of 3e-17 m/s where 0 is expected is shown as 0, beside the tolerance; the exact value is kept."""
    browser.get(bounced[1].as_uri())
    rows = [
        row.find_elements(By.TAG_NAME, "td") for row in browser.find_elements(By.CSS_SELECTOR, ".quantities tbody tr")
    ]
    told = [[cell.text for cell in row] for row in rows]
    assert told[0] == ["slip", "0", "m/s", "0", "0", "± 1e-09", "agrees"]
    assert told[1] == ["first touch", "0.45", "s", "0.4", "0.05", "± 0.001", "DIFFERS"]
    assert rows[0][1].get_attribute("title") == "3e-17"


def test_readings_have_the_units_of_the_table(browser, page, result):
    sized(browser, 1400, 900)
    browser.get(page.as_uri())
    assert "[kN]" in browser.find_element(By.CSS_SELECTOR, "table.impacts thead").text
    first, last = ask(browser, "carom.window(1)")
    for share in (0.0, 0.2, 0.5, 0.8, 1.0):
        ask(browser, f"carom.goto({first + share * (last - first)})")
        wait(browser, "carom.drawn() === carom.show()")
        assert browser.find_element(By.ID, "r-force").text.endswith("kN")


def test_the_axis_is_broken_wherever_the_pace_changes(browser, page):
    """Two impacts inside the run: four breaks, at the ends of their windows; none where time is not stretched."""
    sized(browser, 1400, 900)
    browser.get(page.as_uri())
    marks = [s for n in (1, 2) for s in ask(browser, f"carom.window({n})")]
    assert ask(browser, "carom.breaks()") == pytest.approx(marks)
    ask(browser, "carom.stretch(0)")
    assert ask(browser, "carom.breaks()") == []


def test_no_curve_crosses_a_break(browser, page):
    """In the middle of a break every pixel of the panel has the colour of the page, on curves and grid alike."""
    sized(browser, 1400, 900)
    browser.get(page.as_uri())
    wait(browser, "carom.drawn() === carom.show()")
    ask(browser, "carom.seek(0.1)")
    wait(browser, "carom.drawn() === carom.show()")
    colours = """(() => {
      const canvas = document.getElementById('curves'), ctx = canvas.getContext('2d');
      const k = canvas.width / canvas.clientWidth, out = new Set();
      for (const s of carom.breaks()) {
        const x = carom.x(s);
        for (let y = 32; y < canvas.clientHeight - 60; y++) {
          if (carom.heading(y)) continue;
          out.add([...ctx.getImageData(Math.round(x * k), Math.round(y * k), 1, 1).data].join());
        }
      }
      return [...out];
    })()"""
    paper = ask(browser, "getComputedStyle(document.body).backgroundColor")
    wanted = ",".join(re.findall(r"\d+", paper)) + ",255"
    assert ask(browser, colours) == [wanted]


def test_strikes_and_stances_are_told_apart(browser, bounced, page):
    browser.get(bounced[1].as_uri())
    legend = browser.find_element(By.ID, "legend")
    assert legend.text == "stance: closed"
    assert len(legend.find_elements(By.CSS_SELECTOR, "i.stands")) == 1
    browser.get(page.as_uri())
    entries = [e.text for e in browser.find_elements(By.CSS_SELECTOR, "#legend span")]
    assert entries and all(e.startswith("strike: ") for e in entries)
    colours = ask(browser, "[...document.querySelectorAll('#legend i')].map((e) => e.style.background)")
    assert len(set(colours)) == len(colours)  # one entry for every look


@pytest.mark.parametrize("night", [False, True])
def test_text_can_be_read_in_light_and_dark(browser, bounced, night):
    """Contrast of 4.5 at least for every text: the rule for small letters."""
    sized(browser, 1400, 900)
    dark(browser, night)
    browser.get(bounced[1].as_uri())
    pairs = ask(
        browser,
        """[...document.querySelectorAll('main *')].filter((e) => [...e.childNodes].some(
          (n) => n.nodeType === 3 && n.textContent.trim()) && e.getClientRects().length && !e.closest('[disabled]')
        ).map((e) => {
          let back = e;
          while (back && getComputedStyle(back).backgroundColor === 'rgba(0, 0, 0, 0)') back = back.parentElement;
          const behind = getComputedStyle(back || document.body).backgroundColor;
          return [getComputedStyle(e).color, behind, e.outerHTML.slice(0, 80)];
        })""",
    )
    dark(browser, False)
    assert len(pairs) > 50
    for colour, back, where in pairs:
        if "color(" in colour + back:  # mixed colours are those of marked rows and pressed buttons
            continue
        lighter, darker = sorted((luminance(colour), luminance(back)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, where


@pytest.mark.parametrize("which", ["one", "other"])
def test_a_phone_shows_it_in_less_than_six_screens(browser, bounced, page, which):
    sized(browser, 390, 844)
    browser.get((page if which == "one" else bounced[1]).as_uri())
    assert ask(browser, "document.documentElement.scrollWidth") <= 390
    assert ask(browser, "document.documentElement.scrollHeight") < 6 * 844
    assert not browser.find_element(By.CSS_SELECTOR, ".hints").is_displayed()
    # Words are not broken: every cell with words is as wide as its longest word.
    broken = """[...document.querySelectorAll('td.word')].filter((e) => {
      const probe = document.createElement('span');
      probe.style.cssText = 'position:absolute;visibility:hidden;white-space:nowrap;font:' + getComputedStyle(e).font;
      document.body.append(probe);
      const widest = Math.max(...e.textContent.split(/\\s+/).map((w) => ((probe.textContent = w), probe.offsetWidth)));
      probe.remove();
      return widest > e.clientWidth;
    }).map((e) => e.textContent)"""
    assert ask(browser, broken) == []


def test_everything_can_be_reached_by_keyboard(browser, bounced):
    sized(browser, 1400, 900)
    browser.get(bounced[1].as_uri())
    names = ask(
        browser,
        """[...document.querySelectorAll('button, select, input, .scroll, #axis')].filter((e) => !e.disabled
          && e.getClientRects().length && (e.tabIndex < 0 || !(e.getAttribute('aria-label') || e.textContent.trim()
          || (e.labels && e.labels.length)))).map((e) => e.outerHTML.slice(0, 90))""",
    )
    assert names == []


def test_labels_of_forces_never_overprint(browser, bounced, tmp_path):
    """Fourteen contacts at one place: their numbers are stacked, and those that find no room are counted."""
    text = bounced[1].read_text(encoding="utf-8")
    head, data, tail = re.split(r'(?<=id="carom-data">)(.*?)(?=</script>)', text, maxsplit=1)
    packed = json.loads(data)
    contact = packed["clips"][0]["contacts"][0]
    packed["clips"][0]["contacts"] = [contact | {"name": f"floor {k}"} for k in range(14)]
    (tmp_path / "many.html").write_text(head + json.dumps(packed) + tail, encoding="utf-8")
    sized(browser, 1400, 900)
    browser.get((tmp_path / "many.html").as_uri())
    ask(browser, "carom.goto(carom.length())")
    wait(browser, "carom.drawn() === carom.show()")
    boxes, hidden = ask(browser, "carom.labels()"), ask(browser, "carom.hidden()")
    assert len(boxes) + hidden == 14 and len(boxes) > 4 and hidden > 0
    for k, a in enumerate(boxes):
        for b in boxes[k + 1 :]:
            assert a["x1"] <= b["x0"] or b["x1"] <= a["x0"] or a["y1"] <= b["y0"] or b["y1"] <= a["y0"]
    # More contacts than colours: five have lines of their own, the others share one entry.
    assert ask(browser, "carom.lines()") == [*(f"floor {k}" for k in range(5)), "9 others"]


def test_what_travels_far_is_followed(browser, tmp_path):
    """Two links that fly three metres, thirty times their size, stay in the picture and can be seen."""
    both = carom.Mechanism([carom.Rod(0.05, 1.0), carom.Rod(0.05, 1.0)], base=carom.Free())
    world = carom.World(both, gravity=0.0)
    start = world.state(angles=[0.0, 0.0], base=(0.0, 0.0), base_velocity=(3.0, 0.0))
    run = carom.simulate(world, start, until=1.0)
    page = write_report(tmp_path / "far.html", run, title="Far")
    sized(browser, 1400, 900)
    browser.get(page.as_uri())
    wide = ask(browser, "document.getElementById('scene').clientWidth")
    for t in (0.0, 0.3, 0.8, 1.0):
        ask(browser, f"carom.seek({t})")
        wait(browser, "carom.drawn() === carom.show()")
        left, right = (ask(browser, f"carom.place({3.0 * t + side}, 0)")[0] for side in (0.0, 0.1))
        assert left >= 0.0 and right <= wide and right - left > 0.1 * wide


def test_rounding_of_a_blow_without_rebound_is_told_as_nothing(browser, tmp_path):
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(
        ball.tip, carom.Plane(point=(0.0, 0.1), normal=(0.3, 1.0)), carom.Plastic(), radius=0.1, name="slope"
    )
    world = carom.World(ball, contacts=floor, gravity=9.81)
    run = carom.simulate(world, world.state(base=(0.0, 1.1)), until=1.0)
    assert 0.0 < abs(run.impacts[0].normal_velocity_after) < 1e-12, "no rounding: this test shows nothing"
    browser.get(write_report(tmp_path / "plastic.html", run, title="Down", about="as `told`").as_uri())
    told = browser.find_element(By.CSS_SELECTOR, "main").text.replace("\u00a0", " ")
    assert ", 0 m/s after" in told and "before and 0 m/s after, a restitution of 0." in told
    assert browser.find_element(By.CSS_SELECTOR, ".about code").text == "told"


def test_curves_that_nobody_can_tell_apart_are_one(browser, tmp_path):
    """Two feet of one kind that always carry the same, and a third that is softer."""
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor, laws = carom.Plane(height=0.0), {"left": 1e6, "right": 1e6, "soft": 2e5}
    feet = [carom.Contact(ball.tip, floor, carom.Hertz(k), radius=0.1, name=name) for name, k in laws.items()]
    world = carom.World(ball, contacts=feet, gravity=9.81)
    run = carom.simulate(world, world.state(base=(0.0, 0.2)), until=0.2)
    browser.get(write_report(tmp_path / "feet.html", run, title="Feet").as_uri())
    assert ask(browser, "carom.lines()") == ["left, right", "soft"]
