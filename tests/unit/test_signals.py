"""Signals of a run against closed forms."""

from __future__ import annotations

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.control import FeedForward, Waypoints
from carom.result import Result
from carom.result import _signals as signals
from carom.result._dense import CHUNK

MASS, RADIUS, GRAVITY = 2.0, 0.1, 9.81
STIFFNESS = 1e5
AIM = [0.0, 0.15 - MASS * GRAVITY / 6.0, 0.2]  # far below: a controller that bears the weight lets the ball fall so


def ball() -> carom.Mechanism:
    return carom.Mechanism([carom.Link(carom.Disk(radius=RADIUS, mass=MASS), name="ball")], base=carom.Free())


def drop(world: carom.World, height: float = 0.2, speed: float = 0.0, until: float = 0.5, **options):
    start = world.state(base=(0.0, height), base_velocity=(speed, 0.0))
    return carom.simulate(world, start, until=until, settings=carom.Settings(rtol=1e-9, atol=1e-12, **options))


@cache
def soft_run() -> Result:
    """A ball that falls on a linear spring while four controllers push and turn it; they pause while it touches."""
    b = ball()
    contact = carom.Contact(b.tip, carom.Plane(height=0.0), carom.Hooke(STIFFNESS), radius=RADIUS, name="floor")
    pd = carom.PostureControl(b, [[0.5]], [0.4], [0.04], limit=[0.15], anchored="ball", name="pd")
    digital = carom.PostureControl(b, [[0.5]], [0.2], [0.02], rate=20.0, anchored="ball", name="digital")
    plan = FeedForward(b, Waypoints([0.0, 0.4], [[0.0], [0.05]]), anchored="ball", name="plan")
    hold = carom.HoldPose(b, AIM, kp=[6.0, 6.0, 0.03], kd=0.0, linearise=False)
    control = [pd, digital, plan, hold]
    return drop(carom.World(b, contacts=contact, control=control, gravity=GRAVITY, pause_in_impact=True))


@cache
def rigid_run() -> Result:
    """A ball that bounces, comes to rest and slides on a rigid floor, brakes and rolls."""
    b = ball()
    floor = carom.Contact(
        b.tip, carom.Plane(height=0.0), carom.Poisson(0.5), carom.Coulomb(0.3), radius=RADIUS, name="floor"
    )
    world = carom.World(b, contacts=floor, gravity=GRAVITY, settle_speed=0.1)
    return drop(world, height=0.11, speed=4.0, until=0.8)


@cache
def elastic_run() -> Result:
    """A beam on a pivot, bent and let go."""
    section = carom.beam.Section(
        area=1e-4, second_moment=1e-8, mass_per_length=1.0, youngs_modulus=2e11, shear_modulus=8e10, shear_factor=0.8
    )
    beam = carom.Mechanism([carom.Beam(1.0, section, ("clamped", "free"), 1)])
    world = carom.World(beam, gravity=0.0)
    return carom.simulate(world, world.state(angles=[0.3], bending=[0.01]), until=0.01)


@cache
def sliding_run() -> Result:
    """A press that slides on its guide, with a temperature beside it."""
    press = carom.Mechanism([carom.Link(carom.Rod(0.5, 2.0), joint=carom.Slider(axis=(0.0, 1.0), stiffness=400.0))])
    heat = carom.ExtraStates({"heat": 300.0}, lambda scene, x, p: {"heat": -0.1 * x["heat"]}, units={"heat": "K"})
    world = carom.World(press, elements=heat, gravity=GRAVITY)
    return carom.simulate(world, world.state(slides=[0.1]), until=0.01)


@pytest.fixture(scope="module")
def soft():
    return soft_run()


@pytest.fixture(scope="module")
def rigid():
    return rigid_run()


