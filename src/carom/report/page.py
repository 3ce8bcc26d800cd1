"""The page: words, tables and figures around the viewer."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from .._arguments import ClipsLike
from ..result._clip import Clip, clips_of
from ..result._files import write_text
from ..result._json_values import clean
from ._data import as_json, viewer_data
from ._facts import as_html, facts
from ._story import digits, plural, story, warnings
from .samples import Seam, struck
from .tabled import Quantity, impact_table, quantity_table, stance_table

# In this order: they are joined into one script, and each uses those before it.
SCRIPTS = (
    "base.js",
    "clock.js",
    "motion.js",
    "scene.js",
    "lens.js",
    "time_axis.js",
    "scope.js",
    "viewer.js",
    "hands.js",
    "opening.js",
)

LONGEST = 400  # characters that a controller is told in


class Figure(NamedTuple):
    """A picture: the bytes of a PNG file, and what it shows."""

    png: bytes
    caption: str


def report(
    clips: ClipsLike,
    *,
    title: str,
    about: str = "",
    words: Sequence[str] | None = None,
    blows: Sequence[Seam] = (),
    quantities: Sequence[Any] = (),
    figures: Sequence[Any] = (),
    summary: Mapping[str, Any] | None = None,
    embedded: bool = False,
) -> str:
    """One HTML page, complete in itself: it asks nothing of any network.

    - `clips`: a result, a `Clip`, or several that follow each other
    - `blows`: impacts that belong to no contact, such as a capture where two clips meet
    - `about`: a sentence under the title; `words`: what happened, if not what the results say
    - `quantities`: rows (name, value, unit, expected, difference, verdict, allowed difference); `figures`: (PNG bytes,
      caption)
    - `summary`: what summary.json holds, to be saved from the page
    - `embedded`: as part of another page, which has a title of its own
    """
    clips = clips_of(clips)
    listed = struck(clips, blows)
    impacts = [s for s in listed if s.impact.struck]  # what is counted, and watched
    told = story(clips, listed) if words is None else words
    data = viewer_data(clips, impacts)
    numbers = [Quantity(*row) for row in quantities]
    script = viewer_script()
    return Template(_asset("page.html")).substitute(
        script=script,
        script_hash=script_hash(script),
        style=_asset("style.css"),
        title=escape(str(title)),
        body=' class="embedded"' if embedded else "",
        about=f'<p class="about">{_marked(about)}</p>' if about else "",
        words="".join(f"<p>{escape(p)}</p>" for p in (*map(str, told[:1]), " ".join(map(str, told[1:]))) if p),
        heading="Time microscope" if impacts else "Motion",
        warnings=_warnings(warnings(clips)),
        impacts=impact_table(listed, clips) + stance_table(clips),
        facts=as_html(facts(clips, listed, numbers)),
        quantities=quantity_table(numbers),
        figures=_figures([Figure(*f) for f in figures]),
        note=f'<p class="note">{escape(data["note"])}</p>' if data["note"] else "",
        data=as_json(data),
        summary=_summary(summary),
        footer=_footer(clips),
    )


def write_report(path: str | Path, clips: ClipsLike, **options: Any) -> Path:
    """Write `report(clips, ...)` to a file: whole, or not at all."""
    path = Path(path)
    text = report(clips, **options)
    write_text(path, text)
    return path


def viewer_script() -> str:
    """The one script of a report."""
    script = "".join(_asset(name) for name in SCRIPTS)
    return f'(function () {{\n"use strict";\n{script}\n}})();'


def script_hash(script: str) -> str:
    """By which the policy of a page lets this script run, and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}"


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _marked(words: str) -> str:
    """Words as HTML; what stands in backticks is code.

    >>> _marked("the variant `held` & more")
    'the variant <code>held</code> &amp; more'
    """
    pieces = [escape(piece) for piece in str(words).split("`")]
    whole = len(pieces) // 2 * 2  # a last backtick without a partner stays
    out = "".join(
        f"{words}<code>{code}</code>" for words, code in zip(pieces[:whole:2], pieces[1:whole:2], strict=True)
    )
    return out + "`".join(pieces[whole:]) if len(pieces) % 2 else escape(str(words))


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
        f'<div class="figures" tabindex="0" role="group" aria-label="All figures">{"".join(out)}</div></section>'
    )


def _summary(summary: Mapping[str, Any] | None) -> str:
    if summary is None:
        return ""
    return (
        f'<script type="application/json" id="carom-summary">{as_json(clean(summary))}</script>'
        '<p class="note"><button class="link" id="save-summary">Save the numbers of this run (summary.json)</button>'
        "</p>"
    )


def _footer(clips: Sequence[Clip]) -> str:
    steps = sum(clip.result.statistics.steps for clip in clips)
    seconds = sum(clip.result.statistics.run_seconds for clip in clips)
    made = "; ".join(dict.fromkeys(str(clip.result.made) for clip in clips))
    driven = [
        f"{name}: {words if len(words) <= LONGEST else f'{words[: LONGEST - 3]}...'}"
        for clip in clips
        for automaton in clip.result.world.automata
        if automaton.report.drive is not None
        for name, words in automaton.report.words
    ]
    by = f" Driven by {'; '.join(dict.fromkeys(driven))}." if driven else ""
    return escape(f"{plural(steps, 'accepted step')}, computed in {digits(seconds, 3)} s by {made}.{by}")
