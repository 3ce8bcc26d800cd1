"""The page: words, tables and figures around the viewer."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib import resources
from itertools import accumulate
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np

from ..result.drawing import Clip, clips_of
from ..result.files import write_text
from ..result.impacts import Impact
from .data import as_json, viewer_data
from .samples import Blow, Struck, struck
from .words import digits, plural, prefix, story, unit_of, warnings

SCRIPTS = ("base.js", "clock.js", "motion.js", "scene.js", "lens.js", "scope.js", "viewer.js")
MOST_ROWS = 400  # of the table of impacts


class Quantity(NamedTuple):
    """A number that a scenario is about, beside what it should be; empty where nothing is known."""

    name: str
    value: Any
    unit: str = ""
    expected: Any = None
    difference: Any = None
    verdict: str = ""


class Figure(NamedTuple):
    """A picture: the bytes of a PNG file, and what it shows."""

    png: bytes
    caption: str


def report(
    clips: Any,
    *,
    title: str,
    about: str = "",
    words: Sequence[str] | None = None,
    blows: Sequence[Blow] = (),
    quantities: Sequence[Any] = (),
    figures: Sequence[Any] = (),
    summary: Mapping[str, Any] | None = None,
) -> str:
    """One HTML page, complete in itself: it asks nothing of any network.

    - `clips`: a result, a `Clip`, or several that follow each other
    - `blows`: impacts that belong to no contact, such as a capture where two clips meet
    - `about`: a sentence under the title; `words`: what happened, if not what the results say
    - `quantities`: rows (name, value, unit, expected, difference, verdict); `figures`: (PNG bytes, caption)
    - `summary`: what summary.json holds, to be saved from the page
    """
    clips = clips_of(clips)
    listed = struck(clips, blows)
    impacts = [s for s in listed if s.impact.struck]  # what is counted, and watched
    told = story(clips, impacts) if words is None else words
    data = viewer_data(clips, impacts)
    script = "".join(_asset(name) for name in SCRIPTS)
    script = f'(function () {{\n"use strict";\n{script}\n}})();'
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return Template(_asset("page.html")).substitute(
        script=script,
        script_hash=f"sha256-{digest}",
        style=_asset("style.css"),
        title=escape(str(title)),
        about=f'<p class="about">{escape(str(about))}</p>' if about else "",
        words="".join(f"<p>{escape(p)}</p>" for p in (*map(str, told[:1]), " ".join(map(str, told[1:]))) if p),
        heading="Time microscope" if impacts else "Motion",
        warnings=_warnings(warnings(clips)),
        impacts=_impact_table(listed, clips),
        quantities=_quantity_table([Quantity(*row) for row in quantities]),
        figures=_figures([Figure(*f) for f in figures]),
        note=f'<p class="note">{escape(data["note"])}</p>' if data["note"] else "",
        data=as_json(data),
        summary=_summary(summary),
        footer=_footer(clips),
    )


def write_report(path: Any, clips: Any, **options: Any) -> Path:
    """Write `report(clips, ...)` to a file: whole, or not at all."""
    path = Path(path)
    text = report(clips, **options)
    write_text(path, text)
    return path


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


# -- tables ------------------------------------------------------------------------------------------------------------


class Column(NamedTuple):
    """A column of the table of impacts: a head, a unit that takes a prefix (or none), and how to read its value."""

    head: str
    unit: str
    read: Callable[[Impact], float]
    scaled: bool = True


NAN = float("nan")
COLUMNS = (
    Column("lasts", "s", lambda i: i.duration),
    Column("normal velocity before", "m/s", lambda i: i.normal_velocity_before, False),
    Column("normal velocity after", "m/s", lambda i: i.normal_velocity_after, False),
    Column("restitution", "", lambda i: i.restitution, False),
    Column("largest force", "N", lambda i: i.max_normal_force),
    Column("largest indentation", "m", lambda i: i.max_indentation),
    Column("dent left", "m", lambda i: i.residual_indentation),
    Column("normal impulse", "N s", lambda i: i.normal_impulse),
    Column("kinetic energy lost", "J", lambda i: i.kinetic_energy_before - i.kinetic_energy_after if i.struck else NAN),
)


def _impact_table(impacts: Sequence[Struck], clips: Sequence[Clip]) -> str:
    if not impacts:
        return ""  # the words say so
    shown = impacts[:MOST_ROWS]
    columns = [c for c in COLUMNS if any(_speaks(c.read(s.impact)) for s in impacts)]
    scales = [_scale(c, [c.read(s.impact) for s in impacts]) for c in columns]
    heads = ["<th>no.</th>", '<th class="word">contact</th>', _head("begins", "s")]
    heads += [_head(c.head, f"{letter}{c.unit}") for c, (_, letter) in zip(columns, scales, strict=True)]
    rows = []
    counts = accumulate(int(s.impact.struck) for s in shown)
    for number, s in zip(counts, shown, strict=True):
        button = f'<button class="go" data-impact="{number}" title="show impact {number}">{number}</button>'
        cells = [
            f"<td>{button if s.impact.struck else ''}</td>",
            f'<td class="word">{escape(s.impact.contact)}</td>',
            _cell("t_start", s.start, f"{s.start:.6f}"),
        ]
        for c, (scale, _) in zip(columns, scales, strict=True):
            value = c.read(s.impact)
            cells.append(_cell(c.head, value, digits(value * scale) if np.isfinite(value) else digits(value)))
        rows.append(f"<tr>{''.join(cells)}</tr>")
    left = len(impacts) - len(shown)
    notes = [f"{plural(left, 'more impact')} are in impacts.csv."] if left else []
    if not all(s.impact.struck for s in impacts):
        notes.append("A contact without a number was closed, and took its share of the blow above it.")
    if any(s.blow is None and unit_of(clips[s.clip], s.impact.contact) == "rad" for s in impacts):
        notes.append("At a joint's stop, metres are radians, and newtons are newton metres.")
    return (
        '<section aria-labelledby="impacts"><h2 id="impacts">Impacts</h2>'
        '<div class="scroll tall" tabindex="0" role="region" aria-label="Impacts"><table class="impacts"><thead><tr>'
        f"{''.join(heads)}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        + "".join(f'<p class="note">{note}</p>' for note in notes)
        + "</section>"
    )


def _speaks(value: float) -> bool:
    return bool(np.isfinite(value)) and value != 0.0


def _scale(column: Column, values: Sequence[float]) -> tuple[float, str]:
    finite = [abs(v) for v in values if np.isfinite(v)]
    return prefix(max(finite, default=0.0)) if column.scaled else (1.0, "")


def _head(name: str, unit: str) -> str:
    return f"<th>{escape(name)}{f' <span>[{escape(unit)}]</span>' if unit else ''}</th>"


def _cell(name: str, value: float, shown: str) -> str:
    return f'<td data-name="{escape(name)}" data-value="{float(value)!r}">{escape(shown)}</td>'


def _quantity_table(rows: Sequence[Quantity]) -> str:
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


# -- the rest ----------------------------------------------------------------------------------------------------------


def _warnings(sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    return f'<ul class="warnings">{"".join(f"<li>{escape(s)}</li>" for s in sentences)}</ul>'


def _figures(figures: Sequence[Figure]) -> str:
    if not figures:
        return ""
    out = []
    for f in figures:
        picture = base64.b64encode(f.png).decode("ascii")
        caption = escape(str(f.caption))
        out.append(
            f'<figure><button class="large" aria-label="Show larger: {caption}"><img alt="{caption}" '
            f'src="data:image/png;base64,{picture}"></button><figcaption>{caption}</figcaption></figure>'
        )
    return (
        '<section aria-labelledby="figures"><h2 id="figures">Figures</h2>'
        f'<div class="figures">{"".join(out)}</div></section>'
    )


def _summary(summary: Mapping[str, Any] | None) -> str:
    if summary is None:
        return ""
    return (
        f'<script type="application/json" id="carom-summary">{as_json(_plain(summary))}</script>'
        '<p class="note"><button class="link" id="save-summary">Save the numbers of this run (summary.json)</button>'
        "</p>"
    )


def _plain(value: Any) -> Any:
    """As JSON has it: no arrays, no infinities."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _footer(clips: Sequence[Clip]) -> str:
    steps = sum(clip.result.statistics.steps for clip in clips)
    seconds = sum(clip.result.statistics.run_seconds for clip in clips)
    return escape(f"{plural(steps, 'accepted step')}, computed in {digits(seconds, 3)} s by carom.")
