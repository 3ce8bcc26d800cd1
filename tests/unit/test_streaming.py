"""Runs that are streamed to disk: the same run, readable when killed, stopped by Ctrl-C, in memory that stays."""

import json
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import carom
from carom.result._chunks import read_chunk

from .dropped_ball import pendulum


def test_a_streamed_run_is_the_same_run(tmp_path: Path) -> None:
    world = pendulum()
    plain = carom.simulate(world, world.state(angles=[0.3]), until=200.0)
    streamed = carom.simulate(world, world.state(angles=[0.3]), until=200.0, stream=tmp_path)
    assert len(list(tmp_path.glob("chunk-*.npz"))) >= 3
    assert "_rows" not in vars(streamed)  # nothing is in memory before it is asked for
    assert np.array_equal(plain.q, streamed.q)
    assert np.array_equal(plain.t, streamed.t)
    columns = json.loads((tmp_path / "columns.json").read_text())
    steps, events = read_chunk(tmp_path / "chunk-000001.npz")
    assert columns["steps"][:4] == [".t", ".span", ".y.q[0]", ".y.v[0]"]
    assert steps.shape[1] == len(columns["steps"])
    assert events.shape[1] == len(columns["events"])


LONG = """
    import pathlib, signal, sys
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell would ignore it
    import numpy as np
    import carom
    def peak():  # [kB]; getrusage would begin with the peak of the process that started this one
        status = pathlib.Path("/proc/self/status")
        return int(status.read_text().split("VmHWM:")[1].split()[0]) if status.exists() else 0
    arm = carom.Arm([carom.Rod(1.0, 1.0)])
    world = carom.World(arm)
    start = world.state([0.3])
    short = carom.simulate(world, start, until=50.0, stream=sys.argv[1] + "/short")  # compiled, all buffers made
    before = peak()
    print("running", flush=True)
    result = carom.simulate(world, start, until=float(sys.argv[2]), stream=sys.argv[1] + "/long", progress=False)
    after = peak()
    print(result.outcome)
    print(result.statistics.steps, after - before)
    print(float(result.final.t), result.t[-1], bool(np.all(np.diff(result.t) > 0)), len(result.t))
"""


def long_run(folder: Path, until: float) -> subprocess.Popen:
    code = textwrap.dedent(LONG)
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder), str(until)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    return process


def wait_for_chunks(folder: Path, count: int) -> None:
    for _ in range(600):
        if len(list((folder / "long").glob("chunk-*.npz"))) >= count:
            return
        time.sleep(0.05)
    raise AssertionError("no chunks were written")


def test_a_killed_run_leaves_its_chunks_readable(tmp_path: Path) -> None:
    process = long_run(tmp_path, 1e7)
    wait_for_chunks(tmp_path, 5)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    pieces = [read_chunk(p)[0] for p in sorted((tmp_path / "long").glob("chunk-*.npz"))]
    steps = np.concatenate(pieces)
    t, span = steps[:, 0], steps[:, 1]
    assert len(steps) == 1024 * len(pieces)
    assert np.allclose(t[1:], t[:-1] + span[:-1], rtol=1e-14, atol=0.0)  # not a step is missing


def test_ctrl_c_returns_what_there_is(tmp_path: Path) -> None:
    process = long_run(tmp_path, 1e7)
    wait_for_chunks(tmp_path, 5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "stopped at t = " in err
    lines = out.splitlines()
    assert lines[0] == "stopped before the end; what was computed so far is kept"
    final, last, increasing, count = lines[2].split()
    assert final == last
    assert increasing == "True"
    assert int(count) > 5 * 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory from Linux's /proc")
def test_streaming_does_not_grow(tmp_path: Path) -> None:
    """Thirty megabytes go to disk; the memory of the process stays (read back they are fifty)."""
    process = long_run(tmp_path, 20000.0)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    outcome, cost, _ = out.splitlines()
    steps, grown = (int(x) for x in cost.split())
    written = sum(p.stat().st_size for p in (tmp_path / "long").glob("chunk-*.npz"))
    assert outcome == "finished"
    assert steps > 500_000
    assert grown * 1024 < 0.3 * written, (grown, written)
