"""A signal: what a text asks of a world, as a number with a unit, or as a condition that becomes true."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import jax.numpy as jnp

from .. import errors
from ..hybrid.automaton import AbstractAutomaton
from ..hybrid.scene import Scene
from ..mechanism import Mechanism
from ..quantities import Real
from ._grammar import Node, parsed, refusal
from ._unit import ONE, Unit, unit_of
from .known import Known, known_names


class Called(NamedTuple):
    """A function of the language: how many arguments, what their units do, and what is computed."""

    least: int
    most: int
    units: str  # same: all fit, and so does what comes out; pure: of pure numbers; angle: gives one; sign; root; where
    compute: Callable[..., Any]


def _clip(x: Real, low: Real, high: Real) -> Any:
    return jnp.minimum(jnp.maximum(x, low), high)


FUNCTIONS: dict[str, Called] = {
    "abs": Called(1, 1, "same", jnp.abs),
    "min": Called(2, 8, "same", lambda *x: functools.reduce(jnp.minimum, x)),
    "max": Called(2, 8, "same", lambda *x: functools.reduce(jnp.maximum, x)),
    "clip": Called(3, 3, "same", _clip),
    "hypot": Called(2, 2, "same", lambda a, b: jnp.sqrt(a * a + b * b)),
    "atan2": Called(2, 2, "angle", jnp.arctan2),
    "sqrt": Called(1, 1, "root", jnp.sqrt),
    "sin": Called(1, 1, "pure", jnp.sin),
    "cos": Called(1, 1, "pure", jnp.cos),
    "tan": Called(1, 1, "pure", jnp.tan),
    "asin": Called(1, 1, "pure", jnp.arcsin),
    "acos": Called(1, 1, "pure", jnp.arccos),
    "atan": Called(1, 1, "pure", jnp.arctan),
    "exp": Called(1, 1, "pure", jnp.exp),
    "log": Called(1, 1, "pure", jnp.log),
    "tanh": Called(1, 1, "pure", jnp.tanh),
    "sign": Called(1, 1, "sign", jnp.sign),
    "where": Called(3, 3, "where", lambda c, a, b: jnp.where(c > 0.5, a, b)),
}
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
COMPARED: dict[str, Callable[..., Any]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
CONSTANTS = {"pi": 3.141592653589793}
CONDITIONS = ("compare", "and", "or", "not")
ANGLES = ("asin", "acos", "atan")


@dataclasses.dataclass(frozen=True)
class Signal:
    """A number or a condition of a world, as a text such as `tip.y`, `com.y - 0.5 * hip.y`, `abs(torso.rate) < 0.1`.

    The text is read, never executed. `check` says what is wrong with it in a world; `value` and `guard` are traced.

        Signal("com.vx / 2 [m/s]")       # refused: '[' is not part of the language
        Signal("tip.y < 3 mm")           # a condition
    """

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise errors.CaromError(f"a signal is given as {self.text!r}; it must be a text, such as 'tip.y'")
        parsed(self.text)

    @property
    def is_condition(self) -> bool:
        """Is it a comparison, or several? (A name that is 1 or 0 may be one as well.)"""
        return parsed(self.text).kind in CONDITIONS

    def check(self, mechanism: Mechanism, automata: Sequence[AbstractAutomaton], condition: bool = False) -> Unit:
        """Refuse names that the world does not have, and units that do not fit; returns its unit."""
        look = _Look(self.text, known_names(mechanism, automata))
        tree = parsed(self.text)
        if condition:
            look.refuse_number(tree)
            if not named(tree):
                raise refusal(self.text, "it never changes: it names nothing of the world")
        return look.unit(tree)

    def fits(self, mechanism: Mechanism, automata: Sequence[AbstractAutomaton], unit: str, what: str) -> None:
        """Refuse it where its unit is another than that of what it is for."""
        found, wanted = self.check(mechanism, automata), unit_of(unit)[1]
        if not found.fits(wanted):
            raise refusal(self.text, f"its unit is {found}, and that of {what} is {unit or '1'}; they do not fit")

    def value(self, scene: Scene) -> Any:
        """Its number at an instant, in SI units; of a condition 1 or 0."""
        return self._look(scene).value(parsed(self.text), scene)

    def guard(self, scene: Scene) -> tuple[Any, Any]:
        """Of a condition: a number that is positive where it holds, and the size of its terms."""
        return self._look(scene).guard(parsed(self.text), scene)

    def _look(self, scene: Scene) -> _Look:
        """Names are known once for each scene."""
        key = "known names"
        if key not in scene.kept:
            scene.kept[key] = known_names(scene.mechanism, scene.automata)
        return _Look(self.text, scene.kept[key])


def named(node: Node) -> bool:
    """Does it name anything of a world?"""
    return (node.kind == "name" and node.word not in CONSTANTS) or any(named(each) for each in node.inside)


class _Look:
    """A walk through the tree of a signal, with what its names mean."""

    def __init__(self, text: str, names: Mapping[str, Known]) -> None:
        self.text, self.names = text, names

    def known(self, name: str) -> Known | None:
        """None of a constant."""
        if name in self.names:
            return self.names[name]
        if name in CONSTANTS:
            return None
        raise refusal(self.text, f"there is no '{name}' here; {self._nearest(name)}")

    def _nearest(self, name: str) -> str:
        near = get_close_matches(name, [*self.names, *CONSTANTS], n=1, cutoff=0.5)
        if near:
            return f"did you mean '{near[0]}'?"
        same = [known for known in self.names if known.split(".")[0] == name.split(".")[0]]
        some = ", ".join((same or ["t", "com.y", "energy.kinetic", *self.names])[:6])
        return f"there are {some} and others"

    # -- units ---------------------------------------------------------------------------------------------------------

    def unit(self, node: Node) -> Unit:
        if node.kind == "number":
            return node.unit
        if node.kind == "name":
            known = self.known(node.word)
            return ONE if known is None else unit_of(known.unit)[1]
        if node.kind == "call":
            return self._unit_of_call(node)
        if node.kind in ("and", "or", "not"):
            for each in node.inside:
                self.refuse_number(each)
                self.unit(each)
            return ONE
        for each in node.inside:
            self._refuse_condition(each)
        units = [self.unit(each) for each in node.inside]
        if node.kind == "negative":
            return units[0]
        a, b = units
        if node.kind == "^":
            return self._unit_of_power(a, b, node.inside[1])
        if node.kind in "*/":
            return a.times(b, 1.0 if node.kind == "*" else -1.0)
        if not a.fits(b):
            what = "be compared" if node.kind == "compare" else "be added" if node.kind == "+" else "be subtracted"
            raise refusal(self.text, f"{a} and {b} cannot {what}; units do not fit")
        return ONE if node.kind == "compare" else a.joined(b)

    def _unit_of_power(self, base: Unit, power: Unit, node: Node) -> Unit:
        if not power.fits(ONE):
            raise refusal(self.text, f"an exponent is a pure number, and its unit is {power}")
        exponent = node.inside[0] if node.kind == "negative" else node
        if exponent.kind == "number":
            return base.to_the(-exponent.value if node.kind == "negative" else exponent.value)
        if base.size:
            raise refusal(self.text, f"the exponent of what has a unit, {base}, must be a number, such as ^2")
        return base

    def _unit_of_call(self, node: Node) -> Unit:
        if node.word not in FUNCTIONS:
            near = get_close_matches(node.word, FUNCTIONS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(FUNCTIONS)}"
            raise refusal(self.text, f"there is no function '{node.word}'; {hint}")
        made, count = FUNCTIONS[node.word], len(node.inside)
        if not made.least <= count <= made.most:
            takes = str(made.least) if made.least == made.most else f"{made.least} to {made.most}"
            raise refusal(self.text, f"{node.word} takes {takes} argument{'s' * (takes != '1')}, not {count}")
        numbers = node.inside
        if made.units == "where":
            self.refuse_number(numbers[0])
            self.unit(numbers[0])
            numbers = numbers[1:]
        for each in numbers:
            self._refuse_condition(each)
        units = [self.unit(each) for each in numbers]
        if made.units == "pure":
            if not units[0].fits(ONE):
                raise refusal(self.text, f"{node.word} is of a pure number or an angle, and the unit is {units[0]}")
            return unit_of("rad")[1] if node.word in ANGLES else ONE
        if made.units == "root":
            return units[0].to_the(0.5)
        for other in units[1:]:
            if not units[0].fits(other):
                raise refusal(self.text, f"{node.word} is of things of one unit, not of {units[0]} and {other}")
        if made.units in ("same", "where"):
            return functools.reduce(Unit.joined, units)
        return unit_of("rad")[1] if made.units == "angle" else ONE

    def refuse_number(self, node: Node) -> None:
        """A condition is asked for."""
        flag = node.kind == "name" and (known := self.known(node.word)) is not None and known.flag
        if node.kind not in CONDITIONS and not flag:
            raise refusal(self.text, "a condition is asked for, and this is a number; compare it, as in tip.y < 0.1")

    def _refuse_condition(self, node: Node) -> None:
        if node.kind in CONDITIONS:
            raise refusal(
                self.text, "a number is asked for, and there is a condition; where(condition, a, b) gives one"
            )

    # -- numbers -------------------------------------------------------------------------------------------------------

    def value(self, node: Node, scene: Scene) -> Any:
        if node.kind == "number":
            return jnp.asarray(node.value)
        if node.kind == "name":
            known = self.known(node.word)
            return jnp.asarray(CONSTANTS[node.word] if known is None else known.value(scene), dtype=float)
        if node.kind in CONDITIONS:
            return jnp.where(self.holds(node, scene), 1.0, 0.0)
        parts = [self.value(each, scene) for each in node.inside]
        if node.kind == "call":
            return FUNCTIONS[node.word].compute(*parts)
        if node.kind == "negative":
            return -parts[0]
        a, b = parts
        if node.kind == "^":
            whole = node.inside[1].kind == "number" and node.inside[1].value in (2.0, 3.0, 4.0)
            return a ** int(node.inside[1].value) if whole else a**b
        return ARITHMETIC[node.kind](a, b)

    def holds(self, node: Node, scene: Scene) -> Any:
        """Is a condition true now? At equality only where it says <= or >=."""
        if node.kind == "compare":
            a, b = (self.value(each, scene) for each in node.inside)
            return COMPARED[node.word](a, b)
        if node.kind == "not":
            return ~self.holds(node.inside[0], scene)
        if node.kind in ("and", "or"):
            how = jnp.logical_and if node.kind == "and" else jnp.logical_or
            return functools.reduce(how, [self.holds(each, scene) for each in node.inside])
        return self.value(node, scene) > 0.5

    def guard(self, node: Node, scene: Scene) -> tuple[Any, Any]:
        """A number that rises through zero where a condition becomes true, and the size of its terms."""
        if node.kind == "compare":
            a, b = node.inside if node.word in (">", ">=") else node.inside[::-1]
            size = self.size(a, scene) + self.size(b, scene)
            return self.value(a, scene) - self.value(b, scene), size
        if node.kind == "not":
            value, size = self.guard(node.inside[0], scene)
            return -value, size
        if node.kind in ("and", "or"):
            # Each in parts of its own size: metres and newtons cannot be told apart by what is smaller.
            each = [self.guard(part, scene) for part in node.inside]
            shares = [value / jnp.where(size > 0.0, size, 1.0) for value, size in each]
            least = functools.reduce(jnp.minimum if node.kind == "and" else jnp.maximum, shares)
            return least, jnp.asarray(1.0)
        return self.value(node, scene) - 0.5, jnp.asarray(1.0)

    def size(self, node: Node, scene: Scene) -> Any:
        """Of the terms of a number: what its rounding is measured by."""
        if node.kind == "name":
            known = self.known(node.word)
            if known is not None and known.size is not None:
                return known.size(scene)
        if node.kind in ("+", "-"):
            return self.size(node.inside[0], scene) + self.size(node.inside[1], scene)
        if node.kind == "*":
            return self.size(node.inside[0], scene) * self.size(node.inside[1], scene)
        if node.kind == "negative" or (node.kind == "call" and node.word == "abs"):
            return self.size(node.inside[0], scene)
        return jnp.abs(self.value(node, scene))
