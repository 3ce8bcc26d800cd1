"""Names: a symbol for everything in the equations, the user's where there is one, and the legend that explains it."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

from .. import errors
from ..quantities import Real

Expr = Any  # a sympy.Expr; SymPy is optional, so its types cannot be named here
Matrix = Any  # a sympy.ImmutableDenseMatrix; vectors are columns


def load_sympy() -> Any:
    """SymPy, or a sentence that says how to get it."""
    try:
        import sympy
    except ImportError as error:
        raise errors.CaromError(
            "carom.equations needs SymPy, which is not installed; run: pip install 'carom[equations]'"
        ) from error
    return sympy


class Quantity(NamedTuple):
    """One line of the legend: a symbol, the key that renames it, what it means."""

    key: str
    symbol: Expr
    role: str  # 'coordinate', 'rate', 'acceleration', 'effort' or 'parameter'
    meaning: str
    unit: str
    number: float | None  # of a parameter


class Names:
    """Hands out symbols, the user's where there is one, and writes the legend while doing so."""

    def __init__(self, sympy: ModuleType, wanted: Mapping[str, Any], values: bool) -> None:
        self.sympy, self.wanted, self.values = sympy, wanted, values
        self.legend: list[Quantity] = []

    def parameter(self, key: str, default: str, meaning: str, unit: str, number: Real) -> Expr:
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
            found.append(self.variable(keys[dots], dotted_name(symbol.name, dots), role, words, per))
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


def dotted_name(name: str, dots: int) -> str:
    """thetadot_1, thetaddot_1 from theta_1: names that SymPy itself typesets with dots."""
    head, bar, tail = name.partition("_")
    return f"{head}{(dots - 1) * 'd'}dot{bar}{tail}"
