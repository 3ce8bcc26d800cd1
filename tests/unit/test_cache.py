"""The folder of compiled programs: the user's own, and nothing is read from it that the user's key did not seal."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import carom
from carom import _cache as cache
from carom.hybrid import _store as store

from .test_planted import Evil, asked, named, place

__all__ = ["place"]


def evil_inside(file: Path, marker: Path) -> bytes:
    """The content of a program's file whose structure is as it should be, and whose program is not."""
    content = file.read_bytes()[cache.TAG :]
    end = store.SIZE + int.from_bytes(content[: store.SIZE], "big")
    return content[:end] + pickle.dumps(Evil(marker))


@pytest.fixture
def file(place):
    """A program that was kept, as it should be."""
    asked()
    assert (place / named()).exists()
    return place / named()


def refused(tmp_path: Path) -> bool:
    cache._own.cache_clear()  # as the next process would look at it
    return asked() == (True, 1.0) and not (tmp_path / "ran").exists()


def test_what_is_sealed_runs(file, tmp_path):
    """The attack that all others here are a part of: with the key it works, so that the rest is what stops it."""
    file.write_bytes(cache.seal(file, evil_inside(file, tmp_path / "ran")))
    asked()
    assert (tmp_path / "ran").exists()


def test_another_content_under_an_old_tag(file, tmp_path):
    file.write_bytes(file.read_bytes()[: cache.TAG] + evil_inside(file, tmp_path / "ran"))
    assert refused(tmp_path)


def test_a_tag_made_for_another_name(file, tmp_path):
    other = file.with_name("0" * 64)
    file.write_bytes(cache.seal(other, evil_inside(file, tmp_path / "ran")))
    assert refused(tmp_path)


def test_a_key_that_others_can_read(file, tmp_path):
    key = cache.home() / "key"
    old = key.read_bytes()
    file.write_bytes(cache.seal(file, evil_inside(file, tmp_path / "ran")))
    key.chmod(0o644)
    assert refused(tmp_path)
    assert key.read_bytes() != old and key.stat().st_mode & 0o777 == 0o600
    assert asked() == (False, 1.0)  # sealed again, with a key that nobody has seen


@pytest.mark.parametrize("content", [b"", b"short", b"\0" * 33])
def test_a_key_that_is_none_is_made_again(file, tmp_path, content):
    (cache.home() / "key").write_bytes(content)
    assert refused(tmp_path) and asked() == (False, 1.0)
    assert len((cache.home() / "key").read_bytes()) == cache.KEY
    assert {p.name for p in cache.home().iterdir()} == {"key", "programs"}


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write(file, tmp_path, mode):
    file.write_bytes(cache.seal(file, evil_inside(file, tmp_path / "ran")))
    file.chmod(mode)
    assert refused(tmp_path)


