"""Five hundred rows and stacks of two to six balls, nearly or exactly touching: every blow goes through several.

What happens is a matter of the rule (docs/limits.md); but momentum stays, no energy is made, nobody is passed through.
"""

import functools

import numpy as np
import pytest

import carom

from .tally import Tally, count_of, log_uniform, run

G, RADIUS = 9.81, 0.05


@functools.cache  # one function per structure, so that one compilation serves all its lanes
def make_of(balls, stacked):
    def make(p):
        bodies = {f"b{k}": _ball(p["mass"][k]) for k in range(balls)}
        all_of = carom.side_by_side(**bodies)
        sites = [all_of.site(f"b{k}.link1.tip") for k in range(balls)]
        contacts = [
            carom.Contact(sites[k], sites[k + 1], carom.Newton(p["e"]), None, RADIUS, RADIUS, name=f"{k}-{k + 1}")
            for k in range(balls - 1)
        ]
        if stacked:
            floor = carom.Plane(height=p["floor"])
            contacts.append(carom.Contact(sites[0], floor, carom.Newton(p["e"]), radius=RADIUS, name="floor"))
        return carom.World(all_of, contacts=[*contacts], gravity=G if stacked else 0.0)

    make.__name__ = make.__qualname__ = f"{'stack' if stacked else 'row'}_of_{balls}"
    return make


def _ball(mass):
    return carom.Mechanism([carom.Disk(radius=RADIUS, mass=mass)], base=carom.Free())


def draws(rng, lanes, balls):
    gaps = log_uniform(rng, 1e-15, 1e-6, (lanes, balls - 1)) * (rng.uniform(size=(lanes, balls - 1)) > 0.3)
    alike = rng.uniform(size=lanes) > 0.5
    mass = np.where(alike[:, None], 1.0, log_uniform(rng, 0.1, 10.0, (lanes, balls)))
    return gaps, {"mass": mass, "e": rng.choice([0.0, 0.5, 1.0, *rng.uniform(0.0, 1.0, 9)], lanes)}


@pytest.mark.slow
@pytest.mark.parametrize("balls", [2, 3, 4, 5, 6])
def test_rows(balls):
    """The first ball runs into the others, which rest."""
    tally = Tally(f"chains, row of {balls}")
    rng, lanes = np.random.default_rng([7, balls]), count_of(63, 20)
    gaps, p = draws(rng, lanes, balls)
    p["floor"] = np.zeros(lanes)
    speed = rng.uniform(0.5, 3.0, lanes)
    steps = 2.0 * RADIUS + np.concatenate([np.full((lanes, 1), 0.2), gaps[:, 1:]], axis=1)  # a run-up first
    x = np.concatenate([np.zeros((lanes, 1)), np.cumsum(steps, axis=1)], axis=1)
    base = np.stack([x, 0.0 * x], axis=2).reshape(lanes, -1)
    velocity = np.zeros((lanes, 2 * balls))
    velocity[:, 0] = speed
    ends = run(
        make_of(balls, False),
        p,
        np.zeros((lanes, balls)),
        1.0,
        base=base,
        base_velocity=velocity,
        max_steps=20_000,
        size=lanes,
    )
    moving = ends.v[:, 0 : 2 * balls : 2]
    momentum, energy = np.sum(p["mass"] * moving, axis=1), 0.5 * np.sum(p["mass"] * moving**2, axis=1)
    given = p["mass"][:, 0] * speed
    kept = np.abs(momentum - given) < 1e-11 * given
    made = energy > 0.5 * given * speed * (1.0 + 1e-11)
    between = np.diff(ends.q[:, 0 : 2 * balls : 2], axis=1) - 2.0 * RADIUS
    apart = np.min(between, axis=1) > -1e-9

    def note(i):
        return (
            f"gaps {gaps[i, 1:]}, e {p['e'][i]:.3g}: momentum {kept[i]}, energy made {made[i]}, {between[i].min():.3g}"
        )

    tally.add(ends, kept & ~made & apart, apart, note)
    tally.close()


@pytest.mark.slow
@pytest.mark.parametrize("balls", [2, 3, 4])
def test_stacks(balls):
    """Dropped on the floor as one, one above the other."""
    tally = Tally(f"chains, stack of {balls}")
    rng, lanes = np.random.default_rng([77, balls]), count_of(62, 20)
    gaps, p = draws(rng, lanes, balls)
    p["floor"] = rng.choice([0.0, 1.0, 0.3, -1.2], lanes)
    p["e"] = 0.8 * p["e"]  # elastic stacks never rest, and dance on for ever
    height = rng.uniform(0.01, 0.3, lanes)
    first = p["floor"] + RADIUS + height
    y = np.concatenate([first[:, None], first[:, None] + np.cumsum(2.0 * RADIUS + gaps, axis=1)], axis=1)
    base = np.stack([0.0 * y, y], axis=2).reshape(lanes, -1)
    ends = run(make_of(balls, True), p, np.zeros((lanes, balls)), 1.0, base=base, max_steps=60_000, size=lanes)
    up, rise = ends.q[:, 1 : 2 * balls : 2], ends.v[:, 1 : 2 * balls : 2]
    energy = np.sum(p["mass"] * (G * (up - y) + 0.5 * rise**2), axis=1)
    made = energy > 1e-9 * np.sum(p["mass"] * G * height[:, None], axis=1)
    between = np.concatenate([up[:, :1] - p["floor"][:, None] - RADIUS, np.diff(up, axis=1) - 2.0 * RADIUS], axis=1)
    apart = np.min(between, axis=1) > -1e-9

    def note(i):
        return f"gaps {gaps[i]}, e {p['e'][i]:.3g}: energy {energy[i]:.3g} J, nearest {between[i].min():.3g} m"

    tally.add(ends, ~made & apart, apart, note)
    tally.close()
