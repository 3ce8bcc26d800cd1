"""Gathers the pages of the site in build/pages: documents, a reference of all public names, a gallery of reports.

.venv/bin/python tools/site.py                 # runs every shipped scenario whose report is older than src
.venv/bin/python tools/site.py --gallery ball-drop     # those alone
.venv/bin/python tools/site.py --no-gallery    # pages without runs, for checks of links
.venv/bin/python tools/site.py --into FOLDER   # pages and runs there

`make docs` calls it, then mkdocs. Links between documents stay as they are in the repository: pages keep its layout.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import shutil
from collections import defaultdict
from html import escape
from pathlib import Path
from types import ModuleType

import carom

ROOT = Path(__file__).parent.parent
COPIED = ("docs", "examples", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "constraints.txt")
CODE = {".py", ".js", ".css", ".html", ".toml", ".mplstyle"}
READ = ("benchmarks", "verify")  # folders of which the README is a page
GROUPS = {
    "mechanism": "Mechanisms",
    "hybrid": "Worlds and settings",
    "_simulation": "Running",
    "result": "Results",
    "contact": "Contacts and laws",
    "control": "Control",
    "element": "Springs and states of your own",
    "dynamics": "Constraints and dynamics",
    "derivation": "Equations",
    "captures": "Captures",
    "study": "Many runs",
    "scenario": "Scenarios",
    "experiment": "Studies",
}
REST = "Everything else"


def main() -> None:
    """Entry point."""
    ask = argparse.ArgumentParser(description="Gather the pages of the site.")
    ask.add_argument("--no-gallery", action="store_true", help="run nothing")
    ask.add_argument("--gallery", nargs="*", help="scenarios to run; all shipped if left out")
    ask.add_argument("--into", type=Path, default=ROOT / "build", help="where pages and runs are put")
    given = ask.parse_args()
    pages, runs = given.into / "pages", given.into / "gallery"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    gather(pages)
    reference(pages)
    gallery(pages, runs, [] if given.no_gallery else given.gallery)
    validation(pages, runs)


def gather(pages: Path) -> None:
    """Documents, as they are."""
    for name in COPIED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, pages / name)
    for name in READ:
        (pages / name).mkdir()
        shutil.copy(ROOT / name / "README.md", pages / name)
    shutil.copy(ROOT / "README.md", pages / "index.md")
    shutil.copytree(ROOT / "tools" / "site_scripts", pages / "scripts")


def reference(pages: Path) -> None:
    """A page for every group of public names, and one that lists them."""
    groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in carom.__all__:
        thing = getattr(carom, name)
        if isinstance(thing, ModuleType) or not (inspect.isclass(thing) or inspect.isroutine(thing)):
            continue
        package = thing.__module__.split(".")[1] if "." in thing.__module__ else ""
        groups[GROUPS.get(package, REST)].append((name, f"{thing.__module__}.{thing.__qualname__}"))
    folder = pages / "reference"
    folder.mkdir()
    listed = ["# Reference", "", "Everything that `import carom` offers, by subject.", ""]
    for title in (*GROUPS.values(), REST):
        if not groups[title]:
            continue
        file = re.sub(r"[^a-z]+", "-", title.lower()).strip("-") + ".md"
        body = "\n\n".join(f"::: {path}" for _, path in sorted(groups[title]))
        (folder / file).write_text(f"# {title}\n\n{body}\n", encoding="utf-8")
        names = ", ".join(f"`{name}`" for name, _ in sorted(groups[title]))
        listed.append(f"- [{title}]({file}): {names}")
    (folder / "index.md").write_text("\n".join(listed) + "\n", encoding="utf-8")


def gallery(pages: Path, runs: Path, asked: list[str] | None) -> None:
    """Reports of shipped scenarios, made once, with a picture of each."""
    from carom.scenario.library import load, names

    folder = pages / "gallery"
    folder.mkdir()
    cards = []
    for name in names() if asked is None else asked:
        made = runs / name
        if _older(made / "report.html"):
            _run(name, made)
        shutil.copy(made / "report.html", folder / f"{name}.html")
        picture = next(iter(sorted((made / "figures").glob("*snapshots.png"))), None)
        scenario, shown = load(name), ""
        if picture is not None:
            shutil.copy(picture, folder / f"{name}.png")
            shown = f'<a href="{name}.html"><img alt="{escape(scenario.title)}" src="{name}.png" width="420"></a>\n\n'
        cards.append(
            f"## {scenario.title}\n\n{shown}{scenario.about}\n\n`carom run {name}`: [its report]({name}.html)\n"
        )
    text = "\n".join(cards) or "The gallery is built by `make docs`.\n"
    head = "# Gallery\n\nEvery report is one file with a player of the motion; each scenario ships with carom.\n\n"
    (folder / "index.md").write_text(head + text, encoding="utf-8")


def _older(report: Path) -> bool:
    """Is there none, or has the program changed since it was made?"""
    if not report.exists():
        return True
    changed = max(file.stat().st_mtime for file in (ROOT / "src").rglob("*") if file.suffix in CODE)
    return changed > report.stat().st_mtime


def _run(name: str, folder: Path) -> None:
    """Run a shipped scenario and write what it gives."""
    from carom.experiment._output import write
    from carom.experiment.experiment import perform
    from carom.scenario.library import load

    print(f"running {name}", flush=True)
    write(perform(load(name), lambda words: None, False), folder, replace=True)


def validation(pages: Path, runs: Path) -> None:
    """Numbers that the sources print, beside those that carom gave, of every shipped scenario that has been run."""
    rows = []
    for file in sorted(runs.glob("*/summary.json")):
        told = json.loads(file.read_text(encoding="utf-8"))
        for key, q in told["quantities"].items():
            if q.get("expected") is None:
                continue
            value = 0.0 if q["expected"] == 0.0 and q["agrees"] else q["value"]  # as reports show it
            cells = (file.parent.name, key.replace("_", " "), _number(value), _number(q["expected"]))
            rows.append(f"| {' | '.join(cells)} | {q['unit']} | {q['verdict']} | {q.get('source', '')} |")
    agree = sum("| agrees |" in row for row in rows)
    rest = "; the others say why not" if agree < len(rows) else ""
    words = f"{agree} of {len(rows)} numbers agree{rest}." if rows else "Built by `make docs`."
    head = (
        "| scenario | number | carom | source | unit | verdict | where it comes from |\n|---|---|---|---|---|---|---|\n"
    )
    text = f"# Numbers of the sources\n\n{words}\n\n{head if rows else ''}" + "\n".join(rows) + "\n"
    (pages / "gallery" / "validation.md").write_text(text, encoding="utf-8")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


if __name__ == "__main__":
    main()
