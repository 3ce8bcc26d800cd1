"""Compiled programs on disk, so that a second start neither traces nor compiles.

JAX keeps what XLA compiled, but to find it again it must trace the whole simulation, which takes seconds. Here a
program is found by what it was made from: carom's own source, the function, the structure of its arguments and their
shapes (`_identity.py`). Code of users is told by what it says and by all that it can reach; where that cannot be known
for sure, the program is left to JAX's cache.

Programs are code, and reading one runs it: they are read from the user's own folder, and only with the tag that the
user's key made (`carom/_cache.py`).

`CAROM_PROGRAMS=off` in the environment switches it off, for those who patch carom while it runs.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import itertools
import os
import pickle
import platform
import secrets
import threading
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from .. import _cache as cache
from .. import native
from ._identity import words
from ._reached import Foreign as Foreign

MOST = 500e6  # [byte] of programs; those not used for longest go first
if TYPE_CHECKING:
    Program = jax.stages.Compiled
else:
    Program = Any  # machine code of our own, too
Make = Callable[[str], Any]  # compiles under the name that it is given


def load_or_make(function: Callable[..., Any], static: tuple[Any, ...], args: tuple[Any, ...], make: Make) -> Any:
    """The compiled program from disk, or what `make` compiles, which is then kept for the next process."""
    path = _path(function, static, args)
    if path is None:
        return make(function.__name__)
    found = _read(path, args)
    return Kept(found, path, make) if found is not None else _made(path, make)


def _made(path: Path, make: Make) -> Any:
    """Compile, and keep what was compiled.

    XLA cannot write a program that it has read from JAX's cache. So what is kept here goes by a name that JAX's cache
    never holds: it takes no program that compiles faster than the least time, which is set to forever meanwhile.
    """
    with _ONE_AT_A_TIME:  # what is set meanwhile is set for all threads
        least = jax.config.jax_persistent_cache_min_compile_time_secs  # type: ignore[attr-defined]
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 1e9)
        try:
            program = make(f"kept_{path.name[:12]}")
        finally:
            jax.config.update("jax_persistent_cache_min_compile_time_secs", least)
    _write(path, program)
    return program


_ONE_AT_A_TIME = threading.RLock()


def back_end(program: object) -> str:
    """What computes a program: machine code of our own, or XLA."""
    return native.made_of(program.program if isinstance(program, Kept) else program)


class Kept:
    """A program from disk. One that does not run (another processor, a damaged file) is compiled again, once."""

    def __init__(self, program: Program, path: Path, make: Make) -> None:
        self.program, self.path, self.make, self.proved = program, path, make, False

    def __call__(self, *args: Any) -> Any:
        if self.proved:
            return self.program(*args)
        try:
            out = jax.block_until_ready(self.program(*args))
        except jax.errors.JaxRuntimeError:
            self.path.unlink(missing_ok=True)
            self.program = _made(self.path, self.make)
            out = self.program(*args)
        self.proved = True
        return out


# -- names -------------------------------------------------------------------------------------------------------------


def _path(function: Callable[..., Any], static: tuple[Any, ...], args: tuple[Any, ...]) -> Path | None:
    """Where the program is, or will be, kept; None where it must not be."""
    if os.environ.get("CAROM_PROGRAMS", "on") == "off" or jax.default_backend() != "cpu":
        return None
    try:
        found = [_machine(), native.name(), *words(function, True), *words(static, True), *words(args, False)]
    except (Foreign, RecursionError):
        return None
    folder = cache.folder("programs")
    return None if folder is None else folder / hashlib.sha256("\n".join(found).encode()).hexdigest()


@functools.cache
def _machine() -> str:
    """Everything besides the arguments that a program depends on."""
    package = Path(__file__).resolve().parent.parent
    source = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        source.update(file.read_bytes())
    flags = os.environ.get("XLA_FLAGS", "")
    return " ".join([jax.__version__, version("jaxlib"), np.__version__, _cpu(), flags, source.hexdigest()])


def _cpu() -> str:
    """The processor's instruction sets: a program for one may not run on another."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return hashlib.sha256(
            next(line for line in lines if line.startswith(("flags", "Features"))).encode()
        ).hexdigest()
    except (OSError, StopIteration):
        return f"{platform.machine()} {platform.processor()}"


# -- files -------------------------------------------------------------------------------------------------------------


SIZE = 8  # [byte] of the number in front, which says how long the structure is


def _read(path: Path, args: tuple[Any, ...]) -> Any:
    """A program from disk; None if there is none that can be used."""
    from jax.experimental import serialize_executable

    try:
        data = cache.unsealed(path)
        if data is None:
            return None
        with contextlib.suppress(OSError):  # a disk that cannot be written
            os.utime(path)
        end = SIZE + int.from_bytes(data[:SIZE], "big")
        out = jax.tree.structure(_Structure(io.BytesIO(data[SIZE:end])).load())
        if native.is_packed(data[end:]):
            return native.unpacked(data[end:], out)
        return serialize_executable.deserialize_and_load(data[end:], jax.tree.structure((args, {})), out)
    except Exception:  # cut short, or written by something else: compile as if it were not there
        return None


class _Structure(pickle.Unpickler):
    """Reads how results are nested: carom's own classes and numbers, nothing that could be called."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module.startswith("carom.") else None
        if not isinstance(found, type) or f"{found.__module__}.{found.__qualname__}" != f"{module}.{name}":
            raise Foreign(f"{module}.{name}")  # a.b.c may lead out of carom
        return found


def _write(path: Path, program: Program) -> None:
    """Keep a program; a full disk or an unwritable folder is no reason to stop a simulation."""
    from jax.experimental import serialize_executable

    half = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    try:
        payload, out = native.packed(program) or serialize_executable.serialize(program)[::2]
        like = pickle.dumps(jax.tree.unflatten(out, range(out.num_leaves)))
        _Structure(io.BytesIO(like)).load()  # what cannot be read is not written
        with open(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(cache.seal(path, len(like).to_bytes(SIZE, "big") + like + payload))
        os.replace(half, path)
        if next(_WRITTEN) % SELDOM == 0:
            _tidy(path.parent)
    except Exception:
        return
    finally:
        with contextlib.suppress(OSError):
            half.unlink(missing_ok=True)


SELDOM = 64  # programs from one look at the folder to the next: it takes as long as there are files
_WRITTEN = itertools.count()


def _tidy(folder: Path) -> None:
    """Let go of the programs not used for longest."""
    room = MOST
    for file in sorted(folder.iterdir(), key=lambda f: f.stat().st_mtime, reverse=True):
        room -= file.stat().st_size
        if room < 0:
            file.unlink(missing_ok=True)
