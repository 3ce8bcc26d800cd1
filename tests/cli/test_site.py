"""The site: it builds without network, every link in it leads somewhere, and its pages name nothing of elsewhere."""

from __future__ import annotations

import html.parser
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from ..browser.test_report import browser as browser
from ..browser.test_report import sized, wait

pytest.importorskip("mkdocs", reason="mkdocs is not installed; run: pip install 'carom[docs]'")

ROOT = Path(__file__).parent.parent.parent


class Links(html.parser.HTMLParser):
    """What a page leads to, what it loads, and where it can be entered."""

    def __init__(self) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.loads: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {k: v for k, v in attrs if v is not None}
        self.names.update(v for k, v in told.items() if k in ("id", "name"))
        if tag == "a" and "href" in told:
            self.leads.append(told["href"])
        if tag in ("script", "img", "iframe", "source") and "src" in told:
            self.loads.append(told["src"])
        if tag == "link" and told.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(told["href"])


def read(page: Path) -> Links:
    found = Links()
    found.feed(page.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    where = {"NO_MKDOCS_2_WARNING": "1", "CAROM_PAGES": str(folder / "pages")}
    here = {"cwd": ROOT, "capture_output": True, "text": True, "env": os.environ | where}
    made = subprocess.run([sys.executable, "tools/site.py", "--into", folder, "--gallery", "ball-drop"], **here)
    assert made.returncode == 0, made.stderr
    built = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-d", folder / "site"], **here)
    assert built.returncode == 0, built.stdout + built.stderr
    folder = folder / "site"
    return {page: read(page) for page in folder.rglob("*.html")}, folder


def test_every_link_of_the_site_leads_somewhere(site):
    pages, folder = site
    assert len(pages) > 30
    for page, found in pages.items():
        for link in found.leads:
            where = urlsplit(link)
            if where.scheme or page.name == "404.html":
                continue
            target = (page.parent / unquote(where.path)).resolve() if where.path else page
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{page.relative_to(folder)}: {link}"
            if where.fragment and target in pages:
                assert unquote(where.fragment) in pages[target].names, f"{page.relative_to(folder)}: {link}"


def test_no_page_loads_anything_from_elsewhere(site):
    pages, _ = site
    assert [load for found in pages.values() for load in found.loads if "://" in load or load.startswith("//")] == []


def test_the_reference_has_every_public_name(site):
    import carom

    text = "".join(page.read_text(encoding="utf-8") for page in site[0] if page.parent.name == "reference")
    for name in ("simulate", "World", "Mechanism", "Contact", "JacksonGreen", "batch", "fit", "Result", "Impact"):
        assert f'.{name}"' in text and hasattr(carom, name), name


def test_examples_in_docstrings_are_code(site):
    told = [page.read_text(encoding="utf-8") for page in site[0] if page.parent.name == "reference"]
    assert not any("<blockquote>" in text for text in told)
    assert sum(text.count("language-pycon") for text in told) > 8


def test_the_search_finds_in_pages_that_are_opened_as_files(site, browser):
    browser.get_log("browser")
    browser.get((site[1] / "index.html").as_uri())
    sized(browser, 1400, 900)
    browser.find_element("css selector", "input.md-search__input").click()
    browser.switch_to.active_element.send_keys("Stronge")
    wait(browser, "document.querySelectorAll('.md-search-result__item').length > 2")
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")] == []
