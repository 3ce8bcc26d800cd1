"""Contact with friction: a rod that lands on one end, a block on a slope, a bead on a dome; blows and what follows.

Expected numbers are computed here, in NumPy and SciPy: closed forms, own integrals, own paths over the impulse.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import carom
from carom.hybrid.run import compiler_options

from ..unit.test_impulsive import followed

G = 9.81


# -- a rod with friction at its end ------------------------------------------------------------------------------------

LENGTH = 1.0  # and mass 1: the inverse inertia at the end is [[1 + 3 c^2, -3 s c], [-3 s c, 1 + 3 s^2]]
BLOW = carom.Settings(rtol=1e-10, atol=1e-12, max_events=1, ledger=False)
FIRST = carom.Settings(rtol=1e-11, atol=1e-13, max_events=1)
LANES = 24  # of every batch, so that they share what was compiled


def rod(law: Any, mu: Any, static: Any = None, tip: float = LENGTH / 2, plane: Any = None) -> carom.World:
    """A free rod, by its centre, that touches with one end; with tip = 0 a block."""
    body = carom.Body(mass=1.0, inertia=LENGTH**2 / 12, tip=(tip, 0.0))
    free = carom.Mechanism([body], base=carom.Free())
    friction = carom.Coulomb(mu, static=mu if static is None else static)
    plane = carom.Plane(point=(0.0, 0.0), slope=0.0) if plane is None else plane
    foot = carom.Contact(free.tip, plane, law, friction, name="foot")
    return carom.World(free, contacts=foot, gravity=G)


def with_newton(p: Any) -> carom.World:
    return rod(carom.Newton(p[1]), p[0])


def with_poisson(p: Any) -> carom.World:
    return rod(carom.Poisson(p[1]), p[0])


def with_stronge(p: Any) -> carom.World:
    return rod(carom.Stronge(p[1]), p[0])


def weights(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1 + 3 * c * c, -3 * s * c], [-3 * s * c, 1 + 3 * s * s]])


def landed(law: str, mu: float, e: float, angle: float, rate: float, height: float, v: Any) -> Any:
    """Velocity (x, y, angle) after the first blow of a falling rod: its flight and its blow in closed form."""
    arm = LENGTH / 2

    def gap(t: float) -> Any:
        return height + v[1] * t - G * t**2 / 2 + arm * np.sin(angle + rate * t)

    times = np.linspace(0.0, 2.0, 2001)
    first = np.flatnonzero(gap(times) < 0.0)[0]
    t = brentq(gap, times[first - 1], times[first], xtol=1e-15, rtol=1e-15)
    turned = angle + rate * t
    before = np.array([v[0], v[1] - G * t, rate])
    c, s = arm * np.cos(turned), arm * np.sin(turned)
    normal, rubbed, pieces = followed(weights(turned), before[1] + rate * c, before[0] - rate * s, mu, law, e)
    return before + np.array([rubbed, normal, 12 * (c * normal - s * rubbed)]), pieces


class Falls:
    """Twelve rods that fall on one end, and their mirror images."""

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        n = LANES // 2
        self.mu, self.e = rng.uniform(0.05, 1.5, n), rng.uniform(0.0, 1.0, n)
        self.angle, self.rate = rng.uniform(-2.4, -0.7, n), rng.uniform(-2.0, 2.0, n)
        self.height, self.v = np.full(n, 0.7), np.stack([rng.uniform(-2.0, 2.0, n), rng.uniform(-2.0, 0.0, n)], axis=1)

    def exact(self, law: str) -> Any:
        columns = (self.mu, self.e, self.angle, self.rate, self.height, self.v)
        return [landed(law, *lane) for lane in zip(*columns, strict=True)]

    def run(self, make: Any) -> np.ndarray:
        both = [np.concatenate([a, b]) for a, b in (
            (self.angle, np.pi - self.angle), (self.rate, -self.rate), (self.v, self.v * [-1.0, 1.0])
        )]  # fmt: skip
        parameters = jnp.asarray(np.tile(np.stack([self.mu, self.e], axis=1), (2, 1)))
        base = np.stack([np.zeros(LANES), np.tile(self.height, 2)], axis=1)
        start = make(parameters[0]).state(
            angles=both[0][:, None], rates=both[1][:, None], base=base, base_velocity=both[2]
        )
        out = carom.batch(make, parameters, start, until=2.0, settings=carom.Settings(max_events=1))
        return np.asarray(out.v)


@pytest.mark.parametrize("law", ("newton", "poisson", "stronge"))
def test_a_rod_lands_on_one_end_as_its_path_says_and_so_does_its_mirror_image(law):
    falls = Falls()
    got = falls.run({"newton": with_newton, "poisson": with_poisson, "stronge": with_stronge}[law])
    exact = falls.exact(law)
    went = {tuple(pieces) for _, pieces in exact}
    assert any("sticks" in w for w in went) and any({"left", "right"} <= set(w) for w in went) and len(went) >= 4
    np.testing.assert_allclose(got[: LANES // 2], np.stack([v for v, _ in exact]), rtol=0, atol=1e-10)
    np.testing.assert_allclose(got[LANES // 2 :], got[: LANES // 2] * [-1.0, 1.0, -1.0], rtol=0, atol=1e-10)


def test_nobody_falls_through_the_floor():
    """Rods that slide, stop, stick, slip and leave, at default tolerances: the end never comes below the floor.

    What integration leaves of the normal velocity (1e-8 m/s) must not count as leaving at the next stop or slip.
    """
    rng = np.random.default_rng(0)
    mu, angle = rng.uniform(0.1, 1.2, LANES), rng.uniform(-np.pi + 0.2, -0.2, LANES)
    rate, v = rng.uniform(-4.0, 4.0, LANES), rng.uniform(-3.0, 3.0, LANES)
    c, s = LENGTH / 2 * np.cos(angle), LENGTH / 2 * np.sin(angle)
    parameters = jnp.asarray(np.stack([mu, np.zeros(LANES)], axis=1))
    start = with_newton(parameters[0]).state(
        angles=angle[:, None],
        rates=rate[:, None],
        base=np.stack([-c, -s], axis=1),
        base_velocity=np.stack([v + rate * s, -rate * c], axis=1),
    )
    out = carom.batch(with_newton, parameters, start, until=1.0)
    gaps = np.asarray(out.q[:, 1]) + LENGTH / 2 * np.sin(np.asarray(out.q[:, 2]))
    assert np.min(gaps) > -1e-8, f"{np.sum(gaps < -1e-8)} of {LANES} fell through"
    assert np.sum(np.asarray(out.events)) > LANES


def test_a_run_that_starts_on_the_floor_and_moves_in_does_not_pass_through_it():
    """Gap zero, 1 m/s downwards: it is struck at once, or the start is refused; it does not go on as before."""
    world = rod(carom.Newton(0.5), 0.3, tip=0.0)
    try:
        run = carom.simulate(world, world.state(base=(0.0, 0.0), base_velocity=(0.0, -1.0)), until=0.05)
    except carom.CaromError:
        return
    assert np.min(run.q[:, 1]) > -1e-9 and run.events[0].v_after[1] == pytest.approx(0.5, abs=1e-9)


# -- derivatives of a blow with friction -------------------------------------------------------------------------------

FALL = {"rate": 0.5, "height": 0.7, "v": (-1.0, -1.5)}
X = np.array([0.3, 0.7, -1.1])  # mu, restitution, angle at the start: sliding turns round


def after_blow(x: Any, reverse_steps: int | None = None) -> Any:
    q = jnp.stack([0.0, FALL["height"], x[2]])
    v = jnp.array([*FALL["v"], FALL["rate"]])
    world = rod(carom.Stronge(x[1]), x[0])
    end = carom.final_state(world, carom.State(q, v), 2.0, settings=BLOW, reverse_steps=reverse_steps)
    return jnp.stack(end.y.v)


def differences() -> np.ndarray:
    """Central differences, of fourth order, of the closed form."""
    columns = []
    for d in np.eye(3):

        def at(h: float, d: Any = d) -> Any:
            mu, e, angle = X + h * d
            return landed("stronge", mu, e, angle, FALL["rate"], FALL["height"], FALL["v"])[0]

        coarse, fine = ((at(h) - at(-h)) / (2 * h) for h in (2e-3, 1e-3))
        columns.append((4 * fine - coarse) / 3)
    return np.stack(columns, axis=1)


def test_derivatives_of_a_blow_with_friction_in_forward_mode():
    velocity, pieces = landed("stronge", *X, FALL["rate"], FALL["height"], FALL["v"])
    assert {"left", "right"} <= set(pieces)
    push = jax.jit(lambda x, dx: jax.jvp(after_blow, (x,), (dx,)), compiler_options=compiler_options())
    found = [push(jnp.asarray(X), dx) for dx in jnp.eye(3)]
    np.testing.assert_allclose(found[0][0], velocity, atol=1e-10)
    np.testing.assert_allclose(np.stack([f[1] for f in found], axis=1), differences(), rtol=1e-7, atol=1e-7)


@pytest.mark.slow
def test_derivatives_of_a_blow_with_friction_in_reverse_mode():
    def along(x: Any, w: Any) -> Any:
        return w @ after_blow(x, reverse_steps=64)

    pull = jax.jit(jax.grad(along), compiler_options=compiler_options())
    got = np.stack([pull(jnp.asarray(X), w) for w in jnp.eye(3)])
    np.testing.assert_allclose(got, differences(), rtol=1e-7, atol=1e-7)


# -- contact that is maintained ----------------------------------------------------------------------------------------


def slid(angle: float, mu: float, static: float, **more: Any) -> Any:
    """A block on a plane that descends to the right."""
    plane = carom.Plane(point=(0.0, 0.0), slope=-angle)
    world = rod(carom.Newton(0.0), mu, static, tip=0.0, plane=plane)
    return carom.simulate(world, world.state(**more), until=1.0)


def phase_at_end(run: Any) -> str:
    return run.world.automata[0].phases[int(run.final.phases[0])]


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
