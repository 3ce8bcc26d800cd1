"""Shipped scenarios by name, files by path."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._arguments import FileLike
from .places import ScenarioError, shortened

if TYPE_CHECKING:
    from .model import Scenario

FOLDER = "shipped"
LONGEST = 2_000_000  # characters; a scenario with long tables has some thousands


def names() -> list[str]:
    """Names of the shipped scenarios."""
    folder = resources.files(__package__).joinpath(FOLDER)
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def shipped_tables(name: str) -> dict[str, Any]:
    """A shipped scenario as its file has it: enough to list it, and nothing is imported that can run it."""
    return tomllib.loads(text_of(name))


def text_of(name: str) -> str:
    """The text of a shipped scenario, comments included."""
    return resources.files(__package__).joinpath(FOLDER, f"{name}.toml").read_text(encoding="utf-8")


def load(name: FileLike) -> Scenario:
    """A shipped scenario by name, or a file: what ends in .toml or holds a slash is a path."""
    from ._text import read

    return read(*text_and_place(name))


def text_and_place(name: FileLike) -> tuple[str, str]:
    """The text of a shipped scenario or of a file, and what to call it in messages."""
    text = str(name)
    if isinstance(name, Path) or text.endswith(".toml") or "/" in text or "\\" in text:
        return _text(Path(text)), text
    if text in names():
        return text_of(text), f"{text}.toml"
    near = get_close_matches(text, names(), n=1)
    hint = f"did you mean '{near[0]}'?" if near else "`carom list` shows them; a file's name ends in .toml"
    raise ScenarioError(f"there is no scenario '{shortened(text, 80)}'; {hint}")


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > 4 * LONGEST:  # characters of four bytes
            raise ScenarioError(f"{path} has {path.stat().st_size} bytes; no scenario is that long")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ScenarioError(f"there is no file {path}; `carom new {path}` writes one to start from") from None
    except IsADirectoryError:
        raise ScenarioError(f"{path} is a folder; give a scenario file") from None
    except UnicodeDecodeError:
        raise ScenarioError(f"{path} is not a text file in UTF-8; a scenario is TOML") from None
    except PermissionError:
        raise ScenarioError(f"{path} cannot be read: permission denied; ask its owner") from None
    except (OSError, ValueError) as trouble:
        raise ScenarioError(f"{shortened(text := str(path), 80)} cannot be read: {shortened(str(trouble), 120)}") from (
            None if text else trouble
        )
