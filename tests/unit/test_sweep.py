"""Studies: every run is the run alone; a store is gone on with, and only with its own study."""

import errno
import json
import shutil

import numpy as np
import pytest
import xarray
from scipy.stats import qmc

import carom
from carom.experiment.sweeping import _study as module
from carom.experiment.sweeping import _study_store as study_store
from carom.experiment.sweeping import _study_task as study_task
from carom.experiment.sweeping._study_plan import Plan
from carom.experiment.sweeping._study_point import point_of
from carom.experiment.sweeping._study_task import run_task
from carom.experiment.sweeping._workers import Workers
from carom.hybrid import outcome

BALL = carom.Scenario.load("ball-drop").with_({"run.until": 1.0})
HEIGHT, LAW, E = "start.base.1", "contacts.floor.normal.law", "contacts.floor.normal.restitution"
HEIGHTS = [0.4, 0.7, 1.0, 0.05]  # the last one is inside the floor
OVER = {LAW: ["newton", "poisson"], HEIGHT: HEIGHTS}
MEASURES = ["impact.1.restitution", "impact.2.t_start", "impacts.count", "y.ball.tip.most.after.0.5"]
OPTIONS = {"impacts": 2, "chunk": 2}


def study(store=None, **other):
    return carom.sweep(BALL, OVER, MEASURES, store=store, progress=False, **(OPTIONS | other))


@pytest.fixture(scope="module")
def data():
    return study()


@pytest.fixture(scope="module")
def stored(tmp_path_factory, data):
    place = tmp_path_factory.mktemp("studies") / "balls.zarr"
    study(place)
    return place


def test_every_run_is_the_run_alone(data):
    assert data.sizes == {LAW: 2, HEIGHT: 4, "impact": 2}
    for law in OVER[LAW]:
        for height in HEIGHTS[:3]:
            found = data.sel({LAW: law, HEIGHT: height})
            alone = BALL.with_({LAW: law, HEIGHT: height}).simulate(progress=False)
            assert found["outcome"] == outcome.FINISHED
            np.testing.assert_allclose(found["impact.1.restitution"], alone.impacts[0].restitution, rtol=1e-12)
            np.testing.assert_allclose(found["impact.2.t_start"], alone.impacts[1].t_start, rtol=1e-12)
            known = [i.normal_impulse for i in alone.impacts[:2]]
            np.testing.assert_allclose(found["impact.normal_impulse"], known, rtol=1e-10)
            assert found["impacts.count"] == sum(i.struck for i in alone.impacts)


def test_an_impossible_run_says_so_and_has_no_numbers(data):
    found = data.sel({HEIGHT: HEIGHTS[3]})
    assert np.all(found["outcome"] == outcome.STARTS_INSIDE)
    for name in MEASURES:
        assert np.all(np.isnan(found[name])), name
    assert str(outcome.STARTS_INSIDE) in json.loads(data["outcome"].attrs["words"])


def test_failed_runs_are_told_by_name():
    plan = module.study_of(BALL, {"over": {HEIGHT: HEIGHTS, E: [0.5, 1.5]}})
    failures = {each.lane: each for each in run_task(plan, 0).failures}
    assert set(failures) == {1, 3, 5, 6, 7}
    assert failures[1].named == f"{HEIGHT}=0.4, {E}=1.5" and "it must lie in [0, 1]" in failures[1].why
    assert "starts 0.05 m inside its surface" in failures[6].why


def test_worlds_that_cannot_be_traced_are_made_one_by_one(data, monkeypatch):
    monkeypatch.setattr(study_task, "can_be_traced", lambda made: False)
    found = carom.sweep(BALL, {HEIGHT: HEIGHTS}, MEASURES, **OPTIONS, progress=False)
    known = data.sel({LAW: "newton"}).drop_vars(LAW)
    xarray.testing.assert_allclose(found.drop_attrs(), known.drop_attrs(), rtol=1e-12)


def test_a_store_is_read_by_xarray_alone(stored, data):
    found = xarray.open_zarr(stored, chunks=None, consolidated=False, mask_and_scale=False)
    assert found[LAW].attrs["flag_meanings"] == "newton poisson"
    for name in data.data_vars:
        np.testing.assert_array_equal(found[name].values, data[name].values)
    assert found[HEIGHT].attrs["units"] == "m" and "units" not in found[LAW].attrs
    assert found["impact.1.restitution"].attrs["units"] == "-" and found["impact.2.t_start"].attrs["units"] == "s"


def test_a_store_is_read_in_the_order_in_which_it_was_asked_for(stored, data):
    found = study_store.read_study(stored)
    assert list(found.coords) == list(data.coords) and list(found.data_vars) == list(data.data_vars)
    assert list(found.data_vars)[:4] == ["outcome", "time", *MEASURES[:2]]


