"""From Python to a scenario: the same world, written down. What no file can hold is refused by name."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from .. import control, mechanism
from ..captures import HoldPose
from ..captures.capture_blow import BASES
from ..captures.hold import actuated_by
from ..contact import Circle, CompliantContact, JointLimit, Material, Moving, Plane, RigidContact, RigidContacts, Spline
from ..contact.friction import Frictionless
from ..contact.impact.impulses import PATH
from ..contact.pairs.disk_on_disk import DiskOnDisk
from ..contact.pairs.site_on_segment import SiteOnSegment
from ..contact.pairs.site_on_surface import SiteOnSurface
from ..contact.surfaces.moving import is_ready
from ..control.feedforward import Tabled
from ..element import Spring
from ..errors import CaromError
from ..hybrid.settings import DEFAULT, Settings, settings_or_default
from ..hybrid.world import World
from ..mechanism import Mechanism, State
from ..mechanism.recipe import Recipe, Tree
from ..mechanism.state import refuse_state
from .build import mechanism_of
from .law_tables import entry_of
from .model import Scenario
from .text import checked

WORDS = ("title", "about", "source")


def scenario_of(
    world: Any, start: Any, *, until: Any, name: str, settings: Settings | None = None, **words: Any
) -> Scenario:
    """The scenario that simulates this world from this start."""
    if not isinstance(world, World):
        raise CaromError(f"Scenario.of got a {type(world).__name__}; it must be a carom.World")
    for word in words:
        if word not in WORDS:
            raise CaromError(
                f"Scenario.of got '{word}'; besides start, until, name and settings it takes {', '.join(WORDS)}"
            )
    notes = _Notes()
    data: dict[str, Any] = {
        "name": name,
        "gravity": _gravity(world.gravity),
        "pause_in_impact": world.pause_in_impact,
        "mechanisms": _mechanisms(world.mechanism),
        "start": _start(world.mechanism, refuse_state(start, world.mechanism)),
        "run": {"until": plain(until)} | _run(settings_or_default(settings)),
    } | {word: text for word, text in words.items() if text is not None}
    for automaton in world.automata:
        _add(data, automaton, world, notes)
    made = checked(data | notes.tables(), f"the scenario of world '{name}'")
    _refuse_changed(made, world)
    return made


def _start(mechanism: Mechanism, state: State) -> dict[str, Any]:
    """Angles, and what is not zero."""
    top = mechanism.topology
    bends = slice(top.base_dof + top.links, None)
    parts = {
        "rates": mechanism.angles(state.v),
        "base": mechanism.base(state.q),
        "base_velocity": mechanism.base(state.v),
        "bending": state.q[bends],
        "bending_rates": state.v[bends],
    }
    return {"angles": plain(mechanism.angles(state.q))} | {k: plain(x) for k, x in parts.items() if np.any(x)}


def _run(settings: Settings) -> dict[str, Any]:
    """What is not as by default."""
    fields = [field.name for field in dataclasses.fields(Settings)]
    other = {f: getattr(settings, f) for f in fields if getattr(settings, f) != getattr(DEFAULT, f)}
    return {f: int(x) if f.startswith("max_") else plain(x) for f, x in other.items()}


class _Notes:
    """Materials and surfaces that several objects share, under one name each."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {"materials": {}, "surfaces": {}}

    def name(self, kind: str, word: str, table: dict[str, Any]) -> str:
        known = self.kept[kind]
        for name, other in known.items():
            if other == table:
                return name
        known[f"{word}{len(known) + 1}"] = table
        return f"{word}{len(known)}"

    def tables(self) -> dict[str, Any]:
        return {kind: tables for kind, tables in self.kept.items() if tables}


def plain(value: Any) -> Any:
    """Numbers and lists as TOML has them."""
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, int) and not isinstance(value, np.integer):
        return value
    return np.asarray(value, dtype=float).tolist()


def _gravity(vector: Any) -> Any:
    x, y = np.asarray(vector, dtype=float).tolist()
    return -y if x == 0.0 else [x, y]


def _fields(thing: Any, names: Any = None, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """Fields of a module that have a value, as plain numbers."""
    names = [f.name for f in dataclasses.fields(thing)] if names is None else names
    return {n: plain(getattr(thing, n)) for n in names if n not in but and getattr(thing, n) is not None}


def _refuse_changed(made: Scenario, world: World) -> None:
    """Numbers of a mechanism may have been changed after it was built: then its recipe is out of date."""
    again = mechanism_of(made).numbers
    pairs = zip(jax.tree.leaves(again), jax.tree.leaves(world.mechanism.numbers), strict=True)
    if not all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs):
        raise CaromError(
            "the numbers of this world's mechanism were changed after it was built, so its links do not describe it "
            "any more; build the mechanism with the new numbers"
        )


# -- mechanisms --------------------------------------------------------------------------------------------------------


