"""Documents: every link leads somewhere, every page is in the site, and what they say of the package is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import carom

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md", "verify/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
MADE = {"gallery/index.md", "gallery/validation.md", "reference/index.md"}  # by tools/site.py
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Of the headings of a page, as they are made on GitHub and by mkdocs."""
    heads = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", h.lower()).strip()) for h in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    for link in LINK.findall(re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)):
        if "://" in link:
            continue
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        if str(target.relative_to(ROOT)) in MADE:
            continue
        assert target.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(target), f"{link}: there is no such heading"


def test_every_document_is_in_the_site():
    listed = set(re.findall(r"[\w./-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    known = {str(page.relative_to(ROOT)) for page in PAGES} - {"README.md"} | {"index.md", "CHANGELOG.md"} | MADE
    assert listed == known


def test_the_citation_has_the_version_of_the_package():
    assert f"version: {carom.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"{{{carom.__version__}}}" in (ROOT / "docs" / "summary.md").read_text(encoding="utf-8")


def test_the_site_asks_nothing_of_any_network():
    """No font, script or style of elsewhere is named in its recipe."""
    assert "://" not in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
