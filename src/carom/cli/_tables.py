"""Plain tables: aligned columns in lines that no terminal cuts off, long reasons as notes underneath."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from ..result._columns import IMPACTS, STANCES, Column

MOST_ROWS = 25
LEAST_ROWS = 8  # numbers of which the fewest digits hold


def aligned(columns: Sequence[Sequence[str]], left: Sequence[int] = ()) -> list[str]:
    """Lines of a table whose columns are given, heads first; columns in `left` begin at one place, others end there."""
    widths = [max(map(len, column)) for column in columns]
    rows = zip(*columns, strict=True)
    return [
        "  ".join(c.ljust(w) if k in left else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]


def impact_table(impacts: Sequence[Mapping[str, Any]]) -> str:
    """Impacts as people read them; contacts that were closed and took a share of a blow have no number."""
    shown = impacts[:MOST_ROWS]
    counts = accumulate(int(i["struck"]) for i in shown)
    numbers = [str(k) if i["struck"] else "" for k, i in zip(counts, shown, strict=True)]
    return _rows([["", *numbers]], IMPACTS, shown, len(impacts), "impacts.csv")


def stance_table(stances: Sequence[Mapping[str, Any]]) -> str:
    """Stances as people read them."""
    return _rows([], STANCES, stances[:MOST_ROWS], len(stances), "stances.csv")


def _rows(
    first: list[list[str]], columns: Sequence[Column], shown: Sequence[Mapping[str, Any]], count: int, file: str
) -> str:
    """A column without anything to say is left out."""
    out = [*first, ["contact", *(row["contact"] for row in shown)]]
    for column in columns:
        if column.terse is not None:
            head, unit, factor, form = column.terse
            values = [None if row[column.field] is None else factor * row[column.field] + 0.0 for row in shown]
            if any(values):
                out.append([f"{head} [{unit}]", *(_shown(v, form) for v in values)])
    lines = aligned(out, left=(len(first),))
    return "\n".join([*lines, f"and {count - len(shown)} more in {file}"] if count > len(shown) else lines)


def _shown(value: float | None, form: str) -> str:
    """A number without the sign of a zero that rounding gave it."""
    text = "-" if value is None else format(value, form)
    return text.lstrip("-") if value is not None and float(text) == 0.0 else text


def quantity_table(quantities: Mapping[str, Mapping[str, Any]]) -> str:
    """Numbers beside what their sources say, with the digits that hold where they are known; notes stand below."""
    names, values, expected, off, verdicts = ["quantity"], ["carom"], ["source"], ["difference"], [""]
    known = any("digits" in q for q in quantities.values())
    digits = ["digits", *(str(q.get("digits", "-")) for q in quantities.values())]
    notes: list[str] = []
    for name, q in quantities.items():
        names.append(f"{name.replace('_', ' ')} [{q.get('unit', '-')}]")
        values.append("-" if q.get("value") is None or q.get("missing") else f"{q['value']:.7g}")
        expected.append("" if q.get("expected") is None else f"{q['expected']:.7g}")
        off.append(_difference(q))
        verdicts.append(_verdict(q, notes))
    columns = [names, values, *([digits] if known else []), expected, off, verdicts]
    lines = aligned(columns, left=(0, len(columns) - 1))
    return "\n".join([*(line.rstrip() for line in lines), *(f"  ({k + 1}) {note}" for k, note in enumerate(notes))])


def digit_table(converge: Mapping[str, Any]) -> str:
    """The numbers of which the fewest digits hold, and what that means."""
    from ..result.convergence import Number, table

    lines = table([Number(**row) for row in converge["numbers"]], LEAST_ROWS)
    return "\n".join([*lines, f"at rtol {converge['rtol']:g}: {converge['sentence']}"])


def _difference(q: Mapping[str, Any]) -> str:
    if q.get("difference") is None or q.get("missing"):
        return ""
    if not q["expected"]:
        return f"{q['difference']:+.1e}"
    return f"{100.0 * q['difference'] / q['expected']:+.2g} %"


def _verdict(q: Mapping[str, Any], notes: list[str]) -> str:
    if q.get("missing"):
        return f"missing ({_number(q['missing'], notes)})"
    if q.get("agrees") is None:
        return ""
    if q["agrees"]:
        return "agrees"
    return f"differs ({_number(q['note'], notes)})" if q.get("note") else "DIFFERS"


def _number(note: str, notes: list[str]) -> int:
    """The number of a note below the table; the same reason is given once."""
    if note not in notes:
        notes.append(note)
    return notes.index(note) + 1
