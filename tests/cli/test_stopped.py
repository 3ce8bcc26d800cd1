"""When things go wrong in the middle: full disks and Ctrl-C. Nothing is lost, and a sentence says so."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import carom
from carom.experiment import _output as output
from carom.experiment import experiment
from carom.result import _files as files
from carom.scenario import load

from .answers import NUMBERS, refused, tree

# -- when the disk is full ---------------------------------------------------------------------------------------------


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("stage", ["text", "rename", "trajectory"])
def test_a_full_disk_is_one_sentence_and_the_old_results_stay(run, monkeypatch, dropped, tmp_path, stage):
    folder = tmp_path / "out"
    shutil.copytree(dropped[0], folder)
    before = tree(tmp_path)
    if stage == "text":
        monkeypatch.setattr(Path, "write_text", full)
    elif stage == "rename":
        # The older folder has been moved away by then: it must come back.
        rename = os.rename
        monkeypatch.setattr(os, "rename", lambda a, b: full() if str(a).endswith(".part") else rename(a, b))
    else:
        monkeypatch.setattr("carom.result._trajectory.netcdf", full)
    short = ("--set", "run.until=0.1", "--numbers-only")
    assert "make room" in refused(run("run", "ball-drop", *short, "--replace", "--out", folder))
    assert tree(tmp_path) == before


def test_a_disk_that_is_really_full(dropped, disk_of):
    small = disk_of("64k")
    found = experiment.perform(load(dropped[0] / "scenario.toml").with_({"run.until": 0.1}), progress=False)
    with pytest.raises(files.CaromError, match="make room"):
        output.write(found, small / "out")
    assert list(small.iterdir()) == []


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


def stopped(*_, **__):
    raise KeyboardInterrupt


def test_ctrl_c_before_anything_was_computed(run, monkeypatch, tmp_path):
    monkeypatch.setattr(experiment, "simulate", stopped)
    said = refused(run("run", "ball-drop", "--out", tmp_path / "out"), 130)
    assert "interrupted; nothing was written" in said and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stage", ["figures_of", "write_report_of"])
def test_ctrl_c_while_pictures_are_made_keeps_the_numbers(run, monkeypatch, tmp_path, stage):
    monkeypatch.setattr(output, "figures_of", lambda _: iter(()))
    monkeypatch.setattr(output, stage, stopped)
    folder = tmp_path / "out"
    said = refused(run("run", "ball-drop", "--set", "run.until=0.1", "--out", folder), 130)
    assert f"the numbers are in {folder}; run: carom report {folder}" in said
    assert {p.name for p in folder.iterdir() if p.is_file()} == NUMBERS
    assert json.loads((folder / "summary.json").read_text())["finished"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("stage", ["_numbers", "measured"])
def test_ctrl_c_while_numbers_are_written_is_heard_after_them(run, monkeypatch, tmp_path, stage):
    own = getattr(output, stage)

    def interrupted(*args):
        signal.raise_signal(signal.SIGINT)
        return own(*args)

    monkeypatch.setattr(output, stage, interrupted)
    monkeypatch.setattr(output, "_pictures", lambda *_: pytest.fail("Ctrl-C was not heard"))
    folder = tmp_path / "out"
    code, out, err = run("run", "ball-drop", "--set", "run.until=0.1", "--out", folder)
    first, second = err.strip().splitlines()
    assert (code, out, first) == (130, "", "writing what was computed; Ctrl-C once more stops at once, and loses it")
    assert "the numbers are in" in second
    assert {p.name for p in folder.iterdir()} == NUMBERS and [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("stage", ["simulate", "_pictures"])
def test_ctrl_c_in_a_report_leaves_the_folder_as_it_was(run, monkeypatch, dropped, tmp_path, stage):
    folder = tmp_path / "out"
    shutil.copytree(dropped[0], folder)
    before = tree(tmp_path)
    monkeypatch.setattr(experiment if stage == "simulate" else output, stage, stopped)
    assert "nothing was written" in refused(run("report", folder), 130)
    assert tree(tmp_path) == before


def test_ctrl_c_during_a_long_run_keeps_what_was_computed(tmp_path):
    folder = tmp_path / "out"
    # Elastic bounces on a level floor for years; the child says when a chunk is done. At the second one, one is kept.
    changes = ["surfaces.slope.slope=0.0", "contacts.slope.normal.restitution=1.0", "run.until=1e9"]
    options = ["--numbers-only", "--out", str(folder), *(word for each in changes for word in ("--set", each))]
    code = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background job would ignore
from carom.cli import main
from carom.result import _chunks
store = _chunks.Chunks
own = store.add
store.add = lambda *a: (print("going", flush=True), own(*a))
main()
"""
    command = [sys.executable, "-c", code, "run", "ball-on-slope", *options, "--set", "run.max_steps=100000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        first = [child.stdout.readline() for _ in range(2)]
        child.send_signal(signal.SIGINT)
        try:
            out, err = child.communicate(timeout=120)
        finally:
            child.kill()
    assert first == ["going\n"] * 2, err
    assert child.returncode == 130 and "Traceback" not in err, err
    assert "stopped at t = " in err and "stopped before the end" in out
    summary = json.loads((folder / "summary.json").read_text())
    assert not summary["finished"] and summary["outcome"].startswith("stopped before the end")
    assert {p.name for p in folder.iterdir()} == NUMBERS and [p.name for p in tmp_path.iterdir()] == ["out"]


DROPPED = """
import signal
class Library:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)  # what is raised here, Python drops
Library()
"""


@pytest.mark.parametrize("package", ["raise KeyboardInterrupt", DROPPED], ids=["raised", "dropped"])
def test_ctrl_c_during_the_import_is_a_sentence(tmp_path, package):
    # The package that the script imports is one that is interrupted at once.
    (tmp_path / "carom").mkdir()
    (tmp_path / "carom" / "__init__.py").write_text(package)
    source = Path(carom.__file__).parent.parent
    code = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background job would ignore
sys.path[:0] = [{str(tmp_path)!r}, {str(source)!r}]
from carom_command import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "carom: interrupted; nothing was written\n"


def test_ctrl_c_while_reproducing_keeps_what_was_compared(run, monkeypatch, tmp_path):
    own = experiment.perform

    def second_is_stopped(scenario, *args):
        return stopped() if scenario.name == "corner" else own(scenario, *args)

    monkeypatch.setattr(experiment, "perform", second_is_stopped)
    code, out, err = run("reproduce", "ball-drop", "corner", "ball-on-slope", "--json", tmp_path / "r.json")
    assert code == 130 and "interrupted; what was compared is above" in err
    assert {row["scenario"] for row in json.loads((tmp_path / "r.json").read_text())} == {"ball-drop"}
    assert "3 numbers: 3 agree" in out
    said = refused(run("reproduce", "ball-drop", "--json", tmp_path / "no" / "r.json"))
    assert "r.json cannot be written: no such file or directory; make its folder first" in said
