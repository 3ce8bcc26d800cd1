"""Energies and momenta of elastic links, and the forces of their stiffness and damping."""

from __future__ import annotations

from typing import Any

from ..mechanism import Mechanism
from ..quantities import Coordinates, Given, Vector
from ._elastic_links import Vec, dot, origins, perp, plus, whole


def kinetic_by_link(mechanism: Mechanism, q: Coordinates, v: Coordinates) -> list[Any]:
    w = whole(mechanism, q, v)
    out = []
    for k, o in enumerate(origins(mechanism, w, q, v)):
        mine, s = w.owns[k], w.states[k]
        z = [s.rate, *s.bend_rate]
        moved = s.turn(plus(mine.rate, perp(mine.first), s.rate))
        inner = dot(z, [dot(row, z) for row in mine.second])
        out.append(0.5 * mine.mass * dot(o.velocity, o.velocity) + dot(o.velocity, moved) + 0.5 * inner)
    return out


def elastic_by_link(mechanism: Mechanism, q: Vector) -> list[Any]:
    out: list[Any] = []
    for k, f in enumerate(mechanism.numbers.flex):
        d = [q[j] for j in mechanism.topology.mode_index(k)]
        size = range(len(d))
        out.append(0.0 if f is None else 0.5 * sum(f.stiffness[i][j] * d[i] * d[j] for i in size for j in size))
    return out


def first_moments(mechanism: Mechanism, q: Coordinates, v: Coordinates) -> list[tuple[Any, Vec, Vec, Any]]:
    """Per link: mass, first moment about the world's origin, linear momentum, angular momentum about that origin."""
    w = whole(mechanism, q, v)
    out = []
    for k, o in enumerate(origins(mechanism, w, q, v)):
        mine, s = w.owns[k], w.states[k]
        first = s.turn(mine.first)
        moved = s.turn(plus(mine.rate, perp(mine.first), s.rate))
        linear_part = plus(moved, o.velocity, mine.mass)
        spin = dot(mine.second[0], [s.rate, *s.bend_rate])
        angular = _cross(o.place, linear_part) + _cross(first, o.velocity) + spin
        out.append((mine.mass, plus(first, o.place, mine.mass), linear_part, angular))
    return out


def _cross(a: Vec, b: Vec) -> Any:
    return a[0] * b[1] - a[1] * b[0]


def bending(mechanism: Mechanism, q: Given, v: Given) -> tuple[list[tuple[int, Any]], Any]:
    """Forces of stiffness and damping on the modal coordinates, by index, and the power of the damping."""
    forces: list[tuple[int, Any]] = []
    power: Any = 0.0
    if not mechanism.topology.elastic:
        return forces, power
    for k, f in enumerate(mechanism.numbers.flex):
        if f is None:
            continue
        at = mechanism.topology.mode_index(k)
        for i, index in enumerate(at):
            drag = -sum(f.damping[i][j] * v[at[j]] for j in range(len(at)))
            forces.append((index, drag - sum(f.stiffness[i][j] * q[at[j]] for j in range(len(at)))))
            power = power + drag * v[index]
    return forces, power
