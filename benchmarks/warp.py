"""Counts what a warp of 32 lanes executes for an attempt at a step, without a GPU.

    .venv/bin/python benchmarks/warp.py [arm] [valve]         # needs g++, and NVIDIA's nvcc and nvdisasm on the path

The kernel's source runs on this machine, neighbouring lanes one after the other, and counts in which of its blocks
each of them is, attempt by attempt: a warp goes where any of its lanes goes. NVIDIA's compiler says how many
instructions a block has, and for how long each holds up the next one. What is waited for (code, memory) is not counted,
nor is what is called, which few numbers need.
"""

from __future__ import annotations

import ctypes
import dataclasses
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import jax
import numpy as np
from tests.unit.test_cuda import STAND_INS

from carom import native
from carom.native._cuda import Source, _bits
from carom.study import _lanes

WARP, WARPS, ATTEMPTS = 32, 8, 1500
FIRST = {"arm": (1_000,), "valve": (8_000, 40_000)}  # attempts before those that are counted
LATENCY = {"MUFU": 30, "LDC": 40, "LDL": 35, "LDG": 300, "STL": 15, "STG": 15}  # guesses; of all others 20


class Taken(Exception):
    """A kernel's source, on the way to a GPU."""


@dataclasses.dataclass
class Block:
    """What stands between braces, from a line to a line."""

    number: int
    parent: Block | None
    first: int
    last: int = 0


