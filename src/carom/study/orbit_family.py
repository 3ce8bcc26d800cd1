"""A family of orbits over a parameter: its points, and where something happens to it."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from .._arguments import Name
from ..quantities import Index
from ..result.result import Result
from ._fixed_point import NEUTRAL
from ._orbit_points import Family, Point, periods_of

FOLD, DOUBLING, TORUS, BRANCH, GRAZE = "fold", "period doubling", "Neimark-Sacker", "branch", "grazing"


class SpecialPoint(NamedTuple):
    """Where an orbit gains or loses something.

    - `kind`: 'fold' (the parameter turns back), 'period doubling' (a multiplier passes -1), 'Neimark-Sacker' (a pair of
      complex ones passes the unit circle), 'branch' (one passes 1 and nothing turns back), 'grazing' (an event of the
      period appears, or goes)
    - `after`: the number of the last point of the family before it
    """

    kind: str
    parameter: float
    period: float  # [s]
    after: int
    q: np.ndarray
    v: np.ndarray
    multipliers: np.ndarray
    values: dict[str, float]  # the columns of the family, there
    about: str  # of grazing: the event; of a Neimark-Sacker bifurcation: the angle of the multipliers
    point: Point

    def __str__(self) -> str:
        about = f" ({self.about})" if self.about else ""
        return f"{self.kind} at {self.parameter:.10g}, period {self.period:.9g} s{about}"


@dataclasses.dataclass(frozen=True)
class OrbitFamily:
    """Periodic motions over a parameter, one after the other along the family, past its folds.

    - `parameter`, `period` [s], `q`, `v` (just after the event), `multipliers` (largest first), `stable`: a row a point
    - `drift`: by how much the coordinates in `drifts` shift in a period
    - `special`: folds, period doublings, Neimark-Sacker points, branches and grazing, in their order
    - `ended`: why it goes no further
    """

    name: str
    event: tuple[str, str]
    times: int
    coordinates: tuple[str, ...]
    units: tuple[str, ...]  # of the coordinates
    drifts: tuple[str, ...]
    parameter: np.ndarray
    period: np.ndarray
    q: np.ndarray
    v: np.ndarray
    multipliers: np.ndarray
    drift: np.ndarray
    special: tuple[SpecialPoint, ...]
    ended: str
    ends: tuple[float, float]  # of the range
    family: Family = dataclasses.field(repr=False)
    points: tuple[Point, ...] = dataclasses.field(repr=False)

    @property
    def stable(self) -> np.ndarray:
        """Do small disturbances die out?"""
        return np.asarray(np.abs(self.multipliers[:, 0]) < 1.0 - NEUTRAL)

    def run(self, number: Index) -> list[Result]:
        """One period of a point as runs, return by return: its events, impacts and motion."""
        if not isinstance(number, int | np.integer) or not -len(self.points) <= number < len(self.points):
            raise errors.CaromError(
                f"number of run is {number!r}; the family has {len(self.points)} points, counted from 0"
            )
        point = self.points[int(number)]
        map, _ = self.family.at(point.u[-1])
        return periods_of(map, point.u[:-1])

    def values(self, of: Name, number: int = 0) -> np.ndarray:
        """A column by name: 'period', a coordinate ('left.angle'), its rate ('rate of left.angle'), a drift.

        `number`: at which return of a period, the first (0) or one of the others.
        """
        if not 0 <= number < self.times:
            raise errors.CaromError(
                f"number of values is {number}; a period of this family has {self.times} returns, counted from 0"
            )
        columns = self.columns(number)
        errors.name_in("column of an orbit family", of, tuple(columns))
        return columns[of]

    def columns(self, number: int = 0) -> dict[str, np.ndarray]:
        """Everything that has one number a point, by name."""
        rows = [point.columns(self.family, number) for point in self.points]
        numbers = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        return {self.name: self.parameter} | numbers | {"stable": self.stable}

    def head(self, of: Name) -> str:
        """The name of a column with its unit."""
        unit = self.unit(of)
        return f"{of} [{unit}]" if unit else of

    def unit(self, of: Name) -> str:
        """Of a column; '' where it has none, or its name says it."""
        units = dict(zip(self.coordinates, self.units, strict=True))
        found = {"period": "s", **units} | {f"rate of {name}": f"{unit}/s" for name, unit in units.items()}
        found |= {f"drift of {name}": units.get(name, "") for name in self.drifts}
        return found.get(of, "")

    def to_pandas(self) -> Any:
        """A table: a row a point, units in its heads."""
        try:
            import pandas
        except ImportError:
            raise errors.CaromError("to_pandas needs pandas, which is not installed; pip install pandas") from None
        return pandas.DataFrame({self.head(name): column for name, column in self.columns().items()})

    def to_xarray(self) -> Any:
        """A Dataset over the points; the parameter is a coordinate, as it may turn back."""
        try:
            import xarray
        except ImportError:
            raise errors.CaromError("to_xarray needs xarray, which is not installed; pip install xarray") from None
        columns: dict[str, Any] = {
            name: ("point", values) for name, values in self.columns().items() if name != self.name
        }
        columns["multipliers"] = (("point", "multiplier"), self.multipliers)
        data = xarray.Dataset(columns, coords={self.name: ("point", self.parameter)})
        for name in data.data_vars:
            unit = self.unit(str(name))
            data[name].attrs |= {"units": unit} if unit else {}
        return data

    def __str__(self) -> str:
        low, high = float(np.min(self.parameter)), float(np.max(self.parameter))
        lines = [
            f"{len(self.parameter)} orbits through '{self.event[1]}' of '{self.event[0]}', {self.name} from {low:.6g} "
            f"to {high:.6g}, {int(np.sum(self.stable))} of them stable; {self.ended}",
            *(f"  {special}" for special in self.special),
        ]
        return "\n".join(lines)
