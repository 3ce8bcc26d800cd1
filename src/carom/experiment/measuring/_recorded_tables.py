"""Recorded tables: CSV files, or columns in Python, as numbers with the lines that they stand in.

    t,         y.ball.tip [mm],  record
    ,          +-0.5,
    0.00,      1101.2,           first
    0.01,      ,                 first            an empty cell, nan or NA is a gap

The second line may say how noisy each column is (standard deviation, +- before it).
"""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..._arguments import FileLike
from ...errors import CaromError
from ...scenario.places import shortened

GAPS = ("", "nan", "na", "n/a", "null", "none", "-")
HEAD = re.compile(r"^(?P<name>[^\[]*?)\s*(?:\[(?P<unit>[^\]]*)\])?$")
DEVIATION = re.compile(r"(?:\+/?-|±)\s*(.+)")
RECORD = "record"
MOST_CELLS = 20_000_000


@dataclasses.dataclass(frozen=True)
class Table:
    """Columns of a file; gaps are nan. `lines`: where each row stands."""

    where: str
    columns: dict[str, np.ndarray]
    units: dict[str, str]  # as given; columns without one are in SI units
    noise: dict[str, float]  # in the unit of the column
    record: tuple[str, ...]  # of every row
    lines: tuple[int, ...]

    @property
    def kind(self) -> str:
        """Signals over time, a row for each impact, or a row for each run."""
        return "series" if "t" in self.columns else "impacts" if "impact" in self.columns else "runs"


def tables_of(data: Any) -> list[Table]:
    """Files, or columns in Python; one, or several."""
    given = [data] if isinstance(data, str | Path | Mapping | Table) else list(data)
    if not given:
        raise CaromError("there are no data; give a CSV file, or a dictionary of columns")
    return [_table(each, k, len(given)) for k, each in enumerate(given)]


def _table(given: Any, number: int, count: int) -> Table:
    if isinstance(given, Table):
        return given
    if isinstance(given, Mapping):
        where = "the data" if count == 1 else f"table {number + 1} of the data"
        columns = {str(name): np.atleast_1d(np.asarray(column)) for name, column in given.items()}
        sizes = {len(column) for column in columns.values()}
        if len(sizes) != 1:
            told = ", ".join(f"'{name}' {len(column)}" for name, column in columns.items())
            raise CaromError(f"columns of {where} have different lengths: {told}; give one row per instant or impact")
        rows = [[_text(column[k]) for column in columns.values()] for k in range(sizes.pop())]
        return _made(where, list(columns), rows, list(range(1, len(rows) + 1)), "row")
    if isinstance(given, str | Path):
        return _read(Path(given))
    raise CaromError(f"data is a {type(given).__name__}; give a CSV file, a dictionary of columns, or a list of them")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(float(value)) if value is not None else ""


def _read(file: FileLike) -> Table:
    path = Path(file)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as trouble:
        raise CaromError(
            f"{path} cannot be read: {getattr(trouble, 'strerror', None) or 'it is no text'}; check the path"
        ) from None
    first = next((line for line in text.splitlines() if line.strip() and line[:1] != "#"), "")
    mark = max((";", "\t", ","), key=first.count)
    rows = [(k, [cell.strip() for cell in row]) for k, row in _rows(text, mark) if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise CaromError(f"{path} has no rows; its first line names the columns, every other one is an instant")
    if len(rows) * len(rows[0][1]) > MOST_CELLS:
        raise CaromError(f"{path} has more than {MOST_CELLS:,} cells; leave out rows, such as every second one")
    for line, row in rows[1:]:
        if len(row) != len(rows[0][1]):
            hint = "; numbers have a point, not a comma" if mark == "," else ""
            raise CaromError(
                f"{path}, line {line} has {len(row)} cells, and its first line names {len(rows[0][1])} columns{hint}"
            )
    return _made(str(path), rows[0][1], [row for _, row in rows[1:]], [line for line, _ in rows[1:]], "line")


def _rows(text: str, mark: str) -> list[tuple[int, list[str]]]:
    """Lines with their numbers; those that begin with # are remarks."""
    reader, out = csv.reader(io.StringIO(text), delimiter=mark), []
    for row in reader:
        if row and row[0].lstrip()[:1] != "#":
            out.append((reader.line_num, row))
    return out


def _made(where: str, heads: Sequence[str], rows: list[list[str]], lines: list[int], word: str) -> Table:
    names, units = [], {}
    for head in heads:
        found = HEAD.match(head.strip())
        if not found or not found["name"].strip():
            raise CaromError(
                f"{where} has a column called '{shortened(head, 60)}'; name it, such as t or y.ball.tip [mm]"
            )
        names.append(found["name"].strip())
        if found["unit"] is not None:
            units[names[-1]] = found["unit"]
    for name in names:
        if names.count(name) > 1:
            raise CaromError(f"{where} has {names.count(name)} columns '{name}'; names must differ")
    noise = {}
    if rows and any(_deviation(cell) for cell in rows[0]) and all(_deviation(c) or _gap(c) for c in rows[0]):
        noise = {
            n: _number(where, n, word, lines[0], _deviation(c))
            for n, c in zip(names, rows[0], strict=True)
            if _deviation(c)
        }
        rows, lines = rows[1:], lines[1:]
    if not rows:
        raise CaromError(f"{where} has no rows of data")
    texts = dict(zip(names, zip(*rows, strict=True), strict=True))
    record = tuple(texts.pop(RECORD)) if RECORD in texts else ("",) * len(rows)
    columns = {
        name: np.array([_number(where, name, word, k, c) for k, c in zip(lines, cells, strict=True)])
        for name, cells in texts.items()
    }
    for name, level in noise.items():
        if not (np.isfinite(level) and level > 0.0):
            raise CaromError(f"noise of column '{name}' of {where} is {level:g}; it must be a finite number above 0")
    return Table(where, columns, units, noise, record, tuple(lines))


def _gap(cell: str) -> bool:
    return cell.lower() in GAPS


def _deviation(cell: str) -> str:
    """The number after +-; nothing where the cell does not begin so."""
    found = DEVIATION.match(cell)
    return found[1] if found else ""


def _number(where: str, column: str, word: str, line: int, cell: str) -> float:
    if _gap(cell):
        return float("nan")
    try:
        value = float(cell)
    except ValueError:
        hint = "numbers have a point, not a comma" if re.fullmatch(r"[-+]?\d+,\d+", cell) else "an empty cell is a gap"
        raise CaromError(
            f"{where}, {word} {line}: column '{column}' holds '{shortened(cell, 40)}', which is no number; {hint}"
        ) from None
    if np.isinf(value):
        raise CaromError(f"{where}, {word} {line}: column '{column}' is infinite; an empty cell is a gap")
    return value