def _mechanisms(m: Any) -> dict[str, Any]:
    made_of = m.recipe.made_of
    if isinstance(made_of, Tree):
        return {"robot": _tree(made_of)}
    if isinstance(made_of, dict):
        return {name: _tree(recipe.made_of) for name, recipe in made_of.items()}
    raise CaromError(
        "this world's mechanism was made by an operation that no file describes (a capture, or numbers traced by JAX); "
        "build it from links, with Mechanism, weld and side_by_side"
    )


def _tree(tree: Tree) -> dict[str, Any]:
    free = isinstance(tree.base, mechanism.Free)
    out: dict[str, Any] = {
        "base": "free" if free else [plain(tree.base.x), plain(tree.base.y)],
        "links": {link.name: _link(link) for link in tree.links},
    }
    if tree.welds:
        out["welds"] = {f"payload{i + 1}": _weld(w) for i, w in enumerate(tree.welds)}
    return out


def _link(link: Any) -> dict[str, Any]:
    out = _fields(link, ("parent", "at")) | {"body": _body(link.body), "joint": _fields(link.joint)}
    if link.sites:
        out["sites"] = {name: plain(point) for name, point in link.sites.items()}
    return out


def _weld(weld: Any) -> dict[str, Any]:
    where = {} if weld.at is None else {"at": plain(weld.at)}
    return {"link": weld.link, "body": _body(weld.body), "angle": plain(weld.angle)} | where


def _body(body: Any) -> dict[str, Any]:
    kinds: dict[Any, str] = {
        mechanism.Rod: "rod",
        mechanism.Disk: "disk",
        mechanism.PointMass: "point",
        mechanism.Body: "body",
    }
    if type(body) in kinds:
        return {"kind": kinds[type(body)]} | _fields(body)
    recipe = getattr(body, "recipe", Recipe()).made_of
    if isinstance(body, mechanism.Beam) and recipe is not None:
        table: dict[str, Any] = {k: list(v) if isinstance(v, tuple) else v for k, v in recipe.items() if v is not None}
        section = {k: v for k, v in dataclasses.asdict(table.pop("section")).items() if v is not None}
        numbers = {k: float(v) for k, v in table.items() if isinstance(v, int | float) and k not in WHOLE}
        return {"kind": "beam", "section": section} | table | numbers
    raise CaromError(
        f"a body of type {type(body).__name__} cannot be written to a file; files hold Rod, Disk, PointMass, Body, and "
        "Beam with modes of its own (not with shapes given as functions)"
    )


WHOLE = ("modes", "foreshortening")


# -- automata ----------------------------------------------------------------------------------------------------------


def _add(data: dict[str, Any], automaton: Any, world: World, notes: _Notes) -> None:
    """One automaton of the world, into the table where it belongs."""
    if isinstance(automaton, CompliantContact):
        table = _pair(automaton.pair, world, notes) | {"normal": _law(automaton.normal, notes)}
        data.setdefault("contacts", {})[automaton.name] = table | _friction(automaton.friction, notes)
    elif isinstance(automaton, RigidContacts):
        data["settle_speed"] = plain(automaton.settle_speed)
        if automaton.friction_rule != PATH:
            data["friction_rule"] = automaton.friction_rule
        for c in automaton.contacts:
            data.setdefault("contacts", {})[c.name] = _rigid(c, world, notes)
    elif isinstance(automaton, Spring):
        to = automaton.other.name if automaton.other is not None else plain(automaton.point)
        table = _fields(automaton, ("stiffness", "length", "damping")) | {"site": automaton.site.name, "to": to}
        data.setdefault("springs", {})[automaton.name] = table
    else:
        data.setdefault("control", {})[automaton.name] = _controller(automaton, world)


def _rigid(c: RigidContact, world: World, notes: _Notes) -> dict[str, Any]:
    return _pair(c.pair, world, notes) | {"normal": _law(c.law, notes)} | _friction(c.friction, notes)


def _friction(law: Any, notes: _Notes) -> dict[str, Any]:
    return {} if law is None or isinstance(law, Frictionless) else {"friction": _law(law, notes)}


def _law(law: Any, notes: _Notes) -> dict[str, Any]:
    entry = entry_of(law.__class__)
    if entry is None:
        raise CaromError(
            f"the law {type(law).__name__} is not in carom's catalogue, and a file cannot hold code; use it from Python"
        )
    out: dict[str, Any] = {"law": entry.card.name}
    for field in dataclasses.fields(law):
        value = getattr(law, field.name)
        if isinstance(value, Material):
            out[field.name] = notes.name("materials", "material", _fields(value))
        elif value is not None:
            out[field.name] = plain(value)
    return out


