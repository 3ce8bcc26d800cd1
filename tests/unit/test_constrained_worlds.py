"""Closed loops in worlds: they swing, are driven, strike and slide; forces and blows against a second formulation."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics
from carom.dynamics.constraints import AbstractConstraint, constraint_rows
from carom.hybrid import outcome
from carom.hybrid.scene import Scene, split
from carom.result import _signals as signals

from .closed_loops import G, four_bar, moving, parallelogram, slider_crank
from .newton_euler import GROUND, Bar, Joint, rod, rows_of, solved

SHORT = {"until": 0.01, "throw": False}
TIGHT = carom.Settings(solver="dopri8", rtol=1e-11, atol=1e-13)


@functools.cache
def swung(loop, until=1.0, doubled=False):
    mechanism, held, q, v = moving(loop)
    world = carom.World(mechanism, constraints=[*held, *held] if doubled else held)
    return carom.simulate(world, carom.State(q, v), until=until, settings=TIGHT)


LOOPS = [parallelogram, *(pytest.param(loop, marks=pytest.mark.slow) for loop in (four_bar, slider_crank))]


# -- motion ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loop", LOOPS)
def test_forces_and_accelerations_are_those_of_the_kkt_system(loop):
    """By the pseudo-inverse of the whole system, rows by automatic differentiation."""
    run = swung(loop)
    mechanism, held = run.world.mechanism, list(run.world.constraints)
    times = np.linspace(0.0, 1.0, 7)
    states = run.at(times)
    there = [dynamics.constrained_dynamics(mechanism, held, q, v) for q, v in zip(states.q, states.v, strict=True)]
    forces = np.concatenate(list(run.constraint_forces(times).values()), axis=1)
    expected, largest = np.array([x.multipliers for x in there]), np.max(np.abs(forces))
    # How redundant rows share a force is known to 1e-8 of it; what they do together to rounding.
    np.testing.assert_allclose(forces, expected, atol=(1e-7 if loop is parallelogram else 1e-9) * largest)
    rows = [
        constraint_rows(mechanism, held, jnp.asarray(q), jnp.asarray(v))[0]
        for q, v in zip(states.q, states.v, strict=True)
    ]
    together = np.einsum("trd,tr->td", np.array(rows), forces - expected)
    np.testing.assert_allclose(together, 0.0, atol=1e-11 * largest)
    nearby = run.at(times[:-1] + 1e-6).v - states.v[:-1]
    np.testing.assert_allclose(nearby / 1e-6, [x.acceleration for x in there[:-1]], rtol=1e-3, atol=1e-3)


RAIL = ((0.0, 1.0),)
BY_HAND = {  # bodies and closing joints; the weld's centre and inertia are those of rod and bob together
    four_bar: ([rod(1.0), rod(2.0, 1.0, 0, (1.0, 0.0)), rod(1.5, 1.0, 1, (2.0, 0.0))], [Joint(2, (1.5, 0.0))]),
    slider_crank: ([rod(1.0), Bar(3.0, 2.25, 2.5, 0, (1.0, 0.0))], [Joint(1, (3.0, 0.0), along=RAIL)]),
    parallelogram: (
        [
            Bar(2.0, 0.0, 1.0),
            rod(2.0, 1.0, 0, (1.0, 0.0)),
            rod(1.0, 1.0, GROUND, (1.0, 0.0)),
            rod(1.0, 1.0, GROUND, (2.0, 0.0)),
        ],
        [Joint(2, (1.0, 0.0), 1, (1.0, 0.0)), Joint(3, (1.0, 0.0), 1, (2.0, 0.0))],
    ),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_forces_are_those_of_bodies_taken_one_by_one(loop):
    """By Newton's and Euler's equations of every body, written by hand; redundant pins by what they do."""
    run, (bars, closing) = swung(loop), BY_HAND[loop]
    times = np.linspace(0.0, 1.0, 5)
    states, forces = run.at(times), np.concatenate(list(run.constraint_forces(times).values()), axis=1)
    for q, v, ours in zip(states.q, states.v, forces, strict=True):
        turning, theirs = solved(bars, closing, q, v)
        largest = max(np.max(np.abs(theirs)), 9.81)
        if loop is parallelogram:
            # Three parallel cranks can strain each other; of forces along them only the moments about hinges are known.
            hinged = [dataclasses.replace(bar, centre=0.0) for bar in bars]
            rows = np.concatenate([rows_of(hinged, joint, q, v)[0] for joint in closing])[:, 2::3]
            np.testing.assert_allclose(rows.T @ ours, rows.T @ theirs, atol=1e-9 * largest)
        else:
            np.testing.assert_allclose(ours, theirs, atol=1e-9 * largest)
        again = dynamics.constrained_dynamics(run.world.mechanism, list(run.world.constraints), q, v).acceleration
        np.testing.assert_allclose(again, turning, atol=1e-9 * np.max(np.abs(turning)))


@pytest.mark.parametrize("loop", LOOPS)
def test_loops_stay_closed_and_energy_stays(loop):
    run = swung(loop)
    gap = jax.vmap(lambda q: dynamics.constraint_error(run.world.mechanism, list(run.world.constraints), q))(run.q)
    assert np.max(np.abs(gap)) < 1e-13
    assert run.energy.max_error_percent < 1e-8
    assert np.ptp(run.q[:, 0]) > 0.5  # and it did move


@pytest.mark.slow
def test_a_redundant_pin_changes_nothing():
    assert len(swung(four_bar, doubled=True).constraint_forces([0.5])) == 2  # and each of them has its share
    np.testing.assert_allclose(swung(four_bar, doubled=True).q[-1], swung(four_bar).q[-1], atol=1e-10)


def test_rows_are_the_derivatives_of_errors():
    mechanism, _, q, v = moving(parallelogram)
    pairs = [
        carom.Pin("b.tip", "middle"),
        carom.Pin("c.tip", (0.3, -0.2)),
        carom.OnCurve("coupler.tip", lambda x, y: y - 0.3 * jnp.sin(2.0 * x) * x),
        dynamics.Locked("b", "coupler", 0.3),
        dynamics.Locked("a"),
    ]
    scene = Scene(mechanism, jnp.asarray(0.0), split(mechanism, q + 0.1), split(mechanism, v + 0.3))
    for constraint in pairs:
        for own, general in zip(constraint.rows(scene), AbstractConstraint.rows(constraint, scene), strict=True):
            np.testing.assert_allclose(np.asarray(own.across, dtype=float), general.across, atol=1e-13)
            np.testing.assert_allclose(own.drift, general.drift, atol=1e-12)
            np.testing.assert_allclose(own.error, general.error, atol=1e-13)


# -- blows -------------------------------------------------------------------------------------------------------------


def hammer(e=0.6, height=0.4):
    """A four-bar whose coupler's middle falls on a floor."""
    bars = [carom.Link(carom.Rod(length=x, mass=1.0), name=n) for n, x in (("a", 1.0), ("b", 2.0), ("c", 1.5))]
    bars[1] = carom.Link(carom.Rod(length=2.0, mass=1.0), name="b", sites={"foot": (1.0, -0.6)})
    mechanism = carom.Arm(bars)
    floor = carom.Contact(
        mechanism.site("foot"), carom.Plane(height), carom.Newton(e), carom.Coulomb(0.2), name="floor"
    )
    return carom.World(mechanism, contacts=floor, constraints=carom.Pin("c.tip", (2.0, 0.0)))


