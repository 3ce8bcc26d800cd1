"""What a person waits for at a start, and what carom says meanwhile."""

import subprocess
import sys
import types

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import _progress, native
from carom.study import _memory

from .dropped_ball import ball

WITHOUT_JAX = """
import sys
from carom import registry
from carom.cli.app import app
for words in (["--help"], ["list"], ["list", "--json"], *([*line.more, "--help"] for line in registry.COMMANDS)):
    app(words, standalone_mode=False)
    assert "jax" not in sys.modules, words
import jax
assert jax.config.jax_enable_x64 and jax.numpy.ones(1).dtype == float
import carom
assert carom.errors.number and carom.mechanism.Numbers and not hasattr(carom, "nothing")
"""


def ball_world(gravity=9.8):
    body = ball()
    floor = carom.Contact(body.tip, carom.Plane(height=0.0), carom.Newton(restitution=0.5), radius=0.1)
    world = carom.World(body, floor, gravity=gravity)
    return world, world.state(base=(0.0, 0.5))


def test_help_and_lists_need_no_jax_and_whoever_imports_it_later_gets_that_of_carom():
    done = subprocess.run([sys.executable, "-c", WITHOUT_JAX], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ball-drop" in done.stdout and "--converge" in done.stdout


def test_names_that_load_when_asked_for_are_those_of_no_module():
    """A module that has been imported stands in its package under its own name, and would be found instead."""
    packages = ("carom", "carom.contact", "carom.control", "carom.hybrid", "carom.mechanism", "carom.result")
    for package in map(sys.modules.__getitem__, packages):
        for name in package.__all__:
            found = getattr(package, name)
            assert not isinstance(found, types.ModuleType) or found.__name__ == f"{package.__name__}.{name}"


def test_a_result_says_what_computed_it(monkeypatch):
    world, start = ball_world()
    words = []
    monkeypatch.setattr(_progress.Line, "update", lambda self, said, *args, **how: words.append(said))
    result = carom.simulate(world, start, until=0.1, settings=carom.Settings(rtol=1e-9), progress=True)
    assert words[0] == "compiling 1 link with 1 contact, about 1 s" and words[1].startswith("t = 0.1 of 0.1 s")
    assert result.made == (carom.__version__, native.HERE, "tsit5", 1e-9, 1e-10)
    assert f"carom {carom.__version__}, native machine code, tsit5, rtol 1e-09, atol 1e-10" in repr(result)


def test_a_back_end_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setenv(native.SWITCH, "fast")
    with pytest.raises(carom.CaromError, match="CAROM_BACKEND is 'fast'; it must be native or xla"):
        native.wanted()
    monkeypatch.setenv(native.SWITCH, "xla")
    assert not native.wanted() and native.name() == "XLA on cpu"
    monkeypatch.setenv(native.SWITCH, "native")
    monkeypatch.setattr(native, "_have_llvm", lambda: False)
    with pytest.raises(carom.CaromError, match="CAROM_BACKEND is native, which needs llvmlite"):
        native.wanted()


def test_a_batch_that_does_not_fit_is_refused_before_it_is_compiled(monkeypatch):
    start = ball_world()[1]
    monkeypatch.setattr(_memory, "LARGE", 100)
    monkeypatch.setattr(_memory, "of_host", lambda: 50e3)
    said = (
        r"batch of 1000 lanes needs about 0.000\d+ GB, and the memory that is free is 5e-05 GB; give it in \d+ or more"
    )
    with pytest.raises(carom.CaromError, match=said):
        carom.batch(lambda g: ball_world(g)[0], jnp.linspace(9.0, 10.0, 1000), start, until=0.1)


def test_what_is_free_is_told_where_the_system_says_it():
    there = _memory.of_host()
    assert there is None or 1e6 < there < 1e14
    assert _memory.size_of((np.zeros((3, 2)), np.zeros(4, dtype=bool))) == 52
