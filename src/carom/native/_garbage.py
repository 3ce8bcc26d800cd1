"""Tracing without the garbage collector: it would look through all that was traced so far, again and again."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator


class _Tracing:
    """How many threads trace, and whether Python collected garbage before the first of them began."""

    lock = threading.Lock()
    now = 0
    before = True


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Meanwhile Python does not look for cycles among a hundred thousand equations, none of which can go yet.

    It takes a quarter of the time of tracing a robot on two feet with friction; counted references go as ever.
    """
    with _Tracing.lock:
        if not _Tracing.now:
            _Tracing.before = gc.isenabled()
            gc.disable()
        _Tracing.now += 1
    try:
        yield
    finally:
        with _Tracing.lock:
            _Tracing.now -= 1
            if not _Tracing.now and _Tracing.before:
                gc.enable()
