"""Surfaces of every kind, anywhere, turned and moving; and what they are in a frame of their own."""

import jax.numpy as jnp
import numpy as np
from brute_distances import Curve, Hull, Pose, apart, from_curve, from_line
from posed_shapes import EACH, polygon
from scipy.interpolate import CubicSpline

import carom

STILL = ("plane", "wall", "circle", "bowl", "block", "step", "spline", "graph", "implicit")
GROUNDS = (*STILL, "belt", "lift", "drum", "turntable")  # a plane, a block, a bowl and a graph that move
CURVED = ("spline", "graph", "implicit", "turntable")


def waves(x, amplitude, rate, x0, y0):
    return y0 + amplitude * jnp.sin(rate * (x - x0))


def hill(x, y, size, c, s, x0, y0, sign):
    """An ellipse with semi-axes 2 and 1.2 of the size; the free side is outside of it, or inside."""
    u, v = (c * (x - x0) + s * (y - y0)) / size, (c * (y - y0) - s * (x - x0)) / size
    return sign * ((u / 2.0) ** 2 + (v / 1.2) ** 2 - 1.0)


class Ground:
    """A surface of carom, and what it is in a frame of its own: where that frame is at an instant, and distances."""

    def __init__(self, surface, place, turn, distance, around, widest=1.0, motion=None, solid=None):
        self.surface, self.place, self.turn, self.distance = surface, np.asarray(place), turn, distance
        self.solid, self.flat = solid, distance is from_line
        self.around, self.widest, self.motion = around, widest, motion or {}
        if motion:
            self.surface = carom.Moving(surface, **motion)

    def frame(self, t):
        if not self.motion:
            return Pose(self.place, np.asarray(self.turn))
        m, about = self.motion, np.asarray(self.motion["about"])
        swing = np.sin(2.0 * np.pi * m["frequency"] * t + m["phase"])
        c, s = np.cos(m["turning"] * t), np.sin(m["turning"] * t)
        moved = about + np.array([[c, -s], [s, c]]) @ (self.place - about)
        moved = moved + np.asarray(m["velocity"]) * t + np.asarray(m["amplitude"]) * swing
        return Pose(moved, np.asarray(self.turn + m["turning"] * t))

    def apart(self, shape, q, t):
        return self.distance(shape, Pose(q[:, :2], q[:, 4]).seen_from(self.frame(t)))


def moving(rng, size):
    two_of = [tuple(size * rng.uniform(-0.3, 0.3, 2)) for _ in range(3)]
    numbers = dict(zip(("velocity", "about", "amplitude"), two_of, strict=True))
    return numbers | {"turning": rng.uniform(-2.0, 2.0), "frequency": rng.uniform(0.1, 1.0), "phase": 0.4}


def in_box(low, high):
    return lambda rng, size: size * rng.uniform(low, high, (EACH, 2))


def on_curve(curve):
    return lambda shape, pose: from_curve(shape, curve, pose)


def on_hull(hull):
    def distance(shape, pose):
        gap, n, left = apart(shape, hull, pose, Pose(np.zeros_like(pose.at), np.zeros_like(pose.angle)))
        return gap, -n, left

    return distance


def turned(points, place, turn):
    return np.asarray(place) + np.asarray(points) @ np.array(
        [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
    )


def through(points, size):
    """A natural cubic spline in chord length, and straight beyond its ends, from SciPy."""
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    inner = CubicSpline(way, points, bc_type="natural")
    spare = np.array([-2.0 * size, way[-1] + 2.0 * size])

    def both_of(s, order):
        inside = np.clip(s, 0.0, way[-1])
        value = inner(inside, order) + (np.asarray(s) - inside)[..., None] * inner(inside, 1) * (order == 0)
        return value[..., 0], value[..., 1]

    return Curve(lambda s: both_of(s, 0), lambda s: both_of(s, 1), *spare)


def ground(kind, rng, size):
    place, turn = size * rng.choice([0.0, 1.0, 30.0]) * rng.normal(size=2), rng.uniform(-3.0, 3.0)
    motion = moving(rng, size) if kind in ("belt", "lift", "drum", "turntable") else None
    if kind in ("plane", "belt"):
        surface = carom.Plane(point=tuple(place), slope=turn)
        return Ground(surface, place, turn, from_line, in_box([-1, -0.3], [1, 1]), motion=motion)
    if kind == "wall":
        facing = str(rng.choice(["left", "right"]))
        turn = np.pi / 2.0 if facing == "left" else -np.pi / 2.0
        return Ground(carom.Wall(place[0], facing), (place[0], 0.0), turn, from_line, in_box([-1, -0.3], [1, 1]))
    if kind == "circle":
        hull, surface = Hull(np.zeros((1, 2)), 0.6 * size), carom.Circle(tuple(place), 0.6 * size)
        return Ground(surface, place, turn, on_hull(hull), in_box(-1, 1))
    if kind in ("bowl", "drum"):
        r = 5.0 * size
        curve = Curve(lambda s: (r * np.cos(s), r * np.sin(s)), lambda s: (-np.sin(s), np.cos(s)), 0.0, 2.0 * np.pi)
        return Ground(
            carom.Circle(tuple(place), r, inside=True), place, turn, on_curve(curve), in_box(-2, 2), 1.0, motion
        )
    if kind in ("block", "step", "lift"):
        hull = Hull(2.0 * polygon(rng, size, 4), 0.0 if kind == "step" else 0.02 * size)
        surface = carom.Block([tuple(p) for p in turned(hull.corners, place, turn)], hull.radius)
        return Ground(surface, place, turn, on_hull(hull), in_box(-0.7, 0.7), motion=motion, solid=hull)
    if kind == "spline":
        x = size * (np.linspace(-1.5, 1.5, 13) + rng.uniform(-0.03, 0.03, 13))
        points = np.stack([x, 0.05 * size * np.sin(2.5 * x / size + turn)], axis=1)
        surface = carom.Spline(turned(points, place, turn))
        return Ground(surface, place, turn, on_curve(through(points, size)), in_box([-1, 0.3], [1, 0.7]), 0.3)
    if kind in ("graph", "turntable"):
        a, k = 0.03 * size, 4.0 / size
        surface = carom.Graph(waves, parameters=(a, k, *place), bend=2.0 * size, probe=place[0])
        curve = Curve(
            lambda x: (x, a * np.sin(k * x)),
            lambda x: (np.ones_like(x), a * k * np.cos(k * x)),
            -2.0 * size,
            2.0 * size,
        )
        return Ground(surface, place, 0.0, on_curve(curve), in_box([-1, 0.3], [1, 0.7]), 0.3, motion)
    sign, probe = rng.choice([-1.0, 1.0]), turned([(0.0, 1.2 * size)], place, turn)[0]
    surface = carom.Implicit(
        hill, parameters=(size, np.cos(turn), np.sin(turn), *place, sign), probe=tuple(probe), bend=0.72 * size
    )
    wide, low = -2.0 * sign * size, 0.1 * (1.0 + sign) / 2.0
    curve = Curve(
        lambda s: (wide * np.cos(s), 1.2 * size * np.sin(s)),
        lambda s: (-wide * np.sin(s), 1.2 * size * np.cos(s)),
        low * np.pi,
        (2.0 if sign < 0.0 else 0.9) * np.pi,
    )
    around = in_box([-0.8, 1.4], [0.8, 1.6]) if sign > 0.0 else in_box([-0.8, -0.3], [0.8, 0.3])
    return Ground(surface, place, turn, on_curve(curve), around, 0.2)
