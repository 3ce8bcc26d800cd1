"""Runs that cannot be right say so: what runs away ends soon, what is inside is named, what is too far is refused."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.surfaces import AbstractSurface
from carom.contact.surfaces.surface import Bound
from carom.hybrid import AbstractAutomaton, Anatomy, Channel, Flow, Standing, outcome

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
ROD = carom.Rod(length=0.5, mass=1.0)


# -- what runs away ----------------------------------------------------------------------------------------------------


def test_a_sampled_controller_that_diverges_ends_soon():
    """It went on for ten million steps and 2.6 GB."""
    arm = carom.Arm([ROD])
    control = carom.PostureControl(arm, [[0.3]], kp=[50.0], kd=[20.0], rate=10.0)
    world = carom.World(arm, control=control)
    with pytest.raises(carom.SimulationError, match=r"ever faster without end.* raise its sampling rate") as info:
        carom.simulate(world, world.state([0.2]), until=60.0)
    assert info.value.result.statistics.steps < 400_000


def test_in_a_batch_only_the_lane_that_diverges_ends_so():
    arm = carom.Arm([ROD])

    def make(gain):
        control = carom.PostureControl(arm, [[0.3]], kp=0.5 * gain[None], kd=0.1 * gain[None], rate=10.0)
        return carom.World(arm, control=control)

    ends = carom.batch(make, jnp.array([1.0, 200.0]), arm.state([0.2]), until=20.0, throw=False)
    assert ends.outcome.tolist() == [outcome.FINISHED, outcome.RUNAWAY]


class Motor(AbstractAutomaton):
    """Turns the ball with a constant torque from an instant on, until it is fast."""

    name: str = eqx.field(static=True, default="motor")
    begin: Any = 0.0
    torque: Any = 50.0
    enough: Any = 1e4

    anatomy = Anatomy(exits=("begin",), channels=(Channel("motor", "driven"),))

    def force(self, scene, own, load):
        left = jnp.clip((self.enough - scene.v[2]) / 100.0, 0.0, 1.0)
        torque = jnp.where(scene.t >= self.begin, self.torque * left, 0.0)
        load.add(2, torque)
        return Flow(powers=(torque * scene.v[2],))

    def guard(self, scene, own):
        return (scene.t - self.begin,)

    @property
    def standing(self):
        return Standing(instants=lambda own: (self.begin,))


@pytest.mark.slow
def test_what_is_driven_on_purpose_does_not_run_away():
    """A wheel that a motor brings to 100,000 rpm, at once or late, and that turns for a million steps."""
    make = lambda begin: carom.World(BALL, control=Motor(begin=begin))  # noqa: E731
    begins = jnp.array([0.0, 1.0, 20.0])
    ends = carom.batch(make, begins, BALL.state(), until=60.0, throw=False)
    assert np.all(ends.outcome == outcome.FINISHED)
    assert np.max(ends.steps) > 400_000
    np.testing.assert_allclose(ends.v[:, 2], 1e4, rtol=1e-3)


# -- what is inside ----------------------------------------------------------------------------------------------------


class Step(AbstractSurface):
    """A floor that jumps up by a metre at x = 1, without saying that it is not smooth."""

    def normal(self, x, y, t):
        return jnp.zeros_like(x), jnp.ones_like(x)

    def gap(self, x, y, t):
        return y - jnp.where(x > 1.0, 1.0, 0.0)

    def bound(self):
        return Bound()


@pytest.fixture(scope="module")
def step():
    return carom.World(BALL, contacts=carom.Contact(BALL.tip, Step(), carom.Newton(0.5), radius=0.1, name="step"))


def test_a_surface_that_was_crossed_is_named_with_place_and_depth(step):
    """A blow far inside was taken for a landing, and the run went on under the surface."""
    start = step.state(base=(0.0, 0.7), base_velocity=(1.0, 2.0))
    with pytest.raises(carom.SimulationError, match=r"contact 'step' is 0\.\d+ m inside at \(1") as info:
        carom.simulate(step, start, until=3.0)
    assert info.value.result.penetration > 0.01


def test_lanes_know_their_penetration():
    def make(height):
        return carom.World(BALL, contacts=carom.Contact(BALL.tip, carom.Plane(height), carom.Newton(0.5), radius=0.1))

    heights = jnp.array([0.0, 0.3, 1e3])
    ends = carom.batch(make, heights, lambda height: BALL.state(base=(0.0, height + 1.1)), until=2.0)
    assert np.all(ends.penetration >= 0.0)
    assert np.all(ends.penetration <= 1e-10 + 16.0 * np.spacing(np.asarray(heights) + 1.1))


# -- what is too far ---------------------------------------------------------------------------------------------------


def floor_at(height):
    return carom.World(BALL, contacts=carom.Contact(BALL.tip, carom.Plane(height), carom.Newton(0.5), radius=0.1))


def test_where_touch_cannot_be_told_from_gap_nothing_starts():
    """At 1e15 m it finished without an event."""
    for height in (1e13, -1e15, 1e300):
        world = floor_at(height)
        with pytest.raises(carom.CaromError, match="float64 cannot tell touch from gap: places there are rounded to"):
            carom.simulate(world, world.state(base=(0.0, height + abs(height) * 1e-3)), until=3.0)


def test_a_lane_there_fails_by_name():
    heights = jnp.array([0.0, 1e6, 1e15])
    start = lambda height: BALL.state(base=(0.0, height + 1.1))  # noqa: E731
    ends = carom.batch(floor_at, heights, start, until=1.0, throw=False)
    assert ends.outcome.tolist() == [outcome.FINISHED, outcome.FINISHED, outcome.TOO_FAR]
    with pytest.raises(carom.CaromError, match=r"lane 2: contact 'link1.tip' is so far from the origin"):
        carom.batch(floor_at, heights, start, until=1.0)
