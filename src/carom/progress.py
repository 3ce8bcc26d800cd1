"""How far a run has come, on a terminal."""

from __future__ import annotations

import sys
import time

import numpy as np


class Progress:
    """One line on the terminal: simulated time, impacts and events so far, time left."""

    def __init__(self, wanted: bool | None, until: float, columns: list[int]) -> None:
        self.columns, self.impacts = columns, 0
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.patience = 2.0 if wanted is None else 0.0
        self.until, self.began, self.shown = until, time.perf_counter(), False

    def update(self, t: float, events: int, rows: np.ndarray) -> None:
        self.impacts += int(np.sum(rows[:, self.columns]))
        spent = time.perf_counter() - self.began
        if not self.wanted or spent < self.patience:
            return
        self.shown = True
        left = spent * (self.until - t) / t if t > 0 else float("inf")
        print(
            f"\r{100 * t / self.until:5.1f} %  t = {t:.6g} of {self.until:g} s, {self.impacts} impacts, "
            f"{events} events, {left:.0f} s left   ",
            end="",
            file=sys.stderr,
            flush=True,
        )

    def close(self) -> None:
        if self.shown:
            print(file=sys.stderr)
