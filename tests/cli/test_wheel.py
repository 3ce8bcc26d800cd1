"""A wheel in an empty environment: it lists, runs, draws and reports; without its extras it says what is missing.

Nothing is downloaded twice: what the wheel says that it needs, and nothing else, is lent by the environment of the
tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, PathDistribution, distribution
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent.parent
VARIABLES = ("PYTHONPATH", "VIRTUAL_ENV")


def go(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, unpacked: its metadata say what it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    alone = ["--no-build-isolation"] if find_spec("hatchling") else []
    built = go(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *alone, "-w", folder, ROOT)
    if built.returncode:
        pytest.skip(f"no wheel can be built here: {built.stderr.strip().splitlines()[-1:]}")
    (made,) = folder.glob("carom-*.whl")
    with ZipFile(made) as packed:
        packed.extractall(folder / "unpacked")
    (told,) = (folder / "unpacked").glob("*.dist-info")
    return made, PathDistribution(told)


def needed(whole: Distribution, extras: set[str]) -> Iterator[Distribution]:
    """Everything that a distribution asks for with these extras, and what that asks for."""
    seen: set[tuple[str, str]] = set()
    left = [(whole, extra) for extra in ("", *extras)]
    while left:
        asking, extra = left.pop()
        for requirement in map(Requirement, asking.requires or ()):
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
                continue
            own = requirement.name == "carom"
            found = whole if own else distribution(requirement.name)
            for wanted in ("", *requirement.extras):
                if (requirement.name, wanted) not in seen:
                    seen.add((requirement.name, wanted))
                    left.append((found, wanted))
            if not own:
                yield found


def lend(found: Distribution, place: Path) -> None:
    """A link to every folder and file that a distribution installed."""
    tops = {file.parts[0] for file in found.files or () if file.suffix != ".pth"} - {"..", "__pycache__"}
    for top in tops:
        source = Path(str(found.locate_file(top)))
        if source.exists() and not (place / top).exists():
            (place / top).symlink_to(source)


def environment(folder: Path, wheel: tuple[Path, Distribution], *extras: str) -> Path:
    """A fresh environment with the wheel and what it needs with these extras; its folder of commands."""
    made, told = wheel
    venv.create(folder, with_pip=False)
    (place,) = folder.glob("lib/python*/site-packages")
    for found in needed(told, set(extras)):
        lend(found, place)
    python = folder / "bin" / "python"
    put = go(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", made)
    assert put.returncode == 0, put.stderr
    return folder / "bin"


def surroundings(folder: Path) -> dict[str, str]:
    """Nothing of the source tree is in sight."""
    return {k: v for k, v in os.environ.items() if k not in VARIABLES} | {"HOME": str(folder)}


def test_bare_it_simulates_and_the_command_says_what_it_needs(wheel, tmp_path):
    commands = environment(tmp_path / "env", wheel)
    here = {"cwd": tmp_path, "env": surroundings(tmp_path)}
    ball = (
        "import carom; b = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free());"
        "f = carom.Contact(b.tip, carom.Plane(height=0.0), carom.Newton(0.5), radius=0.1, name='floor');"
        "w = carom.World(b, contacts=f); r = carom.simulate(w, w.state(base=(0.0, 1.1)), until=1.0, progress=False);"
        "print(round(r.impacts[0].t_start, 6), r._repr_html_()[:7], carom.__file__)"
    )
    ran = go(commands / "python", "-c", ball, **here)
    assert ran.stdout.split()[:2] == ["0.451524", "<iframe"], ran.stderr
    assert str(tmp_path) in ran.stdout.split()[2], "it is not the wheel that ran"
    said = go(commands / "carom", "list", **here)
    assert said.returncode != 0 and "Traceback" not in said.stderr
    assert "pip install 'carom[cli]'" in said.stderr


def test_with_its_extras_it_runs_and_reports(wheel, tmp_path):
    commands = environment(tmp_path / "env", wheel, "all")
    here = {"cwd": tmp_path, "env": surroundings(tmp_path)}
    listed = go(commands / "carom", "list", **here)
    assert "arm-repeated-impact" in listed.stdout, listed.stderr
    ran = go(commands / "carom", "run", "ball-drop", "--figures", "pdf", "--columns", "single", **here)
    assert ran.returncode == 0, ran.stderr
    made = tmp_path / "runs" / "ball-drop"
    assert (made / "report.html").stat().st_size > 100_000 and (made / "figures" / "energy.pdf").exists()
