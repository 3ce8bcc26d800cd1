"""One run from outside: how it ends, what it keeps, its impacts in closed form, and that its ledger closes."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import beta

import carom
from carom.contact import AbstractNormalLaw

from .dropped_ball import SPEED, STIFFNESS, G, drop, pendulum

# -- outcomes ----------------------------------------------------------------------------------------------------------


def test_the_step_limit_is_raised_with_the_state_and_kept_in_the_result() -> None:
    with pytest.raises(carom.SimulationError, match=r"step limit reached.*at t = \S+ s, q = \[.*\], v = \[") as info:
        drop(carom.Hertz(STIFFNESS), max_steps=20)
    result = info.value.result
    assert not result.finished
    assert result.statistics.steps == 20
    assert 0.0 < result.t[-1] < 0.02


def test_throw_false_returns_instead() -> None:
    result = drop(carom.Hertz(STIFFNESS), max_steps=20, throw=False)
    assert result.outcome.startswith("step limit reached; raise max_steps")
    assert "step limit" in repr(result)


def test_a_force_that_is_not_finite_ends_the_run() -> None:
    """A law that is undefined beyond some depth: the steps shrink towards it, then the outcome says so."""

    class Brittle(AbstractNormalLaw):
        def force(self, phase, memory, d, rate):
            return jnp.where(d > 1e-4, jnp.nan, 1e4 * d)

    result = drop(Brittle(), throw=False, max_steps=5000)
    assert "not finite" in result.outcome
    assert np.all(np.isfinite(result.q))
    assert abs(result.q[-1][1] - (0.1 - 1e-4)) < 1e-12


# -- what a result holds -----------------------------------------------------------------------------------------------


def test_values_between_steps_are_as_exact_as_the_steps() -> None:
    """Free fall and one Hertz impact: before the touch a parabola, in closed form."""
    result = drop(carom.Hertz(STIFFNESS), gravity=G, until=0.004)
    t = np.linspace(0.0, 0.004, 1001)
    states = result.at(t)
    assert np.max(np.abs(states.q[:, 1] - (0.11 - SPEED * t - 0.5 * G * t * t))) < 1e-14
    assert np.max(np.abs(states.v[:, 1] + SPEED + G * t)) < 1e-13


def test_values_between_steps_follow_a_pendulum() -> None:
    """Small swings at a tight tolerance against the same run at a tighter one."""
    world = pendulum()
    coarse, fine = (
        carom.simulate(world, world.state(angles=[0.3]), until=5.0, settings=carom.Settings(rtol=r, atol=r))
        for r in (1e-8, 1e-12)
    )
    t = np.linspace(0.0, 5.0, 777)
    assert np.max(np.abs(coarse.at(t).q - fine.at(t).q)) < 2e-7
    assert np.max(np.abs(np.interp(t, coarse.t, coarse.q[:, 0]) - fine.at(t).q[:, 0])) > 1e-4  # a chord is not enough
    with pytest.raises(carom.CaromError, match="the result covers 0 to 5 s"):
        coarse.at([5.1])


def test_at_an_event_the_state_is_the_one_after_it() -> None:
    result = drop(carom.Hertz(STIFFNESS))
    touch = result.events[0].t
    assert result.at([touch]).phases[0][0] == 1
    assert result.at([np.nextafter(touch, 0.0)]).phases[0][0] == 0


def test_at_an_event_at_the_horizon_the_state_is_the_one_after_it() -> None:
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), normal=0.5, radius=0.1, name="floor")
    world = carom.World(ball, contacts=floor, gravity=0.0)
    # Half a metre at 1 m/s: every number is exact in binary, so the blow is at the horizon itself.
    result = carom.simulate(world, world.state(base=(0.0, 0.6), base_velocity=(0.0, -1.0)), until=0.5)
    assert [e.t for e in result.events] == [pytest.approx(0.5, abs=1e-12)] and result.v[-1, 1] == 0.5
    sides = result.at([np.nextafter(0.5, 0.0), 0.5])
    np.testing.assert_allclose(sides.v[:, 1], [-1.0, 0.5], rtol=1e-12)
    np.testing.assert_array_equal(result.at(0.5).q[0], result.q[-1])


def test_statistics_add_up() -> None:
    result = drop(carom.Hertz(STIFFNESS))
    s = result.statistics
    assert s.events == len(result.events) == 2
    # Every attempt is a kept step, a rejected one, or the look around that follows the start and every event.
    assert s.steps == len(result.steps.t) + s.rejected + 1 + s.events
    assert s.run_seconds > 0.0
    assert np.allclose(np.diff(result.t), result.steps.span, rtol=0.0, atol=1e-13)


# -- compliant impacts against the integral of their own law -----------------------------------------------------------


def test_hertz_contact_time_and_rebound() -> None:
    """m d'' = -K d^1.5: d_m = (5 m v^2 / (4 K))^(2/5), duration 2 d_m / v times B(2/5, 1/2) / (5/2)."""
    result = drop(carom.Hertz(STIFFNESS))
    (impact,) = result.impacts
    deepest = (1.25 * SPEED**2 / STIFFNESS) ** 0.4
    duration = 2.0 * deepest / SPEED * beta(0.4, 0.5) / 2.5
    assert abs(impact.duration / duration - 1.0) < 1e-8
    assert abs(impact.max_indentation / deepest - 1.0) < 1e-6  # the vertex of a parabola through samples
    assert abs(impact.max_normal_force / (STIFFNESS * deepest**1.5) - 1.0) < 1e-6
    assert abs(impact.restitution - 1.0) < 1e-8
    assert abs(impact.normal_impulse - 2.0 * SPEED) < 1e-6 * SPEED


@pytest.mark.parametrize("restitution", [0.9, 0.5])
def test_hunt_crossley_rebound_and_duration(restitution: float) -> None:
    """With F = K d^1.5 (1 + f d'/v0): u du/(1 + f u/v0) = -K/m d^1.5 dd, so the rebound solves an equation without K.

    The closed form holds while the force pushes, f u/v0 > -1, as it does for these.
    """
    result = drop(carom.HuntCrossley(STIFFNESS, restitution))
    (impact,) = result.impacts
    f = 1.5 * (1.0 - restitution)

    def energy(x: float) -> float:  # integral of x / (1 + f x)
        return x / f - np.log1p(f * x) / f**2

    rebound = brentq(lambda e: energy(1.0) - energy(-e), 1e-6, 1.0)
    assert abs(impact.restitution - rebound) < 1e-7  # ten times rtol: d^1.5 is not smooth where the contact begins

    def depth(x: float) -> float:
        return (2.5 * SPEED**2 / STIFFNESS * (energy(1.0) - energy(x))) ** 0.4

    # dt = du / u' with u' = -K d^1.5 (1 + f u/v0); the ends are singular like y^-0.6, which u = end +- y^2.5 removes.
    def half(end: float, way: float) -> float:
        def integrand(y: float) -> float:
            x = end + way * y**2.5
            return SPEED * 2.5 * y**1.5 / (STIFFNESS * depth(x) ** 1.5 * (1.0 + f * x))

        return quad(integrand, 0.0, abs(end) ** 0.4, epsabs=1e-13, epsrel=1e-9)[0]

    assert abs(impact.duration / (half(1.0, -1.0) + half(-rebound, 1.0)) - 1.0) < 1e-6


def test_a_ball_put_down_at_the_surface_is_held_by_it() -> None:
    """A gap of zero at the start is no event, so the contact has to begin closed, or the ball would fall through."""
    for gap in (0.0, 1e-13):
        moving = drop(carom.Hertz(STIFFNESS), height=gap, until=0.01)
        assert moving.v[-1][1] == pytest.approx(SPEED, rel=1e-7)
        resting = drop(carom.Hertz(STIFFNESS), height=gap, speed=0.0, gravity=G, until=0.01)
        assert np.min(resting.q[:, 1]) > 0.1 - 2.0 * (1.25 * 2 * G / STIFFNESS) ** (2 / 3)
    leaving = drop(carom.Hertz(STIFFNESS), height=0.0, speed=-1.0, gravity=G, until=0.25)
    assert [e.exit for e in leaving.events] == ["touch", "release"]
    assert abs(leaving.events[0].t - 2.0 / G) < 1e-12


# -- the ledger --------------------------------------------------------------------------------------------------------

LAWS = {"hertz": carom.Hertz(STIFFNESS), "hunt-crossley": carom.HuntCrossley(STIFFNESS, 0.8)}


# Measured: 1.4e-6 and 1.1e-6 %. With the works in the error norm 3.7e-7 and 2.1e-7, for a tenth to a third more steps.
@pytest.mark.parametrize(
    ("law", "solver"),
    [
        ("hertz", "tsit5"),
        ("hunt-crossley", "tsit5"),
        ("hunt-crossley", "dopri8"),
    ],
)
def test_the_ledger_of_a_bouncing_ball_closes_at_the_default_tolerance(law: str, solver: str) -> None:
    result = drop(LAWS[law], gravity=G, until=1.0, solver=solver)
    assert len(result.impacts) >= 3
    assert result.energy.max_error_percent < 1e-6


def test_the_ledger_of_a_bouncing_ball_shrinks_with_the_tolerance() -> None:
    left = [
        drop(LAWS["hunt-crossley"], gravity=G, until=1.0, rtol=r, atol=1e-2 * r).energy.max_error_percent
        for r in (1e-6, 1e-8, 1e-10)
    ]
    assert left[1] < 0.02 * left[0]
    assert left[2] < 0.02 * left[1]


def test_without_a_ledger_nothing_is_invented() -> None:
    result = drop(carom.Hertz(STIFFNESS), ledger=False)
    with pytest.raises(carom.CaromError, match="ledger=False"):
        _ = result.energy


# -- no step at all ----------------------------------------------------------------------------------------------------


def test_a_run_without_a_step_has_its_start() -> None:
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    world = carom.World(ball)
    run = carom.simulate(
        world, world.state(base=(0.0, 0.2)), until=0.1, throw=False, settings=carom.Settings(max_steps=1)
    )
    assert len(run.steps.t) == 0 and run.at([]).q.shape == (0, 3)
    np.testing.assert_array_equal(run.at(0.0).q, [[0.0, 0.2, 0.0]])
