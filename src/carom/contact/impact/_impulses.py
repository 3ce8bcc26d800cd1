"""Impulses of a blow: of one contact alone, along Routh's path; of several at one instant, by Newton or Poisson."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from ... import errors
from ..._arguments import Name
from ...hybrid._reaction import dot
from ...hybrid.scene import Scene
from ...quantities import Flags, Matrix
from ._course import Blows, impulses_along
from ._groups import linked_of, reached
from ._path import Path, Weights, path, straight
from ._several import TOLERANCE, vector
from ._system import System, friction_at, rubbing
from .impact_law import NEWTON
from .rigid_contact import Contacts, rule_of

PATH, END = "path", "end velocity"  # rules of friction


class Weighed(NamedTuple):
    """What unit impulses along the rows do to the coordinates, and to the velocities of all rows."""

    through: list[list[Any]]
    w: list[list[Any]]


def weighed(scene: Scene, r: System) -> Weighed:
    inverse = scene.motion(scene.v).solve
    through = [inverse(row) for row in r.row]
    return Weighed(through, [[dot(row, t) for t in through] for row in r.row])


def blow_of(
    contacts: Contacts,
    scene: Scene,
    r: System,
    weights: Weighed,
    part: list[Any],
    asked: list[Any],
    noise: list[Any],
    rule: str = PATH,
) -> tuple[list[Any], Any, Any]:
    """Impulses, velocity after them, and whether they were found.

    `r` are the contacts at this instant; `part` says which are closed or closing, `asked` the restitution of each: 0
    where it is to settle. `noise` are the speeds of all rows that are but rounding.
    """
    through, w = weights
    impulses, found = impulses_of(contacts, w, r.speed, part, asked, rule, noise)
    velocity = tuple(v + sum(p * t[j] for p, t in zip(impulses, through, strict=True)) for j, v in enumerate(scene.v))
    return impulses, velocity, found


def impulses_of(
    contacts: Contacts,
    w: list[list[Any]],
    speed: list[Any],
    part: list[Any],
    asked: list[Any],
    rule: str = PATH,
    noise: list[Any] | None = None,
) -> tuple[list[Any], Any]:
    """Impulses for the inverse inertia `w` seen from the contacts and their velocities `speed`, row by row."""
    n, rubs = len(contacts), rubbing(contacts)
    # What no impulse moves, takes none.
    part = [jnp.asarray(on & (w[i][i] > 0.0)) for i, on in enumerate(part)]
    if n == 1 and (rule == PATH or not rubs):  # nobody else to reach
        return _alone(contacts, w, speed, asked, [part[0] & (speed[0] < 0.0)])
    linked = linked_of(w, part, rubs)
    on = reached(linked, part, speed[:n])
    lonely = jnp.sum(linked, axis=1) == 1
    if rule == END:  # without friction there is no path to follow, so that both rules agree
        lonely = lonely & jnp.asarray([c.friction is None for c in contacts])
    alone, ends = _alone(contacts, w, speed, asked, list(on & lonely))
    if n == 1 and (rule == PATH or not rubs):
        return alone, ends
    several, found = impulses_along(_together(contacts, w, speed, asked, on & ~lonely, linked, rule, noise))
    owner = (*range(n), *rubs)
    both = [jnp.where(lonely[i], a, b) for i, a, b in zip(owner, alone, several, strict=True)]
    return both, found & ends


def _alone(
    contacts: Contacts, w: list[list[Any]], speed: list[Any], asked: list[Any], part: list[Any]
) -> tuple[list[Any], Any]:
    """Impulses of every contact as if it were the only one."""
    n, rubs = len(contacts), rubbing(contacts)
    normal, rubbed, found = [], [], jnp.asarray(True)
    for i, contact in enumerate(contacts):
        approach = jnp.where(part[i], jnp.minimum(speed[i], 0.0), 0.0)
        own = jnp.where(part[i], w[i][i], 1.0)
        way: Path = straight(own, approach)
        if contact.friction is not None:
            k = n + rubs.index(i)
            mu = contact.friction.coefficient(jnp.abs(speed[k]))
            way = path(Weights(own, w[i][k], w[k][k]), approach, speed[k], mu, contact.friction.limit)
            found = found & (way.found | ~part[i])
        p = jnp.where(part[i], contact.law.end(way, asked[i]), 0.0)
        normal.append(p)
        if contact.friction is not None:
            rubbed.append(jnp.where(part[i], way.friction(p), 0.0))
    return [*normal, *rubbed], found


def _together(
    contacts: Contacts,
    w: list[list[Any]],
    speed: list[Any],
    asked: list[Any],
    part: Flags,
    linked: Matrix,
    rule: str,
    noise: list[Any] | None,
) -> Blows:
    """Contacts that share a blow."""
    n, rubs = len(contacts), rubbing(contacts)
    newton = rule_of(contacts) == NEWTON
    laws = [friction_at(contacts, k) for k in range(len(rubs))]
    mu = vector([law.coefficient(jnp.abs(speed[n + k])) for k, law in enumerate(laws)]) * 1.0
    limit = vector([law.limit for law in laws]) * 1.0
    before = vector(speed) * 1.0
    if rule == END:  # Stiction holds what rests; what slides when the blow comes has only its sliding friction.
        limit = jnp.where(jnp.abs(before[n:]) > TOLERANCE * jnp.sum(jnp.abs(before)), mu, limit)
    matrix = jnp.stack([vector(row) for row in w])
    none = jnp.zeros_like(before) if noise is None else vector(noise)
    return Blows(w, matrix, before, none, vector(asked) * 1.0, mu, limit, part, linked, rubs, newton, rule == END)


def checked_rule(name: str, rule: Name, contacts: Contacts) -> str:
    """The rule of friction, or a refusal."""
    if rule not in (PATH, END):
        raise errors.CaromError(f"friction_rule of {name} is {rule!r}; it must be '{PATH}' or '{END}'")
    for c in contacts:
        if rule == END and c.friction is not None and (c.law.along_path or c.law.together is None):
            why = "whose work is counted" if c.law.along_path else "whose end is stated"
            raise errors.CaromError(
                f"friction_rule of {name} is '{END}', but the restitution of contact '{c.name}' is "
                f"{type(c.law).__name__}, {why} along the path; use '{PATH}', or Poisson"
            )
    return str(rule)


def driven(contacts: Contacts, scene: Scene, impulses: list[Any]) -> Any:
    """Work of surfaces with a prescribed motion in a blow [J]; None where there are none."""
    if not any(c.pair.moves for c in contacts):
        return None
    total = jnp.asarray(0.0)
    for i, contact in enumerate(contacts):
        if contact.pair.moves:
            along, across = contact.pair.carried(scene, contact.pair.touching(scene))
            k = len(contacts) + rubbing(contacts).index(i) if i in rubbing(contacts) else None
            total = total + impulses[i] * along + (0.0 if k is None else impulses[k] * across)
    return total
