"""A comparison as one HTML page: pictures in step, curves over one another, a table of differences."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from ..._arguments import NamesInOrder
from ...report._data import _doubles as doubles
from ...report._data import _floats as floats
from ...report._data import as_json, viewer_data
from ...report._story import story
from ...report.page import script_hash
from ...report.samples import struck
from ...result._files import write_text
from ._compared import Compared
from ._differences import Difference
from ._shared_assets import asset, shared_script, shared_style

HEADS = {"run": "The runs", "quantity": "Quantities", "impact": "Impacts", "signal": "Signals"}
FIRST = ("normal force", "angle", "site position", "kinetic energy")  # curves that are shown at the beginning


def write_page(
    sides: Sequence[Compared], differences: Sequence[Difference], path: Path, chosen: NamesInOrder | None
) -> Path:
    """Write the page: whole, or not at all."""
    script = f'(function () {{\n"use strict";\n{shared_script()}{asset("comparison.js")}\n}})();'
    labels = " and ".join(side.label for side in sides)
    data = {"sides": [_side(side) for side in sides], "chosen": list(chosen or _first(sides))}
    text = Template(asset("comparison.html")).substitute(
        title=escape(f"Compared: {labels}"),
        script=script,
        script_hash=script_hash(script),
        style=shared_style() + asset("comparison.css"),
        data=as_json(data),
        tables="".join(_table(kind, sides, differences) for kind in HEADS),
        words="".join(_words(side) for side in sides),
    )
    write_text(path, text)
    return path


def _first(sides: Sequence[Compared]) -> list[str]:
    """Signals that are shown before others are chosen: of each kind, what varies most of what all sides have."""
    shared = [name for name in sides[0].signals if all(name in side.signals for side in sides)]
    out = []
    for word in FIRST:
        own = {_span(sides, name): name for name in reversed(shared) if name[: len(word)] == word}
        if own and max(own) > 0.0:
            out.append(own[max(own)])
    return out or shared[:1]


def _span(sides: Sequence[Compared], name: str) -> float:
    return max(float(np.ptp(side.signals[name].values)) for side in sides)


def _side(side: Compared) -> dict[str, Any]:
    """Its picture, if there is one, and its curves."""
    signals = [{"name": name, "unit": s.unit, "y": floats(s.values)} for name, s in side.signals.items()]
    out: dict[str, Any] = {"label": side.label, "t": doubles(side.times), "signals": signals, "viewer": None}
    if side.clips:
        listed = _struck(side)
        out["viewer"] = viewer_data(side.clips, [each for each in listed if each.impact.struck])
    return out


def _struck(side: Compared) -> list[Any]:
    seam = None if side.experiment is None else side.experiment.seam
    return struck(side.clips, () if seam is None else (seam,))


def _words(side: Compared) -> str:
    words = " ".join(story(side.clips, _struck(side))) if side.clips else "A table of a run: curves, and no picture."
    return f"<p><b>{escape(side.label)}:</b> {escape(words)}</p>"


def _table(kind: str, sides: Sequence[Compared], differences: Sequence[Difference]) -> str:
    rows = [row for row in differences if row.kind == kind]
    if not rows:
        return ""
    heads = "".join(f"<th>{escape(side.label)}</th>" for side in sides)
    body = "".join(
        f'<tr><td class="word">{escape(row.name)}</td>'
        + "".join(f"<td>{_shown(value)}</td>" for value in row.values)
        + f"<td>{escape(row.unit)}</td><td>{_spread(row)}</td></tr>"
        for row in rows
    )
    table = (
        f'<div class="scroll tall" tabindex="0" role="region" aria-label="{HEADS[kind]}"><table><thead><tr>'
        f'<th class="word">number</th>{heads}<th >unit</th><th>difference</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
    if kind == "signal":
        return f"<details><summary>{HEADS[kind]}: {len(rows)} numbers</summary>{table}</details>"
    return f"<h2>{HEADS[kind]}</h2>{table}"


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.7g}"


def _spread(row: Difference) -> str:
    if row.spread is None:
        return ""
    if row.spread == 0.0:
        return "equal"
    return f"{row.spread:+.3g}" if row.percent is None else f"{row.percent:+.3g} %"
