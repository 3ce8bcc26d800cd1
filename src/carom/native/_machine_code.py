"""Compiled programs: from a function of JAX to machine code, and how it is called."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import zlib
from collections.abc import Callable
from itertools import zip_longest
from typing import Any, NamedTuple

import jax
import numpy as np

from . import _sine_and_cosine as turns
from ._arithmetic import LIBRARY
from ._direct import direct
from ._linear_algebra import LAPACK, addresses, named
from ._llvm_text import written
from ._reading import Reader
from ._shuffling import WRITTEN_OUT, Memory, Thing, filled, flat, kind_of, load
from ._ssa import Value

Noughts = tuple[bytes | None, ...]  # which numbers of every argument are always zero
ENTRY = "carom_program"
# Attempts in which a program loses what compiling it again takes: one that was compiled quickly (1.1 million of the
# arm's, 0.3 microseconds each), and one that was compiled thoroughly and not yet in all ways (a tenth of its time).
ENOUGH, LONG = 1_000_000, 20_000_000


class Leaf(NamedTuple):
    """Where an array lies among the arguments or in the working memory [byte]."""

    offset: int
    shape: tuple[int, ...]
    dtype: str
    base: str = "out"


class Layout(NamedTuple):
    """Where the arguments and the results of a program lie."""

    arguments: tuple[Leaf, ...]
    results: tuple[Leaf, ...]
    room: int  # [byte] of working memory, results included
    operations: int
    zeros: tuple[int, ...] = ()  # numbers of the arguments, of eight bytes each, that are always zero


class Recipe(NamedTuple):
    """All that is needed to run a program."""

    code: bytes
    layout: Layout
    text: bytes = b""  # what it was made of, compressed, if it was made quickly: it may be worth more yet


def traced_of(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The jaxpr of a function for arguments of these shapes, and the structure of its results."""
    with direct():
        closed, shapes = jax.make_jaxpr(function, return_shape=True)(*args)
    return closed, jax.tree.structure(shapes)


def compiled(
    function: Callable[..., Any], args: tuple[Any, ...], thorough: bool = False, noughts: Noughts = ()
) -> tuple[Recipe, Any]:
    """The program of a function for arguments of these shapes, and the structure of its results.

    Raises NotImplementedError where the function does something that scalars cannot say, and `TooLarge`.
    """
    closed, structure = traced_of(function, args)
    text, layout = program_text(closed, noughts)
    kept = b"" if thorough else zlib.compress(text.encode(), 1)
    return Recipe(machine_code(text, thorough), layout, kept), structure


def program_text(closed: Any, noughts: Noughts = ()) -> tuple[str, Layout]:
    """The text of a program, and where its arguments and results lie."""
    reader = Reader()
    arguments, things = arguments_of(reader, closed.jaxpr.invars, noughts)
    zeros = [
        leaf.offset // 8 + k
        for leaf, x in zip(arguments, noughts, strict=False)
        for k, is_zero in enumerate(x or b"")
        if is_zero
    ]
    out = reader.read(closed.jaxpr, closed.consts, things)
    values: list[Value] = []
    places: list[tuple[int, str]] = []
    results: list[Leaf] = []
    for thing, var in zip(out, closed.jaxpr.outvars, strict=True):
        dtype, shape = np.dtype(var.aval.dtype), tuple(var.aval.shape)
        if isinstance(thing, Memory) and not thing.overwritten:
            results.append(Leaf(thing.offset, shape, dtype.str, thing.base))
            continue
        memory = reader.reserved(shape, dtype)
        results.append(Leaf(memory.offset, shape, dtype.str))
        each = flat(reader.b, thing)
        values += each
        places += [(memory.offset + i * dtype.itemsize, dtype.str) for i in range(len(each))]
    text = written(reader.b, values, places, ENTRY)
    return text, Layout(arguments, tuple(results), reader.room, reader.b.count, tuple(zeros))


def arguments_of(reader: Reader, variables: Any, noughts: Noughts = ()) -> tuple[tuple[Leaf, ...], list[Thing]]:
    """Where the arguments lie, one after the other; short ones are taken apart at once, and zeros known."""
    leaves: list[Leaf] = []
    things: list[Thing] = []
    at = 0
    for var, zeros in zip_longest(variables, noughts):
        shape, dtype = tuple(var.aval.shape), np.dtype(var.aval.dtype)
        kind_of(dtype)
        memory = Memory("in", at, shape, dtype)
        leaves.append(Leaf(at, shape, dtype.str, "in"))
        at += -(-memory.size * dtype.itemsize // 8) * 8
        if memory.size <= WRITTEN_OUT:
            b = reader.b
            known = zeros or bytes(memory.size)
            each = [b.nought if known[i] else load(b, memory, b.number("i", i)) for i in range(memory.size)]
            things.append(filled(shape, each))
        else:
            things.append(memory)
    return tuple(leaves), things


def _target(thorough: bool) -> Any:
    """A description of this machine; an engine takes its own."""
    import llvmlite.binding as llvm

    _linked()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2 if thorough else 0,  # a fifth of the time or less
        codemodel="jitdefault",
        jit=True,
    )


