"""Every controller in batches and under both derivative modes, continuous, limited and sampled.

The final state of a short swing as a function of a factor of the gains: lanes of a batch against single runs, and
derivatives against differences of fourth order between lanes.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.captures import HoldPose
from carom.control import ComputedTorque, FeedForward, MinimumJerk
from carom.hybrid._run import compiler_options

ARM = carom.Arm([carom.Rod(length=1.0, mass=1.0), carom.Rod(length=0.7, mass=0.5)])
START, TARGET, UNTIL = ARM.state([0.3, -0.2]), [0.8, 0.4], 0.25
KP, KD, KI = jnp.array([60.0, 30.0]), jnp.array([6.0, 3.0]), jnp.array([90.0, 60.0])
MOTION = MinimumJerk([0.1, 0.1], TARGET, 0.4)  # which the arm has to catch up with
STIFF = jnp.array([200.0, 200.0])  # [1/s^2] of controllers that know the masses
LIMITED, SAMPLED = {"limit": [22.0, 6.0]}, {"rate": 40.0}

CONTROLLERS = {
    "PD": lambda g, **o: carom.PostureControl(ARM, TARGET, g * KP, g * KD, **o),
    "PID": lambda g, **o: carom.PostureControl(ARM, TARGET, KP, KD, g * KI, **o),
    "Q": lambda g, **o: carom.PostureControl(ARM, TARGET, g * KP, KD, compensate_weight=True, **o),
    "computed torque": lambda g, **o: ComputedTorque(ARM, MOTION, g * STIFF, jnp.array([20.0, 20.0]), **o),
    "feed forward": lambda g, **o: FeedForward(ARM, MinimumJerk([9.0, 1.0], [4.0, 0.5], 0.2), MOTION, g * KP, KD, **o),
}
CASES = {
    (name, word): options
    for name in CONTROLLERS
    for word, options in (("", {}), ("limited", LIMITED), ("sampled", SAMPLED))
}
HOLD = ("hold pose", "")
QUICK = [("PD", "limited"), ("PID", ""), ("Q", "sampled"), ("computed torque", ""), ("feed forward", ""), HOLD]
ALL = [*QUICK, *(case for case in CASES if case not in QUICK)]


def each(quick):
    """Over all cases; those that are not quick wait for `make verify`."""
    cases = [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in ALL]
    return pytest.mark.parametrize("case", cases, ids=lambda case: " ".join(case).strip())


STEP = 1e-3
GAINS = jnp.array([0.7, 1.4, *(1.0 + STEP * k for k in (-2, -1, 1, 2))])
TIGHT = carom.Settings(rtol=1e-12, atol=1e-14, ledger=False)


@functools.cache
def maker(case):
    """The world as a function of the factor; always the same function, which carom compiles once."""

    def make(factor):
        control = (
            HoldPose(ARM, TARGET, factor * STIFF, kd=20.0)
            if case == HOLD
            else CONTROLLERS[case[0]](factor, **CASES[case])
        )
        return carom.World(ARM, control=control)

    return make


@functools.cache
def ends(case):
    return carom.batch(maker(case), GAINS, START, until=UNTIL, settings=TIGHT)


def final(case, reverse_steps=None):
    """Angles and rates at the end, as a function of the factor."""

    def function(factor):
        settings = carom.Settings(rtol=1e-10, atol=1e-12, ledger=False)
        end = carom.final_state(maker(case)(factor), START, UNTIL, settings=settings, reverse_steps=reverse_steps)
        return jnp.stack([*end.y.q, *end.y.v])

    return function


def differences(case):
    values = np.concatenate([ends(case).q, ends(case).v], axis=1)[2:]
    far, near = (values[3] - values[0]) / (4 * STEP), (values[2] - values[1]) / (2 * STEP)
    return (4 * near - far) / 3


EXACT = 1e-6  # share of the largest derivative; a torque that comes to its limit, or off it, is an event


@each(QUICK)
def test_lanes_are_single_runs(case):
    found = ends(case)
    for i in (0, 1):
        alone = carom.simulate(maker(case)(GAINS[i]), START, until=UNTIL, settings=TIGHT)
        np.testing.assert_allclose(found.q[i], alone.q[-1], rtol=1e-10)
        np.testing.assert_allclose(found.v[i], alone.v[-1], rtol=1e-10)
        assert int(found.events[i]) == len(alone.events)
    assert np.max(np.abs(found.q[0] - found.q[1])) > 1e-3, "the gain must matter"


@each([*QUICK[:3], ("feed forward", "")])
def test_forward_mode_is_what_differences_say(case):
    push = carom.jit(lambda x: jax.jvp(final(case), (x,), (1.0,))[1])
    expected = differences(case)
    np.testing.assert_allclose(push(1.0), expected, atol=EXACT * np.max(np.abs(expected)))


@pytest.mark.slow
@each([QUICK[0], QUICK[2]])
def test_reverse_mode_is_what_differences_say(case):
    weights = jnp.array([1.0, -0.7, 0.3, 0.2])
    pull = jax.jit(jax.grad(lambda x: weights @ final(case, 256)(x)), compiler_options=compiler_options())
    expected = differences(case)
    assert float(pull(1.0)) == pytest.approx(float(weights @ expected), abs=EXACT * np.max(np.abs(expected)))
