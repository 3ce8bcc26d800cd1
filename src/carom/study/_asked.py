"""What is asked of the lanes of a batch: measures by name, and tables of impacts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import PyTree

from .. import errors, registry
from .._arguments import Count, NamesInOrder
from ..hybrid import outcome
from ..hybrid.world import World
from ..quantities import Function, Times
from .recording import AbstractRecorder, AtTimes, LaneMeasure, Returns, first_impacts
from .recording.first_impacts import FIELDS
from .recording.recorder import joined

MOST_ROWS = 1000  # impacts kept by each lane


@dataclasses.dataclass(frozen=True)
class Asked:
    """Recorders of the lanes, and how the numbers that were asked for are read from them."""

    recorders: tuple[AbstractRecorder, ...]
    measures: dict[str, LaneMeasure]
    tables: dict[str, LaneMeasure]

    def read(
        self, records: dict[str, dict[str, Any]], codes: Any
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Measures (lanes,), columns of the first impacts (lanes, rows), returns, states at times; nan: none.

        `codes`: how the lanes ended; one that was impossible has no measures, not even a count of nothing.
        """
        ran = ~np.isin(np.asarray(codes), outcome.IMPOSSIBLE)
        kept = {
            each.key: dict(each.handed({name: np.asarray(x) for name, x in records[each.key].items()}))
            for each in self.recorders
        }
        measures, tables = (
            {name: each.read(kept[each.recorder.key]) for name, each in found.items()}
            for found in (self.measures, self.tables)
        )
        measures = {name: np.where(ran, value, np.nan) for name, value in measures.items()}
        return measures, tables, kept.get("returns", {}), kept.get("at", {})


NOTHING = Asked((), {}, {})


def asked_of(
    world: World, measures: NamesInOrder, impacts: Count, returns: Returns | None, times: Times | None, ledger: bool
) -> Asked:
    """Recorders of what is asked for."""
    if isinstance(measures, str):
        raise errors.CaromError(f"measures is '{measures}'; it must be a list of names, such as ['{measures}']")
    if not isinstance(impacts, int) or isinstance(impacts, bool) or not 0 <= impacts <= MOST_ROWS:
        raise errors.CaromError(f"impacts is {impacts!r}; it must be a number of impacts from 0 to {MOST_ROWS:,}")
    found = {name: lane_measure(world, name, ledger) for name in measures}
    tables = {}
    for field in FIELDS if impacts else ():
        try:
            tables[field] = first_impacts(world, impacts, field, ledger)
        except errors.CaromError:  # a lane cannot know it: the table is without this column
            continue
    recorders = [each.recorder for each in (*found.values(), *tables.values())]
    recorders += [] if returns is None else [returns.recorder(world)]
    recorders += [] if times is None else [AtTimes(_in_order(times))]
    return Asked(joined(recorders), found, tables)


def _in_order(times: Times) -> tuple[float, ...]:
    found = np.atleast_1d(np.asarray(times, dtype=float))
    if (
        found.ndim != 1
        or not found.size
        or not np.all(np.isfinite(found))
        or np.any(np.diff(found) < 0)
        or found[0] < 0
    ):
        raise errors.CaromError(f"times of batch are {found.tolist()}; they must be in order, none before 0")
    return tuple(found.tolist())


def lane_measure(world: World, name: str, ledger: bool) -> LaneMeasure:
    """How a lane records a measure; names mean what they mean in scenarios."""
    kind, parts = registry.KIND_OF_MEASURE.found()(name)
    if kind.lane is None:
        raise errors.CaromError(
            f"measure '{name}' cannot be recorded in a lane of a batch; simulate runs one by one, or ask for another "
            "(`carom show --measures` marks those that can)"
        )
    try:
        found: LaneMeasure = kind.lane(world, parts, ledger)
    except errors.CaromError as refusal:
        raise errors.CaromError(f"measure '{name}': {refusal}") from None
    return found


def traced_asked(make: Function, parameters: PyTree, ask: Callable[[World], Asked]) -> Asked:
    """What `ask` says of the world of a lane, of whose numbers nothing is known yet: none of its rules is looked at."""
    found: list[Asked] = []

    def look(p: PyTree) -> Any:
        found.append(ask(make(p)))
        return np.zeros(())

    with errors.collecting():
        jax.eval_shape(look, jax.tree.map(lambda x: np.asarray(x)[0], parameters))
    return found[0]