def test_a_file_that_is_a_link(file, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(cache.seal(file, evil_inside(file, tmp_path / "ran")))
    file.unlink()
    file.symlink_to(elsewhere)
    assert refused(tmp_path)


def test_everything_is_somebody_elses(file, tmp_path, monkeypatch):
    file.write_bytes(cache.seal(file, evil_inside(file, tmp_path / "ran")))
    cache._own.cache_clear()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.warns(carom.CaromWarning, match="belongs to another user; set XDG_CACHE_HOME") as said:
        assert cache.folder("programs") is None and cache.folder("compiled") is None
    assert len(said) == 1  # said once
    assert asked() == (True, 1.0) and not (tmp_path / "ran").exists()
    assert cache.unsealed(file) is None


def test_a_link_to_a_place_of_somebody_else(place, tmp_path, monkeypatch):
    os.makedirs(place.parent, mode=0o700)
    place.symlink_to("/usr", target_is_directory=True)
    lstat, own = os.lstat(place), os.stat("/usr")
    if lstat.st_uid == own.st_uid:  # tests of root: /usr is theirs
        monkeypatch.setattr(os, "stat", lambda *a, stat=os.stat, **k: foreign(stat(*a, **k)))
    with pytest.warns(carom.CaromWarning, match="belongs to another user"):
        assert cache.folder("programs") is None


def foreign(seen: os.stat_result) -> os.stat_result:
    changed = list(seen)
    changed[4] += 1 if seen.st_ino == os.lstat("/usr").st_ino else 0
    return os.stat_result(changed)


OPEN = [
    ("carom", 0o777, "others can write to it"),
    ("carom", 0o720, "others can write to it"),
    ("cache", 0o777, "everybody can write to"),
    ("cache", 0o770, "a group can write to"),
]


@pytest.mark.parametrize(("which", "mode", "said"), OPEN)
def test_open_folders_are_refused(place, tmp_path, which, mode, said):
    os.makedirs(place, mode=0o700)
    {"carom": place.parent, "cache": tmp_path / "cache"}[which].chmod(mode)
    with pytest.warns(carom.CaromWarning, match=said):
        assert cache.folder("programs") is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.folder("programs") is None  # said once


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_place_where_only_owners_may_rename_is_fine(place, tmp_path, mode):
    os.makedirs(place, mode=0o700)
    (tmp_path / "cache").chmod(0o1000 | mode)
    assert cache.folder("programs") == place


def test_a_folder_in_which_somebody_else_is_at_home_is_refused(place, tmp_path, monkeypatch):
    """Whoever owns a folder above can put another one in the place of the user's."""
    os.makedirs(place, mode=0o700)
    above = os.stat(tmp_path / "cache").st_ino

    def seen(*at, stat=os.stat, **k):
        found = list(stat(*at, **k))
        found[4] += 12345 if found[1] == above else 0
        return os.stat_result(found)

    monkeypatch.setattr(os, "stat", seen)
    with pytest.warns(carom.CaromWarning, match="cache belongs to another user"):
        assert cache.folder("programs") is None


def test_folders_that_others_can_look_into_are_closed(place):
    os.makedirs(place, mode=0o755)
    for path in (place, place.parent):
        path.chmod(0o755)
    assert cache.folder("programs") == place
    for path in (place, place.parent):
        assert path.stat().st_mode & 0o777 == 0o700


def test_folders_and_files_are_closed_to_others(file):
    for path in (file.parent, file.parent.parent):
        assert path.stat().st_mode & 0o777 == 0o700
    for path in (file, cache.home() / "key"):
        assert path.stat().st_mode & 0o777 == 0o600


def test_without_owners_nothing_is_kept(place, monkeypatch):
    monkeypatch.delattr(os, "geteuid")
    assert cache.folder("programs") is None and not place.parent.exists()


def test_a_structure_names_classes_of_carom_only():
    def read(data: bytes) -> object:
        return store._Structure(io.BytesIO(data)).load()

    assert read(pickle.dumps((1, {"a": [2.0, None]}))) == (1, {"a": [2.0, None]})
    for bad in (b"cposix\nsystem\n.", b"ccarom._simulation\nos.system\n.", b"ccarom._simulation\nsimulate\n.",
                b"\x80\x04\x8c\x11carom._simulation\x8c\x0ajax.Array.x\x93."):  # fmt: skip
        with pytest.raises((store.Foreign, AttributeError, pickle.UnpicklingError)):
            read(bad)


SCRIPT = """
import carom, jax
ball = carom.Mechanism([carom.PointMass(length=1.0, mass=1.0)])
print(carom.simulate(carom.World(ball), ball.state([0.3]), until=0.1).finished, jax.config.jax_compilation_cache_dir)
"""


def start(**env: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"CAROM_PROGRAMS": "on"} | env
    return subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=False)


def test_jax_keeps_its_programs_there_only_if_it_is_ours(tmp_path):
    (tmp_path / "carom").mkdir()
    (tmp_path / "carom").chmod(0o777)
    done = start(XDG_CACHE_HOME=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "True None\n"), done.stderr
    assert done.stderr.count("\n") == 1 and "others can write to it; remove it" in done.stderr
    assert list((tmp_path / "carom").iterdir()) == []


def test_a_home_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    done = start(HOME=str(tmp_path / "file"), XDG_CACHE_HOME="")
    assert (done.returncode, done.stdout) == (0, "True None\n"), done.stderr
    assert done.stderr.count("\n") == 1
    assert "every start compiles again" in done.stderr and "set XDG_CACHE_HOME to a folder of your own" in done.stderr


def test_programs_of_jax_that_are_not_the_users_own_go(place, tmp_path):
    """JAX's files have no tag: a link may lead anywhere, and what somebody else owns or can write is theirs."""
    compiled = cache.folder("compiled")
    assert compiled is not None
    (compiled / "mine").write_bytes(b"a program")
    (compiled / "mine").chmod(0o644)
    (compiled / "link").symlink_to(tmp_path)
    for name, mode in (("of a group", 0o664), ("of all", 0o602)):
        (compiled / name).write_bytes(b"a program")
        (compiled / name).chmod(mode)
    if os.geteuid() == 0:
        (compiled / "theirs").write_bytes(b"a program")
        os.chown(compiled / "theirs", 12345, 12345)
    assert cache.own_files("compiled") == compiled
    assert [file.name for file in compiled.iterdir()] == ["mine"]
