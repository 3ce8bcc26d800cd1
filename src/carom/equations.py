"""The equations of motion on paper: SymPy expressions in the user's own symbols, printed as text and LaTeX.

In absolute angles they are the closed form of `carom.dynamics.explicit`, written with symbols instead of numbers, so
they come out tidy without any search for simplifications. Relative angles q are a constant linear map theta = S q away:

    M_rel = S^T M S,    forces_rel = S^T forces

and in the centrifugal terms the two squares that a pair of links (i above k) brings to the joints down to i merge,

    theta_k'^2 - theta_i'^2 = (theta_k' - theta_i') (theta_k' + theta_i')

where the first factor is the sum of the joint rates between i and k: these are the Coriolis products of textbooks.

What is exactly zero in the mechanism (an offset, a spring, a rest angle) does not appear in its equations.
SymPy is imported only when equations are asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from . import errors
from .dynamics import STANDARD_GRAVITY
from .mechanism import Mechanism, Topology

Expr = Any  # a sympy.Expr; SymPy is optional, so its types cannot be named here
Matrix = Any  # a sympy.ImmutableDenseMatrix; vectors are columns

COORDINATES = ("absolute", "relative")
PARTS = ("torques", "mass_matrix", "bias", "gravity")
CLOSED_FORM_TOLERANCE = 1e-14  # stored numbers meet the formula of a shape to rounding, well within the promised 1e-12


def equations(
    mechanism: Mechanism,
    coordinates: str = "absolute",
    symbols: Mapping[str, Any] | None = None,
    values: bool = False,
    gravity: Any = STANDARD_GRAVITY,
) -> Equations:
    """Equations of motion of a mechanism, M q'' + bias - gravity - springs - dampers = efforts, as SymPy expressions.

    - `coordinates`: 'absolute' angles theta_k from the x axis, or 'relative' angles q_k from the parent link. The
      effort on a link is its torque tau_k less those of its children in absolute angles, tau_k alone in relative ones.
    - `symbols` renames: {'link1.mass': 'M', 'link1.angle': sympy.Symbol('alpha')}. `Equations.symbols` has the keys:

      '<link>.' and mass, length, radius, inertia, com_x, com_y, at_x, at_y (where it hangs on its parent), stiffness,
      rest, damping, angle, rate, acceleration, torque; for a free base '<base>.' and x, y, x_rate, y_rate,
      x_acceleration, y_acceleration, force_x, force_y ('base' is the mechanism's name in `side_by_side`); 'gravity',
      or 'gravity_x' and 'gravity_y'. Rates follow the name of their angle unless they are named themselves. Equal
      numbers may share one symbol, which shortens the equations of identical links.
    - `values` puts the mechanism's numbers in place of the symbols of its parameters.
    - `gravity` [m/s^2]: a number g acts downwards; a vector brings the symbols g_x and g_y. Zero leaves weight out.

    >>> import carom
    >>> print(carom.equations(carom.Arm([carom.Rod(length=1.0, mass=2.0)])))
    Equations of motion in absolute angles
      link1:  l_1^2*m_1*theta_1''/3 + g*l_1*m_1*cos(theta_1)/2 = tau_1
    Symbols
      theta_1, theta_1', theta_1''  angle of link1 from the x axis, its rate and acceleration  [rad, rad/s, rad/s^2]
      tau_1                         torque on link1 from its surroundings                      [N m]
      g                             gravity, downwards                                         [m/s^2]  9.81
      m_1                           mass of link1                                              [kg]     2
      l_1                           length of link1                                            [m]      1
    """
    sympy = _sympy()
    if not isinstance(mechanism, Mechanism):
        raise errors.CaromError(f"equations got a {type(mechanism).__name__}; it must be a carom.Mechanism")
    errors.name_in("kind of coordinates", coordinates, COORDINATES)
    top, relative = mechanism.topology, coordinates == "relative"

    # Name everything first, so that a misspelt key is refused before any work is done.
    names = _Names(sympy, symbols or {}, values)
    motion = _motion(sympy, names, top, relative)
    efforts = _efforts(sympy, names, top)
    pull = _gravity(names, gravity)
    links = _links(names, mechanism)
    springs, dampers = _joints(sympy, names, mechanism, motion)
    names.refuse_unknown()

    matrix, bias, weight = _inertial(sympy, top, links, motion, pull, relative)
    to_absolute, to_relative = _maps(sympy, top)
    if relative:
        matrix, weight = to_absolute.T * matrix * to_absolute, to_absolute.T * weight
    else:
        springs, dampers, efforts = (to_relative.T * column for column in (springs, dampers, efforts))
    return Equations(
        coordinates=coordinates,
        mass_matrix=sympy.ImmutableMatrix(matrix),
        bias=sympy.ImmutableMatrix(bias),
        gravity=sympy.ImmutableMatrix(weight),
        springs=sympy.ImmutableMatrix(springs),
        dampers=sympy.ImmutableMatrix(dampers),
        efforts=sympy.ImmutableMatrix(efforts),
        legend=tuple(names.legend),
        labels=top.labels,
        values=values,
    )


class Quantity(NamedTuple):
    """One line of the legend: a symbol, the key that renames it, what it means."""

    key: str
    symbol: Expr
    role: str  # 'coordinate', 'rate', 'acceleration', 'effort' or 'parameter'
    meaning: str
    unit: str
    number: float | None  # of a parameter


class Values(NamedTuple):
    """Numbers of one state: mass matrix, bias and weight in the coordinates of the equations."""

    mass_matrix: np.ndarray
    bias: np.ndarray
    gravity: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Equations:
    """Symbolic equations of motion: mass_matrix q'' + bias - gravity - springs - dampers = efforts.

    Every term is an immutable SymPy matrix (vectors are columns) over the coordinates (x, y of every free base ...,
    angle of every link ...). `gravity`, `springs` and `dampers` are generalized forces; `efforts` holds torques and
    base forces. `print` shows the torque equations with a legend; `latex` and notebooks show them typeset.
    """

    coordinates: str
    mass_matrix: Matrix
    bias: Matrix
    gravity: Matrix
    springs: Matrix
    dampers: Matrix
    efforts: Matrix
    legend: tuple[Quantity, ...]
    labels: tuple[str, ...]
    values: bool

    @cached_property
    def torques(self) -> tuple[Expr, ...]:
        """The equations of motion, one `sympy.Eq` per coordinate."""
        sympy = _sympy()
        sides = zip(self._pieces, self.efforts, strict=True)
        return tuple(sympy.Eq(sympy.Add(*left), right, evaluate=False) for left, right in sides)

    @property
    def symbols(self) -> dict[str, Expr]:
        """Every symbol under the key that renames it."""
        return {q.key: q.symbol for q in self.legend}

    @property
    def numbers(self) -> dict[Expr, float]:
        """The mechanism's number for every symbol of a parameter, ready for SymPy's `subs`."""
        return {q.symbol: q.number for q in self.legend if q.number is not None}

    def evaluate(self, q: Any, v: Any) -> Values:
        """Mass matrix, bias and weight at the state (q, v), both in the coordinates of these equations."""
        errors.vector("equations", "q", q, len(self.labels))
        errors.vector("equations", "v", v, len(self.labels))
        numbers = tuple(self.numbers.values())
        matrix, bias, weight = self._compiled(np.asarray(q, dtype=float), np.asarray(v, dtype=float), numbers)
        return Values(np.asarray(matrix, dtype=float), *(np.ravel(np.asarray(x, dtype=float)) for x in (bias, weight)))

    def text(self, part: str = "torques") -> str:
        """One part ('torques', 'mass_matrix', 'bias' or 'gravity') as plain text, one equation or entry per line.

        Of the symmetric mass matrix the upper triangle is listed, without its zeros.
        """
        errors.name_in("part of the equations", part, PARTS)
        show = self._show_text
        if part == "torques":
            width = max(map(len, self.labels)) + 1
            return "\n".join(
                f"{label + ':':{width}}  {line}" for label, line in zip(self.labels, self._rows(show), strict=True)
            )
        at = [show(q.symbol) for q in self._of("coordinate")]
        if part == "mass_matrix":
            places = [(i, j) for i in range(len(at)) for j in range(i, len(at)) if self.mass_matrix[i, j] != 0]
            return "\n".join(f"M[{at[i]}, {at[j]}] = {show(self.mass_matrix[i, j])}" for i, j in places)
        return "\n".join(f"{part}[{c}] = {show(term)}" for c, term in zip(at, getattr(self, part), strict=True))

    def latex(self, part: str = "torques") -> str:
        """One part ('torques', 'mass_matrix', 'bias' or 'gravity') as LaTeX for an equation environment."""
        errors.name_in("part of the equations", part, PARTS)
        if part == "torques":
            lines = (line.replace(" = ", " &= ") for line in self._rows(self._show_latex))
            return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"
        letter = {"mass_matrix": "M", "bias": "b", "gravity": "G"}[part]
        return f"{letter} = {self._show_latex(getattr(self, part))}"

    def __str__(self) -> str:
        lines = [f"Equations of motion in {self.coordinates} angles"]
        lines += [f"  {line}" for line in self.text().splitlines()]
        return "\n".join([*lines, "Symbols", *(f"  {line}" for line in self._legend_lines())])

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    # -- inside ----------------------------------------------------------------------------------------------------

    def _of(self, role: str) -> list[Quantity]:
        return [q for q in self.legend if q.role == role]

    @cached_property
    def _pieces(self) -> list[list[Expr]]:
        """Left sides term by term in the order of the formula, which SymPy's own sums do not keep."""
        turns = [q.symbol for q in self._of("acceleration")]
        return [
            [self.mass_matrix[i, j] * turn for j, turn in enumerate(turns)]
            + [self.bias[i], -self.gravity[i], -self.springs[i], -self.dampers[i]]
            for i in range(len(turns))
        ]

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        arguments = [[q.symbol for q in self._of(role)] for role in ("coordinate", "rate")]
        terms = [self.mass_matrix, self.bias, self.gravity]
        return _sympy().lambdify([*arguments, list(self.numbers)], terms, modules="numpy", cse=True)

    def _rows(self, show: Callable[[Expr], str]) -> list[str]:
        """Every equation as 'left = right', written by the given printer."""
        rows = []
        for left, right in zip(self._pieces, self.efforts, strict=True):
            shown = [show(piece) for piece in left if piece != 0]
            joined = shown[0] if shown else "0"
            for piece in shown[1:]:
                joined += f" - {piece[1:].lstrip()}" if piece.startswith("-") else f" + {piece}"
            rows.append(f"{joined} = {show(right)}")
        return rows

    @cached_property
    def _derivatives(self) -> dict[Expr, tuple[Expr, int]]:
        """For rates and accelerations that carry the name of their coordinate: that coordinate and how many dots."""
        found = {}
        for q, *derivatives in zip(*map(self._of, ("coordinate", "rate", "acceleration")), strict=True):
            for dots, derivative in enumerate(derivatives, start=1):
                if derivative.symbol.name == _dotted_name(q.symbol.name, dots):
                    found[derivative.symbol] = (q.symbol, dots)
        return found

    def _show_text(self, expression: Expr) -> str:
        """Text with primes for rates: theta_1' reads better than the thetadot_1 that the symbol is called."""
        sympy = _sympy()
        primed = {d: sympy.Symbol(q.name + dots * "'") for d, (q, dots) in self._derivatives.items()}
        return sympy.sstr(expression.xreplace(primed), full_prec=False).replace("**", "^")

    def _show_latex(self, expression: Expr) -> str:
        sympy = _sympy()
        names = {d: _dotted_latex(sympy.latex(q), dots) for d, (q, dots) in self._derivatives.items()}
        return sympy.latex(expression, symbol_names=names)

    def _legend_lines(self) -> list[str]:
        rows = []
        for moving in zip(*map(self._of, ("coordinate", "rate", "acceleration")), strict=True):
            shown = ", ".join(self._show_text(q.symbol) for q in moving)
            units = ", ".join(q.unit for q in moving)
            rows.append((shown, f"{moving[0].meaning}, its rate and acceleration", f"[{units}]", ""))
        rest = [*self._of("effort"), *(() if self.values else self._of("parameter"))]
        for q in rest:
            rows.append((str(q.symbol), q.meaning, f"[{q.unit}]", "" if q.number is None else f"{q.number:.10g}"))
        first, second = (max(len(row[i]) for row in rows) for i in (0, 1))
        third = max((len(row[2]) for row in rows if row[3]), default=0)
        return [f"{a:{first}}  {b:{second}}  {c:{third}}  {d}".rstrip() for a, b, c, d in rows]


# -- names ---------------------------------------------------------------------------------------------------------


def _sympy() -> Any:
    """SymPy, or a sentence that says how to get it."""
    try:
        import sympy
    except ImportError as error:
        raise errors.CaromError(
            "carom.equations needs SymPy, which is not installed; run: pip install 'carom[equations]'"
        ) from error
    return sympy


class _Names:
    """Hands out symbols, the user's where there is one, and writes the legend while doing so."""

    def __init__(self, sympy: Any, wanted: Mapping[str, Any], values: bool) -> None:
        self.sympy, self.wanted, self.values = sympy, wanted, values
        self.legend: list[Quantity] = []

    def parameter(self, key: str, default: str, meaning: str, unit: str, number: Any) -> Expr:
        """A symbol for a number of the mechanism; zero for what is exactly zero; with `values` the number itself."""
        number = float(number)
        if number == 0.0:
            return self.sympy.Integer(0)
        symbol = self._add(key, default, "parameter", meaning, unit, number)
        if not self.values:
            return symbol
        return self.sympy.Integer(int(number)) if number.is_integer() else self.sympy.Float(number)

    def variable(self, key: str, default: str, role: str, meaning: str, unit: str) -> Expr:
        """A symbol for something that changes with time."""
        return self._add(key, default, role, meaning, unit, None)

    def moving(self, keys: tuple[str, str, str], default: str, meaning: str, unit: str) -> tuple[Expr, Expr, Expr]:
        """Symbols of a coordinate, its rate and its acceleration; these two take over the coordinate's name."""
        symbol = self.variable(keys[0], default, "coordinate", meaning, unit)
        found = [symbol]
        for dots, role in enumerate(("rate", "acceleration"), start=1):
            per = f"{unit}/s" if dots == 1 else f"{unit}/s^2"
            words = f"{role} of the {meaning}"
            found.append(self.variable(keys[dots], _dotted_name(symbol.name, dots), role, words, per))
        return found[0], found[1], found[2]

    def refuse_unknown(self) -> None:
        """Refuse keys that named nothing, once everything has been named."""
        for key in self.wanted:
            errors.name_in("symbol", key, tuple(q.key for q in self.legend))

    def _add(self, key: str, default: str, role: str, meaning: str, unit: str, number: float | None) -> Expr:
        symbol = self._symbol(key, default)
        for other in self.legend:
            shared = number is not None and (other.unit, other.number) == (unit, number)
            if other.symbol.name == symbol.name and not (shared and other.symbol == symbol):
                raise errors.CaromError(
                    f"symbol '{symbol.name}' stands for the {other.meaning} and for the {meaning}; only equal numbers "
                    f"may share one; give another name with symbols={{'{key}': ...}}"
                )
        self.legend.append(Quantity(key, symbol, role, meaning, unit, number))
        return symbol

    def _symbol(self, key: str, default: str) -> Expr:
        wanted = self.wanted.get(key, default)
        if isinstance(wanted, self.sympy.Symbol):
            return wanted
        if isinstance(wanted, str) and wanted.strip():
            return self.sympy.Symbol(wanted)
        raise errors.CaromError(f"symbols['{key}'] is {wanted!r}; it must be a name such as 'm' or a sympy.Symbol")


def _dotted_name(name: str, dots: int) -> str:
    """thetadot_1, thetaddot_1 from theta_1: names that SymPy itself typesets with dots."""
    head, bar, tail = name.partition("_")
    return f"{head}{(dots - 1) * 'd'}dot{bar}{tail}"


def _dotted_latex(plain: str, dots: int) -> str:
    """Dots over the letter, not over its index."""
    head, bar, tail = plain.partition("_")
    if head.count("{") != head.count("}"):
        head, bar, tail = plain, "", ""
    return f"\\{(dots - 1) * 'd'}dot{{{head}}}{bar}{tail}"


# -- what the mechanism consists of --------------------------------------------------------------------------------


class _Motion(NamedTuple):
    """Absolute angles and rates of the links, and those of their joints, in the symbols of the coordinates."""

    angle: list[Expr]
    rate: list[Expr]
    joint_angle: list[Expr]
    joint_rate: list[Expr]


class _Link(NamedTuple):
    """A rigid link in symbols: mass, centre, central inertia, and where it hangs on its parent."""

    mass: Expr
    cx: Expr
    cy: Expr
    inertia: Expr
    hx: Expr
    hy: Expr


def _motion(sympy: Any, names: _Names, top: Topology, relative: bool) -> _Motion:
    """Name all coordinates, bases first, and express angles of links and joints by them."""
    for name, number in _free_trees(top):
        for axis in ("x", "y"):
            keys = (f"{name}.{axis}", f"{name}.{axis}_rate", f"{name}.{axis}_acceleration")
            names.moving(keys, f"{axis}_{number}" if number else axis, f"{axis} of the free base '{name}'", "m")
    letter, origin = ("q", "from its parent") if relative else ("theta", "from the x axis")
    own = []
    for k, name in enumerate(top.names):
        keys = (f"{name}.angle", f"{name}.rate", f"{name}.acceleration")
        where = origin if top.parents[k] >= 0 else "from the x axis"
        own.append(names.moving(keys, f"{letter}_{k + 1}", f"angle of {name} {where}", "rad"))
    angle, rate = [a for a, _, _ in own], [r for _, r, _ in own]
    if relative:
        path = [[*(i for i, _ in top.paths[k]), k] for k in range(top.links)]
        summed = [[sympy.Add(*(column[i] for i in path[k])) for k in range(top.links)] for column in (angle, rate)]
        return _Motion(summed[0], summed[1], angle, rate)
    above = [[column[p] if p >= 0 else 0 for p in top.parents] for column in (angle, rate)]
    joint = [[c - a for c, a in zip(*pair, strict=True)] for pair in zip((angle, rate), above, strict=True)]
    return _Motion(angle, rate, joint[0], joint[1])


def _free_trees(top: Topology) -> list[tuple[str, str]]:
    """Name of every free tree, and its number, which symbols need only where there are several."""
    alone = sum(top.free) == 1
    names = enumerate(zip(top.tree_names, top.free, strict=True), start=1)
    return [(name, "" if alone else str(number)) for number, (name, free) in names if free]


def _efforts(sympy: Any, names: _Names, top: Topology) -> Matrix:
    """Forces on the free bases and torques of the joints."""
    found = []
    for name, number in _free_trees(top):
        for axis in ("x", "y"):
            meaning = f"{axis} force on the free base '{name}'"
            found.append(names.variable(f"{name}.force_{axis}", f"F_{axis}{number}", "effort", meaning, "N"))
    for k, (name, parent) in enumerate(zip(top.names, top.parents, strict=True)):
        meaning = f"torque on {name} from {top.names[parent] if parent >= 0 else 'its surroundings'}"
        found.append(names.variable(f"{name}.torque", f"tau_{k + 1}", "effort", meaning, "N m"))
    return sympy.Matrix(found)


def _gravity(names: _Names, gravity: Any) -> tuple[Expr, Expr]:
    """The two components of gravity, in symbols."""
    if np.shape(gravity) == ():
        errors.number("equations", "gravity", gravity)
        _concrete("gravity", gravity)
        return 0, -names.parameter("gravity", "g", "gravity, downwards", "m/s^2", gravity)
    errors.vector("equations", "gravity", gravity, 2)
    _concrete("gravity", gravity)
    x, y = (
        names.parameter(f"gravity_{axis}", f"g_{axis}", f"{axis} component of gravity", "m/s^2", number)
        for axis, number in zip("xy", gravity, strict=True)
    )
    return x, y


def _concrete(what: str, value: Any) -> np.ndarray:
    """The numbers, which a legend needs: refuse those that JAX traces."""
    found = errors.known(value)
    if found is None:
        raise errors.CaromError(
            f"{what} of equations is traced by JAX; call carom.equations outside jit, vmap and grad"
        )
    return found


def _links(names: _Names, mechanism: Mechanism) -> list[_Link]:
    """Masses, centres, inertias and hanging points in as few symbols as describe them: shapes by their closed form."""
    n, top = mechanism.numbers, mechanism.topology
    mass, com, inertia, hang, tip = (
        _concrete("mechanism", column) for column in (n.mass, n.com, n.inertia, n.hang, n.tip)
    )
    if top.elastic:
        bends = next(name for name, modes in zip(top.names, top.modes, strict=True) if modes)
        raise errors.CaromError(
            f"link '{bends}' of equations is elastic; they are printed for rigid links; print the rigid twin"
        )
    if mass.ndim != 1:
        raise errors.CaromError(
            f"mechanism of equations is a batch of shape {mass.shape[:-1]}; take one of it before calling equations"
        )
    length: dict[int, Expr] = {}
    found: list[_Link] = []
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
        found.append(_Link(m, *centre, central, 0, 0))
    for k, name in enumerate(top.names):
        parent = top.parents[k]
        if parent >= 0 and parent in length and _at_tip(hang[k], tip[parent]):
            found[k] = found[k]._replace(hx=length[parent])
        elif parent >= 0:
            meaning = f"joint of {name} on {top.names[parent]}"
            x, y = _point(names, f"{name}.at", (f"a_{k + 1}", f"b_{k + 1}"), meaning, hang[k])
            found[k] = found[k]._replace(hx=x, hy=y)
    return found


def _point(
    names: _Names, key: str, defaults: tuple[str, str], meaning: str, point: np.ndarray, on_axis: str | None = None
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


def _joints(sympy: Any, names: _Names, mechanism: Mechanism, motion: _Motion) -> tuple[Matrix, Matrix]:
    """Torques of springs and dampers, per joint; none act on the bases."""
    n, top = mechanism.numbers, mechanism.topology
    stiffness, rest, damping = (_concrete("mechanism", column) for column in (n.stiffness, n.rest, n.damping))
    springs, dampers = [0] * top.base_dof, [0] * top.base_dof
    for k, name in enumerate(top.names):
        at, joint = k + 1, f"{name}'s joint"
        stiff = names.parameter(f"{name}.stiffness", f"k_{at}", f"stiffness of {joint}", "N m/rad", stiffness[k])
        free = rest[k] if stiffness[k] != 0 else 0.0
        relaxed = names.parameter(f"{name}.rest", f"beta_{at}", f"rest angle of {joint}", "rad", free)
        damper = names.parameter(f"{name}.damping", f"d_{at}", f"damping of {joint}", "N m s/rad", damping[k])
        springs.append(-stiff * (motion.joint_angle[k] - relaxed))
        dampers.append(-damper * motion.joint_rate[k])
    return sympy.Matrix(springs), sympy.Matrix(dampers)


# -- the closed form -----------------------------------------------------------------------------------------------


def _maps(sympy: Any, top: Topology) -> tuple[Matrix, Matrix]:
    """The constant matrices from relative to absolute coordinates and back."""
    to_absolute, to_relative = sympy.eye(top.dof), sympy.eye(top.dof)
    for k, parent in enumerate(top.parents):
        for i, _ in top.paths[k]:
            to_absolute[top.angle_index(k), top.angle_index(i)] = 1
        if parent >= 0:
            to_relative[top.angle_index(k), top.angle_index(parent)] = -1
    return to_absolute, to_relative


def _moments(sympy: Any, top: Topology, links: Sequence[_Link]) -> list[tuple[Expr, Expr, Expr, Expr]]:
    """Per link: mass of its subtree, first moment (x, y) and second moment of all it carries, common factors out."""
    found: dict[int, tuple[Expr, Expr, Expr, Expr]] = {}
    for k in reversed(top.order):
        own, carried = links[k], [(found[c][0], links[c]) for c in top.children[k]]
        sums = (
            own.mass + sum(m for m, _ in carried),
            own.mass * own.cx + sum(m * c.hx for m, c in carried),
            own.mass * own.cy + sum(m * c.hy for m, c in carried),
            own.inertia + own.mass * (own.cx**2 + own.cy**2) + sum(m * (c.hx**2 + c.hy**2) for m, c in carried),
        )
        found[k] = (sums[0], *(sympy.factor_terms(s) for s in sums[1:]))
    return [found[k] for k in range(top.links)]


def _inertial(
    sympy: Any, top: Topology, links: Sequence[_Link], motion: _Motion, pull: tuple[Expr, Expr], relative: bool
) -> tuple[Matrix, Matrix, Matrix]:
    """Mass matrix and weight on absolute coordinates, bias on the chosen ones; notation of dynamics.explicit."""
    matrix, weight = sympy.zeros(top.dof), sympy.zeros(top.dof, 1)
    bias: list[list[Expr]] = [[] for _ in range(top.dof)]
    moments = _moments(sympy, top, links)
    for k, (mass, px, py, inertia) in enumerate(moments):
        row, cos, sin, rate = top.angle_index(k), sympy.cos(motion.angle[k]), sympy.sin(motion.angle[k]), motion.rate[k]
        x, y = px * cos - py * sin, px * sin + py * cos  # the first moment in world axes
        matrix[row, row] = inertia
        weight[row] = x * pull[1] - y * pull[0]
        for i, s in top.paths[k]:
            hx, hy, turn = links[s].hx, links[s].hy, motion.angle[k] - motion.angle[i]
            alpha, beta = hx * px + hy * py, hy * px - hx * py
            column = top.angle_index(i)
            matrix[row, column] = matrix[column, row] = alpha * sympy.cos(turn) + beta * sympy.sin(turn)
            skew = alpha * sympy.sin(turn) - beta * sympy.cos(turn)
            for line, factor in _centrifugal(top, i, k, motion.rate, relative):
                bias[top.angle_index(line)].append(skew * factor)
        base = top.base_index(top.trees[k])
        if base is not None:
            for axis, lever, arm in ((base, -y, x), (base + 1, x, y)):
                matrix[row, axis] = matrix[axis, row] = lever
                bias[axis].append(-arm * rate**2)
                if top.parents[k] < 0:
                    matrix[axis, axis] += mass
                    weight[axis] += mass * pull[axis - base]
    return matrix, sympy.Matrix([sympy.Add(*line) for line in bias]), weight


def _centrifugal(top: Topology, i: int, k: int, rate: Sequence[Expr], relative: bool) -> list[tuple[int, Expr]]:
    """What multiplies the skew coefficient of a pair (i above k), and in the equations of which links."""
    if not relative:
        return [(i, -(rate[k] ** 2)), (k, rate[i] ** 2)]
    above = {*(a for a, _ in top.paths[i]), i}
    between = [a for a in (*(a for a, _ in top.paths[k]), k) if a not in above]
    both = -(rate[k] - rate[i]) * (rate[k] + rate[i])
    return [*((a, both) for a in sorted(above)), *((a, rate[i] ** 2) for a in between)]