def test_what_was_interrupted_is_gone_on_with(tmp_path, data, monkeypatch):
    place, ran = tmp_path / "balls.zarr", []

    def counted(plan, number):
        if len(ran) == 2:
            raise KeyboardInterrupt
        ran.append(number)
        return run_task(plan, number)

    monkeypatch.setattr(module, "run_task", counted)
    with pytest.raises(KeyboardInterrupt):
        study(place)
    # What was in flight when the power went: numbers without outcomes, which count for nothing.
    codes = xarray.open_zarr(place, chunks=None, consolidated=False, mask_and_scale=False)["outcome"].values
    assert np.sum(codes != -1) == 4 and not list(place.glob(".*part"))
    monkeypatch.setattr(module, "run_task", lambda plan, number: (ran.append(number), run_task(plan, number))[1])
    found = study(place)
    assert ran == [0, 1, 2, 3]
    xarray.testing.assert_identical(found.drop_attrs(), data.drop_attrs())
    before = len(ran)
    study(place)
    assert len(ran) == before, "what is complete is not run again"


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"measures": ["impacts.count"]}, r"measures \(\[.* there, \[.* here\)"),
        ({"over": {HEIGHT: [0.4, 0.8], LAW: ["newton"]}}, "what is varied"),
        ({"over": {**OVER, HEIGHT: [0.4, 0.8]}}, r"what is varied \(other values\)"),
        ({"scenario": BALL.with_({"gravity": 5.0})}, r"the scenario \('gravity = 9.8' there, 'gravity = 5.0' here\)"),
        ({"chunk": 3}, r"chunk \(2 there, 3 here\)"),
    ],
)
def test_a_store_of_another_study_is_refused(stored, other, words):
    given = {"scenario": BALL, "over": OVER, "measures": MEASURES, **OPTIONS} | other
    with pytest.raises(carom.CaromError, match=f"another study; what differs: {words}"):
        carom.sweep(store=stored, progress=False, **given)


def test_a_folder_that_is_no_study_is_refused(tmp_path):
    (tmp_path / "mine.zarr").mkdir()
    with pytest.raises(carom.CaromError, match=r"mine.zarr is there and holds no study"):
        study(tmp_path / "mine.zarr")


def test_other_versions_are_another_study(stored, tmp_path):
    place = tmp_path / "old.zarr"
    shutil.copytree(stored, place)
    text = (place / "zarr.json").read_text()
    (place / "zarr.json").write_text(text.replace('\\"back_end\\": \\"', '\\"back_end\\": \\"old '))
    with pytest.raises(carom.CaromError, match=r"what differs: back_end .old"):
        study(place)


def test_a_point_of_a_study_is_a_scenario(stored):
    found = point_of(stored, "base=0.7,law=poisson")
    assert found.contacts["floor"].normal.law == "poisson" and found.start.base == [0.0, 0.7]
    assert found.run.until == BALL.run.until
    for at, words in (
        ("", "say which one"),
        ("base=0.7", f"--at does not say {LAW}; it is newton, poisson"),
        ("height=0.7,law=newton", "--at height: the study varies"),
        ("base=0.7,law=hertz", "--at hertz: it is newton, poisson"),
        ("base", "is not of the form name=value"),
    ):
        with pytest.raises(carom.CaromError, match=words):
            point_of(stored, at)


def test_drawn_points(tmp_path):
    over = {HEIGHT: (0.4, 1.0), "gravity": "5:15"}
    for method in ("sobol", "halton", "latin-hypercube", "random"):
        plans = [module.study_of(BALL, {"over": over, "sample": 64, "method": method, "seed": s}) for s in (1, 1, 2)]
        assert plans[0] == plans[1] != plans[2]
        heights, gravities = (np.array(axis.values) for axis in plans[0].axes)
        assert heights.min() >= 0.4 and heights.max() <= 1.0 and gravities.min() >= 5.0 and gravities.max() <= 15.0
        unit = np.stack([(heights - 0.4) / 0.6, (gravities - 5.0) / 10.0], axis=1)
        if method == "latin-hypercube":  # one in each of 64 equal parts, of either
            assert all(len(np.unique(np.floor(64 * column))) == 64 for column in unit.T)
        if method in ("sobol", "halton"):
            assert qmc.discrepancy(unit) < 0.01
    module.study_of(BALL, {"over": over, "sample": 5})  # no warning where it is no power of two
    assert plans[0].dims == ("point",) and plans[0].shape == (64,) and plans[0].drawn == "random, 64 points, seed 1"


def test_points_from_a_table_and_files_of_other_kinds(tmp_path):
    table = tmp_path / "points.csv"
    table.write_text(f"{HEIGHT},{LAW}\n0.4,newton\n0.7,poisson\n1.0,newton\n0.9,poisson\n")
    out = tmp_path / "out.csv"
    found = carom.sweep(BALL, points=str(table), measures=MEASURES, impacts=2, store=out, progress=False)
    assert found.sizes == {"point": 4, "impact": 2} and found[LAW].values.tolist() == ["newton", "poisson"] * 2
    lines = out.read_text().splitlines()
    assert lines[0].startswith("point,outcome,time,impact.1.restitution") and "impact.1.restitution" in lines[0]
    assert len(lines) == 5 and "poisson" in lines[2]


TABLE = """
[study]
over = { "start.base.1" = "0.4:1.0:3", gravity = [5.0, 9.8] }
measures = ["impacts.count"]
"""


