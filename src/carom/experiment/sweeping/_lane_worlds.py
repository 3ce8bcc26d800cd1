"""Worlds of a scenario's lanes: the scenario with traced numbers in some of its places."""

from __future__ import annotations

import dataclasses
import functools
import re
import warnings
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree
from pydantic import BaseModel

from ... import errors
from ...hybrid.world import World
from ...mechanism import State
from ...quantities import Reals
from ...scenario._build import beginning, world_of
from ...scenario._change import changed
from ...scenario._text import read
from ...scenario.model import Scenario

STEP = re.compile(r'"([^"]*)"|([^."]+)')  # of a path; quotes may hold dots


@functools.lru_cache(maxsize=64)
def _scenario(text: str) -> Scenario:
    return read(text, "the scenario of the study")


@dataclasses.dataclass(frozen=True)
class LaneWorld:
    """Makes the world of a lane from its numbers, which stand at these paths of the scenario."""

    text: str
    paths: tuple[str, ...]

    def __call__(self, numbers: Reals) -> World:
        with _quiet():
            return world_of(self.scenario(numbers))

    def scenario(self, numbers: Reals) -> Scenario:
        """The scenario with these numbers, which nobody has looked at: objects refuse those that are not allowed."""
        found: Any = _scenario(self.text)
        for path, value in zip(self.paths, numbers, strict=False):
            steps = [quoted or bare for quoted, bare in STEP.findall(path)]
            found = _put(found, steps, value)
        return found


@dataclasses.dataclass(frozen=True)
class FilledUp:
    """The same, for rows that are filled up with nan to a number that a program is for: those lanes never run."""

    made: LaneWorld

    def __call__(self, numbers: Reals) -> World:
        errors.flaw(jnp.isnan(numbers[0]))
        return self.made(numbers)


@dataclasses.dataclass(frozen=True)
class LaneStart:
    """Where that lane starts."""

    made: LaneWorld

    def __call__(self, numbers: Reals) -> State:
        with _quiet():
            scenario = self.made.scenario(numbers)
            return beginning(scenario, world_of(scenario))


def _quiet() -> warnings.catch_warnings:
    """Pydantic wonders about numbers that are traced; it has looked at the scenario before."""
    quiet = warnings.catch_warnings(action="ignore", category=UserWarning)
    return quiet


def _put(node: Any, path: Sequence[str], value: Any) -> Any:
    """A copy with another value at a path."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(node, BaseModel):
        return node.model_copy(update={step: _put(getattr(node, step), rest, value)})
    if isinstance(node, dict):
        return {**node, step: _put(node[step], rest, value)}
    k = int(step)
    return [*node[:k], _put(node[k], rest, value), *node[k + 1 :]]


@functools.lru_cache(maxsize=64)
def can_be_traced(made: LaneWorld) -> bool:
    """Can the world be made of numbers that are not known yet? The modes of a beam cannot."""
    numbers = [jax.ShapeDtypeStruct((), np.float64)] * len(made.paths)
    try:
        with errors.collecting():
            jax.eval_shape(lambda p: jax.tree.leaves((made(p), LaneStart(made)(p))), numbers)
    except Exception:  # whatever a constructor does with a number that it cannot look at
        return False
    return True


@dataclasses.dataclass(frozen=True)
class Built:
    """Lanes whose worlds were made one by one and have the same structure."""

    lanes: np.ndarray
    parameters: PyTree
    start: State


def built_one_by_one(made: LaneWorld, numbers: np.ndarray) -> tuple[list[Built], dict[int, str]]:
    """Worlds that cannot be traced, by their structure; and why some lanes have none."""
    groups: dict[Any, list[tuple[int, Any, Any]]] = {}
    refused: dict[int, str] = {}
    for lane, row in enumerate(numbers):
        try:
            scenario = changed(_scenario(made.text), dict(zip(made.paths, row.tolist(), strict=True)))
            world = world_of(scenario)
            state = beginning(scenario, world)
        except errors.CaromError as refusal:
            refused[lane] = str(refusal)
            continue
        shapes = tuple(np.shape(x) for x in jax.tree.leaves((world, state)))
        groups.setdefault((jax.tree.structure((world, state)), shapes), []).append((lane, world, state))
    out = []
    for rows in groups.values():
        lanes, worlds, states = zip(*rows, strict=True)
        stacked = [jax.tree.map(lambda *x: np.stack([np.asarray(y) for y in x]), *each) for each in (worlds, states)]
        out.append(Built(np.array(lanes), *stacked))
    return out, refused


def as_it_is(world: World) -> World:
    """`make` of a batch whose parameters are the worlds."""
    return world


def why(made: LaneWorld, numbers: np.ndarray) -> str | None:
    """What is said of the numbers of a lane when they are looked at; None if they are fine."""
    from ...hybrid._opening import check_start

    try:
        scenario = changed(_scenario(made.text), dict(zip(made.paths, numbers.tolist(), strict=True)))
        world = world_of(scenario)
        check_start(world, beginning(scenario, world))
    except errors.CaromError as refusal:
        return str(refusal)
    return None
