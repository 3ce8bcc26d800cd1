"""A study on disk: a Zarr store that plain xarray reads, written task by task.

Every task is one chunk of every array. Its outcomes are written last, and every file appears complete or not at all: a
task whose outcomes are there is done, any other is run again. Nothing else says how far a study has come.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import functools
import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import CaromError
from ...hybrid import outcome
from ...result._columns import IMPACTS
from ...result._files import sentence
from ...scenario.schema_data import meaning_at
from ...study._asked import Asked
from ...study.recording.first_impacts import FIELDS
from ..measures import kind_of
from ._study_plan import POINT, Plan, differences
from ._study_task import Done, empty

if TYPE_CHECKING:
    import xarray

MARK = "carom_study"  # the attribute by which a store is known
IMPACT = "impact"  # the dimension of tables of impacts
STROKE = "\u2215"  # stands for "/" in names of arrays, which would make folders of it


UNIT = re.compile(r"\[((?:(?:kg|rad|Hz|Pa|[msNJW1])(?:\^[\d.]+)?[ /]?)+)\]")  # in the words for a field: N m/rad


def sheet(plan: Plan, asked: Asked) -> xarray.Dataset:
    """The Dataset of a study without its numbers."""
    import xarray

    meanings = {column.field: column.words for column in IMPACTS}
    told: dict[str, dict[str, Any]] = {
        "outcome": {"long_name": "how the run ended", **_outcome_words()},
        "time": {"long_name": "time at which the run ended", "units": "s"},
        **{name: {"long_name": kind_of(name)[0].meaning, "units": m.unit} for name, m in asked.measures.items()},
    }
    data = {name: (plan.dims, empty(name, plan.shape), about) for name, about in told.items()}
    shape, dims = (*plan.shape, plan.impacts), (*plan.dims, IMPACT)
    for field, m in asked.tables.items():
        name, about = f"{IMPACT}.{field}", {"long_name": meanings.get(field, field), "units": m.unit}
        data[name] = (dims, empty(name, shape), about)
    coords: dict[str, Any] = {}
    for axis in plan.axes:
        coords[axis.path] = (POINT if plan.points else axis.path, *_coordinate(axis.path, axis.values, axis.category))
    if plan.impacts:
        coords[IMPACT] = (IMPACT, np.arange(1, plan.impacts + 1), {"long_name": "number of the impact"})
    return xarray.Dataset(data, coords, _about(plan))


def _about(plan: Plan) -> dict[str, Any]:
    identity = plan.identity()
    keys = {
        "carom": "carom_version",
        "jax": "jax_version",
        "back_end": "back_end",
        "drawn": "drawn",
        "scenario": "scenario",
    }
    told = {name: identity[key] for key, name in keys.items()}
    return told | {
        MARK: json.dumps(identity),
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _coordinate(path: str, values: tuple[Any, ...], category: bool) -> tuple[np.ndarray, dict[str, Any]]:
    """Numbers as they are; categories as codes, with their words beside."""
    about = {"long_name": _meaning(path)}
    unit = UNIT.search(about["long_name"])
    about |= {"units": unit[1]} if unit else {}
    if not category or all(isinstance(x, float | int) and not isinstance(x, bool) for x in values):
        return np.array(values, dtype=float), about
    words = list(dict.fromkeys(map(str, values)))
    codes = np.array([words.index(str(x)) for x in values], dtype=np.int64)
    return codes, about | {
        "flag_values": list(range(len(words))),
        "flag_meanings": " ".join(w.replace(" ", "_") for w in words),
    }


def _meaning(path: str) -> str:
    steps = tuple(int(s) if s.isdigit() else s for s in path.replace('"', "").split("."))
    found = meaning_at(steps) or meaning_at(steps[:-1])
    return found or path


def _outcome_words() -> dict[str, Any]:
    words = {-1: "not run yet", **outcome.WORDS}
    names = {code: name.lower() for name, code in vars(outcome).items() if isinstance(code, int) and name.isupper()}
    meanings = " ".join(["not_run_yet", *(names[code] for code in sorted(outcome.WORDS))])
    return {"flag_values": sorted(words), "flag_meanings": meanings, "words": json.dumps(words)}


class Store:
    """A Zarr store of a study."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.plan = path, plan

    def opened(self, asked: Asked) -> list[int]:
        """Tasks that are not done; a store that is not there is made, another study's is refused."""
        import zarr

        if self.path.exists():
            self._refuse_other()
        else:
            self._made(asked)
        with _legible(self.path):
            array: Any = zarr.open_group(str(self.path), mode="r")["outcome"]
            codes = np.asarray(array[...])
        return [k for k, task in enumerate(self.plan.tasks()) if np.any(codes[task] == -1)]

    def _made(self, asked: Asked) -> None:
        """All arrays without chunks; renamed when complete."""
        import dask.array

        found = filed(sheet(self.plan, asked))
        for name, column in found.data_vars.items():
            nothing = dask.array.full(column.shape, column.dtype.type(-1 if name == "outcome" else np.nan), chunks=-1)
            found[name] = column.copy(data=nothing)
        encoding = {}
        for name, column in found.data_vars.items():
            chunks = (*self.plan.block, *column.shape[len(self.plan.block) :])
            whole = name == "outcome"
            encoding[name] = {
                "chunks": chunks,
                "dtype": "int8" if whole else "float64",
                "fill_value": -1 if whole else np.nan,
            }
        half = self.path.with_name(f".{self.path.name}.{os.getpid()}-{threading.get_ident()}.part")
        _cleared(half)
        try:
            found.to_zarr(half, compute=False, encoding=encoding, zarr_format=3, consolidated=False)
            half.rename(self.path)
        except OSError as trouble:
            _cleared(half)
            if self.path.exists():  # another command has made it meanwhile
                self._refuse_other()
                return
            raise CaromError(sentence(self.path, trouble)) from None

    def _refuse_other(self) -> None:
        known = identity_of(self.path)
        if known is None:
            raise CaromError(f"{self.path} is there and holds no study; choose another name, or remove it")
        found = differences(self.plan.identity(), known)
        if found:
            raise CaromError(
                f"{self.path} holds another study; what differs: {'; '.join(found)}; choose another name, or remove it"
            )

    def write(self, number: int, done: Done) -> None:
        """A task, its outcomes last."""
        from zarr.core.sync import sync

        task = self.plan.task(number)
        shape = tuple(part.stop - part.start for part in task)
        columns = {name: column.reshape(*shape, *column.shape[1:]) for name, column in done.columns.items()}
        codes = columns.pop("outcome")
        try:
            arrays = _arrays(self.path)
            sync(_written(arrays, task, columns))
            sync(_written(arrays, task, {"outcome": codes}))
        except OSError as trouble:
            raise CaromError(
                sentence(self.path, trouble) + "; what is complete stays, and the same command goes on"
            ) from None


