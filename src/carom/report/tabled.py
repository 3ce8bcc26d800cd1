"""Tables of a page: impacts, stances, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ..result._clip import Clip
from ..result._columns import IMPACTS, STANCES, Column
from ._story import digits, plural, prefix, unit_of
from .samples import Struck

MOST_ROWS = 400  # of a table of impacts


class Quantity(NamedTuple):
    """A number that a scenario is about, beside what it should be; empty where nothing is known."""

    name: str
    value: Any
    unit: str = ""
    expected: Any = None
    difference: Any = None
    verdict: str = ""


def impact_table(impacts: Sequence[Struck], clips: Sequence[Clip]) -> str:
    """A row for every impact, with a button that shows it."""
    if not impacts:
        return ""  # the words say so
    shown = impacts[:MOST_ROWS]
    counts = accumulate(int(s.impact.struck) for s in shown)
    buttons = [
        f'<button class="go" data-impact="{k}" title="show impact {k}">{k}</button>' if s.impact.struck else ""
        for k, s in zip(counts, shown, strict=True)
    ]
    notes = (
        [f"impacts.csv has {plural(len(impacts) - len(shown), 'more impact')}."] if len(impacts) > len(shown) else []
    )
    if not all(s.impact.struck for s in impacts):
        notes.append("A contact without a number was closed, and took its share of the blow above it.")
    if any(s.blow is None and unit_of(clips[s.clip], s.impact.contact) == "rad" for s in impacts):
        notes.append("At a joint's stop, read radians for metres and newton metres for newtons.")
    begins = [s.start for s in shown]
    return _rows("impacts", "Impacts", IMPACTS, [s.impact for s in shown], begins, "begins", notes, buttons)


def stance_table(clips: Sequence[Clip]) -> str:
    """A row for every stance: what contacts carried between touch-down and lift-off."""
    found = [(s, clip.t0 - float(clip.result.t[0])) for clip in clips for s in clip.result.stances]
    if not found:
        return ""
    shown = found[:MOST_ROWS]
    notes = [f"stances.csv has {plural(len(found) - len(shown), 'more stance')}."] if len(found) > len(shown) else []
    begins = [s.t_start + ahead for s, ahead in shown]
    return _rows("stances", "Stances", STANCES, [s for s, _ in shown], begins, "touch-down", notes)


def _rows(
    key: str,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Any],
    begins: Sequence[float],
    when: str,
    notes: Sequence[str],
    buttons: Sequence[str] = (),
) -> str:
    """A section with a table; columns in which nothing speaks are left out."""
    told = [c for c in columns if c.head and any(_speaks(c.read(row)) for row in rows)]
    scales = [_scale(c, [c.read(row) for row in rows]) for c in told]
    heads = ["<th>no.</th>"] if buttons else []
    heads += ['<th class="word">contact</th>', _head(when, "s")]
    heads += [_head(c.head, f"{letter}{c.unit.strip('-')}") for c, (_, letter) in zip(told, scales, strict=True)]
    body = []
    for k, (row, begin) in enumerate(zip(rows, begins, strict=True)):
        cells = [f"<td>{buttons[k]}</td>"] if buttons else []
        cells += [f'<td class="word">{escape(row.contact)}</td>', _cell("t_start", begin, f"{begin:.6f}")]
        for c, (scale, _) in zip(told, scales, strict=True):
            value = c.read(row)
            cells.append(_cell(c.head, value, _number(c, value, scale)))
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<section aria-labelledby="{key}"><h2 id="{key}">{title}</h2>'
        f'<div class="scroll tall" tabindex="0" role="region" aria-label="{title}"><table class="{key}"><thead><tr>'
        f"{''.join(heads)}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
        + "".join(f'<p class="note">{note}</p>' for note in notes)
        + "</section>"
    )


def _number(column: Column, value: float, scale: float) -> str:
    """Instants to the microsecond, everything else to four digits."""
    if column.unit == "s" and not column.scaled:
        return f"{value:.6f}"
    return digits(value * scale) if np.isfinite(value) else digits(value)


def _speaks(value: float) -> bool:
    return bool(np.isfinite(value)) and value != 0.0


def _scale(column: Column, values: Sequence[float]) -> tuple[float, str]:
    finite = [abs(v) for v in values if np.isfinite(v)]
    return prefix(max(finite, default=0.0)) if column.scaled else (1.0, "")


def _head(name: str, unit: str) -> str:
    return f"<th>{escape(name)}{f' <span>[{escape(unit)}]</span>' if unit else ''}</th>"


def _cell(name: str, value: float, shown: str) -> str:
    return f'<td data-name="{escape(name)}" data-value="{float(value)!r}">{escape(shown)}</td>'


def quantity_table(rows: Sequence[Quantity]) -> str:
    if not rows:
        return ""
    body = []
    for q in rows:
        cells = [f'<td class="word">{escape(str(q.name))}</td>']
        cells += [f"<td>{escape(_shown(x))}</td>" for x in (q.value,)]
        cells.append(f'<td class="word">{escape(str(q.unit))}</td>')
        cells += [f"<td>{escape(_shown(x))}</td>" for x in (q.expected, q.difference)]
        cells.append(f'<td class="word">{escape(str(q.verdict))}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    heads = ("quantity", "value", "unit", "expected", "difference", "verdict")
    left = {"quantity", "unit", "verdict"}
    head = "".join(f'<th class="word">{h}</th>' if h in left else f"<th>{h}</th>" for h in heads)
    return (
        '<section aria-labelledby="numbers"><h2 id="numbers">Numbers</h2>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Quantities">'
        f'<table class="quantities"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
        "</div></section>"
    )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    try:
        return f"{float(value):.6g}"
    except (TypeError, ValueError):
        return str(value)
