"""Angles of pendulums of two and three arms that swing freely, every millisecond, in pieces.

Kaheman, Fasel, Bramburger, Strom, Kutz and Brunton 2022, arXiv 2205.06231.

Traps of this record:

- Angles are measured from the upright position, clockwise; carom's from the x axis, counter-clockwise.
- Rates were smoothed before they were stored, angles were not. A piece begins where the one before ended: together they
  are one swing. Rates at the beginning of a piece are off, by 0.1 rad/s in the worst, which a prediction from there
  cannot make good; the angles of its first 0.1 s say better ones.
- Only ratios of the parameters show in the angles: everything that stands in the equations could be multiplied by one
  number, also with the masses and the length of the first arm as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import CaromError
from ._mat_files import columns, mat_of, variable
from ._sources import PENDULUM, check_hash, digest, place_of, read_bytes

FOLDER = "ParameterEstimation"
ARMS = {2: "Double", 3: "Triple"}
PARAMETERS = {2: "m1 m2 a1 a2 L1 I1 I2 k1 k2 g", 3: "m1 m2 m3 a1 a2 a3 L1 L2 I1 I2 I3 k1 k2 k3 g"}
HASHES = {
    "DoublePendulumDataForParameterEstimation.mat": "4bf9e4006aa83b2b003295ac1b1946717eec87d76873834d6248683aca419902",
    "EstimatedParameters_DoublePendulum.mat": "786fb808d6ecfd770cf89d770778cb473a66223a5e63790bbc94277f2e5b3517",
    "TriplePendulumDataForParameterEstimation.mat": "c92e7ad880b9977c47842b54697dbcb4bc2183672af94a18a592449e89cfd81c",
    "EstimatedParameters_TriplePendulum.mat": "3fca5c83c28c98704e9c266da3d8c783ceef4c4555f75701bb279c905a4441ef",
}


class Swings(NamedTuple):
    """Pieces of a swing, (times, arms) each: angles [rad] and rates [rad/s] of all arms as carom counts them."""

    arms: int
    step: float  # [s]
    fitting: tuple[tuple[np.ndarray, np.ndarray], ...]
    validating: tuple[tuple[np.ndarray, np.ndarray], ...]
    published: dict[str, float]  # masses m, centres a, lengths L, inertias about them I, friction k, gravity g

    def joined(self) -> tuple[np.ndarray, np.ndarray]:
        """Angles and rates of the whole swing."""
        pieces = (*self.fitting, *self.validating)
        return np.concatenate([q for q, _ in pieces]), np.concatenate([v for _, v in pieces])


def pendulum_swings(folder: str | Path, arms: int = 2, *, check: bool = True) -> Swings:
    """The record of the pendulum with so many arms, from a clone of its repository.

    `check`: refuse another version than the one that was studied.
    """
    if arms not in ARMS:
        raise CaromError(f"arms of pendulum_swings is {arms!r}; there are records of 2 and of 3")
    kind = f"{ARMS[arms]}Pendulum"
    found = {}
    for name in (f"{kind}DataForParameterEstimation.mat", f"EstimatedParameters_{kind}.mat"):
        path = place_of(PENDULUM, folder, f"{FOLDER}/{kind}/{name}")
        text = read_bytes(PENDULUM, path)
        if check:
            check_hash(PENDULUM, name, digest(text), HASHES[name])
        found[name] = mat_of(text, name)
    data, (name, estimates) = found[f"{kind}DataForParameterEstimation.mat"], list(found.items())[1]
    owner = f"{kind}DataForParameterEstimation.mat"
    fitting, validating = (
        tuple(_piece(owner, field, x, arms) for x in variable(data, owner, field)) for field in ("Y_id", "Y_vad")
    )
    names = PARAMETERS[arms].split()
    values = np.ravel(np.asarray(variable(estimates, name, "EstimatedParameters"), dtype=float))
    if len(values) != len(names) or not np.all(np.isfinite(values)):
        raise CaromError(
            f"'EstimatedParameters' of {name} has {len(values)} numbers; it must have {len(names)}: {names}"
        )
    step = float(variable(data, owner, "dt"))
    return Swings(arms, step, fitting, validating, dict(zip(names, values.tolist(), strict=True)))


def _piece(owner: str, field: str, values: object, arms: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles and rates: from upright and clockwise to from the x axis and counter-clockwise."""
    rows = columns(owner, field, np.asarray(values, dtype=float).T, 2 * arms, 10)
    return 0.5 * np.pi - rows[:, :arms], -rows[:, arms:]
