"""What a run says at chosen instants: forces, torques, energies, places, as plain arrays over time.

Every function here takes a result and instants [s] and computes from the run's dense output, so that an impact of
0.1 ms can be looked at as closely as a minute of flight. At an event the values are those just after it; those just
before it are found at the next smaller number (`numpy.nextafter`), as `times_of` gives them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..capture.hold import HoldPose
from ..contact import CompliantContact, RigidContacts
from ..contact.impact.phases import OPEN, WORDS
from ..control.actuator import AbstractActuator
from ..dynamics.energy import kinetic_energy_by_link, momentum, potential_energy
from ..hybrid.automaton import AbstractAutomaton, Own
from ..hybrid.flow import scene_with_motion
from ..hybrid.scene import Continuous, Scene, split
from ..hybrid.world import World, any_striking
from .dense import over, states

if TYPE_CHECKING:
    from .result import Result, States


@dataclasses.dataclass(frozen=True)
class ContactSignals:
    """One contact over the instants asked for. Forces are those on the mechanism; zero while it is open.

    At a joint's stop `unit` is 'rad': indentations are angles, the normal force is a torque [N m].
    """

    unit: str
    indentation: np.ndarray  # [m], negative while apart
    rate: np.ndarray  # of the indentation [m/s]
    sliding: np.ndarray  # along (n_y, -n_x) [m/s]
    normal: np.ndarray  # [N], pushing the bodies apart
    friction: np.ndarray  # [N], along (n_y, -n_x)
    x: np.ndarray  # contact point [m]
    y: np.ndarray
    nx: np.ndarray  # from the second body into the first; zero at a joint's stop
    ny: np.ndarray
    phase: np.ndarray  # of str

    @property
    def force_unit(self) -> str:
        return "N m" if self.unit == "rad" else "N"


@dataclasses.dataclass(frozen=True)
class SiteSignals:
    """A site: position [m] and velocity [m/s], arrays (times, 2)."""

    position: np.ndarray
    velocity: np.ndarray


@dataclasses.dataclass(frozen=True)
class EnergySignals:
    """Energies [J]; works are empty for a run without a ledger."""

    kinetic: np.ndarray  # (times, links)
    potential: np.ndarray
    works: dict[str, np.ndarray]
    error: np.ndarray | None  # what the ledger cannot account for


@dataclasses.dataclass(frozen=True)
class MomentumSignals:
    """Linear momentum [kg m/s], (times, 2), and angular momentum about the world's origin [kg m^2/s]."""

    linear: np.ndarray
    angular: np.ndarray


# -- instants ----------------------------------------------------------------------------------------------------------


def times_of(result: Result, count: int = 2000, impacts: int = 40) -> np.ndarray:
    """Instants [s] for a plot: `count` evenly over the run, `impacts` inside every impact, both sides of every event.

    Samples of a digital controller and knots of a plan count as events only while there are at most `count` of them.
    """
    for field, value in (("count", count), ("impacts", impacts)):
        errors.number("times_of", field, value, least=2.0)
    first, last = float(result.t[0]), float(result.t[-1])
    touching = {a.name for a in result.world.automata if a.pairs}
    marks = [e.t for e in result.events if e.automaton in touching]
    others = [e.t for e in result.events if e.automaton not in touching]
    at = np.array([*marks, *(others if len(others) <= count else ())])
    inside = [np.linspace(i.t_start, i.t_end, impacts) for i in result.impacts if i.t_end > i.t_start]
    found = np.concatenate([np.linspace(first, last, count), at, np.nextafter(at, first), *inside])
    return np.unique(np.clip(found, first, last))


# -- signals -----------------------------------------------------------------------------------------------------------


