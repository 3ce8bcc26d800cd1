"""The bifurcation diagram of a relief valve: how high its disk rises, and how low it falls, over the flow.

    .venv/bin/python benchmarks/bifurcation.py                                # 200 flows
    .venv/bin/python benchmarks/bifurcation.py --lanes 30720 768000 --out valve.png

The valve is that of `examples/relief_valve.py`. Of every flow from 0.2 to 10 the first 1,024 turns above and below are
discarded, and 32 kept, at rtol = atol = 1e-10. The first call compiles and is printed apart; rates are those of the
best of two further calls. Flows 3, 5 and 6 are compared with an independent integration.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import carom  # before JAX compiles anything: it sets a compiler flag

sys.path.insert(0, str(Path(__file__).parent.parent))

import jax
import numpy as np
from examples.relief_valve import start, valve

DISCARD, KEEP = 1024, 32
SETTINGS = carom.Settings("dopri8", rtol=1e-10, atol=1e-10, ledger=False)
START = start(valve(3.0))
KNOWN = {3.0: [2.4935946769], 5.0: [4.8309823800], 6.0: [5.6354782364, 7.1092973535]}


def speed(t, q, v):
    """Zero where the disk turns back; a blow throws it across."""
    return v[0]


TURNS = carom.Returns(speed, 0, discard=2 * DISCARD, keep=2 * KEEP)  # above and below alternate


def diagram(flows: np.ndarray) -> tuple[np.ndarray, np.ndarray, carom.study.Batch]:
    """Highest and lowest lifts (flows, KEEP)."""
    ends = carom.batch(valve, flows, START, until=1e5, settings=SETTINGS, returns=TURNS, throw=False)
    lifts = np.asarray(ends.returns["q"])[:, :, 0].reshape(len(flows), KEEP, 2)
    return lifts.max(axis=2), lifts.min(axis=2), ends


def check() -> None:
    flows = np.array(list(KNOWN))
    highest, lowest, _ = diagram(flows)
    for flow, tops, low in zip(flows, highest, lowest, strict=True):
        known = KNOWN[float(flow)]
        found = np.sort(tops[-len(known) :])
        off = float(np.max(np.abs(found / known - 1.0)))
        print(f"flow {flow:g}: highest {found.tolist()}, lowest {low.min():.3g}; off by {off:.1e}")
        if off > 1e-9:
            raise SystemExit(f"flow {flow:g} should give {known}")


def measure(lanes: int, repeats: int, out: Path | None, data: Path | None) -> None:
    flows = np.linspace(0.2, 10.0, lanes)
    times = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        highest, lowest, ends = diagram(flows)
        times.append(time.perf_counter() - begin)
    best = min(times[1:], default=times[0])
    print(f"{lanes:>9} flows: {best:.3g} s, {lanes / best:,.0f} flows/s; first call {times[0]:.3g} s")
    print(f"          {ends}", flush=True)
    if data is not None:
        np.savez_compressed(data, flows=flows, highest=highest.astype(np.float32), lowest=lowest.astype(np.float32))
    if out is not None:
        draw(flows, highest, lowest, out)


def draw(flows: np.ndarray, highest: np.ndarray, lowest: np.ndarray, out: Path) -> None:
    """The picture: highest lifts by their period, lowest ones in grey."""
    empty = np.zeros((KEEP, 0)), np.zeros(KEEP, dtype=bool)
    rows = [carom.study.Section(np.arange(KEEP), tops[:, None], *empty) for tops in highest]
    picture = carom.figures.bifurcation_diagram(flows, rows)
    axes = picture.axes[0]
    axes.plot(np.repeat(flows, KEEP), lowest.ravel(), ".", markersize=0.6, color="0.75", zorder=0, label="lowest")
    if len(flows) > 5_000:  # points, not dots, which would cover the bands of chaos
        for line in axes.lines:
            line.set(marker=",", markersize=1, alpha=0.5)
    axes.set_xlabel("flow q [-]")
    axes.set_ylabel("lift where the disk turns [-]")
    picture.savefig(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, nargs="+", default=[200])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path, help="the picture of the last number of lanes")
    parser.add_argument("--data", type=Path, help="the lifts of the last number of lanes, to be drawn elsewhere")
    parser.add_argument("--draw", type=Path, metavar="DATA", help="draw what --data wrote into --out, and stop")
    asked = parser.parse_args()
    if asked.draw is not None:
        kept = np.load(asked.draw)
        draw(kept["flows"], kept["highest"], kept["lowest"], asked.out)
        return
    print(f"JAX {jax.__version__} on {jax.devices()[0].device_kind}")
    check()
    for lanes in asked.lanes:
        measure(lanes, asked.repeats, asked.out, asked.data)


if __name__ == "__main__":
    main()
