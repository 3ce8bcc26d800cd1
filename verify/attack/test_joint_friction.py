"""Random trees with dry friction in their joints on rough rigid feet: every run ends, and none breaks a rule.

For every structure sixteen worlds run six times in one batch: as they are, their mirror image, 1 km away, in grams and
millimetres, with rates that differ by 1e-9, and coming to rest as early as hops end 1 km away, where one lower than
5e-10 m is none. The last but one tells which motions are chaotic, the last what an early rest makes of the others;
these must agree with their copies. The ledger must close to 1e-6 %, no energy may be made, no foot may be deeper than
1e-9 of the world's length. Newton's restitution may make energy with friction, by its definition. One more suite has
an elastic link.

A foot that slides into a surface may have no motion, or two (Painleve): that is refused by name. Such lanes are left
out if trying all decisions finds none or several, too (motions.py). `CAROM_WORLDS=0:8` runs the first structures.
"""

import os

import jax
import numpy as np
import pytest

import carom
from carom.hybrid import outcome

from .jointed import FAR, KINDS, back, copies, lanes, maker, structure
from .motions import undecided
from .tally import SHARE, Tally, run

COUNT, PER, UNTIL = 48, 16, 1.0
FIRST, LAST = (int(x) for x in os.environ.get("CAROM_WORLDS", f"0:{max(3, round(COUNT * SHARE))}").split(":"))
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def start_of(s, state):
    """q and v at the start."""
    first, count = 2 * s.free, len(state["angles"])
    q = np.zeros((count, first + len(s.parents)))
    v = np.zeros_like(q)
    if s.free:
        q[:, :2], v[:, :2] = state["base"], state["base_velocity"]
    for at, where, rates in ((s.hinged, "angles", "rates"), (s.sliding, "slides", "slide_rates")):
        for j, k in enumerate(at):
            q[:, first + k], v[:, first + k] = state[where][:, j], state[rates][:, j]
    return q, v


def ends_of(s, p, state, **options):
    rest = {k: x for k, x in state.items() if k != "angles"}
    options = {"ledger": True, "max_steps": 100_000, **options}
    return run(maker(s), p, state["angles"], UNTIL, **rest, size=len(state["angles"]), **options)


def rules(s, p, state, ends):
    """Which lanes stay above the floor, agree with the plain copy, close their ledger and make no energy."""
    count = len(ends.t) // len(KINDS)
    of_kind = np.repeat(KINDS, count)
    energy = jax.jit(jax.vmap(lambda p, q, v: maker(s)(p).energy(q, v)))
    before, after = np.asarray(energy(p, *start_of(s, state))), np.asarray(energy(p, ends.q, ends.v))
    works, spent = (np.sum([f(w) for w in ends.work], axis=0) for f in (np.asarray, np.abs))
    weight = p["gravity"] * np.sum(p["mass"], axis=1) * np.sum(p["length"], axis=1)
    away = 1e4 * FAR * np.finfo(float).eps * (of_kind == "shifted")  # energies have fewer digits there
    closes = np.abs(after - before - works) / (weight + spent) < 1e-8 + away
    gains = (after - before) / weight > 1e-8 + away
    above = ends.penetration <= 1e-9 * np.max(p["length"], axis=1) + 16.0 * np.spacing(2.0 * FAR) * (away > 0.0)
    parts = [back(s, ends.q[k * count : (k + 1) * count], kind) for k, kind in enumerate(KINDS)]
    off = {kind: np.max(np.abs(part - parts[0]), axis=1) for kind, part in zip(KINDS, parts, strict=True)}
    spread = off["nudged"]  # what a nudge of 1e-9 makes of itself
    done = ends.done.reshape(len(KINDS), count)
    agree = np.ones_like(done)
    for k, kind in enumerate(KINDS[1:4], 1):
        room = 1e-5 + 1e3 * spread + (10.0 * off["settled"] if kind == "shifted" else 0.0)
        agree[k] = ~((spread < 1e-6) & np.all(done, axis=0)) | (off[kind] < room)
    return above, agree.ravel(), closes, ~gains | (s.law == "newton")


