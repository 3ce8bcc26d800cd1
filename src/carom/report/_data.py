"""What the viewer draws, packed: every array once, in base64, everything else in JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..hybrid.reporting import Phase
from ..quantities import Real
from ..result._clip import Clip
from ..result._drawing import ContactForce, Part, drawing_of
from ..result._signals import energy_signals
from .samples import Struck, samples

# A phase that a law only calls closed is told apart by whether the bodies approach or part.
COMPRESSING, PARTING = Phase("compressing", "elastic"), Phase("parting", "restitution")


def viewer_data(clips: Sequence[Clip], impacts: Sequence[Struck], detail: float = 1.0) -> dict[str, Any]:
    """All that the viewer needs, ready for JSON; with less `detail`, fewer frames."""
    chosen = samples(clips, impacts, _numbers_per_frame(clips), detail)
    drawn = drawing_of(list(zip(clips, chosen.times, strict=True)))
    taken, packed = 0.0, []
    for k, part in enumerate(drawn.parts):
        taken += sum(s.impact.energy_lost for s in impacts if _opens(s, k))
        energy, taken = _energy(part, taken)
        packed.append(_part(part) | {"energy": energy})
    return {
        "begin": min(clip.begin for clip in clips),
        "end": max(clip.end for clip in clips),
        "box": [_short(x) for x in drawn.box],
        "clips": packed,
        "impacts": [_impact(s, drawn.parts[s.clip], number) for number, s in enumerate(impacts, start=1)],
        "stances": [each for k, clip in enumerate(clips) for each in _stances(k, clip)],
        "note": chosen.note,
    }


def as_json(value: object) -> str:
    """JSON that can stand inside a script element: no character in it can end the element, or be no number."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _short(x: Real) -> float:
    return float(f"{float(x):.9g}")


def _floats(values: np.ndarray) -> str:
    """Single precision: 7 digits are more than a screen has."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def _doubles(values: np.ndarray) -> str:
    """Times need double precision: microseconds after hours."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def _numbers_per_frame(clips: Sequence[Clip]) -> int:
    """Numbers in the largest frame, counted on one."""
    first = drawing_of([(clip, np.array([clip.begin])) for clip in clips], forces=False)
    sizes = []
    for part in first.parts:
        lines = [link.points for link in part.links] + [r.points for r in part.rounds] + [part.pins, *part.springs]
        lines += [s.points for s in part.surfaces if s.points.ndim == 3]
        sizes.append(sum(line.size for line in lines) + 10 * len(part.rounds) + 5)
    return max(sizes)


def _lines(points: np.ndarray) -> dict[str, Any]:
    """(times, points, 2)"""
    return {"n": int(points.shape[1]), "xy": _floats(points)}


def _part(part: Part) -> dict[str, Any]:
    return {
        "t": _doubles(part.t),
        "links": [
            {"name": link.name, "kind": link.kind, "radius": _short(link.radius), **_lines(link.points)}
            for link in part.links
        ],
        "pins": _lines(part.pins),
        "bases": [[_short(x), _short(y)] for x, y in part.bases],
        "rounds": [{"kind": r.kind, "radius": _short(r.radius), **_lines(r.points)} for r in part.rounds],
        "springs": [_lines(s) for s in part.springs],
        "tips": [_lines(t[:, None, :]) for t in part.tips],
        "surfaces": [
            {"moving": s.points.ndim == 3, "n": int(s.points.shape[-2]), "xy": _floats(s.points)} for s in part.surfaces
        ],
        "contacts": [_contact(part, c) for c in part.contacts],
    }


