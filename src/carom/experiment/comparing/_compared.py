"""What is compared: a run, however it is given, with its signals by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..._arguments import ComparedLike, FileLike
from ...errors import CaromError, name_in
from ...result._clip import Clip
from ...result._signals import times_of
from ...result._trajectory import table
from ...result.result import Result
from ...scenario._change import changed
from ...scenario.library import load
from ...scenario.model import Scenario
from ...scenario.places import shortened
from ..experiment import Experiment, Say, perform

INSTANTS = 800  # evenly over a run; those around events and inside impacts come on top
WORDS = ("phase",)  # of the trajectory's columns, what is no number


class Signal(NamedTuple):
    """A number over the instants of its run."""

    unit: str
    meaning: str
    values: np.ndarray


@dataclasses.dataclass(frozen=True)
class Compared:
    """One side of a comparison.

    - `clips`: its stretches of motion, in common time; none of a run of which there is only a table
    - `experiment`: what knows its quantities, if it came from a scenario
    """

    label: str
    times: np.ndarray  # [s]
    signals: dict[str, Signal]
    clips: tuple[Clip, ...] = ()
    experiment: Experiment | None = None


def compared(given: ComparedLike, label: str, changes: Mapping[str, Any], say: Say) -> Compared:
    """A side from a result, a scenario, its name or file, a folder of `carom run`, or a NetCDF file."""
    if isinstance(given, Result):
        return _of_clips(label or "run", (Clip(given),), None, changes)
    if isinstance(given, Experiment):
        return _of_clips(label or given.scenario.name, given.clips, given, changes)
    given_label, label = label, label or _told(given, changes)
    if isinstance(given, Scenario):
        return _of_scenario(given, label or given.name, changes, say)
    if not isinstance(given, str | Path):
        raise CaromError(
            f"compare got a {type(given).__name__}; give results, scenarios, their names, folders of runs or .nc files"
        )
    path = Path(given)
    if path.suffix == ".nc":
        return _of_table(path, given_label or path.stem, changes)
    if path.is_dir():
        file = path / "scenario.toml"
        if not file.is_file():
            raise CaromError(f"{path} holds no scenario.toml; give a folder that `carom run` wrote")
        return _of_scenario(load(file), label or path.name, changes, say)
    name, sign, variant = str(given).partition("@")
    scenario = load(given if not sign or path.is_file() else name)
    if sign and not path.is_file():
        name_in("variant", variant, tuple(scenario.variants))
        scenario = scenario.variant(variant)
    return _of_scenario(scenario, label or str(given), changes, say)


def _told(given: ComparedLike, changes: Mapping[str, Any]) -> str:
    """What a run that is changed is called: what it was, and what was changed; empty where nothing was."""
    if not changes:
        return ""
    name = given.name if isinstance(given, Scenario) else str(given)
    words = [f"{path.rsplit('.', 1)[-1]}={shortened(str(value), 24)}" for path, value in changes.items()]
    return f"{name}, {', '.join(words)}"


def _of_scenario(scenario: Scenario, label: str, changes: Mapping[str, Any], say: Say) -> Compared:
    say(f"running {label}")
    found = perform((changed(scenario, dict(changes)) if changes else scenario).model_copy(update={"compare": []}))
    return _of_clips(label, found.clips, found, {})


def _of_clips(
    label: str, clips: tuple[Clip, ...], experiment: Experiment | None, changes: Mapping[str, Any]
) -> Compared:
    _refuse_changes(label, changes)
    times: list[np.ndarray] = []
    parts: list[dict[str, Signal]] = []
    for clip in clips:
        instants = times_of(clip.result, INSTANTS)
        found = table(clip.result, instants)
        times.append(instants - float(clip.result.t[0]) + clip.t0)
        parts.append(_signals(found.variables, found.names))
    # Stretches of one run may have different parts, such as an object that was caught: what they share goes on.
    shared = [name for name in parts[0] if all(name in part for part in parts)]
    joined = {
        name: parts[0][name]._replace(values=np.concatenate([part[name].values for part in parts])) for name in shared
    }
    return Compared(label, np.concatenate(times), joined, tuple(clips), experiment)


def _refuse_changes(label: str, changes: Mapping[str, Any]) -> None:
    if changes:
        raise CaromError(
            f"'{label}' has run already, so {', '.join(changes)} cannot be changed in it; give its scenario"
        )


def _of_table(path: FileLike, label: str, changes: Mapping[str, Any]) -> Compared:
    """The table of a run, as `result.save` writes it."""
    _refuse_changes(label, changes)
    import xarray

    if not Path(path).is_file():
        raise CaromError(f"there is no file {path}; give the trajectory.nc of a run")
    try:
        with xarray.open_dataset(path) as data:
            data.load()
    except (OSError, ValueError, KeyError) as trouble:
        raise CaromError(f"{path} is no NetCDF file that can be read: {str(trouble)[:120]}") from None
    if "time" not in data.coords or data["time"].ndim != 1 or not data["time"].size:
        raise CaromError(f"{path} has no times; give a file that `result.save` or `carom run` wrote")
    names = {str(name): [str(word) for word in data[name].values] for name in data.coords if name != "time"}
    columns = {
        str(name): (tuple(map(str, column.dims)), column.values, {str(k): str(v) for k, v in column.attrs.items()})
        for name, column in data.data_vars.items()
        if column.dims and column.dims[0] == "time" and column.dtype.kind in "fiu"
    }
    return Compared(label, np.asarray(data["time"].values, dtype=float), _signals(columns, names))


def _signals(columns: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> dict[str, Signal]:
    """Columns one by one: 'angle fore', 'site velocity fore.tip y', 'normal force tip'; angles in degrees."""
    out: dict[str, Signal] = {}
    for name, (dims, values, said) in columns.items():
        if name in WORDS:
            continue
        unit, word, numbers = said.get("units", ""), name.replace("_", " "), np.asarray(values, dtype=float)
        if unit == "rad" and name == "angle":
            unit, numbers = "°", np.degrees(numbers)
        for index in np.ndindex(numbers.shape[1:]):
            coordinates = [
                names[dim][k] if dim in names else str(k + 1) for dim, k in zip(dims[1:], index, strict=True)
            ]
            out[" ".join([word, *coordinates])] = Signal(
                unit, said.get("long_name", ""), numbers[(slice(None), *index)]
            )
    return out
