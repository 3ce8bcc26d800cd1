"""What a mechanism consists of, in symbols: its coordinates, efforts, gravity, links, springs and dampers.

Shapes are written by their closed form (a rod is m and l, not a centre and an inertia besides), so that as few symbols
appear as describe the links.
"""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import numpy as np

from .. import errors
from ..mechanism import Mechanism, Topology
from ..quantities import Gravity
from .names import Expr, Matrix, Names

CLOSED_FORM_TOLERANCE = 1e-14  # stored numbers meet the formula of a shape to rounding, well within the promised 1e-12


class SymbolicMotion(NamedTuple):
    """Absolute angles and rates of the links, and those of their joints, in the symbols of the coordinates.

    A link on a slider has its displacement in both places.
    """

    angle: list[Expr]
    rate: list[Expr]
    joint_angle: list[Expr]
    joint_rate: list[Expr]


class Link(NamedTuple):
    """A rigid link in symbols: mass, centre, central inertia, where it hangs on its parent, slider and rotor."""

    mass: Expr
    cx: Expr
    cy: Expr
    inertia: Expr
    hx: Expr
    hy: Expr
    axis: tuple[Expr, Expr] = (0, 0)
    rotor: Expr = 0
    gear: Expr = 1


def motion(sympy: ModuleType, names: Names, top: Topology, relative: bool) -> SymbolicMotion:
    """Name all coordinates, bases first, and express angles of links and joints by them."""
    for name, number in _free_trees(top):
        for axis in ("x", "y"):
            keys = (f"{name}.{axis}", f"{name}.{axis}_rate", f"{name}.{axis}_acceleration")
            names.moving(keys, f"{axis}_{number}" if number else axis, f"{axis} of the free base '{name}'", "m")
    letter, origin = ("q", "from its parent") if relative else ("theta", "from the x axis")
    own = []
    for k, name in enumerate(top.names):
        if top.slides[k]:
            keys = (f"{name}.slide", f"{name}.slide_rate", f"{name}.slide_acceleration")
            own.append(names.moving(keys, f"s_{k + 1}", f"displacement of {name} along its slider", "m"))
            continue
        keys = (f"{name}.angle", f"{name}.rate", f"{name}.acceleration")
        where = origin if top.parents[k] >= 0 else "from the x axis"
        own.append(names.moving(keys, f"{letter}_{k + 1}", f"angle of {name} {where}", "rad"))
    angle, rate = [a for a, _, _ in own], [r for _, r, _ in own]
    if relative:
        path = [turning(top, k) for k in range(top.links)]
        summed = [[sympy.Add(*(column[i] for i in path[k])) for k in range(top.links)] for column in (angle, rate)]
        return SymbolicMotion(summed[0], summed[1], angle, rate)
    above = [[column[p] if p >= 0 else 0 for p in top.turned_by] for column in (angle, rate)]
    joint = [[c - a for c, a in zip(*pair, strict=True)] for pair in zip((angle, rate), above, strict=True)]
    return SymbolicMotion(angle, rate, joint[0], joint[1])


def turning(top: Topology, k: int) -> list[int]:
    """A link and those whose joints turn it; alone if it slides."""
    found = [k]
    while top.turned_by[found[0]] >= 0:
        found.insert(0, top.turned_by[found[0]])
    return found


def _free_trees(top: Topology) -> list[tuple[str, str]]:
    """Name of every free tree, and its number, which symbols need only where there are several."""
    alone = sum(top.free) == 1
    names = enumerate(zip(top.tree_names, top.free, strict=True), start=1)
    return [(name, "" if alone else str(number)) for number, (name, free) in names if free]


def efforts(sympy: ModuleType, names: Names, top: Topology) -> Matrix:
    """Forces on the free bases and torques of the joints."""
    found = []
    for name, number in _free_trees(top):
        for axis in ("x", "y"):
            meaning = f"{axis} force on the free base '{name}'"
            found.append(names.variable(f"{name}.force_{axis}", f"F_{axis}{number}", "effort", meaning, "N"))
    for k, (name, parent) in enumerate(zip(top.names, top.parents, strict=True)):
        other = top.names[parent] if parent >= 0 else "its surroundings"
        if top.slides[k]:
            meaning = f"force on {name} along its slider from {other}"
            found.append(names.variable(f"{name}.force", f"f_{k + 1}", "effort", meaning, "N"))
            continue
        meaning = f"torque on {name} from {other}"
        found.append(names.variable(f"{name}.torque", f"tau_{k + 1}", "effort", meaning, "N m"))
    return sympy.Matrix(found)


