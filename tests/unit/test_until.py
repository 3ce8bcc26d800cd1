"""Runs end at a time, at a condition, after a number of impacts, at a release: located as events are, and said."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.hybrid import outcome

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())


def world_of(restitution, law=None):
    law = carom.Newton(restitution) if law is None else law
    floor = carom.Contact(BALL.tip, carom.Plane(height=0.0), law, radius=0.1, name="floor")
    return carom.World(BALL, contacts=floor, gravity=9.81)


WORLD = world_of(0.5)
START = WORLD.state(base=(0.0, 1.1))
FALL = math.sqrt(2 / 9.81)  # of a metre


@pytest.mark.parametrize(
    ("until", "met", "t"),
    [
        ("com.y < 0.6", "com.y < 0.6", math.sqrt(1 / 9.81)),
        (["com.y < -1", 0.3], "", 0.3),
        ("3 impacts", "3 impacts", 2.5 * FALL),
        ([0.9, "release floor"], "release floor", FALL),
        ("strike", "strike", FALL),
        (["5 impacts of floor", "com.vy > 1"], "com.vy > 1", FALL),
        (["com.vy > 0 and com.y > 200 mm", carom.AtTime(5.0)], "com.vy > 0 and com.y > 200 mm", None),
        ([carom.Impacts(2), carom.When("com.y < 0 m")], "2 impacts", 2 * FALL),
    ],
)
def test_the_first_condition_ends_the_run_and_is_named(until, met, t):
    result = carom.simulate(WORLD, START, until=until)
    assert result.finished
    assert result.outcome == (f"stopped as asked: {met}" if met else "finished")
    assert t is None or float(result.final.t) == pytest.approx(t, abs=1e-12)


def test_a_condition_that_holds_from_the_start_is_no_crossing():
    result = carom.simulate(WORLD, START, until=["com.y > 1", 0.5])
    assert float(result.final.t) == 0.5
    bounces = carom.simulate(world_of(1.0), WORLD.state(base=(0.0, 0.6)), until=["com.y > 0.3", 0.9])
    assert float(bounces.final.t) == pytest.approx(math.sqrt(1 / 9.81) + (math.sqrt(9.81) - math.sqrt(5.886)) / 9.81)


def test_a_compliant_contact_is_left_at_its_release():
    world = world_of(0.0, carom.HuntCrossley(1e6, 0.8))
    result = carom.simulate(world, START, until="release")
    assert result.outcome == "stopped as asked: release" and len(result.impacts) == 1
    assert float(result.final.t) == result.impacts[0].t_end
    twice = carom.simulate(world, START, until=["2 impacts", 5.0])
    assert len([e for e in twice.events if e.exit == "touch"]) == 2


def test_without_a_time_nothing_runs_for_ever(monkeypatch):
    monkeypatch.setattr("carom.control.until.LONGEST", 3.0)
    monkeypatch.setattr("carom.result._cautions.LONGEST", 3.0)
    result = carom.simulate(WORLD, START, until="com.vy > 3 m/s")
    assert result.outcome == "finished: nothing that it was to run until was met within 3 s"


def test_the_instant_has_exact_derivatives():
    falls = carom.World(BALL, gravity=9.81)

    def end(height):
        return carom.final_state(falls, falls.state(base=(0.0, height)), ["com.y < 0.6", 3.0])

    c = end(1.1)
    assert int(c.outcome) == outcome.STOPPED and float(c.t) == pytest.approx(math.sqrt(1 / 9.81), abs=1e-12)
    slope = jax.jvp(lambda h: end(h).t, (1.1,), (1.0,))[1]
    assert float(slope) == pytest.approx(1 / math.sqrt(2 * 9.81 * 0.5), rel=1e-9)


def test_lanes_end_by_what_they_meet():
    ends = carom.batch(
        world_of, jnp.array([0.3, 0.5, 0.9]), START, until=["2 impacts", "com.vy > 3 and com.y > 0.2", 4.0]
    )
    assert ends.met == ["2 impacts", "2 impacts", "com.vy > 3 and com.y > 0.2"]
    assert ends.t[:2] == pytest.approx([1.6 * FALL, 2 * FALL], abs=1e-12) and len(ends.stopped) == 3
    assert carom.batch(world_of, jnp.array([0.5]), START, until=0.1).met == [""]


def test_files_say_the_same(tmp_path):
    scenario = carom.Scenario.of(WORLD, START, until=[6.0, "3 impacts", "com.y > 2 m"])
    again = carom.Scenario.read(scenario.toml())
    assert again == scenario and again.run.until == [6.0, "3 impacts", "com.y > 2 m"]
    assert again.run.end == "6 s or 3 impacts or com.y > 2 m"
    result = again.simulate()
    assert result.outcome == "stopped as asked: 3 impacts"
    assert carom.Scenario.of(result.world, START, until=1.0).run.until == 1.0
    longer = carom.simulate(result.world, START, until=2.0)
    assert np.array(longer.final.t) == 2.0


@pytest.mark.parametrize(
    ("until", "said"),
    [
        ("com.z < 3", "did you mean 'com.y'?"),
        ("com.y", "a condition is asked for"),
        ("strike flor", "there is no contact 'flor'; known: 'floor'; did you mean 'floor'?"),
        ("0 impacts", "count of Impacts is 0; it must be a whole number"),
        ("tip.y < 3 s", "m and s cannot be compared"),
        ([], "until is empty"),
        ("after 3", "After belongs to a state machine"),
        ([3.0, -1.0], "until of run is -1; it must be greater than 0"),
        ("slip", "names no contact"),
        ("after lunch", "is no stretch of time"),
    ],
)
def test_what_cannot_end_a_run_is_refused(until, said):
    with pytest.raises(carom.CaromError) as refusal:
        carom.simulate(WORLD, START, until=until)
    assert said in str(refusal.value)