def _thorough_target() -> Any:
    return _target(True)


@functools.cache
def _linked() -> None:
    """Tell LLVM about this machine, and where the mathematical library is."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    library = ctypes.CDLL(ctypes.util.find_library("m") or "msvcrt")
    for name in (*LIBRARY, "sincos"):
        if hasattr(library, name):  # not every library has sincos, which LLVM knows
            llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)


@functools.cache
def _lapack_linked() -> None:
    """Tell LLVM where LAPACK's functions are: half of the time of an import of JAX, and few programs call them."""
    import llvmlite.binding as llvm

    for name, address in addresses().items():
        llvm.add_symbol(name, address)


def machine_code(text: str, thorough: bool = False, passes: int = 0) -> bytes:
    """An object file of the text; `passes`: how much LLVM tries before it writes code, which changes no rounding."""
    import llvmlite.binding as llvm

    target = _target(thorough)
    module = llvm.parse_assembly(turns.in_line(text) if thorough else text)
    module.triple, module.data_layout = target.triple, str(target.target_data)
    if thorough:  # at least, what is called is put in line
        options = llvm.create_pipeline_tuning_options(speed_level=passes)
        options.slp_vectorization = passes > 0
        builder = llvm.create_pass_builder(target, options)
        builder.getModulePassManager().run(module, builder)
    return target.emit_object(module)


def _leaves(arg: Any) -> list[Any]:
    """All arrays of an argument; what is given again and again may know them by itself, as `leaves`."""
    known: list[Any] | None = getattr(arg, "leaves", None)
    return jax.tree.leaves(arg) if known is None else known


class Program:
    """A compiled program that is called with arrays and answers with arrays."""

    def __init__(self, recipe: Recipe, tree: Any) -> None:
        self.recipe, self.tree = recipe, tree
        self.engines: list[Any] = []  # the last one is used; others may still run, in another thread
        self.attempts = self.passes = 0
        self.zeros = np.asarray(recipe.layout.zeros, dtype=int)
        layout = self.layout = recipe.layout
        last = layout.arguments[-1] if layout.arguments else None
        self.length = 0 if last is None else last.offset + int(np.prod(last.shape, dtype=int)) * 8
        plain = [x.shape == () and x.dtype == "<f8" for x in layout.arguments]
        self.numbers = [(i, x.offset // 8) for i, x in enumerate(layout.arguments) if plain[i]]
        self.others = [
            (i, x.offset, x.shape, np.dtype(x.dtype)) for i, x in enumerate(layout.arguments) if not plain[i]
        ]
        self.left = tuple((x.base == "in", x.offset, x.shape, np.dtype(x.dtype)) for x in layout.results)
        self._load(recipe.code)

    def _load(self, code: bytes) -> None:
        import llvmlite.binding as llvm

        if any(named(function).encode() in code for function in LAPACK):
            _lapack_linked()
        if turns.called(code):
            _linked()
            turns.linked(_thorough_target)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target(False))
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        self.engines.append(engine)
        self.run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(engine.get_function_address(ENTRY))

    def worked(self, attempts: int) -> None:
        """It has tried so many more steps: once that pays, what was compiled quickly is compiled thoroughly."""
        self.attempts += attempts
        passes = (self.attempts > ENOUGH) + (self.attempts > LONG)
        if self.recipe.text and passes > self.passes:
            self.passes, text = passes, zlib.decompress(self.recipe.text).decode()
            if self.attempts > LONG:  # there is no more to gain
                self.recipe = self.recipe._replace(text=b"")
            self._load(machine_code(text, True, passes - 1))

    def __call__(self, *args: Any) -> Any:
        given = np.zeros(self.length // 8 + 1)
        memory, leaves = given.data, [x for arg in args for x in _leaves(arg)]
        if len(leaves) != len(self.layout.arguments):
            raise ValueError(f"this program takes {len(self.layout.arguments)} arrays, and was given {len(leaves)}")
        for i, place in self.numbers:  # most are, and this takes a fifth of the time
            given[place] = leaves[i]
        for i, offset, shape, dtype in self.others:
            np.ndarray(shape, dtype, memory, offset)[...] = leaves[i]
        if self.zeros.size and given[self.zeros].any():
            raise ValueError("this program was made for other arguments, of which some numbers were zero")
        out = np.zeros(self.layout.room + 8, dtype=np.uint8)
        self.run(given.ctypes.data, out.ctypes.data)
        room = out.data
        left = [np.ndarray(shape, dtype, memory if kept else room, offset) for kept, offset, shape, dtype in self.left]
        return jax.tree.unflatten(self.tree, left)
