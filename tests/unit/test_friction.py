"""Friction: exact stick and slip against closed forms, and what each law is known for."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import carom

G = 9.81


def test_a_block_on_a_belt_reaches_its_stick_slip_cycle() -> None:
    """Spring k, belt speed V, mass 1: it sticks for 2 (mu_s - mu) g / (k V) and slips for 2 (pi - atan(w a / V)) / w.

    a = (mu_s - mu) g / w^2 is how far beyond the middle of the slip it lets go.
    """
    stiffness, speed, mu, static = 100.0, 0.1, 0.2, 0.3
    block = carom.Mechanism([carom.Body(mass=1.0, inertia=0.1)], base=carom.Free())
    belt = carom.Moving(carom.Plane(height=0.0), velocity=(speed, 0.0))
    touch = carom.Contact(block.tip, belt, 0.0, carom.Coulomb(mu, static), name="belt")
    spring = carom.Spring(block.tip, to=(-1.0, 0.0), stiffness=stiffness, length=1.0)
    world = carom.World(block, contacts=touch, elements=spring, gravity=G)
    w = math.sqrt(stiffness)
    stick = 2.0 * (static - mu) * G / (stiffness * speed)
    slip = 2.0 * (math.pi - math.atan(w * (static - mu) * G / w**2 / speed)) / w
    for rtol in (1e-8, 1e-11):
        result = carom.simulate(
            world,
            world.state(base=(0.0, 0.0), base_velocity=(speed, 0.0)),
            until=12.0,
            settings=carom.Settings(rtol=rtol, atol=0.01 * rtol),
        )
        assert {e.exit for e in result.events} == {"slip left belt", "stop belt"}
        times = np.diff([e.t for e in result.events])
        np.testing.assert_allclose(times[0::2], slip, atol=1e-9)
        np.testing.assert_allclose(times[1::2], stick, atol=1e-9)
        assert result.energy.max_error_percent < 1e-6
        assert result.energy.works["rigid contacts: surface motion"][-1] > 1.0  # the belt drives it all


def box(height: float, mu: float, slope: float) -> tuple[carom.World, list[float], list[float]]:
    """A box of width 0.2 m on a slope, standing on two corners: world, angle and base."""
    width = 0.1
    body = carom.Body(mass=2.0, inertia=2.0 * (width**2 + height**2) / 3.0, com=(0.0, 0.0))
    corners = {"left": (-width, -height), "right": (width, -height)}
    mechanism = carom.Mechanism([carom.Link(body, sites=corners)], base=carom.Free())
    plane = carom.Plane(point=(0.0, 0.0), slope=slope)
    contacts = [carom.Contact(mechanism.site(c), plane, 0.0, carom.Coulomb(mu), name=c) for c in corners]
    world = carom.World(mechanism, contacts=[*contacts], gravity=G)
    return world, [slope], [-math.sin(slope) * height, math.cos(slope) * height]


# The tall one leans on its lower corner: shares of friction differ.
@pytest.mark.parametrize("height", [pytest.param(0.05, marks=pytest.mark.slow), 0.17])
def test_a_box_below_the_friction_angle_does_not_creep(height: float) -> None:
    slope = math.atan(0.5) - 0.02
    world, angles, base = box(height, 0.5, slope)
    moved = []
    for until in (10.0, 1000.0):
        result = carom.simulate(world, world.state(angles=angles, base=base), until=until)
        moved.append(np.max(np.abs(np.asarray(result.final.y.q) - [*base, *angles])))
    assert moved[1] < 1e-10
    assert moved[1] < 10.0 * max(moved[0], 1e-12)  # rounding, not creep: a hundred times the time does not show


def test_a_box_above_the_friction_angle_slides_as_it_should() -> None:
    slope, mu = math.atan(0.5) + 0.1, 0.5
    world, angles, base = box(0.05, mu, slope)
    result = carom.simulate(world, world.state(angles=angles, base=base), until=1.0)
    down = (np.asarray(result.final.y.q)[:2] - base) @ [-math.cos(slope), -math.sin(slope)]
    assert down == pytest.approx(0.5 * G * (math.sin(slope) - mu * math.cos(slope)), abs=1e-11)
    assert result.energy.max_error_percent < 1e-8


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_a_sliding_disk_rolls_at_two_thirds_with_a_compliant_floor(sense: float) -> None:
    """A uniform disk that slides begins to roll at 2/3 of its speed, and then its friction vanishes."""
    radius, speed = 0.1, 1.5
    ball = carom.Mechanism([carom.Disk(radius=radius, mass=1.0)], base=carom.Free())
    floor = carom.Contact(
        ball.tip, carom.Plane(height=0.0), carom.Hooke(1e4, 200.0), carom.Coulomb(0.3), radius=radius, name="floor"
    )
    world = carom.World(ball, contacts=floor, gravity=G)
    result = carom.simulate(
        world,
        world.state(base=(0.0, radius), base_velocity=(sense * speed, 0.0)),
        until=1.0,
        settings=carom.Settings(solver="rodas5p"),
    )
    v = np.asarray(result.final.y.v)
    np.testing.assert_allclose(v, [sense * speed * 2 / 3, 0.0, -sense * speed * 2 / 3 / radius], atol=1e-7)
    stop = next(e for e in result.events if e.exit == "stop")
    assert stop.phase_before == f"closed, sliding {'right' if sense > 0 else 'left'}"
    assert stop.phase_after == "closed, sticking"
    loss = result.energy.works["floor: friction"][-1]
    assert loss == pytest.approx(-0.5 * speed**2 * (1 - 2 / 3), rel=1e-6)


def test_a_vertical_blow_beside_the_centre_sticks_or_slides_as_the_ratio_says() -> None:
    """No sliding at touch-down: what decides is w_tn/w_tt against mu, both forces starting from zero."""
    body = carom.Body(mass=1.0, inertia=0.02, com=(0.0, 0.0))
    rod = carom.Mechanism([carom.Link(body, sites={"foot": (0.1, -0.2)})], base=carom.Free())
    # M^-1 seen from the foot (x, y) = (0.1, -0.2): w_tn = x y / I with the sign of n x t, w_tt = 1/m + y^2/I
    ratio = abs(0.1 * 0.2 / 0.02) / (1.0 + 0.2**2 / 0.02)
    for mu, phase in ((1.1 * ratio, "closed, sticking"), (0.9 * ratio, "closed, sliding right")):
        foot = carom.Contact(rod.site("foot"), carom.Plane(height=0.0), carom.Hertz(1e10), carom.Coulomb(mu))
        world = carom.World(rod, contacts=foot, gravity=0.0)
        result = carom.simulate(world, world.state(base=(0.0, 0.21), base_velocity=(0.0, -1.0)), until=0.011)
        touch, *_rest = result.events
        assert touch.exit == "touch"
        assert touch.phase_after in (phase, phase.replace("right", "left"))
        (impact,) = result.impacts
        bound = abs(impact.tangential_impulse) / impact.normal_impulse
        assert bound == pytest.approx(min(mu, ratio), rel=1e-3)  # the rod turns a little meanwhile


def test_smooth_friction_creeps_where_exact_friction_holds() -> None:
    """On a slope of tan = 0.25 with mu = 0.5, tanh(v/v_d) = 1/2 gives a steady creep; Coulomb gives none."""
    slope, fade = math.atan(0.25), 1e-3
    body = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    place = 0.0  # a body that cannot turn: its contact is at its centre
    for friction, creep in ((carom.SmoothCoulomb(0.5, fade), fade * math.atanh(0.5)), (carom.Coulomb(0.5), 0.0)):
        touch = carom.Contact(body.tip, carom.Plane(point=(0.0, 0.0), slope=slope), carom.Hooke(1e4, 200.0), friction)
        world = carom.World(body, contacts=touch, gravity=G)
        result = carom.simulate(
            world, world.state(base=(place, place)), until=1.0, settings=carom.Settings(solver="rodas5p")
        )
        v = np.asarray(result.final.y.v)
        assert math.hypot(v[0], v[1]) == pytest.approx(creep, abs=1e-9)


# -- laws by themselves ----------------------------------------------------------------------------------------------


def drawn(law: carom.contact.AbstractFriction, velocity, times):  # type: ignore[no-untyped-def]
    """Force per unit normal force of a bristle law drawn over the surface, by small Runge-Kutta steps."""

    def rate(z, t):  # type: ignore[no-untyped-def]
        return law.flow((z,), 1.0, velocity(t))[1][0]

    def step(z, t):  # type: ignore[no-untyped-def]
        h = times[1] - times[0]
        a = rate(z, t)
        b = rate(z + h / 2 * a, t + h / 2)
        c = rate(z + h / 2 * b, t + h / 2)
        d = rate(z + h * c, t + h)
        return z + h / 6 * (a + 2 * b + 2 * c + d), law.flow((z,), 1.0, velocity(t))[0]

    return np.asarray(jax.lax.scan(step, jnp.asarray(0.0), times)[1])


@pytest.mark.parametrize(
    "law",
    [carom.Dahl(0.3, 1e4), carom.LuGre(0.3, 0.4, 0.01, 1e4, damping=50.0)],
    ids=["dahl", "lugre"],
)
def test_a_bristle_ends_in_the_steady_force_and_never_gives_energy_away(law) -> None:  # type: ignore[no-untyped-def]
    times = jnp.linspace(0.0, 1.0, 20001)
    force = drawn(law, lambda t: 0.005, times)
    assert force[-1] == pytest.approx(float(law.force(1.0, 0.005)), rel=1e-9)
    assert abs(force[0]) < 1.0
    cycles = drawn(law, lambda t: 0.05 * jnp.sin(40.0 * t), times)
    power = cycles * np.asarray(0.05 * jnp.sin(40.0 * times))
    work = np.cumsum(power) * float(times[1])
    stored = 0.5 * 0.4**2 / 1e4  # the most that a bristle can hold, per unit normal force
    assert np.all(work < stored)
    assert work[-1] < -0.009  # of 0.3 times 32 mm of path


def test_lugre_damping_that_could_supply_energy_is_refused() -> None:
    with pytest.raises(carom.CaromError, match="at most 4 mu sqrt"):
        carom.LuGre(0.3, 0.4, 0.01, 1e4, damping=300.0)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: carom.Coulomb(-0.1), "mu of Coulomb is -0.1; it must be at least 0"),
        (lambda: carom.Coulomb(0.3, static=0.2), "static of Coulomb is 0.2, less than mu, 0.3"),
        (lambda: carom.Coulomb(0.3, viscous=-1.0), "viscous of Coulomb is -1"),
        (lambda: carom.Stribeck(0.3, 0.4, 0.0), "speed of Stribeck is 0; it must be greater than 0"),
        (lambda: carom.Karnopp(0.3, 0.4, -1.0), "band of Karnopp is -1"),
        (lambda: carom.BengisuAkay(0.3, 0.4, 0.01, 0.0), "fall of BengisuAkay is 0"),
        (lambda: carom.Dahl(0.0, 1e4), "mu of Dahl is 0; it must be greater than 0"),
        (lambda: carom.Spring("tip", (0.0, 0.0), 1.0, 1.0), "site of Spring is 'tip'"),
    ],
)
def test_bad_numbers_are_answered_by_a_sentence(make, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(carom.CaromError) as refused:
        make()
    assert sentence in str(refused.value)


# -- LuGre as first published ------------------------------------------------------------------------------------------

# Canudas de Wit et al. 1995, table 1, under a normal force of 1 N.
PUBLISHED = {"mu": 1.0, "static": 1.5, "speed": 1e-3, "stiffness": 1e5, "damping": 1e5**0.5, "viscous": 0.4}


def published() -> carom.LuGre:
    with pytest.warns(carom.CaromWarning, match=r"damping of LuGre is 316.228 s/m at every speed.* = 0.0126 m/s, fric"):
        return carom.LuGre(**PUBLISHED, constant_damping=True)


def test_lugre_with_constant_damping_is_the_published_law() -> None:
    """Dragged to and fro at up to 5 mm/s: the force against scipy's integration of the formulas as printed."""
    law, p, times = published(), PUBLISHED, np.linspace(0.0, 0.5, 51)

    def velocity(t, lib=np):
        return 5e-3 * lib.sin(25.0 * t)

    def bend(t, z):
        v = velocity(t)
        g = p["mu"] + (p["static"] - p["mu"]) * np.exp(-((v / p["speed"]) ** 2))
        return v - p["stiffness"] * abs(v) * z / g

    z = solve_ivp(bend, (0.0, 0.5), [0.0], method="LSODA", rtol=1e-11, atol=1e-16, t_eval=times).y[0]
    v = velocity(times)
    expected = -(p["stiffness"] * z + p["damping"] * bend(times, z) + p["viscous"] * v)

    count = 200_000  # steps of Runge and Kutta

    def step(carry, t):
        ratio, work = carry
        h = 0.5 / count
        rate = lambda t, r: law.flow((r,), 1.0, velocity(t, jnp))[1][0]  # noqa: E731
        a = rate(t, ratio)
        b = rate(t + h / 2, ratio + h / 2 * a)
        c = rate(t + h / 2, ratio + h / 2 * b)
        force = law.flow((ratio,), 1.0, velocity(t, jnp))[0]
        work = work + h * force * velocity(t, jnp)
        new = ratio + h / 6 * (a + 2 * b + 2 * c + rate(t + h, ratio + h * c))
        return (new, work), (force, work)

    _, (forces, works) = jax.jit(lambda ts: jax.lax.scan(step, (0.0, 0.0), ts))(jnp.arange(count) * 0.5 / count)
    np.testing.assert_allclose(forces[:: count // 50], expected[:50], atol=2e-5)
    # Slower than 4 mu/s1 the law only takes energy, but for what the bristle holds: g^2 / (2 s0).
    gain = np.max(np.asarray(works) - np.minimum.accumulate(np.asarray(works)))
    assert works[-1] < -1e-3 and gain <= p["static"] ** 2 / (2.0 * p["stiffness"])


def test_the_spelling_of_constant_damping(unchecked) -> None:
    law = published()
    assert law.constant_damping and float(law.flow((0.0,), 1.0, 5.0)[0]) == pytest.approx(-(1e5**0.5 + 0.4) * 5.0)
    with pytest.raises(carom.CaromError, match=r"at most 4 mu sqrt\(2 e\) / fade = .* \(constant_damping=True"):
        carom.LuGre(**PUBLISHED | {"damping": 2e4})
    with pytest.raises(carom.CaromError, match="constant_damping=True and also a fade"):
        carom.LuGre(**PUBLISHED, fade=0.1, constant_damping=True)
    with pytest.raises(carom.CaromError, match="constant_damping of LuGre is 1; it must be True or False"):
        carom.LuGre(**PUBLISHED, constant_damping=1)
    quiet = PUBLISHED | {"damping": 0.0}
    assert carom.LuGre(**quiet, constant_damping=True).constant_damping  # without damping nothing is to be said


# -- corners -----------------------------------------------------------------------------------------------------------

CORNERED = [carom.Ambrosio(0.3, 1e-3, 2e-3), carom.Ambrosio(0.3, 0.0, 2e-3), carom.BengisuAkay(0.3, 0.4, 1e-3, 100.0)]


@pytest.mark.parametrize("law", CORNERED, ids=["ambrosio", "without a dead band", "bengisu-akay"])
def test_the_pieces_of_a_law_with_corners_make_the_law(law) -> None:
    """Each is the force between its corners, and goes on smoothly beyond them."""
    sliding = jnp.asarray(np.linspace(-4e-3, 4e-3, 401) + 1e-6)
    pieces = law.piece_at(sliding)
    np.testing.assert_allclose(law.piecewise(pieces, 5.0, sliding), law.force(5.0, sliding), rtol=1e-12, atol=1e-12)
    for k, corner in enumerate(law.corners):
        beside = [float(law.piecewise(p, 5.0, corner)) for p in (k, k + 1)]
        assert beside[0] == pytest.approx(beside[1], abs=1e-12)
        slopes = [float(jax.grad(law.piecewise, argnums=2)(p, 5.0, corner)) for p in (k, k + 1)]
        assert abs(slopes[0] - slopes[1]) > 1.0


def test_exits_lead_from_piece_to_piece_and_back() -> None:
    law, flat = CORNERED[0], CORNERED[1]
    assert [int(law.piece_at(v)) for v in (-1.0, -1.5e-3, 0.0, 1.5e-3, 1.0)] == [0, 1, 2, 3, 4]
    above, below = law.piece_guards(3, 2e-3)
    assert float(above) == 0.0 and float(below) == pytest.approx(-1e-3)
    assert float(law.piece_guards(0, 0.0)[1]) == float(law.piece_guards(4, 0.0)[0]) == -1.0
    assert int(law.piece_after((True, False), 3)) == 4 and int(law.piece_after((False, True), 3)) == 2
    assert int(flat.piece_after((True, False), 1)) == 3 and int(flat.piece_after((False, True), 3)) == 1
