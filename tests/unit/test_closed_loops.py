"""Closed loops: long motions, redundant rows, assembling, power, formalisms, transformations."""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics
from carom.dynamics import constrained_dynamics, constraints

from .closed_loops import LOOPS, TIGHT, G, energy, four_bar, moving, parallelogram, slider_crank
from .differences import derivative_and_difference

# -- long motions ------------------------------------------------------------------------------------------------------


def run(mechanism: Any, held: Any, q: jax.Array, v: jax.Array, until: float) -> tuple[jax.Array, ...]:
    """States at 101 times; rtol 1e-12 is the tightest that Dopri8 can tell from rounding."""

    def rate(t: Any, y: Any, args: Any) -> Any:
        out = constrained_dynamics(mechanism, held, *y, throw=False)
        return y[1], out.acceleration

    found = diffrax.diffeqsolve(
        diffrax.ODETerm(rate),
        diffrax.Dopri8(),
        t0=0.0,
        t1=until,
        dt0=1e-3,
        y0=(q, v),
        saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, until, 101)),
        stepsize_controller=diffrax.PIDController(rtol=1e-12, atol=1e-12),
        max_steps=100_000,
    )
    return found.ys


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_a_closed_loop_conserves_energy_for_ten_seconds(name: str) -> None:
    mechanism, held, q, v = moving(LOOPS[name])
    qs, vs = run(mechanism, held, q, v, 10.0)
    energies = jax.vmap(lambda q, v: energy(mechanism, q, v))(qs, vs)
    # Some thousand steps, each with an error of 1e-12, and a loop that opens by no more.
    assert np.ptp(energies) < 1e-8 * np.max(dynamics.kinetic_energy(mechanism, q, v))
    gaps = jax.vmap(lambda q: dynamics.constraint_error(mechanism, held, q))(qs)
    assert np.max(np.abs(gaps)) < 1e-8
    assert np.ptp(qs[:, 0]) > 1.0  # and it did move


def test_a_redundant_pin_does_not_change_the_motion() -> None:
    mechanism, held, q, v = moving(four_bar)
    alone, doubled = (run(mechanism, pins, q, v, 2.0)[0] for pins in (held, [*held, *held]))
    assert np.allclose(doubled, alone, atol=1e-9)


# -- closed forms ------------------------------------------------------------------------------------------------------


def test_a_slider_crank_moves_as_its_one_coordinate_says() -> None:
    """Lagrange's equation of the crank angle alone, with the other angle solved for by hand."""
    mechanism, held, q, v = moving(slider_crank)

    def whole(angle: Any) -> jax.Array:
        return jnp.stack([angle, -jnp.arcsin(jnp.sin(angle) / 3.0)])

    def lagrangian(angle: Any, rate: Any) -> jax.Array:
        q, v = jax.jvp(whole, (angle,), (rate,))
        return dynamics.kinetic_energy(mechanism, q, v) - dynamics.potential_energy(mechanism, q)

    @carom.jit
    def turn(angle: Any, rate: Any) -> jax.Array:
        momentum = jax.grad(lagrangian, 1)
        along = jax.jvp(lambda angle: momentum(angle, rate), (angle,), (rate,))[1]
        return (jax.grad(lagrangian, 0)(angle, rate) - along) / jax.grad(momentum, 1)(angle, rate)

    found = constrained_dynamics(mechanism, held, q, v).acceleration[0]
    assert found == pytest.approx(float(turn(q[0], v[0])), rel=1e-11)


# -- redundant rows ----------------------------------------------------------------------------------------------------


def test_three_cranks_on_one_coupler_move_as_one() -> None:
    mechanism, held, q, v = moving(parallelogram)
    out = constrained_dynamics(mechanism, held, q, v)
    # Bob, two rods, and the coupler, which only shifts; by hand:
    inertia, weight = 2.0 + 2 / 3 + 1.0, 2.0 + 2 * 0.5 + 1.0
    expected = -G * np.cos(q[0]) * weight / inertia
    assert np.allclose(out.acceleration, expected * np.array([1.0, 0.0, 1.0, 1.0]), atol=1e-11)
    assert out.rank == mechanism.dof + 3 and not out.conflict  # four rows, one of them redundant


@pytest.mark.parametrize("name", LOOPS)
def test_a_redundant_constraint_changes_nothing(name: str) -> None:
    mechanism, held, q, v = moving(LOOPS[name])
    once, twice = (constrained_dynamics(mechanism, held * times, q, v) for times in (1, 2))
    size = np.max(np.abs(once.acceleration))
    assert np.allclose(twice.acceleration, once.acceleration, atol=1e-10 * size, rtol=0)
    # Equal rows share one force equally, and its sum stays.
    rows = len(once.multipliers)
    assert np.allclose(twice.multipliers[:rows], twice.multipliers[rows:], atol=1e-10 * size)
    assert np.allclose(twice.multipliers[:rows] * 2, once.multipliers, atol=1e-10 * size)
    assert twice.rank == once.rank


