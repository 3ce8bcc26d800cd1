"""A thousand balls that bounce, slide and roll on slopes, with compliant laws and exact Coulomb friction.

No run may stall, and energy (that of the dent included) never grows. Six of each law are integrated again by SciPy.
"""

import numpy as np
import pytest

import carom

from .reference_roll import roll
from .tally import Tally, count_of, log_uniform, run

G = 9.81
SLOPES = (0.0, 1e-12, 1e-3, 0.05, 0.3)


def _world(p, law):
    ball = carom.Mechanism([carom.Disk(radius=p["radius"], mass=p["mass"])], base=carom.Free())
    floor = carom.Plane(point=(0.0, 0.0), slope=p["slope"])
    contact = carom.Contact(ball.tip, floor, law, carom.Coulomb(p["mu"]), radius=p["radius"], name="floor")
    return carom.World(ball, contacts=contact, gravity=G)


def make_hertz(p):
    return _world(p, carom.Hertz(p["stiffness"]))


def make_hunt_crossley(p):
    return _world(p, carom.HuntCrossley(p["stiffness"], p["c"]))


def draws(rng, lanes):
    """Numbers, and starts (s, n, phi, and rates) along and away from the slope; a third roll without slipping."""
    radius, mass = rng.uniform(0.02, 0.2, lanes), log_uniform(rng, 0.1, 10.0, lanes)
    p = {
        "radius": radius,
        "mass": mass,
        "slope": rng.choice(SLOPES, lanes),
        "mu": rng.choice([0.05, 0.3, 1.0, *rng.uniform(0.01, 1.0, 5)], lanes),
        "stiffness": mass * log_uniform(rng, 1e5, 1e8, lanes),
        "c": rng.uniform(0.3, 1.0, lanes),
    }
    along, spin = rng.uniform(-2.0, 2.0, lanes), rng.uniform(-30.0, 30.0, lanes)
    spin = np.where(rng.uniform(size=lanes) < 0.33, -along / radius, spin)
    gap = log_uniform(rng, 1e-6, 0.1, lanes)
    down = -rng.uniform(0.0, 1.0, lanes) * (rng.uniform(size=lanes) > 0.5)
    return p, np.stack([np.zeros(lanes), gap, np.zeros(lanes), along, down, spin])


def placed(p, start):
    """The same in the world's axes: (base, its velocity)."""
    cos, sin = np.cos(p["slope"]), np.sin(p["slope"])
    away = start[1] + p["radius"]
    base = np.stack([cos * start[0] - sin * away, sin * start[0] + cos * away], axis=1)
    return base, np.stack([cos * start[3] - sin * start[4], sin * start[3] + cos * start[4]], axis=1)


def along_and_away(p, ends):
    """(s, n, phi, and rates) of the ends."""
    cos, sin = np.cos(p["slope"]), np.sin(p["slope"])
    (x, y, phi), (vx, vy, spin) = ends.q.T, ends.v.T
    return np.stack(
        [cos * x + sin * y, cos * y - sin * x - p["radius"], phi, cos * vx + sin * vy, cos * vy - sin * vx, spin]
    )


def energy(p, s):
    """[J] of motion, weight and dent."""
    up = s[0] * np.sin(p["slope"]) + s[1] * np.cos(p["slope"])
    moving = 0.5 * p["mass"] * (s[3] ** 2 + s[4] ** 2 + 0.5 * (p["radius"] * s[5]) ** 2)
    return moving + p["mass"] * G * up + 0.4 * p["stiffness"] * np.maximum(-s[1], 0.0) ** 2.5


@pytest.mark.slow
@pytest.mark.parametrize("make", [make_hertz, make_hunt_crossley])
def test_balls_that_roll_and_bounce(make):
    tally = Tally(f"rolls, {make.__name__[5:]}")
    rng, lanes = np.random.default_rng(2), count_of(500, 50)
    p, start = draws(rng, lanes)
    base, velocity = placed(p, start)
    until = np.repeat(rng.uniform(0.2, 1.5, lanes // 50 + 1), 50)[:lanes]
    where = {"base": base, "base_velocity": velocity, "rates": start[5:].T}
    ends = run(make, p, np.zeros((lanes, 1)), until, **where, rtol=1e-9, atol=1e-12, max_steps=100_000)
    found = along_and_away(p, ends)
    in_play = energy(p, start) + p["mass"] * G * (np.abs(start[3]) * until + 0.1) * (0.1 + np.sin(p["slope"]))
    grown = energy(p, found) - energy(p, start) > 1e-6 * in_play
    above = found[1] > -0.5 * p["radius"]
    right, off = ~grown & above, {}
    loss = 1.5 * (1.0 - p["c"]) if make is make_hunt_crossley else np.zeros(lanes)
    for lane in np.flatnonzero(ends.done)[:6]:
        disk = {k: float(x[lane]) for k, x in p.items()} | {"loss": loss[lane]}
        other = roll(disk, start[:, lane], until[lane])
        scale = np.array([1.0, 0.1, 10.0, 1.0, 1.0, 10.0])
        off[lane] = np.max(np.abs(found[:, lane] - other) / scale)
        right[lane] &= off[lane] < 1e-4

    def note(i):
        word = ", energy grown" if grown[i] else f", off by {off[i]:.3g}" if i in off else ""
        numbers = ", ".join(f"{k} {float(x[i]):.4g}" for k, x in p.items())
        return f"{numbers}, start {start[1:, i].round(4)}: {ends.events[i]} events{word}"

    tally.add(ends, right, above, note)
    tally.close()
