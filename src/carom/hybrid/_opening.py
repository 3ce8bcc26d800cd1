"""Starts from which no run can begin, answered with a sentence."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import errors
from ..mechanism.state import State
from ._bonds import unmet
from ._run import BLUR, INSIDE, executable, size_for, units_of
from .automaton import Bars
from .scene import Scene, split
from .world import World


def refuse_guards(world: World, guards: list[tuple[Any, ...]]) -> None:
    """Name the guard that is not a number where a run cannot even begin."""
    for automaton, values in zip(world.automata, guards, strict=True):
        if all(np.isfinite(value).all() for value in values):
            continue
        for name, value in zip(automaton.anatomy.exit_names, values, strict=False):
            if not np.isfinite(np.asarray(value)):
                raise errors.CaromError(
                    f"guard '{name}' of '{automaton.name}' is {float(value)} at the start; it must be a finite "
                    "number; check the parameters and the initial state"
                )


def check_start(world: World, state: State) -> None:
    """Refuse a state from which no run can start, without compiling one."""
    refuse_unmet(world, state)
    refuse_overlaps(world, executable(_seen, (), world, state)(world, state)[0])
    refuse_start(world, state)


def refuse_unmet(world: World, state: State) -> None:
    """Name the constraint that a start does not meet."""
    found = unmet(world, state) if world.constraints else None
    if found is not None:
        constraint, off, fast = found
        raise errors.CaromError(
            f"the start does not meet {constraint.describe()}: it is off by {off:.3g} and leaves it at {fast:.3g} per "
            "second; world.assembled(state) brings it there (in a file: assemble = true under [start]), or the "
            "constraints contradict each other"
        )


def refuse_overlaps(world: World, overlaps: Any) -> None:
    units = units_of(world)
    for name, depth, rounding in one_by_one(overlaps):
        size, unit = float(size_for(world, units, name)), units.get(name, "m")
        if not rounding <= BLUR * size:
            raise errors.CaromError(
                f"contact '{name}' is so far from the origin that float64 cannot tell touch from gap: places there "
                f"are rounded to {rounding:.2g} {unit}, and what is simulated measures {size:.2g} {unit}; move the "
                "world nearer to the origin"
            )
        if not depth <= INSIDE * float(world.length) + rounding:
            raise errors.CaromError(
                f"contact '{name}' starts {depth:g} {unit} inside its surface; a run starts outside; move one of "
                "them, or turn the surface's normal to its free side"
            )


def one_by_one(overlaps: Any) -> list[tuple[str, float, float]]:
    """Name, depth and rounding of every contact of all automata."""
    out = []
    for found in overlaps:
        for key, values in found.items():
            names = key if isinstance(key, tuple) else (key,)
            depths, roundings = (np.ravel(np.asarray(x)) for x in values)
            out += [(n, float(d), float(r)) for n, d, r in zip(names, depths, roundings, strict=True)]
    return out


def refuse_start(world: World, state: State) -> None:
    """Say what keeps a run from starting; asked one by one, for the sentence, where something does."""
    if not any(np.any(flag) for flag in executable(_seen, (), world, state)(world, state)[1]):
        return
    for bar in _bars(world, state):
        for cannot, say in bar.refusals:
            if bool(cannot):
                raise errors.CaromError(say())


def _seen(world: World, state: State) -> tuple[list[Any], list[Any]]:
    """Overlaps of all automata, and whether each of their refusals holds."""
    bars = _bars(world, state)
    return [bar.overlaps for bar in bars], [jnp.asarray(cannot) for bar in bars for cannot, _ in bar.refusals]


def _bars(world: World, state: State) -> list[Bars]:
    scene = Scene(world.mechanism, jnp.asarray(0.0), *(split(world.mechanism, x) for x in (state.q, state.v)))
    return [automaton.bars(scene) for automaton in world.automata]