def test_a_redundant_loop_that_has_opened_a_little_still_moves_as_one() -> None:
    """Rounding and integration open loops by 1e-9: rows that should be dependent must not become independent."""
    mechanism, held, q, v = moving(parallelogram)
    exact = constrained_dynamics(mechanism, held, q, v)
    noise = 1e-9 * np.random.default_rng(0).normal(size=(2, mechanism.dof))
    opened = constrained_dynamics(mechanism, held, q + noise[0], v + noise[1])
    assert np.allclose(opened.acceleration, exact.acceleration, atol=1e-6)


# -- assembling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOOPS)
def test_assemble_closes_a_loop_and_projects_the_velocity_as_a_blow_would(name: str) -> None:
    mechanism, held, guess = LOOPS[name]()
    before = jnp.asarray(np.random.default_rng(0).normal(size=mechanism.dof))
    q, v = dynamics.assemble(mechanism, held, guess, before)
    assert np.max(np.abs(dynamics.constraint_error(mechanism, held, q))) < TIGHT
    rows, _ = constraints.constraint_rows(mechanism, held, q, v)
    assert np.allclose(rows @ v, 0.0, atol=1e-11)
    # The impulse acts along the rows: it does no work on any velocity that the constraints allow.
    impulse = dynamics.mass_matrix(mechanism, q) @ (v - before)
    allowed = np.linalg.svd(np.asarray(rows))[2][np.linalg.matrix_rank(rows, tol=1e-9) :]
    assert len(allowed) == 1 and np.allclose(allowed @ impulse, 0.0, atol=1e-11)


def test_assemble_leaves_a_closed_loop_alone() -> None:
    mechanism, held, q, v = moving(four_bar)
    again = dynamics.assemble(mechanism, held, q, v)
    assert np.allclose(again[0], q, atol=TIGHT) and np.allclose(again[1], v, atol=1e-11)


def test_stabilising_pulls_errors_back_as_a_critically_damped_spring() -> None:
    mechanism, held, q, v = moving(four_bar)
    q, v, rate = q + 0.01, v + jnp.array([0.02, -0.01, 0.03]), 5.0
    out = constrained_dynamics(mechanism, held, q, v, stabilise=rate)
    error = lambda q: dynamics.constraint_error(mechanism, held, q)  # noqa: E731
    speed = lambda q, v: jax.jvp(error, (q,), (v,))[1]  # noqa: E731
    second = jax.jvp(speed, (q, v), (v, out.acceleration))[1]
    assert np.allclose(second, -2 * rate * speed(q, v) - rate**2 * error(q), atol=1e-10)


# -- power, formalisms, transformations --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOOPS)
def test_constraint_forces_do_no_work(name: str) -> None:
    mechanism, held, q, v = moving(LOOPS[name])
    torques = jnp.asarray(np.random.default_rng(0).normal(size=mechanism.topology.links))
    site, push = mechanism.topology.site_names[1], jnp.array([3.0, -4.0])
    out = constrained_dynamics(mechanism, held, q, v, torques=torques, forces={site: push})
    rate = jax.jvp(lambda q, v: energy(mechanism, q, v), (q, v), (v, out.acceleration))[1]
    power = torques @ mechanism.angles(v, relative=True) + push @ dynamics.site_velocity(mechanism, q, v, site)
    assert rate == pytest.approx(float(power), abs=1e-10 * float(dynamics.kinetic_energy(mechanism, q, v) + 10.0))


@pytest.mark.parametrize("formalism", dynamics.FORMALISMS)
def test_every_formalism_gives_the_same_constrained_motion(formalism: str) -> None:
    mechanism, held, q, v = moving(four_bar)
    out, expected = (constrained_dynamics(mechanism, held, q, v, formalism=f) for f in (formalism, "explicit"))
    assert np.allclose(out.acceleration, expected.acceleration, rtol=1e-11)
    assert np.allclose(out.multipliers, expected.multipliers, rtol=1e-11)


@pytest.mark.parametrize("name", LOOPS)
def test_constrained_motion_can_be_differentiated(name: str) -> None:
    """With respect to masses and inertias, at a state that stays closed."""
    mechanism, held, q, v = moving(LOOPS[name])

    def of(mass: jax.Array, inertia: jax.Array) -> jax.Array:
        changed = eqx.tree_at(lambda m: (m.numbers.mass, m.numbers.inertia), mechanism, (mass, inertia))
        out = constrained_dynamics(changed, held, q, v, throw=False)
        return jnp.concatenate([out.acceleration, out.multipliers])

    point = mechanism.numbers.mass, mechanism.numbers.inertia
    step = jax.tree.map(lambda x: jnp.cos(jnp.arange(float(x.size))), point)
    forward, difference = derivative_and_difference(of, point, step)
    assert np.allclose(forward, difference, atol=1e-6 * np.max(np.abs(difference)))


def test_constrained_motion_in_batches() -> None:
    mechanism, held, q, v = moving(four_bar)
    speeds = jnp.array([0.0, 1.0, 2.0])
    batch = jax.jit(jax.vmap(lambda s: constrained_dynamics(mechanism, held, q, s * v, throw=False)))(speeds)
    for lane, speed in enumerate(speeds):
        alone = constrained_dynamics(mechanism, held, q, speed * v)
        assert np.allclose(batch.acceleration[lane], alone.acceleration, rtol=1e-11)
