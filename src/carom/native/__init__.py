"""Programs as machine code: a function's jaxpr, taken apart into scalars, compiled by LLVM in milliseconds.

XLA compiles a step of the engine in seconds, because it is made for large arrays. Here every number of the program is a
scalar of its own, branches are branches, and what is known or does nothing is left out.

    function -> jaxpr -> `_reading` (with `_arithmetic`, `_shuffling`, `_gathering`, `_branching`, `_linear_algebra`)
             -> `_ssa`, a program of scalars -> `_llvm_text` (with `_fusing`) -> `_machine_code`, on a CPU
                                             -> `_cuda_text` -> `_cuda`, one thread per lane of a batch, on a GPU
"""

from __future__ import annotations

import functools
import importlib.util
import json
import logging
import os
import threading
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend import core as jex

from .. import registry
from ..errors import CaromError
from ._cuda import Kernel as Kernel
from ._cuda import Trouble as Trouble
from ._cuda import source_of as source_of
from ._garbage import uncollected as uncollected
from ._machine_code import Layout, Leaf, Program, Recipe, compiled
from ._machine_code import Noughts as Noughts
from ._ssa import TooLarge as TooLarge

SWITCH = "CAROM_BACKEND"  # native or xla; what can be had is chosen unless one is asked for
NUMBERS = (jax.Array, np.ndarray, float)
HERE = "native machine code"  # what programs of this package are called where results tell of them


def wanted() -> bool:
    """Are programs to be compiled here? Where LLVM can be had, on a CPU, unless somebody asks for XLA."""
    asked = os.environ.get(SWITCH, "")
    if asked not in ("", "native", "xla"):
        raise CaromError(f"{SWITCH} is '{asked}'; it must be native or xla; without it carom chooses by itself")
    if asked == "native" and not _have_llvm():
        raise CaromError(
            f"{SWITCH} is native, which needs llvmlite, which is not installed; run: pip install 'carom[native]'"
        )
    return asked != "xla" and jax.default_backend() == "cpu" and _have_llvm()


def name() -> str:
    """What programs are made of, where scalars can say them."""
    return HERE if wanted() else by_xla()


def by_xla() -> str:
    return f"XLA on {jax.default_backend()}"


def made_of(program: object) -> str:
    """What a program is made of, as results tell it."""
    return HERE if isinstance(program, Program) else by_xla()


@functools.cache
def _have_llvm() -> bool:
    return importlib.util.find_spec("llvmlite") is not None


def _state() -> Any:
    """What JAX is at: the same wherever nothing is traced; None if this JAX does not tell."""
    ask = getattr(jex, "get_opaque_trace_state", None)
    return None if ask is None else ask(convention="flax")


_IDLE = _state()


def idle() -> bool:
    """Is nothing traced or differentiated now, as far as JAX tells?"""
    return _IDLE is not None and bool(_state() == _IDLE)


_READING = threading.local()  # is a function being traced for machine code, in this thread?


