"""Columns of the tables of impacts and stances: files, pages, the terminal and convergence read them from here."""

from __future__ import annotations

from typing import Any, NamedTuple


class Terse(NamedTuple):
    """A column on the terminal: head, unit, what the value is multiplied by, format."""

    head: str
    unit: str
    factor: float
    form: str


class Column(NamedTuple):
    """A number of every impact, or of every stance.

    - `field`: its attribute, and its name in summary.json and in the CSV file; `unit` there
    - `head`: in the page's table; empty: not shown. `scaled`: with a prefix before the unit, where that reads better
    - `terse`: on the terminal; None: not shown
    - `kind`: what its digits are judged with when a run is repeated; empty: not judged
    - `said`: what it is called there, if not by its head
    """

    field: str
    unit: str
    head: str = ""
    scaled: bool = True
    terse: Terse | None = None
    kind: str = ""
    said: str = ""

    @property
    def words(self) -> str:
        return self.said or self.head or self.field.replace("_", " ")

    def read(self, row: object) -> Any:
        """The value; nan where it says nothing."""
        return getattr(row, self.field)


IMPACTS: tuple[Column, ...] = (
    Column("contact", ""),
    Column("t_start", "s", terse=Terse("t", "s", 1.0, ".6f"), kind="time", said="time"),
    Column("t_end", "s"),
    Column("duration", "s", "lasts", terse=Terse("lasts", "ms", 1e3, ".4f")),
    Column(
        "normal_velocity_before", "m/s", "normal velocity before", False, Terse("v before", "m/s", 1.0, ".3f"), "speed"
    ),
    Column("normal_velocity_after", "m/s", "normal velocity after", False, Terse("after", "m/s", 1.0, ".3f"), "speed"),
    Column("tangential_velocity_before", "m/s", kind="speed", said="sliding before"),
    Column("tangential_velocity_after", "m/s", kind="speed", said="sliding after"),
    Column("restitution", "-", "restitution", False, Terse("e", "-", 1.0, ".3f")),
    Column("max_normal_force", "N", "largest force", terse=Terse("peak", "kN", 1e-3, ".3f"), kind="force"),
    Column("max_indentation", "m", "largest indentation"),
    Column("residual_indentation", "m", "dent left", terse=Terse("dent", "um", 1e6, ".1f")),
    Column("normal_impulse", "N s", "normal impulse", terse=Terse("impulse", "N s", 1.0, ".4g"), kind="impulse"),
    Column("tangential_impulse", "N s", kind="impulse", said="friction impulse"),
    Column("energy_lost", "J", "energy lost", terse=Terse("lost", "J", 1.0, ".4g"), kind="energy"),
    Column("kinetic_energy_before", "J"),
    Column("kinetic_energy_after", "J"),
    Column("struck", ""),  # or was it closed, and took a share of the blow of another?
)

STANCES: tuple[Column, ...] = (
    Column("contact", ""),
    Column("t_start", "s", terse=Terse("down", "s", 1.0, ".6f")),
    Column("t_end", "s", "lift-off at", False, Terse("up", "s", 1.0, ".6f")),
    Column("duration", "s", "stands", terse=Terse("stands", "ms", 1e3, ".4g")),
    Column("share", "-", "share of the time", False, Terse("share", "%", 100.0, ".1f")),
    Column("max_normal_force", "N", "largest force", terse=Terse("peak", "kN", 1e-3, ".4g")),
    Column("max_indentation", "m", "largest indentation"),
    Column("normal_impulse", "N s", "normal impulse", terse=Terse("impulse", "N s", 1.0, ".4g")),
    Column("tangential_impulse", "N s", "friction impulse", terse=Terse("friction", "N s", 1.0, ".4g")),
    Column("energy_lost", "J", "energy lost", terse=Terse("lost", "J", 1.0, ".4g")),
    Column("touched", ""),  # did it begin within the run?
    Column("lifted", ""),  # did it end within it?
)

AT_STOPS = {"m": "rad", "m/s": "rad/s", "N": "N m", "N s": "N m s"}  # units at the stop of a hinge


def record(row: object, columns: tuple[Column, ...]) -> dict[str, Any]:
    """An impact, or a stance, by the names of its columns."""
    return {column.field: column.read(row) for column in columns}
