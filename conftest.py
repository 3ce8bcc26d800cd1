"""What holds for every test, here and in verify/: the memory of a process is bounded."""

import gc
import os
import sys
from pathlib import Path

import jax

MOST = 8e9  # [byte] of one worker


def pytest_runtest_logfinish() -> None:
    """Thousands of compiled programs in one process would fill a machine: they go when they take too much."""
    if _resident() > MOST:
        run = sys.modules.get("carom.hybrid.run")
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
