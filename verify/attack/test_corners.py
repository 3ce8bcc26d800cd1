"""Five hundred corners, stops and floors that are met at one instant, or 1e-13 to 1e-9 s apart.

In a right-angled corner both walls act on their own: the closed form is a product of two one-dimensional bounces. Two
balls that never meet must each do what they do alone.
"""

import jax.numpy as jnp
import numpy as np
import pytest

import carom

from .tally import Tally, count_of, log_uniform, run, signs

G, RADIUS = 9.81, 0.1


def make_corner(p):
    """A ball before two walls, at any angle; the corner is at the origin."""
    ball = carom.Mechanism([carom.Disk(radius=RADIUS, mass=1.0)], base=carom.Free())
    walls = [
        carom.Contact(
            ball.tip,
            carom.Plane(point=(0.0, 0.0), normal=(jnp.cos(p[way]), jnp.sin(p[way]))),
            carom.Newton(p["e"]),
            radius=RADIUS,
            name=way,
        )
        for way in ("first", "second")
    ]
    return carom.World(ball, contacts=[*walls], gravity=0.0)


def make_alone(p):
    ball = carom.Mechanism([carom.Disk(radius=RADIUS, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=p["floor"]), carom.Newton(p["e"]), radius=RADIUS, name="a")
    return carom.World(ball, contacts=floor, gravity=G)


def make_two(p):
    """Two balls that have nothing to do with each other."""
    one, two = (carom.Mechanism([carom.Disk(radius=RADIUS, mass=1.0)], base=carom.Free()) for _ in range(2))
    both = carom.side_by_side(a=one, b=two)
    floor = carom.Plane(height=p["floor"])
    contacts = [
        carom.Contact(both.site(f"{name}.link1.tip"), floor, carom.Newton(p["e"]), radius=RADIUS, name=name)
        for name in ("a", "b")
    ]
    return carom.World(both, contacts=[*contacts], gravity=G)


def make_stopped(p):
    """An arm whose joint reaches its stop when, or a little before or after, its tip reaches the floor."""
    arm = carom.Arm([carom.Rod(length=p["length"], mass=1.0)])
    floor = carom.Contact(arm.tip, carom.Plane(height=p["floor"]), carom.Newton(p["e"]), name="floor")
    stop = carom.Contact(carom.JointLimit(arm, "link1", lower=p["stop"]), normal=carom.Newton(p["e"]), name="stop")
    return carom.World(arm, contacts=[floor, stop], gravity=0.0)


def apart(rng, lanes, low=1e-13, high=1e-9):
    """A third at one instant; the others a little apart, either first."""
    return signs(rng, lanes) * log_uniform(rng, low, high, lanes) * (rng.uniform(size=lanes) > 0.33)


@pytest.mark.slow
def test_right_angled_corners():
    rng, tally, lanes = np.random.default_rng(6), Tally("corners, square"), count_of(150, 50)
    turn, e = rng.uniform(0.0, 2.0 * np.pi, lanes) * (rng.uniform(size=lanes) > 0.2), rng.uniform(0.0, 1.0, lanes)
    speed = rng.uniform(0.3, 3.0, (2, lanes))
    when = 0.5 + np.stack([np.zeros(lanes), apart(rng, lanes)])
    gap = speed * when  # to either wall, along its normal
    start = RADIUS + gap
    cos, sin = np.cos(turn), np.sin(turn)
    base = np.stack([cos * start[0] - sin * start[1], sin * start[0] + cos * start[1]], axis=1)
    velocity = -np.stack([cos * speed[0] - sin * speed[1], sin * speed[0] + cos * speed[1]], axis=1)
    p = {"first": turn, "second": turn + np.pi / 2, "e": e}
    ends = run(make_corner, p, np.zeros((lanes, 1)), 1.0, base=base, base_velocity=velocity, max_steps=20_000)
    along = RADIUS + e * speed * (1.0 - when)  # in the frame of the corner
    after = e * speed
    q = np.stack([cos * along[0] - sin * along[1], sin * along[0] + cos * along[1]], axis=1)
    v = np.stack([cos * after[0] - sin * after[1], sin * after[0] + cos * after[1]], axis=1)
    right = np.all(np.abs(ends.q[:, :2] - q) < 1e-9, axis=1) & np.all(np.abs(ends.v[:, :2] - v) < 1e-9, axis=1)
    tally.add(ends, right, True, lambda i: f"{when[1, i] - 0.5:.3g} s apart, e {e[i]:.3g}, turned by {turn[i]:.3g}")
    tally.close()


@pytest.mark.slow
def test_corners_of_any_angle():
    """No closed form: nothing is passed through, no energy is made, every run ends."""
    rng, tally, lanes = np.random.default_rng(66), Tally("corners, any angle"), count_of(100, 50)
    turn, opening = rng.uniform(0.0, 2.0 * np.pi, lanes), rng.uniform(0.2, 2.9, lanes)
    e, speed = rng.uniform(0.0, 1.0, lanes), rng.uniform(0.3, 3.0, lanes)
    # Along the bisector both walls are met together; a little aside, a little apart.
    normals = np.stack([turn, turn + np.pi - opening])
    middle = turn + 0.5 * (np.pi - opening)
    far = (RADIUS + 0.5) / np.sin(0.5 * opening)
    aside = apart(rng, lanes, 1e-14, 1e-9)
    base = np.stack([far * np.cos(middle) - aside * np.sin(middle), far * np.sin(middle) + aside * np.cos(middle)], 1)
    velocity = -speed[:, None] * np.stack([np.cos(middle), np.sin(middle)], axis=1)
    p = {"first": normals[0], "second": normals[1], "e": e}
    ends = run(make_corner, p, np.zeros((lanes, 1)), 4.0, base=base, base_velocity=velocity, max_steps=20_000)
    gaps = np.cos(normals) * ends.q[:, 0] + np.sin(normals) * ends.q[:, 1] - RADIUS
    outside = np.all(gaps > -1e-9, axis=0)
    slower = np.hypot(*ends.v[:, :2].T) <= speed * (1.0 + 1e-12)
    tally.add(ends, outside & slower, outside, lambda i: f"gaps {gaps[:, i]}, opening {opening[i]:.3g}, e {e[i]:.3g}")
    tally.close()


@pytest.mark.slow
def test_two_balls_that_never_meet():
    """Dropped together, or up to a nanometre apart (5e-13 m among them): as each alone."""
    rng, tally, lanes = np.random.default_rng(67), Tally("corners, two balls"), count_of(150, 50)
    height, e = rng.uniform(0.1, 1.5, lanes), rng.uniform(0.0, 0.9, lanes)
    floor = rng.choice([0.0, 0.0, 1.0, 0.3, -1.2], lanes)
    lower = rng.choice([0.0, 5e-13, *log_uniform(rng, 1e-15, 1e-9, 8)], lanes)
    zero = np.zeros(lanes)
    y = floor + RADIUS + np.stack([height, height + lower])
    p, angle = {"floor": floor, "e": e}, np.zeros((lanes, 1))
    both = np.stack([zero, y[0], zero + 1.0, y[1]], axis=1)
    ends = run(make_two, p, np.zeros((lanes, 2)), 1.3, base=both, max_steps=20_000)
    alone = [run(make_alone, p, angle, 1.3, base=np.stack([zero, y[k]], axis=1), max_steps=20_000) for k in (0, 1)]
    known = alone[0].done & alone[1].done  # a ball that stalls alone tells nothing about two
    near = 1e-12 * (3.0 + alone[0].events) / (1.0 - e)
    off = np.stack([np.abs(ends.q[:, 2 * k + 1] - alone[k].q[:, 1]) for k in (0, 1)])
    above = np.min(ends.q[:, 1:4:2], axis=1) > floor + RADIUS - 1e-9
    right = np.where(known, np.all(off < near, axis=0), above)
    tally.add(ends, right, above, lambda i: f"{lower[i]:.3g} m apart, e {e[i]:.3g}, off by {off[:, i]}")
    tally.close()


@pytest.mark.slow
def test_a_stop_and_the_floor_together():
    rng, tally, lanes = np.random.default_rng(68), Tally("corners, stop and floor"), count_of(100, 50)
    length, e, rate = rng.uniform(0.2, 2.0, lanes), rng.uniform(0.0, 1.0, lanes), rng.uniform(0.3, 3.0, lanes)
    stop = rng.uniform(-1.0, 0.5, lanes)
    floor = length * np.sin(stop)
    early = apart(rng, lanes) * rate  # the stop comes before the floor by so much
    angles = (stop + 0.5 * rate)[:, None]
    p = {"length": length, "floor": floor, "stop": stop + early, "e": e}
    ends = run(make_stopped, p, angles, 1.0, rates=-rate[:, None], max_steps=20_000)
    right = (np.abs(ends.v[:, 0] - e * rate) < 1e-9) & (np.abs(ends.q[:, 0] - stop - 0.5 * e * rate) < 1e-8)
    tally.add(ends, right, ends.q[:, 0] > stop - 1e-8, lambda i: f"{early[i]:.3g} rad early, e {e[i]:.3g}")
    tally.close()
