"""Running the loop: to the end in one go, in recorded chunks, in batches, and backwards.

XLA compiles a loop whose buffers are small into one machine-code function, without a dispatch per operation, provided
that its fusion pass is off and that "small" is set generously (`carom/__init__.py` does so). On the arm paper's
experiment, that took 1.8 microseconds per step where the default took 60, and compiled in a third of the time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox.internal as eqxi
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from .. import native
from ..mechanism import State
from ..quantities import Function, Real, Vector
from . import outcome
from ._bonds import brought_there, met
from ._carry import Attempt, Carry, Verdict, begin
from ._compiler import SCALAR
from ._compiler import compiler_options as compiler_options
from ._loop import advance
from ._noughts import noughts
from ._one_thread import on_one_thread
from ._probe import differing, first_probe
from ._remembered import remembered
from ._store import load_or_make
from .automaton import Bars
from .condition import any_of
from .scene import Continuous, Scene, merge, split
from .settings import Integration
from .world import World, refuse_extra

INSIDE = 1e-10  # of the world's length: a contact that starts deeper starts inside its surface
BLUR = 0.5  # of the world's length: where rounding is larger, touch and gap cannot be told apart
ENDLESS = 1e4  # times the energy at the start, or of lifting the world by its length
_EXECUTABLES: dict[Any, Any] = {}
MOST = 300  # compiled programs held in memory; each takes some megabytes, and the oldest goes first


def executable(
    function: Function,
    static: tuple[Any, ...],
    *args: Any,
    thorough: bool = False,
    before: Callable[[], None] | None = None,
) -> Any:
    """`function(*static, ...)` compiled for arguments of these shapes; kept, here and on disk (`_store.py`).

    What will run for long is worth compiling thoroughly. Not left to jit, so that the time of compiling is known, and
    several threads can share it. `before` is called where it is not there yet, and has to be compiled.
    """

    def make(name: str) -> Any:
        if before is not None:
            before()
        return _compiled(name, function, static, args, options)

    arrays = any(isinstance(arg, World) and arg.arrays for arg in args)
    options = compiler_options(thorough, arrays)
    zeros = noughts(args)
    each = tuple(_shaped_world(arg) if isinstance(arg, World) else _shaped(arg) for arg in args)
    key = (function, static, each, options == SCALAR, zeros)
    found = _EXECUTABLES.get(key)
    if found is None:
        how = tuple(sorted((options or {}).items()))
        found = load_or_make(function, (static, how, zeros), args, make)
        found = on_one_thread(found) if arrays else found
        _EXECUTABLES[key] = found
        while len(_EXECUTABLES) > MOST:
            _EXECUTABLES.pop(next(iter(_EXECUTABLES)), None)
    return found


def _shaped(arg: PyTree) -> tuple[Any, tuple[Any, ...]]:
    """How an argument is nested, and the shapes and types of its arrays."""
    leaves, tree = jax.tree.flatten(arg)
    return tree, tuple(
        (np.shape(x), x.dtype if hasattr(x, "dtype") else PLAIN.get(type(x)) or jnp.result_type(x)) for x in leaves
    )


_shaped_world = remembered(_shaped)
PLAIN = {kind: np.dtype(kind) for kind in (float, int, bool)}  # of Python's numbers, as JAX takes them


def _compiled(
    name: str, function: Function, static: tuple[Any, ...], args: tuple[Any, ...], options: dict[str, str] | None
) -> Any:
    """Compile now, under a name of its own: to machine code, or by XLA what scalars cannot say."""
    call = partial(function, *static)
    with native.uncollected():
        # Long chains are short code also when they are taken apart; reactions of many contacts are not.
        long = any(automaton.anatomy.arrays for arg in args if isinstance(arg, World) for automaton in arg.automata)
        if native.wanted() and not long:
            program = native.program(call, args, options == SCALAR, noughts(args))
            if program is not None:
                return program
        call.__name__ = name  # type: ignore[attr-defined]
        return jax.jit(call, compiler_options=options).lower(*args).compile()


def start(world: World, state: State, h: Real, ledger: bool) -> Carry:
    """The carry at t = 0."""
    refuse_extra(world, state)
    zero = jnp.asarray(0.0)
    y = Continuous(split(world.mechanism, state.q), split(world.mechanism, state.v), (), ())
    closed = met(world, Scene(world.mechanism, zero, y.q, y.v)) if world.constraints else True
    y = brought_there(world, y) if world.constraints else y
    scene = Scene(world.mechanism, zero, y.q, y.v)
    scene.length, scene.gravity, scene.extra = world.length, world.gravity, state.extra
    scene.automata = world.automata
    each = [automaton.start(scene) for automaton in world.automata]
    y = y._replace(extra=tuple(o.states for o in each), work=(zero,) * len(world.channels) if ledger else ())
    memory = tuple(tuple(jnp.asarray(m, dtype=float) for m in o.memory) for o in each)
    carry = begin(world, zero, y, tuple(o.phase for o in each), memory, jnp.asarray(h))
    bars = [a.bars(scene) for a in world.automata]
    cannot = any_of([flag for bar in bars for flag, _ in bar.refusals])
    code = jnp.where(cannot, outcome.CANNOT_START, carry.outcome)
    code = jnp.where(starts_inside(world, bars), outcome.STARTS_INSIDE, code)
    return carry._replace(
        unsettled=jnp.asarray(any(a.anatomy.looks_again for a in world.automata)),
        outcome=jnp.where(closed, jnp.where(starts_too_far(world, bars), outcome.TOO_FAR, code), outcome.UNMET),
    )


def starts_inside(world: World, bars: list[Bars]) -> Any:
    """Is a contact deeper inside its surface than rounding can put it?"""
    found = jnp.asarray(False)
    for bar in bars:
        for depth, rounding in bar.overlaps.values():
            found = found | any_of([~(depth <= INSIDE * world.length + rounding)])
    return found


def starts_too_far(world: World, bars: list[Bars]) -> Any:
    """Is what rounding does to a gap as large as the robot?"""
    found, units = jnp.asarray(False), units_of(world)
    for bar in bars:
        for name, (_, rounding) in bar.overlaps.items():
            if isinstance(name, tuple):
                size: Any = jnp.stack([jnp.asarray(size_for(world, units, x)) for x in name])
            else:
                size = size_for(world, units, name)
            found = found | any_of([~(rounding <= BLUR * size)])
    return found


def units_of(world: World) -> dict[str, str]:
    """Units in which the gaps of contacts are measured, by name."""
    return {c.name: c.pair.length_unit for c in world.contacts}


def size_for(world: World, units: dict[str, str], contact: str) -> Any:
    """What places at a contact are compared with: the world's length, or a radian at a joint's stop."""
    return 1.0 if units.get(contact) == "rad" else world.length


def to_end(world: World, integration: Integration, carry: Carry, reverse_steps: int | None = None) -> Carry:
    """Advance until the outcome is known; with `reverse_steps`, in a loop that reverse mode can go through.

    Forward mode goes through the plain loop. Reverse mode recomputes from checkpoints: memory grows with the square
    root of the number of steps, of which `reverse_steps` is an upper bound. Both hold a probe to the tolerance, too.
    """
    if reverse_steps is not None:
        return _probed_to_end(reverse_steps, world, integration, carry)
    return differing(_plain_to_end, partial(_probed_to_end, None), world, integration, carry)


def _plain_to_end(world: World, integration: Integration, carry: Carry) -> Carry:
    return jax.lax.while_loop(_running, lambda c: advance(world, integration, c)[0], carry)


def _probed_to_end(reverse_steps: int | None, world: World, integration: Integration, carry: Carry) -> Carry:
    integration, begun = probing(world, integration, carry)

    def body(c: Carry) -> Carry:
        return advance(world, integration, c)[0]

    if reverse_steps is None:
        end = jax.lax.while_loop(_running, body, begun)
    else:
        end = eqxi.while_loop(_running, body, begun, kind="checkpointed", max_steps=reverse_steps)
    return end._replace(probe=())


def probing(world: World, integration: Integration, carry: Carry) -> tuple[Integration, Carry]:
    """How a run that is differentiated integrates, and where it begins."""
    begun = carry._replace(probe=first_probe(world, carry.y), fresh=jnp.asarray(True))
    return dataclasses.replace(integration, probed=True), begun


def _running(c: Carry) -> Any:
    return c.outcome == outcome.RUNNING


def named(world: World, first: Carry, last: Carry) -> Carry:
    """The end of a run, with the better name where more steps would not have helped it."""
    begin, end = jax.lax.stop_gradient((first.y, last.y))
    away = (last.outcome == outcome.STEP_LIMIT) & runs_away(world, merge(begin.q), merge(begin.v), end)
    return last._replace(outcome=jnp.where(away, outcome.RUNAWAY, last.outcome))


def runs_away(world: World, q: Vector, v: Vector, y: Continuous) -> Any:
    """Has the state far more energy than there was at the beginning?"""
    still = world.energy(q, jnp.zeros_like(v))
    there = world.energy(q, v) - still + world.mass * world.length * jnp.linalg.norm(world.gravity)
    gained = world.energy(merge(y.q), merge(y.v)) - still
    return (there > 0.0) & (gained > ENDLESS * there)


def together(make: Callable[[Any], World], parameters: PyTree, integration: Integration, carry: Carry) -> Carry:
    """Advance a batch in lockstep until every lane has its outcome: the form for a GPU.

    Worlds are made inside the loop, so that numbers which do not differ between lanes stay compile-time constants.
    """
    body = jax.vmap(lambda p, c: advance(make(p), integration, c)[0])
    return jax.lax.while_loop(lambda c: jnp.any(c.outcome == outcome.RUNNING), lambda c: body(parameters, c), carry)


class StepRow(NamedTuple):
    """The beginning of an accepted step: enough to compute any instant within it again."""

    t: Any
    span: Any
    y: Continuous
    phases: Any
    memory: Any


class EventRow(NamedTuple):
    """An event: the state on both of its sides."""

    t: Any
    fired: Any
    before: Continuous
    after: Continuous
    phases_before: Any
    phases_after: Any
    memory_before: Any
    memory_after: Any


class Chunk(NamedTuple):
    """A stretch of the run, with how much of each buffer is used."""

    carry: Carry
    steps: Array
    step_count: Array
    events: Array
    event_count: Array


def flat(row: PyTree) -> Array:
    """All numbers of a row, one after the other, as float64."""
    return jnp.concatenate([jnp.ravel(jnp.asarray(x, dtype=float)) for x in jax.tree.leaves(row)])


def _step_row(c: Carry, span: Real) -> StepRow:
    return StepRow(c.t, span, c.y, c.phases, c.memory)


def _event_row(c: Carry, a: Attempt, verdict: Verdict, new: Carry) -> EventRow:
    return EventRow(new.t, verdict.fired, a.y, new.y, c.phases, new.phases, c.memory, new.memory)


def chunk(rows: int, world: World, integration: Integration, carry: Carry) -> Chunk:
    """Advance by at most `rows` accepted steps or events, keeping them."""
    events = max(rows // 4, 16)

    def going(s: tuple[Chunk, Any]) -> Any:
        k, tries = s
        room = (k.step_count < rows) & (k.event_count < events) & (tries < 4 * rows)
        return (k.carry.outcome == outcome.RUNNING) & room

    def body(s: tuple[Chunk, Any]) -> tuple[Chunk, Any]:
        k, tries = s
        c = k.carry
        new, a, verdict = advance(world, integration, c)
        # Every attempt writes into the next free row; only what counts moves on.
        steps = k.steps.at[k.step_count].set(flat(_step_row(c, a.span)))
        marks = k.events.at[k.event_count].set(flat(_event_row(c, a, verdict, new)))
        kept = (verdict.accept & (a.span > 0.0)).astype(int)
        return Chunk(new, steps, k.step_count + kept, marks, k.event_count + verdict.hit), tries + 1

    none = jnp.asarray(0)
    step_width = flat(_step_row(carry, carry.t)).size
    event_width = 1 + len(world.events) + 2 * (step_width - 2)
    empty = Chunk(carry, jnp.zeros((rows, step_width)), none, jnp.zeros((events, event_width)), none)
    return jax.lax.while_loop(going, body, (empty, none))[0]