def pull(names: Names, gravity: Gravity) -> tuple[Expr, Expr]:
    """The two components of gravity, in symbols."""
    if np.shape(gravity) == ():
        errors.number("equations", "gravity", gravity)
        size = float(_concrete("gravity", gravity))
        return 0, -names.parameter("gravity", "g", "gravity, downwards", "m/s^2", size)
    errors.vector("equations", "gravity", gravity, 2)
    x, y = (
        names.parameter(f"gravity_{axis}", f"g_{axis}", f"{axis} component of gravity", "m/s^2", number)
        for axis, number in zip("xy", _concrete("gravity", gravity), strict=True)
    )
    return x, y


def _concrete(what: str, value: Gravity) -> np.ndarray:
    """The numbers, which a legend needs: refuse those that JAX traces."""
    found = errors.known(value)
    if found is None:
        raise errors.CaromError(
            f"{what} of equations is traced by JAX; call carom.equations outside jit, vmap and grad"
        )
    return found


def links(names: Names, mechanism: Mechanism) -> list[Link]:
    """Masses, centres, inertias and hanging points in as few symbols as describe them: shapes by their closed form."""
    n, top = mechanism.numbers, mechanism.topology
    mass, com, inertia, hang, tip = (
        _concrete("mechanism", column) for column in (n.mass, n.com, n.inertia, n.hang, n.tip)
    )
    if top.elastic:
        bends = next(name for name, modes in zip(top.names, top.modes, strict=True) if modes)
        raise errors.CaromError(
            f"link '{bends}' of equations is elastic; equations are printed for rigid links only; make it rigid"
        )
    if mass.ndim != 1:
        raise errors.CaromError(
            f"mechanism of equations is a batch of shape {mass.shape[:-1]}; take one of it before calling equations"
        )
    length: dict[int, Expr] = {}
    found: list[Link] = []
    for k, name in enumerate(top.names):
        at = k + 1
        m = names.parameter(f"{name}.mass", f"m_{at}", f"mass of {name}", "kg", mass[k])
        shape = _shape(top.shapes[k], mass[k], com[k], inertia[k], tip[k])
        carries = any(_at_tip(hang[c], tip[k]) for c in top.children[k])
        if shape in ("rod", "point") or (carries and tip[k, 1] == 0):
            length[k] = names.parameter(f"{name}.length", f"l_{at}", f"length of {name}", "m", tip[k, 0])
        if shape == "rod":
            centre, central = (length[k] / 2, 0), m * length[k] ** 2 / 12
        elif shape == "point":
            centre, central = (length[k], 0), 0
        elif shape == "disk":
            radius = _radius(mass[k], inertia[k])
            r = names.parameter(f"{name}.radius", f"r_{at}", f"radius of {name}", "m", radius)
            centre, central = (0, 0), m * r**2 / 2
        else:
            centre = _point(
                names, f"{name}.com", (f"c_{at}x", f"c_{at}y"), f"centre of mass of {name}", com[k], f"c_{at}"
            )
            meaning = f"moment of inertia of {name} about its centre of mass"
            central = names.parameter(f"{name}.inertia", f"I_{at}", meaning, "kg m^2", inertia[k])
        found.append(Link(m, *centre, central, 0, 0))
    for k, name in enumerate(top.names):
        parent = top.parents[k]
        if parent >= 0 and parent in length and _at_tip(hang[k], tip[parent]):
            found[k] = found[k]._replace(hx=length[parent])
        elif parent >= 0:
            meaning = f"joint of {name} on {top.names[parent]}"
            x, y = _point(names, f"{name}.at", (f"a_{k + 1}", f"b_{k + 1}"), meaning, hang[k])
            found[k] = found[k]._replace(hx=x, hy=y)
        if top.slides[k]:
            found[k] = found[k]._replace(axis=_axis(names, name, k, _concrete("mechanism", n.axis)))
        if top.rotors[k]:
            words, unit = f"rotor of {name}'s joint", "rad/m" if top.slides[k] else "1"
            inertia = names.parameter(
                f"{name}.rotor_inertia", f"J_{k + 1}", f"inertia of the {words}", "kg m^2", n.rotor[k]
            )
            gear = names.parameter(f"{name}.gear", f"n_{k + 1}", f"gear of the {words}", unit, n.gear[k])
            found[k] = found[k]._replace(rotor=inertia, gear=gear)
    return found


