"""A study as one HTML page: maps and curves of every number, with the values and the command of the run beneath."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np

from ..._arguments import Count, FileLike, StudyLike
from ...errors import CaromError
from ...hybrid import outcome
from ...report.page import script_hash, viewer_script
from ...result._files import write_text
from ...result._json_values import clean
from ._study_formats import flat
from ._study_plays import plays_of
from ._study_store import IMPACT

MOST = 1_000_000  # numbers that a page holds, some 8 MB
ASSETS = Path(__file__).parent / "assets"


def study_page(data: StudyLike, path: FileLike, store: FileLike = "study.zarr", plays: Count = 0) -> Path:
    """Write the page of a study; commands on it open runs of `store`. Of very many runs it has no tables of impacts.

    So many runs, well spread over the study, `plays` when they are clicked: they are run again, and their reports, time
    microscope and all, are a part of the page.
    """
    place, table = Path(path), flat(data)
    if _numbers(table) > MOST and IMPACT in data.dims:
        table = data.drop_dims(IMPACT)
    if _numbers(table) > MOST:
        raise CaromError(
            f"the study has {_numbers(table):,} numbers, and a page holds {MOST:,}; take fewer measures, or a part of "
            "it: data.isel(...)"
        )
    told = _embedded(_told(table, str(store)) | {"plays": plays_of(data, plays)})
    title = html.escape(_title(data))
    style, script = ((ASSETS / name).read_text(encoding="utf-8") for name in ("study.css", "study.js"))
    scripts = " ".join(f"'{script_hash(each)}'" for each in (script, viewer_script()))  # its own, and of runs that play
    page = {"policy": POLICY.format(scripts), "title": title, "about": html.escape(_about(data)), "style": style}
    write_text(place, PAGE.format(data=told, script=script, **page))
    return place


def _embedded(told: dict[str, Any]) -> str:
    """As JSON that no parser of HTML takes for anything else."""
    text = json.dumps(told, ensure_ascii=True, allow_nan=False)
    return text.replace("</", "<\\/").replace("<!--", "<\\u0021--").replace("<script", "<\\u0073cript")


def _numbers(table: StudyLike) -> int:
    return int(sum(column.size for column in table.data_vars.values()))


POLICY = (
    "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title><style>{style}</style></head>
<body><main><h1>{title}</h1><p class="about">{about}</p>
<form id="choose"></form><div class="plot"><canvas id="map" width="900" height="520" tabindex="0" role="application"
aria-describedby="told" aria-label="Map of the runs: arrows go from run to run, Enter chooses one"></canvas></div>
<p id="told" role="status">Move over the picture, or use the arrow keys: the values of a run. Click, or Enter: its
command; where there is a ring, it plays.</p>
<p><code id="command"></code></p>
<iframe id="play" title="The run that was clicked" sandbox="allow-scripts allow-downloads" hidden></iframe></main>
<script type="application/json" id="study">{data}</script><script>{script}</script></body></html>
"""


def _title(data: StudyLike) -> str:
    from ...scenario._text import read

    scenario = read(data.attrs["scenario"]) if data.attrs.get("scenario") else None
    return (scenario.title or scenario.name) if scenario else "A study"


def _about(data: StudyLike) -> str:
    codes = np.asarray(data["outcome"].values)
    bad = int(np.sum(~np.isin(codes, outcome.GOOD)))
    words = f"{codes.size:,} runs over {', '.join(map(str, _parameters(data)))}; {bad:,} of them failed"
    return f"{words}; carom {data.attrs.get('carom_version', '')}, {data.attrs.get('back_end', '')}"


def _parameters(data: StudyLike) -> list[Any]:
    return [name for name in data.coords if name not in ("impact", "point")]


def _told(data: StudyLike, store: str) -> dict[str, Any]:
    """What the script draws: parameters, numbers of every run in one row, words of the outcomes."""
    points = "point" in data.dims
    dims = [str(d) for d in data["outcome"].dims]
    variables = {
        str(name): {
            "unit": str(column.attrs.get("units", "-")),
            "values": _rounded(column.transpose(*dims).values.ravel()),
        }
        for name, column in data.data_vars.items()
        if name != "outcome"
    }
    return {
        "store": store,
        "points": points,
        "shape": [int(data.sizes[d]) for d in dims],
        "axes": [
            {"path": str(name), "values": data[name].values.tolist()}
            for name in (_parameters(data) if points else dims)
        ],
        "variables": variables,
        "outcome": np.asarray(data["outcome"].transpose(*dims).values).ravel().tolist(),
        "good": list(outcome.GOOD),
        "words": {str(code): words for code, words in outcome.WORDS.items()},
    }


def _rounded(values: np.ndarray) -> Any:
    """Seven digits, which is more than a picture shows; None where a run has no number."""
    return clean([float(f"{x:.7g}") if np.isfinite(x) else None for x in np.asarray(values, dtype=float).tolist()])