def contact_signals(result: Result, times: Any) -> dict[str, ContactSignals]:
    """Kinematics and forces of every contact, by its name."""
    known = [(name, unit, words) for a in result.world.automata for name, unit, words in _contacts_of(a)]
    if not known:
        return {}
    found = over(result, times, _touching)
    return {
        name: ContactSignals(unit=unit, phase=np.asarray(words)[phase], **columns)
        for (name, unit, words), (columns, phase) in zip(known, found, strict=True)
    }


def _contacts_of(automaton: AbstractAutomaton) -> list[tuple[str, str, tuple[str, ...]]]:
    """Name, unit of the indentation and words of the phases of every contact that an automaton holds."""
    if isinstance(automaton, CompliantContact):
        return [(automaton.name, automaton.pair.length_unit, automaton.phases)]
    if not isinstance(automaton, RigidContacts):
        return []
    lost = automaton.phases[-1]
    return [
        (c.name, c.pair.length_unit, ("open", "closed", lost) if c.friction is None else (*WORDS, lost))
        for c in automaton.contacts
    ]


def torque_signals(result: Result, times: Any) -> dict[str, np.ndarray]:
    """Torque [N m] of the parent on every link (times, links), by controller; as limited, held and paused."""
    angles, out = result.world.mechanism.topology.angles, {}
    for i, a in enumerate(result.world.automata):
        if isinstance(a, AbstractActuator):
            out[a.name] = over(result, times, _torques, (i,))
        elif isinstance(a, HoldPose):
            out[a.name] = over(result, times, _efforts, (i,))[:, angles]
    return out


def base_force_signals(result: Result, times: Any) -> dict[str, np.ndarray]:
    """Force [N] in world axes (times, 2) of controllers that push free bases, as 'controller on tree'."""
    top, out = result.world.mechanism.topology, {}
    for i, a in enumerate(result.world.automata):
        if isinstance(a, HoldPose):
            forces = over(result, times, _efforts, (i,))
            for tree, name in enumerate(top.tree_names):
                at = top.base_index(tree)
                if at is not None and at in a.actuated:
                    out[f"{a.name} on {name}"] = forces[:, at : at + 2]
    return out


def energy_signals(result: Result, times: Any) -> EnergySignals:
    """Kinetic energy by link, potential energy, works by name, and what is not accounted for [J]."""
    kinetic, potential, works = over(result, times, _energies)
    named = dict(zip(result.world.channels, works, strict=True)) if works else {}
    if not named:
        return EnergySignals(kinetic, potential, named, None)
    at_start, weight, _ = over(result, result.t[0], _energies)
    start = np.sum(at_start[0]) + weight[0]
    error = np.sum(kinetic, axis=1) + potential - start - sum(named.values(), start=np.zeros_like(potential))
    return EnergySignals(kinetic, potential, named, error)


def momentum_signals(result: Result, times: Any) -> MomentumSignals:
    """Momentum of the whole."""
    return MomentumSignals(*over(result, times, _momenta))


def all_site_signals(result: Result, times: Any) -> dict[str, SiteSignals]:
    """Every site, by its name."""
    moves = over(result, times, _sites)
    names = result.world.mechanism.topology.site_names
    return {name: SiteSignals(moves[:, k, :2], moves[:, k, 2:]) for k, name in enumerate(names)}


def site_signals(result: Result, times: Any, site: Any) -> SiteSignals:
    """Position and velocity of a site, given by its name or itself."""
    return all_site_signals(result, times)[result.world.mechanism.site(site).name]


def bending_signals(result: Result, times: Any) -> dict[str, np.ndarray]:
    """Modal coordinates [m] (times, modes) of every elastic link, by its name."""
    top, q = result.world.mechanism.topology, states(result, times).q
    return {name: q[:, list(top.mode_index(k))] for k, name in enumerate(top.names) if top.modes[k]}


# -- evaluation --------------------------------------------------------------------------------------------------------


def _scene(world: World, s: States) -> Scene:
    y = Continuous(split(world.mechanism, s.q), split(world.mechanism, s.v), s.extra, ())
    return scene_with_motion(world, s.t, y, s.phases, s.memory)


