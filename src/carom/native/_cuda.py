"""Programs on a GPU: source compiled by NVIDIA's run-time compiler, run by its driver, one thread per lane.

Both libraries are there wherever JAX runs on an NVIDIA GPU; nothing else is needed.
"""

from __future__ import annotations

import ctypes
import functools
import glob
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from ._cuda_text import written
from ._machine_code import Leaf, arguments_of, traced_of
from ._reading import Reader
from ._shuffling import Memory, flat
from ._ssa import Value

ENTRY = "carom_lanes"
THREADS = 64  # per block


class Trouble(Exception):
    """A library said no; its own words."""


class Source(NamedTuple):
    """A kernel's source, and how many numbers each lane gives and gets."""

    text: str
    results: tuple[tuple[tuple[int, ...], str], ...]  # shape and type of every array
    operations: int


def source_of(function: Callable[..., Any], shared: tuple[Any, ...], one: tuple[Any, ...]) -> tuple[Source, Any]:
    """The kernel that computes `function(*shared, *one)` of every lane, from the arguments of one."""
    closed, structure = traced_of(function, (*shared, *one))
    reader = Reader(tables=True)
    leaves, things = arguments_of(reader, closed.jaxpr.invars)
    slots = _slots(leaves, len(jax.tree.leaves(shared)))
    out = reader.read(closed.jaxpr, closed.consts, things)
    if any(isinstance(thing, Memory) and (thing.base == "in" or thing.overwritten) for thing in (*things, *out)):
        raise NotImplementedError("long arrays on a GPU")
    values: list[Value | Memory] = []
    for thing in out:
        values += [thing] if isinstance(thing, Memory) else flat(reader.b, thing)
    kinds = tuple((tuple(var.aval.shape), np.dtype(var.aval.dtype).str) for var in closed.jaxpr.outvars)
    text = written(reader.b, values, ENTRY, reader.room, slots)
    return Source(text, kinds, reader.b.count), structure


def _slots(leaves: tuple[Leaf, ...], shared: int) -> dict[int, str]:
    """How a kernel reads the number at an offset; the first arguments are shared by all lanes."""
    slots: dict[int, str] = {}
    for leaves_of, text in ((leaves[:shared], "shared[{}]"), (leaves[shared:], "in[{} * n + lane]")):
        count = 0
        for leaf in leaves_of:
            for i in range(int(np.prod(leaf.shape, dtype=int))):
                slots[leaf.offset + i * np.dtype(leaf.dtype).itemsize] = text.format(count)
                count += 1
    return slots


