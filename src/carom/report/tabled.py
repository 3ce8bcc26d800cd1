"""Tables of a page: impacts, stances, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ..result._clip import Clip
from ..result._columns import IMPACTS, STANCES, Column
from ._rounding import NOISE
from ._rounding import sizes as sizes_of
from ._story import digits, plural, prefix, unit_of
from .samples import Struck

MOST_ROWS = 400  # of a table of impacts
ROUNDING = 1e-11  # of a number: a smaller difference is none


class Quantity(NamedTuple):
    """A number that a scenario is about, beside what it should be; empty where nothing is known."""

    name: str
    value: Any
    unit: str = ""
    expected: Any = None
    difference: Any = None
    verdict: str = ""
    allowed: Any = None  # the largest difference that agrees


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
    rows, sizes = [s.impact for s in shown], sizes_of(clips, [s.impact for s in impacts])
    return _rows("impacts", "Impacts", IMPACTS, rows, begins, "begins", sizes, notes, buttons)


def stance_table(clips: Sequence[Clip]) -> str:
    """A row for every stance: what contacts carried between touch-down and lift-off."""
    found = [(s, clip.t0 - float(clip.result.t[0])) for clip in clips for s in clip.result.stances]
    if not found:
        return ""
    shown = found[:MOST_ROWS]
    notes = [f"stances.csv has {plural(len(found) - len(shown), 'more stance')}."] if len(found) > len(shown) else []
    begins = [s.t_start + ahead for s, ahead in shown]
    impacts = [i for clip in clips for i in clip.result.impacts]
    rows, sizes = [s for s, _ in shown], sizes_of(clips, impacts)
    return _rows("stances", "Stances", STANCES, rows, begins, "touch-down", sizes, notes)


def _rows(
    key: str,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Any],
    begins: Sequence[float],
    when: str,
    sizes: Mapping[str, float],
    notes: Sequence[str],
    buttons: Sequence[str] = (),
) -> str:
    """A section with a table; columns in which nothing speaks are left out, and rounding is 0."""
    told = [c for c in columns if c.head and any(_speaks(c.read(row), NOISE * sizes[c.unit]) for row in rows)]
    scales = [_scale(c, [c.read(row) for row in rows]) for c in told]
    heads = ["<th>no.</th>"] if buttons else []
    heads += ['<th class="word">contact</th>', _head(when, "s")]
    heads += [_head(c.head, f"{letter}{c.unit.strip('-')}") for c, (_, letter) in zip(told, scales, strict=True)]
    body, hidden = [], False
    for k, (row, begin) in enumerate(zip(rows, begins, strict=True)):
        cells = [f"<td>{buttons[k]}</td>"] if buttons else []
        cells += [f'<td class="word">{escape(row.contact)}</td>', _cell("t_start", begin, f"{begin:.6f}")]
        for c, (scale, _) in zip(told, scales, strict=True):
            value = c.read(row)
            little = abs(value) <= NOISE * sizes[c.unit]
            hidden = hidden or (little and value != 0.0)
            cells.append(_cell(c.head, value, "0" if little else _number(c, value, scale)))
        body.append(f"<tr>{''.join(cells)}</tr>")
    if hidden:
        notes = [*notes, f"0 stands for less than {NOISE:g} of the largest value of its unit in this run: rounding."]
    return (
        f'<section aria-labelledby="{key}"><h2 id="{key}">{title}</h2>'
        f'<div class="scroll tall" tabindex="0" role="group" aria-label="Table of {title.lower()}">'
        f'<table class="{key}"><thead><tr>'
        f"{''.join(heads)}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
        + "".join(f'<p class="note">{note}</p>' for note in notes)
        + "</section>"
    )


def _number(column: Column, value: float, scale: float) -> str:
    """Instants to the microsecond, everything else to four digits."""
    if column.unit == "s" and not column.scaled:
        return f"{value:.6f}"
    return digits(value * scale) if np.isfinite(value) else digits(value)


def _speaks(value: float, least: float) -> bool:
    return bool(np.isfinite(value)) and abs(value) > least


def _scale(column: Column, values: Sequence[float]) -> tuple[float, str]:
    finite = [abs(v) for v in values if np.isfinite(v)]
    return prefix(max(finite, default=0.0), 4) if column.scaled else (1.0, "")


def _head(name: str, unit: str) -> str:
    return f"<th>{escape(name)}{f' <span>[{escape(unit)}]</span>' if unit else ''}</th>"


def _cell(name: str, value: float, shown: str) -> str:
    return f'<td data-name="{escape(name)}" data-value="{float(value)!r}">{escape(shown)}</td>'


def quantity_table(rows: Sequence[Quantity]) -> str:
    """Numbers beside what they should be; the tolerance says what a 0 is worth."""
    if not rows:
        return ""
    body = []
    for q in rows:
        value, difference = _without_rounding(q)
        allowed = "" if q.allowed is None else f"± {float(q.allowed):.2g}"
        cells = [f'<td class="word">{escape(str(q.name))}</td>']
        cells.append(f'<td title="{escape(_exact(q.value))}">{escape(_shown(value))}</td>')
        cells.append(f'<td class="word">{escape(str(q.unit))}</td>')
        cells += [f"<td>{escape(x)}</td>" for x in (_shown(q.expected), _shown(difference, 3), allowed)]
        cells.append(f'<td class="word verdict">{escape(str(q.verdict))}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    heads = ("quantity", "value", "unit", "expected", "difference", "tolerance", "verdict")
    left = {"quantity", "unit", "verdict"}
    head = "".join(f'<th class="word">{h}</th>' if h in left else f"<th>{h}</th>" for h in heads)
    return (
        '<section aria-labelledby="numbers"><h2 id="numbers">Numbers</h2>'
        '<div class="scroll" tabindex="0" role="group" aria-label="Table of numbers">'
        f'<table class="quantities"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
        "</div></section>"
    )


def _without_rounding(q: Quantity) -> tuple[Any, Any]:
    """Value and difference; 0 where 0 is expected and the tolerance is kept, and where only rounding differs."""
    if q.expected is None or q.difference is None or not np.isfinite(q.difference):
        return q.value, q.difference
    if q.expected == 0.0:
        nothing = q.allowed is not None and abs(q.value) <= q.allowed
        return (0.0, 0.0) if nothing else (q.value, q.difference)
    return q.value, 0.0 if abs(q.difference) <= ROUNDING * abs(q.expected) else q.difference


def _exact(value: Any) -> str:
    return repr(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _shown(value: Any, count: int = 6) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    try:
        return f"{float(value):.{count}g}"
    except (TypeError, ValueError):
        return str(value)
