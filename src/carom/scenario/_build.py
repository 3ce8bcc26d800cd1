"""From a scenario to the objects that it names. What they refuse is said with its place in the scenario."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from .. import mechanism
from ..contact import Material
from ..dynamics.constrained import assemble
from ..hybrid.settings import Settings
from ..hybrid.world import World
from ..mechanism import Mechanism, State
from ..quantities import Vector
from . import world_tables
from .control_tables import Around
from .model import Scenario
from .places import ScenarioError, at
from .surface_tables import made_surface


def world_of(scenario: Scenario) -> World:
    """The world of a scenario."""
    return assembled(scenario, mechanism_of(scenario))


def assembled(
    scenario: Scenario, whole: Mechanism, q: Vector | None = None, believed: Mechanism | None = None
) -> World:
    """A world of a mechanism with the scenario's contacts, controllers, springs and other elements.

    `q` is the pose that a hold-pose controller without one of its own keeps; `believed` is what controllers that have a
    model of the mechanism take it for.
    """
    contacts = contacts_of(scenario, whole)
    controllers = controls_of(scenario, whole, contacts, q, believed)
    springs = _springs(scenario, whole)
    top = {key: getattr(scenario, key) for key in ("gravity", "settle_speed", "friction_rule")}
    with at(words="the world", holds=top):
        return World(
            whole,
            contacts=contacts,
            control=controllers,
            elements=[*springs, *_elements(scenario, whole)],
            constraints=_constraints(scenario, whole),
            gravity=scenario.gravity,
            pause_in_impact=scenario.pause_in_impact,
            settle_speed=scenario.settle_speed,
            friction_rule=scenario.friction_rule,
        )


def start_of(scenario: Scenario) -> dict[str, Any]:
    """The start as `Mechanism.state` takes it."""
    if scenario.start is None:
        raise ScenarioError(
            f"start of '{scenario.name}' is missing; give [start] with angles, one per link", ("start",)
        )
    given = {key: value for key, value in scenario.start.model_dump(exclude={"assemble"}).items() if value is not None}
    for key in ("base", "base_velocity"):
        rows = given.get(key) or [0.0]
        if isinstance(rows[0], list) and {len(row) for row in rows} != {2}:
            counts = [len(row) for row in rows[:9]]
            said = f"start.{key} has rows of {counts} numbers; every row is one base's (x, y)"
            raise ScenarioError(said, ("start", key))
    return given


def state_of(scenario: Scenario, whole: Mechanism) -> State:
    """Where it starts and how it moves then."""
    given = start_of(scenario)
    how = {key: given.pop(key) for key in ("relative", "degrees")}
    moving = {key: given.pop(key) for key in ("rates", "slide_rates", "base_velocity", "bending_rates") if key in given}
    with at("start", holds=scenario.start):
        whole.state(**given, **how)
    with at("start", words="rates and velocities of the start", holds=scenario.start):
        return whole.state(**given, **moving, **how)


def beginning(scenario: Scenario, world: World) -> State:
    """The same, brought to where the constraints hold if the file asks for that."""
    start = state_of(scenario, world.mechanism)
    with at("start", holds=scenario.start):
        return world.assembled(start) if scenario.start and scenario.start.assemble else start


def settings_of(scenario: Scenario) -> Settings:
    """Settings of the run."""
    return Settings(**scenario.run.model_dump(exclude={"until"}))


def simulate(scenario: Scenario, **options: Any) -> Any:
    """Run the world of a scenario from its start."""
    from .._simulation import simulate as go

    world = world_of(scenario)
    start = beginning(scenario, world)
    with at("run", words="the run", holds=scenario.run):
        given: dict[str, Any] = {"until": scenario.run.until, "settings": settings_of(scenario)}
        return go(world, start, **(given | options))


# -- mechanisms --------------------------------------------------------------------------------------------------------


def mechanism_of(scenario: Scenario) -> Mechanism:
    """All mechanisms of a scenario: one as it is, several side by side."""
    if not scenario.mechanisms:
        raise ScenarioError(
            f"mechanisms of '{scenario.name}' is empty; give at least one, such as [mechanisms.arm.links.upper]",
            ("mechanisms",),
        )
    made = {name: _mechanism(("mechanisms", name), m) for name, m in scenario.mechanisms.items()}
    if len(made) == 1:
        return next(iter(made.values()))
    for name in made:
        if "." in name:
            raise ScenarioError(
                f"mechanisms: one is called '{name}'; a name holds no dot; rename it", ("mechanisms", name)
            )
    return mechanism.side_by_side(**made)


def _mechanism(place: tuple[str, ...], m: world_tables.Mechanism) -> Mechanism:
    links = []
    for name, link in m.links.items():
        with at(*place, "links", name, holds=link):
            joint = link.made_joint(name)
            where = None if link.at is None else tuple(link.at)
            sites = {site: tuple(point) for site, point in link.sites.items()}
            links.append(mechanism.Link(link.body.made(), name, link.parent, where, joint, sites))
    with at(*place, holds=m):
        made = Mechanism(links, base=mechanism.Free() if m.base == "free" else mechanism.Fixed(*m.base))
    for name, weld in m.welds.items():
        with at(*place, "welds", name, holds=weld):
            where = None if weld.at is None else tuple(weld.at)
            made = made.weld(weld.link, weld.body.made(), where, weld.angle)
    return made


# -- contacts ----------------------------------------------------------------------------------------------------------


def surfaces_of(scenario: Scenario) -> dict[str, Any]:
    """Surfaces by name."""
    surfaces = {}
    for name, surface in scenario.surfaces.items():
        with at("surfaces", name, holds=surface):
            surfaces[name] = made_surface(surface)
    return surfaces


def contacts_of(scenario: Scenario, whole: Mechanism) -> list[Any]:
    """Contacts in the order of the file."""
    surfaces, materials, made = surfaces_of(scenario), {}, list[Any]()
    for name, m in scenario.materials.items():
        with at("materials", name, holds=m):
            materials[name] = Material(**m.model_dump())
    for name, c in scenario.contacts.items():
        with at("contacts", name, holds=c):
            found = c.made(name, whole, surfaces, materials)
            made += found if isinstance(found, tuple) else (found,)
    if scenario.ground is not None:
        with at("ground", holds=scenario.ground):
            made += scenario.ground.made(whole, surfaces, materials)
    return made


def controls_of(
    scenario: Scenario,
    whole: Mechanism,
    contacts: list[Any],
    q: Vector | None = None,
    believed: Mechanism | None = None,
) -> list[Any]:
    """Controllers; `q` is the pose that a hold-pose controller without one of its own keeps."""
    named = {c.name: c for c in contacts}
    around = Around(whole, named, lambda: _start_pose(scenario, whole) if q is None else q, believed)
    out = []
    for name, c in scenario.control.items():
        with at("control", name, holds=c):
            out.append(c.made(name, around))
    return out


def _start_pose(scenario: Scenario, whole: Mechanism) -> Any:
    """Where it starts, brought to where the constraints hold if the file asks for that."""
    kept = ("angles", "slides", "base", "bending", "relative", "degrees")
    given = {k: v for k, v in start_of(scenario).items() if k in kept}
    q = whole.coordinates(**given)
    held = _constraints(scenario, whole) if scenario.start and scenario.start.assemble else []
    with at("start", holds=scenario.start):
        return assemble(whole, held, q, jnp.zeros_like(q))[0] if held else q


def _constraints(scenario: Scenario, whole: Mechanism) -> list[Any]:
    surfaces, out = surfaces_of(scenario) if scenario.constraints else {}, []
    for name, constraint in scenario.constraints.items():
        with at("constraints", name, holds=constraint):
            out.append(constraint.made(whole, surfaces))
    return out


def _springs(scenario: Scenario, whole: Mechanism) -> list[Any]:
    out = []
    for name, spring in scenario.springs.items():
        with at("springs", name, holds=spring):
            out.append(spring.made(name, whole))
    return out


def _elements(scenario: Scenario, whole: Mechanism) -> list[Any]:
    out = []
    for name, element in scenario.elements.items():
        with at("elements", name, holds=element):
            out.append(element.made(name, whole))
    return out
