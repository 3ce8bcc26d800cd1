"""LAPACK on one thread while a program runs.

JAX calls the LAPACK that comes with SciPy, an OpenBLAS with a thread for every core. Matrices of contacts have some 100
rows: each is done sooner than threads are woken, which then wait for the next one at full speed. A chain of 64 links
took seven times the processor time, and five times as long, as on one thread.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import jax

NAMES = ("scipy_openblas_{}_num_threads", "openblas_{}_num_threads")
_LOCK = threading.Lock()


class _Users:
    """How many programs run now, and how many threads there were before the first of them."""

    count, before = 0, 1


def on_one_thread(program: Callable[..., Any]) -> Callable[..., Any]:
    """The same program; it has ended when it returns."""

    def run(*args: Any) -> Any:
        with one_thread():
            return jax.block_until_ready(program(*args))

    return run


@contextmanager
def one_thread() -> Iterator[None]:
    """Meanwhile SciPy's LAPACK uses one thread, afterwards as many as before; another LAPACK is left alone."""
    found = switches()
    if found is None:
        yield
        return
    get, put = found
    with _LOCK:
        if not _Users.count:
            _Users.before = get()
            put(1)
        _Users.count += 1
    try:
        yield
    finally:
        with _LOCK:
            _Users.count -= 1
            if not _Users.count:
                put(_Users.before)


@functools.cache
def switches() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """What tells and sets the number of threads of SciPy's OpenBLAS; None where that is not its LAPACK."""
    found = importlib.util.find_spec("scipy")  # not imported: most programs need none of it
    if found is None or found.origin is None:
        return None
    package = Path(found.origin).parent
    for folder in (package.parent / "scipy.libs", package / ".dylibs"):
        for file in sorted(folder.glob("*openblas*")):
            with suppress(OSError, AttributeError):
                return _switches_of(ctypes.CDLL(str(file)))
    return None


def _switches_of(library: ctypes.CDLL) -> tuple[Callable[[], int], Callable[[int], None]]:
    name = next((name for name in NAMES if hasattr(library, name.format("get"))), NAMES[-1])
    get, put = library[name.format("get")], library[name.format("set")]
    get.restype, put.argtypes, put.restype = ctypes.c_int, [ctypes.c_int], None
    return get, put
