"""Instants at which dropped balls were heard to bounce: 85 records in 67 files, four balls.

Recorded by a telephone that starts and stops a clock on sounds ("acoustic stopwatch" of the application phyphox).

Traps of this record:

- The same instants stand under other names of sheets: "All" in .xls files, the sheet whose first cell says "Event time
  (s)" in .xlsx files; a sheet may hold several records side by side.
- The last events of a record are often none: bounces that were too quiet are missing (an interval twice as long), and
  echoes are counted. `BounceRecord.leading` is what is left before the first of them.
- The printed table of the same repository (data.py) holds slips: an interval of the first golf ball twice, a bounce
  of the first table-tennis ball with another record's number. The files are read, not the table.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import CaromError
from ._sources import BALLS, check_hash, digest, place_of, read_bytes
from ._spreadsheets import Cells, sheets_of

FOLDER = "Coefficient_of_restitution/Method2/Data"
HASH = "221ed5e1bd29a5698890f05c5bb8ad4cb8d0feab358950f47517024aab6dea02"
KINDS = {"pingpong_ball": "table tennis", "golf_ball": "golf", "blue_ball": "blue rubber", "tennis_ball": "tennis"}
STRAY = 0.06  # a ratio of two intervals farther than this from those before is a bounce missed or an echo heard
TYPICAL = 6  # ratios at the beginning, whose median is compared with


class BounceRecord(NamedTuple):
    """One drop: the ball, the file, and the instants of its bounces [s]."""

    ball: str
    file: str
    instants: np.ndarray

    @property
    def leading(self) -> np.ndarray:
        """Intervals [s] up to the first one that is no flight between two bounces in a row."""
        between = np.diff(self.instants)
        ratios = between[1:] / between[:-1]
        stray = np.flatnonzero(np.abs(ratios - np.median(ratios[:TYPICAL])) > STRAY) if len(ratios) else ratios
        return between[: int(stray[0]) + 1] if len(stray) else between


def bouncing_balls(folder: str | Path, *, check: bool = True) -> list[BounceRecord]:
    """All records of a clone of the repository, or of the folder in which that stands.

    `check`: refuse another version than the one that was studied.
    """
    data = place_of(BALLS, folder, FOLDER)
    paths = sorted(path for path in data.glob("*/*") if path.suffix in (".xls", ".xlsx"))
    if not paths:
        raise CaromError(f"{data} has no spreadsheets in the folders of its balls; {BALLS.obtain}")
    texts = {path.relative_to(data).as_posix(): read_bytes(BALLS, path) for path in paths}
    if check:
        parts = [part for name in sorted(texts) for part in (name.encode(), texts[name])]
        check_hash(BALLS, f"the folder '{FOLDER}'", digest(*parts), HASH)
    out = []
    for name, text in texts.items():
        ball = name.partition("/")[0]
        for instants in _instants(sheets_of(text, name), name):
            out.append(BounceRecord(KINDS.get(ball, ball), name.partition("/")[2], instants))
    return out


def _instants(sheets: dict[str, Cells], name: str) -> list[np.ndarray]:
    """Columns of instants, wherever they stand."""
    found = []
    for title, cells in sheets.items():
        old = name.endswith(".xls") and title == "All"
        columns = [0] if old else sorted(c for (r, c), text in cells.items() if r == 0 and text == "Event time (s)")
        for c in columns:
            column = [v for (_, at), v in sorted(cells.items()) if at == c and isinstance(v, float)]
            found.append(_checked(np.asarray(column), name))
    if not found:
        raise CaromError(f"{name} has no sheet 'All' and no column 'Event time (s)'; is it another data set?")
    return found


def _checked(instants: np.ndarray, name: str) -> np.ndarray:
    if len(instants) < 3:
        raise CaromError(f"{name} has {len(instants)} instants; at least 3 are needed, two intervals")
    late = np.flatnonzero(~(np.diff(instants) > 0.0))
    if len(late):
        i = int(late[0])
        raise CaromError(
            f"{name} is out of order: {instants[i + 1]:g} s follows {instants[i]:g} s; each bounce comes after the one "
            "before"
        )
    return instants
