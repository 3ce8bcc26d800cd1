"""`carom sweep`: a study from a shell, its page, one of its runs; what it refuses."""

import importlib.util

import numpy as np
import pytest
import xarray

from carom.experiment.sweeping import _study_task as study_task
from carom.hybrid import outcome
from carom.study.batches import Batch

from .answers import refused

GRID = ("--over", "start.base.1=0.05:0.8:4", "--set", "run.until=1.0", "--measure", "impact.1.t_start")


@pytest.fixture
def quick(monkeypatch):
    """No program: every run falls freely to a floor at height 0; one that starts inside says so."""

    def fall(plan, make, numbers, start, settings, until):
        height = numbers[:, 0] - 0.1
        codes = np.where(height < 0.0, outcome.STARTS_INSIDE, outcome.FINISHED)
        first = np.sqrt(2.0 * np.maximum(height, 0.0) / 9.8)
        empty = dict.fromkeys(("q", "v", "work", "phases", "memory", "steps", "events", "penetration", "extra"))
        told = {"impact.1.t_start": np.where(height < 0.0, np.nan, first)}
        return Batch(
            np.full(len(numbers), until),
            outcome=codes,
            measures=told,
            impacts={},
            returns={},
            at={},
            ends=(),
            made=None,
            **empty,
        )

    monkeypatch.setattr(study_task, "_batch", fall)


def test_a_study_its_page_and_what_failed(run, tmp_path, quick):
    place, page = tmp_path / "drops.zarr", tmp_path / "drops.html"
    code, out, err = run("sweep", "ball-drop", *GRID, "--out", place, "--page", page)
    assert (code, err) == (0, "")
    assert "impact.1.t_start: 0.202031 to 0.377964 (1 runs have none) s" in out
    assert "4 runs, 3 ended well, 1 failed" in out and f"study: {place}" in out
    assert "failed: start.base.1=0.05: " in out and "starts 0.05 m inside its surface" in out
    found = xarray.open_zarr(place, chunks=None, consolidated=False, mask_and_scale=False)
    known = np.sqrt(2.0 * (np.linspace(0.05, 0.8, 4)[1:] - 0.1) / 9.8)
    np.testing.assert_allclose(found["impact.1.t_start"].values[1:], known, rtol=1e-12)
    assert '"axes"' in page.read_text()
    assert run("sweep", "ball-drop", *GRID, "--out", place, "--quiet") == (0, f"{place}\n", "")
    assert (
        "failed: 1, all of them before this command; `outcome` says which"
        in run("sweep", "ball-drop", *GRID, "--out", place)[1]
    )


def test_a_run_of_a_study_is_opened_by_its_numbers(run, tmp_path, quick):
    place = tmp_path / "drops.zarr"
    assert run("sweep", "ball-drop", *GRID, "--out", place, "--quiet")[0] == 0
    code, _, err = run("run", place, "--at", "base=0.8", "--numbers-only", "--out", tmp_path / "one")
    assert code == 0, err
    assert "start.base.1=0.8" in (tmp_path / "one" / "scenario.toml").read_text()
    assert "say which one" in refused(run("run", place))
    assert "--at names a run of a study" in refused(run("run", "ball-drop", "--at", "base=0.8"))
    assert "holds no study" in refused(run("run", tmp_path / "none.zarr", "--at", "base=0.8"))


def test_refusals(run, tmp_path, monkeypatch):
    assert "write path=a:b:n" in refused(run("sweep", "ball-drop", "--over", "gravity"))
    assert "a study varies something" in refused(run("sweep", "ball-drop"))
    assert "a study runs plain simulations" in refused(run("sweep", "inchworm", "--over", "crawl.mass=1:2:3"))
    assert "no known ending" in refused(run("sweep", "ball-drop", *GRID, "--out", tmp_path / "a.txt"))
    assert "there is no folder" in refused(run("sweep", "ball-drop", *GRID, "--out", tmp_path / "no" / "a.zarr"))
    usual = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "zarr" else usual(name, *more))
    assert "this needs zarr, which is not installed; run: pip install 'carom[sweep]'" in refused(
        run("sweep", "ball-drop", *GRID)
    )


def test_ctrl_c_says_what_is_kept(run, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(study_task, "_batch", interrupted)
    code, _, err = run("sweep", "ball-drop", *GRID, "--out", tmp_path / "a.zarr")
    assert code == 130 and "keeps what is complete, and the same command goes on" in err
    code, _, err = run("sweep", "ball-drop", *GRID, "--out", tmp_path / "a.csv")
    assert code == 130 and "nothing was written" in err and not (tmp_path / "a.csv").exists()