def _pair(pair: Any, world: World, notes: _Notes) -> dict[str, Any]:
    if isinstance(pair, JointLimit):
        side = "lower" if pair.sign > 0 else "upper"
        return {"limit": {"link": pair.link_name, side: plain(pair.angle)}}
    if isinstance(pair, SiteOnSurface):
        surface = notes.name("surfaces", "surface", _surface(pair.surface))
        return {"site": pair.site.name, "radius": plain(pair.radius), "against": surface}
    if isinstance(pair, DiskOnDisk):
        kind = "ring" if pair.inside else "site"
        other = {"kind": kind, "site": pair.second.name, "radius": plain(pair.second_radius)}
        return {"site": pair.first.name, "radius": plain(pair.first_radius), "against": other}
    if isinstance(pair, SiteOnSegment):
        bar = pair.segment
        other = {"kind": "segment", "start": bar.start.name, "end": bar.end.name, "radius": plain(bar.radius)}
        return {"site": pair.site.name, "radius": plain(pair.radius), "against": other}
    raise CaromError(f"a pair of type {type(pair).__name__} cannot be written to a file; use it from Python")


def _surface(s: Any) -> dict[str, Any]:
    if isinstance(s, Moving):
        if not is_ready(s) or isinstance(s.surface, Moving):
            raise CaromError("a Moving surface with a motion of its own is code, which a file cannot hold")
        vx, vy, turning, ax, ay, frequency, phase = (plain(p) for p in s.parameters)
        motion = {"velocity": [vx, vy], "turning": turning, "about": plain(s.about)}
        shaken = {"amplitude": [ax, ay], "frequency": frequency, "phase": phase} if frequency else {}
        return _surface(s.surface) | {"motion": motion | shaken}
    if isinstance(s, Plane):
        point, normal = plain(s.point), plain(s.unit)
        level = point[0] == 0.0 and normal == [0.0, 1.0]
        return {"kind": "plane"} | ({"height": point[1]} if level else {"point": point, "normal": normal})
    if isinstance(s, Circle):
        return {"kind": "circle", "centre": plain(s.centre), "radius": plain(s.radius), "inside": s.inside}
    if isinstance(s, Spline) and s.recipe.made_of is not None:
        given = {k: plain(v) for k, v in s.recipe.made_of.items() if v is not None}
        return {"kind": "spline", "closed": s.closed} | given
    raise CaromError(
        f"a surface of type {type(s).__name__} is made of functions, which a file cannot hold; use a Plane, Circle or "
        "Spline, or use it from Python"
    )


# -- control -----------------------------------------------------------------------------------------------------------


def _controller(c: Any, world: World) -> dict[str, Any]:
    if isinstance(c, control.PostureControl):
        names = ("targets", "kp", "kd", "compensate_weight", "relative", "limit", "rate")
        integral = {"ki": plain(c.ki)} if c.integral else {}
        schedule = {"schedule": [_switch(s) for s in c.schedule]} if c.schedule else {}
        return {"kind": "posture", "gravity": _gravity(c.gravity)} | _fields(c, names) | integral | schedule
    if isinstance(c, control.ComputedTorque):
        if c.model is not world.mechanism and not _same(c.model, world.mechanism):
            raise CaromError(f"controller '{c.name}' believes in another mechanism, which a file cannot hold")
        gains = _fields(c, ("kp", "kd", "limit", "rate"))
        return {"kind": "computed-torque", "motion": _motion(c.motion), "gravity": _gravity(c.gravity)} | gains
    if isinstance(c, control.FeedForward) and isinstance(c.plan, Tabled):
        reference = {} if c.reference is None else {"reference": _motion(c.reference)}
        gains = _fields(c, ("kp", "kd", "limit", "relative"))
        return {"kind": "feed-forward", "torques": _motion(c.plan.table)} | reference | gains
    if isinstance(c, HoldPose):
        base = next(b for b in BASES if actuated_by(world.mechanism, b) == c.actuated)
        pose = plain(world.mechanism.to_absolute(c.target))
        gains = _fields(c, ("kp", "kd", "linearise"))
        return {"kind": "hold-pose", "pose": pose, "base": base, "gravity": _gravity(c.gravity)} | gains
    raise CaromError(
        f"'{getattr(c, 'name', c)}', a {type(c).__name__}, is code of its own, which a file cannot hold; use it from "
        "Python"
    )


def _same(a: Any, b: Any) -> bool:
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=False)
    alike: bool = jax.tree.structure(a) == jax.tree.structure(b)  # type: ignore[operator]
    return alike and all(np.array_equal(x, y) for x, y in pairs)


def _switch(s: Any) -> dict[str, Any]:
    if isinstance(s, control.OnStrike):
        return {"until": "strike", "contact": s.contact}
    if isinstance(s, control.AtHeight):
        return {"until": "height", "site": s.site.name, "height": plain(s.height), "rising": s.rising}
    if isinstance(s, control.AtTime):
        return {"until": "time", "time": plain(s.time)}
    raise CaromError(f"a switch of type {type(s).__name__} is code, which a file cannot hold; use it from Python")


def _motion(t: Any) -> dict[str, Any]:
    if isinstance(t, control.Polynomials):
        return {"kind": "polynomials", "knots": plain(t.bounds), "coefficients": plain(t.coefficients)}
    raise CaromError(
        f"a trajectory of type {type(t).__name__} is not made of polynomials, and a file cannot hold it; use it from "
        "Python"
    )
