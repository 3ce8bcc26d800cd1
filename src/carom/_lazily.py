"""Packages whose names load when they are first asked for, and JAX as carom needs it, whoever imports it.

A package lists its names as type checkers read them, in imports that Python does not carry out:

    if TYPE_CHECKING:
        from .plane import Plane as Plane

    __getattr__, __dir__, __all__ = lazily(__name__)

Then `import carom` takes no time, help needs no JAX, and a run of a ball loads no controller.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

LISTED = re.compile(r"^    from (\.[\w.]*) import (\w+) as \2$", re.MULTILINE)
Asked = Callable[[str], object]
Told = Callable[[], list[str]]


def lazily(package: str) -> tuple[Asked, Told, list[str]]:
    """What a package answers when asked for a name, when asked for all names, and all names."""
    module = sys.modules[package]
    text = module.__spec__.loader.get_source(package)  # type: ignore[union-attr]
    places = {name: place for place, name in LISTED.findall(text)}

    def asked(name: str) -> object:
        place = places.get(name, "")
        if not place and not name.startswith("_") and importlib.util.find_spec(f"{package}.{name}"):
            place = "."  # a module that is not listed is there all the same
        if not place:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        with _undisturbed():
            found = importlib.import_module(f".{name}" if place == "." else place, package)
        value = found if place == "." else getattr(found, name)
        setattr(module, name, value)  # asked for once
        return value

    return asked, lambda: sorted({*vars(module), *places}), sorted(places)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Meanwhile Python does not look for garbage: an import makes none, and is looked through again and again."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


class _Then(MetaPathFinder):
    """Says what to do with a module as soon as it has been imported."""

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self.name, self.then = name, then

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        sys.meta_path.remove(self)  # the others know where it is
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def run_and_then(module: ModuleType) -> None:
            run(module)
            sys.meta_path.remove(self)
            self.then(module)

        spec.loader.exec_module = run_and_then  # type: ignore[method-assign]
        return spec


def when_imported(name: str, then: Callable[[ModuleType], None]) -> None:
    """Do something with a module: now if it is there, else when somebody imports it."""
    there = sys.modules.get(name)
    if there is not None:
        then(there)
    else:
        sys.meta_path.insert(0, _Then(name, then))
