"""Simulate a world."""

from __future__ import annotations

import dataclasses
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from . import errors, native
from ._arguments import UntilLike
from ._progress import RunLine
from .hybrid import outcome
from .hybrid._carry import Carry
from .hybrid._flow import scene_with_motion
from .hybrid._horizon import ended
from .hybrid._opening import one_by_one, refuse_guards, refuse_overlaps, refuse_start, refuse_unmet
from .hybrid._remembered import remembered
from .hybrid._run import chunk, executable, runs_away, start
from .hybrid._store import back_end
from .hybrid.condition import condition_of
from .hybrid.scene import merge
from .hybrid.settings import NO_LIMIT, Integration, Settings, settings_or_default
from .hybrid.world import World, owns
from .mechanism.state import State, refuse_state
from .quantities import Real
from .result import _going_on as going_on
from .result._cautions import at_once
from .result._chunks import Chunks, unpack
from .result.result import Result, Statistics

ENOUGH = 1_000_000  # attempts of a quickly compiled program that cost as much as a thorough compilation saves
ROWS = 1024  # accepted steps per chunk: after each, progress is shown and Ctrl-C takes effect
NEAR = 1e-6  # of the world's length: a start nearer to a surface than this is looked at for whether it touches


class SimulationError(errors.CaromError):
    """A run ended before its horizon; `result` holds what was computed."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


def simulate(
    world: World,
    start: State | Result | str | Path,
    *,
    until: UntilLike,
    settings: Settings | None = None,
    progress: bool | None = None,
    stream: str | Path | None = None,
    throw: bool = True,
) -> Result:
    """Simulate a world from a state until a time [s], or until something happens.

    - `start`: where it is and how it moves, `world.state(angles=..., rates=..., base=..., ...)`; or a run to go on from
      where it ended, with phases, memories and its clock: a result, the file of `result.save`, or the folder of
      `carom run`. Numbers of the world may be others by then. The result has the new stretch alone
    - `until`: a time [s]; a condition on signals, 'hip.y < 0.4 m'; '3 impacts', 'strike tip', 'release', 'slip foot';
      several in a list: it ends at the first, and `result.outcome` says at which. Without a time: 1e5 s at most
    - `settings`: solver, tolerances and limits, `carom.Settings(rtol=1e-10)`; its defaults are those of every run
    - `progress`: show simulated time and events while running; by default after two seconds, on a terminal
    - `stream`: a folder to which steps and events are written as they come, so that memory does not grow (the result
      reads them back when it is asked for them)
    - `throw`: raise `SimulationError` when the run ends early; its `result` holds what was computed

    Ctrl-C returns what was computed so far, with the outcome saying so.

    >>> import carom
    >>> rod = carom.World(carom.Mechanism([carom.Rod(1.0, 1.0)]), gravity=9.81)
    >>> carom.simulate(rod, rod.state(angles=[60], degrees=True), until=0.5).outcome
    'finished'
    """
    if not isinstance(world, World):
        raise errors.CaromError(f"simulate got a {type(world).__name__}; it must be a carom.World(mechanism, ...)")
    settings = settings_or_default(settings)
    began = time.perf_counter()
    (world, horizon), before = ended(world, until), None
    integration = settings.integration(horizon)
    if isinstance(start, Result | str | Path):
        carry = before = _gone_on(world, going_on.end_of(start), float(horizon), settings.ledger)
        start = going_on.started(world, carry)
    else:
        carry = _opened(world, refuse_state(start, world.mechanism), float(horizon), settings.ledger)
    result = _drive(world, integration, carry, progress, None if stream is None else Path(stream), began, start)
    result = dataclasses.replace(result, before=before)
    if stream is None:  # a streamed run is not read back for that; result.warnings does it when asked, and looks closer
        for sentence in at_once(result):
            warnings.warn(sentence, errors.CaromWarning, stacklevel=2)
    stopped = int(result.final.outcome) == outcome.RUNNING
    if throw and not result.finished and not stopped:
        q, v = (np.asarray(merge(x)).tolist() for x in (result.final.y.q, result.final.y.v))
        where = f"at t = {float(result.final.t):.9g} s, q = {q}, v = {v}"
        raise SimulationError(f"the run ended early: {result.outcome} ({where})", result)
    return result


def repeat(result: Result, *, rtol: float, atol: float, until: float, progress: bool | None = None) -> Result:
    """The same run from the same state with other tolerances; one that ends early, or is stopped, is returned too."""
    began, old = time.perf_counter(), result.integration
    more = min(10 * int(old.max_steps), NO_LIMIT)  # tighter tolerances need more of them
    asked = zip(("rtol", "atol", "until", "max_steps"), map(np.asarray, (rtol, atol, until, more)), strict=True)
    integration = dataclasses.replace(old, **dict[str, Any](asked))
    carry = result.before or _opened(result.world, result.start, until, bool(result.final.y.work))
    return _drive(result.world, integration, carry, progress, None, began, result.start)


def _gone_on(world: World, end: dict[str, float], until: float, ledger: bool) -> Carry:
    """The carry with which another run ended, with this world's numbers."""
    state, h = going_on.state_at_end(world, end), np.asarray(1e-3)
    first = executable(_opening, (ledger,), world, state, h)(world, state, h)[0]
    carry = going_on.begun_again(world, first, end)
    if not until > float(carry.t):
        raise errors.CaromError(
            f"until of simulate is {until:g} s, and the run from which it should go on ended at {float(carry.t):g} s; "
            "give a later time"
        )
    return carry


