"""Every page of every shipped scenario in a real browser: nothing complains, nothing is asked of a network, it fits."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from tests.browser.test_report import ask, press, sized, wait
from tests.browser.test_report import browser as browser  # a fixture

import carom
from carom.experiment._output import Pictures, write
from carom.experiment.experiment import perform
from carom.scenario.library import load, names

DESK, PHONE = (1400, 900), (390, 844)
SCREENS = 6  # of a phone
POLICY = "default-src 'none'"


def coloured(browser, scheme):
    wanted = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})


def opened(browser, page, size=DESK, scheme="light"):
    """The page, fresh; what was logged before is forgotten."""
    sized(browser, *size)
    coloured(browser, scheme)
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(page.as_uri())


def complaints(browser):
    return [entry for entry in browser.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]


def asked_elsewhere(browser, page):
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if not url.startswith(("data:", "about:", page.as_uri()))]


@pytest.fixture(scope="module", params=names())
def folder(request, tmp_path_factory):
    """What a shipped scenario writes, figures as PNG."""
    found = perform(load(request.param), lambda words: None, False)
    made = tmp_path_factory.mktemp("runs") / request.param
    write(found, made)
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE])
def test_a_report_is_quiet_and_fits(browser, folder, size, scheme):
    page = folder / "report.html"
    opened(browser, page, size, scheme)
    wait(browser, "document.getElementById('r-time').textContent !== ''")
    assert POLICY in page.read_text(encoding="utf-8")
    wide, tall = ask(browser, "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert wide <= size[0]
    if size == PHONE:
        assert tall < SCREENS * size[1]
        assert not browser.find_element("css selector", ".hints").is_displayed()
    else:
        assert ask(browser, "document.getElementById('play').getBoundingClientRect().bottom") < size[1]
    assert complaints(browser) == [] and asked_elsewhere(browser, page) == []


def test_its_numbers_are_numbers(browser, folder):
    """At every impact, and at places in between, nothing that is read is 'NaN', 'undefined' or rounding."""
    opened(browser, folder / "report.html")
    length = ask(browser, "carom.length()")
    for share in (0.0, 0.17, 0.31, 0.5, 0.68, 0.93, 1.0):
        ask(browser, f"carom.goto({share * length})")
        wait(browser, "carom.drawn() === carom.show()")
        told = browser.find_element("id", "readout").text
        assert not re.search(r"NaN|undefined|Infinity|e-\d\d", told), told
    words = browser.find_element("css selector", ".facts").text + browser.find_element("css selector", ".story").text
    assert not re.search(r"\bnan\b|NaN|undefined|[\d.]e-\d+\s[nµ]m/s", words), words


def test_it_is_driven_by_keys(browser, folder):
    opened(browser, folder / "report.html")
    press(browser, " ")
    wait(browser, "carom.playing()")
    press(browser, " ")
    wait(browser, "!carom.playing()")
    impacts = ask(browser, "carom.impacts.length")
    for _ in range(min(impacts, 3)):
        before = ask(browser, "carom.time()")
        press(browser, "n")
        wait(browser, f"carom.time() > {before!r} || carom.impacts.at(-1).begin <= {before!r}")
    labels = ask(browser, "carom.labels()")
    for k, a in enumerate(labels):
        for b in labels[k + 1 :]:
            assert a["x1"] <= b["x0"] or b["x1"] <= a["x0"] or a["y1"] <= b["y0"] or b["y1"] <= a["y0"], (a, b)
    assert complaints(browser) == []


def test_figures_in_vectors_have_their_fonts(tmp_path):
    """Of a run with blows and of one with compliant contacts, for a paper's column."""
    for name in ("ball-drop", "arm-repeated-impact"):
        made = tmp_path / name
        write(perform(load(name), lambda words: None, False), made, pictures=Pictures("pdf"))
        pictures = sorted((made / "figures").glob("*.pdf"))
        assert len(pictures) > 5
        for picture in pictures:
            told = picture.read_bytes()
            assert told.count(b"/Type /FontDescriptor") == told.count(b"/FontFile2") > 0, "a font that is not embedded"
            assert b"/Subtype /Type3" not in told
            if shutil.which("pdffonts"):
                fonts = subprocess.run(["pdffonts", picture], capture_output=True, text=True, check=True).stdout
                assert all(row.split()[-5] == "yes" for row in fonts.splitlines()[2:]), fonts  # emb sub uni object ID
            if shutil.which("pdftoppm"):
                drawn = subprocess.run(
                    ["pdftoppm", "-r", "30", picture, tmp_path / "p"], capture_output=True, text=True
                )
                assert drawn.returncode == 0 and not drawn.stderr


def test_comparisons_and_studies_are_quiet(browser, tmp_path):
    both = carom.compare("ball-drop", "ball-drop", changes=[{}, {"contacts.floor.normal.restitution": 0.8}])
    over = {"start.base.1": [0.5, 0.9], "contacts.floor.normal.restitution": [0.4, 0.7]}
    data = carom.sweep("ball-drop", over, ["impacts.count"], progress=False)
    from carom.experiment.sweeping import study_page

    for page in (both.page(tmp_path / "both.html"), study_page(data, tmp_path / "study.html", "s.zarr", plays=2)):
        for size in (DESK, PHONE):
            for scheme in ("light", "dark"):
                opened(browser, page, size, scheme)
                assert ask(browser, "document.documentElement.scrollWidth") <= size[0]
                assert complaints(browser) == [] and asked_elsewhere(browser, page) == []
