"""Studies on processes that die: the same bytes, whoever is killed, and nothing lost but what was in flight."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SWEEP = "sweep ball-drop --over start.base.1=0.4:1:40 --over contacts.floor.normal.restitution=0.3:0.8:20 --measure "
SWEEP += "impact.1.restitution --measure impacts.count --impacts 3 --chunk 40 --quiet --out"
COMMAND = [sys.executable, "-c", "import carom_command; carom_command.main()", *SWEEP.split()]
PATIENCE = 180  # [s]


def numbers(store: Path) -> dict[str, str]:
    """Every chunk and its digest; not what tells when the study was made."""
    files = [
        f for f in store.rglob("*") if f.is_file() and f.suffix != ".partial" and "c" in f.relative_to(store).parts
    ]
    return {str(f.relative_to(store)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def tasks_done(store: Path) -> int:
    return sum(f.is_file() and not f.name.endswith(".partial") for f in (store / "outcome" / "c").rglob("*"))


def workers_of(process: subprocess.Popen) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = status.read_text().rpartition(")")[2].split()
            line = (status.parent / "cmdline").read_text()
        except OSError:
            continue
        if int(words[1]) == process.pid and "spawn_main" in line:
            found.append(int(status.parent.name))
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> dict[str, str]:
    place = tmp_path_factory.mktemp("alone") / "study.zarr"
    subprocess.run([*COMMAND, str(place)], check=True, timeout=PATIENCE)
    found = numbers(place)
    assert tasks_done(place) == 20 and len(found) > 20
    return found


def test_two_processes_write_the_same_bytes(alone, tmp_path):
    place = tmp_path / "study.zarr"
    subprocess.run([*COMMAND, str(place), "--cluster", "local:2"], check=True, timeout=PATIENCE)
    assert numbers(place) == alone


def test_a_process_that_is_killed_changes_nothing(alone, tmp_path):
    place = tmp_path / "study.zarr"
    study = subprocess.Popen([*COMMAND, str(place), "--cluster", "local:2"])
    killed = False
    while study.poll() is None:
        if not killed and tasks_done(place) >= 3 and workers_of(study):
            os.kill(workers_of(study)[-1], signal.SIGKILL)
            killed = True
        time.sleep(0.01)
    assert killed and study.returncode == 0
    assert numbers(place) == alone


def test_a_scheduler_that_is_killed_is_gone_on_with(alone, tmp_path):
    place = tmp_path / "study.zarr"
    study = subprocess.Popen([*COMMAND, str(place), "--cluster", "local:2"])
    while study.poll() is None and tasks_done(place) < 3:
        time.sleep(0.01)
    workers = workers_of(study)
    study.kill()
    study.wait()
    for worker in workers:  # what a scheduler leaves behind when it is not asked
        try:
            os.kill(worker, signal.SIGKILL)
        except ProcessLookupError:
            continue
    assert 3 <= tasks_done(place) < 20
    subprocess.run([*COMMAND, str(place)], check=True, timeout=PATIENCE)
    assert numbers(place) == alone


def test_killed_at_ten_moments(alone, tmp_path):
    """Complete tasks are never touched again; the end is what it would have been."""
    place, rng, done = tmp_path / "study.zarr", random.Random(1), 0
    for _ in range(10):
        study = subprocess.Popen([*COMMAND, str(place)])
        began = time.perf_counter()
        while study.poll() is None and tasks_done(place) == done and time.perf_counter() - began < PATIENCE:
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, 0.05))
        complete = {name: digest for name, digest in numbers(place).items() if name.startswith("outcome")}
        study.kill()
        study.wait()
        assert all(numbers(place)[name] == digest for name, digest in complete.items())
        assert tasks_done(place) >= done
        done = tasks_done(place)
        if done == 20:
            break
    subprocess.run([*COMMAND, str(place)], check=True, timeout=PATIENCE)
    assert numbers(place) == alone
