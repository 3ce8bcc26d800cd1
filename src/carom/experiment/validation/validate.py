"""The page `measured.md`: three records of real impacts, read, fitted, judged and drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..._progress import Line
from ...errors import CaromError
from ...result._files import sentence, write_text
from . import _chapters as chapters
from . import _figures_of_records as drawn
from ._bounce_study import bounce_study
from ._ellipse_study import ellipse_study
from ._pendulum_study import pendulum_study
from .bouncing_balls import bouncing_balls
from .pendulum_swings import pendulum_swings
from .planar_impacts import planar_impacts

HEAD = """# Measured

Which laws do records of real impacts speak for? This page is written by

    carom validate --data FOLDER

from three public records, none of which comes with carom. FOLDER holds clones of their repositories, as said below.
Every number on the page is computed from the files when it is written; a file of another version is refused.
"""


class Chapter(NamedTuple):
    """A record: its name, its study, its words, its figure, and the height of that [in]."""

    name: str
    study: Callable[[Path], Any]
    words: Callable[[Any, str], str]
    draw: Callable[..., None]
    height: float


def _ellipse(folder: Path) -> Any:
    return ellipse_study(planar_impacts(folder))


def _bounces(folder: Path) -> Any:
    return bounce_study(bouncing_balls(folder))


def _pendulum(folder: Path) -> Any:
    return pendulum_study(pendulum_swings(folder, 2), pendulum_swings(folder, 3))


CHAPTERS = (
    Chapter("ellipse", _ellipse, chapters.ellipse_chapter, drawn.ellipse, 3.6),
    Chapter("bounces", _bounces, chapters.bounce_chapter, drawn.bounces, 3.0),
    Chapter("pendulum", _pendulum, chapters.pendulum_chapter, drawn.pendulum, 4.2),
)


def validate(folder: str | Path, out: str | Path, *, progress: bool | None = None) -> dict[str, str]:
    """Write `measured.md`, and its figures under `img`, into the folder `out`; returns why a record is missing.

    A record that is not found, or is another version, is named on the page with how to obtain it. If none is found,
    nothing is written.
    """
    folder, out = Path(folder), Path(out)
    parts, missing = [HEAD], dict[str, str]()
    line = Line(progress, float(len(CHAPTERS)), 1.0)
    try:
        for k, chapter in enumerate(CHAPTERS):
            line.update(chapter.name, float(k))
            try:
                found = chapter.study(folder)
            except CaromError as trouble:
                missing[chapter.name] = str(trouble)
                parts.append(f"## {chapter.name.capitalize()}\n\nNot found: {trouble}")
                continue
            figure = out / "img" / f"measured-{chapter.name}.png"
            _made(figure.parent)
            drawn.saved(figure, chapter.height, chapter.draw, found)
            parts.append(chapter.words(found, f"img/{figure.name}"))
    finally:
        line.close()
    if len(missing) == len(CHAPTERS):
        raise CaromError(f"none of the records was found in {folder}: {'; '.join(missing.values())}")
    write_text(out / "measured.md", "\n\n".join(part.strip() for part in parts) + "\n")
    return missing


def _made(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as trouble:
        raise CaromError(sentence(folder, trouble)) from None
