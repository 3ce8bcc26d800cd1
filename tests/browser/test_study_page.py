"""The page of a study in a browser: values beneath the pointer, and the command of a run."""

import numpy as np
import pytest
import xarray
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import carom
from carom.experiment.sweeping import study_page

from .test_report import browser as browser  # a fixture
from .test_report import sized


@pytest.fixture
def page(tmp_path):
    dims, values = ("mu", "angle"), np.arange(12.0).reshape(3, 4)
    told = {"outcome": (dims, np.ones((3, 4), dtype=np.int8)), "force": (dims, values, {"units": "N"})}
    data = xarray.Dataset(told, {"mu": [0.0, 0.25, 0.5], "angle": [30.0, 40.0, 50.0, 60.0]})
    return study_page(data, tmp_path / "study.html", "study.zarr")


def test_values_beneath_the_pointer_and_the_command_of_a_run(browser, page):
    browser.set_window_size(1100, 900)
    browser.get(page.as_uri())
    canvas = browser.find_element("id", "map")
    # The cell right of the middle, in the middle row: mu = 0.25, angle = 50.
    ActionChains(browser).move_to_element_with_offset(canvas, 60, -10).click().perform()
    assert browser.find_element("id", "told").text == "mu = 0.25, angle = 50: force = 6 [N]"
    assert browser.find_element("id", "command").text == "carom run study.zarr --at mu=0.25,angle=50"
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []


COLOURS = """
const ratio = canvas.width / canvas.clientWidth, wide = view.w - room.left - room.right;
const high = view.h - room.top - room.bottom;
const shares = [0.03, 0.13, 0.31, 0.47, 0.69, 0.83, 0.97], values = study.variables.force.values, off = [];
const nearer = (k, at) =>
  spots.reduce((best, s) => (Math.abs(s[k] - at) < Math.abs(best - at) ? s[k] : best), spots[0][k]);
for (const a of shares) for (const b of shares) {
  const x = room.left + a * wide, y = room.top + b * high, own = [nearer(0, x), nearer(1, y)];
  const run = spots.find((s) => s[0] === own[0] && s[1] === own[1])[2];
  const wanted = colour(values[run] / 11).match(/[0-9]+/g);
  const seen = pen.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data;
  if (wanted.some((c, k) => Math.abs(c - seen[k]) > 2)) off.push([a, b, run, [...seen]]);
}
return off;
"""


def test_a_map_of_uneven_values_has_the_colour_of_the_nearest_run_everywhere(browser, tmp_path):
    dims, values = ("mu", "angle"), np.arange(12.0).reshape(3, 4)
    told = {"outcome": (dims, np.ones((3, 4), dtype=np.int8)), "force": (dims, values)}
    data = xarray.Dataset(told, {"mu": [0.01, 0.1, 1.0], "angle": [1.0, 2.0, 5.0, 20.0]})
    sized(browser, 1100, 900)
    browser.get(study_page(data, tmp_path / "study.html").as_uri())
    assert browser.execute_script(COLOURS) == []
    browser.get_log("browser")  # has what Chromium says of pictures that are read


def test_a_phone_shows_letters_that_can_be_read(browser, page):
    """One pixel of the picture is one of the screen's, so that letters have their 13 of them; dark is drawn dark."""
    sized(browser, 390, 844)
    browser.get(page.as_uri())
    told = "[canvas.width / devicePixelRatio, canvas.clientWidth, document.documentElement.scrollWidth]"
    drawn, wide, page_wide = browser.execute_script(f"return {told}")
    assert abs(drawn - wide) <= 1 and page_wide <= 390
    ink = "[...pen.getImageData(0, 0, canvas.width, canvas.height).data].filter((v, k) => k % 4 < 3)"
    shades = {}
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        shades[scheme] = browser.execute_script(f"const c = {ink}; return c.reduce((a, v) => a + v, 0) / c.length")
    assert shades["dark"] > shades["light"]  # of letters on nothing
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.get_log("browser")  # has what Chromium says of pictures that are read


def test_runs_are_reached_by_keys(browser, page):
    sized(browser, 1100, 900)
    browser.get(page.as_uri())
    canvas = browser.find_element("id", "map")
    canvas.send_keys(Keys.ARROW_RIGHT)
    assert browser.find_element("id", "told").text == "mu = 0, angle = 30: force = 0 [N]"
    canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_UP)
    assert browser.find_element("id", "told").text == "mu = 0.25, angle = 50: force = 6 [N]"
    canvas.send_keys(Keys.ARROW_LEFT, Keys.ENTER)
    assert browser.find_element("id", "command").text == "carom run study.zarr --at mu=0.25,angle=40"
    assert [line for line in browser.get_log("browser") if line["level"] in ("WARNING", "SEVERE")] == []


@pytest.fixture(scope="module")
def playing(tmp_path_factory):
    """Two balls by two restitutions, three of which play."""
    ball = carom.Scenario.load("ball-drop").with_({"run.until": 1.0})
    over = {"start.base.1": [0.5, 0.9], "contacts.floor.normal.restitution": [0.4, 0.7]}
    data = carom.sweep(ball, over, ["impacts.count"], progress=False)
    return study_page(data, tmp_path_factory.mktemp("page") / "study.html", "balls.zarr", plays=3)


def test_a_click_plays_a_stored_run_in_the_time_microscope(browser, playing):
    browser.set_window_size(1100, 900)
    browser.get(playing.as_uri())
    plays = browser.execute_script("return Object.keys(study.plays).map(Number)")
    assert len(plays) == 3
    canvas, frame = browser.find_element("id", "map"), browser.find_element("id", "play")
    size = canvas.size
    for run in (*plays, 6 - sum(plays)):  # the last one is not stored
        x, y = browser.execute_script(f"return spots.find(([, , run]) => run === {run}).slice(0, 2)")
        aim = (round(x - size["width"] / 2), round(y - size["height"] / 2))
        ActionChains(browser).move_to_element_with_offset(canvas, *aim).click().perform()
        assert browser.find_element("id", "command").text.startswith("carom run balls.zarr --at start.base.1=")
        assert frame.is_displayed() == (run in plays)
        if run in plays:
            browser.switch_to.frame(frame)
            assert browser.find_element("id", "watch").text == "Time microscope"
            height = 0.9 if run >= 2 else 0.5
            assert f"start.base.1={height}" in browser.find_element("class name", "about").text
            assert browser.find_element("id", "scene").size["width"] > 100
            browser.switch_to.default_content()
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []
