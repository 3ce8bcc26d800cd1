"""From a scenario to the objects that it names. What they refuse is said with its place in the scenario."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import beam, control, mechanism
from ..captures import HoldPose
from ..contact import (
    Circle,
    Contact,
    JointLimit,
    Material,
    Moving,
    Plane,
    Ring,
    Segment,
    Spline,
    catalogue,
)
from ..contact.material import hertz_stiffness
from ..control.trajectory import Polynomials
from ..element import Spring
from ..errors import CaromError, name_in
from ..hybrid.settings import Settings
from ..hybrid.world import World
from ..mechanism import Mechanism, State
from . import control_tables, world_tables
from .law_tables import FromMaterials
from .model import Scenario
from .text import ScenarioError

RIGID = "rigid contacts"  # name of the automaton of all rigid contacts


@contextlib.contextmanager
def at(place: str) -> Iterator[None]:
    """Refusals inside are said with this place."""
    try:
        yield
    except ScenarioError:
        raise
    except CaromError as refusal:
        raise ScenarioError(f"{place}: {refusal}") from None
    except (ArithmeticError, np.linalg.LinAlgError) as trouble:  # such as a beam of 1e-150 m
        raise ScenarioError(f"{place}: numbers too large or too small to compute with ({trouble})") from None


def world_of(scenario: Scenario) -> World:
    """The world of a scenario."""
    return assembled(scenario, mechanism_of(scenario))


def assembled(scenario: Scenario, whole: Mechanism, q: Any = None) -> World:
    """A world of a mechanism with the scenario's contacts, controllers and springs.

    `q` is the pose that a hold-pose controller without one of its own keeps.
    """
    contacts = contacts_of(scenario, whole)
    controllers = controls_of(scenario, whole, contacts, q)
    springs = [_spring(name, s, whole) for name, s in scenario.springs.items()]
    with at("the world"):
        return World(
            whole,
            contacts=contacts,
            control=controllers,
            elements=springs,
            gravity=scenario.gravity,
            pause_in_impact=scenario.pause_in_impact,
            settle_speed=scenario.settle_speed,
            friction_rule=scenario.friction_rule,
        )


def start_of(scenario: Scenario) -> dict[str, Any]:
    """The start as `Mechanism.state` takes it."""
    if scenario.start is None:
        raise ScenarioError(f"start of '{scenario.name}' is missing; give [start] with angles, one per link")
    given = {key: value for key, value in scenario.start.model_dump().items() if value is not None}
    for key in ("base", "base_velocity"):
        rows = given.get(key) or [0.0]
        if isinstance(rows[0], list) and {len(row) for row in rows} != {2}:
            counts = [len(row) for row in rows[:9]]
            raise ScenarioError(f"start.{key} has rows of {counts} numbers; every row is one base's (x, y)")
    return given


def state_of(scenario: Scenario, whole: Mechanism) -> State:
    """Where it starts and how it moves then."""
    given = start_of(scenario)
    how = {key: given.pop(key) for key in ("relative", "degrees")}
    moving = {key: given.pop(key) for key in ("rates", "base_velocity", "bending_rates") if key in given}
    with at("start"):
        whole.state(**given, **how)
    with at("rates and velocities of the start"):
        return whole.state(**given, **moving, **how)


def settings_of(scenario: Scenario) -> Settings:
    """Settings of the run."""
    return Settings(**scenario.run.model_dump(exclude={"until"}))


def simulate(scenario: Scenario, **options: Any) -> Any:
    """Run the world of a scenario from its start."""
    from ..simulation import simulate as go

    world = world_of(scenario)
    start = state_of(scenario, world.mechanism)
    with at("the run"):
        given: dict[str, Any] = {"until": scenario.run.until, "settings": settings_of(scenario)}
        return go(world, start, **(given | options))


# -- mechanisms --------------------------------------------------------------------------------------------------------


def mechanism_of(scenario: Scenario) -> Mechanism:
    """All mechanisms of a scenario: one as it is, several side by side."""
    if not scenario.mechanisms:
        raise ScenarioError(
            f"mechanisms of '{scenario.name}' is empty; give at least one, such as [mechanisms.arm.links.upper]"
        )
    made = {name: _mechanism(f"mechanisms.{name}", m) for name, m in scenario.mechanisms.items()}
    if len(made) == 1:
        return next(iter(made.values()))
    for name in made:
        if "." in name:
            raise ScenarioError(f"mechanisms: one is called '{name}'; a name holds no dot; rename it")
    return mechanism.side_by_side(**made)


def _mechanism(place: str, m: world_tables.Mechanism) -> Mechanism:
    links = []
    for name, link in m.links.items():
        with at(f"{place}.links.{name}"):
            joint = mechanism.Joint(**link.joint.model_dump())
            where = None if link.at is None else tuple(link.at)
            sites = {site: tuple(point) for site, point in link.sites.items()}
            links.append(mechanism.Link(body_of(link.body), name, link.parent, where, joint, sites))
    with at(place):
        made = Mechanism(links, base=mechanism.Free() if m.base == "free" else mechanism.Fixed(*m.base))
    for name, weld in m.welds.items():
        with at(f"{place}.welds.{name}"):
            where = None if weld.at is None else tuple(weld.at)
            made = made.weld(weld.link, body_of(weld.body), where, weld.angle)
    return made


def body_of(b: Any) -> Any:
    """A body of a link."""
    given = {key: value for key, value in b.model_dump().items() if key != "kind"}
    if isinstance(b, world_tables.Beam):
        section = beam.Section(**given.pop("section"))
        return mechanism.Beam(section=section, **(given | {"ends": tuple(b.ends)}))
    kinds = {
        "rod": mechanism.Rod,
        "disk": mechanism.Disk,
        "point": mechanism.PointMass,
        "body": mechanism.Body,
    }
    return kinds[b.kind](**{key: tuple(v) if isinstance(v, list) else v for key, v in given.items()})


# -- contacts ----------------------------------------------------------------------------------------------------------


def contacts_of(scenario: Scenario, whole: Mechanism) -> list[Any]:
    """Contacts in the order of the file."""
    surfaces = {name: _surface(f"surfaces.{name}", s) for name, s in scenario.surfaces.items()}
    materials = {}
    for name, m in scenario.materials.items():
        with at(f"materials.{name}"):
            materials[name] = Material(**m.model_dump())
    made = []
    for name, c in scenario.contacts.items():
        with at(f"contacts.{name}"):
            made.append(_contact(name, c, whole, surfaces, materials))
    return made


def _contact(
    name: str, c: world_tables.Contact, whole: Mechanism, surfaces: dict[str, Any], materials: dict[str, Any]
) -> Any:
    friction = None if c.friction is None else law_of(c.friction, materials, "friction")
    kind = next(k for k in ("normal", "impact") if c.normal.law in {entry.card.name for entry in catalogue.kinds()[k]})
    return Contact(normal=law_of(c.normal, materials, kind), friction=friction, name=name, **_pair(c, whole, surfaces))


def _pair(c: world_tables.Contact, whole: Mechanism, surfaces: dict[str, Any]) -> dict[str, Any]:
    """What touches what."""
    if c.limit is not None:
        if c.site is not None or c.against is not None:
            raise CaromError("it has a limit and also site or against; a joint's stop needs the limit alone")
        stop = JointLimit(whole, c.limit.link, lower=c.limit.lower, upper=c.limit.upper)
        return {"site": stop, "radius": c.radius}
    if c.site is None or c.against is None:
        raise CaromError('it needs site and against, such as site = "link1.tip" and against = "floor", or a limit')
    out: dict[str, Any] = {"site": whole.site(c.site), "radius": c.radius}
    if isinstance(c.against, str):
        name_in("surface", c.against, tuple(surfaces))
        return out | {"against": surfaces[c.against]}
    if isinstance(c.against, world_tables.OtherSite):
        return out | {"against": whole.site(c.against.site), "other_radius": c.against.radius}
    if isinstance(c.against, world_tables.Ring):
        return out | {"against": Ring(whole.site(c.against.site), c.against.radius)}
    return out | {"against": Segment(whole.site(c.against.start), whole.site(c.against.end), c.against.radius)}


def law_of(model: Any, materials: dict[str, Any], kind: str) -> Any:
    """A law of the catalogue from its table."""
    given = {name: getattr(model, name) for name in type(model).model_fields if name != "law"}
    for name in ("first", "second"):
        if isinstance(given.get(name), str):
            given[name] = _material(given[name], materials)
    if isinstance(given.get("stiffness"), FromMaterials):
        s = given["stiffness"]
        pair = (_material(s.first, materials), _material(s.second, materials))
        given["stiffness"] = hertz_stiffness(*pair, s.radius, s.other_radius)
    return catalogue.find(model.law, kind).law(**given)


def _material(name: str, materials: dict[str, Any]) -> Any:
    name_in("material", name, tuple(materials))
    return materials[name]


def _surface(place: str, s: Any) -> Any:
    given = {key: value for key, value in s.model_dump().items() if key not in ("kind", "motion")}
    kinds = {"plane": Plane, "circle": Circle, "spline": Spline}
    with at(place):
        made = kinds[s.kind](**given)
        return made if s.motion is None else Moving(made, **s.motion.model_dump())


def _spring(name: str, s: world_tables.Spring, whole: Mechanism) -> Spring:
    with at(f"springs.{name}"):
        to = whole.site(s.to) if isinstance(s.to, str) else tuple(s.to)
        return Spring(whole.site(s.site), to, s.stiffness, s.length, s.damping, name=name)


# -- control -----------------------------------------------------------------------------------------------------------


def controls_of(scenario: Scenario, whole: Mechanism, contacts: list[Any], q: Any = None) -> list[Any]:
    """Controllers; `q` is the pose that a hold-pose controller without one of its own keeps."""
    struck = {c.name: c for c in contacts}
    out = []
    for name, c in scenario.control.items():
        with at(f"control.{name}"):
            out.append(_controller(name, c, whole, scenario, struck, q))
    return out


def _controller(name: str, c: Any, whole: Mechanism, scenario: Scenario, struck: dict[str, Any], q: Any) -> Any:
    if isinstance(c, control_tables.HoldPose):
        given = c.model_dump(exclude={"kind", "pose"})
        pose = c.pose if c.pose is not None else q if q is not None else _start_pose(scenario, whole)
        return HoldPose(whole, np.asarray(pose, dtype=float), name=name, **given)
    given = c.model_dump(exclude={"kind"})
    if isinstance(c, control_tables.Posture):
        scale = np.pi / 180.0 if given.pop("degrees") else 1.0
        targets, schedule = _rows("targets", given.pop("targets")), [_switch(s, whole, struck) for s in c.schedule]
        return control.PostureControl(
            whole, scale * targets, name=name, **(given | {"schedule": schedule, "gravity": _vector(c.gravity)})
        )
    if isinstance(c, control_tables.ComputedTorque):
        motion, links = trajectory_of(c.motion), whole.topology.links
        if motion.size != links:
            raise CaromError(f"motion has {motion.size} values over time; the mechanism has {links} links")
        given |= {"motion": motion, "gravity": _vector(c.gravity)}
        return control.ComputedTorque(whole, name=name, **given)
    given |= {
        "torques": trajectory_of(c.torques),
        "reference": None if c.reference is None else trajectory_of(c.reference),
    }
    return control.FeedForward(whole, name=name, **given)


def _start_pose(scenario: Scenario, whole: Mechanism) -> Any:
    given = {k: v for k, v in start_of(scenario).items() if k in ("angles", "base", "bending", "relative", "degrees")}
    return whole.coordinates(**given)


def _vector(gravity: Any) -> Any:
    return tuple(gravity) if isinstance(gravity, list) else gravity


def _rows(field: str, rows: list[list[float]]) -> np.ndarray:
    if len({len(row) for row in rows}) != 1:
        raise CaromError(f"{field} has rows of {[len(row) for row in rows]} numbers; every row must have one per link")
    return np.asarray(rows, dtype=float)


def _switch(s: Any, whole: Mechanism, struck: dict[str, Any]) -> Any:
    if isinstance(s, control_tables.OnStrike):
        name_in("contact", s.contact, tuple(struck))
        return control.OnStrike(struck[s.contact])
    if isinstance(s, control_tables.AtHeight):
        return control.AtHeight(whole.site(s.site), s.height, s.rising)
    return control.AtTime(s.time)


def trajectory_of(t: Any) -> Any:
    """A motion or a table of torques."""
    if isinstance(t, control_tables.Waypoints):
        return control.Waypoints(t.times, _rows("points", t.points))
    if isinstance(t, control_tables.Hold):
        return control.Hold(t.value, t.duration)
    if isinstance(t, control_tables.Polynomials):
        return _polynomials(t)
    if t.kind == "parabolic-blends":
        return control.ParabolicBlends(t.start, t.end, t.duration, t.blend)
    if t.blend is not None:
        raise CaromError(f"blend is {t.blend:g}, but a {t.kind} has none; leave it out, or use parabolic-blends")
    kinds = {"cubic": control.Cubic, "quintic": control.Quintic, "minimum-jerk": control.MinimumJerk}
    return kinds[t.kind](t.start, t.end, t.duration)


def _polynomials(t: control_tables.Polynomials) -> Polynomials:
    shapes = {(len(piece), *{len(row) for row in piece}) for piece in t.coefficients}
    knots = np.asarray(t.knots)
    if len(shapes) != 1 or len(next(iter(shapes))) != 2 or len(t.knots) != len(t.coefficients) + 1:
        raise CaromError("coefficients must be as many pieces as there are spans between knots, all of one shape")
    if knots[0] != 0.0 or np.any(np.diff(knots) <= 0.0):
        raise CaromError("knots must rise from 0")
    return Polynomials(jnp.asarray(knots), jnp.asarray(t.coefficients))
