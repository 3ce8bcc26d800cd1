"""Blows in matrices, and several contacts at once: what pushes, what holds, and what has no answer."""

from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from carom.contact import blow, impact_blocks
from carom.contact.impact._several import Problem, solve

# -- the same blows, by other means ------------------------------------------------------------------------------------


def by_all_sets(w: Any, b: Any) -> list[np.ndarray]:
    """Every x >= 0 with b + w x >= 0, complementary to it: all sets of pushing contacts tried."""
    out = []
    for count in range(len(b) + 1):
        for chosen in combinations(range(len(b)), count):
            x, on = np.zeros(len(b)), list(chosen)
            x[on] = np.linalg.lstsq(w[np.ix_(on, on)], -b[on], rcond=1e-11)[0]
            u = b + w @ x
            if min(x.min(), u.min()) > -1e-9 and np.abs(x * u).max() < 1e-9:
                out.append(x)
    return out


# -- blows in matrices -------------------------------------------------------------------------------------------------


def test_two_identical_constraints_share_alike():
    """The sum is that of one contact; each takes half; the velocity does not know how many there are."""
    mass, row, v = np.diag([2.0, 3.0]), np.array([0.6, 0.8]), np.array([-1.0, -2.0])
    alone = 1.5 * -(row @ v) / (row @ np.linalg.solve(mass, row))
    for count in (1, 2):
        found = blow(mass, np.tile(row, (count, 1)), v, 0.5)
        np.testing.assert_allclose(found.impulses, alone / count, rtol=1e-12)
        np.testing.assert_allclose(found.velocity, v + np.linalg.solve(mass, row * alone), atol=1e-13)