def rows(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of every row of its arguments: one row after the other in machine code, all at once for XLA."""

    def over(*columns: Any) -> Any:
        if getattr(_READING, "on", False):
            return jax.lax.map(lambda each: function(*each), columns)
        return jax.vmap(function)(*columns)

    return over


def least(measure: Callable[[Any], Any], table: Any) -> Any:
    """The row of a table whose measure is least: looked for one by one in machine code, all at once for XLA."""
    if not getattr(_READING, "on", False):
        return table[jax.numpy.argmin(jax.vmap(measure)(table))]

    def look(best: tuple[Any, Any], row: Any) -> tuple[tuple[Any, Any], None]:
        value = measure(row)
        less = value < best[0]
        return (jax.numpy.where(less, value, best[0]), jax.numpy.where(less, row, best[1])), None

    never = jax.numpy.asarray(jax.numpy.inf), jax.numpy.zeros(table.shape[1:])
    return jax.lax.scan(look, never, table)[0][1]


@jax.jit
def carom_buffer(array: Any) -> Any:
    """Marks an array; `_reading` knows it by its name."""
    return array


def buffer(array: Any) -> Any:
    """An array of which rows are overwritten: it stays in memory, where an index finds a row, however short it is.

    Other short arrays are taken apart into numbers, each of which a loop carries from round to round.
    """
    return carom_buffer(array)


def unrounded(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of arrays, in which machine code need not round a product before it adds it to something else.

    For what is integrated, not for what is compared: equal numbers that are found in two ways may differ by rounding.
    """

    def carom_unrounded(*args: Any) -> Any:  # `_reading` knows it by its name
        return function(*args)

    return jax.jit(carom_unrounded)


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, traced once for arguments of the same shapes, however often a program calls it.

    Its arguments are trees of arrays. JAX keeps what it traced and differentiated, also for the next program.
    """
    kept = jax.jit(function)

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return kept(*args) if getattr(_READING, "on", False) else function(*args)

    return call


def program(function: Callable[..., Any], args: tuple[Any, ...], thorough: bool = False, noughts: Noughts = ()) -> Any:
    """The function compiled for arguments of these shapes; None where scalars cannot say it, or not shortly.

    `noughts`: for every array, which of its numbers are always zero, one byte for each; None where any number may come.
    """
    _READING.on = True
    try:
        with uncollected():
            return Program(*compiled(function, args, thorough, noughts))
    except (NotImplementedError, TooLarge) as reason:
        what = getattr(function, "func", function)
        logging.getLogger("carom").info("%s is compiled by XLA: %s", getattr(what, "__name__", what), reason)
        return None
    finally:
        _READING.on = False


def at_once(function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)` by one program, which is not kept: JAX would compile each operation on known numbers alone.

    Its arguments are trees of arrays. Within a transformation it is part of what is traced.
    """
    return jax.tree.map(jax.numpy.asarray, made_for(function, *args)(*args)) if idle() else function(*args)


def made_for(function: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """The function, compiled for arguments of these shapes: here, or by XLA."""
    made = program(function, args) if wanted() else None
    return made or jax.jit(lambda *given: function(*given))


def quick(short: Callable[..., bool]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function of trees one that is compiled here, where nothing is traced: JAX would compile its operations.

    What is neither array nor float among its arguments is a constant of the program. `short` tells of the arguments
    whether it is short code as scalars; long mechanisms are shorter for XLA. What is not finite goes JAX's way, on
    which it is refused.
    """

    def quicker(function: Callable[..., Any]) -> Callable[..., Any]:
        made: dict[Any, Any] = {}

        @functools.wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            given = (*args, *named.values())
            sound = all(np.isfinite(x).all() for x in given if isinstance(x, NUMBERS)) if wanted() and idle() else False
            if not sound or not short(*given):
                return function(*args, **named)
            leaves, tree = jax.tree.flatten((args, named))
            numbers = [np.asarray(x) for x in leaves if isinstance(x, NUMBERS)]
            shapes = tuple((x.shape, x.dtype) for x in numbers)
            known = tuple(None if isinstance(x, NUMBERS) else x for x in leaves)
            key = tree, shapes, known
            if key not in made:
                taken = functools.partial(_of_numbers, function, tree, known)
                made[key] = registry.KEPT.found()(
                    function, (known,), (args, named), lambda _: made_for(taken, *numbers)
                )
            return jax.tree.map(jax.numpy.asarray, made[key](*numbers))

        return call

    return quicker


def _of_numbers(function: Callable[..., Any], tree: Any, known: tuple[Any, ...], *numbers: Any) -> Any:
    rest = iter(numbers)
    args, named = jax.tree.unflatten(tree, [next(rest) if x is None else x for x in known])
    return function(*args, **named)


def worked(made: object, attempts: int) -> bool:
    """Tell a program that it has tried so many steps; was it one of these, which then know what they are worth?"""
    made = getattr(made, "program", made)  # one that was kept on disk
    if not isinstance(made, Program):
        return False
    if os.environ.get("CAROM_COMPILER") != "quick":
        made.worked(attempts)
    return True


MARK = b"carom machine code\n"


def packed(made: Any) -> tuple[bytes, Any] | None:
    """A program as bytes, and the structure of its results; None if it is not of this kind."""
    if not isinstance(made, Program):
        return None
    code, layout, text = made.recipe
    return MARK + json.dumps([*layout, len(code)]).encode() + b"\n" + code + text, made.tree


def is_packed(data: bytes) -> bool:
    return data.startswith(MARK)


def unpacked(data: bytes, tree: Any) -> Any:
    """The program that `packed` made bytes of."""
    head, rest = data[len(MARK) :].split(b"\n", 1)
    arguments, results, room, operations, zeros, size = json.loads(head)
    given, left = (tuple(Leaf(at, tuple(shape), *how) for at, shape, *how in each) for each in (arguments, results))
    return Program(Recipe(rest[:size], Layout(given, left, room, operations, tuple(zeros)), rest[size:]), tree)