def test_force_of_a_linear_spring(soft):
    times = signals.times_of(soft, count=200)
    s = signals.contact_signals(soft, times)["floor"]
    depth = RADIUS - signals.site_signals(soft, times, "ball.tip").position[:, 1]
    closed = s.phase != "open"
    assert 30 < np.sum(closed) < len(times) - 30
    np.testing.assert_allclose(s.indentation, depth, atol=1e-12)
    np.testing.assert_allclose(s.normal, np.where(closed, STIFFNESS * depth, 0.0), atol=1e-6)
    np.testing.assert_allclose([s.nx[0], s.ny[0], s.friction[0]], [0.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(s.rate, -signals.site_signals(soft, times, "ball.tip").velocity[:, 1], atol=1e-12)


def test_reactions_of_a_rigid_floor(rigid):
    times = signals.times_of(rigid, count=300)
    s = signals.contact_signals(rigid, times)["floor"]
    last = [e.t for e in rigid.events if e.exit.startswith("strike")][-1]
    after, slides = times >= last, s.phase == "sliding right"
    np.testing.assert_allclose(s.normal[after], MASS * GRAVITY, rtol=1e-7)
    assert set(s.phase[~after]) == {"open"} and np.all(s.normal[~after] == 0.0) and np.all(s.friction[~after] == 0.0)
    assert np.any(slides) and s.phase[-1] == "sticking"
    np.testing.assert_allclose(s.friction[slides], -0.3 * MASS * GRAVITY, rtol=1e-7)
    np.testing.assert_allclose(s.friction[s.phase == "sticking"], 0.0, atol=1e-6)
    np.testing.assert_allclose(s.x, signals.site_signals(rigid, times, "ball.tip").position[:, 0], atol=1e-12)


def test_state_at_an_event_is_the_one_after_it(rigid):
    strike = next(e for e in rigid.events if e.exit == "strike floor")
    v = signals.states(rigid, [np.nextafter(strike.t, 0.0), strike.t]).v
    np.testing.assert_allclose(v[0], strike.v, rtol=1e-9)
    np.testing.assert_allclose(v[1], strike.v_after, rtol=1e-12)


def test_the_end_of_a_run_is_after_its_last_event(rigid):
    stopped = drop(rigid.world, height=0.11, speed=4.0, max_events=1)
    strike = stopped.events[0]
    v = signals.states(stopped, [np.nextafter(stopped.t[-1], 0.0), stopped.t[-1]]).v
    np.testing.assert_allclose(v, [strike.v, strike.v_after], rtol=1e-9)


def test_torques_are_those_of_the_rule(soft):
    times = np.linspace(0.0, 0.5, 137)[:-1]
    told, at = signals.effort_signals(soft, times), signals.states(soft, times)
    found = {name: efforts.torques for name, efforts in told.items()}
    free = np.where(signals.contact_signals(soft, times)["floor"].phase == "open", 1.0, 0.0)
    assert np.min(free) == 0.0  # controllers pause while it touches
    angle, rate = at.q[:, 2], at.v[:, 2]
    wanted = -0.04 * rate - 0.4 * (angle - 0.5)
    assert np.max(wanted) > 0.15
    np.testing.assert_allclose(found["pd"][:, 0], free * np.clip(wanted, -0.15, 0.15), atol=1e-12)
    s = np.minimum(times / 0.4, 1.0)
    np.testing.assert_allclose(found["plan"][:, 0], free * 0.05 * (3.0 * s**2 - 2.0 * s**3), atol=1e-12)
    sampled = signals.states(soft, np.floor(times * 20.0 + 1e-9) / 20.0)
    held = -0.02 * sampled.v[:, 2] - 0.2 * (sampled.q[:, 2] - 0.5)
    np.testing.assert_allclose(found["digital"][:, 0], free * held, atol=1e-9)
    off = np.array(AIM) - at.q
    np.testing.assert_allclose(found["hold"][:, 0], free * 0.03 * off[:, 2], atol=1e-12)
    pushed = told["hold"].pushes["base"]
    bears = np.array([[0.0, MASS * GRAVITY]])
    np.testing.assert_allclose(pushed, free[:, None] * (6.0 * off[:, :2] + bears), atol=1e-12)


def test_energies_and_momentum(soft):
    times = signals.times_of(soft, count=600)
    e, p, at = signals.energy_signals(soft, times), signals.momentum_signals(soft, times), signals.states(soft, times)
    spin = float(soft.world.mechanism.numbers.inertia[0]) * at.v[:, 2]
    np.testing.assert_allclose(e.kinetic[:, 0], 0.5 * MASS * np.sum(at.v[:, :2] ** 2, axis=1) + 0.5 * spin * at.v[:, 2])
    np.testing.assert_allclose(e.potential, MASS * GRAVITY * at.q[:, 1])
    np.testing.assert_allclose(p.linear, MASS * at.v[:, :2])
    np.testing.assert_allclose(p.angular, spin + MASS * (at.q[:, 0] * at.v[:, 1] - at.q[:, 1] * at.v[:, 0]))
    assert e.error is not None and np.max(np.abs(e.error)) < 1e-7
    depth = np.maximum(signals.contact_signals(soft, times)["floor"].indentation, 0.0)
    np.testing.assert_allclose(e.works["floor: normal force"], -0.5 * STIFFNESS * depth**2, atol=1e-6)


def test_bending_and_sites_of_an_elastic_link():
    run = elastic_run()
    beam = run.world.mechanism
    times = np.linspace(0.0, 0.01, 5)
    (name,) = beam.topology.names
    np.testing.assert_allclose(signals.bending_signals(run, times)[name][:, 0], run.at(times).q[:, 1], atol=1e-15)
    place = signals.site_signals(run, times, beam.tip).position
    at = [carom.dynamics.site_position(beam, jnp.asarray(q), beam.tip) for q in signals.states(run, times).q]
    np.testing.assert_allclose(place, np.asarray(at), atol=1e-13)


def test_instants_for_plots(soft):
    times = signals.times_of(soft, count=100, impacts=25)
    assert np.all(np.diff(times) > 0.0) and times[0] == 0.0 and times[-1] == soft.t[-1]
    for impact in soft.impacts:
        assert np.sum((times >= impact.t_start) & (times <= impact.t_end)) >= 25
    for event in soft.events:
        assert event.t in times and np.nextafter(event.t, 0.0) in times
    with pytest.raises(carom.CaromError, match="count of times_of is 1; it must be at least 2"):
        signals.times_of(soft, count=1)


@pytest.mark.parametrize("count", [0, 1, CHUNK, CHUNK + 3])
def test_any_number_of_instants(soft, count):
    times = np.linspace(0.0, 0.5, count)
    found = signals.states(soft, times)
    assert found.q.shape == (count, 3) and found.phases[0].shape == (count,)
    np.testing.assert_array_equal(found.t, times)