def kernel(name: str) -> tuple[Source, np.ndarray, np.ndarray]:
    """The source of a benchmark's kernel, and what all lanes and each lane are given."""

    def take(make: Any, how: Any, integration: Any, parameters: Any, given: Any) -> Any:
        rows = [np.asarray(x) for x in jax.tree.leaves((parameters, given))]
        one = jax.tree.map(lambda x: np.asarray(x)[0], (parameters, given))
        lane = lambda *args: _lanes._lane(make, how, "rolled", *args)  # noqa: E731
        source, _ = native.source_of(lane, (integration,), one)
        same = [_bits(np.asarray(x)[None], 1) for x in jax.tree.leaves(integration)]
        raise Taken(source, np.concatenate(same), np.concatenate([_bits(x, len(x)) for x in rows]))

    _lanes._kernel, jax.default_backend = take, lambda: "gpu"
    try:
        if name == "arm":
            import lanes

            lanes.ends_of(WARP * WARPS * 4, "tsit5")
        else:
            import bifurcation

            flows = np.linspace(0.2, 10.0, 768_000).reshape(-1, WARP)
            bifurcation.diagram(flows[:: len(flows) // 24].ravel())
    except Taken as taken:
        return taken.args
    raise RuntimeError(f"{name} made no kernel")


def blocks(lines: list[str]) -> tuple[list[Block], list[Block | None], Block]:
    """The blocks, the one in which each line stands, and the loop over attempts."""
    begin = next(i for i, line in enumerate(lines) if "__global__" in line) + 2
    now = root = Block(0, None, begin, len(lines))
    found, where = [root], [None] * begin
    for i, line in enumerate(map(str.strip, lines[begin:]), begin):
        if line.startswith("}") and now.parent is not None:
            now.last, now = i, now.parent
        where.append(now)
        if line.endswith("{"):
            now = Block(len(found), now, i)
            found.append(now)
    loops = [b for b in found[1:] if b.parent is root and lines[b.first].strip() == "for (;;) {"]
    return found, where, max(loops, key=lambda b: b.last - b.first)


def counted(source: Source, shared: np.ndarray, given: np.ndarray, first: int, folder: Path) -> np.ndarray:
    """How often a warp is in each block for an attempt, from `first` on."""
    lines = source.text.splitlines()
    found, _, main = blocks(lines)
    size = len(found)
    for b in found[1:]:
        lines[b.first] += " if (next_attempt()) return;" if b is main else f" times[{b.number}]++;"
    counting = f"""
static unsigned char times[{size}], *kept; static long long attempt, begin, end;
static bool next_attempt() {{
  if (attempt > begin && attempt <= end) std::memcpy(kept + (attempt - begin - 1) * {size}, times, {size});
  std::memset(times, 0, {size});
  return ++attempt > end;
}}
"""
    run = """
extern "C" void run(long long n, const double* shared, const double* in, double* out, long long lane, long long first,
                    long long last, unsigned char* rows) {
  begin = first; end = last; attempt = 0; kept = rows; blockIdx.x = lane; blockDim.x = 1;
  carom_lanes(n, shared, in, out);
}
"""
    (folder / "lanes.cpp").write_text(STAND_INS + counting + "\n".join(lines) + run)
    library = folder / f"lanes{first}.so"
    options = ["-O1", "-w", "-mfma", "-shared", "-fPIC"]
    subprocess.run(["g++", *options, "-o", library, folder / "lanes.cpp"], check=True)
    code, lanes, attempts, total = ctypes.CDLL(str(library)), given.shape[1], 0, np.zeros(size)
    out = np.zeros((sum(int(np.prod(shape, dtype=int)) for shape, _ in source.results), lanes))
    for warp in np.linspace(0, lanes // WARP - 1, WARPS).astype(int):
        rows = np.zeros((WARP, ATTEMPTS, size), np.uint8)
        for k in range(WARP):
            addresses = [ctypes.c_void_p(x.ctypes.data) for x in (shared, given, out)]
            numbers = [ctypes.c_longlong(int(x)) for x in (warp * WARP + k, first, first + ATTEMPTS)]
            code.run(ctypes.c_longlong(lanes), *addresses, *numbers, ctypes.c_void_p(rows[k].ctypes.data))
        together = rows.max(axis=0)
        going = together.any(axis=1)
        attempts, total = attempts + int(going.sum()), total + together[going].sum(axis=0)
    times = total / max(attempts, 1)
    times[main.number] = 1.0
    return times


@dataclasses.dataclass
class Straight:
    """Instructions without a branch among them: names, lines of the source, waiting times."""

    names: list[str]
    lines: list[int]
    control: list[int]


def assembled(text: str, folder: Path) -> tuple[list[Straight], str]:
    """The machine code of the kernel, and what the compiler says of registers."""
    (folder / "lanes.cu").write_text(text)
    command = ["nvcc", "-arch=sm_90", "-lineinfo", "-cubin", "-Xptxas", "-v", "-o", folder / "lanes.cubin"]
    said = subprocess.run([*command, folder / "lanes.cu"], check=True, capture_output=True, text=True).stderr
    shown = ["nvdisasm", "-gi", "-hex", "-c", folder / "lanes.cubin"]
    listing = subprocess.run(shown, check=True, capture_output=True, text=True).stdout
    found, line = [Straight([], [], [])], -1
    for row in listing.splitlines():
        if place := re.match(r'\s*//## File ".*?", line (\d+)(?: inlined at ".*?", line (\d+))?', row):
            line = int(place[2] or place[1]) - 1
        elif re.match(r"\$", row):  # what is called for numbers out of the ordinary
            break
        elif re.match(r"\.L_x", row):
            found.append(Straight([], [], []))
        elif code := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s*(?:@!?U?P\w\s+)?([A-Z0-9._]+)", row):
            found[-1].names.append(code[1])
            found[-1].lines.append(line)
        elif found[-1].names and (bits := re.match(r"\s*/\* 0x([0-9a-f]{16}) \*/", row)):
            found[-1].control.append(int(bits[1], 16) >> 41)
            if found[-1].names[-1].startswith(("BRA", "BSYNC", "EXIT", "RET")):
                found.append(Straight([], [], []))
    return found, " ".join(x.strip() for x in said.splitlines() if "spill" in x and "0 bytes stack" not in x)


def cycles(code: Straight) -> int:
    """For a warp that is alone, with all code at hand."""
    now, ready = 0, [0] * 8
    for name, control in zip(code.names, code.control, strict=True):
        waits = [ready[k] for k in range(6) if control >> 11 + k & 1]
        now = max([now, *waits])
        latency = next((n for start, n in LATENCY.items() if name.startswith(start)), 20)
        ready[control >> 5 & 7] = now + latency  # 7 is none
        ready[control >> 8 & 7] = max(ready[control >> 8 & 7], now + min(latency, 15))
        now += max(1, control & 15)
    return now


def is_extraordinary(code: Straight) -> bool:
    """Does it but call what numbers out of the ordinary need?"""
    return any(x.startswith("CALL") for x in code.names) and not any(x.startswith("D") for x in code.names)


def report(name: str) -> None:
    source, shared, given = kernel(name)
    with tempfile.TemporaryDirectory() as place:
        code, said = assembled(source.text, Path(place))
        found, where, main = blocks(source.text.splitlines())
        print(f"{name}: {said}")
        for first in FIRST[name]:
            times = counted(source, shared, given, first, Path(place))
            kinds: Counter[str] = Counter()
            waited, size, last = 0.0, 0, 0
            for straight in code:
                at = Counter(b.number for b in (where[k] for k in straight.lines if k < len(where)) if b is not None)
                last = at.most_common(1)[0][0] if at else last
                inside: Block | None = found[last]
                while inside is not None and inside is not main:
                    inside = inside.parent
                size += len(straight.names) * (inside is main)
                if inside is not main or is_extraordinary(straight):
                    continue
                waited += times[last] * cycles(straight)
                for each in straight.names:
                    kinds["all"] += times[last]
                    kinds["float64"] += times[last] * each.startswith(("DFMA", "DADD", "DMUL", "DSETP"))
                    kinds["spilled"] += times[last] * each.startswith(("LDL", "STL"))
            counts = ", ".join(f"{kind} {count:.0f}" for kind, count in kinds.items())
            print(f"  from attempt {first}: {counts}; {waited:.0f} cycles alone; {size * 16 / 1024:.0f} kB of code")


if __name__ == "__main__":
    for each in sys.argv[1:] or list(FIRST):
        report(each)
