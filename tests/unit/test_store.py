"""Programs kept on disk: found again by the same world, never by another, and never needed."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

import carom
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


def test_code_of_users_is_not_kept(monkeypatch):
    class Mine(carom.Hooke):
        pass

    assert name(ball(law=Mine(1e5)), monkeypatch) is None
    wave = carom.Graph(lambda x: 0.1 * jnp.sin(x))
    assert name(ball(floor=wave), monkeypatch) is None


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
