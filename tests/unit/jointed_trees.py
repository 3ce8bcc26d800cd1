"""Trees with dry friction in their joints on rough rigid feet, by their numbers; mirrored, far, in other units.

What random worlds of verify/attack found is kept here by its numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import carom

G = 9.81


class Bone(NamedTuple):
    """A link: parent (-1: the base), on a slider?, friction (None: none), stiction, stiffness and rest of its joint."""

    parent: int
    slides: bool
    length: float
    mass: float
    friction: float | None
    stiction: float | None
    stiffness: float
    rest: float


class Tree(NamedTuple):
    """Its feet are tips of links (1), or sites behind their joints (0)."""

    bones: tuple[Bone, ...]
    feet: tuple[tuple[int, int], ...]
    law: Any
    mu: float
    static: float
    angles: tuple[float, ...]
    rates: tuple[float, ...]
    slides: tuple[float, ...] = ()
    slide_rates: tuple[float, ...] = ()
    base: tuple[float, float] | None = None  # None: fixed at the origin
    base_velocity: tuple[float, float] = (0.0, 0.0)
    floor: float = 0.0


class Copy(NamedTuple):
    """How a copy differs: mirrored (side -1), so far away [m], in units of which there are so many in m and in kg."""

    side: float = 1.0
    far: float = 0.0
    unit: float = 1.0


PLAIN = Copy()


def carriers(tree: Tree) -> list[int]:
    """Links whose angles they have; -1: none."""
    out: list[int] = []
    for k, b in enumerate(tree.bones):
        out.append(k if not b.slides else (-1 if b.parent < 0 else out[b.parent]))
    return out


def world_of(tree: Tree, copy: Copy = PLAIN) -> tuple[carom.World, carom.State]:
    side, far, unit = copy
    force, turns = unit**2, carriers(tree)  # masses have the same factor as lengths

    def placed(carrier: int, x: float, y: float) -> tuple[float, float]:
        return (x, side * y) if carrier >= 0 else (side * x, y)

    links = []
    for k, b in enumerate(tree.bones):
        effort, long = force * (1.0 if b.slides else unit), b.length * unit
        above = -1 if b.parent < 0 else turns[b.parent]
        dry: dict[str, Any] = {}
        if b.friction is not None and b.stiction is not None:
            dry = {"friction": b.friction * effort, "static_friction": b.stiction * effort}
        if b.parent >= 0 or b.slides:
            rest = b.rest * unit if b.slides else (side * b.rest if above >= 0 or side > 0.0 else np.pi - b.rest)
            dry |= {"stiffness": b.stiffness * effort / (unit if b.slides else 1.0), "rest": rest}
        joint = carom.Slider(axis=placed(above, 1.0, 0.5), **dry) if b.slides else carom.Joint(**dry)
        body = carom.Body(
            mass=b.mass * unit,
            inertia=b.mass * unit * long**2 / 10.0,
            com=placed(turns[k], 0.45 * long, 0.03 * long),
            tip=placed(turns[k], long, 0.0),
        )
        foot = {f"foot{k}": placed(turns[k], -0.3 * long, -0.2 * long)}
        on = carom.BASE if b.parent < 0 else f"l{b.parent}"
        links.append(carom.Link(body, name=f"l{k}", parent=on, joint=joint, sites=foot))
    mechanism = carom.Mechanism(links, base=carom.Fixed(far, far) if tree.base is None else carom.Free())
    plane, rough = carom.Plane(height=tree.floor * unit + far), carom.Coulomb(tree.mu, static=tree.static)
    sites = [mechanism.site(f"l{k}.tip" if end else f"foot{k}") for k, end in tree.feet]
    contacts = [
        carom.Contact(site, plane, tree.law, rough, name=f"f{k}{end}")
        for site, (k, end) in zip(sites, tree.feet, strict=True)
    ]
    world = carom.World(mechanism, contacts=contacts, gravity=G * unit)
    angles, rates = np.array(tree.angles), np.array(tree.rates)
    start: dict[str, Any] = {"angles": angles if side > 0.0 else np.pi - angles, "rates": side * rates}
    if tree.slides:
        start |= {"slides": np.array(tree.slides) * unit, "slide_rates": np.array(tree.slide_rates) * unit}
    if tree.base is not None:
        mirror = np.array([side, 1.0]) * unit
        start |= {"base": np.array(tree.base) * mirror + far, "base_velocity": np.array(tree.base_velocity) * mirror}
    return world, world.state(**start)


def run(tree: Tree, copy: Copy = PLAIN, until: float = 1.0) -> Any:
    world, start = world_of(tree, copy)
    return carom.simulate(world, start, until=until, throw=False)
