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

from .. import errors
from ..hybrid import outcome
from ..hybrid.carry import Carry, Settings, settings_of
from ..hybrid.kernel import in_registers
from ..hybrid.run import executable, named, start, to_end, together
from ..hybrid.scene import State
from ..hybrid.solvers import RungeKutta
from ..hybrid.world import World
from ..simulate import check_numbers, check_start

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
    parameters: Any,
    angles: Any,
    rates: Any = None,
    *,
    base: Any = None,
    base_velocity: Any = None,
    bending: Any = None,
    bending_rates: Any = None,
    relative: bool = False,
    degrees: bool = False,
    until: float,
    solver: str = "tsit5",
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_steps: int = 1_000_000,
    max_events: int | None = None,
    ledger: bool = False,
    one_kernel: bool | None = None,
    throw: bool = True,
) -> Batch:
    """Run `make(p)` for every p in `parameters` (arrays with the lanes along their first axis) and return the ends.

    The initial state (`angles`, `rates`, `base`, ...) is that of `carom.simulate`, for all lanes or a row per lane. A
    lane that fails has its code and stops, the others finish; with `throw` an error then names the failed lanes. Pass
    the same `make` again to use what was compiled for it.

    On a GPU, `one_kernel` keeps every lane's run in registers from start to end: 2.5 times faster than lockstep, but it
    compiles for about 50 s instead of 10; by default from 10,000 lanes on. Small mechanisms only (8 links).

        carom.batch(lambda mu: world_with(mu), jnp.linspace(0.05, 0.5, 1000), [60, 45], degrees=True, until=6.0)
    """
    check_numbers(until, rtol, atol)
    lanes = _lanes(parameters)
    given = [_rows(x, lanes) for x in (angles, rates, base, base_velocity, bending, bending_rates)]
    settings = settings_of(solver, rtol, atol, until, max_steps, max_events)
    how = (relative, degrees, ledger)
    carry: Carry | Ends
    if jax.default_backend() == "cpu":
        carry = _on_cpu(make, how, parameters, given, settings)
    else:
        wanted = lanes >= KERNEL_PAYS if one_kernel is None else one_kernel
        carry = _on_gpu(make, how, parameters, given, settings, wanted, one_kernel is None)
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


def _on_gpu(make: Any, how: Any, parameters: Any, given: Any, settings: Settings, kernel: bool, either: bool) -> Carry:
    """In one kernel where that is wanted; several rigid contacts need arrays that it cannot hold: in lockstep."""
    if kernel:
        try:
            return _one_kernel(make, how, _numbers(settings), parameters, given)
        except NotImplementedError:
            if not either:
                raise
    return _lockstep(make, how, parameters, given, settings)


def _refusal(make: Any, parameters: Any, given: Any, how: Any, lane: int, codes: np.ndarray) -> str | None:
    """What `simulate` would say of a lane's numbers: they are looked at one by one only when something is wrong."""
    if codes[lane] not in (outcome.BAD_NUMBER, outcome.STARTS_INSIDE, outcome.CANNOT_START):
        return None
    one = jax.tree.map(lambda x: np.asarray(x)[lane], (parameters, given))
    try:
        world = make(one[0])
        check_start(world, *_state(world, how, one[1]))
    except errors.CaromError as refusal:
        return str(refusal)
    return None


def _begin(make: Any, how: tuple[bool, bool, bool], p: Any, given: Any, until: Any) -> Carry:
    """The carry of one lane before its first step; a lane whose numbers break a rule has its outcome already."""
    with errors.collecting() as flaws:
        world = make(p)
        for automaton in world.automata:
            automaton.check(world.mechanism)
        q, v = _state(world, how, given)
    carry = start(world, q, v, jnp.minimum(1e-3, 0.01 * until), how[2])
    bad = functools.reduce(lambda a, b: a | b, flaws, jnp.asarray(False))
    return carry._replace(outcome=jnp.where(bad, outcome.BAD_NUMBER, carry.outcome))


def _state(world: World, how: tuple[bool, bool, bool], given: Any) -> tuple[Any, Any]:
    """Coordinates and velocities of one lane."""
    (relative, degrees, _), m = how, world.mechanism
    angles, rates, base, base_velocity, bending, bending_rates = given
    q = m.coordinates(angles, base=base, relative=relative, degrees=degrees, bending=bending)
    still = jnp.zeros(m.topology.links)
    moving = {"base": base_velocity, "relative": relative, "degrees": degrees, "bending": bending_rates}
    return q, m.coordinates(still if rates is None else rates, **moving)


