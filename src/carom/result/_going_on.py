"""Going on from where a run ended: its world's phases, memories and works, by name, in memory or in its file."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import FileLike, WorldLike
from ..hybrid import outcome
from ..hybrid._carry import Carry
from ..hybrid.scene import merge
from ..mechanism import State

if TYPE_CHECKING:
    from .result import Result

CARRIED = "carried"  # the dimension, in a run's file, of what it carried at its end
GOES_ON = (outcome.RUNNING, outcome.STEP_LIMIT, *outcome.GOOD)
# What every run counts for itself, and works, which its ledger measures from its own start.
OWN = frozenset({"y.work", "steps", "rejected", "events", "outcome", "depth"})
# Nothing was in sight at the end of a run, and its rates are asked for again: numbers of the world may be others now.
ANEW = frozenset({"rate", "guard", "aim", "low", "high", "hint", "tries", "fresh", "instant"})


def end_of(run: Result | FileLike) -> dict[str, float]:
    """Everything that a run carried at its end, by name."""
    from .result import Result

    if isinstance(run, Result):
        return numbers_of(lasting(run.world, run.final))
    path = Path(run) / "trajectory.nc" if Path(run).is_dir() else Path(run)
    try:
        import h5netcdf

        with h5netcdf.File(path, "r") as file:
            names, values = (np.asarray(file.variables[name][...]) for name in (CARRIED, "end"))
    except (OSError, KeyError, ValueError) as trouble:
        why = "it holds no end of a run" if isinstance(trouble, KeyError) else "it is not there, or no NetCDF file"
        raise errors.CaromError(
            f"the start is '{path}', from which no run can go on: {why}; give a result, or a file of result.save"
        ) from None
    words = [each.decode() if isinstance(each, bytes) else str(each) for each in names]
    return dict(zip(words, values.tolist(), strict=True))


def lasting(world: WorldLike, carry: Carry) -> Carry:
    """What the next run takes over: all but the automata that end runs, of which every run has its own."""
    keep = [not automaton.standing.ends for automaton in world.automata]
    exits = [kept for automaton, kept in zip(world.automata, keep, strict=True) for _ in automaton.anatomy.families]
    return carry._replace(
        phases=tuple(itertools.compress(carry.phases, keep)),
        memory=tuple(itertools.compress(carry.memory, keep)),
        armed=tuple(itertools.compress(carry.armed, exits)),
    )


def numbers_of(carry: Carry) -> dict[str, float]:
    """Leaves of a carry by name, those of arrays one by one."""
    out: dict[str, float] = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(carry)[0]:
        name = jax.tree_util.keystr(path)
        values = np.ravel(np.asarray(leaf, dtype=float)).tolist()
        out |= {name: values[0]} if np.shape(leaf) == () else {f"{name}[{i}]": x for i, x in enumerate(values)}
    return out


def _field(name: str) -> str:
    """Of the carry, or of its state, to which a number belongs: 'steps' of '.steps', 'y.q' of '.y.q[0]'."""
    fields = name.partition("[")[0].split(".")[1:3]
    return ".".join(fields) if fields[0] == "y" else fields[0]


def begun_again(world: WorldLike, first: Carry, end: dict[str, float]) -> Carry:
    """The carry of a run that goes on: `first`, as this world would begin, with what the other one carried."""
    kept = {name: x for name, x in end.items() if _field(name) not in OWN | ANEW}
    mine = {name for name in numbers_of(lasting(world, first)) if _field(name) not in OWN | ANEW}
    if mine != kept.keys():
        why = f"{len(kept)} numbers, here {len(mine)}" if len(kept) != len(mine) else "other names"
        raise errors.CaromError(
            f"the run from which this one should go on was made in another world ({why}); "
            "mechanism, contacts and controllers must be the same, their numbers may differ"
        )
    if int(end[".outcome"]) not in GOES_ON:
        raise errors.CaromError(
            f"the run from which this one should go on ended early: {outcome.describe(int(end['.outcome']))}"
        )

    def taken(path: Any, leaf: Any) -> Any:
        name = jax.tree_util.keystr(path)
        size = np.shape(leaf)
        if name not in kept and f"{name}[0]" not in kept:  # begins anew, or is what ends this run
            return leaf
        found = kept[name] if size == () else [kept[f"{name}[{i}]"] for i in range(int(np.size(leaf)))]
        return np.asarray(found).reshape(size).astype(jnp.result_type(leaf))

    carry: Carry = jax.tree_util.tree_map_with_path(taken, first)
    return carry._replace(outcome=np.asarray(outcome.RUNNING), fresh=np.asarray(True))


def state_at_end(world: WorldLike, end: dict[str, float]) -> State:
    """Coordinates, velocities and extra states at that end, as far as this world has them."""
    dof = world.mechanism.dof
    q, v = ([x for name, x in end.items() if _field(name) == f"y.{part}"] for part in "qv")
    if len(q) != dof:
        raise errors.CaromError(
            f"the run from which this one should go on has {len(q)} coordinates; the mechanism has {dof}"
        )
    return State(jnp.asarray(q), jnp.asarray(v))


def started(world: WorldLike, carry: Carry) -> State:
    """What the run that goes on starts from, for its ledger and its figures."""
    return State(merge(carry.y.q), merge(carry.y.v), world.extra_of(carry.y))
