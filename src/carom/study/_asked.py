"""What is asked of the lanes of a batch: measures by name, and tables of impacts."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
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


class Wanted(NamedTuple):
    """What is asked for, in a form that can be compared."""

    measures: NamesInOrder
    impacts: Count
    returns: Returns | None
    times: tuple[float, ...] | None
    ledger: bool


def wanted_of(
    measures: NamesInOrder, impacts: Count, returns: Returns | None, times: Times | None, ledger: bool
) -> Wanted:
    """What is asked for, where it makes sense in any world."""
    if isinstance(measures, str):
        raise errors.CaromError(f"measures is '{measures}'; it must be a list of names, such as ['{measures}']")
    for name in measures:
        if not isinstance(name, str):
            raise errors.CaromError(f"one of the measures is {name!r}; it must be a name, such as 'impacts.count'")
    if not isinstance(impacts, int) or isinstance(impacts, bool) or not 0 <= impacts <= MOST_ROWS:
        raise errors.CaromError(f"impacts is {impacts!r}; it must be a number of impacts from 0 to {MOST_ROWS:,}")
    return Wanted(tuple(measures), impacts, returns, None if times is None else _in_order(times), ledger)


def asked_of(world: World, wanted: Wanted) -> Asked:
    """Recorders of what is asked for."""
    found = {name: lane_measure(world, name, wanted.ledger) for name in wanted.measures}
    tables = {}
    for field in FIELDS if wanted.impacts else ():
        try:
            tables[field] = first_impacts(world, wanted.impacts, field, wanted.ledger)
        except errors.CaromError:  # a lane cannot know it: the table is without this column
            continue
    recorders = [each.recorder for each in (*found.values(), *tables.values())]
    recorders += [] if wanted.returns is None else [wanted.returns.recorder(world)]
    recorders += [] if wanted.times is None else [AtTimes(wanted.times)]
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


def traced_asked(make: Function, parameters: PyTree, wanted: Wanted) -> Asked:
    """What is asked of the world of a lane, of whose numbers nothing is known yet: none of its rules is looked at."""
    leaves, tree = jax.tree.flatten(parameters)
    return _traced(make, wanted, tree, tuple((np.shape(x)[1:], jnp.result_type(x)) for x in leaves))


@functools.lru_cache(256)
def _traced(make: Function, wanted: Wanted, tree: Any, shapes: tuple[Any, ...]) -> Asked:
    """Kept like programs, and for the same reason: a batch after another of the same `make` asks for the same."""
    found: list[Asked] = []

    def look(p: PyTree) -> Any:
        found.append(asked_of(make(p), wanted))
        return np.zeros(())

    with errors.collecting():
        jax.eval_shape(look, jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(*shape) for shape in shapes]))
    return found[0]
