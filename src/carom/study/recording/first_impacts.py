"""Numbers of the first impacts of a lane, read from what its table keeps."""

from __future__ import annotations

import numpy as np

from ...errors import CaromError
from ...hybrid.world import World
from ...result._columns import IMPACTS
from ._contact_rows import compliant, own_channels
from ._impact_table import COLUMNS, ImpactTable, count_name
from .recorder import Columns, LaneMeasure

# Numbers of an impact that follow from two others.
MADE = {
    "duration": ("t_start", "t_end"),
    "restitution": ("normal_velocity_before", "normal_velocity_after"),
    "kinetic_energy_lost": ("kinetic_energy_before", "kinetic_energy_after"),
}
IMPULSES = ("normal_impulse", "tangential_impulse")
FIELDS = (*COLUMNS, *MADE)


def first_impacts(world: World, rows: int, field: str, ledger: bool, row: int | None = None) -> LaneMeasure:
    """A number of the first `rows` impacts, (lanes, rows), or of one row; nan where there are not so many."""
    _refuse_unknown(world, field, ledger)

    def read(columns: Columns) -> np.ndarray:
        found = _in_order(columns, field)
        return found[:, :rows] if row is None else found[:, row]

    unit = next((column.unit for column in IMPACTS if column.field == field), "J")  # energies of links have no column
    return LaneMeasure(ImpactTable(rows, MADE.get(field, (field,))), read, unit)


def count_of_impacts(contact: str, before: float) -> LaneMeasure:
    """How many impacts a lane has."""
    return LaneMeasure(
        ImpactTable(counts=((contact, before),)), lambda columns: columns[count_name(contact, before)].astype(float)
    )


def _in_order(columns: Columns, field: str) -> np.ndarray:
    """A number of every row, in the order in which the impacts began; those of one instant as a run lists them."""
    rank = np.lexsort((columns["order"], columns["t_start"]), axis=1)
    there = np.isfinite(np.take_along_axis(columns["t_start"], rank, axis=1))
    parts = [np.take_along_axis(columns[name], rank, axis=1) for name in MADE.get(field, (field,))]
    with np.errstate(divide="ignore", invalid="ignore"):
        if field == "restitution":
            value = np.where(parts[0] == 0.0, np.nan, -parts[1] / parts[0])
        elif field == "kinetic_energy_lost":
            value = parts[0] - parts[1]
        else:
            value = parts[1] - parts[0] if field == "duration" else parts[0]
    return np.where(there, value, np.nan)


def _refuse_unknown(world: World, field: str, ledger: bool) -> None:
    """What a lane cannot know of the impacts of this world."""
    lasting = compliant(world)
    if field in IMPULSES and lasting:
        raise CaromError(
            f"'{field}' of contact '{lasting[0].report.name}', whose impacts take time, cannot be recorded in a lane; "
            "simulate the runs that matter one by one, or ask for normal_velocity_before and normal_velocity_after"
        )
    if field == "energy_lost":
        for place in lasting:
            if not ledger:
                raise CaromError("energy_lost is read from the ledger; give settings with ledger=True")
            if not own_channels(world, place):
                raise CaromError(
                    f"contact '{place.report.name}' has no entry of the ledger for itself; ask for kinetic_energy_lost"
                )
