"""Crests that top a line, or miss it, by 1e-3 to 1e-10 m: fired if and only if they top it."""

import numpy as np
import pytest

import carom

from .tally import Tally, count_of, log_uniform, run, signs

G, RADIUS = 9.81, 0.05


def make_thrown(p):
    """A ball below a ceiling."""
    ball = carom.Mechanism([carom.Disk(radius=RADIUS, mass=1.0)], base=carom.Free())
    ceiling = carom.Plane(point=(0.0, p["line"]), normal=(0.0, -1.0))
    hit = carom.Contact(ball.tip, ceiling, carom.Newton(0.5), radius=RADIUS, name="ceiling")
    return carom.World(ball, contacts=hit, gravity=G)


def make_turning(p):
    """The tip of a rod that turns about its end, below a ceiling."""
    arm = carom.Arm([carom.Rod(length=p["length"], mass=1.0)])
    ceiling = carom.Plane(point=(0.0, p["line"]), normal=(0.0, -1.0))
    hit = carom.Contact(arm.tip, ceiling, carom.Newton(0.5), name="ceiling")
    return carom.World(arm, contacts=hit, gravity=0.0)


def make_touching(p):
    """A thrown ball, and a compliant ceiling."""
    ball = carom.Mechanism([carom.Disk(radius=RADIUS, mass=1.0)], base=carom.Free())
    ceiling = carom.Plane(point=(0.0, p["line"]), normal=(0.0, -1.0))
    hit = carom.Contact(ball.tip, ceiling, carom.Hertz(1e6), radius=RADIUS, name="ceiling")
    return carom.World(ball, contacts=hit, gravity=G)


def margins(rng, lanes):
    """Positive where the crest tops the line."""
    return signs(rng, lanes) * log_uniform(rng, 1.01e-10, 1e-3, lanes)


def counted(tally, make, p, tops, angles, until, **state):
    ends = run(make, p, angles, until, **state, rtol=1e-12, atol=1e-12, max_events=1, max_steps=100_000)
    tally.add(ends, (ends.events > 0) == (tops > 0.0), True, lambda lane: f"tops the line by {tops[lane]:.4g} m")


@pytest.mark.slow
@pytest.mark.parametrize("make", [make_thrown, make_touching])
def test_a_parabola_tops_a_line_or_does_not(make):
    rng, tally = np.random.default_rng(9), Tally(f"grazes, {make.__name__[5:]}")
    lanes = count_of(300, 50)
    speed, start, aside = rng.uniform(0.5, 8.0, lanes), rng.uniform(-1.0, 1.0, lanes), rng.uniform(-3.0, 3.0, lanes)
    crest = (np.longdouble(start) + np.longdouble(speed) ** 2 / (2 * np.longdouble(G))).astype(float)
    tops = margins(rng, lanes)
    p = {"line": crest + RADIUS - tops}
    zero = np.zeros(lanes)
    state = {"base": np.stack([zero, start], 1), "base_velocity": np.stack([aside, speed], 1)}
    counted(tally, make, p, tops, zero[:, None], 1.9, **state)
    tally.close()


@pytest.mark.slow
def test_a_turning_tip_tops_a_line_or_does_not():
    rng, tally = np.random.default_rng(99), Tally("grazes, turning tip")
    lanes = count_of(300, 50)
    tops, length = margins(rng, lanes), rng.uniform(0.1, 3.0, lanes)
    p = {"length": length, "line": length - tops}
    angles, rates = rng.uniform(-1.4, 0.0, (lanes, 1)), rng.uniform(3.2, 20.0, (lanes, 1))
    counted(tally, make_turning, p, tops, angles, 0.95, rates=rates)
    tally.close()
