"""What exact derivatives through strikes are worth: iLQR beside shooting and beside random shots, on three motions.

    .venv/bin/python benchmarks/shots.py [ball] [strike] [jump]

For each motion of examples/optimal_strikes.py: the least cost of `carom.ilqr`, of single shooting with the exact
gradient and with the one that forgets that instants of strikes move, and of 1,000 random shots: inputs that are held
over a few pieces of the time, drawn between the limits. The last column is the wall time of the 1,000 shots over that
of iLQR, after one iteration and one shot each, so that nothing is compiled meanwhile.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from examples.optimal_strikes import TASKS, Task, shooting

SHOTS, PIECES = 1_000, (1, 3, 6, 12)


def random_shots(task: Task, count: int = SHOTS, seed: int = 0) -> float:
    """The least cost of random inputs."""
    rng, shape, best = np.random.default_rng(seed), task.guesses[0].shape, np.inf
    low, high = (np.broadcast_to(np.asarray(b, dtype=float), shape) for b in task.limits)
    for k in range(count):
        pieces = PIECES[k % len(PIECES)]
        drawn = rng.random((pieces, shape[1]))[np.arange(shape[0]) * pieces // shape[0]]
        best = min(best, task.cost(low + drawn * (high - low)))
    return best


def timed(task: Task) -> tuple[float, float, float, float]:
    """Cost and seconds of iLQR, and of the shots."""
    task.solved(iterations=1)
    random_shots(task, 1)
    began = time.perf_counter()
    path = task.solved()
    middle = time.perf_counter()
    shot = random_shots(task)
    return path.cost, middle - began, shot, time.perf_counter() - middle


def main(names: list[str]) -> None:
    print(f"{'':8} {'iLQR':>10} {'shooting':>10} {'without':>12} {'best of':>10} {'time of shots':>14}")
    print(f"{'cost':8} {'':>10} {'':>10} {'saltation':>12} {f'{SHOTS:,}':>10} {'over iLQR':>14}")
    for make in TASKS:
        if names and make.__name__ not in names:
            continue
        task = make()
        cost, spent, shot, shots = timed(task)
        exact, blind = (shooting(task, saltation).cost for saltation in (True, False))
        print(f"{task.name:8} {cost:10.4g} {exact:10.4g} {blind:12.4g} {shot:10.4g} {shots / spent:14.2g}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