def _axis(names: Names, name: str, k: int, axis: np.ndarray) -> tuple[Expr, Expr]:
    """The direction of a slider; along the axes of its parent without symbols."""
    x, y = (float(part) for part in axis[k])
    if {abs(x), abs(y)} == {0.0, 1.0}:
        return int(x), int(y)
    parts = [(f"{name}.axis_{i}", f"e_{k + 1}{i}", f"{i} of the direction of {name}'s slider") for i in "xy"]
    first, second = (names.parameter(*part, "1", number) for part, number in zip(parts, (x, y), strict=True))
    return first, second


def _point(
    names: Names, key: str, defaults: tuple[str, str], meaning: str, point: np.ndarray, on_axis: str | None = None
) -> tuple[Expr, Expr]:
    """Symbols for a point of a link; `on_axis` names x where y is zero."""
    first = on_axis if on_axis and point[1] == 0 else defaults[0]
    x = names.parameter(f"{key}_x", first, f"{meaning}, along the axis", "m", point[0])
    y = names.parameter(f"{key}_y", defaults[1], f"{meaning}, across the axis", "m", point[1])
    return x, y


def _at_tip(hang: np.ndarray, tip: np.ndarray) -> bool:
    return bool(np.array_equal(hang, tip) and np.any(tip != 0))


def _shape(shape: str, mass: float, com: np.ndarray, inertia: float, tip: np.ndarray) -> str:
    """The shape, if the stored numbers are those of its closed form; else 'body', which assumes nothing."""
    length = tip[0]
    expected = {
        "rod": (length / 2, 0.0, mass * length**2 / 12, 0.0),
        "point": (length, 0.0, 0.0, 0.0),
        "disk": (0.0, 0.0, inertia if mass > 0 else np.nan, 0.0),
    }
    stored = (com[0], com[1], inertia, tip[1])
    fits = shape in expected and np.allclose(stored, expected[shape], rtol=CLOSED_FORM_TOLERANCE, atol=0.0)
    return shape if fits else "body"


def _radius(mass: float, inertia: float) -> float:
    """Radius of a disk from I = m r^2 / 2; of the numbers that fit to rounding, the one with few digits."""
    radius = float(np.sqrt(2 * inertia / mass))
    short = float(f"{radius:.14g}")
    return short if np.isclose(mass * short**2 / 2, inertia, rtol=CLOSED_FORM_TOLERANCE, atol=0.0) else radius


def joints(sympy: ModuleType, names: Names, mechanism: Mechanism, motion: SymbolicMotion) -> tuple[Matrix, Matrix]:
    """Torques of springs and dampers, per joint; none act on the bases."""
    n, top = mechanism.numbers, mechanism.topology
    stiffness, rest, damping = (_concrete("mechanism", column) for column in (n.stiffness, n.rest, n.damping))
    springs, dampers = [0] * top.base_dof, [0] * top.base_dof
    for k, name in enumerate(top.names):
        at, joint, slides = k + 1, f"{name}'s joint", top.slides[k]
        effort, unit, word = ("N", "m", "displacement") if slides else ("N m", "rad", "angle")
        stiff = names.parameter(
            f"{name}.stiffness", f"k_{at}", f"stiffness of {joint}", f"{effort}/{unit}", stiffness[k]
        )
        free = rest[k] if stiffness[k] != 0 else 0.0
        relaxed = names.parameter(f"{name}.rest", f"beta_{at}", f"rest {word} of {joint}", unit, free)
        damper = names.parameter(f"{name}.damping", f"d_{at}", f"damping of {joint}", f"{effort} s/{unit}", damping[k])
        springs.append(-stiff * (motion.joint_angle[k] - relaxed))
        dampers.append(-damper * motion.joint_rate[k])
    return sympy.Matrix(springs), sympy.Matrix(dampers)
