"""Units of columns: written in brackets after their names, converted to those of carom."""

from __future__ import annotations

import math

from ...errors import CaromError, name_in

PREFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "c": 1e-2, "": 1.0, "k": 1e3, "M": 1e6}
PLAIN = ("m", "s", "N", "J", "m/s", "N s", "N m", "rad", "rad/s", "N m s", "m/s^2", "kg", "-", "1")
FACTORS: dict[str, tuple[str, float]] = {
    **{p + unit: (unit, f) for unit in PLAIN[:8] for p, f in PREFIXES.items()},
    **{unit: (unit, 1.0) for unit in PLAIN},
    "deg": ("rad", math.pi / 180.0),
    "deg/s": ("rad/s", math.pi / 180.0),
    "rpm": ("rad/s", math.pi / 30.0),
    "%": ("-", 0.01),
    "min": ("s", 60.0),
    "g": ("kg", 1e-3),
}


def factor_of(where: str, column: str, given: str, wanted: str | None) -> float:
    """What values of a column are multiplied by; `wanted` is the unit that carom has there, None where it has none."""
    unit = given.strip()
    if unit not in FACTORS:
        name_in(f"unit of column '{column}' of {where},", unit, tuple(FACTORS))
    base, factor = FACTORS[unit]
    if wanted is not None and base != wanted and {base, wanted} != {"-", "1"}:
        raise CaromError(
            f"column '{column}' of {where} is in {unit}, and what it is called is measured in {wanted}; rename the "
            "column, or mend its unit"
        )
    return factor
