"""Efforts at joints that are given from outside, and held: what an optimiser or an estimator puts into a world."""

from __future__ import annotations

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from .. import errors
from .._arguments import Names, WorldLike
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Flow
from ..hybrid.reporting import Channel, Drive, Efforts, Report
from ..hybrid.scene import Load, Own, Scene
from ..hybrid.world import World
from ..quantities import Real, Reals

NAME = "inputs"


class HeldInputs(AbstractAutomaton):
    """Torques [N m] of parents on links, forces [N] along sliders, cut at the limits of the joints (effort_limit).

    They are numbers of the world: another value is no other program.
    """

    held: tuple[Any, ...]
    most: tuple[Any, ...]  # limit of each, or None
    links: tuple[int, ...] = eqx.field(static=True)
    words: str = eqx.field(static=True)
    name: str = eqx.field(static=True, default=NAME, kw_only=True)

    @property
    def anatomy(self) -> Anatomy:
        return Anatomy(channels=(Channel("inputs", "driven"),), pausable=True)

    @property
    def report(self) -> Report:
        return Report(words=((self.name, self.words),), drive=Drive(self._efforts))

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        power: Any = 0.0
        for link, effort in zip(self.links, self.efforts, strict=True):
            scene.turn(load, link, effort)
            power = power + effort * scene.relative_rate(link)
        return Flow((), (jnp.asarray(power, dtype=float),))

    @property
    def efforts(self) -> list[Any]:
        """What the joints get; at a limit with the derivative from inside."""
        return [u if m is None else _cut(u, m) for u, m in zip(self.held, self.most, strict=True)]

    def _efforts(self, scene: Scene, own: Own) -> Efforts:
        out: list[Any] = [jnp.asarray(0.0)] * scene.top.links
        for link, effort in zip(self.links, self.efforts, strict=True):
            out[link] = effort
        return Efforts(out)


def with_inputs(world: WorldLike, joints: Names | None) -> tuple[World, tuple[str, ...]]:
    """The world with inputs at these joints, last of its automata, and the names of their links."""
    if not isinstance(world, World):
        raise errors.CaromError(f"world of Stepping is a {type(world).__name__}; it must be a carom.World")
    top = world.mechanism.topology
    driven = tuple(name for k, name in enumerate(top.names) if k not in top.loose)
    chosen = driven if joints is None else errors.listed("joints of Stepping", joints)
    for name in chosen:
        errors.name_in("joint (joints of Stepping)", name, top.names)
        if name not in driven:
            raise errors.CaromError(
                f"joints of Stepping names '{name}', the first link of a free base: it has no joint, and a torque has "
                f"nothing to act against; joints are {', '.join(driven) or 'none'}"
            )
    errors.names("joints of Stepping", list(chosen), "name each once")
    errors.names("automata", [*(a.name for a in world.automata), NAME], f"'{NAME}' is what Stepping adds")
    links = tuple(top.names.index(name) for name in chosen)
    most = tuple(world.mechanism.numbers.effort[k] if top.limited[k] else None for k in links)
    words = f"held over each step, at {', '.join(chosen)}" if chosen else "none"
    inputs = HeldInputs((jnp.asarray(0.0),) * len(links), most, links, words)
    return _with_automata(world, (*world.automata, inputs)), chosen


def holding(world: World, u: Reals) -> World:
    """The same world with other inputs."""
    inputs: Any = world.automata[-1]
    changed = dataclasses.replace(inputs, held=tuple(u[k] for k in range(len(inputs.links))))
    return _with_automata(world, (*world.automata[:-1], changed))


def limits_of(world: World) -> tuple[Any, ...]:
    """Limits of the inputs, None where there is none."""
    inputs: Any = world.automata[-1]
    return tuple(inputs.most)


def _cut(u: Real, most: Real) -> Any:
    return jnp.where(u > most, most, jnp.where(u < -most, -most, u))


def _with_automata(world: World, automata: tuple[Any, ...]) -> World:
    """The same world with other automata, which have been checked."""
    made = object.__new__(World)
    for field in dataclasses.fields(World):
        object.__setattr__(made, field.name, automata if field.name == "automata" else getattr(world, field.name))
    return made
