"""Places in a scenario: paths of fields, the lines that they stand on, and refusals that carry them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import numpy as np

from ..errors import CaromError

Path = tuple[str | int, ...]


class ScenarioError(CaromError):
    """A scenario that cannot be used; the message says where, what, and the cure, in one line.

    `path` is the field, step by step, where one is to blame.
    """

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(shortened(message, 590))
        self.path = path


@contextlib.contextmanager
def at(*path: str | int, words: str = "") -> Iterator[None]:
    """Refusals inside are said with this place, or with these words for it."""
    try:
        yield
    except ScenarioError:
        raise
    except CaromError as refusal:
        raise ScenarioError(f"{words or dotted(path)}: {refusal}", path) from None
    except (ArithmeticError, np.linalg.LinAlgError) as trouble:  # such as a beam of 1e-150 m
        said = f"numbers too large or too small to compute with ({trouble})"
        raise ScenarioError(f"{words or dotted(path)}: {said}", path) from None


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
