"""1,718 drops of an ellipse on a floor: states before and after, Jacobians, and six published predictions.

Fazeli, Donlon, Drumwright and Rodriguez 2017, IEEE ICRA, "Empirical evaluation of common contact models".

Traps of this record, all checked by `carom validate`:

- The heights are those of an ellipse twice as large. Its lever arms (third column of d) are those of semi-axes 35 and
  25 mm, as its description says, and its heights y are twice them: use n and d, not y.
- vx and omega are mirrored against each other: with velocities as stored, no impulse through the contact point
  explains the change of velocity; with vx reversed, one does. What is returned here has vx reversed.
- The published predictions were made from the velocities as stored.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import CaromError
from ._mat_files import columns, mat_of, variable
from ._sources import PLANAR, check_hash, digest, place_of, read_bytes

MASS, MAJOR, MINOR, GYRATION = 0.0364, 0.035, 0.025, 0.0192  # [kg], [m]
MIRROR = np.array([-1.0, 1.0, 1.0])
MODELS = ("Drumwright-Shell", "AP Poisson", "AP Newton", "Mirtich", "Wang-Mason", "Whittaker")
STATES, PREDICTED = "processed_data/data_ellipse.mat", "processed_data/v_models.mat"
HASHES = {
    STATES: "06ecb1642369b0e013f6f8ba7761797529c3de5e8d70d913722b118572afb169",
    PREDICTED: "22ebce5783dbb4024e34d2bba05c1c08a30f29cf2473c6dc80a152bd77a677f6",
}


class PlanarImpacts(NamedTuple):
    """Blows, a row each: velocities (vx, vy, omega) of the centre with vx mended, rows of the Jacobian, pose."""

    before: np.ndarray
    after: np.ndarray
    normal: np.ndarray  # n: the normal velocity of the contact point is n . v
    tangent: np.ndarray  # d
    pose: np.ndarray  # (x, y, theta) as stored
    models: dict[str, np.ndarray]  # velocities after, as stored, of the published models

    @property
    def inertia(self) -> np.ndarray:
        """Mass matrix, its diagonal [kg, kg, kg m^2]."""
        return MASS * np.array([1.0, 1.0, GYRATION**2])

    def chosen(self, rows: np.ndarray) -> PlanarImpacts:
        """Some of the blows."""
        before, after, normal, tangent, pose, models = self
        some = {name: x[rows] for name, x in models.items()}
        return PlanarImpacts(before[rows], after[rows], normal[rows], tangent[rows], pose[rows], some)


def planar_impacts(folder: str | Path, *, check: bool = True) -> PlanarImpacts:
    """The record from a clone of its repository, or from the folder in which that stands.

    `check`: refuse another version than the one that was studied.
    """
    found = {}
    for name in (STATES, PREDICTED):
        path = place_of(PLANAR, folder, name)
        text = read_bytes(PLANAR, path)
        if check:
            check_hash(PLANAR, path.name, digest(text), HASHES[name])
        found[name] = mat_of(text, path.name)
    data = variable(found[STATES], "data_ellipse.mat", "data")
    owner = "data_ellipse.mat"
    table = {}
    for field, count in (("states_i", 6), ("states_f", 6), ("n", 3), ("d", 3)):
        if not hasattr(data, field):
            raise CaromError(f"{owner} has no field '{field}'; is it another data set?")
        table[field] = columns(owner, field, getattr(data, field), count, 20)
    models = columns("v_models.mat", "v_models", variable(found[PREDICTED], "v_models.mat", "v_models"), 18, 20)
    sizes = {field: len(rows) for field, rows in (table | {"v_models": models}).items()}
    if len(set(sizes.values())) > 1:
        raise CaromError(f"the arrays of {PLANAR.repository} have {sizes} rows; there must be one for each blow in all")
    before, after = table["states_i"][:, 3:] * MIRROR, table["states_f"][:, 3:] * MIRROR
    predicted = {name: models[:, 3 * k : 3 * k + 3] for k, name in enumerate(MODELS)}
    return PlanarImpacts(before, after, table["n"], table["d"], table["states_i"][:, :3], predicted)


@dataclasses.dataclass(frozen=True)
class Traps:
    """What the record says about itself."""

    height: float  # y over the height of an ellipse that touches the floor; 1 if it were as described
    lever: float  # third column of d over the same
    floor: dict[str, float]  # share of the change of velocity that no impulse through the point explains, by mending


def traps_of(impacts: PlanarImpacts) -> Traps:
    angle = impacts.pose[:, 2]
    touching = np.hypot(MAJOR * np.sin(angle), MINOR * np.cos(angle))
    signs = {"as stored": (-1.0, 1.0), "vx reversed": (1.0, 1.0), "omega reversed": (-1.0, -1.0)}
    change = impacts.after - impacts.before
    floors = {words: floor_of(impacts, change * np.array([x, 1.0, turn])) for words, (x, turn) in signs.items()}
    height = float(np.median(impacts.pose[:, 1] / touching))
    return Traps(height, float(np.median(impacts.tangent[:, 2] / touching)), floors)


def floor_of(impacts: PlanarImpacts, change: np.ndarray) -> float:
    """Mean share of a change of velocity, in the norm of energy, that no impulse through the point explains."""
    root = np.sqrt(impacts.inertia)
    rows = np.stack([impacts.normal, impacts.tangent], axis=2) / root[:, None]
    wanted = change * root
    impulse = np.linalg.solve(np.einsum("bik,bil->bkl", rows, rows), np.einsum("bik,bi->bk", rows, wanted)[..., None])
    left = wanted - (rows @ impulse)[..., 0]
    return float(np.mean(np.linalg.norm(left, axis=1) / np.linalg.norm(wanted, axis=1)))