async def _written(arrays: dict[str, Any], task: tuple[slice, ...], columns: dict[str, np.ndarray]) -> None:
    """All columns at once: one after the other, each waits for a thread."""
    await asyncio.gather(*(arrays[name.replace("/", STROKE)].setitem(task, column) for name, column in columns.items()))


def _arrays(path: Path) -> dict[str, Any]:
    """The arrays of a store, opened once; one that was removed, or made anew, is another."""
    told = (path / "zarr.json").stat()
    return _opened(path, told.st_ino, told.st_mtime_ns)


@functools.lru_cache(maxsize=4)
def _opened(path: Path, *mark: int) -> dict[str, Any]:
    from zarr.core.sync import sync

    return sync(_every(path))


async def _every(path: Path) -> dict[str, Any]:
    from zarr.api.asynchronous import open_group

    group = await open_group(str(path), mode="r+")
    return {name: array async for name, array in group.arrays()}


def filed(data: xarray.Dataset) -> xarray.Dataset:
    """With names that files can have."""
    names = {name: str(name).replace("/", STROKE) for name in (*data.variables, *data.dims)}
    return data.rename({name: other for name, other in names.items() if name != other})


def _cleared(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def identity_of(path: Path) -> dict[str, Any] | None:
    """Which study a store holds; None if it is none."""
    try:
        attributes = json.loads((path / "zarr.json").read_text(encoding="utf-8"))["attributes"]
        found = json.loads(attributes[MARK])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, dict) else None


def read_study(path: Path) -> xarray.Dataset:
    """A study as a Dataset, in memory; categories by their words."""
    import xarray

    known = identity_of(path)
    if known is None:
        raise CaromError(f"{path} holds no study; `carom sweep` makes one")
    # As they were asked for: a folder has no order, and so Zarr has none.
    asked = ["outcome", "time", *known["measures"]]
    names, axes = [*asked, *(f"{IMPACT}.{field}" for field in FIELDS)], [path for path, _ in known["axes"]]
    with _legible(path):
        data = xarray.open_zarr(path, chunks=None, consolidated=False, mask_and_scale=False).load()
        data = data.rename({name.replace("/", STROKE): name for name in (*names, *axes) if "/" in name})
        for name in (*asked, *axes):
            data.variables[name]  # missing, it is a KeyError
    names += sorted(str(name) for name in data.data_vars if name not in names)
    axes.append(IMPACT)
    coords = {name: data[name].variable for name in axes if name in data.coords}
    return in_words(xarray.Dataset({name: data[name].variable for name in names if name in data}, coords, data.attrs))


@contextlib.contextmanager
def _legible(path: Path) -> Iterator[None]:
    """What a power cut, or somebody else, has damaged is said."""
    try:
        yield
    except (RuntimeError, ValueError, KeyError, OSError) as trouble:
        raise CaromError(
            f"{path} cannot be read: a part of it is damaged or missing ({type(trouble).__name__}: "
            f"{str(trouble)[:120]}); remove it and run the command again"
        ) from None


def in_words(data: xarray.Dataset) -> xarray.Dataset:
    """Categories by their words."""
    for name, column in list(data.coords.items()):
        if "flag_meanings" in column.attrs:
            words = np.array(str(column.attrs["flag_meanings"]).split(" "))
            data = data.assign_coords(
                {name: (column.dims, words[column.values], {"long_name": column.attrs["long_name"]})}
            )
    return data
