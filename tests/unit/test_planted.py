"""Files planted where compiled programs are kept: none of them runs, and the program is compiled instead."""

from __future__ import annotations

import os
import pickle
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from carom.hybrid import _store as store
from carom.hybrid._run import chunk

X = jnp.zeros(3)


class Evil:
    """What runs when it is read."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> object:
        return os.mkdir, (str(self.marker),)


def planted(place: Path, marker: Path) -> Path:
    """A pickle under the name of the program that is asked for next."""
    os.makedirs(place, exist_ok=True)
    file = place / named()
    file.write_bytes(pickle.dumps(Evil(marker)))
    return file


def named() -> str:
    """The name depends on the program alone, so that a stranger can know it."""
    path = store._path(chunk, (8,), (X,))
    assert path is not None
    return path.name


def asked() -> tuple[bool, float]:
    """(was it compiled?, what it computes) of a small program that goes by the name of a large one."""
    made: list[str] = []

    def make(name: str) -> object:
        made.append(name)
        return jax.jit(lambda x: x + 1.0).lower(X).compile()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = store.load_or_make(chunk, (8,), (X,), make)
    return bool(made), float(program(X)[0])


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where programs are kept, for this test."""
    monkeypatch.setenv("CAROM_PROGRAMS", "on")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "carom" / "programs"


def test_a_program_is_kept_and_read(place):
    assert asked() == (True, 1.0)
    assert asked() == (False, 1.0)


def test_a_file_without_a_tag(place, tmp_path):
    planted(place, tmp_path / "ran")
    assert asked() == (True, 1.0) and not (tmp_path / "ran").exists()
    assert asked() == (False, 1.0)  # the user's own has taken its place


@pytest.mark.parametrize("which", [0, 1])
def test_a_folder_that_everybody_can_write_to(place, tmp_path, which):
    name = named()
    file = tmp_path / "open" / "carom" / "programs" / name
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path / "open"))
        file.parent.mkdir(parents=True, mode=0o700)
        file.parents[which].chmod(0o777)
        file.write_bytes(pickle.dumps(Evil(tmp_path / "ran")))
        assert asked() == (True, 1.0) and not (tmp_path / "ran").exists()
        assert asked()[0], "nothing is kept there"


@pytest.mark.parametrize("given", ["", ".", "elsewhere"])
def test_a_cache_beside_the_work_is_not_the_users(place, tmp_path, monkeypatch, given):
    name = named()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / given / "carom" / "programs" / name
    file.parent.mkdir(parents=True, mode=0o700)
    file.write_bytes(pickle.dumps(Evil(tmp_path / "ran")))
    assert asked() == (True, 1.0) and not (tmp_path / "ran").exists()
    assert (tmp_path / "home" / ".cache" / "carom" / "programs" / name).exists()
