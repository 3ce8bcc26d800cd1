"""How far work has come: lines on the terminal, drawn by rich, all in one display."""

from __future__ import annotations

import contextlib
import contextvars
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 2.0  # [s] after which a run shows its progress unasked

Watch = Callable[[str, float | None, float | None], None]
_WATCH: contextvars.ContextVar[Watch | None] = contextvars.ContextVar("watch", default=None)


@contextlib.contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Whatever lines would say here is said to `watch(words, done, whole)`, too; what it raises ends the work."""
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(token)


class Line:
    """One line: what is being done, a bar where the whole is known, time spent and left.

    - `wanted`: None shows it on a terminal alone, and after `patience` seconds
    - `whole`: what `done` grows to; None where that is unknown
    """

    _display: ClassVar[Progress | None] = None  # there can be only one on a terminal
    _lines: ClassVar[int] = 0

    def __init__(self, wanted: bool | None, whole: float | None = None, patience: float = 0.0) -> None:
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.patience = patience if wanted is None else 0.0
        self.whole, self.began = whole, time.perf_counter()
        self.task: TaskID | None = None

    def update(self, words: str, done: float | None = None, *, at_once: bool = False) -> None:
        watch = _WATCH.get()
        if watch is not None:
            watch(words, done, self.whole)
        early = time.perf_counter() - self.began < self.patience
        if not self.wanted or (early and not at_once):
            return
        if self.task is None:
            display = Line._display = Line._display or _display()
            Line._lines += 1
            self.task = display.add_task(words, total=self.whole)
        assert Line._display is not None
        Line._display.update(self.task, description=words, completed=done)

    def close(self) -> None:
        self.began = time.perf_counter()  # what may follow is shown when it takes long by itself
        if self.task is None or Line._display is None:
            return
        Line._display.remove_task(self.task)
        self.task, Line._lines = None, Line._lines - 1
        if not Line._lines:
            Line._display.stop()
            Line._display = None


def _display() -> Progress:
    # Looked up when something is shown: most runs end before.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (BarColumn(20), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    words = TextColumn("{task.description}", markup=False)
    out = Progress(*columns, words, console=Console(stderr=True), transient=True, refresh_per_second=5)
    out.start()
    return out


class RunLine(Line):
    """That of a run: simulated time, impacts and events so far."""

    def __init__(self, wanted: bool | None, until: float, columns: list[int]) -> None:
        super().__init__(wanted, until, PATIENCE)
        self.until, self.columns, self.impacts = until, columns, 0

    def compiling(self, what: str, seconds: float) -> None:
        """Shown at once: nothing else will be, before it is compiled."""
        self.update(f"compiling {what}, about {max(1, round(seconds))} s", at_once=True)

    def ran(self, t: float, events: int, rows: np.ndarray) -> None:
        self.impacts += int(np.sum(rows[:, self.columns]))
        self.update(f"t = {t:.6g} of {self.until:g} s, {self.impacts} impacts, {events} events", t)
