"""Free bodies of every pair of shapes, shot at each other in every pose: their first blow, and all that follow.

The first blow is found once more by brute force over distances that share nothing with carom (brute_distances.py): when
the outlines meet, along which normal, and what Newton's law makes of the velocities. Of whole motions, with friction:
momentum, spin about the origin, energy, outlines that do not overlap at the end, and the same end a kilometre away.
"""

import itertools

import numpy as np
import pytest
from brute_distances import apart
from posed_shapes import KINDS, both, drawn, two

import carom

from .tally import Tally, count_of, run

ALL = [kind for kinds in KINDS.values() for kind in kinds]
NOTHING_INSIDE = {"point", "bar"}  # pairs of what has no inside are refused, and a bar beside a box
PAIRS = [
    pair
    for pair in itertools.combinations_with_replacement(ALL, 2)
    if not (set(pair) <= NOTHING_INSIDE or set(pair) == {"bar", "box"})
]
LANES, LOOKS, LONGEST = 40, 800, 1.0  # [s]
DIP = 0.05  # [m]: no body comes nearer by more between two looks, and away again
FAR = np.array([1000.0, -500.0, 1000.0, -500.0])  # [m]
CORNERED = {"bar", "capsule", "box", "polygon"}  # two of them have several contacts: Stronge's law is not for them
MASS, INERTIA = 1.0, 0.1  # of both bodies, in worlds of a metre


def world_of(own, other, friction, restitution=carom.Stronge):
    def make(p):
        sites = [two(1.0).site(f"{x}.{x}.tip") for x in "ab"]
        law = carom.Coulomb(friction, friction) if friction else None
        contact = carom.Contact(own(sites[0]), other(sites[1]), restitution(p["e"]), law, name="blow")
        return carom.World(two(1.0), contacts=contact, gravity=0.0)

    return make


def shots(rng, a, b, lanes):
    """Bodies apart that fly at each other, most of them turning: q = (xa, ya, xb, yb, turn of a, of b), and v."""
    way, far = rng.uniform(0.0, 2.0 * np.pi, lanes), rng.uniform(0.05, 0.5, lanes)
    unit = np.stack([np.cos(way), np.sin(way)], axis=1)
    q = np.concatenate([rng.uniform(-1.0, 1.0, (lanes, 2)), np.zeros((lanes, 2)), rng.uniform(-7, 7, (lanes, 2))], 1)
    q[:, 2:4] = q[:, :2] + unit
    gap, n, _ = apart(a, b, *both(q))
    q[:, 2:4] += (far - gap)[:, None] * n
    aim = unit + 0.3 * rng.normal(size=(lanes, 2))
    drift, speed = rng.normal(size=(lanes, 2)), rng.uniform(0.5, 3.0, (lanes, 1))
    spin = rng.normal(size=(lanes, 2)) * rng.choice([0.0, 1.0, 10.0], (lanes, 1))
    return q, np.concatenate([drift + speed * aim, drift - speed * aim, spin], axis=1)


def first_meeting(a, b, q, v):
    """Instant of the first touch [s] or infinity, and the nearest that those came that never meet [m]."""

    def gap(t):
        return apart(a, b, *both(q + t[:, None] * v))[0]

    rows, grid = np.arange(len(q)), np.linspace(0.0, LONGEST, LOOKS + 1)
    seen = np.stack([gap(np.full(len(q), t)) for t in grid], axis=1)
    met = np.any(seen <= 0.0, axis=1)
    k = np.where(met, np.argmax(seen <= 0.0, axis=1), LOOKS)
    low, high = grid[k - 1], np.where(met, grid[k], np.inf)
    # Between two looks a dip may hide: every low place before is looked at closer, the last one first.
    dips = (seen[:, 1:-1] < DIP) & (seen[:, 1:-1] <= seen[:, :-2]) & (seen[:, 1:-1] <= seen[:, 2:])
    dips &= np.arange(1, LOOKS) < k[:, None]
    nearest = np.min(seen, axis=1)
    while np.any(dips):
        j = np.where(np.any(dips, axis=1), LOOKS - 1 - np.argmax(dips[:, ::-1], axis=1), 1)
        lowest, least = lowest_between(gap, grid[j - 1], grid[j + 1])
        nearest = np.where(np.any(dips, axis=1), np.minimum(nearest, least), nearest)
        inside = np.any(dips, axis=1) & (least <= 0.0)
        low, high = np.where(inside, grid[j - 1], low), np.where(inside, lowest, high)
        dips[rows, j - 1] = False
    met = np.isfinite(high)
    high = np.where(met, high, LONGEST)
    for _ in range(50):
        middle = 0.5 * (low + high)
        open_ = gap(middle) > 0.0
        low, high = np.where(open_, middle, low), np.where(open_, high, middle)
    return np.where(met, high, np.inf), nearest


def lowest_between(gap, low, high):
    """By thirds: instant and value of the least gap between two instants."""
    for _ in range(60):
        one, two_ = low + (high - low) / 3.0, high - (high - low) / 3.0
        first = gap(one) < gap(two_)
        low, high = np.where(first, low, one), np.where(first, two_, high)
    middle = 0.5 * (low + high)
    return middle, gap(middle)


