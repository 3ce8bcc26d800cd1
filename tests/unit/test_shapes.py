"""Distances between shapes, and of shapes from surfaces, against brute force; their rates; what is refused."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.pairs._expansion import pairs_between
from carom.hybrid.scene import Scene

from .row_by_row import each_row

POSES = 10_000
FEW = 2_000  # on surfaces, whose own distances are searched for
ROUNDS = 10  # leave 1e-6 of the place of a smooth maximum, and so 1e-12 of its value; corners lie on the grid
BOX = ((-0.1, -0.05), (0.12, -0.05), (0.1, 0.06), (-0.1, 0.05))


@functools.cache
def two():
    def body(name):
        return carom.Mechanism([carom.Link(carom.Body(1.0, 0.1), name=name)], base=carom.Free())

    return carom.side_by_side(a=body("a"), b=body("b"))


def shape(kind, whose):
    site = two().site(f"{whose}.{whose}.tip")
    return {
        "disk": lambda: carom.Round(site, 0.05),
        "capsule": lambda: carom.Capsule(site, (-0.1, 0.0), (0.12, 0.03), 0.03),
        "polygon": lambda: carom.Polygon(site, BOX, 0.01),
        "box": lambda: carom.Polygon(site, BOX),
        "ellipse": lambda: carom.Ellipse(site, 0.2, 0.1),
        "needle": lambda: carom.Ellipse(site, 0.3, 0.02, 0.4),
        "oval": lambda: carom.Oval(site, egg),
    }[kind]()


def egg(phi):
    return 0.1 + 0.01 * jnp.cos(phi) + 0.004 * jnp.cos(3.0 * phi)


def supports(kind):
    """How far a shape reaches in a direction, by its cosine and sine, written down once more."""
    hull = {"disk": (((0.0, 0.0),), 0.05), "capsule": (((-0.1, 0.0), (0.12, 0.03)), 0.03)}
    hull |= {"polygon": (BOX, 0.01), "box": (BOX, 0.0)}
    axes = {"ellipse": (0.2, 0.1, 0.0), "needle": (0.3, 0.02, 0.4)}
    if kind in hull:
        corners, r = hull[kind]
        return lambda c, s: np.max([c * x + s * y for x, y in corners], axis=0) + r
    if kind in axes:
        a, b, turn = axes[kind]
        along, across = np.cos(turn), np.sin(turn)
        return lambda c, s: np.sqrt((a * (c * along + s * across)) ** 2 + (b * (s * along - c * across)) ** 2)
    return lambda c, s: 0.1 + 0.01 * c + 0.004 * (4.0 * c**2 - 3.0) * c


def zoomed(value, grid, rounds=28):
    """The largest value over a grid, looked at closer and closer: (poses,)."""
    best = grid[0][np.argmax(value(grid), axis=1)][:, None]
    wide = float(grid[0, 1] - grid[0, 0])
    for _ in range(rounds):
        near = best + wide * np.linspace(-1.0, 1.0, 9)
        best = np.take_along_axis(near, np.argmax(value(near), axis=1)[:, None], axis=1)
        wide /= 3.0
    return value(best)[:, 0]


def for_millions(function):
    """The same, compiled well: it is called for millions of rows."""
    made = each_row(function)

    def over(*columns):
        with pytest.MonkeyPatch.context() as patched:
            patched.delenv("CAROM_COMPILER", raising=False)
            return made(*columns)

    return over


def toucher(pairs):
    """Of many poses: depth and rate of the deepest pair, and which it is."""

    def one(q, v):
        scene = Scene(two(), jnp.asarray(0.3), tuple(q), tuple(v))
        found = [pair.touching(scene) for _, pair in pairs]
        return jnp.stack([k.indentation for k in found]), jnp.stack([k.rate for k in found])

    run = each_row(one)

    def touched(q, v):
        depth, rate = run(q, v)
        which = np.argmax(depth, axis=1)[:, None]
        return np.take_along_axis(depth, which, 1)[:, 0], np.take_along_axis(rate, which, 1)[:, 0], which

    return touched


def poses(seed, reach, count=POSES):
    rng = np.random.default_rng(seed)
    q = np.concatenate([rng.uniform(-reach, reach, (count, 4)), rng.uniform(-7.0, 7.0, (count, 2))], axis=1)
    return q, rng.normal(size=q.shape)


def rate_by_differences(touched, q, v, which, depth):
    """Differences over 1e-6 s, where the same pair is the deepest on both sides; one program serves all."""
    later, _, after = touched(q + 1e-6 * v, v)
    sooner, _, before = touched(q - 1e-6 * v, v)
    same = ((after == which) & (before == which))[:, 0]
    # At a corner between two edges the rate jumps: there differences do not exist.
    smooth = same & (np.abs(later + sooner - 2.0 * depth) < 1e-9)
    return (later - sooner) / 2e-6, smooth


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ellipse", "needle"),
        ("oval", "ellipse"),
        ("ellipse", "polygon"),
        ("capsule", "ellipse"),
        ("disk", "polygon"),
        ("capsule", "polygon"),
    ],
)
def test_distances_of_shapes_are_those_of_brute_force(first, second):
    pairs = pairs_between("x", shape(first, "a"), shape(second, "b"), rigid=True)
    q, v = poses(1, 0.4)
    touched = toucher(pairs)
    depth, rate, which = touched(q, v)
    own, other, way = supports(first), supports(second), q[:, 2:4] - q[:, :2]

    turned = [(np.cos(q[:, j : j + 1]), np.sin(q[:, j : j + 1])) for j in (4, 5)]

    def apart(p):
        c, s = np.cos(p), np.sin(p)  # a single row of a grid, which all poses share
        (c1, s1), (c2, s2) = ((c * a + s * b, s * a - c * b) for a, b in turned)
        return c * way[:, :1] + s * way[:, 1:] - own(c1, s1) - other(-c2, -s2)

    truth = zoomed(apart, np.linspace(0.0, 2.0 * np.pi, 1440)[None])
    # Corners against a hull are exact as long as no edge passes between two corners: shallow overlaps.
    counted = truth > (-0.01 if len(pairs) > 1 else -0.02)
    assert np.mean(counted) > 0.7 and np.mean(truth < 0.05) > 0.05
    assert np.max(np.abs(depth + truth)[counted]) < 1e-10
    measured, smooth = rate_by_differences(touched, q, v, which, depth)
    # Where a corner meets a corner two pairs have one depth, and either may be the deepest.
    assert (
        np.mean(smooth) > (0.5 if len(pairs) > 1 else 0.95) and np.max(np.abs(rate - measured)[smooth & counted]) < 1e-6
    )


def bump(x):
    return 0.03 * jnp.sin(4.0 * x)


SURFACES = {
    "plane": lambda: carom.Plane(point=(0.0, 0.1), slope=0.3),
    "disk": lambda: carom.Circle((0.0, -0.5), 0.6),
    "block": lambda: carom.Block([(-0.3, -0.5), (0.4, -0.4), (0.35, 0.05), (-0.3, 0.1)], 0.02),
    "step": lambda: carom.Block([(-0.3, -0.5), (0.4, -0.4), (0.35, 0.05), (-0.3, 0.1)]),
    "lift": lambda: carom.Moving(carom.Block([(-0.3, -0.5), (0.4, -0.4), (0.3, 0.1)]), velocity=(0.2, 0.1), turning=1),
    "bowl": lambda: carom.Circle((0.0, 0.9), 1.2, inside=True),
    "belt": lambda: carom.Moving(carom.Circle((0.0, -0.5), 0.6), velocity=(0.2, 0.1), turning=1.0),
    "spline": lambda: carom.Spline([(x, 0.02 * np.sin(3.0 * x)) for x in np.linspace(-2.0, 2.0, 33)]),
    "graph": lambda: carom.Graph(bump, bend=1.0),
    "curve": lambda: carom.Implicit(lambda x, y: y - bump(x), bend=1.0),
}


def around_box(s):
    """Points on the edges of the box, as s goes from 0 to 4."""
    corners = np.asarray([*BOX, BOX[0]])
    return (np.interp(np.mod(s, 4.0), range(5), corners[:, j]) for j in (0, 1))


# A polygon on a spline is long code, a minute of compiling; `make verify` runs it.
@pytest.mark.parametrize(
    "surface", [pytest.param(x, marks=pytest.mark.slow if x == "spline" else ()) for x in SURFACES]
)
def test_distances_from_surfaces_are_those_of_brute_force(surface):
    ground = SURFACES[surface]()
    q, v = poses(2, 0.3, FEW)
    q[:, 1] += 0.1
    cos, sin = np.cos(q[:, 4:5]), np.sin(q[:, 4:5])
    gap = for_millions(lambda x, y: ground.gap(x, y, jnp.asarray(0.3)))

    def height(x, y):
        places = q[:, :1] + cos * x - sin * y, q[:, 1:2] + sin * x + cos * y
        return -gap(*(np.ravel(place) for place in places)).reshape(places[0].shape)

    for kind in ("polygon", "ellipse"):
        pairs = pairs_between("x", shape(kind, "a"), ground, rigid=True)
        touched = toucher(pairs)
        depth, rate, which = touched(q, v)
        if kind == "ellipse":
            grid = np.broadcast_to(np.linspace(0.0, 2.0 * np.pi, 120), (FEW, 120))
            truth = zoomed(lambda u: height(0.2 * np.cos(u), 0.1 * np.sin(u)), grid, ROUNDS)
        else:
            grid = np.broadcast_to(np.linspace(0.0, 4.0, 161), (FEW, 161))
            truth = 0.01 + zoomed(lambda s: height(*around_box(s)), grid, ROUNDS)
        counted = np.abs(truth) < 0.15  # near enough for the foot on a curve to be the nearest
        if ground.hull is not None:  # where they overlap, the least way that parts them is not that of a single point
            counted = (truth < 0.0) & (truth > -0.6)
        assert np.sum(counted) > 500 and np.max(np.abs(depth - truth)[counted]) < 1e-10, (surface, kind)
        if surface in ("belt", "lift"):
            continue  # which moves itself: differences at one instant do not show that
        measured, smooth = rate_by_differences(touched, q, v, which, depth)
        assert np.mean(smooth) > 0.9 and np.max(np.abs(rate - measured)[smooth & counted]) < 1e-5
