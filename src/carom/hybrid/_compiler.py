"""Settings of XLA for the loop: for scalars, quick or thorough, and for arrays."""

from __future__ import annotations

import functools
import os
from typing import Any

import jax

SCALAR = {"xla_disable_hlo_passes": "fusion"}  # fusion would compute shared parts of long scalar code again
QUICK = {"xla_backend_optimization_level": "0"}
# Of long array code: XLA simplifies again and again as long as any of its passes changes something, and with loops
# within loops one of these always does: 25 rounds instead of 3, most of the time of compiling. Its newer emitters take
# as long again. What they gain is a fifth of the time of a step. Matrices are too small for several threads.
SLOW_PASSES = (
    "reshape-mover",
    "simplify-while-loops",
    "while-loop-invariant-code-motion",
    "while-loop-constant-sinking",
    "constant_folding",
    "simplify-conditional",
)
ARRAYS = QUICK | {
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_multi_thread_eigen": False,
    "xla_disable_hlo_passes": ",".join(SLOW_PASSES),
}


@functools.cache
def _accepted() -> bool:
    """Does this XLA know the settings for arrays? They are its own affair, and may go."""
    try:
        jax.jit(lambda x: x + 1.0, compiler_options=ARRAYS).lower(1.0).compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True


def compiler_options(thorough: bool = True, arrays: bool = False) -> dict[str, Any] | None:
    """Settings of the compiler for the loop, on a CPU; elsewhere its own.

    What is not compiled thoroughly is compiled in half the time and takes one and a half times as long per step (the
    arm: 2.4 s instead of 4.1, and 7 microseconds instead of 5). `CAROM_COMPILER=quick` makes that so for all.
    (Without XLA's newer emitters, or without its pass "fusion-wrapper", it would be quicker still, but then every
    operation outside of a loop takes a memory map of its own, of which a process has 65,530.)
    """
    if jax.default_backend() != "cpu":
        return None
    if arrays:  # they gain by fusion, and LAPACK does their long work however the rest is compiled
        return ARRAYS if _accepted() else QUICK
    return SCALAR if thorough and os.environ.get("CAROM_COMPILER") != "quick" else SCALAR | QUICK