def struck(a, b, q, v, e):
    """Velocities after Newton's law without friction, the gradient of the distance by differences; and is it smooth?"""
    h = 1e-6
    rows = [(apart(a, b, *both(q + h * d))[0] - apart(a, b, *both(q - h * d))[0]) / (2.0 * h) for d in np.eye(6)]
    wide = [(apart(a, b, *both(q + 2 * h * d))[0] - apart(a, b, *both(q - 2 * h * d))[0]) / (4 * h) for d in np.eye(6)]
    n = np.stack(rows, axis=1)
    smooth = np.max(np.abs(n - np.stack(wide, axis=1)), axis=1) < 1e-6
    inverse = 1.0 / np.array([MASS] * 4 + [INERTIA] * 2)
    normal = np.sum(n * v, axis=1)
    impulse = -(1.0 + e) * normal / np.sum(n * n * inverse, axis=1)
    return v + impulse[:, None] * n * inverse, normal, smooth


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_first_blow(first, second):
    rng, tally = np.random.default_rng([PAIRS.index((first, second)), 1]), Tally(f"first blow, {first} - {second}")
    (own, a), (other, b) = drawn(first, rng, 1.0), drawn(second, rng, 1.0)
    lanes = count_of(LANES)
    q, v = shots(rng, a, b, lanes)
    e = rng.uniform(0.0, 1.0, lanes)
    start = {"base": q[:, :4], "base_velocity": v[:, :4], "rates": v[:, 4:]}
    ends = run(world_of(own, other, 0.0), {"e": e}, q[:, 4:], LONGEST, **start, max_events=1)
    when, nearest = first_meeting(a, b, q, v)
    meets = np.isfinite(when)
    at = np.where(meets, when, LONGEST)
    there = q + at[:, None] * v
    after, normal, smooth = struck(a, b, there, v, e)
    after = np.where(meets[:, None], after, v)
    late, place = np.abs(ends.t - at), np.max(np.abs(ends.q - there), axis=1)
    speed = np.max(np.abs(ends.v - after), axis=1)
    judged = np.where(meets, smooth & (normal < -1e-2), nearest > 1e-9)
    right = (late < 1e-7) & (place < 1e-6) & (speed < 1e-4) & (ends.events == meets)

    def note(i):
        told = f"{ends.events[i]} events at {ends.t[i]:.9f}, brute force {when[i]:.9f} s, closing {normal[i]:.3g} m/s"
        return f"{told}, velocities off by {speed[i]:.3g}, seed lane {i}"

    tally.add(ends, right, np.isfinite(ends.t), note, judged)
    tally.close()
    assert tally.counts["right"] > 0.4 * lanes


def sums(q, v):
    """Momentum (x, y), spin about the origin, energy."""
    moving = MASS * (v[:, :2] + v[:, 2:4])
    turning = MASS * sum(q[:, k] * v[:, k + 1] - q[:, k + 1] * v[:, k] for k in (0, 2)) + INERTIA * v[:, 4:].sum(1)
    energy = 0.5 * MASS * np.sum(v[:, :4] ** 2, axis=1) + 0.5 * INERTIA * np.sum(v[:, 4:] ** 2, axis=1)
    return moving, turning, energy


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_all_blows(first, second):
    rng, tally = np.random.default_rng([PAIRS.index((first, second)), 2]), Tally(f"all blows, {first} - {second}")
    (own, a), (other, b) = drawn(first, rng, 1.0), drawn(second, rng, 1.0)
    lanes = count_of(LANES)
    q, v = shots(rng, a, b, lanes)
    e = np.where(rng.random(lanes) < 0.3, 1.0, rng.uniform(0.0, 1.0, lanes))
    start = {"base": q[:, :4], "base_velocity": v[:, :4], "rates": v[:, 4:]}
    # (Newton's with friction may give energy to single blows, as is known of it: neither of these two may.)
    world = world_of(own, other, 0.3, carom.Poisson if {first, second} <= CORNERED else carom.Stronge)
    ends = run(world, {"e": e}, q[:, 4:], LONGEST, **start)
    start["base"] = start["base"] + FAR
    far = run(world, {"e": e}, q[:, 4:], LONGEST, **start)
    off = np.max(np.abs(far.q - ends.q - [*FAR, 0.0, 0.0]), axis=1)
    few = (ends.events <= 3) & (far.events <= 3)  # more of them, and rounding grows too much to compare
    (p0, l0, e0), (p1, l1, e1) = sums(q, v), sums(ends.q, ends.v)
    gap = apart(a, b, *both(ends.q))[0]
    size = np.sqrt(e0)
    lost = np.max(np.abs(p1 - p0), axis=1) / size
    spun = np.abs(l1 - l0) / (size * (1.0 + np.max(np.abs(q), axis=1)))
    gained = (e1 - e0) / e0
    deep = np.minimum(gap, 0.0) + 1e-7
    right = (lost < 1e-9) & (spun < 1e-7) & (gained < 1e-9) & (deep > 0.0) & (ends.penetration < 1e-7)
    right &= far.done & np.where(few, off < 1e-6, True)

    def note(i):
        told = f"{ends.events[i]} events, momentum {lost[i]:.2g}, spin {spun[i]:.2g}, energy {gained[i]:+.2g}"
        away = f"{far.words(i)} and {off[i]:.2g} m off a kilometre away"
        return f"{told}, gap {gap[i]:.3g} m, said {ends.penetration[i]:.2g} m, {away}"

    tally.add(ends, right, gap > -1e-6, note)
    tally.close()
