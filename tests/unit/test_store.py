"""Programs kept on disk: found again by the same world, never by another, and never needed."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import native
from carom.hybrid import _store as store
from carom.hybrid._run import chunk

SCRIPT = """
import carom
ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
floor = carom.Contact(ball.tip, carom.Plane(height=0.0), carom.Hooke({stiffness}), radius=0.1)
world = carom.World(ball, contacts=floor, gravity=9.81)
result = carom.simulate(world, world.state(base=(0.0, 0.2)), until=0.3)
print(repr(result.q[-1].tolist()), result.statistics.events)
"""


def ball(stiffness: object = 1e5, radius: float = 0.1, **options: object) -> carom.World:
    mechanism = carom.Mechanism([carom.Disk(radius=radius, mass=1.0)], base=carom.Free())
    law = options.get("law", carom.Hooke(stiffness))
    contact = carom.Contact(mechanism.tip, options.get("floor", carom.Plane(height=0.0)), law, radius=radius)
    return carom.World(mechanism, contacts=contact)


def name(world: carom.World, monkeypatch: pytest.MonkeyPatch, rows: int = 8) -> object:
    monkeypatch.setenv("CAROM_PROGRAMS", "on")
    return store._path(chunk, (rows,), (world, jnp.zeros(3)))


def test_numbers_share_a_program_and_structure_does_not(monkeypatch):
    base = name(ball(), monkeypatch)
    assert base is not None
    assert name(ball(2e5, radius=0.2), monkeypatch) == base
    assert name(ball(), monkeypatch, rows=9) != base
    assert name(ball(law=carom.Hertz(1e7)), monkeypatch) != base
    assert name(ball(floor=carom.Circle((0.0, -1.0), 0.5)), monkeypatch) != base
    inside = ball(floor=carom.Circle((0.0, 1.0), 5.0, inside=True))
    assert name(inside, monkeypatch) != name(ball(floor=carom.Circle((0.0, 1.0), 5.0)), monkeypatch)


def test_code_of_users_is_kept_where_all_of_it_is_known(monkeypatch):
    class Mine(carom.Hooke):
        pass

    class Told(carom.Hooke):
        def force(self, *args):
            print(args)
            return super().force(*args)

    assert name(ball(law=Mine(1e5)), monkeypatch) not in (None, name(ball(), monkeypatch))
    assert name(ball(law=Told(1e5)), monkeypatch) is None
    waves = [
        name(ball(floor=carom.Graph(wave)), monkeypatch) for wave in (steep, steep, flat, lambda x: os.getpid() * x)
    ]
    assert waves[0] == waves[1] != waves[2] and waves[3] is None and None not in waves[:3]


def steep(x):
    return 0.2 * jnp.sin(x)


def flat(x):
    return 0.1 * jnp.sin(x)


def test_programs_that_may_only_be_read_are_read(tmp_path, monkeypatch):
    def refuses(*_):
        raise PermissionError

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "carom").mkdir(mode=0o700)
    # A program that JAX has not kept: what it reads from its own cache cannot be written again.
    by = secrets.randbits(50) * 1.0
    compiled = jax.jit(lambda x: x + by).lower(1.0).compile()
    store._write(tmp_path / "program", compiled)
    monkeypatch.setattr(store.os, "utime", refuses)
    assert float(store._read(tmp_path / "program", (1.0,))(1.0)) == 1.0 + by


def test_switched_off(monkeypatch):
    assert name(ball(), monkeypatch) is not None
    monkeypatch.setenv("CAROM_PROGRAMS", "off")
    assert store._path(chunk, (8,), (ball(), jnp.zeros(3))) is None


def test_a_second_process_reads_what_the_first_wrote(tmp_path):
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "CAROM_PROGRAMS": "on"}

    def run(stiffness: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(stiffness=stiffness)], env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = run("1e5")
    kept = sorted((tmp_path / "carom" / "programs").iterdir())
    assert kept and not any(file.suffix == ".part" for file in kept)
    written = [file.stat().st_ino for file in kept]
    assert run("1e5") == first
    assert run("2e5") != first  # a number is an argument of the program, not a part of it
    assert sorted((tmp_path / "carom" / "programs").iterdir()) == kept
    assert [file.stat().st_ino for file in kept] == written  # read, not written again
    for file in kept:  # cut short: compiled again, and mended
        file.write_bytes(file.read_bytes()[:100])
    assert run("1e5") == first
    assert all(file.stat().st_size > 100 for file in kept)


def test_what_jit_compiles_is_found_again_by_what_it_computes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CAROM_PROGRAMS", "on")
    (tmp_path / "carom").mkdir(mode=0o700)
    made, usual = [], native.program
    monkeypatch.setattr(native, "program", lambda *args: made.append(args[0]) or usual(*args))
    at = np.array(0.3)
    values = [float(carom.jit(slope(k))(at)) for k in (1.0, 2.0, 1.0)]
    assert values == pytest.approx([np.cos(0.3), 2 * np.cos(0.6), np.cos(0.3)], rel=1e-14)
    assert len(made) == (2 if native.wanted() else 0)


def slope(k):
    return jax.grad(lambda x: jnp.sin(k * x))


OWN = """
import jax.numpy as jnp
import carom

STEEP = {steep}


def height(x):
    return STEEP * jnp.sin(3.0 * x)


ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
floor = carom.Contact(ball.tip, carom.Graph(height), carom.Newton(0.5), radius=0.1)
world = carom.World(ball, contacts=floor, gravity=9.81)
result = carom.simulate(world, world.state(base=(0.3, 1.0)), until=0.6)
print(repr(result.q[-1].tolist()), result.statistics.events)
"""


def test_a_script_with_code_of_its_own_finds_its_programs_again_and_none_of_another(tmp_path):
    def run(steep: float, cache: str) -> str:
        env = os.environ | {"XDG_CACHE_HOME": str(tmp_path / cache), "CAROM_PROGRAMS": "on"}
        (tmp_path / cache).mkdir(exist_ok=True)
        script = tmp_path / "script.py"
        script.write_text(OWN.format(steep=steep))
        done = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def kept() -> list[int]:
        return sorted(file.stat().st_ino for file in (tmp_path / "one" / "carom" / "programs").iterdir())

    first, written = run(0.1, "one"), kept()
    assert written and run(0.1, "one") == first and kept() == written
    other = run(0.3, "one")
    assert other != first and other == run(0.3, "two") and set(kept()) > set(written)
