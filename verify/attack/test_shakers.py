"""Five hundred tables shaken between 0.1 Hz and 100 kHz, a ball above: the first impact against brute force.

The gap of a ball in free fall above a table that moves harmonically is a closed form; it is sampled densely, and the
first sign change refined by bisection. Lanes in which a crest misses or tops the ball by less than a millionth of the
amplitude are left out.
"""

import numpy as np
import pytest

import carom

from .tally import Tally, count_of, log_uniform, run, ulp

G, RADIUS, PER_PERIOD = 9.81, 0.01, 400


def table(p):
    """A floor that is shaken up and down."""
    return carom.Moving(
        carom.Plane(height=0.0), amplitude=(0.0, p["amplitude"]), frequency=p["frequency"], phase=p["phase"]
    )


def make(p):
    ball = carom.Mechanism([carom.Disk(radius=RADIUS, mass=0.1)], base=carom.Free())
    contact = carom.Contact(ball.tip, table(p), carom.Newton(p["e"]), radius=RADIUS, name="table")
    return carom.World(ball, contacts=contact, gravity=G)


def make_hertz(p):
    ball = carom.Mechanism([carom.Disk(radius=RADIUS, mass=0.1)], base=carom.Free())
    contact = carom.Contact(ball.tip, table(p), carom.Hertz(1e7 + 0.0 * p["e"]), radius=RADIUS, name="table")
    return carom.World(ball, contacts=contact, gravity=G)


def gap(p, lane, t):
    swing = p["amplitude"][lane] * np.sin(2.0 * np.pi * p["frequency"][lane] * t + p["phase"][lane])
    return p["height"][lane] + p["speed"][lane] * t - 0.5 * G * t**2 - swing


def latest(p):
    """When the ball has fallen below the lowest point of the table."""
    deep = p["height"] + 1.01 * p["amplitude"]
    return (p["speed"] + np.sqrt(p["speed"] ** 2 + 2.0 * G * deep)) / G


def first_impact(p, lane):
    """(instant, is it clear): the first zero of the gap, by sampling and bisection."""
    end = latest(p)[lane]
    samples = int(PER_PERIOD * (p["frequency"][lane] * end + 2.0))
    t = np.linspace(0.0, end, samples)
    g = gap(p, lane, t)
    below = np.flatnonzero(g <= 0.0)
    k = int(below[0])
    # Crests before it, by the parabola through three samples, must stay away from the ball.
    a, b, c = g[: k - 2], g[1 : k - 1], g[2:k]
    low = (b < a) & (b < c)
    bend = a - 2.0 * b + c
    lowest = b[low] - (a[low] - c[low]) ** 2 / (8.0 * bend[low])
    margin = 1e-6 * p["amplitude"][lane] + 1e-9
    early, late = t[k - 1], t[k]
    for _ in range(100):
        middle = 0.5 * (early + late)
        early, late = (middle, late) if gap(p, lane, middle) > 0.0 else (early, middle)
    tops = np.min(g[k : k + PER_PERIOD // 4])  # by how much this crest tops the ball
    return late, bool(np.all(lowest > margin) and tops < -margin and k > 3)


def draws(rng, lanes):
    """Peak accelerations from 0.1 g to 1e5 g with amplitudes from a micrometre to a few centimetres."""
    frequency = log_uniform(rng, 0.1, 1e5, lanes)
    top = log_uniform(rng, 0.1, 1e5, lanes) * G
    amplitude = np.clip(top / (2.0 * np.pi * frequency) ** 2, 1e-6, 0.03)
    # A gap of a few amplitudes: enough periods pass before the ball is down, but not millions.
    return {
        "frequency": frequency,
        "amplitude": amplitude,
        "phase": rng.uniform(0.0, 2.0 * np.pi, lanes),
        "height": amplitude * (1.0 + log_uniform(rng, 0.05, 20.0, lanes)),
        "speed": rng.uniform(-1.0, 1.0, lanes) * np.sqrt(G * amplitude),
        "e": rng.uniform(0.0, 1.0, lanes),
    }


def shaken(tally, make, p):
    lanes = len(p["e"])
    order = np.argsort(latest(p))
    p = {k: x[order] for k, x in p.items()}
    size = min(25, lanes)
    # Neighbours share the latest of their horizons.
    until = np.array([latest(p)[min(lanes - 1, size * (i // size) + size - 1)] for i in range(lanes)]) * 1.5
    base = np.stack([np.zeros(lanes), RADIUS + p["height"]], axis=1)
    velocity = np.stack([np.zeros(lanes), p["speed"]], axis=1)
    ends = run(
        make,
        p,
        np.zeros((lanes, 1)),
        until,
        base=base,
        base_velocity=velocity,
        max_events=1,
        max_steps=100_000,
        size=size,
    )
    answers = [first_impact(p, lane) for lane in range(lanes)]
    instant, clear = (np.array(x) for x in zip(*answers, strict=True))
    fast = 2.0 * np.pi * p["frequency"] * p["amplitude"]
    near = 1e-9 * instant + 1e-12 + 1e3 * ulp(RADIUS + p["height"]) / np.maximum(fast, 1e-3)
    right = (ends.events == 1) & (np.abs(ends.t - instant) < near)

    def note(lane):
        numbers = f"{p['frequency'][lane]:.5g} Hz, {p['amplitude'][lane]:.4g} m, {p['height'][lane]:.4g} m above"
        periods = (ends.t[lane] - instant[lane]) * p["frequency"][lane]
        return f"{numbers}: late by {ends.t[lane] - instant[lane]:.3g} s ({periods:.3g} periods) of {instant[lane]:.3g}"

    tally.add(ends, right, True, note, clear)


@pytest.mark.slow
@pytest.mark.parametrize("law", [make, make_hertz])
def test_first_impacts_at_any_frequency(law):
    rng, tally = np.random.default_rng(5), Tally(f"shakers, {'rigid' if law is make else 'Hertz'}")
    shaken(tally, law, draws(rng, count_of(250, 25)))
    tally.close()


@pytest.mark.slow
def test_the_table_at_95_6_hertz():
    """Amplitude 1.34 mm; thirty-seven balls that are let go between one and four amplitudes above the middle."""
    lanes = 37
    p = {
        "frequency": np.full(lanes, 95.6),
        "amplitude": np.full(lanes, 1.34e-3),
        "phase": np.linspace(0.0, 6.0, lanes),
        "height": np.linspace(1.4e-3, 5.4e-3, lanes),
        "speed": np.zeros(lanes),
        "e": np.full(lanes, 0.5),
    }
    tally = Tally("shakers, 95.6 Hz")
    shaken(tally, make, p)
    tally.close()
