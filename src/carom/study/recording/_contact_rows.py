"""What a lane says of a contact at an instant: the entries of a row of the table of impacts."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from ...hybrid.reporting import ContactReport
from ...hybrid.scene import Continuous, Own, merge
from ...hybrid.world import World
from ...quantities import Memories, Phases, Real
from ...result.impacts import touch_at


class Place(NamedTuple):
    """A contact: numbers of its automaton, of itself in there, and its place in the order of impacts at one instant."""

    automaton: int
    contact: int
    order: int
    report: ContactReport


def places(world: World) -> list[Place]:
    """Every contact, in the order in which a run lists impacts of one instant."""
    found: list[Place] = []
    for i, automaton in enumerate(world.automata):
        contacts = list(enumerate(automaton.report.contacts))
        for j, contact in sorted(contacts, key=lambda each: not each[1].rigid):
            found.append(Place(i, j, len(found), contact))
    return found


def compliant(world: World) -> list[Place]:
    """Those whose impacts take time."""
    return [place for place in places(world) if not place.report.rigid]


def closed(world: World, place: Place, phases: Phases, memory: Memories) -> Any:
    """Are the two together?"""
    own = Own(phases[place.automaton], memory[place.automaton], ())
    mode = world.automata[place.automaton].report.modes(own)[place.contact]
    flag = jnp.asarray(False)
    for number, phase in enumerate(place.report.phases):
        if phase.tone != "open":
            flag = flag | (mode == number)
    return flag


def side(world: World, place: Place, t: Real, y: Continuous, which: str) -> dict[str, Any]:
    """Velocities and energies on one side of an impact, `before` or `after`."""
    names = world.mechanism.topology.names
    rate, sliding, depth, energies = touch_at(world.mechanism, place.report.pair, t, merge(y.q), merge(y.v))
    return {
        f"normal_velocity_{which}": -rate,
        f"tangential_velocity_{which}": sliding,
        f"kinetic_energy_{which}": sum(energies[k] for k in range(len(names))),
        "depth": depth,
    } | {f"kinetic_energy_{which}.{name}": energies[k] for k, name in enumerate(names)}


def own_channels(world: World, place: Place) -> list[int]:
    """Entries of the ledger for what this contact alone takes."""
    name = place.report.name
    return [k for k, c in enumerate(world.channels) if c.contact == name and c.kind == "dissipative"]


def work_of(world: World, place: Place, y: Continuous) -> Any:
    """What this contact alone has taken so far [J], negative."""
    return sum((y.work[k] for k in own_channels(world, place)), start=jnp.asarray(0.0)) if y.work else jnp.asarray(0.0)
