"""Two thousand random worlds in a hundred structures: every run finishes, or ends by name, and none breaks a rule.

For every structure twenty worlds run five times in one batch: as they are, their mirror image, 1 km away, turned about
the origin, and with a start that differs by 1e-9. The last tells which motions are chaotic; for the others the copies
must agree. The ledger must close to 1e-6 %: at the default tolerance, or at the one that the ledger asks for. No rigid
contact is ever deeper inside than 1e-9 of the world's length and 16 units in the last place of its coordinates. Every
fifth structure also runs with the other solvers, at 1e-10.

Compiling takes most of the time: `CAROM_WORLDS=0:25` runs the first quarter.
"""

import os
from collections import Counter

import jax
import numpy as np
import pytest

import carom
from carom.result._cautions import tolerance_for

from .tally import SHARE, Tally, run
from .worlds import lanes, maker, structure, tips, turned

COUNT = 104  # seeds; a few of them draw the same structure
PER, UNTIL, FAR, TURN, NUDGE = 20, 1.5, 1e3, 0.7, 1e-9
KINDS = ("plain", "mirrored", "shifted", "turned", "nudged")
AGREEING = 1e-10  # tolerance at which copies are compared again
TIGHT = {"rtol": 1e-10, "atol": 1e-12}
SOLVERS = ("tsit5", "dopri8", "rodas5p")
FIRST, LAST = (int(x) for x in os.environ.get("CAROM_WORLDS", f"0:{max(4, round(COUNT * SHARE))}").split(":"))


def copies(s, p, state):
    """Plain, mirrored, shifted, turned and nudged lanes, one after the other."""
    mirrored = {**state, "angles": np.pi - state["angles"], "rates": -state["rates"]}
    shifted, round_about = dict(state), {**state, "angles": state["angles"] + TURN}
    nudged = {**state, "rates": state["rates"] + NUDGE}
    aside = {**p, "side": -p["side"], "target": -p["target"]}
    about = {**p, "turn": p["turn"] + TURN}
    for changed, by in ((aside, np.pi), (about, TURN)):
        if s.parents and not s.free:  # the first link's angle is measured from the world's axis
            changed["target"] = changed["target"].copy()
            changed["target"][:, 0] += by
    away = {**p, "x": p["x"] + FAR, "y": p["y"] + FAR}
    if s.free:
        mirrored["base"], mirrored["base_velocity"] = (state[k] * [-1.0, 1.0] for k in ("base", "base_velocity"))
        shifted["base"] = state["base"] + FAR
        for k in ("base", "base_velocity"):
            round_about[k] = np.stack(turned(np.asarray(TURN), *state[k].T), axis=1)
    both = lambda parts: {k: np.concatenate([part[k] for part in parts]) for k in parts[0]}  # noqa: E731
    return both([p, aside, away, about, p]), both([state, mirrored, shifted, round_about, nudged])


def back(s, q, kind):
    """Coordinates of a copy as those of the original."""
    q = q.copy()
    if kind == "mirrored":
        q[:, 2 * s.free :] = np.pi - q[:, 2 * s.free :]
        if s.free:
            q[:, 0] *= -1.0
    elif kind == "shifted" and s.free:
        q[:, :2] -= FAR
    elif kind == "turned":
        q[:, 2 * s.free :] -= TURN
        if s.free:
            q[:, :2] = np.stack(turned(np.asarray(-TURN), *q[:, :2].T), axis=1)
    return q


def ledger_error(s, p, ends, state):
    """Of the energy in play: what kinetic and potential energy and the works do not account for."""
    q0 = np.concatenate([state["base"], state["angles"]], 1) if s.free else state["angles"]
    v0 = np.concatenate([state["base_velocity"], state["rates"]], 1) if s.free else state["rates"]
    energy = jax.jit(jax.vmap(lambda p, q, v: maker(s)(p).energy(q, v)))
    before, after = np.asarray(energy(p, q0, v0)), np.asarray(energy(p, ends.q, ends.v))
    works = np.sum([np.asarray(w) for w in ends.work], axis=0)
    spent = np.sum([np.abs(w) for w in ends.work], axis=0)
    weight = 9.81 * np.sum(p["mass"], axis=1) * np.sum(p["length"], axis=1)
    return np.abs(after - before - works) / (weight + spent)


def ends_of(s, p, state, **options):
    rest = {k: x for k, x in state.items() if k != "angles"}
    return run(maker(s), p, state["angles"], UNTIL, **rest, ledger=True, size=len(state["angles"]), **options)


