"""What holds for every test, here and in verify/: how it runs carom, and that the memory of a process is bounded."""

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import jax
import jaxtyping
import pytest
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

# Tests of whole runs use carom as its users do: nothing checks shapes. All others check those of everything they trace.
WHOLE = ("reference", "convergence", "derivatives", "cli", "browser")
# Tests with processes of their own share compiled programs on disk. In one process that would not pay: any change of
# carom's source makes all of them again, where JAX's cache finds what is still the same.
SHARED = ("cli", "browser")


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
    whole = among(WHOLE, item.path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CAROM_PROGRAMS", "on" if among(SHARED, item.path) else "off")
        if whole:
            patched.setattr(jaxtyping.config, "jaxtyping_disable", True)
        elif UNCHECKED:  # what was traced without the checker must not serve a test that relies on it
            forget()
        UNCHECKED[:] = [True] * whole
        return (yield)


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
    gc.collect()


def _resident() -> float:
    """[byte] of this process, where the system tells."""
    try:
        return float(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0.0
