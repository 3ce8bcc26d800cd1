"""carom check: is a scenario file right?"""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import CaromError
from ._speech import BAD_INPUT


def check(
    names: Annotated[list[str], typer.Argument(help="Scenario files, or names of shipped ones.")],
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing where all is well.")] = False,
) -> None:
    """Check scenario files without running them.

    Every field, every name, and every rule of the objects that they describe.

    Example: carom check mine.toml
    """
    from ..experiment._scenario_check import check_file

    wrong = False
    for name in names:  # all of them, whatever the first one holds
        try:
            words = check_file(name)
        except CaromError as refusal:
            wrong = True
            typer.echo(f"carom: {refusal}", err=True)
            continue
        if not quiet:
            typer.echo(f"{name}: fine: {words}")
    if wrong:
        raise typer.Exit(BAD_INPUT)
