"""Results on a disk that is full: one sentence, nothing half, and what was there before stays."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import carom
from carom.cli import _restitution_figure as restitution_figure
from carom.result import _files as files

CHUNK = 32  # rows, for runs of several chunks
ROOM = "cannot be written: file too large; make room, or choose another disk"


@pytest.fixture
def full():
    """No file may grow beyond 100 bytes, which the system enforces, as it does on a full disk.

    JAX's own cache keeps what takes a second to compile, and on a slow machine that would not fit either.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    least = jax.config.jax_persistent_cache_min_compile_time_secs
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 1e9)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", least)


@pytest.fixture(scope="module")
def world():
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), carom.Hooke(1e5), radius=0.1)
    return carom.World(ball, contacts=floor)


@pytest.fixture(scope="module")
def bounce(world):
    found = carom.simulate(world, world.state(base=(0.0, 0.3)), until=0.4)
    found.trajectory  # noqa: B018  computed once, while there is room
    return found


# -- single files ------------------------------------------------------------------------------------------------------

WRITERS = {
    "run.nc": lambda run, path: run.save(path),
    "film.gif": lambda run, path: run.animate(path, fps=2, size=(80, 60)),
    "strip.png": lambda run, path: run.animate(path, size=(160, 80)),
    "all.png": lambda run, path: restitution_figure.draw({"plain": float, "none": lambda asked: 0.0 * asked}, path),
    "words.csv": lambda run, path: files.write_text(path, "1.0\n" * 100),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_does_not_fit(bounce, tmp_path, name, request):
    (tmp_path / name).write_text("old")
    request.getfixturevalue("full")
    with pytest.raises(carom.CaromError, match=f"{name} {ROOM}"):
        WRITERS[name](bounce, tmp_path / name)
    assert (tmp_path / name).read_text() == "old" and os.listdir(tmp_path) == [name]


def test_a_film_that_ffmpeg_cannot_write(bounce, tmp_path, monkeypatch):
    tool = tmp_path / "bin" / "ffmpeg"
    tool.parent.mkdir()
    tool.write_text(
        "#!/bin/sh\ncat > /dev/null\necho 'av_interleaved_write_frame(): No space left on device' >&2\nexit 1\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    with pytest.raises(carom.CaromError, match=r"film.mp4 cannot be written: ffmpeg ended with .*; make room") as said:
        bounce.animate(tmp_path / "film.mp4", fps=2, size=(80, 60))
    assert "\n" not in str(said.value) and os.listdir(tmp_path) == ["bin"]


def test_a_pipe_or_a_device_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(carom.CaromError, match="pipe cannot be written: it is not a file; name one"):
        files.write_text(tmp_path / "pipe", "words")
    assert (tmp_path / "pipe").is_fifo() and os.listdir(tmp_path) == ["pipe"]


# -- streamed runs -----------------------------------------------------------------------------------------------------


def streamed(world: carom.World, folder: Path) -> carom.errors.CaromError:
    with pytest.raises(carom.CaromError) as said, pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys.modules["carom._simulation"], "ROWS", CHUNK)
        carom.simulate(world, world.state(base=(0.0, 0.3)), until=3.0, stream=folder)
    return said.value


def read_back(folder: Path) -> float:
    """The time up to which a folder holds the run."""
    columns = json.loads((folder / "columns.json").read_text())["steps"]
    t, end = 0.0, 0.0
    for chunk in sorted(folder.glob("chunk-*.npz")):
        with np.load(chunk) as data:
            assert data["steps"].shape[1] == len(columns)
            assert data["steps"][0, 0] == pytest.approx(end, abs=1e-12)  # it goes on where the last one ended
            t, span = data["steps"][-1, :2]
        end = t + span
    return end


def test_a_stream_keeps_the_chunks_that_were_whole(world, tmp_path, monkeypatch):
    own = np.savez

    def fills(file, **arrays):
        if len(list(tmp_path.glob("chunk-*.npz"))) == 2:
            file.write(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        own(file, **arrays)

    monkeypatch.setattr(np, "savez", fills)
    said = str(streamed(world, tmp_path))
    assert "chunk-000003.npz cannot be written: no space left on device; make room" in said
    assert sorted(os.listdir(tmp_path)) == ["chunk-000001.npz", "chunk-000002.npz", "columns.json"]
    until = re.search(r"the run was stopped, and the run until t = (\S+) s is in (.*)", said)
    assert float(until[1]) == pytest.approx(read_back(tmp_path), rel=1e-5) and until[2] == str(tmp_path)


def test_a_stream_on_a_disk_that_is_really_full(world, disk_of):
    small = disk_of("20k")
    said = str(streamed(world, small / "run"))
    assert "no space left on device; make room" in said and "the run until t = " in said
    assert not [name for name in os.listdir(small / "run") if ".part" in name]
    assert 0.0 < read_back(small / "run") < 3.0


def test_a_stream_of_which_nothing_fits(world, tmp_path, full):
    said = str(streamed(world, tmp_path / "run"))
    assert re.search(r"columns.json cannot be written: file too large; make room", said)
    assert os.listdir(tmp_path / "run") == []


def test_a_stream_to_a_place_that_cannot_be(world, tmp_path):
    (tmp_path / "file").write_text("")
    said = str(streamed(world, tmp_path / "file" / "run"))
    assert said == f"{tmp_path}/file/run cannot be written: not a directory; check the path"


def test_ctrl_c_while_a_chunk_is_written_leaves_nothing_half(world, tmp_path, monkeypatch):
    def stopped(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", stopped)
    carom.simulate(world, world.state(base=(0.0, 0.3)), until=0.4, stream=tmp_path, throw=False)
    assert os.listdir(tmp_path) == ["columns.json"]
