"""The page of a comparison in a browser: both runs at one time, the curves that are chosen."""

import pytest

import carom

from .test_report import ask, press, sized, wait
from .test_report import browser as browser  # a fixture

pytest.importorskip("selenium", reason="selenium is not installed; run: pip install 'carom[test]'")

CHANGES = [{"run.until": 0.8}, {"run.until": 0.8, "contacts.floor.normal.restitution": 0.8}]


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    both = carom.compare("ball-drop", "ball-drop", changes=CHANGES)
    path = both.page(tmp_path_factory.mktemp("compare") / "both.html")
    browser.get_log("browser")
    sized(browser, 1400, 900)
    browser.get(path.as_uri())
    wait(browser, "Boolean(window.comparison)")
    return browser


def test_both_runs_are_at_one_time(page):
    press(page, "n")
    wait(page, "comparison.stage.drawn === comparison.stage.s && comparison.stage.s > 0")
    page.execute_script("comparison.stage.go(comparison.stage.s + 0.6)")
    wait(page, "comparison.stage.drawn === comparison.stage.s")
    assert ask(page, "comparison.time()") == pytest.approx((2 / 9.8) ** 0.5, rel=1e-9)
    energies = "comparison.stage.sides.map((s) => s.rows.get('kinetic energy').textContent)"
    assert ask(page, energies) == ["2.450\u202fJ", "6.272\u202fJ"]  # e^2 of 9.8 J
    scales = ask(page, "comparison.stage.sides.map((s) => s.scene.scale)")
    assert scales[0] == scales[1]


def test_curves_are_chosen_by_name(page):
    before = ask(page, "comparison.stage.overlay.panels.map((p) => p.title)")
    assert "site position ball.tip y" in before
    page.execute_script("document.querySelector('details.choice').open = true")
    box = page.execute_script(
        "return [...document.querySelectorAll('#signals label')].find((l) => l.textContent === arguments[0])", before[0]
    )
    box.click()
    assert ask(page, "comparison.stage.overlay.panels.map((p) => p.title)") == before[1:]


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_it_fits_and_complains_of_nothing(page, size):
    sized(page, *size)
    wait(page, f"innerWidth === {size[0]}")
    assert ask(page, "document.documentElement.scrollWidth") <= size[0]
    assert [e for e in page.get_log("browser") if e["level"] in ("WARNING", "SEVERE")] == []
