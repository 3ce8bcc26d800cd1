"""Signals that people write, over the time of a run: numbers, units, labelled arrays, tables, files of other programs.

result["com.y"]                              # an xarray DataArray with its unit; an array without xarray
result.signal("abs(tip.vx)", [0.1, 0.2])     # numbers at these instants
result.to_pandas("com.y", "contact.foot.force")
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import jax.numpy as jnp
import numpy as np

from .. import errors, native
from ..hybrid.world import World
from ..quantities import Times
from ..signal import Signal
from ._dense import over
from ._records import States
from ._signals import scene_at, times_of

if TYPE_CHECKING:
    import pandas
    import xarray

    from ._columns import Column
    from .result import Result

Row = TypeVar("Row")


def values_of(result: Result, texts: Sequence[str], times: Times) -> np.ndarray:
    """Signals in SI units: (times, signals)."""
    for text in texts:
        Signal(text).check(result.world.mechanism, result.world.automata)
    return np.asarray(over(result, times, _values, (tuple(texts),)))


def unit_in(world: World, text: str) -> str:
    """The unit of a signal; of a condition, and of what is a pure number, '1'."""
    return str(Signal(text).check(world.mechanism, world.automata))


def _values(texts: tuple[str, ...], world: World, found: States) -> Any:
    def one(s: States) -> Any:
        scene = scene_at(world, s)
        scene.work = s.work
        return jnp.stack([jnp.asarray(Signal(text).value(scene), dtype=float) for text in texts])

    return native.rows(one)(found)


def labelled(result: Result, text: str) -> xarray.DataArray | np.ndarray:
    """A signal over the run: with times and units where xarray is installed, else its numbers alone."""
    times = times_of(result)
    values = values_of(result, [text], times)[:, 0]
    try:
        import xarray
    except ImportError:
        return values
    said = {"units": unit_in(result.world, text), "long_name": text}
    time = ("time", times, {"units": "s", "long_name": "time"})
    return xarray.DataArray(values, {"time": time}, ("time",), text, said)


def frame_of(columns: dict[str, Any], index: np.ndarray | None = None, name: str = "") -> pandas.DataFrame:
    """A table of pandas."""
    try:
        import pandas
    except ImportError:
        raise errors.CaromError("to_pandas needs pandas, which is not installed; pip install pandas") from None
    return pandas.DataFrame(columns, index=None if index is None else pandas.Index(index, name=name))


def frame_over_time(result: Result, texts: Sequence[str], times: Times | None) -> pandas.DataFrame:
    """Signals side by side, a row for each instant; without any, all that the trajectory has."""
    at = times_of(result) if times is None else np.atleast_1d(np.asarray(times, dtype=float))
    if texts:
        values = values_of(result, texts, at)
        heads = [f"{text} [{unit_in(result.world, text)}]" for text in texts]
        return frame_of(dict(zip(heads, values.T, strict=True)), at, "time [s]")
    from ._trajectory import table

    found, columns = table(result, at), dict[str, Any]()
    for name, (dimensions, values, said) in found.variables.items():
        rows = values.reshape(len(values), -1)
        heads = [""]
        for dimension in dimensions[1:]:
            heads = [f"{head}.{entry}" for head in heads for entry in found.names[dimension]]
        for head, column in zip(heads, rows.T, strict=True):
            columns[f"{name}{head} [{said['units']}]"] = column
    return frame_of(columns, found.times, "time [s]")


class Rows(list[Row]):
    """Impacts, or stances, one after the other; `to_pandas()` is their table, with the units in its heads."""

    def __init__(self, rows: Iterable[Row], columns: tuple[Column, ...]) -> None:
        super().__init__(rows)
        self.columns = columns

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each, and a column for each of their numbers."""
        heads = [f"{c.field} [{c.unit}]" if c.unit not in ("", "-") else c.field for c in self.columns]
        return frame_of({h: [c.read(row) for row in self] for h, c in zip(heads, self.columns, strict=True)})


class Expressed:
    """What a run says in signals (carom.signal): `Result` is one."""

    def __getitem__(self: Any, text: str) -> xarray.DataArray | np.ndarray:
        """A signal over the run: `result["com.y"]` is an xarray DataArray with its unit (an array without xarray)."""
        return labelled(self, text)

    def signal(self: Any, text: str, times: Times) -> np.ndarray:
        """A signal at these instants [s], in SI units."""
        at = np.asarray(times, dtype=float)
        return values_of(self, [text], np.atleast_1d(at))[:, 0].reshape(at.shape)

    def unit(self: Any, text: str) -> str:
        """The unit of a signal."""
        return unit_in(self.world, text)

    def to_pandas(self: Any, *texts: str, times: Times | None = None) -> pandas.DataFrame:
        """Signals side by side, a row for each instant; without any, all that the trajectory has."""
        return frame_over_time(self, texts, times)
