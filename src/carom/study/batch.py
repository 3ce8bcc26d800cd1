"""Many runs at once, from the same world with other numbers.

On a GPU all lanes advance in lockstep, each in its own phase, or (large batches) each block of lanes runs in registers
from start to end. On a CPU one lane after the other runs in the compiled scalar loop, on every core: there a loop over
lanes inside each operation would cost more than it saves.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from .. import errors
from ..hybrid import outcome
from ..hybrid.carry import Carry
from ..hybrid.kernel import in_registers
from ..hybrid.run import executable, named, start, to_end, together
from ..hybrid.scene import Continuous
from ..hybrid.settings import Integration, Settings, settings_or_default
from ..hybrid.solvers import RungeKutta
from ..hybrid.world import World
from ..mechanism.state import State, refuse_state
from ..quantities import Real
from ..simulation import check_start

KERNEL_PAYS = 10_000  # lanes from which the one-kernel form's longer compilation is worth it
UNROLLING_PAYS, UNROLLED = 1_000, 15.0  # on a CPU: lanes from which stages are unrolled, and up to which weight


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

    @property
    def failed(self) -> np.ndarray:
        """Lanes that did not reach their end."""
        codes = np.asarray(self.outcome)
        return np.flatnonzero(~np.isin(codes, (outcome.FINISHED, outcome.EVENT_LIMIT)))

    @property
    def finished(self) -> np.ndarray:
        """Lanes that reached the horizon."""
        return np.flatnonzero(np.asarray(self.outcome) == outcome.FINISHED)

    @property
    def stopped(self) -> np.ndarray:
        """Lanes that had met the number of events asked for before the horizon."""
        return np.flatnonzero(np.asarray(self.outcome) == outcome.EVENT_LIMIT)

    def __repr__(self) -> str:
        lanes, bad, stopped = len(np.asarray(self.t)), self.failed, self.stopped
        words = [] if len(stopped) == 0 else [f"{len(stopped)} stopped at the number of events asked for"]
        words += [_report(bad, np.asarray(self.outcome))] if len(bad) else []
        rest = "all finished" if not words else f"{len(self.finished)} finished"
        return f"<Batch of {lanes} runs: {', '.join([rest, *words])}; {int(np.sum(np.asarray(self.steps)))} steps>"


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
    until: float,
    settings: Settings | None = None,
    one_kernel: bool | None = None,
    throw: bool = True,
) -> Batch:
    """Run `make(p)` for every p in `parameters` (arrays with the lanes along their first axis) and return the ends.

    `start` is a state for all lanes, one with a row per lane (`world.state(angles=rows, ...)`), or a function of p that
    returns one. A lane that fails has its code and stops, the others finish; with `throw` an error then names the
    failed lanes. Pass the same `make` (and the same `start`, if it is a function) to use what was compiled before.

    On a GPU, `one_kernel` keeps every lane's run in registers from start to end: 2.5 times faster than lockstep, but it
    compiles for about 50 s instead of 10; by default from 10,000 lanes on. Small mechanisms only (8 links).

        start = world_with(0.1).state(angles=[60, 45], degrees=True)
        carom.batch(world_with, jnp.linspace(0.05, 0.5, 1000), start, until=6.0)
    """
    chosen = settings_or_default(settings)
    integration = chosen.integration(until)
    lanes = _lanes(parameters)
    begin, given = _starts(start, lanes)
    how = (begin, chosen.ledger)
    carry: Carry | Ends
    if jax.default_backend() == "cpu":
        carry = _on_cpu(make, how, parameters, given, integration)
    else:
        wanted = lanes >= KERNEL_PAYS if one_kernel is None else one_kernel
        carry = _on_gpu(make, how, parameters, given, integration, wanted, one_kernel is None)
    out = Batch(
        carry.t,
        _stacked(carry.y.q),
        _stacked(carry.y.v),
        carry.y.work,
        carry.phases,
        carry.memory,
        carry.steps,
        carry.events,
        carry.outcome,
    )
    if throw and len(out.failed):
        codes = np.asarray(out.outcome)
        report = _report(out.failed, codes, lambda lane: _refusal(make, parameters, given, how, lane, codes))
        raise errors.CaromError(report + "; throw=False returns the others")
    return out


Start = Callable[[Any], State] | None  # a function of the lane's parameters, or None where the rows are given
How = tuple[Start, bool]  # where lanes start, and whether they keep a ledger


def _starts(start: Any, lanes: int) -> tuple[Start, State | None]:
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
    rows = jax.tree.map(lambda x: np.broadcast_to(np.asarray(x), (lanes, x.shape[-1])), (start.q, start.v))
    return None, eqx.tree_at(lambda s: (s.q, s.v), start, rows)


def _on_gpu(
    make: Callable[..., Any],
    how: Any,
    parameters: PyTree,
    given: PyTree,
    integration: Integration,
    kernel: bool,
    either: bool,
) -> Carry:
    """In one kernel where that is wanted; several rigid contacts need arrays that it cannot hold: in lockstep."""
    if kernel:
        try:
            return _one_kernel(make, how, _numbers(integration), parameters, given)
        except NotImplementedError:
            if not either:
                raise
    return _lockstep(make, how, parameters, given, integration)


def _refusal(
    make: Callable[..., Any], parameters: PyTree, given: PyTree, how: Any, lane: int, codes: np.ndarray
) -> str | None:
    """What `simulate` would say of a lane's numbers: they are looked at one by one only when something is wrong."""
    if codes[lane] not in (outcome.BAD_NUMBER, outcome.STARTS_INSIDE, outcome.CANNOT_START):
        return None
    one = jax.tree.map(lambda x: np.asarray(x)[lane], (parameters, given))
    try:
        world = make(one[0])
        check_start(world, _state(world, how, *one))
    except errors.CaromError as refusal:
        return str(refusal)
    return None


