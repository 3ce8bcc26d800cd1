"""A law, a surface, a controller, a figure, a measure and a solver join a copy of carom: one file and one line each.

In that copy a scenario file names all of them, and the run, its figures, its numbers and the lists know them.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import carom

LAW = '''
from typing import Any, ClassVar
import jax.numpy as jnp
from ..card import Card
from .normal_law import AbstractNormalLaw

class Foam(AbstractNormalLaw):
    """F = K d (1 + b d')."""

    card: ClassVar[Card] = Card(
        name="foam",
        formula="F = K d (1 + b d')",
        parameters=(("stiffness", "K [N/m] > 0"), ("loss", "b [s/m] >= 0")),
        source="nobody",
        choose="an example",
    )
    stiffness: Any
    loss: Any

    def force(self, phase, memory, d, rate):
        return self.stiffness * jnp.maximum(d, 0.0) * (1.0 + self.loss * rate)
'''
SURFACE = '''
from typing import Any, ClassVar
import jax.numpy as jnp
from ...forms import Form, Slot
from .surface import AbstractSurface, Bound

class Valley(AbstractSurface):
    """Two slopes that meet at x = 0, rounded: y = s sqrt(x^2 + r^2)."""

    form: ClassVar[Form] = Form(
        "valley", "two slopes", (Slot("slope", "number", "> 0"), Slot("round", "number", "[m] > 0"))
    )
    slope: Any
    round: Any

    def normal(self, x, y, t):
        rise = self.slope * x / jnp.sqrt(x * x + self.round**2)
        size = jnp.sqrt(1.0 + rise * rise)
        return -rise / size, 1.0 / size

    def gap(self, x, y, t):
        return (y - self.slope * jnp.sqrt(x * x + self.round**2)) * self.normal(x, y, t)[1]

    def bound(self):
        return Bound(bend=jnp.asarray(self.round / self.slope))
'''
CONTROLLER = '''
from typing import Any, ClassVar
import equinox as eqx
from ..forms import Form, Slot
from .actuator import AbstractActuator

class Spinner(AbstractActuator):
    """Turns the first link towards a rate."""

    form: ClassVar[Form] = Form("spinner", "a wheel that wants a rate", (Slot("wanted", "number", "[rad/s]"),))
    name: str = eqx.field(static=True)
    wanted: Any
    limit: Any
    rate: Any
    links: int = eqx.field(static=True)
    schedule: tuple

    def __init__(self, mechanism, wanted, name="spinner"):
        self.name, self.wanted, self.limit, self.rate = name, wanted, None, None
        self.links, self.schedule = mechanism.topology.links, ()

    def asked(self, scene, own):
        return [0.02 * (self.wanted - scene.rate(0))]
'''
FIGURE = """


def lacks(result):
    return None

def draw(figure, result, times):
    axes = figure.subplots()
    axes.plot(times, result.at(times).q[:, 1])
"""
MEASURE = """
from .kind import Measure

def hops(experiment, found):
    return float(len(experiment.result.impacts))

MEASURES = (Measure("hops", "how many rebounds", "hops", hops),)
"""
# new file and its text; list, what its head begins with, and the line
KINDS = {
    "law": (
        ("contact/normal/foam.py", LAW),
        ("contact/catalogue.py", "NORMAL_LAWS", '_law("normal.foam.Foam", 1e6, 0.2),'),
    ),
    "surface": (
        ("contact/surfaces/valley.py", SURFACE),
        ("scenario/surface_tables.py", "KINDS", '"contact.surfaces.valley.Valley",'),
    ),
    "controller": (
        ("control/spinner.py", CONTROLLER),
        ("scenario/control_tables.py", "KINDS", '"control.spinner.Spinner",'),
    ),
    "figure": (
        ("figures/heights.py", FIGURE),
        ("figures/all_figures.py", "FIGURES", '_figure("heights", "how high it is"),'),
    ),
    "measure": (
        ("experiment/measures/hops.py", MEASURE),
        ("experiment/measures/all_measures.py", "FILES", '"hops",'),
    ),
    "solver": (
        (None, ""),
        ("hybrid/solvers.py", "METHODS", 'Method(RungeKutta("dopri5", 5), "an old friend", "Dormand, Prince 1980"),'),
    ),
}
FILE = """
name = "hopper"

[mechanisms.hopper]
base = "free"

[mechanisms.hopper.links.ball]
body = { kind = "disk", radius = 0.1, mass = 1.0 }

[surfaces.ground]
kind = "valley"
slope = 0.3
round = 0.2

[contacts.ball]
site = "ball.tip"
radius = 0.1
against = "ground"
normal = { law = "foam", stiffness = 4e4, loss = 0.2 }

[control.wheel]
kind = "spinner"
wanted = 5.0

[start]
angles = [0.0]
base = [0.3, 0.6]

[run]
until = 1.0
solver = "dopri5"

[output]
figures = ["heights"]

[quantities.hops]
measure = "hops"
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """carom with one more of each: at most one new file, and one new line in one old file."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(Path(carom.__file__).parent, root / "carom", ignore=shutil.ignore_patterns("__pycache__"))
    for (file, text), (listed, head, line) in KINDS.values():
        if file is not None:
            assert not (root / "carom" / file).exists()
            (root / "carom" / file).write_text(text)
        path = root / "carom" / listed
        lines = path.read_text().splitlines(keepends=True)
        at = next(i for i, x in enumerate(lines) if x.startswith(head)) + 1
        path.write_text("".join([*lines[:at], f"    {line}\n", *lines[at:]]))
    return root


def carom_in(copy, *words):
    run = [sys.executable, "-m", "carom", *words]
    done = subprocess.run(run, cwd=copy, env=os.environ | {"PYTHONPATH": str(copy)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_lists_know_them(copy):
    assert "foam" in carom_in(copy, "laws")
    schema = carom_in(copy, "schema")
    for word in ("valley", "spinner", "dopri5", "foam"):
        assert f'"{word}"' in schema


@pytest.mark.slow
def test_a_file_runs_with_all_of_them(copy):
    (copy / "hopper.toml").write_text(FILE)
    carom_in(copy, "check", "hopper.toml")
    carom_in(copy, "run", "hopper.toml", "--out", "out")
    out = next(path.parent for path in (copy / "out").rglob("summary.json"))
    assert json.loads((out / "summary.json").read_text())["quantities"]["hops"]["value"] > 0
    assert list(out.rglob("heights*"))
    assert "spinner" in (out / "report.html").read_text() or "wheel" in (out / "report.html").read_text()