def _opened(world: World, start: State, until: float, ledger: bool) -> Carry:
    """The carry at the start, unless something touches, or is not finite, that must not be."""
    refuse_unmet(world, start)
    h = np.asarray(min(1e-3, 0.01 * until))
    carry, overlaps, guards = executable(_opening, (ledger,), world, start, h)(world, start, h)
    refuse_overlaps(world, overlaps)
    # Only what touches can be refused here; most runs start in the air, and need not look twice.
    near = NEAR * float(world.length)
    if any(depth > -near - noise for _, depth, noise in one_by_one(overlaps)):
        refuse_start(world, start)
    refuse_guards(world, guards)
    return carry


def _opening(ledger: bool, world: World, state: State, h: Real) -> tuple[Carry, Any, list[tuple[Any, ...]]]:
    """The carry at the start, overlaps of the contacts, and values of the guards that ask for no reaction."""
    c = start(world, state, h, ledger)
    scene = scene_with_motion(world, c.t, c.y, c.phases, c.memory)
    guards = [
        () if a.holding.count else tuple(jnp.asarray(condition_of(k).value, dtype=float) for k in a.guard(scene, own))
        for a, own in zip(world.automata, owns(c.y, c.phases, c.memory), strict=True)
    ]
    return c, [a.bars(scene).overlaps for a in world.automata], guards


def _drive(
    world: World,
    integration: Integration,
    carry: Carry,
    progress: bool | None,
    stream: Path | None,
    began: float,
    begin: State,
) -> Result:
    """Chunk after chunk, until the end or Ctrl-C."""
    store, show = Chunks(stream), RunLine(progress, float(integration.until), _impact_columns(world))
    try:
        run = quick = executable(
            chunk, (ROWS,), world, integration, carry, before=lambda: show.compiling(*_work(world))
        )
    finally:
        show.close()
    compiled_at = time.perf_counter()
    store.describe(world, carry)
    try:
        while int(carry.outcome) == outcome.RUNNING:
            if run is quick and int(carry.steps) > ENOUGH and not native.worked(run, 0):
                run = executable(chunk, (ROWS,), world, integration, carry, thorough=True)
            piece = run(world, integration, carry)
            native.worked(run, int(piece.carry.steps) - int(carry.steps))
            events = np.asarray(piece.events)[: int(piece.event_count)]
            store.add(np.asarray(piece.steps)[: int(piece.step_count)], events)
            carry = piece.carry
            show.ran(float(carry.t), int(carry.events), events)
    except KeyboardInterrupt:
        show.close()  # or the display would write over it
        print(f"\nstopped at t = {float(carry.t):g} s; what was computed is kept", file=sys.stderr)
    finally:
        show.close()
    done = time.perf_counter()
    statistics = Statistics(
        int(carry.steps),
        int(carry.rejected),
        int(carry.events),
        compiled_at - began,
        done - compiled_at,
        back_end(run),
    )
    if int(carry.outcome) == outcome.STEP_LIMIT and bool(runs_away(world, begin.q, begin.v, carry.y)):
        carry = carry._replace(outcome=jnp.asarray(outcome.RUNAWAY))
    return Result(world, integration, carry, lambda: unpack(world, carry, *store.read()), statistics, begin)


def _work(world: World) -> tuple[str, float]:
    """What has to be compiled, and how long that takes, roughly [s]: exits cost most, and XLA is slower."""
    links, contacts = world.mechanism.topology.links, len(world.contacts)
    words = [f"{n} {word}{'s' * (n != 1)}" for n, word in ((links, "link"), (contacts, "contact")) if n]
    seconds = 0.3 + 0.03 * world.mechanism.dof + 0.05 * len(world.events)
    return " with ".join(words), seconds * (1.0 if native.wanted() and not world.arrays else 8.0)


@remembered
def _impact_columns(world: World) -> list[int]:
    """Columns of an event row that say that a contact closed: its time comes first, then a flag per exit."""
    closes = [{contact.begins for contact in a.report.contacts} for a in world.automata]
    flags = [e in those for a, those in zip(world.automata, closes, strict=True) for e in a.anatomy.exit_names]
    return [1 + k for k, closed in enumerate(flags) if closed]