def _begin(make: Callable[..., Any], how: How, p: Any, given: PyTree, until: Real) -> Carry:
    """The carry of one lane before its first step; a lane whose numbers break a rule has its outcome already."""
    with errors.collecting() as flaws:
        world = make(p)
        state = _state(world, how, p, given)
    carry = start(world, state.q, state.v, jnp.minimum(1e-3, 0.01 * until), how[1])
    bad = functools.reduce(lambda a, b: a | b, flaws, jnp.asarray(False))
    return carry._replace(outcome=jnp.where(bad, outcome.BAD_NUMBER, carry.outcome))


def _state(world: World, how: How, p: Any, given: PyTree) -> State:
    """The start of one lane."""
    return refuse_state(given if how[0] is None else how[0](p), world.mechanism)


@partial(jax.jit, static_argnums=(0, 1))
def _lockstep(make: Callable[..., Any], how: Any, parameters: PyTree, given: PyTree, integration: Integration) -> Carry:
    """All lanes together, one attempt each at a time."""
    first = jax.vmap(lambda p, g: _begin(make, how, p, g, integration.until))(parameters, given)
    return _named(make, parameters, first, together(make, parameters, integration, first))


@partial(jax.jit, static_argnums=(0, 1, 2))
def _one_kernel(make: Callable[..., Any], how: Any, numbers: Any, parameters: PyTree, given: PyTree) -> Carry:
    """All lanes in one kernel; tolerances and limits are constants of it."""
    integration = Integration(*numbers)
    first = jax.vmap(lambda p, g: _begin(make, how, p, g, integration.until))(parameters, given)
    return _named(make, parameters, first, in_registers(make, parameters, integration, first))


def _named(make: Callable[..., Any], parameters: PyTree, first: Carry, last: Carry) -> Carry:
    return jax.vmap(lambda p, a, b: named(make(p), a, b))(parameters, first, last)


def _numbers(integration: Integration) -> tuple[Any, ...]:
    solver = integration.solver
    if isinstance(solver, RungeKutta):
        solver = dataclasses.replace(solver, unrolled=True)
    return (
        solver,
        float(integration.rtol),
        float(integration.atol),
        float(integration.until),
        int(integration.max_steps),
        int(integration.max_events),
    )


class Ends(NamedTuple):
    """What a lane leaves behind: the part of its carry that is of interest when it has ended."""

    t: Any
    y: Continuous
    phases: Any
    memory: Any
    steps: Any
    events: Any
    outcome: Any


def _one_by_one(
    make: Callable[..., Any], how: Any, many: bool, parameters: PyTree, given: PyTree, integration: Integration
) -> Ends:
    """One lane after the other, each to its end."""

    def one(x: Any) -> Ends:
        world = make(x[0])
        solver = integration.solver
        if many and world.weight <= UNROLLED and isinstance(solver, RungeKutta):
            solver = dataclasses.replace(solver, unrolled=True)  # a third longer to compile, a fifth faster
        ours = dataclasses.replace(integration, solver=solver)
        first = _begin(make, how, x[0], x[1], integration.until)
        c = named(world, first, to_end(world, ours, first))
        return Ends(c.t, c.y, c.phases, c.memory, c.steps, c.events, c.outcome)

    return jax.lax.map(one, (parameters, given))


def _on_cpu(make: Callable[..., Any], how: Any, parameters: PyTree, given: PyTree, integration: Integration) -> Ends:
    """A share of the lanes for every core; each thread runs compiled code and lets the others go on."""
    lanes, cores = _lanes(parameters), os.cpu_count() or 1
    share = -(-lanes // min(cores, lanes))  # equal shares, so that one compilation serves all; the last lanes repeat
    # Dealt out like cards: neighbours, which are alike, take equally long.
    order = np.minimum(np.arange(share * min(cores, lanes)), lanes - 1).reshape(share, -1).T
    # NumPy deals out and gathers: a call into JAX for every piece and column would take longer than short runs.
    whole = jax.tree.map(np.asarray, (parameters, given))
    pieces = [jax.tree.map(lambda x, rows=rows: x[rows], whole) for rows in order]
    run = executable(_one_by_one, (make, how, lanes >= UNROLLING_PAYS), *pieces[0], integration)
    ends = list(_threads(len(pieces)).map(lambda piece: jax.block_until_ready(run(*piece, integration)), pieces))
    leaves = [[np.asarray(x) for x in jax.tree.leaves(end)] for end in ends]
    whole = [_dealt_back(columns)[:lanes] for columns in zip(*leaves, strict=True)]
    return Ends(*jax.tree.unflatten(jax.tree.structure(ends[0]), whole))


def _dealt_back(columns: Any) -> np.ndarray:
    """Lanes in their order again."""
    together = np.stack(columns, axis=1)
    return together.reshape(-1, *together.shape[2:])


@functools.cache
def _threads(count: int) -> ThreadPoolExecutor:
    """Kept from batch to batch: starting threads takes as long as a thousand short runs."""
    return ThreadPoolExecutor(count, thread_name_prefix="carom")


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
