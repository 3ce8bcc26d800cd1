"""A wheel in an empty environment: it lists, runs, draws and reports; without its extras it says what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def go(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A fresh environment in which only the wheel is, with what it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    built = go(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT)
    if built.returncode:
        pytest.skip(f"no wheel can be built here: {built.stderr.strip().splitlines()[-1:]}")
    (wheel,) = folder.glob("carom-*.whl")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    limits = ["--constraint", ROOT / "constraints.txt"]
    put = go(python, "-m", "pip", "install", "--quiet", *limits, wheel)
    assert put.returncode == 0, put.stderr
    return python, wheel, limits, folder


def surroundings(folder: Path) -> dict[str, str]:
    """Nothing of the source tree is in sight."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")} | {"HOME": str(folder)}


def test_bare_it_simulates_and_the_command_says_what_it_needs(empty):
    python, _, _, folder = empty
    here = {"cwd": folder, "env": surroundings(folder)}
    ball = (
        "import carom; b = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free());"
        "f = carom.Contact(b.tip, carom.Plane(height=0.0), carom.Newton(0.5), radius=0.1, name='floor');"
        "w = carom.World(b, contacts=f); r = carom.simulate(w, w.state(base=(0.0, 1.1)), until=1.0, progress=False);"
        "print(round(r.impacts[0].t_start, 6), r._repr_html_()[:7])"
    )
    ran = go(python, "-c", ball, **here)
    assert ran.stdout.split() == ["0.451524", "<iframe"], ran.stderr
    said = go(python.parent / "carom", "list", **here)
    assert said.returncode != 0 and "Traceback" not in said.stderr
    assert "pip install 'carom[cli]'" in said.stderr


def test_with_its_extras_it_runs_and_reports(empty):
    python, wheel, limits, folder = empty
    here = {"cwd": folder, "env": surroundings(folder)}
    put = go(python, "-m", "pip", "install", "--quiet", *limits, f"{wheel}[all]")
    assert put.returncode == 0, put.stderr
    listed = go(python.parent / "carom", "list", **here)
    assert "arm-repeated-impact" in listed.stdout, listed.stderr
    ran = go(python.parent / "carom", "run", "ball-drop", "--figures", "pdf", "--columns", "single", **here)
    assert ran.returncode == 0, ran.stderr
    made = folder / "runs" / "ball-drop"
    assert (made / "report.html").stat().st_size > 100_000 and (made / "figures" / "energy.pdf").exists()
