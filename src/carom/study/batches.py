"""Many runs at once, from the same world with other numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from .. import errors, registry
from .._arguments import Count, NamesInOrder, StartLike, UntilLike
from ..control.until import ended_worlds, words_of_ends
from ..hybrid import outcome
from ..hybrid._opening import check_start
from ..hybrid.settings import Settings, settings_or_default
from ..hybrid.world import World
from ..mechanism.state import State
from ..quantities import Function, Times
from ..result._records import Made, made_by
from ._asked import NOTHING, Asked, traced_asked, wanted_of
from ._lanes import Ends, How, Start, on_cpu, on_gpu, refuse_too_many, state_of
from .recording import Returns


class Batch(eqx.Module):
    """Ends of many runs; arrays over the lanes."""

    t: Any
    q: Any
    v: Any
    work: Any
    phases: Any
    memory: Any
    steps: Any
    events: Any
    outcome: Any
    penetration: Any  # [m, rad] how far a rigid contact, open or closed, was ever inside its surface
    extra: dict[str, Any]  # extra states by name
    ends: tuple[str, ...] = eqx.field(static=True)  # conditions of `until`, in words
    made: Made = eqx.field(static=True)  # version of carom, back end and settings
    measures: dict[str, np.ndarray]  # (lanes,) as asked for; nan where a lane has none
    impacts: dict[str, np.ndarray]  # (lanes, n) columns of the first n impacts
    returns: dict[str, np.ndarray]  # to a section: t (lanes, keep), q and v (lanes, keep, dof), jumped, and their count
    at: dict[str, np.ndarray]  # q and v (lanes, times, dof) at the times asked for
    states: Any = ()  # of every automaton, extra states among them, as the engine carries them

    @property
    def failed(self) -> np.ndarray:
        """Lanes that did not reach their end."""
        codes = np.asarray(self.outcome)
        return np.flatnonzero(~np.isin(codes, outcome.GOOD))

    @property
    def finished(self) -> np.ndarray:
        """Lanes that reached the horizon."""
        return np.flatnonzero(np.asarray(self.outcome) == outcome.FINISHED)

    @property
    def stopped(self) -> np.ndarray:
        """Lanes that had met a condition, or the number of events, asked for before the horizon."""
        return np.flatnonzero(np.isin(np.asarray(self.outcome), (outcome.EVENT_LIMIT, outcome.STOPPED)))

    @property
    def met(self) -> list[str]:
        """Of each lane the condition of `until` that ended it; '' where none did."""
        if not self.ends:
            return [""] * len(np.asarray(self.t))
        numbers = np.asarray(self.phases[-1])
        return [self.ends[int(k) - 1] if k > 0 else "" for k in numbers]

    _repr_html_ = registry.shown

    def __repr__(self) -> str:
        lanes, bad, stopped = len(np.asarray(self.t)), self.failed, self.stopped
        words = [] if len(stopped) == 0 else [f"{len(stopped)} stopped at what was asked for"]
        words += [_report(bad, np.asarray(self.outcome))] if len(bad) else []
        rest = "all finished" if not words else f"{len(self.finished)} finished"
        steps = int(np.sum(np.asarray(self.steps)))
        return f"<Batch of {lanes} runs: {', '.join([rest, *words])}; {steps} steps; {self.made}>"


def _report(bad: np.ndarray, codes: np.ndarray, why: Callable[[int], str | None] = lambda lane: None) -> str:
    """Which lanes did not finish, and why; `why` says more about a lane, where there is more to say."""
    listed = ", ".join(f"lane {i}: {why(int(i)) or outcome.describe(int(codes[i]))}" for i in bad[:5])
    more = f"; and {len(bad) - 5} more" if len(bad) > 5 else ""
    return f"{len(bad)} of {len(codes)} did not finish ({listed}{more})"


def batch(
    make: Callable[[Any], World],
    parameters: PyTree,
    start: State | Callable[[Any], State],
    *,
    until: UntilLike,
    settings: Settings | None = None,
    one_kernel: bool | None = None,
    measures: NamesInOrder = (),
    impacts: Count = 0,
    returns: Returns | None = None,
    times: Times | None = None,
    throw: bool = True,
) -> Batch:
    """Run `make(p)` for every p in `parameters` (arrays with the lanes along their first axis) and return the ends.

    `start` is a state for all lanes, one with a row per lane (`world.state(angles=rows, ...)`), or a function of p that
    returns one. A lane that fails stops and keeps its code, the others finish; with `throw` an error then names the
    failed lanes. `until` is as `simulate` takes it: `ends.met` says which condition ended each lane. Pass the same
    `make` (and the same `start`, if it is a function) to use what was compiled before.

    What a run can tell, a lane can tell, in a fixed amount of memory: `measures` are those of scenario files (`carom
    show --measures`), `impacts` columns of the first n impacts, `returns` those to a section (`carom.Returns`), `times`
    states at given times [s]. A number that a lane does not have is nan.

        ends = carom.batch(world_with, mu, start, until=6.0, measures=["impact.1.restitution"], impacts=10)
        ends.measures["impact.1.restitution"], ends.impacts["max_normal_force"][:, 0]

    On a GPU every lane is a thread of one kernel, or, with `one_kernel=False` and where a thread cannot hold a lane
    (long arrays, linear algebra of a library), all lanes advance in lockstep. The memory that many lanes take is
    estimated first; a batch for which there is not enough is refused, in a sentence that says in how many to give it.

        start = world_with(0.1).state(angles=[60, 45], degrees=True)
        carom.batch(world_with, jnp.linspace(0.05, 0.5, 1000), start, until=6.0)
    """
    chosen = settings_or_default(settings)
    make, horizon = ended_worlds(make, until)
    integration = chosen.integration(horizon)
    lanes = _lanes(parameters)
    begin, given = _starts(start, lanes)
    asked = NOTHING
    if measures or impacts or returns is not None or times is not None:
        asked = traced_asked(make, parameters, wanted_of(measures, impacts, returns, times, chosen.ledger))
    how = How(begin, chosen.ledger, asked.recorders)
    on_host = jax.default_backend() == "cpu"
    wanted = not on_host and one_kernel is not False
    refuse_too_many(make, how, parameters, given, None if on_host else wanted)
    if on_host:
        carry, back_end = on_cpu(make, how, parameters, given, integration)
    else:
        carry, back_end = on_gpu(make, how, parameters, given, integration, wanted, one_kernel is None)
    out = _batch_of(carry, made_by(back_end, integration), asked, words_of_ends(until))
    if throw and len(out.failed):
        codes = np.asarray(out.outcome)
        report = _report(out.failed, codes, lambda lane: _refusal(make, parameters, given, how, lane, codes))
        raise errors.CaromError(report + "; throw=False returns the others")
    return out


def _batch_of(carry: Ends, made: Made, asked: Asked, ends: tuple[str, ...]) -> Batch:
    return Batch(
        carry.t,
        _stacked(carry.y.q),
        _stacked(carry.y.v),
        carry.y.work,
        carry.phases,
        carry.memory,
        carry.steps,
        carry.events,
        carry.outcome,
        jnp.maximum(carry.depth, 0.0),
        carry.extra,
        ends,
        made,
        *asked.read(carry.records, carry.outcome),
        states=carry.y.extra,
    )


def _starts(start: StartLike, lanes: int) -> tuple[Start, State | None]:
    """A function that makes the start of a lane, or the rows of all lanes."""
    if not isinstance(start, State):
        if not callable(start):
            raise errors.CaromError(
                f"start of batch is a {type(start).__name__}; it must be a state, world.state(angles=...), or a "
                "function of a lane's parameters that returns one"
            )
        return start, None
    if start.lanes not in (None, lanes):
        raise errors.CaromError(f"start of batch has {start.lanes} rows and parameters {lanes} lanes; they must agree")
    single = start.lanes is None
    return None, jax.tree.map(lambda x: np.broadcast_to(np.asarray(x), (lanes, *x.shape[0 if single else 1 :])), start)


def _refusal(make: Function, parameters: PyTree, given: PyTree, how: How, lane: int, codes: np.ndarray) -> str | None:
    """What `simulate` would say of a lane's numbers: they are looked at one by one only when something is wrong."""
    if codes[lane] not in outcome.IMPOSSIBLE:
        return None
    one = jax.tree.map(lambda x: np.asarray(x)[lane], (parameters, given))
    try:
        world = make(one[0])
        check_start(world, state_of(world, how, *one))
    except errors.CaromError as refusal:
        return str(refusal)
    return None


def _stacked(values: PyTree) -> Any:
    if not isinstance(values, tuple):
        return values
    return jnp.stack(values, axis=-1) if isinstance(values[0], jax.Array) else np.stack(values, axis=-1)


def _lanes(parameters: PyTree) -> int:
    sizes = {np.shape(leaf)[0] if np.ndim(leaf) else None for leaf in jax.tree.leaves(parameters)}
    if len(sizes) != 1 or None in sizes:
        raise errors.CaromError(
            f"parameters of batch have first axes {sorted(map(str, sizes))}; every array must have one entry per lane"
        )
    lanes = int(sizes.pop())  # type: ignore[arg-type]
    if not lanes:
        raise errors.CaromError("parameters of batch have no lane; give arrays with one entry per lane")
    return lanes