@functools.cache
def struck():
    world = hammer()
    return carom.simulate(world, falling(world), until=1.5, settings=TIGHT)


def falling(world):
    return world.assembled(world.state([1.2, 0.3, -1.2], [-2.0, 0.0, 0.0]))


def test_a_blow_goes_through_the_whole_loop():
    """Impulse and momentum: M dv lies in the span of the contact's rows and the pin's, and the pin is kept."""
    run = struck()
    event = next(e for e in run.events if e.exit == "strike floor")
    mechanism, held = run.world.mechanism, list(run.world.constraints)
    matrix = np.asarray(dynamics.mass_matrix(mechanism, event.q))
    rows = np.asarray(constraint_rows(mechanism, held, jnp.asarray(event.q), jnp.asarray(event.v))[0])
    foot = np.asarray(jax.jacfwd(lambda q: dynamics.site_position(mechanism, q, "foot"))(event.q))
    impact = run.impacts[0]
    impulse = np.array([impact.tangential_impulse, impact.normal_impulse])  # the tangent of a floor points to the right
    pushed = matrix @ (event.v_after - event.v) - foot.T @ impulse
    pin, *_ = np.linalg.lstsq(rows.T, pushed, rcond=None)
    np.testing.assert_allclose(rows.T @ pin, pushed, atol=1e-11 * np.max(np.abs(impulse)))
    np.testing.assert_allclose(rows @ event.v_after, 0.0, atol=1e-11)
    before, after = foot @ event.v, foot @ event.v_after
    assert before[1] < -0.1
    assert after[1] == pytest.approx(-0.6 * before[1], rel=1e-9)
    assert 0.0 < abs(impulse[0]) <= 0.2 * impulse[1] * (1.0 + 1e-9)  # along the path its sense may turn


