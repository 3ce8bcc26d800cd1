"""How the lanes of a batch run.

On a GPU every lane is a thread that runs from start to end with branches of its own; lanes that a thread cannot hold
advance in lockstep. On a CPU one lane after the other runs in the compiled scalar loop, on every core: there a loop
over lanes inside each operation would cost more than it saves.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from .. import errors, native
from ..hybrid import outcome
from ..hybrid._carry import Carry
from ..hybrid._loop import advance
from ..hybrid._one_thread import one_thread
from ..hybrid._probe import differing
from ..hybrid._run import executable, named, probing, start, to_end, together
from ..hybrid._store import back_end
from ..hybrid.scene import Continuous
from ..hybrid.settings import Integration
from ..hybrid.solvers import RungeKutta
from ..hybrid.world import World
from ..mechanism.state import State, refuse_state
from ..quantities import Function, Real
from . import _memory as memory
from .recording.recorder import AbstractRecorder, sight_of

LONG = 100  # lanes on a CPU from which a program is compiled thoroughly
UNROLLING_PAYS, UNROLLED = 1_000, 15.0  # on a CPU: lanes from which stages are unrolled, and up to which weight

Form = Literal["short", "unrolled", "rolled"]  # of a solver's stages
Start = Callable[[Any], State] | None  # a function of the lane's parameters, or None where the rows are given


class How(NamedTuple):
    """Where lanes start, whether they keep a ledger, and what they record."""

    begin: Start
    ledger: bool
    recorders: tuple[AbstractRecorder, ...] = ()


def _begin(make: Function, how: How, p: PyTree, given: PyTree, until: Real) -> Carry:
    """The carry of one lane before its first step; a lane whose numbers break a rule has its outcome already."""
    with errors.collecting() as flaws:
        world = make(p)
        state = state_of(world, how, p, given)
    carry = start(world, state, jnp.minimum(1e-3, 0.01 * until), how.ledger)
    bad = functools.reduce(lambda a, b: a | b, flaws, jnp.asarray(False))
    return carry._replace(outcome=jnp.where(bad, outcome.BAD_NUMBER, carry.outcome))


def state_of(world: World, how: How, p: PyTree, given: PyTree) -> State:
    """The start of one lane."""
    return refuse_state(given if how.begin is None else how.begin(p), world.mechanism)


@partial(jax.jit, static_argnums=(0, 1))
def lockstep(make: Function, how: How, parameters: PyTree, given: PyTree, integration: Integration) -> Ends:
    """All lanes together, one attempt each at a time."""
    first = jax.vmap(lambda p, g: _begin(make, how, p, g, integration.until))(parameters, given)
    if not how.recorders:
        last: Any = together(make, parameters, integration, first), ()
    else:
        kept = jax.vmap(lambda p, c: _nothing_yet(make(p), how, c))(parameters, first)
        body = jax.vmap(lambda p, s: _advance_seen(make(p), integration, how, s))
        last = jax.lax.while_loop(
            lambda s: jnp.any(s[0].outcome == outcome.RUNNING), lambda s: body(parameters, s), (first, kept)
        )
    return jax.vmap(lambda p, a, b: _ends(make(p), how, a, *b))(parameters, first, last)


def _nothing_yet(world: World, how: How, first: Carry) -> tuple[Any, ...]:
    return tuple(recorder.begin(world, first) for recorder in how.recorders)


def _advance_seen(world: World, integration: Integration, how: How, s: tuple[Carry, Any]) -> tuple[Carry, Any]:
    """One attempt, and what the recorders make of it; a lane ends when all of them have what they wait for."""
    c, kept = s
    new, tried, verdict = advance(world, integration, c)
    sight = sight_of(world, integration, c, new, tried, verdict)
    kept = tuple(recorder.see(sight, k) for recorder, k in zip(how.recorders, kept, strict=True))
    enough = functools.reduce(
        lambda a, b: a & b, (r.satisfied(k) for r, k in zip(how.recorders, kept, strict=True)), jnp.asarray(True)
    )
    ended = enough & (new.outcome == outcome.RUNNING)
    return new._replace(outcome=jnp.where(ended, outcome.EVENT_LIMIT, new.outcome)), kept


def _to_end_seen(world: World, integration: Integration, how: How, first: Carry) -> tuple[Carry, Any]:
    if not how.recorders:
        return to_end(world, integration, first), ()
    return differing(partial(_seen_to_end, how), partial(_probed_to_end, how), world, integration, first)


def _seen_to_end(how: How, world: World, integration: Integration, first: Carry) -> tuple[Carry, Any]:
    return jax.lax.while_loop(
        lambda s: s[0].outcome == outcome.RUNNING,
        lambda s: _advance_seen(world, integration, how, s),
        (first, _nothing_yet(world, how, first)),
    )


def _probed_to_end(how: How, world: World, integration: Integration, first: Carry) -> tuple[Carry, Any]:
    last, kept = _seen_to_end(how, world, *probing(world, integration, first))
    return last._replace(probe=()), kept


def refuse_too_many(make: Function, how: How, parameters: PyTree, given: PyTree, kernel: bool | None) -> None:
    """Say what memory a large batch takes, before anything of it is compiled; `kernel` None: it runs on a CPU."""
    lanes = len(jax.tree.leaves(parameters)[0])
    if lanes < memory.LARGE:
        return
    leaves, tree = jax.tree.flatten((parameters, given))
    first, last, whole = _sizes(make, how, tree, tuple((np.shape(x)[1:], jnp.result_type(x)) for x in leaves))
    memory.refuse_beyond(lanes, lanes * memory.COPIES * (first + last), memory.of_host(), "the memory that is free")
    if kernel is not None:
        each = first + (last if kernel else memory.LOCKSTEP * whole)
        memory.refuse_beyond(lanes, lanes * each, memory.of_device(), "the accelerator's memory that is free")


@functools.lru_cache(256)
def _sizes(make: Function, how: How, tree: Any, shapes: tuple[Any, ...]) -> tuple[float, float, float]:
    """What a lane is given, what it leaves behind, and all that it carries [byte]."""
    one = jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(*shape) for shape in shapes])

    def ends(p: PyTree, given: PyTree, until: Real) -> tuple[Carry, Any]:
        carry = _begin(make, how, p, given, until)
        kept = (carry.t, carry.y, carry.phases, carry.memory, carry.steps, carry.events, carry.depth)
        return carry, (kept, _nothing_yet(make(p), how, carry))

    carry, last = jax.eval_shape(ends, *one, 1.0)
    return memory.size_of(one), memory.size_of(last), memory.size_of(carry)


def on_gpu(
    make: Function,
    how: How,
    parameters: PyTree,
    given: PyTree,
    integration: Integration,
    kernel: bool,
    either: bool,
) -> tuple[Ends, str]:
    """In one kernel, one thread per lane; what a thread cannot hold, such as long arrays, goes in lockstep."""
    if kernel:
        try:
            run = _kernel(make, how, integration, parameters, given)
            return run((integration,), jax.tree.map(np.asarray, (parameters, given))), "CUDA"
        except (NotImplementedError, native.TooLarge, native.Trouble) as why:
            if not either:
                raise errors.CaromError(f"one_kernel of batch: {why}; leave it out to run in lockstep") from None
    return lockstep(make, how, parameters, given, integration), native.by_xla()


def _kernel(make: Function, how: How, integration: Integration, parameters: PyTree, given: PyTree) -> native.Kernel:
    """The kernel for lanes of this kind; kept."""
    one = jax.tree.map(lambda x: np.asarray(x)[0], (parameters, given))
    shapes = tuple((np.shape(x), np.asarray(x).dtype) for x in jax.tree.leaves(one))
    key = (make, how, integration.solver, jax.tree.structure(one), shapes)
    found = _KERNELS.get(key)
    if found is None:
        lane = partial(_lane, make, how, "rolled")
        found = _KERNELS[key] = native.Kernel(*native.source_of(lane, (integration,), one))
    return found


_KERNELS: dict[Any, native.Kernel] = {}


class Ends(NamedTuple):
    """What a lane leaves behind: the part of its carry that is of interest when it has ended."""

    t: Any
    y: Continuous
    phases: Any
    memory: Any
    steps: Any
    events: Any
    depth: Any
    outcome: Any
    extra: dict[str, Any]  # extra states by name
    records: dict[str, dict[str, Any]]  # what the recorders kept


def _ends(world: World, how: How, first: Carry, last: Carry, kept: tuple[Any, ...]) -> Ends:
    c = named(world, first, last)
    records = {r.key: r.end(world, c, k) for r, k in zip(how.recorders, kept, strict=True)}
    return Ends(c.t, c.y, c.phases, c.memory, c.steps, c.events, c.depth, c.outcome, world.extra_of(c.y), records)


def _lane(make: Function, how: How, form: Form, integration: Integration, p: PyTree, given: PyTree) -> Ends:
    """One lane, from its start to its end."""
    world, solver = make(p), integration.solver
    if isinstance(solver, RungeKutta):
        solver = dataclasses.replace(solver, form=form)
    first = _begin(make, how, p, given, integration.until)
    return _ends(world, how, first, *_to_end_seen(world, dataclasses.replace(integration, solver=solver), how, first))


def _one_by_one(make: Function, how: How, many: bool, rows: tuple[PyTree, PyTree], integration: Integration) -> Ends:
    """One lane after the other, each to its end; `rows`: parameters and starts.

    They are one argument: where parameters are worlds, a program must not keep to what is zero in the first lanes.
    """

    def one(x: PyTree) -> Ends:
        # Unrolled stages take a third longer to compile, and are a fifth faster.
        form: Form = "unrolled" if many and make(x[0]).weight <= UNROLLED else "short"
        return _lane(make, how, form, integration, *x)

    return jax.lax.map(one, rows)


def on_cpu(make: Function, how: How, parameters: PyTree, given: PyTree, integration: Integration) -> tuple[Ends, str]:
    """A share of the lanes for every core; each thread runs compiled code and lets the others go on."""
    lanes, cores = len(jax.tree.leaves(parameters)[0]), _cores()
    share = -(-lanes // min(cores, lanes))  # equal shares, so that one compilation serves all; the last lanes repeat
    # Dealt out like cards: neighbours, which are alike, take equally long.
    order = np.minimum(np.arange(share * min(cores, lanes)), lanes - 1).reshape(share, -1).T
    # NumPy deals out and gathers: a call into JAX for every piece and column would take longer than short runs.
    whole = jax.tree.map(np.asarray, (parameters, given))
    pieces = [jax.tree.map(lambda x, rows=rows: x[rows], whole) for rows in order]
    run = executable(_one_by_one, (make, how, lanes >= UNROLLING_PAYS), pieces[0], integration, thorough=lanes >= LONG)
    with one_thread():
        ends = list(_threads(len(pieces)).map(lambda piece: jax.block_until_ready(run(piece, integration)), pieces))
    leaves = [[np.asarray(x) for x in jax.tree.leaves(end)] for end in ends]
    whole = [_dealt_back(columns)[:lanes] for columns in zip(*leaves, strict=True)]
    return Ends(*jax.tree.unflatten(jax.tree.structure(ends[0]), whole)), back_end(run)


def _cores() -> int:
    """Processors that this process may use: on a shared machine not all that there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _dealt_back(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Lanes in their order again."""
    together = np.stack(columns, axis=1)
    return together.reshape(together.shape[0] * together.shape[1], *together.shape[2:])  # columns may be empty


@functools.cache
def _threads(count: int) -> ThreadPoolExecutor:
    """Kept from batch to batch: starting threads takes as long as a thousand short runs."""
    return ThreadPoolExecutor(count, thread_name_prefix="carom")
