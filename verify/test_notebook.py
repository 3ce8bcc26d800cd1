"""A notebook, run by nbclient and looked at in Chromium: what is shown is drawn, and the player plays."""

from __future__ import annotations

import pytest

pytest.importorskip("nbclient", reason="nbclient is not installed; run: pip install 'carom[verify]'")

import nbformat
from nbclient import NotebookClient
from tests.browser.test_report import browser as browser
from tests.browser.test_report import wait

CELLS = [
    "import carom, numpy as np",
    "ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())\nball",
    "floor = carom.Contact(ball.tip, carom.Plane(height=0.0), carom.Newton(0.5), radius=0.1, name='floor')\n"
    "world = carom.World(ball, contacts=floor)\nworld",
    "start = world.state(base=(0.0, 1.1))\nstart",
    "result = carom.simulate(world, start, until=1.0, progress=False)\nresult",
    "result.impacts[0]",
    "carom.Scenario.load('ball-drop')",
    "carom.batch(lambda p: world, {'k': np.linspace(0.0, 1.0, 5)}, start, until=1.0, measures=['impacts.count'])",
    "carom.sweep('ball-drop', {'start.base.1': np.linspace(0.5, 1.0, 3)}, ['impact.1.restitution'], progress=False)",
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    pieces = []
    for cell in notebook.cells[1:]:
        outputs = [o for o in cell.outputs if o.output_type == "execute_result"]
        assert len(outputs) == 1 and len(cell.outputs) == 1, cell.outputs
        pieces.append(outputs[0].data["text/html"])
    page = tmp_path_factory.mktemp("notebook") / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{'<hr>'.join(pieces)}", encoding="utf-8")
    return page, pieces


def test_everything_shows_itself(shown):
    ball, world, start, result, impact, scenario, batch, study = shown[1]
    assert "<svg" in ball and "<svg" in world and "<svg" in scenario
    assert "<table" in start and "<table" in impact and "<table" in batch and "xarray" in study
    assert result.startswith("<iframe")


def test_the_player_plays_in_its_frame(browser, shown):
    browser.get_log("browser")
    browser.get(shown[0].as_uri())
    frame = browser.find_element("css selector", "iframe")
    browser.execute_script("arguments[0].scrollIntoView()", frame)  # what nobody sees is not drawn
    browser.switch_to.frame(frame)
    wait(browser, "document.getElementById('r-time') && document.getElementById('r-time').textContent !== ''")
    browser.find_element("id", "next").click()
    wait(browser, "Math.abs(carom.time() - 0.451524) < 1e-5")
    assert not browser.find_element("tag name", "h1").is_displayed()
    browser.switch_to.default_content()
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
