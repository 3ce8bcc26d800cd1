"""What a world can be asked for by name: places and velocities, contacts, controllers, energies, phases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp

from .. import errors
from ..dynamics import _elastic_energy as elastic_energy
from ..dynamics._vibration import vibration_energy
from ..dynamics.energy import kinetic_energy, momentum, potential_energy
from ..hybrid.automaton import AbstractAutomaton
from ..hybrid.reporting import ContactReport
from ..hybrid.scene import Scene, merge
from ..mechanism import Mechanism, Site
from ..quantities import Index
from ._driven import Known as Known
from ._driven import drive_signals, own_of

RATES = {"m": "m/s", "rad": "rad/s"}


def known_names(m: Mechanism, automata: Sequence[AbstractAutomaton]) -> dict[str, Known]:
    """All of them, by name. Where two things share one, the first keeps it: sites, links, the whole, then the rest."""
    found: dict[str, Known] = {}
    for part in (_sites(m), _links(m), _whole(m), _bases(m), _of_automata(m, automata)):
        for name, known in part:
            found.setdefault(name, known)
    return found


# -- the mechanism -----------------------------------------------------------------------------------------------------


def _sites(m: Mechanism) -> Iterator[tuple[str, Known]]:
    """SITE.x, y [m], vx, vy, speed [m/s]; `tip` is that of the last link."""
    named = [(name, m.site(name)) for name in m.topology.site_names]
    for name, site in [*named, ("tip", m.tip)]:
        for i, part in enumerate(("x", "y", "vx", "vy")):
            yield f"{name}.{part}", Known(("m", "m/s")[i // 2], partial(_at_site, site, i), partial(_reach, site, i))
        yield f"{name}.speed", Known("m/s", partial(_speed, site))


def _at_site(site: Site, i: int, scene: Scene) -> Any:
    return scene.site(site)[i]


def _reach(site: Site, i: int, scene: Scene) -> Any:
    """Of the terms of a place, or of a velocity."""
    if i < 2:
        return scene.extent(site) + jnp.abs(scene.site(site)[i])
    _, _, vx, vy = scene.site(site)
    return jnp.abs(vx) + jnp.abs(vy)


def _speed(site: Site, scene: Scene) -> Any:
    _, _, vx, vy = scene.site(site)
    return jnp.sqrt(vx * vx + vy * vy)


def _links(m: Mechanism) -> Iterator[tuple[str, Known]]:
    """LINK.angle, rate; of its joint .joint, .joint_rate; .slide, slide_rate; .x, y, vx, vy of its centre of mass."""
    top = m.topology
    for k, name in enumerate(top.names):
        unit = "m" if top.slides[k] else "rad"
        yield f"{name}.angle", Known("rad", partial(_call, "angle", k))
        yield f"{name}.rate", Known("rad/s", partial(_call, "rate", k))
        yield f"{name}.joint", Known(unit, partial(_call, "relative_angle", k))
        yield f"{name}.joint_rate", Known(RATES[unit], partial(_call, "relative_rate", k))
        if top.slides[k]:
            yield f"{name}.slide", Known("m", partial(_call, "coordinate", k))
            yield f"{name}.slide_rate", Known("m/s", partial(_call, "speed", k))
        for j, index in enumerate(top.mode_index(k)):
            yield f"{name}.bend.{j + 1}", Known("m", partial(_coordinate, index))
        for i, part in enumerate(("x", "y", "vx", "vy")):
            yield f"{name}.{part}", Known(("m", "m/s")[i // 2], partial(_centre, (k,), i))


def _call(method: str, link: int, scene: Scene) -> Any:
    return getattr(scene, method)(link)


def _coordinate(index: Index, scene: Scene) -> Any:
    return scene.q[index]


def _centre(links: tuple[int, ...], i: int, scene: Scene) -> Any:
    """Place or velocity of the centre of mass of some links."""
    n, total, mass = scene.mechanism.numbers, jnp.asarray(0.0), jnp.asarray(0.0)
    bent = None
    if scene.top.elastic:
        bent = elastic_energy.first_moments(scene.mechanism, scene.q, scene.v)
    for k in links:
        if bent is not None:
            moment = bent[k][1 + i // 2][i % 2]
        else:
            moment = n.mass[k] * scene.point(k, n.com[k][0], n.com[k][1])[i]
        total, mass = total + moment, mass + n.mass[k]
    return total / mass


def _whole(m: Mechanism) -> Iterator[tuple[str, Known]]:
    """Time, centre of mass, momentum, energies, mass and weight."""
    yield "t", Known("s", lambda scene: scene.t)
    for tree in (None, *(range(len(m.topology.free)) if len(m.topology.free) > 1 else ())):
        links = tuple(k for k in range(m.topology.links) if tree in (None, m.topology.trees[k]))
        of = "com" if tree is None else f"com.{m.topology.tree_names[tree]}"
        for i, part in enumerate(("x", "y", "vx", "vy")):
            yield f"{of}.{part}", Known(("m", "m/s")[i // 2], partial(_centre, links, i))
    for i, (part, unit) in enumerate((("x", "N s"), ("y", "N s"), ("angular", "N m s"))):
        yield f"momentum.{part}", Known(unit, partial(_momentum, i))
    yield "energy.kinetic", Known("J", _kinetic)
    yield "energy.potential", Known("J", _potential)
    yield "energy.total", Known("J", lambda scene: _kinetic(scene) + _potential(scene))
    yield "energy.vibration", Known("J", lambda s: vibration_energy(s.mechanism, merge(s.q), merge(s.v)))
    yield "mass", Known("kg", _mass)
    yield "weight", Known("N", lambda s: _mass(s) * jnp.sqrt(s.gravity[0] ** 2 + s.gravity[1] ** 2))


def _mass(scene: Scene) -> Any:
    return jnp.sum(jnp.asarray(scene.mechanism.numbers.mass))


def _momentum(i: int, scene: Scene) -> Any:
    linear, angular = momentum(scene.mechanism, merge(scene.q), merge(scene.v))
    return angular if i == 2 else linear[i]


def _kinetic(scene: Scene) -> Any:
    return kinetic_energy(scene.mechanism, merge(scene.q), merge(scene.v))


def _potential(scene: Scene) -> Any:
    return potential_energy(scene.mechanism, merge(scene.q), jnp.stack([jnp.asarray(g) for g in scene.gravity]))


def _bases(m: Mechanism) -> Iterator[tuple[str, Known]]:
    """base.x, y, vx, vy of a free base; base.TREE.x of several."""
    top = m.topology
    free = [k for k, moves in enumerate(top.free) if moves]
    for k in free:
        index = top.base_index(k)
        assert index is not None
        of = "base" if len(free) == 1 else f"base.{top.tree_names[k]}"
        for i, part in enumerate("xy"):
            yield f"{of}.{part}", Known("m", partial(_coordinate, index + i))
            yield f"{of}.v{part}", Known("m/s", partial(_velocity, index + i))


def _velocity(index: Index, scene: Scene) -> Any:
    return scene.v[index]


# -- what acts on it ---------------------------------------------------------------------------------------------------


def _of_automata(m: Mechanism, automata: Sequence[AbstractAutomaton]) -> Iterator[tuple[str, Known]]:
    for i, automaton in enumerate(automata):
        report, has = automaton.report, automaton.anatomy
        for k, contact in enumerate(report.contacts):
            yield from _contact(i, k, contact)
        if report.drive is not None:
            yield from drive_signals(i, automaton.name, report.drive, m)
        if len(has.phases) > 1 and not report.contacts:
            yield f"phase.{automaton.name}", Known("1", partial(_phase, i))
            for number, phase in enumerate(has.phases):
                yield f"phase.{automaton.name}.{phase}", Known("1", partial(_in_phase, i, number), flag=True)
        if "entered" in has.memory:
            yield f"clock.{automaton.name}", Known("s", partial(_since, i, has.memory.index("entered")))
        for k, quantity in enumerate(report.extra):
            yield quantity.name, Known(quantity.unit, partial(_own_state, i, k))
        if has.channels:
            yield f"work.{automaton.name}", Known("J", partial(_work, i))


def _phase(i: int, scene: Scene) -> Any:
    own = own_of(i, scene)
    return jnp.asarray(0.0) if own is None else jnp.asarray(own.phase, dtype=float)


def _since(i: int, k: int, scene: Scene) -> Any:
    """How long an automaton has been in its phase."""
    own = own_of(i, scene)
    return jnp.asarray(0.0) if own is None else scene.t - own.memory[k]


def _in_phase(i: int, number: int, scene: Scene) -> Any:
    return jnp.where(_phase(i, scene) == number, 1.0, 0.0)


def _own_state(i: int, k: int, scene: Scene) -> Any:
    own = own_of(i, scene)
    return jnp.asarray(0.0) if own is None else own.states[k]


def _work(i: int, scene: Scene) -> Any:
    if not scene.work:
        raise errors.CaromError(
            f"work.{scene.automata[i].name} is known of runs that are over, and only with "
            "a ledger; while one goes on, ask for energies, or take control.NAME.power"
        )
    at = sum(len(automaton.anatomy.channels) for automaton in scene.automata[:i])
    return sum(scene.work[at : at + len(scene.automata[i].anatomy.channels)], start=jnp.asarray(0.0))


def _contact(i: int, k: int, contact: ContactReport) -> Iterator[tuple[str, Known]]:
    """contact.NAME.force, friction, gap, indentation, rate, sliding, x, y; closed and slips, which are conditions."""
    of, length = f"contact.{contact.name}", contact.pair.length_unit
    force = "N m" if length == "rad" else "N"
    units = {"force": force, "friction": force, "x": "m", "y": "m", "indentation": length, "gap": length}
    for part, unit in (units | {"rate": RATES[length], "sliding": RATES[length]}).items():
        yield f"{of}.{part}", Known(unit, partial(_touch, i, k, part))
    closed = tuple(j for j, phase in enumerate(contact.phases) if phase.tone != "open")
    slides = tuple(j for j, phase in enumerate(contact.phases) if phase.tone == "slide" or "sliding" in phase.mode)
    yield f"{of}.closed", Known("1", partial(_among, i, k, closed), flag=True)
    yield f"{of}.slips", Known("1", partial(_among, i, k, slides), flag=True)


def _among(i: int, k: int, wanted: tuple[int, ...], scene: Scene) -> Any:
    """1 while a contact is in one of these phases."""
    if not scene.owns or not wanted:
        return jnp.asarray(0.0)
    automaton, own = scene.automata[i], scene.owns[i]
    mode = jnp.asarray(automaton.report.modes(own)[k])
    return sum((jnp.where(mode == j, 1.0, 0.0) for j in wanted), start=jnp.asarray(0.0))


def _touch(i: int, k: int, part: str, scene: Scene) -> Any:
    if not scene.owns:
        return jnp.asarray(0.0)
    automaton, own = scene.automata[i], scene.owns[i]
    contact = automaton.report.contacts[k]
    if part in ("gap", "indentation", "rate", "sliding", "x", "y"):
        motion = contact.pair.touching(scene)
        return -motion.indentation if part == "gap" else getattr(motion, part)
    early = scene.reactions is None  # forces are being computed: reactions are not known yet
    touch = scene.touch(contact.name) if early else automaton.report.touches(scene, own)[k]
    return touch.normal if part == "force" else touch.friction
