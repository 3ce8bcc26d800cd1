"""Draws what the tables of documents say: ledgers and sources (docs/validation.md), speeds (benchmarks/README.md).

.venv/bin/python tools/table_figures.py        # writes docs/img/validation-*.png and docs/img/benchmark-*.png

Numbers are read from the tables themselves, from the shipped scenarios and from verify/reproduced.json, so that a
figure never says anything else than what is printed beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from carom.figures import style
from carom.scenario.library import load, names
from carom.scenario.model import Scenario

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "img"
VALIDATION, BENCHMARKS = ROOT / "docs" / "validation.md", ROOT / "benchmarks" / "README.md"
REPRODUCED = ROOT / "verify" / "reproduced.json"
EXACT = 1e-14  # [%] on a logarithmic axis, where the table says 0
PRINTED = 5e-7  # relative: half of the last of seven digits, which is what the record has
Table = list[list[str]]


def main() -> None:
    """Entry point."""
    IMAGES.mkdir(exist_ok=True)
    ledger(rows_below(VALIDATION, "| scenario |"))
    sources()
    precision(rows_below(BENCHMARKS, "| one run |"))
    growth()
    laws(rows_below(BENCHMARKS, "| law | solver |"))


def rows_below(page: Path, head: str) -> Table:
    """Cells of the table whose first line begins so, without its head.

    >>> rows_below(VALIDATION, "| scenario |")[0][0]
    'arm-controllers'
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith(head))
    out = []
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            break
        out.append([cell.strip() for cell in line.strip().strip("|").split("|")])
    return out


def _save(figure: Any, name: str) -> None:
    figure.savefig(IMAGES / f"{name}.png", metadata={"Software": None})
    print(f"docs/img/{name}.png")


def _by_name(axes: Any, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)


def ledger(rows: Table) -> None:
    """How far the ledger of every scenario is from closed."""
    with style.page(figsize=(6.8, 0.8 + 0.2 * len(rows))) as figure:
        axes = figure.subplots()
        error = np.array([float(row[2]) for row in rows])
        at = np.arange(len(rows))
        axes.plot(np.maximum(error, EXACT), at, "ko", markersize=4.0, label="largest error of the run")
        tolerance = [100.0 * float(row[1].split(", ")[1]) for row in rows]
        axes.plot(tolerance, at, "|", color="#c2410c", markersize=8.0, label="rtol of the run")
        _by_name(axes, [row[0] for row in rows])
        axes.set(xscale="log", xlabel="error of the ledger [% of the energy in play]")
        axes.text(EXACT * 1.4, at[error == 0.0][0] if np.any(error == 0.0) else 0, "0", va="center", fontsize="small")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        _save(figure, "validation-ledger")


def compared() -> list[tuple[float, float]]:
    """Of every number of a source: the relative difference, and the largest that agrees."""
    known = json.loads(REPRODUCED.read_text(encoding="utf-8"))["numbers"]
    out = []
    for name in names():
        scenario = load(name)
        out += _of_one(scenario, known.get(name, {}))
        for each in scenario.variants:
            out += _of_one(scenario.variant(each), known.get(f"{name}-{each}", {}))
    return out


def _of_one(scenario: Scenario, found: dict[str, str]) -> list[tuple[float, float]]:
    out = []
    for key, q in scenario.quantities.items():
        if not q.expected or key not in found:  # of a 0 there is no relative difference
            continue
        allowed = max((q.tolerance or 0.0) * abs(q.expected), q.within or 0.0)
        out.append((abs(float(found[key]) - q.expected) / abs(q.expected), allowed / abs(q.expected)))
    return out


def sources() -> None:
    """Differences from the numbers that sources print, in the order of their size."""
    difference, allowed = np.array(sorted(compared())).T
    at, agrees = np.arange(len(difference)), difference <= np.maximum(allowed, PRINTED)
    with style.page(figsize=(6.8, 3.4)) as figure:
        axes = figure.subplots()
        axes.plot(at, np.maximum(allowed, PRINTED), "_", color="0.5", markersize=6.0, label="what is allowed")
        kinds = ((agrees, "ko", "agrees"), (~agrees, "rv", "differs; the scenario says why"))
        for which, mark, words in kinds:
            if np.any(which):
                told = f"{words} ({int(np.sum(which))})"
                axes.plot(at[which], np.maximum(difference[which], PRINTED), mark, markersize=3.5, label=told)
        axes.axhline(PRINTED, color="0.4", linewidth=0.6)
        axes.annotate(
            "all digits that are recorded agree", (0, PRINTED), (0, 4), textcoords="offset points", fontsize=7
        )
        axes.set(yscale="log", xlabel="numbers of the sources, by difference [-]", ylabel="relative difference [-]")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
        _save(figure, "validation-sources")


