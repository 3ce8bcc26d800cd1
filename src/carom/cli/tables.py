"""Plain tables: aligned columns in lines that no terminal cuts off, long reasons as notes underneath."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

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


# Head, unit, value of an impact's record, format; a column without anything to say is left out.
IMPACT: tuple[tuple[str, str, Callable[[Mapping[str, Any]], float | None], str], ...] = (
    ("t", "s", lambda i: i["t_start"], ".6f"),
    ("lasts", "ms", lambda i: 1e3 * i["duration"], ".4f"),
    ("v before", "m/s", lambda i: i["normal_velocity_before"], ".3f"),
    ("after", "m/s", lambda i: i["normal_velocity_after"] + 0.0, ".3f"),
    ("e", "-", lambda i: None if i["restitution"] is None else i["restitution"] + 0.0, ".3f"),
    ("peak", "kN", lambda i: None if i["max_normal_force"] is None else 1e-3 * i["max_normal_force"], ".3f"),
    ("impulse", "N s", lambda i: i["normal_impulse"], ".4g"),
    ("dent", "um", lambda i: 1e6 * i["residual_indentation"], ".1f"),
    ("lost", "J", lambda i: i["kinetic_energy_before"] - i["kinetic_energy_after"] if i["struck"] else None, ".4g"),
)


def impact_table(impacts: Sequence[Mapping[str, Any]]) -> str:
    """Impacts as people read them; contacts that were closed and took a share of a blow have no number."""
    shown = impacts[:MOST_ROWS]
    counts = accumulate(int(i["struck"]) for i in shown)
    numbers = [str(k) if i["struck"] else "" for k, i in zip(counts, shown, strict=True)]
    columns = [["", *numbers], ["contact", *(i["contact"] for i in shown)]]
    for head, unit, read, form in IMPACT:
        values = [read(i) for i in shown]
        if any(values):
            columns.append([f"{head} [{unit}]", *("-" if v is None else format(v, form) for v in values)])
    lines = aligned(columns, left=(1,))
    if len(impacts) > MOST_ROWS:
        lines.append(f"and {len(impacts) - MOST_ROWS} more in impacts.csv")
    return "\n".join(lines)


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
    from ..result.converge import Number, table

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
        return f"not there ({_number(q['missing'], notes)})"
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
