"""Contact with friction: a block on a slope, a rod that slips, a bead on a dome; and what a user must be told.

Expected numbers are computed here, in NumPy and SciPy: closed forms and own integrals.
"""

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import carom

from ..unit.followed_blow import followed
from .rod_on_floor import FIRST, LENGTH, G, rod, weights

# -- contact at the start ----------------------------------------------------------------------------------------------


def test_a_run_that_starts_on_the_floor_and_moves_in_does_not_pass_through_it():
    """Gap zero, 1 m/s downwards: it is struck at once, or the start is refused; it does not go on as before."""
    world = rod(carom.Newton(0.5), 0.3, tip=0.0)
    try:
        run = carom.simulate(world, world.state(base=(0.0, 0.0), base_velocity=(0.0, -1.0)), until=0.05)
    except carom.CaromError:
        return
    assert np.min(run.q[:, 1]) > -1e-9 and run.events[0].v_after[1] == pytest.approx(0.5, abs=1e-9)


# -- contact that is maintained ----------------------------------------------------------------------------------------


def slid(angle: float, mu: float, static: float, **more: Any) -> Any:
    """A block on a plane that descends to the right."""
    plane = carom.Plane(point=(0.0, 0.0), slope=-angle)
    world = rod(carom.Newton(0.0), mu, static, tip=0.0, plane=plane)
    return carom.simulate(world, world.state(**more), until=1.0)


def phase_at_end(run: Any) -> str:
    return run.world.automata[0].anatomy.phases[int(run.final.phases[0])]


def test_a_block_on_a_slope_accelerates_by_what_friction_leaves():
    angle, mu = 0.6, 0.3
    run = slid(angle, mu, mu)
    a = G * (np.sin(angle) - mu * np.cos(angle))
    along = np.array([np.cos(angle), -np.sin(angle), 0.0])
    np.testing.assert_allclose(run.v[-1], a * along, atol=1e-10)
    np.testing.assert_allclose(run.q[-1], a / 2 * along, atol=1e-10)
    lost = -mu * G * np.cos(angle) * a / 2
    assert run.energy.works["rigid contacts: friction"][-1] == pytest.approx(lost, rel=1e-10)
    assert run.energy.max_error_percent < 1e-8


def test_a_block_on_a_slope_holds_below_the_static_friction_angle():
    """tan 0.5 = 0.55: more than mu = 0.3, less than mu_s = 0.6. At rest it holds; thrown upwards it stops and holds."""
    rests = slid(0.5, 0.3, 0.6)
    assert not rests.events and phase_at_end(rests) == "closed: foot sticking"
    np.testing.assert_allclose(rests.q[-1], 0.0, atol=1e-13)
    up = slid(0.5, 0.3, 0.6, base_velocity=(-np.cos(0.5), np.sin(0.5)))
    slowing = G * (np.sin(0.5) + 0.3 * np.cos(0.5))
    assert [e.exit for e in up.events] == ["stop foot"] and phase_at_end(up) == "closed: foot sticking"
    assert up.events[0].t == pytest.approx(1 / slowing, abs=1e-10)
    assert np.hypot(*up.q[-1][:2]) == pytest.approx(1 / (2 * slowing), abs=1e-10)
    # Above it, it slides down again after the stop.
    back = slid(0.5, 0.3, 0.5, base_velocity=(-np.cos(0.5), np.sin(0.5)))
    assert phase_at_end(back) == "closed: foot sliding right"


def test_a_falling_rod_slips_when_friction_is_used_up():
    """A rod stands on its end, 0.2 rad off the vertical, and is let go. While the foot sticks everything is known:
    w^2 = 3 g (cos a0 - cos a) / l, and the ratio of friction to normal force as a function of a.
    """
    tilt, mu = 0.2, 0.3

    def squared(a: float) -> float:
        return 3 * G / LENGTH * (np.cos(tilt) - np.cos(a))

    def excess(a: float) -> float:
        rise, speed = 3 * G / (2 * LENGTH) * np.sin(a), squared(a)
        normal = G - LENGTH / 2 * (rise * np.sin(a) + speed * np.cos(a))
        return LENGTH / 2 * (rise * np.cos(a) - speed * np.sin(a)) - mu * normal

    slips = brentq(excess, tilt + 1e-6, 0.6, xtol=1e-14)
    # The angle is tilt cosh(...) at first: substitute a = tilt + s^2 against the root singularity.
    wait = quad(lambda s: 2 * s / np.sqrt(squared(tilt + s**2)), 0.0, np.sqrt(slips - tilt), epsabs=1e-13)[0]
    # The foot is the tip, so the link's angle runs from the centre down to it.
    world = rod(carom.Newton(0.0), mu)
    start = world.state([-np.pi / 2 - tilt], base=(LENGTH / 2 * np.sin(tilt), LENGTH / 2 * np.cos(tilt)))
    run = carom.simulate(world, start, until=0.6, settings=FIRST)
    event = run.events[0]
    assert (event.exit, event.phase_before) == ("slip left foot", "closed: foot sticking")
    assert event.phase_after == "closed: foot sliding left"
    assert -np.pi / 2 - event.q[2] == pytest.approx(slips, abs=1e-8)
    assert event.t == pytest.approx(wait, abs=1e-8)
    assert event.v[2] == pytest.approx(-np.sqrt(squared(slips)), abs=1e-8)


