"""Shapes of any proportions and size, their outlines once more, random poses, and how wrong distances are there."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from brute_distances import Hull, Pose, Smooth

import carom
from carom import native
from carom.hybrid.scene import Scene

SIZES = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1e-6, 1e-3, 30.0, 300.0)  # [m] of ten worlds
EACH = 1_000  # poses in each
CLOSE = 1e-10  # of the size
PROVEN = 1e-12  # of the size: what brute force itself may be wrong by
RATES = 100  # poses of the worlds of a metre whose rates are compared
STEP = 1e-5  # [s] of differences
KINDS = {
    "round": ("point", "disk"),
    "line": ("bar", "capsule"),
    "cornered": ("box", "polygon"),
    "ellipse": ("ellipse",),
    "oval": ("oval",),
}
GROUP = {kind: group for group, kinds in KINDS.items() for kind in kinds}
ENDS = np.array([(-0.1, 0.02), (0.15, -0.05)])  # of a bar between two sites, in sizes
SHARP = ("point", "bar", "box")


@functools.cache
def two(size):
    """Two free bodies in a world of that size."""
    sites = {name: tuple(point) for name, point in zip(("left", "right"), size * ENDS, strict=True)}

    def body(name):
        return carom.Mechanism([carom.Link(carom.Body(1.0, 0.1 * size**2), name=name, sites=sites)], base=carom.Free())

    return carom.side_by_side(a=body("a"), b=body("b"))


def egg(phi, a, b, c, d):
    return a + b * jnp.cos(phi) + c * jnp.cos(2.0 * phi) + d * jnp.sin(3.0 * phi)


def egg_again(a, b, c, d):
    def support(p):
        h = a + b * np.cos(p) + c * np.cos(2.0 * p) + d * np.sin(3.0 * p)
        first = -b * np.sin(p) - 2.0 * c * np.sin(2.0 * p) + 3.0 * d * np.cos(3.0 * p)
        return h, first, -b * np.cos(p) - 4.0 * c * np.cos(2.0 * p) - 9.0 * d * np.sin(3.0 * p)

    return Smooth(support)


def ellipse_again(a, b, turn):
    def support(p):
        c, s = np.cos(p - turn), np.sin(p - turn)
        h = np.hypot(a * c, b * s)
        return h, (b * b - a * a) * s * c / h, a * a * b * b / h**3 - h

    return Smooth(support)


def polygon(rng, size, count):
    turn = (np.arange(count) + rng.uniform(-0.3, 0.3, count)) * (2.0 * np.pi / count)
    around = np.stack([np.cos(turn), np.sin(turn)], axis=1) * rng.uniform(0.06, 0.15, 2)
    return size * (around + rng.uniform(-0.05, 0.05, 2))


def drawn(kind, rng, size, corners=4, tame=False):
    """A shape of carom, as a function of its site, and its outline. Tame: nowhere flatter than 0.4 of the size."""
    r = 0.0 if kind in SHARP else size * rng.uniform(0.005, 0.05)
    if GROUP[kind] == "round":
        return (lambda site: carom.Round(site, r)), Hull(np.zeros((1, 2)), r)
    if GROUP[kind] == "line":
        turn, start = rng.uniform(0.0, 7.0), size * rng.uniform(-0.1, 0.1, 2)
        end = start + size * rng.uniform(0.1, 0.3) * np.array([np.cos(turn), np.sin(turn)])
        return (lambda site: carom.Capsule(site, start, end, r)), Hull(np.array([start, end]), r)
    if GROUP[kind] == "cornered":
        points = polygon(rng, size, corners)
        return (lambda site: carom.Polygon(site, [tuple(p) for p in points], r)), Hull(points, r)
    if kind == "ellipse":
        a, b = size * (rng.uniform([0.1, 0.1], [0.2, 0.2]) if tame else rng.uniform([0.05, 0.02], [0.3, 0.3]))
        turn = rng.uniform(-3.0, 3.0)
        return (lambda site: carom.Ellipse(site, a, b, turn)), ellipse_again(a, b, turn)
    numbers = size * np.array([0.1, *rng.uniform(-1.0, 1.0, 3) * [0.05, 0.01, 0.006]])
    return (lambda site: eqx.tree_at(lambda o: o.parameters, oval(site), tuple(numbers))), egg_again(*numbers)


@functools.cache
def oval(site):
    """Made once: to look at it takes time."""
    return carom.Oval(site, egg, (0.1, 0.05, 0.01, 0.006))


PROGRAMS = {}


def toucher(pairs, named):
    """(t, q, v) of many poses -> gaps and their rates (poses, contacts). One program serves all draws of a name."""
    leaves, tree = jax.tree.flatten(pairs)

    def over(leaves, mechanism, t, q, v):
        def one(q, v):
            scene = Scene(mechanism, t, tuple(q), tuple(v))
            found = [pair.touching(scene) for pair in jax.tree.unflatten(tree, leaves)]
            return -jnp.stack([k.indentation for k in found]), -jnp.stack([k.rate for k in found])

        return native.rows(one)(q, v)

    # A spline's table is long, and XLA is the quicker one there.
    run = PROGRAMS.setdefault(named, (jax.jit if "spline" in named else carom.jit)(over))
    return lambda size, t, q, v: tuple(np.asarray(x) for x in run(leaves, two(size), jnp.asarray(t), q, v))


def targets(rng, size, widest, deepest):
    """Gaps from 1e-9 of the size on, every fifth of them an overlap; NaN for poses that stay as they are."""
    away = size * np.exp(rng.uniform(np.log(1e-9), np.log(widest), EACH))
    deep = -deepest * np.exp(rng.uniform(np.log(1e-6), 0.0, EACH))
    return np.where((rng.random(EACH) < 0.2) & (deepest > 0.0), deep, away)


def of_differences(truth, q, v, t):
    """Rate by differences of brute force, over two steps; and where they exist: at kinks they disagree."""
    (here, far, near) = ([truth(q + h * v, t + h) for h in hs] for hs in ((0.0,), (STEP, -STEP), (STEP / 2, -STEP / 2)))
    wide, close = (far[0] - far[1]) / (2.0 * STEP), (near[0] - near[1]) / STEP
    bent = np.abs(far[0] + far[1] - 2.0 * here[0]) / STEP
    # Nearer than the steps are long, a kink may lie on the pose itself: then what bends at all is left out.
    smooth = bent < np.where(np.abs(here[0]) > 1e-4, 0.05, 1e-6)
    return (4.0 * close - wide) / 3.0, (np.abs(wide - close) < 3e-7) & smooth


class Tally:
    """The largest errors of a pair."""

    def __init__(self, name):
        self.name, self.gap, self.rate, self.proof, self.poses, self.rates = name, 0.0, 0.0, 0.0, 0, 0

    def add(self, size, touched, truth, here, counted, q, v, t):
        gap, rate = touched(size, t, q, v)
        which = np.argmin(gap, axis=1)
        assert np.all(np.isfinite(gap)), self.name
        off = np.abs(np.min(gap, axis=1) - here)[counted] / size
        self.gap, self.poses = max(self.gap, np.max(off, initial=0.0)), self.poses + int(np.sum(counted))
        if size == 1.0:
            few = np.flatnonzero(counted)[:RATES]
            measured, smooth = of_differences(truth, q[few], v[few], t)
            off = np.abs(np.take_along_axis(rate, which[:, None], 1)[few, 0] - measured)[smooth]
            self.rate, self.rates = max(self.rate, np.max(off, initial=0.0)), self.rates + int(np.sum(smooth))
        return gap

    def close(self):
        found = f"{self.poses:6d} poses {self.gap:.1e}  {self.rates:4d} rates {self.rate:.1e}  proof {self.proof:.1e}"
        print(f"{self.name:22s} {found}")
        assert self.gap < CLOSE and self.rate < 1e-6 and self.proof < PROVEN, self.name
        assert self.poses > 0.75 * len(SIZES) * EACH and self.rates > 120, self.name


def poses(rng, size, reach):
    """Of two bodies near each other, somewhere: (x, y) of both, angles of both; and their velocities."""
    at = size * (rng.choice([0.0, 1.0, 100.0]) * rng.normal(size=2) + rng.uniform(-0.3, 0.3, (EACH, 2)))
    turn = rng.uniform(0.0, 2.0 * np.pi, EACH)
    off = size * rng.uniform(0.0, reach, (EACH, 1)) * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    q = np.concatenate([at, at + off, rng.uniform(-7.0, 7.0, (EACH, 2))], axis=1)
    return q, rng.normal(size=q.shape) * [size, size, size, size, 1.0, 1.0]


def both(q):
    return Pose(q[:, :2], q[:, 4]), Pose(q[:, 2:4], q[:, 5])
