"""Two thousand random worlds in a hundred structures: every run finishes, or ends by name, and none breaks a rule.

For every structure twenty worlds run four times in one batch: as they are, their mirror image, 1 km away, and with a
start that differs by 1e-9. The last tells which motions are chaotic; for the others the copies must agree, and the
ledger must close to 1e-6 %: at the default tolerance, or where that is too loose for a motion, at 1e-10. Tips that meet
rigid surfaces end above them. Every fifth structure also runs with the other solvers, at 1e-10.

Compiling takes most of the time: `CAROM_WORLDS=0:25` runs the first quarter.
"""

import os
from collections import Counter

import jax
import numpy as np
import pytest

from .tally import SHARE, Tally, run
from .worlds import lanes, maker, structure, tips

COUNT = 104  # seeds; a few of them draw the same structure
PER, UNTIL, FAR, NUDGE = 20, 1.5, 1e3, 1e-9
TIGHT = {"rtol": 1e-10, "atol": 1e-12}
SOLVERS = ("tsit5", "dopri8", "rodas5p")
FIRST, LAST = (int(x) for x in os.environ.get("CAROM_WORLDS", f"0:{max(4, round(COUNT * SHARE))}").split(":"))


def copies(s, p, state):
    """Plain, mirrored, shifted and nudged lanes, one after the other."""
    mirrored = {**state, "angles": np.pi - state["angles"], "rates": -state["rates"]}
    shifted = dict(state)
    nudged = {**state, "rates": state["rates"] + NUDGE}
    aside = {**p, "side": -p["side"], "target": -p["target"]}
    if s.parents and not s.free:  # the first link's angle is measured from the world's axis
        aside["target"] = aside["target"].copy()
        aside["target"][:, 0] += np.pi
    away = {**p, "x": p["x"] + FAR, "y": p["y"] + FAR}
    if s.free:
        mirrored["base"], mirrored["base_velocity"] = (state[k] * [-1.0, 1.0] for k in ("base", "base_velocity"))
        shifted["base"] = state["base"] + FAR
    both = lambda parts: {k: np.concatenate([part[k] for part in parts]) for k in parts[0]}  # noqa: E731
    return both([p, aside, away, p]), both([state, mirrored, shifted, nudged])


def back(s, q, kind):
    """Coordinates of a copy as those of the original."""
    q = q.copy()
    if kind == 1:
        q[:, 2 * s.free :] = np.pi - q[:, 2 * s.free :]
        if s.free:
            q[:, 0] *= -1.0
    elif kind == 2 and s.free:
        q[:, :2] -= FAR
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
    ends = ends_of(s, p, state, max_steps=100_000)
    above, agree, closes, low, loss = rules(s, p, state, ends, count)
    if not np.all(agree & closes):  # Is it the tolerance?
        tight = ends_of(s, p, state, max_steps=1_000_000, **TIGHT)
        again = rules(s, p, state, tight, count)
        agree, closes, loss = agree | again[1], closes | again[2], np.minimum(loss, again[4])

    def word(i):
        found = [
            w
            for w, bad in (("tip below", not above[i]), ("copy differs", not agree[i]), ("ledger", not closes[i]))
            if bad
        ]
        kind = ("plain", "mirrored", "shifted", "nudged")[i // count]
        return f"{s.seed}: {s.words} ({kind}) {', '.join(found)}; lowest {low[i]:.3g} m, ledger {loss[i]:.2g}"

    return ends, above & agree & closes, above, word


def rules(s, p, state, ends, count):
    """Which lanes end above the surfaces, agree with the plain copy and close their ledger; and by how much."""
    x, y = tips(s, p, ends.q)
    low = np.min(y[list(s.touching)] - p["y"], axis=0)
    if s.walled:
        low = np.minimum(low, p["wall"] - p["side"] * (x[s.touching[-1]] - p["x"]))
    above = low > (-1e-8 if s.rigid else -0.05)
    loss = ledger_error(s, p, ends, state)
    parts = [back(s, ends.q[k * count : (k + 1) * count], k) for k in range(4)]
    spread = np.max(np.abs(parts[3] - parts[0]), axis=1)  # what a nudge of 1e-9 makes of itself
    calm = spread < 1e-6
    near = 1e-5 + 1e3 * spread
    agree = np.ones(4 * count, bool)
    done = ends.done.reshape(4, count)
    for k in (1, 2):
        both = calm & done[k] & done[0] & done[3]
        agree[k * count : (k + 1) * count] = ~both | (np.max(np.abs(parts[k] - parts[0]), axis=1) < near)
    # A kilometre away the potential energy itself has fewer digits.
    closes = loss < np.repeat([1e-8, 1e-8, 1e-8 + 1e4 * FAR * np.finfo(float).eps, 1e-8], count)
    return above, agree, closes, low, loss


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
