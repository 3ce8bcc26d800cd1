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
from jaxtyping import PyTree

from .. import errors, native
from .._arguments import SiteLike
from ..dynamics.energy import kinetic_energy_by_link, momentum, potential_energy
from ..hybrid._flow import bond_forces, scene_with_motion
from ..hybrid.reporting import Phase, Touch
from ..hybrid.scene import Continuous, Own, Scene, split
from ..hybrid.world import World, any_striking
from ..quantities import Times
from ._dense import over, states

if TYPE_CHECKING:
    from .result import Result, States


@dataclasses.dataclass(frozen=True)
class ContactSignals:
    """One contact over the instants asked for. Forces are those on the mechanism; zero while it is open.

    At the stop of a hinge `unit` is 'rad': indentations are angles, the normal force is a torque [N m].
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
    phases: tuple[Phase, ...]
    code: np.ndarray  # number of the phase

    @property
    def phase(self) -> np.ndarray:
        """Its words."""
        return np.asarray([phase.text for phase in self.phases])[self.code]

    @property
    def tone(self) -> np.ndarray:
        """In which it is drawn: see hybrid/reporting.py."""
        return np.asarray([phase.tone for phase in self.phases])[self.code]

    @property
    def force_unit(self) -> str:
        return "N m" if self.unit == "rad" else "N"


@dataclasses.dataclass(frozen=True)
class EffortSignals:
    """A controller: torque [N m] of the parent on every link (times, links), force [N] on bases (times, 2) by tree.

    `wanted`: link angles [rad] (times, links) that it drives to, relative to the parents if `relative`; None without.
    """

    torques: np.ndarray
    pushes: dict[str, np.ndarray]
    wanted: np.ndarray | None
    relative: bool


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
    touching = {a.name for a in result.world.automata if a.report.contacts}
    marks = [e.t for e in result.events if e.automaton in touching]
    others = [e.t for e in result.events if e.automaton not in touching]
    at = np.array([*marks, *(others if len(others) <= count else ())])
    inside = [np.linspace(i.t_start, i.t_end, impacts) for i in result.impacts if i.t_end > i.t_start]
    found = np.concatenate([np.linspace(first, last, count), at, np.nextafter(at, first), *inside])
    return np.unique(np.clip(found, first, last))


# -- signals -----------------------------------------------------------------------------------------------------------


def contact_signals(result: Result, times: Times) -> dict[str, ContactSignals]:
    """Kinematics and forces of every contact, by its name."""
    contacts = result.world.contacts
    if not contacts:
        return {}
    out = {}
    for contact, (columns, code) in zip(contacts, over(result, times, _touching), strict=True):
        out[contact.name] = ContactSignals(contact.pair.length_unit, phases=contact.phases, code=code, **columns)
    return out


def effort_signals(result: Result, times: Times) -> dict[str, EffortSignals]:
    """What every controller exerts and wants, by its name; efforts as limited, held and paused."""
    out = {}
    for i, automaton in enumerate(result.world.automata):
        drive = automaton.report.drive
        if drive is not None:
            torques, pushes, wanted = over(result, times, _efforts, (i,))
            named = dict(zip(drive.bases, pushes, strict=True))
            aims = None if drive.wanted is None else wanted
            out[automaton.name] = EffortSignals(torques, named, aims, drive.relative)
    return out


def energy_signals(result: Result, times: Times) -> EnergySignals:
    """Kinetic energy by link, potential energy, works by name, and what is not accounted for [J]."""
    kinetic, potential, works = over(result, times, _energies)
    named = {channel.name: work for channel, work in zip(result.world.channels, works, strict=True)} if works else {}
    if not named:
        return EnergySignals(kinetic, potential, named, None)
    error = (
        np.sum(kinetic, axis=1) + potential - result.energy.start - sum(named.values(), start=np.zeros_like(potential))
    )
    return EnergySignals(kinetic, potential, named, error)


def momentum_signals(result: Result, times: Times) -> MomentumSignals:
    """Momentum of the whole."""
    return MomentumSignals(*over(result, times, _momenta))


def constraint_signals(result: Result, times: Times) -> dict[str, np.ndarray]:
    """Force along every row of the constraints [N, N m], on the mechanism, (times, rows), by constraint."""
    world = result.world
    if not world.constraints:
        return {}
    found, at = over(result, times, _bond_forces), 0
    out: dict[str, np.ndarray] = {}
    for constraint in world.constraints:
        count = constraint.error(world.mechanism, result.start.q).shape[0]
        words = constraint.describe()
        again = sum(name.split(" #")[0] == words for name in out)  # the same one may stand there twice
        out[f"{words} #{again + 1}" if again else words] = found[:, at : at + count]
        at += count
    return out


def all_site_signals(result: Result, times: Times) -> dict[str, SiteSignals]:
    """Every site, by its name."""
    moves = over(result, times, _sites)
    names = result.world.mechanism.topology.site_names
    return {name: SiteSignals(moves[:, k, :2], moves[:, k, 2:]) for k, name in enumerate(names)}


def site_signals(result: Result, times: Times, site: SiteLike) -> SiteSignals:
    """Position and velocity of a site, given by its name or itself."""
    return all_site_signals(result, times)[result.world.mechanism.site(site).name]


def bending_signals(result: Result, times: Times) -> dict[str, np.ndarray]:
    """Modal coordinates [m] (times, modes) of every elastic link, by its name."""
    top, q = result.world.mechanism.topology, states(result, times).q
    return {name: q[:, list(top.mode_index(k))] for k, name in enumerate(top.names) if top.modes[k]}


# -- evaluation --------------------------------------------------------------------------------------------------------


def scene_at(world: World, s: States) -> Scene:
    y = Continuous(split(world.mechanism, s.q), split(world.mechanism, s.v), s.extra, ())
    return scene_with_motion(world, s.t, y, s.phases, s.memory)


def _own(s: States, i: int) -> Own:
    return Own(s.phases[i], s.memory[i], s.extra[i])


def _columns(touch: Touch) -> Any:
    """The fields of ContactSignals, but for unit, phase and tone."""
    k = touch.motion
    forces = {"normal": touch.normal, "friction": touch.friction, "nx": k.normal[0], "ny": k.normal[1]}
    return _arrays(forces | {name: getattr(k, name) for name in ("indentation", "rate", "sliding", "x", "y")})


def _arrays(values: PyTree) -> Any:
    return jax.tree.map(lambda x: jnp.asarray(x, dtype=float), values)


def _touching(world: World, found: States) -> Any:
    """Columns and phase of every contact, all automata at once, so that they share one scene."""

    def one(s: States) -> Any:
        scene, out = scene_at(world, s), []
        for i, automaton in enumerate(world.automata):
            report, own = automaton.report, _own(s, i)
            if report.contacts:
                found = zip(report.touches(scene, own), report.modes(own), strict=True)
                out += [(_columns(touch), mode) for touch, mode in found]
        return out

    return native.rows(one)(found)


def _efforts(i: int, world: World, found: States) -> Any:
    drive = world.automata[i].report.drive
    assert drive is not None

    def one(s: States) -> Any:
        scene, own = scene_at(world, s), _own(s, i)
        # 0 while an impact lasts in a world that neglects its controllers meanwhile
        acting = 1.0 - any_striking(world, s.phases) if world.pause_in_impact else jnp.asarray(1.0)
        now = drive.efforts(scene, own)
        torques = jnp.stack([acting * torque for torque in now.torques])
        pushes = tuple(jnp.stack([acting * fx, acting * fy]) for fx, fy in now.pushes)
        wanted = () if drive.wanted is None else jnp.stack(_arrays(list(drive.wanted(scene, own))))
        return torques, pushes, wanted

    return native.rows(one)(found)


def _energies(world: World, found: States) -> Any:
    def one(s: States) -> Any:
        potential = potential_energy(world.mechanism, s.q, world.gravity)
        return kinetic_energy_by_link(world.mechanism, s.q, s.v), potential, s.work

    return native.rows(one)(found)


def _momenta(world: World, found: States) -> Any:
    return native.rows(lambda s: tuple(momentum(world.mechanism, s.q, s.v)))(found)


def _bond_forces(world: World, found: States) -> Any:
    def one(s: States) -> Any:
        y = Continuous(split(world.mechanism, s.q), split(world.mechanism, s.v), s.extra, ())
        return jnp.stack(_arrays(bond_forces(world, s.t, y, s.phases, s.memory)))

    return native.rows(one)(found)


def _sites(world: World, found: States) -> Any:
    m = world.mechanism

    def one(s: States) -> Any:
        scene = Scene(m, s.t, split(m, s.q), split(m, s.v))
        rows = [scene.site(m.site(name)) for name in m.topology.site_names]
        return jnp.stack([jnp.stack(_arrays(list(row))) for row in rows])

    return native.rows(one)(found)