def judge(s, tally):
    p, state = copies(s, *lanes(s, PER))
    ends = ends_of(s, p, state)
    above, agree, closes, lawful = rules(s, p, state, ends)
    if not np.all(agree & closes):  # Is it the tolerance?
        tight = rules(s, p, state, ends_of(s, p, state, max_steps=400_000, **TIGHT))
        agree, closes = agree | tight[1], closes | tight[2]
    named = {"inside": above, "copy differs": agree, "ledger": closes, "energy made": lawful}

    def note(i):
        found = ", ".join(word for word, good in named.items() if not good[i])
        return f"{s.seed}: {s.words} ({KINDS[i // PER]} {i % PER}) {found}"

    # What comes down at that instant, or moves on in one way alone, must not be refused so.
    left_out = ends.outcome == outcome.NO_MOTION
    for i in np.flatnonzero(left_out):
        own = jax.tree.map(lambda x, i=i: np.asarray(x)[i], p)
        left_out[i] = undecided(s, maker(s)(own), own, ends.q[i], ends.v[i])
    tally.add(ends, np.all([*named.values()], axis=0), above, note, ~left_out)


@pytest.mark.slow
def test_trees_on_rough_feet():
    tally = Tally(f"dry joints {FIRST}:{LAST}")
    for seed in range(FIRST, LAST):
        judge(structure(seed), tally)
        print(f"{seed:4d}  {structure(seed).words:28s} {tally.row}", flush=True)
    tally.close()


def bending(p):
    """An elastic arm whose joints rub, over a rough floor."""
    section = carom.beam.Section(
        area=4e-4,
        second_moment=3e-10,
        mass_per_length=1.1,
        youngs_modulus=7e10,
        shear_modulus=2.6e10,
        shear_factor=0.85,
    )
    beam = carom.Beam(0.5, section, ("clamped", "free"), 1)
    links = [
        carom.Link(beam, name="a", joint=carom.Joint(friction=p["friction"][0], static_friction=p["stiction"][0])),
        carom.Link(
            carom.Rod(length=0.4, mass=0.3),
            name="b",
            joint=carom.Joint(friction=p["friction"][1], static_friction=p["stiction"][1]),
        ),
    ]
    arm = carom.Mechanism(links, base=carom.Fixed(0.0, p["height"]))
    rough = carom.Coulomb(p["mu"], static=p["static"])
    foot = carom.Contact(arm.site("b.tip"), carom.Plane(height=0.0), carom.Poisson(p["e"]), rough, name="foot")
    return carom.World(arm, contacts=[foot], gravity=9.81)


@pytest.mark.slow
def test_elastic_links():
    tally, count, rng = Tally("dry joints, elastic"), max(8, round(32 * SHARE)), np.random.default_rng(22)
    friction, mu = 10.0 ** rng.uniform(-2.0, 0.3, (count, 2)), rng.uniform(0.1, 0.8, count)
    p = {
        "friction": friction,
        "stiction": friction * rng.choice([1.0, 1.3], (count, 2)),
        "height": rng.uniform(0.3, 0.6, count),
        "mu": mu,
        "static": mu * rng.choice([1.0, 1.2], count),
        "e": rng.uniform(0.0, 0.6, count),
    }
    angles = np.stack([rng.uniform(0.0, 0.6, count), rng.uniform(-0.3, 0.3, count)], axis=1)
    ends = run(
        bending, p, angles, 0.5, rates=np.zeros_like(angles), ledger=True, size=count, max_steps=200_000, **TIGHT
    )
    energy = jax.jit(jax.vmap(lambda p, q, v: bending(p).energy(q, v)))
    start = bending(jax.tree.map(lambda x: x[0], p)).state(angles=angles, rates=np.zeros_like(angles))
    before, after = (np.asarray(energy(p, q, v)) for q, v in ((start.q, start.v), (ends.q, ends.v)))
    works, spent = (np.sum([f(w) for w in ends.work], axis=0) for f in (np.asarray, np.abs))
    closes = np.abs(after - before - works) < 1e-8 * (5.0 + spent)
    right = closes & (after - before < 1e-8) & (ends.penetration < 1e-9)
    tally.add(
        ends, right, True, lambda i: f"ledger {after[i] - before[i] - works[i]:.2g}", ends.outcome != outcome.NO_MOTION
    )
    tally.close()
