"""Forward dynamics of a chain: time per state, carom's explicit and recursive equations beside Pinocchio and MuJoCo.

    python benchmarks/forward_dynamics.py [--json FILE] [--strict]

The chain: n uniform rods of 1 m and 1 kg, hinges about z, fixed base, gravity 9.81 m/s^2 along -y, random states.
What the columns mean and what is fair about them: benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

from carom import dynamics
from chain_engines import (
    BATCH,
    CAROM,
    Entry,
    carom_entries,
    empty_calls,
    mujoco_entries,
    pinocchio_entries,
    pinocchio_pool,
)
from timing import cores, digits, free_memory, machine, one_blas_thread, race, table

LINKS = (2, 4, 8, 16, 64, 256, 1024)
AGREE = 1e-8  # largest relative deviation between engines
GROWTH = 5.0  # largest factor in time from 256 to 1024 links, 4 if exactly linear
SMALL = 8  # links up to which a batch must beat the other engines

OTHERS = ("aba", "mj_forward")


@dataclasses.dataclass(frozen=True)
class Cell:
    """One contender at one number of links: its time, or why there is none."""

    links: int
    mode: str  # "single", "loop" (single, in a compiled loop), "batch"
    name: str
    seconds: float | None = None  # per state
    compile: float | None = None  # [s]
    deviation: float | None = None  # of accelerations, relative, from the recursive ones
    missing: str | None = None


# -- measuring ---------------------------------------------------------------------------------------------------------


def measure(n: int, rounds: int, seconds: float) -> list[Cell]:
    """All contenders at one number of links, taking turns."""
    entries: dict[tuple[str, str], Entry] = {}
    cells: list[Cell] = []
    for name in CAROM:
        entries |= {(mode, name): entry for mode, entry in carom_entries(n, name).items()}
    if ("batch", "explicit") not in entries:
        above = "as above: at this size the call itself costs nothing"
        cells.append(Cell(n, "loop", "explicit", missing=above))
        size = BATCH * n * n * 8 / 1e9
        cells.append(
            Cell(n, "batch", "explicit", missing=f"one mass matrix per state: {size:.0f} GB, and copies of it")
        )

    need = 65.0 * n**3  # bytes, measured with pin 4.1: its workspace grows with the cube of the joints
    reason = f"Pinocchio's workspace for {n} joints: {need / 1e9:.0f} GB"
    if need < 0.5 * free_memory():
        entries |= {(mode, "aba"): entry for mode, entry in pinocchio_entries(n).items()}
    else:
        cells += [Cell(n, mode, "aba", missing=reason) for mode in ("single", "batch")]
    if need * cores() < 0.5 * free_memory():
        entries["batch", "aba, C++ loop"] = pinocchio_pool(n)
    else:
        cells.append(Cell(n, "batch", "aba, C++ loop", missing=f"{reason}, once per core"))
    try:
        entries |= {(mode, "mj_forward"): entry for mode, entry in mujoco_entries(n).items()}
    except ValueError as refusal:  # a tree can be too deep for it
        reason = f"MuJoCo refuses the chain of {n}: {str(refusal).splitlines()[0].removeprefix('Error: ')}"
        cells += [Cell(n, mode, "mj_forward", missing=reason) for mode in ("single", "batch")]

    reference = entries["batch", "recursive"][1]()
    times = race({f"{mode}/{name}": entry[0] for (mode, name), entry in entries.items()}, rounds, seconds)
    for (mode, name), (_, check, compile_time) in entries.items():
        deviation = None if mode == "loop" else _deviation(check(), reference)
        cells.append(Cell(n, mode, name, times[f"{mode}/{name}"], compile_time, deviation))
    return cells


def _deviation(found: np.ndarray, reference: np.ndarray) -> float:
    found = np.atleast_2d(found)
    expected = reference[: len(found)]
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


# -- printing ----------------------------------------------------------------------------------------------------------


class Report:
    """Tables and verdicts over all cells of a run."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = {(c.mode, c.name, c.links): c for c in cells}
        self.links = sorted({c.links for c in cells})
        self.notes: list[str] = []

    def seconds(self, mode: str, name: str, n: int) -> float | None:
        cell = self.cells.get((mode, name, n))
        return None if cell is None else cell.seconds

    def time(self, mode: str, name: str, n: int) -> str:
        """Time per state in us, and in brackets its ratio to Pinocchio's ABA in the same table."""
        cell = self.cells[mode, name, n]
        if cell.seconds is None:
            if cell.missing not in self.notes:
                self.notes.append(str(cell.missing))
            return f"- [{self.notes.index(str(cell.missing)) + 1}]"
        aba = self.seconds("batch" if mode == "batch" else "single", "aba", n)
        ratio = "" if aba is None else f" ({digits(cell.seconds / aba)})"
        return digits(cell.seconds, 1e6) + ratio

    def times(self, columns: Sequence[tuple[str, str, str]]) -> str:
        rows = [[str(n), *(self.time(mode, name, n) for _, mode, name in columns)] for n in self.links]
        return table(["links", *(head for head, _, _ in columns)], rows)

    def compiling(self) -> str:
        """Compile times of carom, and how far accelerations are from the recursive ones of the batch."""
        heads = [(mode, name) for mode in ("single", "batch") for name in CAROM]
        rows = []
        for n in self.links:
            times = [self.cells[(*head, n)].compile for head in heads]
            off = [max(d for d in self._deviations(n, name) or [np.nan]) for name in ("explicit", *OTHERS)]
            rows.append(
                [str(n), *("-" if t is None else digits(t) for t in times)]
                + ["-" if np.isnan(d) else f"{d:.0e}" for d in off]
            )
        return table(["links", *(f"{name} {mode}" for mode, name in heads), "explicit off", "aba off", "mj off"], rows)

    def _deviations(self, n: int, name: str) -> list[float]:
        found = [c for (_, who, links), c in self.cells.items() if links == n and who.startswith(name)]
        return [c.deviation for c in found if c.deviation is not None]

    def verdicts(self) -> list[tuple[str, bool]]:
        """What was promised: a sentence, and whether it holds. Only what this run has measured."""
        found = []
        for mode, words in (("single", "single"), ("loop", "single in a loop"), ("batch", "batch")):
            many, few = self.seconds(mode, "recursive", 1024), self.seconds(mode, "recursive", 256)
            if many and few:
                sentence = f"1024 / 256 links, recursive, {words}: {many / few:.1f} times (at most {GROWTH:.0f})"
                found.append((sentence, many / few <= GROWTH))
        for others, words in ((OTHERS, "best other"), (("aba, C++ loop",), f"ABA looped in C++ on {cores()} cores")):
            ratios = {n: self._against(n, others) for n in self.links if n <= SMALL}
            shown = ", ".join(f"{ratio:.2f} (n = {n})" for n, ratio in ratios.items())
            if ratios:
                sentence = f"batch, n <= {SMALL}: carom / {words}: {shown} (below 1)"
                found.append((sentence, max(ratios.values()) < 1))
        worst = max(c.deviation for c in self.cells.values() if c.deviation is not None)
        found.append((f"accelerations agree to {worst:.0e} (at most {AGREE:.0e})", worst <= AGREE))
        return found

    def _against(self, n: int, others: Sequence[str]) -> float:
        """Batch time of the formalism that carom chooses by itself over the best of the others."""
        chosen = dynamics.formalism_of(None, n).name
        mine = next(name for name, formalism in CAROM.items() if formalism == chosen)
        times = [self.seconds("batch", name, n) for name in (mine, *others)]
        known = [t for t in times[1:] if t is not None]
        return float(times[0] or np.nan) / min(known, default=np.nan)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, nargs="+", default=LINKS, help="numbers of links")
    parser.add_argument("--rounds", type=int, default=5, help="turns of every contender")
    parser.add_argument("--seconds", type=float, default=0.1, help="length of a turn")
    parser.add_argument("--json", type=Path, help="also write everything to this file")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a promise is broken")
    options = parser.parse_args()

    jax.config.update("jax_platforms", "cpu")  # all engines on the same processor
    jax.config.update("jax_enable_compilation_cache", False)  # compile times are for real
    about = machine(["jax", "jaxlib", "numpy", "pin", "mujoco"])
    print(f"{about['processor']}, {about['cores']} cores (load {about['load']}), Python {about['python']},")
    print(", ".join(f"{name} {version}" for name, version in about["versions"].items()), flush=True)

    start, cells = time.perf_counter(), []
    for n in options.links:
        cells += measure(n, options.rounds, options.seconds)
    report, calls = Report(cells), empty_calls()

    recursive, explicit = ("recursive", "recursive"), ("explicit", "explicit")
    aba, mj = ("Pinocchio aba", "single", "aba"), ("MuJoCo mj_forward", "single", "mj_forward")
    print("\nForward dynamics, us per state (in brackets: over Pinocchio's aba)\n\nOne state per call from Python")
    print(report.times([(head, "single", name) for head, name in (explicit, recursive)] + [aba, mj]))
    print("\nOne state after the other in a compiled loop (brackets: over aba called from Python)")
    print(report.times([(head, "loop", name) for head, name in (explicit, recursive)]))
    print(f"\nBatches of {BATCH} states")
    engines = [aba, ("aba, C++ loop", "", "aba, C++ loop"), mj]
    print(
        report.times(
            [(head, "batch", name) for head, name in (explicit, recursive)] + [(h, "batch", n) for h, _, n in engines]
        )
    )
    for i, note in enumerate(report.notes, 1):
        print(f"[{i}] {note}")
    print("\nCompile time [s], and largest relative deviation of accelerations from the recursive ones")
    print(report.compiling())
    print(
        "\nA call from Python that computes nothing: " + ", ".join(f"{k} {digits(t, 1e6)} us" for k, t in calls.items())
    )

    verdicts = report.verdicts()
    print()
    for sentence, holds in verdicts:
        print(f"{'ok    ' if holds else 'BROKEN'} {sentence}")
    print(f"({time.perf_counter() - start:.0f} s)")
    if options.json:
        content = {"machine": about, "batch": BATCH, "empty_call_seconds": calls}
        content |= {"cells": [dataclasses.asdict(c) for c in cells], "verdicts": dict(verdicts)}
        options.json.write_text(json.dumps(content, indent=1) + "\n")
    if options.strict and not all(holds for _, holds in verdicts):
        raise SystemExit(1)


if __name__ == "__main__":
    one_blas_thread()
    main()
