"""Coordinates by name: which number of q is meant, and its unit."""

from __future__ import annotations

import numpy as np

from .. import errors
from .._arguments import Name
from ..result.result import Result

STILL = 1e-6  # of the largest change of its kind: what changes less does not move
LEAST = 1e-9  # [rad] or [m]: nor does this


def index_of(result: Result, field: str, name: Name) -> int:
    """Where the coordinate of that label stands in q."""
    labels = result.world.mechanism.topology.labels
    errors.name_in(f"coordinate ({field} of the figure)", name, labels)
    return int(labels.index(name))


def is_angle(result: Result, index: int) -> bool:
    top = result.world.mechanism.topology
    return index in [top.angle_index(k) for k in top.hinged]


def is_slide(result: Result, index: int) -> bool:
    top = result.world.mechanism.topology
    return index in [top.angle_index(k) for k in top.slid]


def axis_name(result: Result, index: int, rate: bool = False) -> str:
    """Label of an axis; angles are shown in degrees, their rates in rad/s."""
    name = result.world.mechanism.topology.labels[index]
    if is_angle(result, index):
        return f"rate of {name} [rad/s]" if rate else f"angle of {name} [°]"
    if is_slide(result, index) and not rate:
        return f"displacement of {name} [m]"
    return f"velocity of {name} [m/s]" if rate else f"{name} [m]"


def main_ones(result: Result) -> list[int]:
    """The coordinates that show most, best first: angles of a chain, but the place of a single free body.

    Those that hardly move stand last.
    """
    top, still = result.world.mechanism.topology, _still(result)
    angles = [top.angle_index(k) for k in range(top.links)]
    bases = list(range(top.base_dof))
    first = bases + angles if top.links == 1 else angles + bases
    return sorted([*first, *range(top.base_dof + top.links, top.dof)], key=lambda k: bool(still[k]))


def moving_ones(result: Result) -> list[int]:
    """Those of `main_ones` that move; one of them at least."""
    still, best = _still(result), main_ones(result)
    return [k for k in best if not still[k]] or best[:1]


def _still(result: Result) -> np.ndarray:
    moved, angles = np.ptp(result.q, axis=0), np.zeros(result.q.shape[1], dtype=bool)
    angles[_turning(result)] = True
    most = np.where(
        angles, np.max(moved[angles], initial=0.0), np.max(moved[~angles], initial=0.0)
    )  # [rad] and [m] do not compare
    return np.asarray(moved <= np.maximum(STILL * most, LEAST))


def no_link_turns(result: Result) -> bool:
    return bool(np.all(_still(result)[_turning(result)]))


def _turning(result: Result) -> list[int]:
    top = result.world.mechanism.topology
    return [top.angle_index(k) for k in top.hinged]


def nothing_turns(result: Result) -> str | None:
    """A sentence where every link slides."""
    return None if result.world.mechanism.topology.hinged else "no link of this mechanism turns; see figure 'slides'"


def moves_straight(result: Result) -> bool:
    return len(moving_ones(result)) < 2
