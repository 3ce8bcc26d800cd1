"""What axe-core, the checker of the web's accessibility rules, finds in every kind of page: nothing serious.

Its script comes from npm when the test runs (`npm pack axe-core@4`); without npm, or without a network, it is skipped.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile

import numpy as np
import pytest
from tests.browser.studio_server import opened, settled, studio
from tests.browser.test_report import browser as browser  # a fixture
from tests.browser.test_report import sized

import carom
from carom.experiment._output import write
from carom.experiment.experiment import perform
from carom.experiment.measuring._fit_output import write_fit
from carom.experiment.sweeping import study_page
from carom.scenario.library import load

SERIOUS = ("serious", "critical")
RUN = (
    "const done = arguments[0];"
    "axe.run(document, { resultTypes: ['violations'] }).then((found) => done(found.violations.map("
    "(v) => [v.impact, v.id, v.nodes.map((n) => n.target.join(' ') + ': ' + n.failureSummary).slice(0, 3)])));"
)


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The checker's script."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("axe")
    if npm is None:
        pytest.skip("npm is not installed")
    packed = subprocess.run([npm, "pack", "axe-core@4"], cwd=folder, capture_output=True, text=True, timeout=120)
    if packed.returncode:
        pytest.skip(f"npm gives no axe-core here: {packed.stderr.strip().splitlines()[-1:]}")
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as inside:
        return inside.extractfile("package/axe.min.js").read().decode("utf-8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One of every kind that is written."""
    folder = tmp_path_factory.mktemp("pages")
    write(perform(load("elastic-chain-ss"), lambda words: None, False), folder / "run")
    write(perform(load("ball-drop"), lambda words: None, False), folder / "drop")
    both = carom.compare("ball-drop", "ball-drop", changes=[{}, {"contacts.floor.normal.restitution": 0.8}])
    both.page(folder / "both.html")
    over = {"start.base.1": [0.5, 0.9], "contacts.floor.normal.restitution": [0.4, 0.7]}
    data = carom.sweep("ball-drop", over, ["impacts.count"], progress=False)
    study_page(data, folder / "study.html", "s.zarr", plays=2)
    t = np.linspace(0.0, 0.3, 7)
    fall = {"t": t, "y.ball.tip": 0.6 - 0.5 * 9.7 * t**2 + 1e-3 * np.sin(40 * t)}
    fit = carom.fit_scenario("ball-drop", fall, {"gravity": 9.8, "start.base.1": 0.7}, progress=False)
    write_fit(fit, folder / "fit")
    told = ["run/report.html", "drop/report.html", "both.html", "study.html", "fit/fit.html"]
    return [folder / name for name in told]


def serious(browser, axe):
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})  # the page's policy lets no other script in
    found = browser.execute_async_script(RUN)
    return [each for each in found if each[0] in SERIOUS]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_written_pages(browser, axe, pages, size, scheme):
    sized(browser, *size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    for page in pages:
        browser.get(page.as_uri())
        assert serious(browser, axe) == [], page.name


def test_the_checker_sees_what_is_wrong(browser, axe, tmp_path):
    """A picture without words, on a page without a language."""
    bad = tmp_path / "bad.html"
    bad.write_text("<!doctype html><title>x</title><main><h1>x</h1><img src='data:,'><button></button></main>")
    browser.get(bad.as_uri())
    assert {rule for _, rule, _ in serious(browser, axe)} >= {"html-has-lang", "image-alt", "button-name"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_studio(browser, axe, scheme):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    with studio("arm-repeated-impact") as address:
        for size in ((1400, 900), (390, 844)):
            sized(browser, *size)
            if size[0] > 600:
                opened(browser, address)
            else:
                browser.get(address)
                settled(browser)
            assert serious(browser, axe) == [], size
