"""One of each kind joins a copy of carom: at most one file, and one line in registry.py.

In that copy a scenario file names all of them, and the run, its tables, ledger, figures, page and the lists know them.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from added_parts import FILE, KINDS

import carom


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """carom with one more of each: at most one new file, and one new line in registry.py."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(Path(carom.__file__).parent, root / "carom", ignore=shutil.ignore_patterns("__pycache__"))
    path = root / "carom" / "registry.py"
    for (file, text), (head, line) in KINDS.values():
        if file is not None:
            assert not (root / "carom" / file).exists()
            (root / "carom" / file).write_text(text)
        lines = path.read_text().splitlines(keepends=True)
        at = next(i for i, x in enumerate(lines) if x.startswith(head)) + 1
        path.write_text("".join([*lines[:at], f"    {line}\n", *lines[at:]]))
    return root


def carom_in(copy, *words):
    run = [sys.executable, "-m", "carom", *words]
    done = subprocess.run(run, cwd=copy, env=os.environ | {"PYTHONPATH": str(copy)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def out(copy):
    """What a run of a file with all of them leaves."""
    (copy / "hopper.toml").write_text(FILE)
    carom_in(copy, "check", "hopper.toml")
    carom_in(copy, "run", "hopper.toml", "--out", "out")
    return next(path.parent for path in (copy / "out").rglob("summary.json"))


@pytest.mark.slow
def test_lists_know_them(copy):
    laws = carom_in(copy, "laws")
    assert all(name in laws for name in ("foam", "wax", "cushion"))
    schema = carom_in(copy, "schema")
    for word in ("valley", "spinner", "dopri5", "foam", "wax", "cushion", "hoop", "spun", "ramp"):
        assert f'"{word}"' in schema
    assert "how many rebounds" in carom_in(copy, "show", "--measures")


@pytest.mark.slow
def test_a_file_runs_with_all_of_them(out):
    found = json.loads((out / "summary.json").read_text())
    values = {name: q["value"] for name, q in found["quantities"].items()}
    assert values["hops"] == len(found["impacts"]) > 0
    assert values["fastest"] == pytest.approx(3.0, rel=1e-6)  # where its switch turns the wheel back
    assert values["planned"] == pytest.approx(0.001, rel=1e-9)  # where its trajectory ends
    assert found["finished"] and found["solver"]["name"] == "dopri5"


@pytest.mark.slow
def test_they_are_in_the_ledger_and_in_the_tables(out):
    energy = json.loads((out / "summary.json").read_text())["energy"]
    assert energy["max_error_percent"] < 1e-6
    works = {"foot: normal force", "foot: friction", "wheel: actuators", "plan: actuators"}
    assert works <= set(energy["works"]) and all(energy["works"][name] != 0.0 for name in works)
    assert all(f"{name} [J]" in (out / "energy.csv").read_text().splitlines()[0] for name in works)
    rows = list(csv.DictReader((out / "impacts.csv").read_text().splitlines()))
    assert rows and {row["contact"] for row in rows} == {"foot"}
    assert all(0.0 < float(row["restitution [-]"]) < 1.0 for row in rows)


@pytest.mark.slow
def test_they_are_drawn_and_reported(copy, out):
    assert {path.name for path in (out / "figures").iterdir()} == {"heights.png", "torques.png", "reaction.png"}
    page = (out / "report.html").read_text()
    assert '<td class="word">foot</td>' in page and "heights: how high it is" in page
    (told,) = re.findall(r'<script type="application/json" id="carom-data">(.*?)</script>', page, re.S)
    (clip,) = json.loads(told)["clips"]
    assert [contact["name"] for contact in clip["contacts"]] == ["foot"]
    assert (out / "scenario.toml").read_text().count('"spinner"') == 1
    carom_in(copy, "check", str(out / "scenario.toml"))
