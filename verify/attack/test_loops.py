"""Closed loops that strike: random four-bars, whose coupler's foot meets a floor, rigid or soft, with friction.

Every lane is closed by construction: the pin is where the last link ends. It runs as it is, as its mirror image, 1 km
away, turned about the origin, in millimetres and grams, and with a start that differs by 1e-9. The last tells which
motions are chaotic; the others must agree. Loops stay closed, ledgers close, no foot sinks. Then the same with every
pin twice, which changes nothing.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom

from .tally import Tally, count_of, run
from .worlds import turned

KINDS = ("plain", "mirrored", "shifted", "turned", "small", "nudged")
FAR, TURN, SMALL, NUDGE, UNTIL, G = 1e3, 0.7, 1e-3, 1e-9, 0.8, 9.81
FLOOR = 0.0


@functools.cache
def maker(law, pins):
    def make(p):
        lengths, m = p["length"], p["mass"]
        foot = (p["along"] * lengths[1], p["side"] * p["out"])
        bars = [carom.Link(carom.Rod(length=lengths[k], mass=m[k]), name=name) for k, name in enumerate("abc")]
        bars[1] = carom.Link(carom.Rod(length=lengths[1], mass=m[1]), name="b", sites={"foot": foot})
        place = functools.partial(turned, p["turn"])
        arm = carom.Arm(bars, base=place(p["x"], p["y"]))
        unit = p["unit"]
        laws = {"poisson": carom.Poisson(p["e"]), "hertz": carom.Hertz(1e6 * p["kilogram"] / jnp.sqrt(unit))}
        floor = carom.Plane(point=place(p["x"], p["floor"]), normal=place(0.0, 1.0))
        contact = carom.Contact(arm.site("foot"), floor, laws[law], carom.Coulomb(p["mu"]), name="floor")
        pin = carom.Pin("c.tip", jnp.stack(place(p["pin"][0], p["pin"][1])))
        gravity = jnp.stack(turned(p["turn"], 0.0, -G * unit))
        return carom.World(arm, contacts=contact, constraints=[pin] * pins, gravity=gravity)

    make.__name__ = make.__qualname__ = f"loop_{law}_{pins}"
    return make


def lanes(count):
    """Numbers of plain loops, at rest, with their feet above the floor."""
    rng = np.random.default_rng(15)
    angles = np.stack([rng.uniform(0.6, 2.2, count), rng.uniform(-0.5, 0.5, count), rng.uniform(-2.2, -0.6, count)], 1)
    p = {
        "length": np.stack(
            [rng.uniform(0.5, 1.0, count), rng.uniform(0.8, 2.0, count), rng.uniform(0.5, 1.5, count)], 1
        ),
        "mass": 10.0 ** rng.uniform(-0.5, 0.5, (count, 3)),
        "along": rng.uniform(0.3, 0.7, count),
        "out": -rng.uniform(0.1, 0.4, count),
        "e": rng.uniform(0.0, 0.9, count),
        "mu": rng.uniform(0.0, 0.6, count),
    } | {k: np.full(count, v) for k, v in {"x": 0.0, "y": 0.0, "turn": 0.0, "side": 1.0, "unit": 1.0}.items()}
    p["kilogram"] = np.ones(count)
    tips = np.cumsum(p["length"][..., None] * np.stack([np.cos(angles), np.sin(angles)], -1), axis=1)
    p["pin"] = tips[:, 2]
    foot = foot_of(p, angles)
    p["floor"] = foot[:, 1] - rng.uniform(0.01, 0.2, count)
    return p, angles


def foot_of(p, angles):
    """By arithmetic of our own."""
    a, b = angles[:, 0], angles[:, 1]
    along, out = p["along"] * p["length"][:, 1], p["side"] * p["out"]
    x = p["length"][:, 0] * np.cos(a) + along * np.cos(b) - out * np.sin(b)
    return np.stack([x, p["length"][:, 0] * np.sin(a) + along * np.sin(b) + out * np.cos(b)], axis=1)


def copies(p, angles):
    aside = {**p, "side": -p["side"], "pin": p["pin"] * [-1.0, 1.0]}
    away = {**p, "x": p["x"] + FAR, "y": p["y"] + FAR, "pin": p["pin"] + FAR, "floor": p["floor"] + FAR}
    lengths = ("length", "out", "floor", "pin", "unit")
    small = {**p, **{k: SMALL * p[k] for k in lengths}, "mass": SMALL * p["mass"], "kilogram": SMALL * p["kilogram"]}
    parts = [p, aside, away, {**p, "turn": p["turn"] + TURN}, small, {**p, "e": p["e"], "mu": p["mu"] + NUDGE}]
    starts = [angles, np.pi - angles, angles, angles + TURN, angles, angles]
    return {k: np.concatenate([part[k] for part in parts]) for k in p}, np.concatenate(starts)


def back(q, kind):
    return np.pi - q if kind == "mirrored" else q - TURN if kind == "turned" else q


def opened(p, q):
    """How far the loops are open, in units of their length."""
    tips = np.sum(p["length"][..., None] * np.stack([np.cos(q), np.sin(q)], -1), axis=1)
    return np.max(np.abs(tips - p["pin"]), axis=1) / np.max(p["length"], axis=1)


def judged(law, pins, count):
    p, angles = lanes(count)
    every, starts = copies(p, angles)
    ends = run(maker(law, pins), every, starts, UNTIL, rates=np.zeros_like(starts), ledger=True, rtol=1e-10, atol=1e-12)
    parts = [back(ends.q[k * count : (k + 1) * count], kind) for k, kind in enumerate(KINDS)]
    spread = np.max(np.abs(parts[-1] - parts[0]), axis=1)
    done = ends.done.reshape(len(KINDS), count)
    agree = np.ones((len(KINDS), count), bool)
    for k in range(1, len(KINDS) - 1):
        both = (spread < 1e-6) & done[k] & done[0] & done[-1]
        agree[k] = ~both | (np.max(np.abs(parts[k] - parts[0]), axis=1) < 1e-6 + 1e3 * spread)
    gap = np.concatenate([opened(p, part) for part in parts])
    low = np.concatenate([foot_of(p, part)[:, 1] - p["floor"] for part in parts])
    sane = (gap < 1e-9) & (low > (-1e-8 if law == "poisson" else -0.02))
    return ends, agree.ravel(), sane, parts[0], spread, gap, low


@pytest.mark.slow
@pytest.mark.parametrize("law", ["poisson", "hertz"])
def test_loops_that_strike(law):
    count = count_of(100)
    ends, agree, sane, _, _, gap, low = judged(law, 1, count)
    tally = Tally(f"loops, {law}")
    tally.add(ends, agree & sane, sane, lambda i: f"{KINDS[i // count]}: open by {gap[i]:.2g}, foot at {low[i]:.2g} m")
    assert np.mean(ends.events > 0) > 0.5  # they do strike
    tally.close()


@pytest.mark.slow
def test_a_pin_too_many_changes_nothing():
    count = count_of(100)
    single, double = (judged("poisson", pins, count) for pins in (1, 2))
    off, calm = np.max(np.abs(single[3] - double[3]), axis=1), single[4] < 1e-6
    tally = Tally("loops with two pins")
    first = jax.tree.map(lambda x: x[:count], double[0])
    tally.add(first, ~calm | (off < 1e-6 + 1e3 * single[4]), True, lambda i: f"off by {off[i]:.2g}")
    tally.close()