@partial(jax.jit, static_argnums=(0, 1))
def _lockstep(make: Any, how: Any, parameters: Any, given: Any, settings: Settings) -> Carry:
    """All lanes together, one attempt each at a time."""
    first = jax.vmap(lambda p, g: _begin(make, how, p, g, settings.until))(parameters, given)
    return _named(make, parameters, first, together(make, parameters, settings, first))


@partial(jax.jit, static_argnums=(0, 1, 2))
def _one_kernel(make: Any, how: Any, numbers: Any, parameters: Any, given: Any) -> Carry:
    """All lanes in one kernel; tolerances and limits are constants of it."""
    settings = Settings(*numbers)
    first = jax.vmap(lambda p, g: _begin(make, how, p, g, settings.until))(parameters, given)
    return _named(make, parameters, first, in_registers(make, parameters, settings, first))


def _named(make: Any, parameters: Any, first: Carry, last: Carry) -> Carry:
    return jax.vmap(lambda p, a, b: named(make(p), a, b))(parameters, first, last)


def _numbers(settings: Settings) -> tuple[Any, ...]:
    solver = settings.solver
    if isinstance(solver, RungeKutta):
        solver = dataclasses.replace(solver, unrolled=True)
    return (
        solver,
        float(settings.rtol),
        float(settings.atol),
        float(settings.until),
        int(settings.max_steps),
        int(settings.max_events),
    )


class Ends(NamedTuple):
    """What a lane leaves behind: the part of its carry that is of interest when it has ended."""

    t: Any
    y: State
    phases: Any
    memory: Any
    steps: Any
    events: Any
    outcome: Any


def _one_by_one(make: Any, how: Any, many: bool, parameters: Any, given: Any, settings: Settings) -> Ends:
    """One lane after the other, each to its end."""

    def one(x: Any) -> Ends:
        world = make(x[0])
        solver = settings.solver
        if many and world.weight <= UNROLLED and isinstance(solver, RungeKutta):
            solver = dataclasses.replace(solver, unrolled=True)  # a third longer to compile, a fifth faster
        ours = dataclasses.replace(settings, solver=solver)
        first = _begin(make, how, x[0], x[1], settings.until)
        c = named(world, first, to_end(world, ours, first))
        return Ends(c.t, c.y, c.phases, c.memory, c.steps, c.events, c.outcome)

    return jax.lax.map(one, (parameters, given))


def _on_cpu(make: Any, how: Any, parameters: Any, given: Any, settings: Settings) -> Ends:
    """A share of the lanes for every core; each thread runs compiled code and lets the others go on."""
    lanes, cores = _lanes(parameters), os.cpu_count() or 1
    share = -(-lanes // min(cores, lanes))  # equal shares, so that one compilation serves all; the last lanes repeat
    # Dealt out like cards: neighbours, which are alike, take equally long.
    order = np.minimum(np.arange(share * min(cores, lanes)), lanes - 1).reshape(share, -1).T
    # NumPy deals out and gathers: a call into JAX for every piece and column would take longer than short runs.
    whole = jax.tree.map(np.asarray, (parameters, given))
    pieces = [jax.tree.map(lambda x, rows=rows: x[rows], whole) for rows in order]
    run = executable(_one_by_one, (make, how, lanes >= UNROLLING_PAYS), *pieces[0], settings)
    ends = list(_threads(len(pieces)).map(lambda piece: jax.block_until_ready(run(*piece, settings)), pieces))
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


def _stacked(values: Any) -> Any:
    if not isinstance(values, tuple):
        return values
    return jnp.stack(values, axis=-1) if isinstance(values[0], jax.Array) else np.stack(values, axis=-1)


def _lanes(parameters: Any) -> int:
    sizes = {np.shape(leaf)[0] if np.ndim(leaf) else None for leaf in jax.tree.leaves(parameters)}
    if len(sizes) != 1 or None in sizes:
        raise errors.CaromError(
            f"parameters of batch have first axes {sorted(map(str, sizes))}; every array must have one entry per lane"
        )
    lanes = int(sizes.pop())  # type: ignore[arg-type]
    if not lanes:
        raise errors.CaromError("parameters of batch have no lane; give arrays with one entry per lane")
    return lanes


def _rows(values: Any, lanes: int) -> Any:
    """One row per lane."""
    if values is None:
        return None
    array = np.asarray(values, dtype=float)
    if array.ndim == 2 and array.shape[0] == lanes:
        return array
    return np.broadcast_to(array, (lanes, *array.shape))
