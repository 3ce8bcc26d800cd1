"""Derivatives of random worlds, forwards and backwards, against central differences.

One body, and trees of two or three links, with impacts, friction, stops, shaken floors, limited torques and forces with
corners; backwards for one body, and for one tree, as compiling that takes minutes. The end of each run is
differentiated with respect to one random direction of all its numbers and of its start. Differences are taken at two
widths: where they do not agree, the motion is chaotic or events change their order within the width, and nothing can be
said. Elsewhere the derivative must agree with them. Without the term of an
instant's own derivative it is off by 0.1 or more in all of the lanes of worlds 21, 32 and 52 that strike.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom

from .tally import SHARE, Tally
from .tally import run as run_lanes
from .worlds import lanes, maker, structure

TIGHT = carom.Settings(rtol=1e-11, atol=1e-13, ledger=False)
PER, UNTIL, WIDTH = 8, 0.7, 2e-6
SINGLE, TREES, MOST = 7, 11, 2**17  # structures of either kind, steps
ACCURACY, KNOWN, ALIKE = 1e-5, 1e-3, 1e-8  # of the largest derivative
VARIED = ("length", "mass", "damping", "pivot", "wall", "stop", "e", "y")  # what the world is made of


def structures(count, least, most):
    """Of so many links; every other with a shaken floor, every third with limited torques, some with slack dampers."""
    out, seed = [], 0
    while len(out) < count:
        s, n = structure(seed), len(out)
        seed += 1
        if not least <= len(s.parents) <= most or (s.rubs and len(s.touching) + s.walled > 1 and s.rigid):
            continue
        s = dataclasses.replace(s, shaken=n % 2 == 1, clipped=n % 3 == 0, held=s.held or n % 3 == 0)
        if not s.rigid and n % 4 == 0:
            s = dataclasses.replace(s, law="hooke")
        out.append(s)
    if least == 1:  # dry friction of compliant contacts is drawn too seldom
        out[-1] = dataclasses.replace(out[-1], law="hertz", rubs="coulomb", stops=False)
    return out


def end_of(s, p, state, reverse_steps):
    """End of one lane; a run that does not finish has no derivative worth anything."""
    base = [state[k] for k in ("base", "base_velocity")] if s.free else [jnp.zeros(0)] * 2
    q, v = jnp.concatenate([base[0], state["angles"]]), jnp.concatenate([base[1], state["rates"]])
    out = carom.final_state(maker(s)(p), carom.State(q, v), UNTIL, settings=TIGHT, reverse_steps=reverse_steps)
    return jnp.concatenate([jnp.stack(out.y.q), jnp.stack(out.y.v)]), (out.outcome, out.events, out.steps)


def directions(s, p, state):
    rng = np.random.default_rng([12, s.seed])
    dp = {
        k: (x * rng.uniform(-1.0, 1.0, x.shape) if k != "y" else rng.uniform(-0.1, 0.1, x.shape)) for k, x in p.items()
    }
    dp = {k: x if k in VARIED else 0.0 * x for k, x in dp.items()}
    return dp, {k: rng.uniform(-1.0, 1.0, x.shape) for k, x in state.items()}


def moved(given, direction, by):
    return jax.tree.map(lambda x, d: x + by * d, given, direction)


def each(function):
    """A function lane by lane: all would be compiled together with both sides of every branch."""
    one = carom.jit(function)

    def call(*columns):
        rows = [one(*jax.tree.map(lambda x, i=i: x[i], columns)) for i in range(PER)]
        return jax.tree.map(lambda *x: np.stack(x), *rows)

    return call


def judged(s, both):
    """(ahead, behind, differences at two widths, outcomes, events) of the lanes of a structure; backwards if `both`."""
    given = lanes(s, PER)
    way = directions(s, *given)
    weights = np.random.default_rng([13, s.seed]).uniform(-1.0, 1.0, 2 * (len(s.parents) + 2 * s.free))
    run = each(lambda p, state: end_of(s, p, state, None))

    def forwards(given, way):
        return jax.jvp(lambda p, state: end_of(s, p, state, None), given, way, has_aux=True)

    def backwards(given, way):
        found = jax.grad(lambda g: end_of(s, *g, MOST)[0] @ weights)(given)
        return sum(jnp.vdot(a, b) for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(way), strict=True))

    _, ahead, (outcome, events, steps) = each(forwards)(given, way)
    assert np.max(steps) < MOST
    behind = each(backwards)(given, way) if both else None
    apart = {}
    for by in (WIDTH, -WIDTH, 2.0 * WIDTH, -2.0 * WIDTH):
        apart[by], (code, *_) = run(*moved(given, way, by))
        outcome = np.where(code == carom.hybrid.outcome.FINISHED, outcome, code)  # one that did not begin says nothing
    narrow = (apart[WIDTH] - apart[-WIDTH]) / (2.0 * WIDTH)
    wide = (apart[2.0 * WIDTH] - apart[-2.0 * WIDTH]) / (4.0 * WIDTH)
    summed = np.asarray(ahead) @ weights
    apart_by = np.zeros(PER) if behind is None else np.abs(np.asarray(behind) - summed)
    return [np.asarray(x) for x in (ahead, apart_by, narrow, wide, outcome, events)]


def chosen():
    """(structure, backwards too?): the first half of those of one link, and the first tree of two."""
    single, trees = (structures(max(1, round(n * SHARE)), *links) for n, *links in ((SINGLE, 1, 1), (TREES, 2, 3)))
    more = structures(2 * len(single), 1, 1)[len(single) :]
    first = next((s for s in trees if len(s.parents) == 2), None)
    return [(s, True) for s in single] + [(s, False) for s in more] + [(s, s is first) for s in trees]


@pytest.mark.slow
@pytest.mark.parametrize(("s", "both"), chosen(), ids=lambda x: f"world-{x.seed}" if hasattr(x, "seed") else "")
def test_derivatives_of_random_worlds(s, both):
    tally = Tally(f"derivatives, world {s.seed}" + " backwards too" * both)
    ahead, apart_by, narrow, wide, outcome, met = judged(s, both)
    for i in range(PER):
        scale = np.max(np.abs(narrow[i]))
        doubt = np.max(np.abs(narrow[i] - wide[i]))
        if outcome[i] != carom.hybrid.outcome.FINISHED or not doubt < KNOWN * scale:
            tally.left_out += 1
            continue
        off, back = np.max(np.abs(ahead[i] - narrow[i])) / scale, apart_by[i] / scale
        right = off < ACCURACY + doubt / scale and back < ALIKE
        note = f"{s.words}, lane {i}, {met[i]} events: off by {off:.2g}, modes apart by {back:.2g}"
        tally.one("right" if right else "silent", note)
        print(note, flush=True)
    tally.close()
    assert tally.left_out <= PER // 4  # 25 structures of 8: 150 judged, 48 of them backwards too


@pytest.mark.slow
def test_they_do_strike():
    """Derivatives of motions without events would be no proof."""
    total = 0
    for s, _ in chosen():
        p, state = lanes(s, PER)
        total += int(np.sum(run_lanes(maker(s), p, state.pop("angles"), UNTIL, **state, size=PER).events))
    assert total >= 100 * SHARE