def judged(s, count=PER):
    """(ends, right, sane, words) of the lanes of a structure and its copies."""
    p, state = copies(s, *lanes(s, count))
    ends = ends_of(s, p, state, max_steps=400_000)  # steep friction at a stiff contact takes 170,000
    above, agree, closes, low, loss = rules(s, p, state, ends, count)
    if not np.all(agree & closes):  # Is it the tolerance? The ledger says which one it needs.
        error = 100.0 * float(np.max(np.where(closes, 0.0, loss), initial=0.0))
        rtol = min(tolerance_for(carom.Settings().rtol, error), AGREEING) if error else AGREEING
        tight = ends_of(s, p, state, max_steps=1_000_000, rtol=rtol, atol=0.01 * rtol)
        again = rules(s, p, state, tight, count)
        agree, closes, loss = agree | again[1], closes | again[2], np.minimum(loss, again[4])

    def word(i):
        found = [
            w for w, bad in (("inside", not above[i]), ("copy differs", not agree[i]), ("ledger", not closes[i])) if bad
        ]
        return f"{s.seed}: {s.words} ({KINDS[i // count]}) {', '.join(found)}; {low[i]:.3g} m, ledger {loss[i]:.2g}"

    return ends, above & agree & closes, above, word


def rules(s, p, state, ends, count):
    """Which lanes stay outside of the surfaces, agree with the plain copy and close their ledger; and by how much."""
    plain = {k: x[:count] for k, x in p.items()}
    parts = [back(s, ends.q[k * count : (k + 1) * count], kind) for k, kind in enumerate(KINDS)]
    low = np.concatenate([lowest(s, plain, part) for part in parts])
    longest = np.max(p["length"], axis=1)
    extent = np.abs(p["x"]) + np.abs(p["y"]) + 2.0 + np.sum(p["length"], axis=1)
    if s.rigid:
        above = ends.penetration <= 1e-9 * longest + 16.0 * np.spacing(extent)
        above &= s.shaken | (low > -(2e-9 * longest + 64.0 * np.spacing(extent)))  # by arithmetic of our own
    else:
        above = s.shaken | (low > -0.05)
    loss = ledger_error(s, p, ends, state)
    spread = np.max(np.abs(parts[-1] - parts[0]), axis=1)  # what a nudge of 1e-9 makes of itself
    calm = spread < 1e-6
    near = 1e-5 + 1e3 * spread
    agree = np.ones(len(KINDS) * count, bool)
    done = ends.done.reshape(len(KINDS), count)
    for k in range(1, len(KINDS) - 1):
        both = calm & done[k] & done[0] & done[-1]
        agree[k * count : (k + 1) * count] = ~both | (np.max(np.abs(parts[k] - parts[0]), axis=1) < near)
    # A kilometre away the potential energy itself has fewer digits.
    far = 1e4 * FAR * np.finfo(float).eps
    closes = loss < np.repeat([1e-8 + far * (kind == "shifted") for kind in KINDS], count)
    return above, agree, closes, low, loss


def lowest(s, p, q):
    """Height [m] of the lowest tip that meets a surface over it, of coordinates as those of the original."""
    x, y = tips(s, p, q)
    low = np.min(y[list(s.touching)] - p["y"], axis=0)
    return np.minimum(low, p["wall"] - (x[s.touching[-1]] - p["x"])) if s.walled else low


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FIRST, LAST, 5))
def test_every_solver_agrees(seed):
    """At 1e-10, where the motion is not chaotic."""
    s, count = structure(seed), 6
    p, state = lanes(s, count)
    tally, ends = Tally(f"solvers, world {seed}"), {k: ends_of(s, p, state, solver=k, **TIGHT) for k in SOLVERS}
    nudged = ends_of(s, p, {**state, "rates": state["rates"] + NUDGE}, **TIGHT)
    spread = np.max(np.abs(nudged.q - ends["tsit5"].q), axis=1)
    done = np.all([e.done for e in ends.values()], axis=0) & nudged.done
    for name in SOLVERS[1:]:
        off = np.max(np.abs(ends[name].q - ends["tsit5"].q), axis=1)
        right = ~done | (off < 1e-6 + 1e3 * spread)
        tally.add(ends[name], right, True, lambda i, off=off: f"{s.words} off by {off[i]:.2g}", spread < 1e-6)
    tally.close()


@pytest.mark.slow
def test_random_worlds():
    tally, table = Tally(f"worlds {FIRST}:{LAST}"), []
    for seed in range(FIRST, LAST):
        s = structure(seed)
        ends, right, sane, word = judged(s)
        bad = int(np.sum(ends.done & ~right))
        outcomes = Counter(ends.words(i) for i in range(len(ends.t)))
        table.append(
            f"{seed:4d}  {s.words:46s} wrong {bad:3d}  " + ", ".join(f"{n} {w[:30]}" for w, n in outcomes.items())
        )
        print(table[-1], flush=True)
        tally.add(ends, right, sane, word)
    tally.close()
