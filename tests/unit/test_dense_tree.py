"""Trees on arrays without scans: what stands side by side is solved tree by tree; slots against a plain sort."""

from unittest.mock import NonCallableMock

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics
from carom.contact.impact._crowd import Crowd, chosen, to_contacts
from carom.dynamics import _dense_tree as dense
from carom.dynamics.kinematics import link_motion
from carom.hybrid._flow_arrays import unloaded

from ..strategies import tree

PARENTS = ((-1,), (-1, 0), (-1, -1), (-1, 0, 0), (-1, 0, 1), (1, -1, 1))


def forests(seed: int, trees: int) -> carom.Mechanism:
    """Trees of one to three links, on fixed and free bases, with numbers that differ."""
    rng = np.random.default_rng(seed)
    found = {}
    for k in range(trees):
        base = carom.Free() if rng.random() < 0.6 else carom.Fixed(*rng.normal(size=2))
        found[f"t{k}"] = tree(PARENTS[rng.integers(len(PARENTS))], base)
    return carom.side_by_side(**found)


@pytest.mark.parametrize("seed", [1, 4])
def test_trees_side_by_side_are_solved_one_by_one(seed):
    """Against the recursive formalism's mass matrix, by NumPy; and the derivative of a solution."""
    rng = np.random.default_rng(seed + 100)
    robots = forests(seed, 2 if seed < 4 else 5)
    q, v = rng.normal(size=robots.dof), rng.normal(size=robots.dof)
    down, load = jnp.asarray([0.3, -9.81]), rng.normal(size=(robots.dof, 4))
    assert dense.forest(robots.topology) is not None

    @jax.jit
    def falling(q, v):
        own, solve = unloaded(robots, q, v, down)
        return own, solve(jnp.asarray(load)), solve(jnp.asarray(load[:, 0]))

    own, solved, column = falling(q, v)
    recursive = "gibbs_appell"
    matrix = np.asarray(dynamics.mass_matrix(robots, q, recursive))
    falls = dynamics.gravity_force(robots, q, (0.3, -9.81), recursive) - dynamics.bias(robots, q, v, recursive)
    np.testing.assert_allclose(own, falls, rtol=0, atol=1e-11)
    np.testing.assert_allclose(solved, np.linalg.solve(matrix, load), rtol=0, atol=1e-10)
    np.testing.assert_allclose(column, np.linalg.solve(matrix, load[:, 0]), rtol=0, atol=1e-10)

    @jax.jit
    def moved(x):
        return unloaded(robots, q + x * v, jnp.asarray(v), down)[1](jnp.asarray(load[:, 0]))

    ahead, behind = moved(1e-6), moved(-1e-6)
    np.testing.assert_allclose(jax.jvp(moved, (0.0,), (1.0,))[1], (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", [0, 5])
def test_places_by_products_are_those_by_scalars(seed):
    rng = np.random.default_rng(seed)
    robots = forests(seed, 3)
    q, v = jnp.asarray(rng.normal(size=robots.dof)), jnp.asarray(rng.normal(size=robots.dof))
    for mine, other in zip(dense.dense_frames(robots, q, v), link_motion(robots, q, v), strict=True):
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-13)


def sized(rubs, plain, slots):
    """A crowd as far as slots ask for it."""
    flags = np.isin(np.arange(len(rubs) + len(plain)), rubs)
    return NonCallableMock(spec=Crowd, rubs=rubs, plain=plain, slots=slots, size=len(flags), rub_flags=flags)


@pytest.mark.parametrize("cut", [0, 5, 30])
@pytest.mark.parametrize("seed", range(10))
def test_slots_are_those_of_a_stable_sort(seed, cut):
    rng = np.random.default_rng(seed)
    order = rng.permutation(30)
    rubs, plain = np.sort(order[:cut]), np.sort(order[cut:])
    crowd = sized(rubs, plain, (min(len(rubs), 7), min(len(plain), 11)))
    flags, also = rng.random(len(order)) < rng.random(), rng.random(len(order)) < rng.random()
    slots, over = chosen(crowd, jnp.asarray(flags), jnp.asarray(also))
    wanted, numbers = [], rng.normal(size=sum(crowd.slots))
    for which, room in ((rubs, crowd.slots[0]), (plain, crowd.slots[1])):
        first = [i for i in which if flags[i]] + [i for i in which if also[i] and not flags[i]]
        wanted += [first[:room] if len(which) > room else [i for i in which if flags[i] or also[i]]]
    assert bool(over) == any(np.sum(flags[w]) > r for w, r in zip((rubs, plain), crowd.slots, strict=True))
    parts = np.split(np.arange(sum(crowd.slots)), [crowd.slots[0]])
    for mine, part in zip(wanted, parts, strict=True):
        np.testing.assert_array_equal(np.asarray(slots.place)[part][np.asarray(slots.on)[part]], mine)
    given = np.asarray(to_contacts(crowd, slots, jnp.asarray(numbers), -1.0))
    back = np.full(len(order), -1.0)
    back[np.asarray(slots.place)[np.asarray(slots.on)]] = numbers[np.asarray(slots.on)]
    np.testing.assert_array_equal(given, back)
    some = np.asarray(to_contacts(crowd, slots, jnp.asarray(numbers[: crowd.slots[0]]), -1.0))
    np.testing.assert_array_equal(some, np.where(crowd.rub_flags, back, -1.0))
