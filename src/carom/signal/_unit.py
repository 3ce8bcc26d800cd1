"""Units of signals: what may be added and compared, and how a product is written.

A unit is a product of powers of symbols. Angles are pure numbers that remember their name: an angle and a length never
fit, an angle and a number do. A bare number that a signal is multiplied by may have any unit (a gain in SI units): such
a product fits everything, and is shown with the unit that it would have if the number were pure.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ..errors import CaromError

# Each as a factor to SI, and powers of kg, m, s and rad.
_SI = {
    "m": (1.0, {"m": 1}),
    "km": (1e3, {"m": 1}),
    "cm": (1e-2, {"m": 1}),
    "mm": (1e-3, {"m": 1}),
    "um": (1e-6, {"m": 1}),
    "s": (1.0, {"s": 1}),
    "ms": (1e-3, {"s": 1}),
    "us": (1e-6, {"s": 1}),
    "rad": (1.0, {"rad": 1}),
    "deg": (math.pi / 180.0, {"rad": 1}),
    "kg": (1.0, {"kg": 1}),
    "g": (1e-3, {"kg": 1}),
    "N": (1.0, {"kg": 1, "m": 1, "s": -2}),
    "mN": (1e-3, {"kg": 1, "m": 1, "s": -2}),
    "kN": (1e3, {"kg": 1, "m": 1, "s": -2}),
    "J": (1.0, {"kg": 1, "m": 2, "s": -2}),
    "kJ": (1e3, {"kg": 1, "m": 2, "s": -2}),
    "W": (1.0, {"kg": 1, "m": 2, "s": -3}),
    "kW": (1e3, {"kg": 1, "m": 2, "s": -3}),
    "Hz": (1.0, {"s": -1}),
    "Pa": (1.0, {"kg": 1, "m": -1, "s": -2}),
}
SYMBOLS = frozenset(_SI)
# How people write what is neither a length nor a time.
_WRITTEN = ("N", "J", "W", "N s", "N/m", "N s/m", "N m s", "kg m^2", "Pa")
_STEP = re.compile(r"\s*([*/ ]?)\s*([^\s*/^]+)(?:\^(-?\d+))?")


class Unit(NamedTuple):
    """Powers of symbols, in order; the text that it was given as; `loose`: a bare number is a factor of it."""

    powers: tuple[tuple[str, float], ...] = ()
    text: str = ""
    loose: bool = False

    def __str__(self) -> str:
        return self.text or _spelled(self.powers) or "1"

    @property
    def size(self) -> tuple[tuple[str, float], ...]:
        """What has to agree: all but angles."""
        return tuple((s, p) for s, p in self.powers if s != "rad")

    def fits(self, other: Unit) -> bool:
        return self.loose or other.loose or self.size == other.size

    def times(self, other: Unit, power: float = 1.0) -> Unit:
        """The unit of a product with a power of the other."""
        powers = dict(self.powers)
        for symbol, p in other.powers:
            powers[symbol] = powers.get(symbol, 0.0) + power * p
        kept = self.text if not other.powers else ""
        return Unit(_sorted(powers), kept, self.loose or other.loose)

    def to_the(self, power: float) -> Unit:
        return Unit(loose=self.loose).times(self._replace(loose=False), power)

    def joined(self, other: Unit) -> Unit:
        """The unit of a sum of what fits: that of the side that is sure of its own."""
        sure = other if self.loose and not other.loose else self
        return sure._replace(loose=self.loose and other.loose)


ONE = Unit()
BARE = Unit(loose=True)  # of a number without one


def _sorted(powers: dict[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted((s, p) for s, p in powers.items() if p))


def unit_of(text: str) -> tuple[float, Unit]:
    """Factor to SI, and the unit, of a text such as 'N m/rad' or 'mm'; a symbol that is not known stands for itself."""
    if text.strip() in ("", "-", "1"):
        return 1.0, ONE
    factor, powers, at = 1.0, dict[str, float](), 0
    while at < len(text.rstrip()):
        step = _STEP.match(text, at)
        if step is None:
            raise CaromError(f"unit '{text}' cannot be read; write it such as 'm/s^2' or 'N m/rad'")
        power = float(step.group(3) or 1) * (-1.0 if step.group(1) == "/" else 1.0)
        scale, parts = _SI.get(step.group(2), (1.0, {step.group(2): 1}))
        if step.group(2) != "1":
            factor *= scale**power
            for symbol, p in parts.items():
                powers[symbol] = powers.get(symbol, 0.0) + power * p
        at = step.end()
    return factor, Unit(_sorted(powers), text if factor == 1.0 else "")


def _spelled(powers: tuple[tuple[str, float], ...]) -> str:
    for text in _WRITTEN:
        if unit_of(text)[1].powers == powers:
            return text
    above = [_power(s, p) for s, p in powers if p > 0]
    below = [_power(s, -p) for s, p in powers if p < 0]
    return "/".join([" ".join(above) or ("1" if below else ""), *below])


def _power(symbol: str, power: float) -> str:
    return symbol if power == 1 else f"{symbol}^{power:g}"
