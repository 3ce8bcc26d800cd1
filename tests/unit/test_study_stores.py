"""Stores of studies: two processes, two commands at once, damage."""

import shutil

import numpy as np
import pytest
import xarray

import carom
from carom.experiment.sweeping import _study as module
from carom.experiment.sweeping import _study_store as study_store
from carom.experiment.sweeping._study_task import run_task

from .test_sweep import BALL, HEIGHT, study
from .test_sweep import data as data  # fixtures
from .test_sweep import stored as stored


def test_two_processes_write_the_same_bytes(stored, tmp_path):
    place = tmp_path / "balls.zarr"
    study(place, cluster="local:2")

    def chunks(store):
        return {p.relative_to(store): p.read_bytes() for p in store.rglob("*") if p.is_file() and p.name != "zarr.json"}

    assert chunks(place) == chunks(stored) and len(chunks(place)) > 4


@pytest.mark.parametrize("part", ["impacts.count/c", "outcome/c", "outcome", "impacts.count"])
def test_a_store_that_is_damaged_is_said_to_be(stored, tmp_path, part):
    place = tmp_path / "balls.zarr"
    shutil.copytree(stored, place)
    if part.endswith("/c"):
        next(p for p in (place / part).rglob("*") if p.is_file()).write_bytes(b"cut")
    else:
        shutil.rmtree(place / part)
    with pytest.raises(carom.CaromError, match=r"balls.zarr cannot be read: a part of it is damaged or missing"):
        study(place)


def test_two_commands_may_begin_one_store(tmp_path, data, monkeypatch):
    """The second one finds the store of the first where its own should go."""
    place, usual = tmp_path / "balls.zarr", study_store.Path.rename

    def late(half, target):
        monkeypatch.setattr(study_store.Path, "rename", usual)
        study(place)
        return usual(half, target)

    monkeypatch.setattr(study_store.Path, "rename", late)
    xarray.testing.assert_identical(study(place).drop_attrs(), data.drop_attrs())
    assert [p.name for p in tmp_path.iterdir()] == ["balls.zarr"]


def test_a_store_that_is_made_anew_is_another(tmp_path, data):
    """Arrays stay open from task to task, and no longer than their store is there."""
    place = tmp_path / "balls.zarr"
    study(place, impacts=0)
    shutil.rmtree(place)
    xarray.testing.assert_identical(study(place).drop_attrs(), data.drop_attrs())


def test_a_store_that_is_removed_meanwhile_is_said_to_be(tmp_path, monkeypatch):
    place = tmp_path / "balls.zarr"

    def removed(plan, number):
        if number == 1:
            shutil.rmtree(place)
        return run_task(plan, number)

    monkeypatch.setattr(module, "run_task", removed)
    with pytest.raises(carom.CaromError, match=r"balls.zarr cannot be written: "):
        study(place)
    assert not place.exists()


def test_names_of_measures_may_divide(tmp_path):
    """A stroke in the name of an array would be a folder of the store."""
    name, height = "most(ball.tip.y / 2)", 'start."base".1'
    known = carom.sweep(BALL, {height: [0.5, 0.8]}, [name], progress=False)
    for ending in ("zarr", "nc"):
        place = tmp_path / f"halves.{ending}"
        found = carom.sweep(BALL, {height: [0.5, 0.8]}, [name], store=place, progress=False)
        assert list(found.data_vars) == ["outcome", "time", name]
        np.testing.assert_array_equal(found[name].values, known[name].values)
    np.testing.assert_allclose(known[name].values, [0.25, 0.4], rtol=1e-12)
    assert "most(ball.tip.y \u2215 2)" in xarray.open_zarr(tmp_path / "halves.zarr", consolidated=False)


def test_tables_of_points_as_spreadsheets_write_them(tmp_path):
    table = tmp_path / "points.csv"
    table.write_text(f"\ufeff{HEIGHT},gravity\n0.4,9.8\n", encoding="utf-8")
    assert module.study_of(BALL, {"points": table}).axes[0].path == HEIGHT
    table.write_text(f"{HEIGHT},gravity, {HEIGHT}\n0.4,9.8,0.5\n")
    with pytest.raises(carom.CaromError, match=rf"points.csv has 2 columns of {HEIGHT}; every path has one"):
        module.study_of(BALL, {"points": table})
