"""A thousand flat, or nearly flat, landings of a bar on two to six rigid feet.

Nobody knows a closed form for these; but no foot may end below the floor, no energy may come from nowhere, and every
run ends. With friction the law is Poisson's: Newton's may create energy there, by its definition.
"""

import functools

import jax
import numpy as np
import pytest

import carom

from .tally import Tally, count_of, log_uniform, run, signs, ulp

G, MOST = 9.81, 1.0  # [m] the outermost feet are half of it from the middle
FLOORS = (0.0, 1.0, 0.3, -1.2, 1e3, 1e6)


def bar(p, feet):
    """Feet along the bar's axis, which is also its underside; the centre of mass anywhere between and above them."""
    places = {f"foot{k}": (MOST * (k / (feet - 1) - 0.5), 0.0) for k in range(feet)}
    body = carom.Body(mass=p["mass"], inertia=p["mass"] * p["gyration"] ** 2, com=(p["off"], p["above"]))
    return carom.Mechanism([carom.Link(body, name="bar", sites=places)], base=carom.Free())


@functools.cache  # one function per structure, so that one compilation serves all its lanes
def make_of(feet, rough):
    def make(p):
        mechanism = bar(p, feet)
        law = carom.Poisson(p["e"]) if rough else carom.Newton(p["e"])
        friction = carom.Coulomb(p["mu"]) if rough else None
        floor = carom.Plane(height=p["floor"])
        contacts = [
            carom.Contact(mechanism.site(f"foot{k}"), floor, law, friction, name=f"foot{k}") for k in range(feet)
        ]
        return carom.World(mechanism, contacts=[*contacts], gravity=G)

    make.__name__ = make.__qualname__ = f"bar_on_{feet}_{'rough' if rough else 'smooth'}_feet"
    return make


def draws(rng, lanes):
    """Tilts of 0 and from 1e-17 to 0.1; half of the bars come down straight."""
    tilt = signs(rng, lanes) * log_uniform(rng, 1e-17, 1e-1, lanes) * (rng.uniform(size=lanes) > 0.15)
    spin = signs(rng, lanes) * log_uniform(rng, 1e-17, 1e-1, lanes) * (rng.uniform(size=lanes) > 0.5)
    p = {
        "mass": log_uniform(rng, 0.1, 10.0, lanes),
        "gyration": rng.uniform(0.1, 0.6, lanes),
        "off": rng.uniform(-0.4, 0.4, lanes) * (rng.uniform(size=lanes) > 0.2),
        "above": rng.uniform(0.0, 0.2, lanes),
        "e": rng.choice([0.0, 0.3, 0.5, *rng.uniform(0.0, 0.9, 9)], lanes),
        "mu": rng.uniform(0.05, 1.0, lanes),
        "floor": rng.choice(FLOORS, lanes),
    }
    start = {
        "angles": tilt[:, None],
        "rates": spin[:, None],
        "height": rng.uniform(0.06, 0.5, lanes),
        "along": rng.uniform(-1.0, 1.0, lanes) * (rng.uniform(size=lanes) > 0.5),
    }
    return p, start


def depth(q, p, feet):
    """How deep the lowest foot is below the floor."""
    along = MOST * (np.arange(feet) / (feet - 1) - 0.5)
    return p["floor"] - np.min(q[:, 1:2] + along * np.sin(q[:, 2:3]), axis=1)


def energies(p, feet, q, v):
    return np.asarray(jax.vmap(lambda p, q, v: make_of(feet, False)(p).energy(q, v))(p, q, v))


def judge(ends, p, feet, before):
    spacing = ulp(p["floor"], MOST)
    deep = depth(ends.q, p, feet) > 1e-9 + 16.0 * spacing
    scale = p["mass"] * G * MOST
    after = energies(p, feet, ends.q, ends.v)
    grown = after - before > 1e-9 * scale + 64.0 * p["mass"] * G * spacing * (ends.events + 4)
    return ~deep, ~grown


@pytest.mark.slow
@pytest.mark.parametrize(("feet", "rough"), [(2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (2, 1), (3, 1)])
def test_no_foot_sinks(feet, rough):
    tally = Tally(f"feet, {feet}{' rough' if rough else ''}")
    rng = np.random.default_rng([3, feet, rough])
    lanes = count_of(143, 20)
    p, start = draws(rng, lanes)
    base = np.stack([np.zeros(lanes), p["floor"] + start["height"]], axis=1)
    velocity = np.stack([start["along"], np.zeros(lanes)], axis=1)
    q, v = (np.concatenate(pair, axis=1) for pair in ((base, start["angles"]), (velocity, start["rates"])))
    ends = run(
        make_of(feet, bool(rough)),
        p,
        start["angles"],
        1.0,
        rates=start["rates"],
        base=base,
        base_velocity=velocity,
        max_steps=30_000,
        size=lanes,
    )
    above, no_gain = judge(ends, p, feet, energies(p, feet, q, v))
    sunk = depth(ends.q, p, feet)

    def note(lane):
        word = "" if no_gain[lane] else ", energy grown"
        numbers = f"tilt {start['angles'][lane, 0]:.3g}, e {p['e'][lane]:.3g}, floor {p['floor'][lane]:g}"
        return f"{numbers}, spin {start['rates'][lane, 0]:.3g}: sunk by {sunk[lane]:.3g} m{word}"

    tally.add(ends, above & no_gain, above, note)
    tally.close()
