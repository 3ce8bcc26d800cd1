"""Many pairs of shapes in two steps: what is not near is farther than its bound, and what is near is as in one step."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.impact import _crowd_near as near
from carom.contact.impact import _kinds as kinds
from carom.contact.impact._crowd_seen import _seen
from carom.hybrid._compiler import compiler_options
from carom.hybrid._ranks import flagged_first, ranks_of
from carom.hybrid.scene import Scene


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_first_of_those_that_are_flagged_and_then_of_others(share):
    rng = np.random.default_rng(0)
    mine = rng.random(130) < share
    others = ~mine & (rng.random(130) < 0.5)
    at, wanted = np.flatnonzero(mine), np.concatenate([np.flatnonzero(mine), np.flatnonzero(others)])
    ranks = ranks_of(jnp.asarray(mine))
    assert int(ranks.count) == len(at)
    assert np.array_equal(np.asarray(ranks.rank)[at], np.arange(len(at)))
    place, rank, used = flagged_first(jnp.asarray(mine), jnp.asarray(others), 130)
    assert int(used) == len(wanted)
    assert np.array_equal(np.asarray(place)[: len(wanted)], wanted)
    assert np.array_equal(np.asarray(rank)[wanted], np.arange(len(wanted)))


@pytest.fixture(scope="module")
def boxes():
    """Three polygons and a floor; all contacts, those of two bodies in pieces of seven."""
    patch = pytest.MonkeyPatch()
    patch.setattr(kinds, "MANY", 2)
    patch.setattr(near, "PIECE", 7)
    body = carom.Mechanism([carom.Disk(radius=0.05, mass=0.1)], base=carom.Free())
    robot = carom.side_by_side(**{f"b{k}": body for k in range(3)})
    sites = robot.topology.site_names
    square, wedge = (
        [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)],
        [(0.0, 0.0), (0.4, 0.0), (0.0, 0.1), (-0.1, 0.05)],
    )
    shapes = [carom.Polygon(s, c) for s, c in zip(sites, (square, square, wedge), strict=True)]
    contacts = [carom.Contact(a, b, carom.Newton(0.3)) for a, b in itertools.combinations(shapes, 2)]
    contacts += [carom.Contact(s, carom.Plane(height=0.0), carom.Newton(0.3)) for s in shapes]
    world = carom.World(robot, contacts=contacts, gravity=9.81)
    yield world
    patch.undo()


def test_what_is_near_is_seen_as_without_bounds_and_what_is_not_is_no_nearer_than_its_bound(boxes):
    crowd = boxes.automata[0].crowd
    assert crowd.sifted and not np.all(crowd.siftable)

    @functools.partial(jax.jit, compiler_options=compiler_options())  # takes a third of the time of compiling
    @jax.vmap
    def both(q, v):
        scene = Scene(boxes.mechanism, jnp.asarray(0.0), q, v)
        scene.length = boxes.length
        bounds = crowd.bounds(scene)
        here = bounds.within(0.0, boxes.length)
        full, part = _seen(crowd, scene, None), _seen(crowd, scene, here, bounds)
        spread = jax.tree.map(part.of_all, part.looks.numbers)
        return (full.looks.numbers, spread), (full.depth, part.depth), here, bounds.apart

    rng = np.random.default_rng(1)
    places = rng.uniform(-0.4, 0.4, (200, 6))
    q = np.concatenate([places, rng.uniform(-3.0, 3.0, (200, 3))], axis=1)
    (full, part), (depth, deepest), here, apart = both(q, rng.normal(size=(200, 9)))
    assert 0.1 < np.mean(here[:, crowd.siftable]) < 0.9
    for a, b in zip(jax.tree.leaves(full), jax.tree.leaves(part), strict=True):
        assert np.allclose(np.where(here, a, 0.0), np.where(here, b, 0.0), rtol=1e-9, atol=1e-12)
    assert np.all(-depth >= apart - 1e-12)
    assert np.all(np.where(here, depth == deepest, -apart == deepest))
