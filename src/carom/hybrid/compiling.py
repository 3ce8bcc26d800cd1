"""Functions compiled as the engine compiles its own."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PyTree

from .. import native
from ._run import compiler_options, executable
from ._store import load_or_make

try:
    from jax._src.core import trace_state_clean
except ImportError:  # JAX's own affair, which may go: then nothing is known to be outside of a transformation

    def trace_state_clean() -> bool:
        return False


def _machine_code(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """From disk, or made now; None where scalars cannot say the function."""
    if not native.wanted():
        return None
    thorough = os.environ.get("CAROM_COMPILER") != "quick"  # whoever compiles a function will call it often
    made: Callable[..., Any] | None = load_or_make(
        function, (thorough,), args, lambda _: native.program(function, args, thorough)
    )
    return made


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


def kept(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of trees, compiled and kept on disk as the engine's own programs are.

    What is no array is a constant of the program. Within a transformation it is part of what is traced.
    """

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if not trace_state_clean():  # also what a user's function closes over may be traced
            return function(*args)
        arrays, fixed = eqx.partition(args, lambda x: isinstance(x, jax.Array | np.ndarray))
        return jax.device_put(executable(_called, (function, fixed), arrays)(arrays))

    return call


def _called(function: Callable[..., Any], fixed: PyTree, arrays: PyTree) -> Any:
    return function(*eqx.combine(arrays, fixed))
