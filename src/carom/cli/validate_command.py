"""carom validate: laws against records of real impacts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._speech import DIFFERS


def validate(
    data: Annotated[Path, typer.Option("--data", help="Folder that holds clones of the records' repositories.")],
    out: Annotated[Path, typer.Option("--out", help="Folder in which the page and its figures are written.")] = Path(
        "docs"
    ),
) -> None:
    """Fit and judge laws on records of real impacts, and write the page `measured.md`.

    The records are public: drops of an ellipse, bouncing balls, pendulums of two and three arms. None comes with carom;
    what is missing is named, with how to obtain it. Takes some minutes.

    Exit codes: 0 all three were found; 1 one or two are missing; 2 none was found.

    Example: carom validate --data ~/records --out docs
    """
    from ..experiment.validation import validate as written

    missing = written(data, out)
    for trouble in missing.values():
        typer.echo(f"carom: {trouble}", err=True)
    typer.echo(f"{out / 'measured.md'}")
    raise typer.Exit(DIFFERS if missing else 0)
