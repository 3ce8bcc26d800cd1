"""A cantilever as one elastic link and as many rigid ones; and a beam spun up about its root.

- Modes: those of the cantilever are exact, and a force at the tip is missing a part that falls as N^-3.
- Rigid links of length h with springs E I/h between them, and 2 E I/h at the wall (half a length bends there): the tip
  deflection is the trapezoidal rule for the integral of (l - x)^2, PL^3/(3 E I) (1 + 1/(2 n^2)) exactly.
- Spin-up after Kane, Ryan and Banerjee 1987: without foreshortening a turning beam gets softer, and unstable when it
  turns faster than its first frequency; a real one is stiffened by its own centrifugal force.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

import carom
from carom import dynamics

LENGTH, MU, FORCE = 8.0, 0.20188, 0.5
SECTION = carom.beam.Section(  # the aluminium beam of the spin-up literature
    area=7.2968e-5, second_moment=8.2181e-9, mass_per_length=MU, youngs_modulus=6.8952e10
)
EI = 6.8952e10 * 8.2181e-9
STATIC = FORCE * LENGTH**3 / (3 * EI)
UNIT = np.sqrt(EI / (MU * LENGTH**4))  # [rad/s]


def wave_numbers(count):
    """Roots of cosh b cos b = -1, each in its own bracket."""
    return [brentq(lambda b: np.cos(b) + 1 / np.cosh(b), np.pi * (k + 0.1), np.pi * (k + 0.9)) for k in range(count)]


EXACT = np.array(wave_numbers(8)) ** 2 * UNIT


@eqx.filter_jit
def linear(m, q):
    """M, K, and the gradient of the tip's height, at rest."""
    still = jnp.zeros_like(q)
    stiffness = -jax.jacfwd(lambda q: dynamics.generalized_force(m, q, still))(q)
    return dynamics.mass_matrix(m, q), stiffness, dynamics.site_jacobian(m, q, m.tip)[1]


def answers(m, held=()):
    """Tip deflection under FORCE, and frequencies; coordinates `held` do not move."""
    matrix, stiffness, row = (np.asarray(x) for x in linear(m, jnp.zeros(m.dof)))
    move = [i for i in range(m.dof) if i not in held]
    matrix, stiffness, row = matrix[np.ix_(move, move)], stiffness[np.ix_(move, move)], row[move]
    squares = eigh(stiffness, matrix, eigvals_only=True)
    return FORCE * row @ np.linalg.solve(stiffness, row), np.sqrt(squares)


@functools.cache
def beam(modes, ends=("clamped", "free"), foreshortening=False):
    body = carom.Beam(LENGTH, SECTION, ends, modes, theory="euler-bernoulli", foreshortening=foreshortening)
    return carom.Arm([body])


def slope(sizes, errors):
    return np.polyfit(np.log(sizes), np.log(np.abs(errors)), 1)[0]


@pytest.mark.slow
def test_modes_approach_the_static_deflection_from_below_with_the_third_power():
    counts = np.arange(1, 9)
    found = [answers(beam(int(n)), held=[0]) for n in counts]
    short = 1 - np.array([tip for tip, _ in found]) / STATIC
    assert np.all(short > 0)  # always too stiff
    assert short[0] == pytest.approx(0.0293, abs=1e-4)
    assert slope(counts[2:], short[2:]) == pytest.approx(-3.0, abs=0.25)
    for n, (_, frequencies) in zip(counts, found, strict=True):
        np.testing.assert_allclose(frequencies, EXACT[:n], rtol=1e-9)


def test_polynomials_reach_the_frequencies_and_the_deflection():
    """x^2, x^3: the static shape is among them."""
    powers = [[0.0] * (k + 2) + [1.0] for k in range(6)]
    shapes = carom.beam.given_shapes(SECTION, LENGTH, powers, theory="euler-bernoulli")
    tip, frequencies = answers(carom.Arm([carom.Beam(shapes=shapes)]), held=[0])
    assert tip == pytest.approx(STATIC, rel=1e-9)
    np.testing.assert_allclose(frequencies[:3], EXACT[:3], rtol=1e-3)
    assert np.all(frequencies[:3] > EXACT[:3] * (1 - 1e-12))


