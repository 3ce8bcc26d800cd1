"""Lanes with their derivatives: everything that they record, and how it changes along a direction of their numbers.

A lane is run once for each direction, in forward mode, through events and jumps; it is machine code like any other.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ..hybrid import outcome
from ..hybrid._one_thread import one_thread
from ..hybrid._run import executable
from ..hybrid.settings import Integration
from ..quantities import Function, Times
from ._lanes import How, Start, _cores, _lane, _threads
from .recording import AbstractRecorder
from .recording._series import ContactPart, Series
from .recording.signals import Signal


class Wanted(NamedTuple):
    """What lanes record: signals over time, and other recorders."""

    signals: tuple[Signal | ContactPart, ...]
    recorders: tuple[AbstractRecorder, ...]


class Recorded(NamedTuple):
    """Columns by recorder and name, (lanes, ...); `slopes` likewise, where they were asked for."""

    values: dict[str, dict[str, np.ndarray]]
    slopes: dict[str, dict[str, np.ndarray]]
    outcome: np.ndarray


def recorded(
    make: Function,
    begin: Start,
    wanted: Wanted,
    parameters: PyTree,
    along: PyTree,
    times: Times,
    until: Times,
    integration: Integration,
) -> Recorded:
    """Run every lane; `parameters` and `times` have a row for each, `until` a number.

    `along`: directions, rows like the parameters; None where no derivatives are asked for.
    """
    lanes = len(np.asarray(until))
    cores = min(_cores(), lanes)
    share = -(-lanes // cores)
    order = np.minimum(np.arange(share * cores), lanes - 1).reshape(share, -1).T
    whole = jax.tree.map(np.asarray, (parameters, along, times, until))
    pieces = [jax.tree.map(lambda x, rows=rows: x[rows], whole) for rows in order]
    run = executable(_all, (make, begin, wanted), *pieces[0], integration)
    with one_thread():
        ends = list(_threads(len(pieces)).map(lambda piece: jax.block_until_ready(run(*piece, integration)), pieces))
    place = np.argsort(order.ravel(), kind="stable")
    first = np.searchsorted(order.ravel()[place], np.arange(lanes))
    together = jax.tree.map(lambda *x: np.concatenate([np.asarray(y) for y in x])[place[first]], *ends)
    return Recorded(*together)


def _all(
    make: Function,
    begin: Start,
    wanted: Wanted,
    parameters: PyTree,
    along: PyTree,
    times: Times,
    until: Times,
    integration: Integration,
) -> Any:
    def one(x: PyTree) -> Any:
        numbers, direction, at, end = x

        def run(p: PyTree) -> Any:
            over_time = (Series(at, wanted.signals),) if wanted.signals else ()
            how = How(begin, any(_ledger(r) for r in wanted.recorders), (*over_time, *wanted.recorders))
            lane = _lane(make, how, "short", dataclasses.replace(integration, until=end), p, None)
            return lane.records, lane.outcome

        if direction is None:
            values, code = run(numbers)
            return values, {}, code
        values, slopes, code = jax.jvp(run, (numbers,), (direction,), has_aux=True)
        return values, _numbers(slopes, values), code

    return jax.lax.map(one, (parameters, along, times, until))


def _numbers(slopes: PyTree, values: PyTree) -> Any:
    """Slopes of whole numbers are nothing."""
    return jax.tree.map(lambda s, v: s if jnp.issubdtype(v.dtype, jnp.floating) else jnp.zeros(v.shape), slopes, values)


def _ledger(recorder: AbstractRecorder) -> bool:
    return "energy_lost" in getattr(recorder, "columns", ())


GOOD = (outcome.FINISHED, outcome.EVENT_LIMIT)
