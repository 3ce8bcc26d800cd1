"""From Python to a scenario: the same world, written down. What no file can hold is refused by name."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from .. import mechanism
from .._arguments import StateLike, UntilLike, WorldLike
from ..control.until import told_until
from ..errors import CaromError
from ..forms import stated
from ..hybrid.settings import DEFAULT, Settings, settings_or_default
from ..hybrid.world import FRICTION_RULES, World
from ..mechanism import Mechanism, State
from ..mechanism._recipe import Tree, Weld
from ..mechanism.state import refuse_state
from ._build import mechanism_of
from ._text import checked
from .body_tables import told_body
from .constraint_tables import told_constraints
from .contact_tables import Notes, told_contacts
from .control_tables import told_controller
from .element_tables import told_element
from .form_tables import plain, plain_fields, plain_gravity
from .model import Scenario
from .world_tables import Link, Spring

WORDS = ("title", "about", "source")


def scenario_of(
    world: WorldLike, start: StateLike, *, until: UntilLike, name: str, settings: Settings | None = None, **words: Any
) -> Scenario:
    """The scenario that simulates this world from this start."""
    if not isinstance(world, World):
        raise CaromError(f"Scenario.of got a {type(world).__name__}; it must be a carom.World")
    for word in words:
        if word not in WORDS:
            raise CaromError(
                f"Scenario.of got '{word}'; besides start, until, name and settings it takes {', '.join(WORDS)}"
            )
    notes = Notes()
    data: dict[str, Any] = {
        "name": name,
        "gravity": plain_gravity(world.gravity),
        "pause_in_impact": world.pause_in_impact,
        "mechanisms": _mechanisms(world.mechanism),
        "start": _start(world.mechanism, refuse_state(start, world.mechanism)),
        "run": {"until": told_until(until)} | _run(settings_or_default(settings)),
    } | {word: text for word, text in words.items() if text is not None}
    for automaton in world.automata:
        _add(data, automaton, world, notes)
    if world.constraints:
        data["constraints"] = told_constraints(world.constraints, notes)
    made = checked(data | notes.tables(), f"the scenario of world '{name}'")
    _refuse_changed(made, world)
    return made


def _start(mechanism: Mechanism, state: State) -> dict[str, Any]:
    """Angles, and what is not zero."""
    top = mechanism.topology
    bends = slice(top.base_dof + top.links, None)
    turned = np.asarray([top.angle_index(k) for k in top.hinged], dtype=int)
    parts = {
        "rates": state.v[turned],
        "slides": mechanism.slides(state.q),
        "slide_rates": mechanism.slides(state.v),
        "base": mechanism.base(state.q),
        "base_velocity": mechanism.base(state.v),
        "bending": state.q[bends],
        "bending_rates": state.v[bends],
    }
    return {"angles": plain(state.q[turned])} | {k: plain(x) for k, x in parts.items() if np.any(x)}


def _run(settings: Settings) -> dict[str, Any]:
    """What is not as by default."""
    fields = [field.name for field in dataclasses.fields(Settings)]
    other = {f: getattr(settings, f) for f in fields if getattr(settings, f) != getattr(DEFAULT, f)}
    return {f: int(x) if f.startswith("max_") else plain(x) for f, x in other.items()}


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


def _mechanisms(m: mechanism.Mechanism) -> dict[str, Any]:
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


def _link(link: mechanism.Link) -> dict[str, Any]:
    out = plain_fields(link, ("parent", "at")) | {"body": told_body(link.body)} | Link.told_joint(link.joint)
    if link.sites:
        out["sites"] = {name: plain(point) for name, point in link.sites.items()}
    return out


def _weld(weld: Weld) -> dict[str, Any]:
    where = {} if weld.at is None else {"at": plain(weld.at)}
    return {"link": weld.link, "body": told_body(weld.body), "angle": plain(weld.angle)} | where


# -- automata ----------------------------------------------------------------------------------------------------------


def _add(data: dict[str, Any], automaton: Any, world: World, notes: Notes) -> None:
    """One automaton of the world, into the table where it belongs."""
    kept = stated(automaton, "table")
    if kept == "contacts":
        told = told_contacts(automaton, notes)
    elif kept in ("joints", "until"):  # the links have them; [run] has it
        return
    elif kept == "springs":
        told = {automaton.name: Spring.told(automaton)}
    elif kept == "elements":
        told = {automaton.name: told_element(automaton)}
    else:
        kept, told = "control", {automaton.name: told_controller(automaton, world)}
    data.setdefault(kept, {}).update(told)
    if automaton.anatomy.impulsive:
        data["settle_speed"] = plain(automaton.settle_speed)
        if automaton.friction_rule != FRICTION_RULES[0]:
            data["friction_rule"] = automaton.friction_rule
