"""What holds for every test, here and in verify/: how it runs carom, and that the memory of a process is bounded."""

import functools
import gc
import os
import re
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import hypothesis  # noqa: F401 - it looks for who holds generators of random numbers, and finds nobody who is frozen
import jax
import jaxtyping
import pytest
from _pytest.unraisableexception import gc_collect_iterations_key
from jax._src.interpreters import mlir
from jax.experimental.compilation_cache import compilation_cache
from tests.shape_checks import once_per_kind

jaxtyping.jaxtyped = once_per_kind(jaxtyping.jaxtyped)

MOST = 8e9  # [byte] of one worker
gc.set_threshold(
    100_000, 50, 1000
)  # nearly everything that tests make stays: looking for cycles is a tenth of their time

# Nearly all of the time goes into compiling, and what is compiled runs for milliseconds. Processes of tests inherit it.
os.environ.setdefault("CAROM_COMPILER", "quick")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
jax.config.update("jax_disable_most_optimizations", os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] == "1")

# What JAX writes programs in takes 5 ms to make: once in a thread, and not for every program.
CONTEXTS = threading.local()
new_context = mlir.make_ir_context


def context() -> object:
    if not hasattr(CONTEXTS, "made"):
        CONTEXTS.made = new_context()
    return CONTEXTS.made


mlir.make_ir_context = context

# Tests of whole runs use carom as its users do: nothing checks shapes. All others check those of everything they trace.
WHOLE = ("reference", "convergence", "derivatives", "cli", "browser")
# Tests with processes of their own share compiled programs on disk, in the user's cache. All others share those that
# were traced with (or without) checks of shapes, from the same source: what carom's source made once need not be made
# by every run of the tests. A test that patches something makes its own.
SHARED = ("cli", "browser")
PATCHING = re.compile(r"MonkeyPatch[(.]|\bmock\b")  # in a file; in a test it is the fixture


# Files of more than a minute: whoever gets one last keeps everybody waiting.
LONG = ("unmissed", "laws", "stretched", "torque_partners", "friction", "held_together", "batch", "elastic", "wedged")


def among(folders: tuple[str, ...], path: Path) -> bool:
    return path.relative_to(Path(__file__).parent).parts[:2] in {("tests", name) for name in folders}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long come first; short ones fill the time that is left at the end of a parallel run."""
    items.sort(
        key=lambda item: (
            not among(WHOLE, item.path),
            item.path.suffix != ".md",
            item.path.stem.removeprefix("test_") not in LONG,
            "properties" not in item.path.parts,
        )
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Choose how this test runs carom, before any of its fixtures is built."""
    whole, shared = among(WHOLE, item.path), among(SHARED, item.path)
    patches = "monkeypatch" in getattr(item, "fixturenames", ()) or _patches(item.path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CAROM_PROGRAMS", "off" if patches and not shared else "on")
        if not (patches or shared):
            patched.setattr("carom._cache.home", functools.partial(_kept, "unchecked" if whole else "checked"))
        if whole:
            patched.setattr(jaxtyping.config, "jaxtyping_disable", True)
        elif UNCHECKED:  # what was traced without the checker must not serve a test that relies on it
            forget()
        UNCHECKED[:] = [True] * whole
        return (yield)


@functools.cache
def _patches(file: Path) -> bool:
    return PATCHING.search(file.read_text(encoding="utf-8")) is not None


def _kept(name: str) -> Path:
    return HOME[0] / f"tested-{name}"


HOME: list[Path] = []  # of carom's cache
ENTRIES = 30_000  # of five runs of all tests: JAX lets go of nothing


def pytest_configure(config: pytest.Config) -> None:
    """Looking for garbage five times at the end, in all that thousands of tests have left, takes seconds."""
    config.stash[gc_collect_iterations_key] = 0


def pytest_collection_finish() -> None:
    """JAX keeps also what compiles quickly, which is most of what tests ask of it, in a place of its own."""
    from carom import _cache

    gc.freeze()  # what was imported stays
    HOME[:] = [_cache.home()]
    small = _cache.own_files("tested")
    if small is not None:
        jax.config.update("jax_compilation_cache_dir", str(small))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        compilation_cache.reset_cache()
        if sum(1 for _ in small.iterdir()) > ENTRIES:
            for file in small.iterdir():
                file.unlink(missing_ok=True)  # the other worker may be faster


UNCHECKED: list[bool] = []  # not empty: the test before went without the checker


def pytest_runtest_logfinish() -> None:
    """Thousands of compiled programs in one process would fill a machine: they go when they take too much."""
    if _resident() > MOST:
        forget()


def forget() -> None:
    """Let go of everything that was compiled."""
    run = sys.modules.get("carom.hybrid._run")
    if run is not None:
        run._EXECUTABLES.clear()
    jax.clear_caches()
    vars(CONTEXTS).clear()
    gc.collect()


def _resident() -> float:
    """[byte] of this process, where the system tells."""
    try:
        return float(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0.0