def precision(rows: Table) -> None:
    """Error over time of one run, contender by contender."""
    points = [(row[0], float(row[1]), float(row[4])) for row in rows if row[0] != "the same, recorded"]
    kinds: dict[str, list[tuple[str, float, float]]] = {}
    for name, time, error in points:
        kinds.setdefault(_contender(name), []).append((name, time, error))
    with style.page(figsize=(6.8, 4.0)) as figure:
        axes = figure.subplots()
        for k, (kind, each) in enumerate(kinds.items()):
            t, e = [p[1] for p in each], [p[2] for p in each]
            axes.plot(t, e, marker="osD^v<>*"[k], markersize=4.5, label=kind, **style.line(k))
            for name, x, y in each:
                tolerance = re.findall(r"1e-\d+", name)
                beside: dict[str, Any] = {"xytext": (4, 3)} if k % 3 else {"xytext": (-4, -2), "ha": "right"}
                axes.annotate(tolerance[-1], (x, y), textcoords="offset points", fontsize=6, **beside)
        axes.set(
            xscale="log", yscale="log", xlabel="processor time of one run [ms]", ylabel="error of the final state [-]"
        )
        style.legend(axes)
        _save(figure, "benchmark-precision")


def _contender(name: str) -> str:
    """Without its tolerance.

    >>> _contender("carom tsit5 1e-8 (the default), ends")
    'carom tsit5'
    """
    return re.split(r",? 1e-", name)[0]


def _numbers(cells: Sequence[str]) -> np.ndarray:
    return np.array([float(cell) for cell in cells])


def growth() -> None:
    """Time of an attempt over the size of the world."""
    text = BENCHMARKS.read_text(encoding="utf-8")
    chain, plank = rows_below(BENCHMARKS, "| chain with a contact"), rows_below(BENCHMARKS, "| plank with contacts")
    heads = [
        re.findall(r"\d+", line) for line in text.splitlines() if line.startswith(("| chain with", "| plank with"))
    ]
    times = [row[1:] for row in (*chain, *plank) if row[0] == "per attempt [us]"]
    told = ("links of a chain", "compliant contacts of a plank", "rigid contacts of a plank")
    with style.page(figsize=(6.8, 3.2)) as figure:
        axes = figure.subplots()
        for k, (name, cells) in enumerate(zip(told, times, strict=True)):
            sizes = _numbers(heads[min(k, 1)])
            axes.plot(sizes, _numbers(cells), marker="osD"[k], markersize=4.0, label=name, **style.line(k))
        axes.plot([4, 64], [3.0, 48.0], color="0.6", linewidth=0.8, linestyle=":", label="as size does")
        axes.set(xscale="log", yscale="log", xlabel="size [-]", ylabel="time of an attempt [µs]")
        ticks = [1, 2, 4, 8, 16, 32, 64]
        axes.set_xticks(ticks, [str(k) for k in ticks])
        axes.set_yticks([3, 5, 10, 20, 50], ["3", "5", "10", "20", "50"])
        axes.minorticks_off()
        style.legend(axes)
        _save(figure, "benchmark-growth")


def laws(rows: Table) -> None:
    """How many times as fast as SciPy, law by law, by the clock and per core."""
    with style.page(figsize=(6.8, 0.8 + 0.2 * len(rows))) as figure:
        axes = figure.subplots()
        at = np.arange(len(rows))
        axes.plot(_numbers([row[7] for row in rows]), at, "ko", markersize=4.0, label="by the clock, 16 cores")
        axes.plot(_numbers([row[8] for row in rows]), at, "D", color="#c2410c", markersize=3.5, label="per core")
        axes.axvline(100.0, color="0.4", linewidth=0.8, linestyle="--")
        axes.annotate("promised", (100.0, len(rows) - 1), (3, 0), textcoords="offset points", fontsize=7)
        _by_name(axes, [row[0] for row in rows])
        axes.set(xscale="log", xlabel="time of SciPy over time of a lane of carom [-]")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        _save(figure, "benchmark-laws")


if __name__ == "__main__":
    main()
