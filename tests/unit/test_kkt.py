"""The KKT system by itself: regular and singular, independent and redundant; its derivatives."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from carom import dynamics

from .differences import derivative_and_difference


def random_system(singular: bool, redundant: bool) -> Sequence[jax.Array]:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(5, 5))
    half[4] = 0.0 if singular else half[4]
    rows = rng.normal(size=(2, 5))
    gamma = rng.normal(size=2)
    if redundant:
        rows, gamma = np.vstack([rows, rows[0] + rows[1]]), np.append(gamma, gamma.sum())
    return tuple(jnp.asarray(x) for x in (half @ half.T, rows, rng.normal(size=5), gamma))


@pytest.mark.parametrize("singular", [False, True], ids=["regular", "singular"])
@pytest.mark.parametrize("redundant", [False, True], ids=["independent", "redundant"])
def test_solve_kkt_satisfies_both_equations(singular: bool, redundant: bool) -> None:
    matrix, rows, force, gamma = random_system(singular, redundant)
    out = dynamics.solve_kkt(matrix, rows, force, gamma)
    assert np.allclose(matrix @ out.acceleration - rows.T @ out.multipliers, force, atol=1e-11)
    assert np.allclose(rows @ out.acceleration, gamma, atol=1e-11)
    assert out.rank == 7 and not out.conflict


@pytest.mark.parametrize("singular", [pytest.param(False, id="regular"), pytest.param(True, id="singular")])
@pytest.mark.parametrize("redundant", [False, True], ids=["independent", "redundant"])
def test_solve_kkt_can_be_differentiated(singular: bool, redundant: bool) -> None:
    """Along changes that keep what is singular singular and what is redundant redundant."""
    rng = np.random.default_rng(1)
    point = random_system(singular, redundant)
    turn = jnp.asarray(rng.normal(size=(5, 5)))
    mix = jnp.asarray(rng.normal(size=(5, 5)))

    def of(s: jax.Array, force: jax.Array) -> jax.Array:
        matrix = (jnp.eye(5) + s * turn) @ point[0] @ (jnp.eye(5) + s * turn).T
        out = dynamics.solve_kkt(matrix, point[1] @ (jnp.eye(5) + s * mix), force, point[3] * (1 + s))
        return jnp.concatenate([out.acceleration, out.multipliers])

    forward, difference = derivative_and_difference(
        of, (jnp.asarray(0.0), point[2]), (jnp.asarray(1.0), jnp.asarray(rng.normal(size=5)))
    )
    assert np.allclose(forward, difference, atol=1e-6 * np.max(np.abs(difference)))
