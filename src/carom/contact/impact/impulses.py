"""Impulses of a blow: of one contact alone, along Routh's path; of several at one instant, by Newton or Poisson."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...hybrid.reaction import dot
from ...hybrid.scene import Scene
from .contact import Contacts
from .newton import Newton
from .path import Weights, path
from .several import Solution, solve
from .system import problem_of, rubbing, system_of


def blow_of(
    contacts: Contacts, scene: Scene, part: list[Any], asked: list[Any]
) -> tuple[list[Any], Any, Any]:
    """Impulses, velocity after them, and whether they were found."""
    r, inverse = system_of(contacts, scene), scene.motion(scene.v).solve
    through = [inverse(row) for row in r.row]
    w = [[dot(row, t) for t in through] for row in r.row]
    impulses, found = _impulses(contacts, w, r.speed, asked, part)
    velocity = tuple(v + sum(p * t[j] for p, t in zip(impulses, through, strict=True)) for j, v in enumerate(scene.v))
    return impulses, velocity, found


def _impulses(contacts: Contacts, w: Any, speed: list[Any], asked: list[Any], part: list[Any]) -> tuple[list[Any], Any]:
    alone = _alone(contacts, w, speed, asked, part)
    if len(contacts) == 1:
        return alone, jnp.asarray(True)
    several, found = _together(contacts, w, speed, asked, part)
    one = sum(jnp.where(on, 1, 0) for on in part) == 1
    return [jnp.where(one, a, b) for a, b in zip(alone, several, strict=True)], found | one


def _alone(contacts: Contacts, w: Any, speed: list[Any], asked: list[Any], part: list[Any]) -> list[Any]:
    """Impulses of every contact as if it were the only one."""
    n = len(contacts)
    normal, rubbed = [], []
    for i, contact in enumerate(contacts):
        if contact.friction is None:
            p = jnp.maximum(-(1.0 + asked[i]) * speed[i] / w[i][i], 0.0)
        else:
            k = n + rubbing(contacts).index(i)
            weights = Weights(w[i][i], w[i][k], w[k][k])
            mu = contact.friction.coefficient(jnp.abs(speed[k]))
            way = path(weights, jnp.minimum(speed[i], 0.0), speed[k], mu, contact.friction.limit)
            p = contact.law.end(way, asked[i])
            rubbed.append(jnp.where(part[i], way.friction(p), 0.0))
        normal.append(jnp.where(part[i], p, 0.0))
    return [*normal, *rubbed]


def _together(contacts: Contacts, w: Any, speed: list[Any], asked: list[Any], part: list[Any]) -> tuple[list[Any], Any]:
    """Impulses of several contacts at one instant."""
    n = len(contacts)
    none, free = [jnp.asarray(0.0)] * n, [jnp.asarray(0.0)] * len(rubbing(contacts))
    poisson = all(not isinstance(c.law, Newton) for c in contacts)
    shifted = [u if poisson else (1.0 + e) * u for u, e in zip(speed, asked, strict=False)] + speed[n:]
    first = solve(problem_of(contacts, w, shifted, part, none, free, speed))
    if not poisson:
        return [*first.normal, *first.tangential], first.found
    turned = _after(w, speed, first)
    back = [e * p for e, p in zip(asked, first.normal, strict=True)]
    second = solve(problem_of(contacts, w, turned, part, back, free, speed))
    normal = [p + q + o for p, q, o in zip(first.normal, second.normal, back, strict=True)]
    rubbed = [p + q for p, q in zip(first.tangential, second.tangential, strict=True)]
    return [*normal, *rubbed], first.found & second.found


def _after(w: Any, speed: list[Any], s: Solution) -> list[Any]:
    """Velocities after the impulses of a solution."""
    impulses = [*s.normal, *s.tangential]
    return [u + dot(row, impulses) for u, row in zip(speed, w, strict=True)]


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