def test_a_loop_that_strikes_again_and_again_keeps_its_ledger():
    run = struck()
    assert sum(e.exit == "strike floor" for e in run.events) > 2
    assert run.energy.max_error_percent < 1e-7
    assert run.penetration < 1e-10


@pytest.mark.slow
def test_lanes_and_derivatives():
    def make(e):
        return hammer(e)

    start = falling(hammer())
    settings = carom.Settings(rtol=1e-11, atol=1e-13, ledger=False)
    es = jnp.array([0.6, 0.6 - 1e-5, 0.6 + 1e-5])
    ends = carom.batch(make, es, start, until=0.9, settings=settings)
    run = struck()
    np.testing.assert_allclose(ends.q[0], run.at([0.9]).q[0], atol=1e-8)

    def end(e):
        out = carom.final_state(hammer(e), start, 0.9, settings=settings)
        return jnp.stack(out.y.q)

    ahead = carom.jit(lambda e: jax.jvp(end, (e,), (1.0,))[1])(0.6)
    np.testing.assert_allclose(ahead, (ends.q[2] - ends.q[1]) / 2e-5, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
def test_forces_while_weight_is_neglected():
    """In an impact of a world that pauses, the pin bears neither weight nor motor: it reported both."""
    arm = carom.Arm([carom.Rod(length=1.0, mass=1.0)] * 2, base=(0.0, 1.0))
    floor = carom.Contact(arm.tip, carom.Plane(height=0.0), carom.Hertz(1e6), name="floor")
    world = carom.World(arm, contacts=floor, constraints=dynamics.Locked("link2"), pause_in_impact=True)
    run = carom.simulate(world, world.state([0.3, 0.0]), until=1.0)
    hit = run.impacts[0]
    middle = 0.5 * (hit.t_start + hit.t_end)
    at = run.at([middle])
    force = signals.contact_signals(run, np.array([middle]))["floor"].normal[0]
    there = dynamics.constrained_dynamics(
        arm, list(world.constraints), at.q[0], at.v[0], forces={"link2.tip": (0.0, force)}, gravity=0.0
    )
    found = next(iter(run.constraint_forces([middle]).values()))[0]
    np.testing.assert_allclose(found, there.multipliers, rtol=1e-7)


# -- mistakes ----------------------------------------------------------------------------------------------------------


def test_a_start_that_does_not_meet_them_is_named():
    world = hammer()
    with pytest.raises(carom.CaromError, match=r"does not meet Pin\('c.tip' to a fixed point\): it is off by 0.8"):
        carom.simulate(world, world.state([1.2, 0.3, -1.2]), until=1.0)
    closed = world.assembled(world.state([1.2, 0.3, -1.2]))
    with pytest.raises(carom.CaromError, match="leaves it at"):
        carom.simulate(world, carom.State(closed.q, jnp.array([1.0, 0.0, 0.0])), until=1.0)


def test_a_lane_that_does_not_meet_them_fails():
    pendulum = carom.World(carom.Arm([carom.Rod(length=1.0, mass=1.0)] * 2), constraints=dynamics.Locked("link2"))
    rows = pendulum.state(jnp.array([[0.3, 0.0], [0.3, 0.1]]))
    ends = carom.batch(lambda g: eqx.tree_at(lambda w: w.gravity, pendulum, g), G * jnp.ones((2, 2)), rows, **SHORT)
    assert ends.outcome.tolist() == [outcome.FINISHED, outcome.UNMET]


def test_rows_of_starts_are_assembled_too():
    world = hammer()
    rows = world.assembled(world.state(jnp.array([[1.2, 0.3, -1.2], [1.0, 0.2, -1.0]])))
    np.testing.assert_allclose(rows.q[0], world.assembled(world.state([1.2, 0.3, -1.2])).q, atol=1e-14)
    assert rows.q.shape == rows.v.shape == (2, 3)


def test_what_contradicts_itself_cannot_be_assembled():
    world = carom.World(
        hammer().mechanism, constraints=[carom.Pin("c.tip", (2.0, 0.0)), carom.Pin("c.tip", (2.0, 0.1))]
    )
    with pytest.raises(carom.CaromError, match="cannot all be met"):
        world.assembled(world.state([1.2, 0.3, -1.2]))


def test_what_is_no_constraint_is_refused(unchecked):
    with pytest.raises(carom.CaromError, match="constraints of World holds a str; it must hold constraints"):
        carom.World(hammer().mechanism, constraints=["pin"])
    with pytest.raises(carom.CaromError, match=r"c\.top"):
        carom.World(hammer().mechanism, constraints=carom.Pin("c.top", (2.0, 0.0)))