@functools.cache
def _library(*names: str) -> ctypes.CDLL:
    """A library of NVIDIA's: where the system has it, or beside JAX."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec is not None else []
    beside = [path for root in roots for name in names for path in glob.glob(f"{root}/**/{name}*", recursive=True)]
    for path in (*names, *beside, *(p for n in names for p in glob.glob(f"/usr/local/cuda*/**/{n}*", recursive=True))):
        try:
            return ctypes.CDLL(str(Path(path)))
        except OSError:
            continue
    raise Trouble(f"none of {', '.join(names)} was found")


def _driver() -> ctypes.CDLL:
    return _library("libcuda.so.1", "libcuda.so")


def _compiler() -> ctypes.CDLL:
    return _library("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")


def _done(code: int, what: str) -> None:
    if code:
        raise Trouble(f"{what} failed with code {code}")


def assembled(text: str) -> bytes:
    """Machine code for the first GPU."""
    rtc, handle = _compiler(), ctypes.c_void_p()
    _done(rtc.nvrtcCreateProgram(ctypes.byref(handle), text.encode(), b"lanes.cu", 0, None, None), "nvrtcCreateProgram")
    options = [f"--gpu-architecture=sm_{_capability()}".encode()]
    code = rtc.nvrtcCompileProgram(handle, len(options), (ctypes.c_char_p * len(options))(*options))
    if code:
        size = ctypes.c_size_t()
        rtc.nvrtcGetProgramLogSize(handle, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        rtc.nvrtcGetProgramLog(handle, log)
        raise Trouble(log.value.decode(errors="replace")[:2000])
    size = ctypes.c_size_t()
    _done(rtc.nvrtcGetCUBINSize(handle, ctypes.byref(size)), "nvrtcGetCUBINSize")
    binary = ctypes.create_string_buffer(size.value)
    _done(rtc.nvrtcGetCUBIN(handle, binary), "nvrtcGetCUBIN")
    rtc.nvrtcDestroyProgram(ctypes.byref(handle))
    return binary.raw


@functools.cache
def _context() -> None:
    """JAX's own context on the first GPU becomes this thread's."""
    cuda, device, context = _driver(), ctypes.c_int(), ctypes.c_void_p()
    _done(cuda.cuInit(0), "cuInit")
    _done(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    _done(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    _done(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")


@functools.cache
def _capability() -> int:
    """Such as 90."""
    _context()
    cuda, out = _driver(), []
    for attribute in (75, 76):
        value = ctypes.c_int()
        _done(cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, 0), "cuDeviceGetAttribute")
        out.append(value.value)
    return 10 * out[0] + out[1]


class Kernel:
    """A compiled kernel, called with arrays whose first axis runs over the lanes."""

    def __init__(self, source: Source, tree: Any) -> None:
        self.source, self.tree = source, tree
        self.binary = assembled(source.text)
        _context()
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        _done(_driver().cuModuleLoadData(ctypes.byref(module), self.binary), "cuModuleLoadData")
        _done(_driver().cuModuleGetFunction(ctypes.byref(function), module, ENTRY.encode()), "cuModuleGetFunction")
        self.module, self.function = module, function

    @property
    def registers(self) -> int:
        """Of one thread."""
        value = ctypes.c_int()
        _done(_driver().cuFuncGetAttribute(ctypes.byref(value), 4, self.function), "cuFuncGetAttribute")
        return value.value

    def __call__(self, shared: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(args)]
        lanes = len(leaves[0])
        given = np.concatenate([_bits(leaf, lanes) for leaf in leaves])
        same = np.concatenate([np.zeros((1, 1)), *(_bits(np.asarray(x)[None], 1) for x in jax.tree.leaves(shared))])[1:]
        count = sum(int(np.prod(shape, dtype=int)) for shape, _ in self.source.results)
        out = np.empty((count, lanes))
        self._run(lanes, same, given, out)
        found, at = [], 0
        for shape, dtype in self.source.results:
            rows = out[at : at + int(np.prod(shape, dtype=int))]
            if dtype != "<f8":
                rows = rows.view(np.int64).astype(dtype)
            # Numbers of one kind lie together, lane by lane: a view with the lanes first costs nothing.
            found.append(np.moveaxis(rows.reshape(*shape, lanes), -1, 0))
            at += int(np.prod(shape, dtype=int))
        return jax.tree.unflatten(self.tree, found)

    def _run(self, lanes: int, shared: np.ndarray, given: np.ndarray, out: np.ndarray) -> None:
        cuda, places = _driver(), []
        _context()
        try:
            for array in (shared, given, out):
                place = ctypes.c_uint64()
                _done(cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(max(array.nbytes, 8))), "cuMemAlloc")
                places.append(place)
            for place, array in zip(places, (shared, given), strict=False):
                _done(cuda.cuMemcpyHtoD_v2(place, _pointer(array), ctypes.c_size_t(array.nbytes)), "copy to the GPU")
            values = [ctypes.c_longlong(lanes), *places]
            pointers = (ctypes.c_void_p * 4)(*(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values))
            blocks = -(-lanes // THREADS)
            _done(cuda.cuLaunchKernel(self.function, blocks, 1, 1, THREADS, 1, 1, 0, None, pointers, None), "launch")
            _done(cuda.cuMemcpyDtoH_v2(_pointer(out), places[2], ctypes.c_size_t(out.nbytes)), "copy from the GPU")
        finally:
            for place in places:
                cuda.cuMemFree_v2(place)


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def _bits(leaf: np.ndarray, lanes: int) -> np.ndarray:
    """Numbers of a leaf by number and lane; whole ones as the bits of a float."""
    rows = leaf.reshape(lanes, -1)
    if rows.dtype != np.float64:
        rows = rows.astype(np.int64).view(np.float64)
    return np.ascontiguousarray(rows.T)