def test_a_study_in_a_file():
    scenario = carom.Scenario.read(BALL.toml() + TABLE)
    plan = module.study_of(scenario, {})
    assert plan.shape == (3, 2) and plan.measures == ("impacts.count",)
    assert carom.Scenario.read(scenario.toml()).study == scenario.study
    assert module.study_of(scenario, {"over": {"gravity": "5:6:4"}}).shape == (4,)


def test_without_measures_those_of_the_quantities_are_recorded():
    plan = module.study_of(BALL, {"over": {HEIGHT: "0.4:1:3"}})
    assert "impact.1.t_start" in plan.measures and not any(name.startswith("stance") for name in plan.measures)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"over": {}}, "a study varies something; give over"),
        ({"over": {"contacts.flor.normal.restitution": [0.5]}}, "over contacts.flor.*did you mean 'floor'"),
        ({"over": {"start.bases.0": [0.5]}}, "over start.bases"),
        ({"over": {"gravity": "1:2"}}, "over gravity: '1:2' is a range; say how many values"),
        ({"over": {"gravity": "1:2:x"}}, "over gravity: '1:2:x' must be a:b:n"),
        ({"over": {"gravity": []}}, "over gravity: there is no value"),
        ({"over": {"gravity": [1.0, np.nan]}}, "over gravity: one of the values is nan"),
        ({"over": {"gravity": [1.0, 1.0]}}, "over gravity: 1.0 stands there twice"),
        ({"over": {"title": ["a"]}}, "over title: it does not change the motion"),
        ({"over": {LAW: ["newtn"]}}, "newtn"),
        ({"over": {HEIGHT: (1.0, 0.5)}, "sample": 4}, "the range 1 to 0.5 must be of two finite numbers"),
        ({"over": {HEIGHT: [1.0]}, "sample": 4}, "must be a range to draw from"),
        ({"over": {HEIGHT: "0:1"}, "sample": 4, "method": "sobl"}, "did you mean 'sobol'"),
        ({"over": {HEIGHT: "0:1:9"}, "measures": ["impct.1.duration"]}, "there is no measure 'impct.1.duration'"),
        ({"over": {HEIGHT: "0:1:9"}, "measures": ["stances.count"]}, "cannot be recorded in a lane"),
        ({"over": {HEIGHT: "0:1:9"}, "measures": [3]}, "one of the measures is 3; it must be a name"),
        ({"over": HEIGHT}, "over is 'start.base.1'; it must be paths with their values"),
        (
            {"over": {HEIGHT: (0.1, 1.0)}, "sample": 10**12},
            "the study has 1,000,000,000,000 points; at most 50,000,000",
        ),
        ({"over": {HEIGHT: "0:1:9"}, "chunk": 0}, "chunk of a study is 0; it must be a whole number, at least 1"),
        ({"over": {HEIGHT: "0:1:9"}, "points": "a.csv"}, "points and over are two ways"),
        ({"points": "nowhere.csv"}, "nowhere.csv cannot be read"),
    ],
)
def test_bad_studies_are_refused_with_a_sentence(given, words):
    with pytest.raises(carom.CaromError, match=words):
        module.study_of(BALL, given)


@pytest.mark.parametrize(
    ("cluster", "words"),
    [("local:x", "it must be local:N"), ("local:0", "it must be local:N"), (3, "cluster is a int; it must be")],
)
def test_bad_clusters_are_refused_with_a_sentence(cluster, words):
    with pytest.raises(carom.CaromError, match=words):
        Workers(cluster)


def test_a_cluster_that_does_not_answer_is_refused(monkeypatch):
    monkeypatch.setattr("carom.experiment.sweeping._workers.PATIENCE", 0.3)
    with pytest.raises(carom.CaromError, match=r"the cluster at 'tcp://127.0.0.1:9' does not answer"):
        Workers("tcp://127.0.0.1:9")


def test_tasks_cover_the_grid_once_and_never_mix_categories():
    plan = Plan("", module.axes_of(BALL, {HEIGHT: "0:1:5", LAW: ["newton", "poisson"], E: "0:1:7"}), False, (), 0, 10)
    seen = np.zeros(plan.shape, dtype=int)
    for task in plan.tasks():
        seen[task] += 1
        assert seen[task].size <= 10 and task[1].stop - task[1].start == 1
    assert np.all(seen == 1) and plan.block == (1, 1, 7)


def test_other_endings_are_refused():
    with pytest.raises(carom.CaromError, match=r"study.txt has no known ending; a study is kept in \*.zarr"):
        study("study.txt")


def test_a_full_disk_is_said_and_loses_nothing(tmp_path, data, monkeypatch):
    place, usual, count = tmp_path / "balls.zarr", study_store._written, []

    async def full(arrays, task, columns):
        count.append(task)
        if len(set(map(str, count))) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        await usual(arrays, task, columns)

    monkeypatch.setattr(study_store, "_written", full)
    with pytest.raises(carom.CaromError, match=r"no space left on device; make room, .*the same command goes on"):
        study(place)
    monkeypatch.setattr(study_store, "_written", usual)
    xarray.testing.assert_identical(study(place).drop_attrs(), data.drop_attrs())