@functools.cache
def with_a_load(modes, mass=1.0):
    return answers(beam(modes).weld("link1", carom.PointMass(mass)), held=[0])[1]


def loaded(count, mass=1.0):
    """Cantilever with a point mass at its tip: 1 + cosh b cos b + b m/(mu l) (sinh b cos b - cosh b sin b) = 0."""
    ratio = mass / (MU * LENGTH)

    def characteristic(b):
        return 1 / np.cosh(b) + np.cos(b) + b * ratio * (np.tanh(b) * np.cos(b) - np.sin(b))

    grid = np.linspace(0.1, 12.0, 2000)
    values = characteristic(grid)
    at = np.flatnonzero(values[:-1] * values[1:] < 0)[:count]
    return np.array([brentq(characteristic, grid[i], grid[i + 1]) for i in at]) ** 2 * UNIT


def test_modes_of_the_bare_beam_carry_a_load_at_its_tip():
    """They have no shear force there, and the load needs one: from above, with the third power."""
    counts, exact = np.arange(3, 9), loaded(3)
    errors = np.array([with_a_load(int(n))[:3] / exact - 1 for n in counts])
    assert np.all(errors > 0)
    for k in range(3):
        assert slope(counts[k:], errors[k:, k]) == pytest.approx(-3.3, abs=0.6)
    assert np.all(errors[-1] < [1e-4, 1e-3, 3e-3])


@functools.cache
def chain(links):
    h = LENGTH / links
    rod = carom.Rod(length=h, mass=MU * h)
    joints = [carom.Joint(stiffness=(2.0 if k == 0 else 1.0) * EI / h) for k in range(links)]
    return answers(carom.Arm([carom.Link(rod, joint=joint) for joint in joints]))


COUNTS = np.array([2, 4, 8, 16, 32, 64])


def test_rigid_links_approach_the_static_deflection_with_the_second_power():
    tips = np.array([chain(int(n))[0] for n in COUNTS])
    np.testing.assert_allclose(tips, STATIC * (1 + 1 / (2 * COUNTS**2)), rtol=1e-8)
    assert slope(COUNTS, tips / STATIC - 1) == pytest.approx(-2.0, abs=1e-5)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_rigid_links_approach_the_frequencies_with_the_second_power(k):
    counts = COUNTS[k + 1 :]
    errors = np.array([chain(int(n))[1][k] / EXACT[k] - 1 for n in counts])
    assert slope(counts[-3:], errors[-3:]) == pytest.approx(-2.0, abs=0.05)
    assert abs(errors[-1]) < 1e-2


def test_a_clamp_that_is_a_constraint_does_what_leaving_the_angle_out_does():
    arm = beam(3)
    q, v = jnp.array([0.0, 0.1, -0.02, 0.01]), jnp.array([0.0, 0.3, 0.1, -0.2])
    held = dynamics.constrained_dynamics(
        arm, [carom.Locked("link1")], q, v, forces={"link1.tip": (0.0, FORCE)}, gravity=0
    )
    matrix, stiffness, row = (np.asarray(x) for x in linear(arm, q))
    right = FORCE * row[1:] - (stiffness @ q)[1:]
    np.testing.assert_allclose(held.acceleration[1:], np.linalg.solve(matrix[1:, 1:], right), rtol=1e-8)
    np.testing.assert_allclose(held.acceleration[0], 0.0, atol=1e-10)


# -- spin-up ----------------------------------------------------------------------------------------------------------

FLAP = {2: 4.1373, 4: 5.5850, 8: 9.2568, 10: 11.2023}  # out of plane, hub radius 0: Wright et al. 1982


def spinning(modes, spin, foreshortening):
    """Squares of the frequencies in the plane, the angle prescribed: the modal rows, linearised at d = 0."""
    arm = beam(modes, foreshortening=foreshortening)

    def force(d):
        q = jnp.concatenate([jnp.zeros(1), d])
        v = jnp.zeros(modes + 1).at[0].set(spin)
        return (dynamics.generalized_force(arm, q, v) - dynamics.bias(arm, q, v))[1:]

    stiffness = -jax.jit(jax.jacfwd(force))(jnp.zeros(modes))
    matrix = np.asarray(dynamics.mass_matrix(arm, jnp.zeros(modes + 1)))[1:, 1:]
    return eigh(np.asarray(stiffness), matrix, eigvals_only=True) / UNIT**2


