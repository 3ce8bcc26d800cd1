"""What is to become small, and what must hold: measures of a run, weighed, combined, and compared with numbers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...errors import CaromError

SENSES = ("<=", ">=", "==", "=", "<", ">")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
EXAMPLE = "'final(tip.y) >= 0.3', or '0 <= impact.1.normal_impulse <= 2'"


@dataclasses.dataclass(frozen=True)
class Limit:
    """A measure that must be at least, at most, or exactly a number: sign (measure - bound) >= 0, or = 0."""

    text: str  # as it was given
    measure: str
    sense: str  # ">=", "<=" or "="
    bound: float
    unit: str = ""

    @property
    def sign(self) -> float:
        """With which measure less bound must not be negative."""
        return -1.0 if self.sense == "<=" else 1.0

    @property
    def shown(self) -> str:
        """In words of its own: one text may hold two of them."""
        return f"{self.measure} {self.sense} {self.bound:g}"


class _Asking(dict[str, Any]):
    """Notes the measures that a cost function asks for."""

    def __missing__(self, name: str) -> float:
        if not isinstance(name, str):
            raise CaromError(f"minimise asks for {name!r}; measures have names, such as m['impact.1.normal_impulse']")
        self[name] = 1.0
        return 1.0


@dataclasses.dataclass(frozen=True, eq=False)
class Goal:
    """A number from measures, with its slopes."""

    names: tuple[str, ...]
    of: Callable[[Mapping[str, Any]], Any]
    shown: str

    def value(self, measures: Mapping[str, float], slopes: Mapping[str, np.ndarray]) -> tuple[float, np.ndarray]:
        """The cost, and how it changes with the parameters."""
        at = {name: jnp.asarray(measures[name]) for name in self.names}
        value, by = jax.value_and_grad(lambda m: jnp.asarray(self.of(m), dtype=float))(at)
        return float(value), np.sum([float(by[name]) * slopes[name] for name in self.names], axis=0)


def goal_of(minimise: Any) -> Goal:
    """One measure, a weighted sum of several, or a function of them."""
    if isinstance(minimise, str):
        return Goal((_named(minimise, "minimise"),), lambda m: m[minimise.strip()], minimise.strip())
    if isinstance(minimise, Mapping):
        if not minimise:
            raise CaromError("minimise is an empty dictionary; name a measure and its weight, {'final(tip.y)': 1.0}")
        weights = {_named(name, "minimise"): _weight(name, w) for name, w in minimise.items()}
        shown = " + ".join(f"{w:g} {name}" for name, w in weights.items())
        return Goal(tuple(weights), lambda m: sum(w * m[name] for name, w in weights.items()), shown)
    if callable(minimise):
        return _goal_from(minimise)
    raise CaromError(
        f"minimise is a {type(minimise).__name__}; give a measure such as 'impact.1.normal_impulse', weights of "
        "several, or a function of them"
    )


def _goal_from(function: Callable[[Mapping[str, Any]], Any]) -> Goal:
    asked = _Asking()
    try:
        found = function(asked)
        shape = np.shape(found)
    except CaromError:
        raise
    except Exception as trouble:  # whatever a user's function does
        raise CaromError(
            f"minimise cannot be evaluated: {trouble}; it is called with measures by their names"
        ) from None
    if shape != ():
        raise CaromError(f"minimise returns a value of shape {shape}; it must return one number")
    if not asked:
        raise CaromError("minimise asks for no measure; it is called with a dictionary, m['final(tip.y)']")
    _refuse_untraceable(function, tuple(asked))
    return Goal(tuple(asked), function, getattr(function, "__name__", "cost").replace("<lambda>", "cost"))


def _refuse_untraceable(function: Callable[[Mapping[str, Any]], Any], names: tuple[str, ...]) -> None:
    """Slopes of a cost are found by JAX, which float(), math and `if` would stop."""
    given = {name: jax.ShapeDtypeStruct((), np.float64) for name in names}
    try:
        jax.eval_shape(lambda m: jnp.asarray(function(m), dtype=float), given)
    except Exception as trouble:  # whatever a user's function does with numbers that are traced
        said = str(trouble).splitlines()[0] if str(trouble) else type(trouble).__name__
        raise CaromError(
            f"minimise cannot be differentiated: {said}; make it of jax.numpy, without float(), math or `if`"
        ) from None


def _weight(name: str, given: Any) -> float:
    try:
        found = float(given)
    except (TypeError, ValueError):
        found = float("nan")
    if not np.isfinite(found):
        raise CaromError(f"the weight of '{name}' in minimise is {given!r}; it must be a finite number")
    return found


def _named(name: Any, where: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise CaromError(f"{where} names {name!r}; a measure has a name, such as 'impact.1.normal_impulse'")
    return name.strip()


def limits_of(subject_to: Any) -> tuple[Limit, ...]:
    """Every comparison by itself."""
    rows = [subject_to] if isinstance(subject_to, str) else subject_to
    if not isinstance(rows, Sequence):
        raise CaromError(f"subject_to is a {type(subject_to).__name__}; give texts such as {EXAMPLE}")
    return tuple(limit for text in rows for limit in _read(text))


def _read(text: Any) -> list[Limit]:
    if not isinstance(text, str):
        raise CaromError(f"subject_to holds {text!r}; give texts such as {EXAMPLE}")
    parts = _split(text)
    sides, senses = parts[0::2], [s.replace("==", "=") for s in parts[1::2]]
    if len(senses) not in (1, 2) or any(s in ("<", ">") for s in senses):
        words = "compares with <=, >= or =" if len(senses) in (1, 2) else "must compare a measure with a number"
        raise CaromError(f"subject_to '{text}' {words}; write {EXAMPLE}")
    numbers = [_number(s) for s in sides]
    if len(senses) == 2:
        if numbers[0] is None or numbers[1] is not None or numbers[2] is None or senses[0] != senses[1]:
            raise CaromError(f"subject_to '{text}' is no measure between two numbers; write {EXAMPLE}")
        if numbers[0] != numbers[2] and (numbers[0][0] > numbers[2][0]) == (senses[0] == "<="):
            raise CaromError(f"subject_to '{text}' holds for no number; the smaller one belongs to <=")
        return [_limit(text, sides[1], _turned(senses[0]), numbers[0]), _limit(text, sides[1], senses[1], numbers[2])]
    left, right = numbers
    if (left is None) == (right is None):
        raise CaromError(f"subject_to '{text}' must compare a measure with a number; write {EXAMPLE}")
    if right is not None:
        return [_limit(text, sides[0], senses[0], right)]
    assert left is not None
    return [_limit(text, sides[1], _turned(senses[0]), left)]


def _limit(text: str, measure: str, sense: str, bound: tuple[float, str]) -> Limit:
    return Limit(text.strip(), _named(measure, f"subject_to '{text}'"), sense, *bound)


def _turned(sense: str) -> str:
    return {"<=": ">=", ">=": "<="}.get(sense, sense)


def _split(text: str) -> list[str]:
    """Sides and signs of comparison outside of brackets: inside they belong to signals."""
    out, depth, k, begin = list[str](), 0, 0, 0
    while k < len(text):
        depth += (text[k] in "([") - (text[k] in ")]")
        sign = next((s for s in SENSES if depth == 0 and text[k : k + len(s)] == s), None)
        if sign is None:
            k += 1
            continue
        out += [text[begin:k].strip(), sign]
        k = begin = k + len(sign)
    return [*out, text[begin:].strip()]


def _number(text: str) -> tuple[float, str] | None:
    """A number, and the unit behind it."""
    found = NUMBER.match(text)
    if not found or not np.isfinite(float(found.group())):
        return None
    return float(found.group()), text[found.end() :].strip()
