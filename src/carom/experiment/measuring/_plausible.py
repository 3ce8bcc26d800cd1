"""Units that cannot be right, by what the numbers are."""

from __future__ import annotations

import math

import numpy as np

from ...errors import CaromError
from ...quantities import Real

EARTH = 9.80665
GRAVITIES = {100.0: "cm/s^2", 1000.0: "mm/s^2", 1.0 / 0.3048: "ft/s^2"}
WITHIN = 0.02  # share by which a gravity may differ from the Earth's and still be meant as it

# What measured values are divided by what carom predicts, when a unit was mistaken for another.
MISTAKEN = {
    1000.0: ("thousandths of it, such as mm or ms", "m"),
    100.0: ("hundredths of it, such as cm", "c"),
    180.0 / math.pi: ("degrees", "deg"),
    1e6: ("millionths of it", "u"),
}
ALIKE, NEAR = 0.9, 0.25  # correlation from which two signals have one shape; how near the factor has to be


def refuse_gravity(value: Real, where: str) -> None:
    """Gravity in another unit."""
    size = abs(float(value))
    for factor, unit in GRAVITIES.items():
        if abs(size / (EARTH * factor) - 1.0) < WITHIN:
            raise CaromError(
                f"gravity of {where} is {float(value):g}, which is the Earth's in {unit}; carom has m/s^2: give "
                f"{size / factor:.5g}, and lengths in m"
            )


def refuse_late(last: Real, until: Real, where: str) -> None:
    """Times in another unit."""
    if float(last) > 100.0 * float(until):
        raise CaromError(
            f"t of {where} goes up to {float(last):g} s, and the run of the scenario takes {float(until):g} s; if "
            "these are ms or us, call the column 't [ms]'; if the record is that long, set run.until to its length"
        )


def refuse_scale(name: str, unit: str, measured: np.ndarray, predicted: np.ndarray) -> None:
    """A column that has the shape of the prediction and a thousand times its size."""
    both = np.isfinite(measured) & np.isfinite(predicted)
    x, y = predicted[both], measured[both]
    if len(x) < 3 or not np.any(x) or not np.any(y):
        return
    alike = float(x @ y / np.sqrt((x @ x) * (y @ y)))
    factor = float(x @ y / (x @ x))
    for mistaken, (words, sign) in MISTAKEN.items():
        if alike > ALIKE and abs(factor / mistaken - 1.0) < NEAR:
            written = unit.replace("rad", "deg") if sign == "deg" else sign + unit
            if written == unit:  # no angle
                continue
            raise CaromError(
                f"column '{name}' is {factor:.4g} times what the scenario gives, as if in {words}; carom has "
                f"{unit} there: write the unit in its name, '{name} [{written}]', or '{name} [{unit}]' if that is right"
            )
