"""Commands in this process, and results to look at."""

import subprocess
import sys

import pytest


def answer_of(monkeypatch, capsys, *args):
    """`carom ...` in this process: exit code, stdout, stderr."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", ["carom", *map(str, args)])
    with pytest.raises(SystemExit) as end:
        from carom.cli import main  # here: the checker of shapes is installed after this file is read

        main()
    out = capsys.readouterr()
    return end.value.code or 0, out.out, out.err


@pytest.fixture
def run(monkeypatch, capsys):
    return lambda *args: answer_of(monkeypatch, capsys, *args)


@pytest.fixture(scope="module")
def dropped(tmp_path_factory):
    """Results of ball-drop, numbers only, and what was printed: (folder, stdout)."""
    folder = tmp_path_factory.mktemp("cli") / "ball"
    done = subprocess.run(
        [sys.executable, "-m", "carom", "run", "ball-drop", "--numbers-only", "--out", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout
