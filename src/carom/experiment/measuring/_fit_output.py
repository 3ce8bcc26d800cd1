"""Writing a fit: a folder that appears complete or not at all.

fit.json  scenario.toml (with the estimates)  residuals.csv  figures/*.png  fit.html
"""

from __future__ import annotations

import base64
import csv
import html
import io
import json
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ...report._story import plural
from ...result._files import FileError, Folder, sentence, uninterrupted, write_text
from ...result._json_values import clean
from ._fit_figures import figures_of_fit
from .fit_scenario import ScenarioFit


def write_fit(found: ScenarioFit, path: Path, replace: bool = False, say: Any = lambda words: None) -> Path:
    """Everything that a fit has to tell."""
    folder = Folder(path, replace)
    try:
        with uninterrupted("writing the fit; Ctrl-C once more stops at once, and loses it"):
            told = fit_numbers(found)
            text = json.dumps(clean(told), indent=1, ensure_ascii=False, allow_nan=False)
            write_text(folder.half / "fit.json", text + "\n")
            write_text(folder.half / "scenario.toml", found.scenario.toml())
            write_text(folder.half / "residuals.csv", residual_rows(found))
            (folder.half / "figures").mkdir()
            pictures = []
            for number, (name, words, figure) in enumerate(figures_of_fit(found), start=1):
                say(f"figure {name}")
                picture = io.BytesIO()
                figure.savefig(picture, format="png")
                (folder.half / "figures" / f"{number:02d}-{_plain(name)}.png").write_bytes(picture.getvalue())
                pictures.append((words, picture.getvalue()))
            write_text(folder.half / "fit.html", fit_page(found, told, pictures))
            folder.finish()
    except FileError as refusal:
        raise FileError(str(refusal).replace(str(folder.half), str(folder.path))) from None
    except OSError as trouble:
        raise FileError(f"{sentence(folder.path, trouble)}; nothing was written") from None
    finally:
        folder.discard()
    return folder.path


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)[:80]


def fit_numbers(found: ScenarioFit) -> dict[str, Any]:
    """The fit as data."""
    fit = found.fit
    return {
        "scenario": found.scenario.name,
        "carom": version("carom"),
        "confidence": fit.confidence,
        "parameters": {
            name: {
                "estimate": fit.estimate[name],
                "standard_error": fit.standard_error[name],
                "interval": list(fit.intervals[name]),
                "on_bound": fit.on_bounds.get(name, ""),
                "used": float(fit.parameters[name]),
            }
            for name in fit.names
        },
        "correlations": fit.correlations.tolist(),
        "undetermined": list(fit.undetermined),
        "advice": list(found.advice),
        "channels": channel_numbers(found),
        "runs": list(found.records.names),
        "degrees_of_freedom": fit.degrees,
        "residuals_by_noise": fit.noise_level,
        "chance": fit.chance,
        "converged": fit.converged,
        "stopped": fit.stopped,
        "evaluations": fit.evaluations,
        "ends": list(fit.ends),
        "derivatives": "exact" if found.predictor.traced else "differences of runs",
    }


def channel_numbers(found: ScenarioFit) -> dict[str, dict[str, Any]]:
    """Of every channel how many data it has, how noisy they are, and what is left of them."""
    out = {}
    for name, measured in found.measured.items():
        there = np.isfinite(measured)
        r = found.fit.residuals[name] / found.fit.noise[name]
        level = found.fit.noise[name][there]
        out[name] = {
            "unit": found.records.unit[name],
            "data": int(there.sum()),
            "gaps": int(found.cells[name].size - there.sum()),
            "noise": float(np.median(level)),
            "noise_from": "residuals" if name in found.fit.noise_found else "stated",
            "rms": float(np.sqrt(np.mean(found.fit.residuals[name][there] ** 2))),
            "rms_by_noise": float(np.sqrt(np.mean(r[there] ** 2))),
            "neighbours": _neighbours(r),
        }
    return out


def _neighbours(r: np.ndarray) -> float:
    """Correlation of residuals with those before them: far from zero, the model misses something that lasts."""
    both = np.isfinite(r[:, 1:]) & np.isfinite(r[:, :-1])
    if np.sum(both) < 8:
        return float("nan")
    a, b = r[:, 1:][both], r[:, :-1][both]
    scale = float(np.sqrt(np.sum(a * a) * np.sum(b * b)))
    return float(np.sum(a * b) / scale) if scale > 0.0 else float("nan")


def residual_rows(found: ScenarioFit) -> str:
    """A row for each datum."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["channel", "unit", "run", "row", "t [s]", "measured", "predicted", "residual", "noise", "band"])
    series = {c.name for c in found.records.series}
    for name, measured in found.measured.items():
        for run, row in np.argwhere(np.isfinite(measured)):
            t = repr(float(found.records.times[run, row])) if name in series else ""
            parts = (
                measured,
                found.predicted[name],
                found.fit.residuals[name],
                found.fit.noise[name],
                found.band[name],
            )
            numbers = [repr(float(x[run, row])) for x in parts]
            rows.writerow([name, found.records.unit[name], found.records.names[run], int(row) + 1, t, *numbers])
    return out.getvalue()


# -- the page ----------------------------------------------------------------------------------------------------------

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title><style>{style} img {{ max-width: 100%; background: #fff; border-radius: 8px; }}</style></head>
<body><main><h1>{title}</h1><p class="about">{about}</p>{body}</main></body></html>
"""


def fit_page(found: ScenarioFit, told: dict[str, Any], pictures: list[tuple[str, bytes]]) -> str:
    """Estimates, what they share, what is not determined, and the figures."""
    fit = found.fit
    percent = f"{100 * fit.confidence:g} % interval"
    rows = [_parameter_row(fit.names[k], told["parameters"][fit.names[k]]) for k in range(len(fit.names))]
    body = ["<h2>Estimates</h2>", _table(("number", "estimate", "standard error", percent), rows)]
    words = [*fit.undetermined, *found.advice, *fit.warnings]
    body += ['<ul class="warnings">', *(f"<li>{html.escape(w)}</li>" for w in words), "</ul>"] if words else []
    if len(fit.names) > 1:
        cells = [(n, *(_number(x) for x in row)) for n, row in zip(fit.names, fit.correlations, strict=True)]
        body += ["<h2>Correlations of the estimates</h2>", _table(("", *fit.names), cells)]
    head = ("channel", "data", "gaps", "noise", "from", "residuals, rms", "rms / noise", "correlation of neighbours")
    channels: list[tuple[str, ...]] = [
        (n, str(c["data"]), str(c["gaps"]), f"{_number(c['noise'])} {c['unit']}", c["noise_from"],
         f"{_number(c['rms'])} {c['unit']}", _number(c["rms_by_noise"]), _number(c["neighbours"]))
        for n, c in told["channels"].items()
    ]  # fmt: skip
    body += ["<h2>What was recorded, and what is left of it</h2>", _table(head, channels)]
    for caption, png in pictures:
        data = base64.b64encode(png).decode("ascii")
        body.append(f'<figure><img alt="{html.escape(caption)}" src="data:image/png;base64,{data}">')
        body.append(f'<figcaption class="note">{html.escape(caption)}; bands: two standard deviations of the fit')
        body.append("</figcaption></figure>")
    style = resources.files("carom.report").joinpath("assets", "style.css").read_text(encoding="utf-8")
    title = html.escape(f"Fit of {found.scenario.title or found.scenario.name}")
    runs, exact = plural(len(found.records.names), "run"), told["derivatives"]
    about = f"{runs}, {found.records.data} data; derivatives: {exact}; carom"
    return PAGE.format(
        policy=POLICY, title=title, style=style, about=html.escape(f"{about} {told['carom']}"), body="\n".join(body)
    )


def _parameter_row(name: str, told: dict[str, Any]) -> tuple[str, ...]:
    if not np.isfinite(told["estimate"]):
        return name, "not determined", "", ""
    low, high = told["interval"]
    spread = f"on its {told['on_bound']} value" if told["on_bound"] else _number(told["standard_error"])
    return name, f"{told['estimate']:.6g}", spread, f"{low:.6g} to {high:.6g}"


def _number(x: float) -> str:
    return f"{x:.3g}" if np.isfinite(x) else "-"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table whose first column has words."""
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    lines = "".join(
        f'<tr><td class="word">{html.escape(row[0])}</td>'
        + "".join(f"<td>{html.escape(c)}</td>" for c in row[1:])
        + "</tr>"
        for row in rows
    )
    name = html.escape(f"Table by {head[0]}" if head[0] else "Correlations")
    box = f'<div class="scroll" tabindex="0" role="group" aria-label="{name}">'
    return f"{box}<table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>"
