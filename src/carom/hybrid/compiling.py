"""Functions compiled as the engine compiles its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .. import native
from ._run import compiler_options


def _machine_code(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any] | None:
    thorough = os.environ.get("CAROM_COMPILER") != "quick"  # whoever compiles a function will call it often
    return native.program(function, args, thorough) if native.wanted() else None


class jit:
    """Compile a function of arrays, as `jax.jit` does: to machine code where it can be, by XLA elsewhere.

    A run and its forward-mode derivatives are then compiled in a tenth of the time, and run faster. It takes
    only arrays, returns NumPy arrays, and cannot itself be differentiated or mapped.

        slope = carom.jit(jax.jacfwd(lambda mu: carom.final_state(make(mu), start, 6.0).y.q[0]))
        slope(0.2)
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.made: dict[Any, Any] = {}

    def __call__(self, *args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        shapes = tuple((np.shape(x), jax.numpy.result_type(x)) for x in leaves)
        run = self.made.get((tree, shapes))
        if run is None:
            run = _machine_code(self.function, args) or jax.jit(self.function, compiler_options=compiler_options())
            self.made[tree, shapes] = run
        return run(*args)
