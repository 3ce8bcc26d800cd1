"""Runs lanes, sorts their ends and prints one row per suite.

A lane is

- right: it finished, and its end is what the closed form or brute force says;
- silent: it says that it finished, and its end is wrong. The worst that can happen;
- wrong: it ended early by name, but in a state that the world does not allow;
- stalled: it ran out of steps, or its steps became too small, or it made events without end;
- refused: any other outcome with a name.

A suite passes if every lane is right, but for 1 % that may be refused. `CAROM_ATTACK_SHARE=0.1` runs a tenth of every
suite; `CAROM_ATTACK_TABLE=file` collects the rows in a file.
"""

import os
import time
from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import numpy as np

import carom
from carom.hybrid import outcome

SHARE = float(os.environ.get("CAROM_ATTACK_SHARE", "1"))
U = np.finfo(float).eps
KINDS = ("right", "wrong", "stalled", "refused", "silent")
STALLS = tuple(getattr(outcome, name) for name in ("STEP_LIMIT", "STEP_TOO_SMALL", "ZENO", "CHATTER", "STALLED"))
REFUSALS_ALLOWED = 0.01


def count_of(lanes, least=1):
    """How many of so many lanes this run covers."""
    return max(least, round(lanes * SHARE))


def ulp(*places):
    """Spacing of floats at the largest of these magnitudes."""
    return np.spacing(np.max(np.abs(np.broadcast_arrays(*places)), axis=0))


class Ends(NamedTuple):
    """Ends of lanes as NumPy arrays."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    work: tuple
    phases: tuple
    memory: tuple
    steps: np.ndarray
    events: np.ndarray
    outcome: np.ndarray
    penetration: np.ndarray

    @property
    def done(self):
        """Did it reach its horizon, or the number of events that was asked for?"""
        return np.isin(self.outcome, (outcome.FINISHED, outcome.EVENT_LIMIT))

    @property
    def stalled(self):
        return np.isin(self.outcome, STALLS)

    def words(self, lane):
        return outcome.describe(int(self.outcome[lane])).split(";")[0]


def run(make, parameters, angles, until, *, size=50, **options):
    """Ends of all lanes, run in batches of `size` lanes that share a horizon, so that one compilation serves all.

    `until` is one number or one per lane; other parts of the start have a row per lane.
    """
    lanes = len(angles)
    parts = ("rates", "base", "base_velocity", "slides", "slide_rates")
    rows = {k: options.pop(k) for k in parts if options.get(k) is not None}
    rows = {k: np.asarray(x, dtype=float) for k, x in {"angles": angles, **rows}.items()}
    parameters = jax.tree.map(
        lambda x: np.broadcast_to(np.asarray(x, dtype=float), (lanes, *np.shape(x)[1:])), parameters
    )
    until = np.broadcast_to(np.asarray(until, dtype=float), lanes)
    settings = carom.Settings(**{"max_steps": 200_000, "ledger": False, **options})
    found, places = [], []
    for horizon in np.unique(until):
        group = np.flatnonzero(until == horizon)
        for first in range(0, len(group), size):
            part = group[first : first + size]
            padded = part[np.minimum(np.arange(size), len(part) - 1)]  # equal shapes: one compiled program
            own = {k: x[padded] for k, x in rows.items()}
            lanes_of = jax.tree.map(lambda x, i=padded: x[i], parameters)
            start = make(jax.tree.map(lambda x: x[0], lanes_of)).state(**own)
            out = carom.batch(make, lanes_of, start, until=horizon, settings=settings, throw=False)
            found.append(jax.tree.map(lambda x, part=part: np.asarray(x)[: len(part)], Ends(*_fields(out))))
            places.append(part)
    back = np.argsort(np.concatenate(places))
    return jax.tree.map(lambda *columns: np.concatenate(columns)[back], *found)


def _fields(out):
    return (out.t, out.q, out.v, out.work, out.phases, out.memory, out.steps, out.events, out.outcome, out.penetration)


@dataclass
class Tally:
    """Counts of one suite, and what was wrong with the first few lanes."""

    name: str
    counts: dict = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    notes: list = field(default_factory=list)
    left_out: int = 0  # lanes that no answer exists for, such as grazes closer than rounding
    began: float = field(default_factory=time.perf_counter)

    def add(self, ends, right, sane=True, note=lambda lane: "", judged=True):
        """Sort lanes: `right` and `sane` (a state that the world allows) per lane; only `judged` ones count."""
        lanes = len(ends.t)
        right, sane, judged = (np.broadcast_to(x, lanes) for x in (right, sane, judged))
        self.left_out += int(np.sum(~judged))
        for lane in np.flatnonzero(judged):
            kind = self._kind(ends, lane, right[lane], sane[lane])
            self.counts[kind] += 1
            if kind != "right":
                self.notes.append(f"{kind}: lane {lane}, t = {ends.t[lane]:.9g} s, {ends.words(lane)}; {note(lane)}")

    def one(self, kind, note=""):
        """Count something that is not a lane of a batch."""
        self.counts[kind] += 1
        if kind != "right":
            self.notes.append(f"{kind}: {note}")

    @staticmethod
    def _kind(ends, lane, right, sane):
        if ends.done[lane]:
            return "right" if right else "silent"
        if not sane:
            return "wrong"
        return "stalled" if ends.stalled[lane] else "refused"

    @property
    def row(self):
        numbers = " ".join(f"{kind} {self.counts[kind]:5d} " for kind in KINDS)
        left_out = f"({self.left_out} left out) " if self.left_out else ""
        return f"{self.name:28s} {numbers} {left_out}{time.perf_counter() - self.began:6.1f} s"

    def close(self):
        """Print the row; fail if anything but a few refusals went wrong."""
        print(f"\n{self.row}")
        self.notes.sort(key=lambda note: ("silent", "wrong", "refused", "stalled").index(note.split(":")[0]))
        for note in self.notes[:8]:
            print(f"    {note}")
        if path := os.environ.get("CAROM_ATTACK_TABLE"):
            with open(path, "a") as file:
                file.write("\n    ".join([self.row, *self.notes[:8]]) + "\n")
        total = sum(self.counts.values())
        bad = {kind: self.counts[kind] for kind in ("wrong", "stalled", "silent") if self.counts[kind]}
        assert not bad, f"{self.row}\n" + "\n".join(self.notes[:8])
        assert self.counts["refused"] <= REFUSALS_ALLOWED * total, self.row


def log_uniform(rng, low, high, size):
    return np.exp(rng.uniform(np.log(low), np.log(high), size))


def signs(rng, size):
    return rng.choice([-1.0, 1.0], size)
