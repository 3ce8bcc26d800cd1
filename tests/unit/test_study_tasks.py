"""Tasks of a study: what is found out once for all of them, and rows that only fill one up."""

import numpy as np
import pytest

import carom
from carom.experiment.sweeping import _study as module
from carom.experiment.sweeping import _study_task as study_task
from carom.experiment.sweeping._study_plan import Plan
from carom.hybrid import outcome
from carom.study import _asked, _lanes
from carom.study import batches as batches

BALL = carom.Scenario.load("ball-drop").with_({"run.until": 1.0})
HEIGHT, LAW = "start.base.1", "contacts.floor.normal.law"


def plan_of(over, **other):
    return module.study_of(BALL, {"over": over, "measures": ["impacts.count"], **other})


def test_a_task_is_found_without_listing_all():
    plan = Plan(
        "", module.axes_of(BALL, {HEIGHT: "0:1:5", LAW: ["newton", "poisson"], "gravity": "5:9:7"}), False, (), 0, 3
    )
    assert [plan.task(number) for number in range(len(plan.tasks()))] == plan.tasks()
    long = Plan("", module.axes_of(BALL, {HEIGHT: "0:1:40_000"}), False, (), 0, 1)
    assert long.task(39_999) == (slice(39_999, 40_000),)


def test_rows_that_fill_up_a_task_are_never_run(monkeypatch):
    seen, usual = [], batches.batch
    monkeypatch.setattr(study_task, "batch", lambda *a, **k: (seen.append(usual(*a, **k)), seen[-1])[1])
    plan = plan_of({HEIGHT: "0.4:1:7"}, chunk=4)
    done = [study_task.run_task(plan, number) for number in (0, 1)]
    assert [len(each.columns["outcome"]) for each in done] == [4, 3] and not any(each.failed for each in done)
    steps = np.concatenate([np.asarray(each.steps) for each in seen])
    assert np.all(steps[:7] > 0) and steps[7:].tolist() == [0]
    assert np.asarray(seen[1].outcome)[3] == outcome.BAD_NUMBER


def test_tasks_of_a_study_share_one_program(monkeypatch):
    programs, usual = set(), _lanes.executable

    def asked(function, static, *args, **how):
        run = usual(function, static, *args, **how)
        programs.add(id(run))
        return run

    monkeypatch.setattr(_lanes, "executable", asked)
    plan = plan_of({HEIGHT: "0.4:1:9"}, chunk=8)
    for number in (0, 1):
        study_task.run_task(plan, number)
    assert len(programs) == 1


def test_a_scenario_is_read_once_for_all_tasks(monkeypatch):
    count, usual = [], study_task.read
    monkeypatch.setattr(study_task, "read", lambda text: (count.append(text), usual(text))[1])
    plan = plan_of({HEIGHT: "0.41:1:9"}, chunk=3)
    study_task._kind_of.cache_clear()
    for number in range(3):
        study_task.run_task(plan, number)
    assert len(count) == 1


def test_categories_that_are_equal_numbers_are_not_the_same():
    study_task._kind_of.cache_clear()
    path = ("run.ledger",)
    assert study_task._kind_of(BALL.toml(), path, (), True).settings.ledger is True
    with pytest.raises(carom.CaromError):
        study_task._kind_of(BALL.toml(), path, (), 1)


def test_lanes_are_asked_once_for_what_they_record():
    count = []

    def make(p):
        count.append(p)
        return carom.World(
            carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free()),
            contacts=[carom.Contact("link1.tip", carom.Plane(0.0), carom.Newton(p), radius=0.1, name="floor")],
        )

    start = make(0.5).state(base=(0.0, 0.5))

    def run(**other):
        count.clear()
        out = carom.batch(make, np.linspace(0.3, 0.6, 4), start, until=0.5, **({"measures": ["impacts.count"]} | other))
        return out, len(count)

    assert run()[1] > 0
    out, again = run()
    assert again == 0 and np.all(out.measures["impacts.count"] > 0)
    assert set(run(measures=["impact.1.t_start"])[0].measures) == {"impact.1.t_start"}
    assert run(measures=[], impacts=2)[0].impacts["t_start"].shape == (4, 2)
    with pytest.raises(carom.CaromError, match="impacts is True; it must be a number of impacts"):
        run(impacts=True)
    with pytest.raises(carom.CaromError, match=r"one of the measures is \['impacts.count'\]; it must be a name"):
        run(measures=[["impacts.count"]])
    assert _asked._traced.cache_info().maxsize == 256