def _own(s: States, i: int) -> Own:
    return Own(s.phases[i], s.memory[i], s.extra[i])


def _columns(k: Any, push: Any, drag: Any) -> Any:
    """The fields of ContactSignals, but for unit and phase."""
    forces = {"normal": push, "friction": drag, "nx": k.normal[0], "ny": k.normal[1]}
    return _arrays(forces | {name: getattr(k, name) for name in ("indentation", "rate", "sliding", "x", "y")})


def _arrays(values: Any) -> Any:
    return jax.tree.map(lambda x: jnp.asarray(x, dtype=float), values)


def _touching(world: World, found: States) -> Any:
    """Columns and phase of every contact, all automata at once, so that they share one scene."""

    def one(s: States) -> Any:
        scene, out = _scene(world, s), []
        for i, automaton in enumerate(world.automata):
            if isinstance(automaton, CompliantContact):
                out.append(_compliant(scene, automaton, _own(s, i)))
            elif isinstance(automaton, RigidContacts):
                out += _rigid(scene, automaton, _own(s, i))
        return out

    return jax.vmap(one)(found)


def _compliant(scene: Scene, contact: CompliantContact, own: Own) -> Any:
    k, push, drag, _ = contact.forces(scene, own)
    if contact.row_count:  # what holds it while it sticks
        drag = drag + scene.reactions(contact, own)[0][0]
    return _columns(k, push, drag), own.phase


def _rigid(scene: Scene, automaton: RigidContacts, own: Own) -> list[Any]:
    forces, _, _ = scene.reactions(automaton, own)
    lost, n = automaton.fails(own.phase), len(automaton.contacts)
    out = []
    for j, (contact, mode) in enumerate(zip(automaton.contacts, automaton.modes(own.phase), strict=True)):
        k = contact.pair.touching(scene)
        push = jnp.where(mode == OPEN, 0.0, forces[j])
        drag = automaton.friction_force(j, mode, k.sliding, push, forces[n:])
        kinds = 2 if contact.friction is None else len(WORDS)
        out.append((_columns(k, push, drag), jnp.where(lost, kinds, mode)))
    return out


def _acting(world: World, s: States) -> Any:
    """0 while an impact lasts in a world that neglects its controllers meanwhile."""
    return 1.0 - any_striking(world, s.phases) if world.pause_in_impact else jnp.asarray(1.0)


def _torques(i: int, world: World, found: States) -> Any:
    control = world.automata[i]
    assert isinstance(control, AbstractActuator)

    def one(s: States) -> Any:
        own = _own(s, i)
        held = control.rate is not None
        torques = own.memory[1:] if held else control.torques(_scene(world, s), own)
        return jnp.stack([_acting(world, s) * x for x in torques])

    return jax.vmap(one)(found)


def _efforts(i: int, world: World, found: States) -> Any:
    control = world.automata[i]
    assert isinstance(control, HoldPose)
    return jax.vmap(lambda s: _acting(world, s) * control.efforts(world.mechanism, s.q, s.v))(found)


def _energies(world: World, found: States) -> Any:
    def one(s: States) -> Any:
        potential = potential_energy(world.mechanism, s.q, world.gravity)
        return kinetic_energy_by_link(world.mechanism, s.q, s.v), potential, s.work

    return jax.vmap(one)(found)


def _momenta(world: World, found: States) -> Any:
    return jax.vmap(lambda s: tuple(momentum(world.mechanism, s.q, s.v)))(found)


def _sites(world: World, found: States) -> Any:
    m = world.mechanism

    def one(s: States) -> Any:
        scene = Scene(m, s.t, split(m, s.q), split(m, s.v))
        rows = [scene.site(m.site(name)) for name in m.topology.site_names]
        return jnp.stack([jnp.stack(_arrays(list(row))) for row in rows])

    return jax.vmap(one)(found)
