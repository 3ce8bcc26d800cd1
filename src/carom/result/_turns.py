"""Where a curve turns, of which value and rate are known on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..quantities import Library

REFINED = 3  # times; the error of an instant goes down with its fourth power, that of the value with its square


def turn(low: Sequence[Any], high: Sequence[Any], lib: Library) -> Any:
    """Where the cubic through both ends turns; each is (instant, value, rate), and the signs of their rates differ."""
    span = high[0] - low[0]
    mean, begin, end = (high[1] - low[1]) / lib.where(span > 0.0, span, 1.0), low[2], high[2]
    a, b, c = 3.0 * (begin + end - 2.0 * mean), 2.0 * (3.0 * mean - 2.0 * begin - end), begin
    root = lib.sqrt(lib.maximum(b * b - 4.0 * a * c, 0.0))
    both = [2.0 * c / lib.where(x == 0.0, lib.inf, x) for x in (-b + root, -b - root)]
    first, second = (lib.where((x > 0.0) & (x < 1.0), x, -1.0) for x in both)
    part = lib.where(first > 0.0, first, second)
    flat = lib.where(begin == end, 1.0, begin - end)
    return low[0] + span * lib.where(part > 0.0, part, begin / flat)
