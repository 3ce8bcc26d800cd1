"""carom new: a commented scenario to start from."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from ..errors import CaromError


def new(
    file: Annotated[Path, typer.Argument(help="The file to write, such as mine.toml.")],
    like: Annotated[str | None, typer.Option("--like", help="Start from this shipped scenario instead.")] = None,
) -> None:
    """Write a commented scenario to start from.

    Example: carom new mine.toml
    """
    from ..errors import name_in
    from ..result._files import write_text
    from ..scenario.library import names, text_of

    if file.suffix != ".toml":
        raise CaromError(f"{file} does not end in .toml; a scenario file does, such as {file.with_suffix('.toml')}")
    if file.exists():
        raise CaromError(f"{file} exists already and was left as it is; choose another name")
    if like is None:
        text = resources.files("carom.scenario").joinpath("start.toml").read_text(encoding="utf-8")
    else:
        name_in("shipped scenario", like, tuple(names()))
        text = text_of(like)
    write_text(file, text)
    typer.echo(f"wrote {file}; change it, then: carom check {file} and carom run {file}")
