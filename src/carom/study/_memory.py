"""How much memory a large batch takes: said before it starts, and refused where it is not there."""

from __future__ import annotations

import logging
import math
from pathlib import Path

import jax
from jaxtyping import PyTree

from .. import errors

LARGE = 10_000  # lanes from which it is looked at: it takes a moment, and fewer always fit
# How often a lane's numbers are held at once: as they were given, dealt out to the cores, and as a program takes them;
# as it leaves them, gathered, and in the result. In lockstep, old and new and what lies between.
COPIES, LOCKSTEP = 3, 4


def size_of(tree: PyTree) -> float:
    """[byte] of the arrays of a tree, or of their shapes."""
    return float(sum(math.prod(x.shape) * x.dtype.itemsize for x in jax.tree.leaves(tree)))


def refuse_beyond(lanes: int, needed: float, there: float | None, where: str) -> None:
    """Say what a batch will take [byte]; refuse one that takes more than there is."""
    of = "unknown" if there is None else f"{there / 1e9:.3g} GB"
    logging.getLogger("carom").info("batch of %d lanes: about %.3g GB; %s: %s", lanes, needed / 1e9, where, of)
    if there is not None and needed > there:
        raise errors.CaromError(
            f"batch of {lanes} lanes needs about {needed / 1e9:.3g} GB, and {where} is {of}; give it in "
            f"{math.ceil(needed / there)} or more batches, one after the other"
        )


def of_host() -> float | None:
    """[byte] that are free for this process, where the system tells: of the machine, or of its control group."""
    room = []
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        room.append(1024.0 * float(lines["MemAvailable"].split()[0]))
        group = Path("/sys/fs/cgroup")
        room.append(float((group / "memory.max").read_text()) - float((group / "memory.current").read_text()))
    except (OSError, KeyError, ValueError):  # not Linux, an old kernel, or a group without limit ("max")
        pass
    return min(room, default=None)


def of_device() -> float | None:
    """[byte] that are free on the accelerator."""
    told = jax.devices()[0].memory_stats() or {}
    return float(told["bytes_limit"] - told["bytes_in_use"]) if {"bytes_limit", "bytes_in_use"} <= set(told) else None