@pytest.mark.parametrize("ratio", FLAP)
def test_a_turning_beam_is_stiffened_as_in_the_tables(ratio):
    """In the plane the centrifugal field takes spin^2 away from the square of the frequency out of the plane."""
    squares = spinning(6, ratio * UNIT, True)
    assert np.sqrt(squares[0] + ratio**2) == pytest.approx(FLAP[ratio], rel=2e-4)
    soft = spinning(6, ratio * UNIT, False)
    np.testing.assert_allclose(soft, (EXACT[:6] / UNIT) ** 2 - ratio**2, rtol=1e-7, atol=1e-6)


SPIN, RISE = 6.0, 15.0  # [rad/s], [s]; the first frequency of the beam is 2.91 rad/s


@functools.partial(jax.jit, static_argnames=("steps", "until"))
def spun(arm, spin, until=20.0, steps=20000):
    """Tip deflection over time, the hub driven by computed torque: angle' = spin (t/T - sin(2 pi t/T)/(2 pi)). RK4."""
    h, modes = until / steps, arm.dof - 1

    def hub(t):
        s = jnp.minimum(t / RISE, 1.0)
        rate = spin * (s - jnp.sin(2 * jnp.pi * s) / (2 * jnp.pi))
        return rate, jnp.where(t < RISE, spin / RISE * (1 - jnp.cos(2 * jnp.pi * s)), 0.0)

    def rate(t, y):
        turning, push = hub(t)
        q = jnp.concatenate([jnp.zeros(1), y[:modes]])
        v = jnp.concatenate([turning[None], y[modes:]])
        matrix = dynamics.mass_matrix(arm, q)
        right = (dynamics.generalized_force(arm, q, v) - dynamics.bias(arm, q, v))[1:] - matrix[1:, 0] * push
        return jnp.concatenate([y[modes:], jnp.linalg.solve(matrix[1:, 1:], right)])

    def step(y, t):
        a = rate(t, y)
        b = rate(t + h / 2, y + h / 2 * a)
        c = rate(t + h / 2, y + h / 2 * b)
        d = rate(t + h, y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
        return y, y[:modes] @ arm.numbers.site_reach[0].shape[:, 1]

    return jax.lax.scan(step, jnp.zeros(2 * modes), h * jnp.arange(steps))[1]


def test_spin_up_diverges_without_foreshortening_and_settles_with_it():
    soft, stiff = (np.asarray(spun(beam(2, foreshortening=f), SPIN)) for f in (False, True))
    time = np.linspace(0.0, 20.0, 20001)[1:]
    assert 2 * EXACT[0] < SPIN
    assert np.max(np.abs(soft - stiff)[time < 3.0]) < 0.01 * np.max(np.abs(soft[time < 3.0]))  # while it turns slowly
    assert np.abs(soft[time < 10.0][-1]) > 100 * LENGTH  # then it flies off
    assert np.max(np.abs(soft)) > 1e20
    # The other lags behind while the hub gains speed, most near half time: less than the static
    # 11/120 mu a l^5/(E I) under the largest angular acceleration a, for it is stiffened; and comes back.
    static = 11 / 120 * MU * (2 * SPIN / RISE) * LENGTH**5 / EI
    assert 0.8 * static < -np.min(stiff) < static
    assert np.min(stiff) == pytest.approx(-0.751, abs=0.002)
    assert 6.0 < time[np.argmin(stiff)] < 8.0
    assert np.max(np.abs(stiff[time > RISE])) < 0.01


def test_slow_turning_does_not_need_foreshortening():
    """Stiffening is of second order in the spin: the gap, relative to the deflection, falls with its square."""
    spins, gaps = [0.4, 0.2, 0.1], []
    for spin in spins:
        soft, stiff = (np.asarray(spun(beam(2, foreshortening=f), spin)) for f in (False, True))
        gaps.append(np.max(np.abs(soft - stiff)) / np.max(np.abs(soft)))
    assert slope(spins, gaps) == pytest.approx(2.0, abs=0.15)
    assert gaps[-1] < 3e-3