@pytest.fixture(scope="module")
def dome() -> Any:
    bead = carom.Mechanism([carom.Body(mass=2.0, inertia=1.0)], base=carom.Free())

    def run(angle: float, speed: float, mu: float) -> Any:
        top = carom.Contact(bead.tip, carom.Circle((0.0, 0.0), 1.5), carom.Plastic(), carom.Coulomb(mu), name="dome")
        world = carom.World(bead, contacts=top, gravity=G)
        way = (speed * np.cos(angle), -speed * np.sin(angle))
        start = world.state(base=(1.5 * np.sin(angle), 1.5 * np.cos(angle)), base_velocity=way)
        return carom.simulate(world, start, until=3.0, settings=FIRST)

    return run


def leaves_dome(angle: float, speed: float, mu: float) -> float:
    """Where v^2 = g r cos a, with d(v^2)/da = 2 r (g sin a - mu (g cos a - v^2/r)), a linear equation for v^2."""
    scale = 2 * G * 1.5
    a, b = np.linalg.solve([[-1.0, -2 * mu], [-2 * mu, 1.0]], [scale, -mu * scale])
    free = (speed**2 - a * np.cos(angle) - b * np.sin(angle)) * np.exp(-2 * mu * angle)

    def lift(x: float) -> Any:
        return free * np.exp(2 * mu * x) + a * np.cos(x) + b * np.sin(x) - G * 1.5 * np.cos(x)

    return brentq(lift, angle, np.pi / 2, xtol=1e-14)


@pytest.mark.parametrize(("angle", "speed", "mu"), [(0.1, 0.0, 0.0), (0.3, 1.0, 0.0), (0.3, 2.0, 0.2)])
def test_a_bead_slides_off_a_dome(dome, angle, speed, mu):
    run = dome(angle, speed, mu)
    event = run.events[0]
    assert (event.exit, event.phase_after) == ("lift dome", "open")
    found = np.arctan2(event.q[0], event.q[1])
    if mu == 0.0:
        assert np.cos(leaves_dome(angle, speed, mu)) == pytest.approx(2 / 3 * np.cos(angle) + speed**2 / (3 * G * 1.5))
    assert found == pytest.approx(leaves_dome(angle, speed, mu), abs=1e-8)
    assert np.hypot(*event.q[:2]) == pytest.approx(1.5, abs=1e-10)


# -- what a user must be told ------------------------------------------------------------------------------------------


def test_newtons_law_with_friction_creates_energy_and_says_so():
    """e = 1, and sliding that turns round: the rod leaves with more energy than it came with."""
    angle = -1.1559563371860795
    mu, e, v = 0.3, 1.0, (-0.75, -1.0)
    world = rod(carom.Newton(e), mu)
    start = world.state(angles=[angle], base=(0.0, -LENGTH / 2 * np.sin(angle) + 1e-9), base_velocity=v)
    with pytest.warns(
        carom.CaromWarning, match=r"a blow of 'rigid contacts' at t = .* created .* J .* use Stronge or Poi"
    ):
        run = carom.simulate(world, start, until=0.01)
    normal, rubbed, pieces = followed(weights(angle), v[1], v[0], mu, "newton", e)
    assert {"left", "right"} <= set(pieces)
    p, w = np.array([normal, rubbed]), weights(angle)
    gain = p @ [v[1], v[0]] + p @ w @ p / 2
    assert gain == pytest.approx(0.0863, abs=1e-4)
    assert run.energy.works["rigid contacts: blows"][-1] == pytest.approx(gain, rel=1e-6)
    (sentence,) = run.warnings
    assert "created 0.0863 J (1 such blows)" in sentence


def test_painleves_rod_is_named_before_anything_is_not_a_number():
    """tan a = 2 is the worst angle: w_nn = 1.6, w_nt = 1.2; friction above 4/3 lets no force carry the sliding rod."""
    angle = -np.arctan(2.0)
    w = weights(angle)
    np.testing.assert_allclose([w[0, 0], w[0, 1]], [1.6, 1.2])
    foot = tuple(-LENGTH / 2 * np.array([np.cos(angle), np.sin(angle)]))
    for mu, way, lost in ((1.34, 1.0, True), (1.32, 1.0, False), (1.34, -1.0, False)):
        world = rod(carom.Newton(0.0), mu)
        start = world.state([angle], base=foot, base_velocity=(2.0 * way, 0.0))
        go = partial(carom.simulate, world, start)
        if not lost:
            assert go(until=1e-3).finished
            continue
        with pytest.raises(carom.SimulationError, match=r"Painleve's paradox.*less friction") as caught:
            go(until=1.0)
        final = caught.value.result.final
        assert np.all(np.isfinite([*final.y.q, *final.y.v]))
