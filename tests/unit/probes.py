"""Automata made to try the event rule, and a flight through them.

A disk flies freely: x and theta are linear in time, y is a parabola, so every instant is known in closed form.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp

import carom
from carom.hybrid import AbstractAutomaton, Anatomy, Channel, Flow, Landing

G = 9.81
EXACT = 1e-12  # [s] what docs/events.md promises for an instant


class Probe(AbstractAutomaton):
    """Guards that are any function of scene, memory and a few numbers; by default it counts and lets pass."""

    name: str = eqx.field(static=True)
    numbers: Any
    look: Callable[..., Sequence[Any]] = eqx.field(static=True)
    act: Callable[..., Landing] = eqx.field(static=True)
    words: tuple[str, ...] = eqx.field(static=True)
    blow: bool = eqx.field(static=True)

    def __init__(self, name, look, numbers, act=None, exits=("cross",), impulsive=False):
        self.name, self.look, self.act = name, look, act or passing
        self.words, self.blow = exits, impulsive
        self.numbers = tuple(jnp.asarray(n, dtype=float) for n in numbers)

    @property
    def anatomy(self):
        ledger = (Channel("blows", "dissipative"),)
        return Anatomy(("on", "off"), self.words, memory=("count",), channels=ledger, impulsive=self.blow)

    def force(self, scene, own, load):
        return Flow(powers=(0.0,))

    def guard(self, scene, own):
        return self.look(self.numbers, scene, own)

    def jump(self, scene, own, fired):
        return self.act(self.numbers, scene, own, fired)


def passing(numbers, scene, own, fired) -> Landing:
    """Count; change nothing else."""
    return Landing(own.phase, (own.memory[0] + 1.0,), own.states, scene.v)


def plane(numbers, scene, own):
    """a t + b x + c y + d sin(theta) + e."""
    a, b, c, d, e = numbers
    return (a * scene.t + b * scene.q[0] + c * scene.q[1] + d * jnp.sin(scene.q[2]) + e,)


def line(name, t=0.0, x=0.0, y=0.0, sine=0.0, offset=0.0) -> Probe:
    return Probe(name, plane, (t, x, y, sine, offset))


IDLE = {"offset": -1.0}


def disk() -> carom.Mechanism:
    return carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())


def fly(first: dict, second: dict = IDLE, until=2.0, velocity=(1.0, 0.0), base=(0.0, 0.0), spin=0.0, gravity=G, **more):
    """One world for most tests: two lines in the state, none of which changes the motion."""
    world = carom.World(disk(), control=[line("first", **first), line("second", **second)], gravity=gravity)
    # A loop that does not get on is a failure, not a wait.
    settings = carom.Settings(max_steps=20_000, **more)
    start = world.state(rates=[spin], base=base, base_velocity=velocity)
    return carom.simulate(world, start, until=until, settings=settings)


def instants(result: Any, name: str = "first") -> list[float]:
    return [e.t for e in result.events if e.automaton == name]
