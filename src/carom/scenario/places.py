"""Places in a scenario: paths of fields, the lines that they stand on, and refusals that carry them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from pydantic import BaseModel

from ..errors import CaromError

Path = tuple[str | int, ...]


class ScenarioError(CaromError):
    """A scenario that cannot be used; the message says where, what, and the cure, in one line.

    `path` is the field to blame, step by step; the table, where several of its fields are at odds; () for the file.
    """

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(shortened(message, 590))
        self.path = path


@contextlib.contextmanager
def at(*path: str | int, words: str = "", holds: object = None) -> Iterator[None]:
    """Refusals inside are said with this place, or with these words for it.

    Their path ends at the field that the refusal names, where the table that stands here, `holds`, has it.
    """
    try:
        yield
    except ScenarioError:
        raise
    except CaromError as refusal:
        full = (*path, *_blamed(holds, refusal))
        raise ScenarioError(f"{words or dotted(path)}: {refusal}", full) from None
    except (ArithmeticError, np.linalg.LinAlgError) as trouble:  # such as a beam of 1e-150 m
        said = f"numbers too large or too small to compute with ({trouble})"
        raise ScenarioError(f"{words or dotted(path)}: {said}", path) from None


@contextlib.contextmanager
def inside(*path: str | int) -> Iterator[None]:
    """Paths of refusals inside begin here: tables that are checked as if they were a file of their own."""
    try:
        yield
    except ScenarioError as refusal:
        raise ScenarioError(str(refusal), (*path, *refusal.path)) from None


def _blamed(table: object, refusal: CaromError) -> Path:
    """Where a table has the field, or the name, that a refusal blames; () if nowhere, or at several places."""
    layer: list[tuple[Path, Any]] = [((), table)]
    while layer:
        entries = [((*path, key), value) for path, each in layer for key, value in _entries(each)]
        found = [
            path
            for path, value in entries
            if (refusal.field and path[-1] == refusal.field) or (refusal.given and value == refusal.given)
        ]
        if found:
            return found[0] if len(found) == 1 else ()
        layer = entries
    return ()


def _entries(value: object) -> Iterable[tuple[str | int, Any]]:
    """What a table or list holds, by key; numbers and words hold nothing."""
    if isinstance(value, BaseModel):
        return [(name, getattr(value, name)) for name in type(value).model_fields]
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def dotted(path: Path) -> str:
    """contacts.tip.friction.mu"""
    return ".".join(shortened(str(step), 60) for step in path) or "the file"


def shortened(text: str, most: int) -> str:
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\n", " ").replace("\r", " ")
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= most else text[: most - 3] + "..."


def one_line(mistake: BaseException) -> str:
    return shortened(str(mistake) or type(mistake).__name__, 200)


HEADER = re.compile(r"^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
KEY = re.compile(r"^\s*([A-Za-z0-9_\-\"'. ]+?)\s*=")


def line_of(text: str, path: Path) -> int | None:
    """The line of a TOML text where a path is set: the longest part of it that has a line of its own."""
    wanted = [str(step) for step in path]
    best: tuple[int, int] = (0, 0)
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        header = HEADER.match(line)
        key = KEY.match(line)
        if header:
            table = _steps(header.group(1))
            here = table
        elif key:
            here = [*table, *_steps(key.group(1))]
        else:
            continue
        if here == wanted[: len(here)] and len(here) > best[0]:
            best = (len(here), number)
    return best[1] or None


def _steps(words: str) -> list[str]:
    """A dotted key in parts; quotes may hold dots."""
    return [a or b or c for a, b, c in re.findall(r'"([^"]*)"|\'([^\']*)\'|([A-Za-z0-9_-]+)', words)]
