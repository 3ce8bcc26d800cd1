"""What things look like in a notebook: a drawing, a table, or the player of a run; nothing to install.

Jupyter asks an object for `_repr_html_`; those of carom ask this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape

import numpy as np

from ..hybrid.world import World
from ..mechanism import Mechanism, State
from ..result._columns import IMPACTS
from ..result.impacts import Impact
from ..result.result import Result
from ..study.batches import Batch
from ._sketch import sketch
from ._story import digits
from .page import report

TALL = 760  # [px] of a player
MOST = 12  # rows of a table
CELL = 'style="text-align:left;padding:0.15em 0.9em 0.15em 0"'


@singledispatch
def as_html(thing: object) -> str:
    """A piece of a page; of what has no picture, its text."""
    return preformatted(repr(thing))


def preformatted(text: str) -> str:
    return f'<pre style="white-space:pre-wrap;line-height:1.35">{escape(text)}</pre>'


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th {CELL}>{escape(h)}</th>" for h in heads)
    body = "".join("<tr>" + "".join(f"<td {CELL}>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def player(result: Result) -> str:
    """The report's viewer, tables below it, in a frame of its own: its script sees nothing of the notebook."""
    page = report(result, title="A run of carom", embedded=True)
    return (
        f'<iframe title="player of a run" sandbox="allow-scripts" srcdoc="{escape(page)}" loading="lazy" '
        f'style="width:100%;height:{TALL}px;border:0"></iframe>'
    )


@as_html.register
def _(world: World) -> str:
    return sketch(world) + preformatted(repr(world))


@as_html.register
def _(mechanism: Mechanism) -> str:
    return sketch(World(mechanism)) + preformatted(repr(mechanism))


@as_html.register
def _(state: State) -> str:
    if state.lanes is not None:
        return preformatted(repr(state))
    rows = [(f"q[{k}]", f"{q:.6g}", f"{v:.6g}") for k, (q, v) in enumerate(zip(state.q, state.v, strict=True))]
    rows += [(name, f"{value:.6g}", "") for name, value in state.extra.items()]
    return table(("coordinate", "value", "velocity"), rows)


@as_html.register
def _(result: Result) -> str:
    return player(result)


@as_html.register
def _(impact: Impact) -> str:
    told = [(c.words, c.read(impact), c.unit.strip("-")) for c in IMPACTS if c.unit]
    rows = [(name, digits(value, 6), unit) for name, value, unit in told if np.isfinite(value)]
    title = f"<b>impact of {escape(repr(impact.contact))}</b>" + (
        "" if impact.struck else ", a share of another's blow"
    )
    return f"<p>{title}</p>" + table(("", "value", "unit"), rows)


@as_html.register
def _(batch: Batch) -> str:
    """What was measured, lane by lane: the spread of every number, and the first lanes."""
    out = preformatted(repr(batch))
    if not batch.measures:
        return out
    rows = []
    for name, values in batch.measures.items():
        found = np.asarray(values, dtype=float)
        known = found[np.isfinite(found)]
        spread = [f"{f(known):.5g}" for f in (np.min, np.median, np.max)] if len(known) else ["–"] * 3
        rows.append((name, f"{len(known)} of {len(found)}", *spread, ", ".join(f"{v:.4g}" for v in found[:MOST])))
    return out + table(("measure", "lanes with it", "least", "median", "largest", f"first {MOST}"), rows)
