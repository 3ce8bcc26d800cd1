"""What lanes record is what single runs tell: measures by name, first impacts, returns, states at times."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.experiment.experiment import Experiment
from carom.experiment.measures import measure
from carom.result._clip import Clip

LOOSE = carom.side_by_side(
    **{name: carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free()) for name in ("hard", "soft")}
)
HARD, SOFT = LOOSE.site("hard.link1.tip"), LOOSE.site("soft.link1.tip")


def balls(p):
    """A disk that bounces on a hard floor, and one that falls along a soft wall, which it leaves after four bounces."""
    return carom.World(
        LOOSE,
        contacts=[
            carom.Contact(HARD, carom.Plane(0.0), carom.Newton(p), radius=0.1, name="floor"),
            carom.Contact(SOFT, carom.Wall(0.0, "right"), carom.HuntCrossley(15.0, p), radius=0.1, name="soft"),
        ],
        gravity=9.81,
    )


VALUES, UNTIL, ROWS = jnp.array([0.7, 0.85]), 2.0, 3
START = balls(0.8).state(base=[(0.5, 0.5), (0.15, 2.0)], base_velocity=[(2.5, 0.0), (-0.3, 0.3)])
MEASURES = (
    "impacts.count",
    "impacts.count.soft",
    "impacts.count.floor.before.1",
    "impact.2.restitution",
    "impact.2.duration",
    "impact.3.energy_lost",
    "impact.3.kinetic_energy_lost",
    "impact.2.kinetic_energy_ratio",
    "impact.1.kinetic_energy_before.hard.link1",
    "impact.7.restitution",
    "y.hard.link1.tip.most",
    "y.hard.link1.tip.least.after.1",
    "vx.hard.link1.tip.size",
    "y.soft.link1.tip.final",
    "angle.hard.link1.most",
    "y.hard.link1.tip.mean",
    "y.soft.link1.tip.mean",
    "vy.hard.link1.tip.mean",
    "rate.soft.link1.mean",
    "rate.hard.link1.least",
    "energy.max_error_percent",
    "energy.mean_error_percent",
    "momentum.linear_drift",
    "x.hard.link1.tip.least.after.9",
)
TIMES = (0.0, 0.4, 1.0, UNTIL)


def side(t, q, v):
    return q[1] - 0.15


@pytest.fixture(scope="module")
def ends():
    returns = carom.Returns(side, 1, discard=None, keep=2)
    return carom.batch(balls, VALUES, START, until=UNTIL, measures=MEASURES, impacts=ROWS, returns=returns, times=TIMES)


@pytest.fixture(scope="module")
def alone():
    return [carom.simulate(balls(p), START, until=UNTIL) for p in VALUES]


def test_measures_of_lanes_are_those_of_single_runs(ends, alone):
    for lane, result in enumerate(alone):
        experiment = Experiment(carom.Scenario.of(balls(0.8), START, until=UNTIL), (Clip(result),))
        for name in MEASURES:
            try:
                known = measure(experiment, name)
            except carom.CaromError:
                known = np.nan  # missing, not zero
            np.testing.assert_allclose(ends.measures[name][lane], known, rtol=1e-9, atol=1e-13, err_msg=name)
    assert np.isnan(ends.measures["impact.7.restitution"]).tolist() == [False, True]


def test_a_mean_is_that_of_the_motion_in_closed_form(ends):
    """The soft disk falls freely along its wall."""
    known = 2.0 + 0.3 * UNTIL / 2.0 - 9.81 * UNTIL**2 / 6.0
    np.testing.assert_allclose(ends.measures["y.soft.link1.tip.mean"], known, rtol=1e-9)
    fell = ends.at["q"][:, -1, 1] - ends.at["q"][:, 0, 1]
    np.testing.assert_allclose(ends.measures["vy.hard.link1.tip.mean"], fell / UNTIL, rtol=1e-6)


def test_first_impacts_are_kept_in_the_order_in_which_they_began(ends, alone):
    """The soft one ends after harder ones that began later, when its row comes last."""
    for lane, result in enumerate(alone):
        struck = [i for i in result.impacts if i.struck]
        soft = next(i for i in struck if i.contact == "soft")
        during = sum(soft.t_start < i.t_start < soft.t_end for i in struck)
        assert during >= (7, ROWS)[lane], "of seven rows one has to make room for it"
        for field, column in ends.impacts.items():
            if field == "kinetic_energy_lost":
                known = [i.kinetic_energy_before - i.kinetic_energy_after for i in struck[:ROWS]]
            else:
                known = [getattr(i, field) for i in struck[:ROWS]]
            np.testing.assert_allclose(column[lane], known, rtol=1e-9, atol=1e-13, err_msg=field)
    assert "normal_impulse" not in ends.impacts, "a lane does not know that of the soft one"


def test_the_last_returns_are_kept(ends, alone):
    assert np.max(ends.returns["count"]) > 2
    for lane, result in enumerate(alone):
        section = carom.poincare(result, side, 1)
        assert ends.returns["count"][lane] == len(section.t)
        np.testing.assert_allclose(ends.returns["t"][lane], section.t[-2:], rtol=1e-12)
        np.testing.assert_allclose(ends.returns["q"][lane], section.q[-2:], rtol=1e-10, atol=1e-12)


def test_states_at_times(ends, alone):
    for lane, result in enumerate(alone):
        known = result.at(TIMES)
        np.testing.assert_allclose(ends.at["q"][lane], known.q, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(ends.at["v"][lane], known.v, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"measures": ["impct.1.restitution"]}, "there is no measure 'impct.1.restitution'; the nearest form is"),
        ({"measures": ["stance.1.duration"]}, "'stance.1.duration' cannot be recorded in a lane"),
        ({"measures": ["impact.1.normal_impulse"]}, "'normal_impulse' of contact 'soft', whose impacts take time"),
        ({"measures": ["impacts.count.sft"]}, "there is no contact 'sft'.*did you mean 'soft'"),
        ({"measures": ["x.hard.tipp.most"]}, "did you mean"),
        ({"measures": "impacts.count"}, "it must be a list of names"),
        ({"impacts": -1}, "impacts is -1; it must be a number of impacts from 0"),
        ({"times": [1.0, 0.5]}, "times of batch are .*in order"),
        ({"measures": ["energy.max_error_percent"], "settings": carom.Settings(ledger=False)}, "ledger=True"),
        ({"returns": carom.Returns(("rigid contacts", "strike flor"))}, "did you mean 'strike floor'"),
    ],
)
def test_what_cannot_be_recorded_is_refused_by_name(asked, words):
    with pytest.raises(carom.CaromError, match=words):
        carom.batch(balls, VALUES, START, until=UNTIL, **asked)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"section": side, "direction": 2}, "direction of Returns is 2"),
        ({"section": side, "keep": 0}, "keep of Returns is 0; it must be a whole number, at least 1"),
        ({"section": side, "discard": -1}, "discard of Returns is -1"),
    ],
)
def test_returns_that_make_no_sense_are_refused(fields, words):
    with pytest.raises(carom.CaromError, match=words):
        carom.Returns(**fields)
