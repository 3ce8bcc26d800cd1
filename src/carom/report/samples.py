"""Which instants of a run the viewer gets: even ones over the motion, many inside every impact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..result._clip import Clip
from ..result.impacts import Impact

RATE = 120.0  # frames per second of motion
MOST_EVEN = 1500  # frames of the motion between impacts
IN_IMPACT = 80  # frames of an impact
LEAST = 12  # frames with which an impact can still be watched
MOST_EVENTS = 400  # events with a frame on either side
AROUND = 0.25  # of an impact's duration that is looked at before and after it
MOST_NUMBERS = 800_000  # in all frames together: about 5 MB in the page


class Seam(NamedTuple):
    """An impact that belongs to no contact, such as a capture: where two clips meet, in common time."""

    impact: Impact
    point: tuple[float, float]  # [m]
    way: tuple[float, float]  # unit vector along which normal velocities count


class Struck(NamedTuple):
    """An impact in common time."""

    clip: int
    start: float
    end: float
    impact: Impact
    blow: Seam | None = None  # where no contact tells the place


class Samples(NamedTuple):
    """Instants [s] of every clip, in common time, and a sentence about what was left out, or none."""

    times: list[np.ndarray]
    note: str


def struck(clips: Sequence[Clip], blows: Sequence[Seam] = ()) -> list[Struck]:
    """All impacts, in the order of time; shares of closed contacts in a blow come after what struck."""
    found = []
    for blow in blows:
        t = blow.impact.t_start
        behind = max((k for k, each in enumerate(clips) if each.begin <= t), default=0)
        found.append(Struck(behind, t, t, blow.impact, blow))
    for k, clip in enumerate(clips):
        ahead = clip.t0 - float(clip.result.t[0])
        found += [Struck(k, i.t_start + ahead, i.t_end + ahead, i) for i in clip.result.impacts]
    return sorted(found, key=lambda s: (s.start, not s.impact.struck))


def samples(clips: Sequence[Clip], impacts: Sequence[Struck], numbers: int, detail: float = 1.0) -> Samples:
    """Instants for clips whose frames hold `numbers` numbers each; `detail` in (0, 1] is the share that is wanted."""
    total = sum(clip.end - clip.begin for clip in clips)
    most = max(int(detail * MOST_NUMBERS / max(numbers, 1)), 200)
    even = int(np.clip(detail * RATE * total, 120, min(MOST_EVEN, most // 2)))
    lasting = [s for s in impacts if s.end > s.start]
    each = min(max(int(detail * IN_IMPACT), LEAST), (most - even) // max(len(lasting), 1))
    shown, note = lasting, ""
    if lasting and each < LEAST:
        # Too many to show all closely: the hardest ones keep their frames.
        each = LEAST
        count = max((most - even) // LEAST, 1)
        shown = sorted(lasting, key=lambda s: -s.impact.max_normal_force)[:count]
        note = (
            f"To keep this file small, only the {len(shown)} hardest of {len(lasting)} lasting impacts have frames of "
            "their own; the others are shown by the frames of the motion around them."
        )
    elif lasting and each < int(detail * IN_IMPACT):
        note = f"To keep this file small, each of the {len(lasting)} impacts is shown by {each} frames."
    return Samples([_of_clip(k, clip, shown, even, each, total) for k, clip in enumerate(clips)], note)


def _of_clip(k: int, clip: Clip, shown: Sequence[Struck], even: int, each: int, total: float) -> np.ndarray:
    share = (clip.end - clip.begin) / total if total > 0.0 else 1.0
    parts: list[Any] = [np.linspace(clip.begin, clip.end, max(int(even * share), 2))]
    for s in shown:
        if s.clip == k:
            around = AROUND * (s.end - s.start)
            parts.append(np.linspace(s.start, s.end, each))
            parts.append(np.array([s.start - around, s.start - 0.5 * around, s.end + 0.5 * around, s.end + around]))
    # Forces and velocities jump at events: one frame on each side.
    touching = {a.name for a in clip.result.world.automata if a.report.contacts}
    ahead = clip.t0 - float(clip.result.t[0])
    marks = np.array([e.t + ahead for e in clip.result.events if e.automaton in touching][:MOST_EVENTS])
    parts += [marks, np.nextafter(marks, -np.inf)]
    return np.unique(np.clip(np.concatenate(parts), clip.begin, clip.end))
