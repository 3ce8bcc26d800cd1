"""Equations as the user has them: terms, numbers at a state, and the same as text and LaTeX with a legend."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..quantities import Given
from .names import Expr, Matrix, Quantity, dotted_name, load_sympy

PARTS = ("torques", "mass_matrix", "bias", "gravity")


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
        sympy = load_sympy()
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

    def evaluate(self, q: Given, v: Given) -> Values:
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
        return load_sympy().lambdify([*arguments, list(self.numbers)], terms, modules="numpy", cse=True)

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
                if derivative.symbol.name == dotted_name(q.symbol.name, dots):
                    found[derivative.symbol] = (q.symbol, dots)
        return found

    def _show_text(self, expression: Expr) -> str:
        """Text with primes for rates: theta_1' reads better than the thetadot_1 that the symbol is called."""
        sympy = load_sympy()
        primed = {d: sympy.Symbol(q.name + dots * "'") for d, (q, dots) in self._derivatives.items()}
        return sympy.sstr(expression.xreplace(primed), full_prec=False).replace("**", "^")

    def _show_latex(self, expression: Expr) -> str:
        sympy = load_sympy()
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


def _dotted_latex(plain: str, dots: int) -> str:
    """Dots over the letter, not over its index."""
    head, bar, tail = plain.partition("_")
    if head.count("{") != head.count("}"):
        head, bar, tail = plain, "", ""
    return f"\\{(dots - 1) * 'd'}dot{{{head}}}{bar}{tail}"
