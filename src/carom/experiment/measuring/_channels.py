"""Columns by the names that carom has for them: signals over time, numbers of impacts, measures of a whole run."""

from __future__ import annotations

import dataclasses
import re
from difflib import get_close_matches
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...errors import CaromError
from ...hybrid.world import World
from ...result._columns import AT_STOPS, IMPACTS
from ...study._asked import lane_measure
from ...study.recording import AbstractRecorder, LaneMeasure, Signal, first_impacts
from ...study.recording._series import ContactPart
from ...study.recording.first_impacts import FIELDS, MADE

FORCES = {"normal": "N", "friction": "N", "indentation": "m"}
INTERVAL = "interval"  # [s] from an impact to the next
OF_IMPACT = re.compile(r"impact\.(?P<number>\d+)\.(?P<field>.+)")


@dataclasses.dataclass(frozen=True)
class SeriesChannel:
    """A signal over time."""

    name: str
    signal: Signal | ContactPart
    unit: str


@dataclasses.dataclass(frozen=True)
class ImpactChannel:
    """A number of the impacts of a run, in the order in which they begin."""

    name: str
    field: str
    unit: str

    @property
    def needs(self) -> tuple[str, ...]:
        """Columns of the lane's table."""
        return ("t_start",) if self.field == INTERVAL else MADE.get(self.field, (self.field,))


@dataclasses.dataclass(frozen=True)
class RunChannel:
    """A number of a whole run."""

    name: str
    recorder: AbstractRecorder
    unit: str


Channel = SeriesChannel | ImpactChannel | RunChannel


def signal_names(world: World) -> tuple[str, ...]:
    """What can be recorded of this world over time."""
    top = world.mechanism.topology
    out = []
    for k, link in enumerate(top.names):
        out += [f"{kind}.{link}" for kind in (("slide", "slide_rate") if top.slides[k] else ("angle", "rate"))]
        out += [f"bend.{link}.{mode + 1}" for mode in range(len(top.mode_index(k)) if top.modes[k] else 0)]
    out += [f"{kind}.{site}" for site in top.site_names for kind in ("x", "y", "vx", "vy")]
    return (*out, *(f"{part}.{contact.name}" for contact in world.contacts for part in FORCES))


def series_channel(world: World, where: str, name: str) -> SeriesChannel:
    """The signal of this name."""
    known = signal_names(world)
    if name not in known:
        try:  # as people write signals: com.y, abs(torso.rate)
            written: Any = lane_measure(world, f"final({name})", False)
        except CaromError:
            raise unknown(where, name, "signal over time", known) from None
        return SeriesChannel(name, written.recorder.signal, written.unit)
    part, _, rest = name.partition(".")
    if part in FORCES:
        unit = next(c.pair.length_unit for c in world.contacts if c.name == rest)
        return SeriesChannel(name, ContactPart(rest, part), _at_stop(FORCES[part], unit))
    found: Any = lane_measure(world, f"{name}.final", False)
    return SeriesChannel(name, found.recorder.signal, found.unit)


def _at_stop(unit: str, length: str) -> str:
    """At the stop of a hinge indentations are angles."""
    return AT_STOPS.get(unit, unit) if length == "rad" else unit


def impact_channel(world: World, where: str, name: str) -> ImpactChannel:
    """A column of a table of impacts."""
    known = (*FIELDS, INTERVAL)
    if name not in known:
        raise unknown(where, name, "number of an impact", known)
    if name == INTERVAL:
        return ImpactChannel(name, name, "s")
    first_impacts(world, 1, name, True)  # refuses what a lane cannot know
    unit = next((column.unit for column in IMPACTS if column.field == name), "-")
    return ImpactChannel(name, name, unit)


def run_channel(world: World, where: str, name: str) -> RunChannel:
    """A measure of a whole run that changes smoothly with its numbers."""
    try:
        found: LaneMeasure = lane_measure(world, name, True)
    except CaromError as trouble:
        raise CaromError(
            f"column '{name}' of {where}: {trouble}. (Signals over time need a column t [s], numbers of impacts a "
            "column impact.)"
        ) from None
    if found.recorder.key in ("impacts", "energy", "momentum"):
        raise CaromError(
            f"column '{name}' of {where} has no derivatives, so that nothing can be fitted to it; give "
            "numbers of single impacts (impact.1.restitution), or of the motion (y.ball.tip.final)"
        )
    return RunChannel(name, found.recorder, found.unit)


def unknown(where: str, name: str, what: str, known: tuple[str, ...]) -> CaromError:
    """A column that nothing is known by, with the nearest name."""
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known[:12])}{' ..' * (len(known) > 12)}"
    return CaromError(f"column '{name}' of {where} is no {what} of this world; {hint}")


# -- reading -----------------------------------------------------------------------------------------------------------


def read_impacts(
    channel: ImpactChannel, values: dict[str, np.ndarray], slopes: dict[str, np.ndarray] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Of every lane (lanes, rows): the numbers in order, and their slopes; nan where there are not so many impacts."""
    rank = np.lexsort((values["order"], values["t_start"]), axis=1)
    there = np.isfinite(np.take_along_axis(values["t_start"], rank, axis=1))
    parts = [np.take_along_axis(values[name], rank, axis=1) for name in channel.needs]
    turns = [
        np.zeros_like(p) if slopes is None else np.take_along_axis(slopes[name], rank, axis=1)
        for p, name in zip(parts, channel.needs, strict=True)
    ]
    safe = [np.where(there, x, 1.0) for x in parts]  # of rows that are empty nothing is computed
    flat = [np.where(there, x, 0.0) for x in turns]
    value, slope = jax.jvp(lambda *x: _combined(channel.field, *x), tuple(safe), tuple(flat))
    value, slope = np.array(value), np.array(slope)
    if channel.field == INTERVAL:
        there = there & np.append(there[:, 1:], np.zeros((len(there), 1), dtype=bool), axis=1)
    return np.where(there, value, np.nan), np.where(there, slope, np.nan)


def _combined(field: str, *parts: Any) -> Any:
    """The number of an impact from the columns of its table."""
    if field == INTERVAL:
        t = parts[0]
        return jnp.concatenate([t[:, 1:] - t[:, :-1], jnp.full((len(t), 1), jnp.nan)], axis=1)
    if field == "restitution":
        return -parts[1] / parts[0]
    if field == "kinetic_energy_lost":
        return parts[0] - parts[1]
    return parts[1] - parts[0] if field == "duration" else parts[0]
