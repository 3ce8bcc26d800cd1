"""One thread that computes: of all runs that are asked of it, the latest counts; what else is asked is all done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from .._progress import watched

PATIENCE = 3.0  # [s]: work that takes longer is given up when something newer is wanted; shorter work is shown first

Tell = Callable[[str, float, float | None], None]  # what is being done, seconds since it began, share done


class Superseded(Exception):
    """Nobody waits for this any more."""


class Job(NamedTuple):
    """What is to be done, and who hears how far it has come."""

    do: Callable[[], None]
    tell: Tell
    shows: bool = True  # what it shows stands in the place of a run that takes long
    kept: bool = False  # it is done, whatever is asked for later


class Worker:
    """Does one job after the other; a new run takes the place of one that waits, and ends one that takes long.

    A run that is ended has done nothing: what it was to deliver is delivered by the one that took its place.
    """

    def __init__(self) -> None:
        self._waiting: list[Job] = []
        self._stop = self._closed = False
        self._turn = threading.Condition()
        self.busy = False
        self._thread = threading.Thread(target=self._work, name="carom-studio", daemon=True)
        self._thread.start()

    def ask(self, job: Job) -> None:
        """Do this after what waits, but for runs that it makes needless."""
        with self._turn:
            if job.shows and not job.kept:
                self._waiting = [each for each in self._waiting if each.kept]
            self._waiting.append(job)
            self._turn.notify()

    def stop(self) -> None:
        """Give up what is being done as soon as it can be, and what waits."""
        with self._turn:
            self._waiting, self._stop = [], True

    def close(self) -> None:
        with self._turn:
            self._closed = self._stop = True
            self._turn.notify()

    def _work(self) -> None:
        while True:
            with self._turn:
                self.busy = False
                self._turn.wait_for(lambda: self._closed or self._waiting)
                if self._closed:
                    return
                job, self._stop, self.busy = self._waiting.pop(0), False, True
            self._do(job)

    def _do(self, job: Job) -> None:
        began = time.monotonic()

        def watch(words: str, done: float | None, whole: float | None) -> None:
            spent = time.monotonic() - began
            if self._stop or (spent > PATIENCE and any(each.shows for each in self._waiting)):
                raise Superseded
            job.tell(words, spent, None if done is None or not whole else min(done / whole, 1.0))

        try:
            with watched(watch):
                job.do()
        except Superseded:
            return