def _contact(part: Part, c: ContactForce) -> dict[str, Any]:
    s = c.signals
    names, codes = _phases(c)
    normal = part.clip.turn(np.stack([s.nx, s.ny], axis=1))
    radii = [r.radius for r in part.rounds if r.name == c.name and r.kind == "tip"]
    return {
        "name": c.name,
        "unit": s.unit,
        "forceUnit": s.force_unit,
        "radius": _short(radii[0]) if radii else 0.0,
        "indentation": _floats(s.indentation),
        "rate": _floats(s.rate),
        "sliding": _floats(s.sliding),
        "normal": _floats(s.normal),
        "friction": _floats(s.friction),
        "point": _floats(c.point),
        "force": _floats(c.force),
        "way": _floats(normal),
        "phases": [{"word": p.word, "text": p.text, "tone": p.tone} for p in names],
        "phase": base64.b64encode(codes.astype(np.uint8).tobytes()).decode("ascii"),
    }


def _phases(c: ContactForce) -> tuple[list[Phase], np.ndarray]:
    """The phases that occur, and the number of the one at each instant."""
    s = c.signals
    moving = (s.tone == "closed") & (s.indentation > 0.0) & (s.rate != 0.0) & bool(np.any(s.indentation > 1e-9))
    told = [s.phases[code] for code in s.code]
    for k in np.flatnonzero(moving):
        told[k] = (COMPRESSING if s.rate[k] > 0.0 else PARTING)._replace(mode=told[k].mode)
    names = sorted(set(told))
    return names, np.array([names.index(each) for each in told])


def _energy(part: Part, before: float) -> tuple[dict[str, Any], float]:
    """Energies [J]; what contacts and dampers have taken goes on from clip to clip."""
    result = part.clip.result
    e = energy_signals(result, part.clip.local(part.t))
    works = [e.works[channel.name] for channel in result.world.channels if channel.kind == "dissipative" and e.works]
    taken = before - sum(works, start=np.zeros_like(e.potential))
    packed = {
        "kinetic": _floats(np.sum(e.kinetic, axis=1)),
        "potential": _floats(e.potential),
        "taken": _floats(taken),
        "ledger": bool(e.works),
    }
    return packed, float(taken[-1])


def _stances(number: int, clip: Clip) -> list[dict[str, Any]]:
    """When contacts stood: closed for longer than a strike."""
    ahead = clip.t0 - float(clip.result.t[0])
    return [
        {"name": s.contact, "clip": number, "begin": s.t_start + ahead, "end": s.t_end + ahead}
        for s in clip.result.stances
    ]


def _opens(s: Struck, clip: int) -> bool:
    """Is it a blow at the beginning of that clip, of which no ledger tells?"""
    return s.blow is not None and s.clip == clip


def _place(s: Struck, part: Part) -> tuple[int, Any, np.ndarray]:
    """Which contact it is (-1 for none), where, and the normal."""
    if s.blow is not None:
        return -1, s.blow.point, np.array(s.blow.way)
    index = next(k for k, c in enumerate(part.contacts) if c.name == s.impact.contact)
    c = part.contacts[index]
    frame = min(int(np.searchsorted(part.t, s.start)), len(part.t) - 1)
    return index, c.point[frame], np.array([c.signals.nx[frame], c.signals.ny[frame]])


def _impact(s: Struck, part: Part, number: int) -> dict[str, Any]:
    index, point, way = _place(s, part)
    i = s.impact
    return {
        "number": number,
        "name": i.contact,
        "clip": s.clip,
        "contact": index,
        "begin": s.start,
        "end": s.end,
        "point": [_short(x) for x in point],
        "way": [_short(x) for x in part.clip.turn(way)],
        "along": [_short(x) for x in part.clip.turn(np.array([way[1], -way[0]]))],
        "peak": i.max_normal_force if np.isfinite(i.max_normal_force) else 0.0,
        "depth": i.max_indentation,
        "dent": i.residual_indentation,
        "impulse": i.normal_impulse,
        "rub": i.tangential_impulse,
        "before": [i.normal_velocity_before, i.tangential_velocity_before],
        "after": [i.normal_velocity_after, i.tangential_velocity_after],
    }