def test_a_foot_without_mass_is_stopped_by_the_ground():
    """M is singular. Base (x, y) of mass 3, massless foot hung from it at an angle: the foot's own speed is free to
    change, so a ground that it may slide on takes no impulse. In a corner it stops the base along the leg.
    """
    angle, length = -0.9, 0.7
    mass = np.diag([3.0, 3.0, 0.0])
    down = np.array([0.0, 1.0, length * np.cos(angle)])
    across = np.array([1.0, 0.0, -length * np.sin(angle)])
    v = np.array([0.3, -2.0, 0.1])
    slides = blow(mass, down[None], v)
    np.testing.assert_allclose(slides.impulses, 0.0, atol=1e-12)
    np.testing.assert_allclose(slides.velocity[:2], v[:2], atol=1e-12)
    assert float(down @ slides.velocity) == pytest.approx(0.0, abs=1e-12)
    held = blow(mass, np.stack([down, -across]), v)
    leg = np.array([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(held.velocity[:2], v[:2] - (v[:2] @ leg) * leg, atol=1e-12)
    np.testing.assert_allclose(3.0 * (held.velocity[:2] - v[:2]), [-held.impulses[1], held.impulses[0]], atol=1e-12)


W3 = np.array([[1.0, -0.8, -0.4], [-0.8, 1.0, 0.8], [-0.4, 0.8, 1.0]])
B3 = np.array([-0.2, -0.2, -1.0])


def test_dropping_all_pulling_contacts_at_once_is_wrong():
    """All held, the impulses are (-1, -3, 3). Without the first two, the first is driven in; it must go on pushing."""
    mass = np.eye(3)
    rows = np.linalg.cholesky(W3)  # A M^-1 A^T = W3
    v = np.linalg.solve(rows, B3)
    all_held = np.linalg.solve(W3, -B3)
    np.testing.assert_allclose(all_held, [-1.0, -3.0, 3.0], atol=1e-13)
    pulls = all_held < 0
    shortcut = np.zeros(3)
    shortcut[~pulls] = np.linalg.solve(W3[np.ix_(~pulls, ~pulls)], -B3[~pulls])
    assert (B3 + W3 @ shortcut).min() < -0.5, "the short-cut leaves a contact moving into its surface"
    (exact,) = by_all_sets(W3, B3)
    found = blow(mass, rows, v)
    np.testing.assert_allclose(found.impulses, exact, atol=1e-12)
    np.testing.assert_array_equal(found.pushing, exact > 0)
    none = jnp.asarray(0.0)
    engine = solve(Problem(W3.tolist(), list(B3), [], [], [none] * 3, [jnp.asarray(True)] * 3, [], ()))
    assert bool(engine.found)
    np.testing.assert_allclose(np.stack(engine.normal), exact, atol=1e-12)


def test_blocks_are_those_of_the_inverse():
    rng = np.random.default_rng(1)
    half, rows = rng.normal(size=(5, 5)), rng.normal(size=(2, 5))
    mass = half @ half.T
    got = impact_blocks(mass, rows)
    seen = np.linalg.inv(rows @ np.linalg.solve(mass, rows.T))
    np.testing.assert_allclose(got.contact, -seen, rtol=1e-9)
    np.testing.assert_allclose(got.rows, seen @ rows @ np.linalg.inv(mass), rtol=1e-9, atol=1e-12)
    v = rng.normal(size=5)
    # Held both ways, whether it pushes or pulls.
    np.testing.assert_allclose(rows @ (v - got.rows.T @ (rows @ v)), 0.0, atol=1e-12)


def test_derivatives_of_a_blow_are_those_of_the_contacts_that_push():
    mass, rows = np.diag([1.0, 2.0]), np.array([[0.0, 1.0], [-0.6, 0.8]])
    v = jnp.array([1.0, -1.0])
    after = jax.jit(lambda v: blow(mass, rows, v, 0.3).velocity)
    h = 1e-6
    differences = np.stack([(after(v + d) - after(v - d)) / (2 * h) for d in h * np.eye(2)], axis=1)
    for change in (jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(jax.jit(change(after))(v), differences, atol=1e-8)


# -- several contacts --------------------------------------------------------------------------------------------------


def block(push: float, mu: float, limit: float, fixed: float = 0.0, feet: int = 2) -> Problem:
    """A block of mass 1 on `feet` alike, pressed by 1 N and pushed along; rows repeat each other."""
    n, zero = feet, jnp.asarray(0.0)
    w = np.kron(np.eye(2), np.ones((n, n)))
    b = [-1.0] * n + [push] * n
    return Problem(
        w.tolist(),
        b,
        [mu] * n,
        [limit] * n,
        [zero] * n,
        [jnp.asarray(True)] * n,
        [jnp.asarray(fixed)] * n,
        tuple(range(n)),
    )


@pytest.mark.parametrize("feet", (1, 2))
def test_a_block_at_rest_holds_by_static_friction(feet):
    """0.4 N along 1 N of weight: mu = 0.3 would let it slide on, mu_s = 0.5 holds it, and all feet share alike."""
    held = solve(block(0.4, 0.3, 0.5, feet=feet))
    assert bool(held.found)
    np.testing.assert_allclose(np.stack(held.after), 0.0, atol=1e-13)
    np.testing.assert_allclose(np.stack(held.normal), 1.0 / feet, rtol=1e-7)
    np.testing.assert_allclose(np.stack(held.tangential), -0.4 / feet, rtol=1e-7)
    gone = solve(block(0.6, 0.3, 0.5, feet=feet))
    np.testing.assert_allclose(np.stack(gone.after)[feet:], 0.6 - 0.3, rtol=1e-7)


def test_a_sliding_contact_that_friction_pulls_in_has_no_answer():
    """Painleve: w_nn - mu w_nt < 0 while it is pressed; no force keeps it from going in, and it says so."""
    c, s = np.cos(-1.1), np.sin(-1.1)
    w = [[1 + 3 * c * c, -3 * s * c], [-3 * s * c, 1 + 3 * s * s]]
    zero, on = jnp.asarray(0.0), jnp.asarray(True)
    lost = solve(Problem(w, [-9.81, 0.0], [2.0], [2.0], [zero], [on], [jnp.asarray(1.0)], (0,)))
    assert w[0][0] - 2.0 * w[0][1] < 0 and not bool(lost.found)
    free = solve(Problem(w, [-9.81, 0.0], [2.0], [2.0], [zero], [on], [jnp.asarray(-1.0)], (0,)))
    assert bool(free.found)
