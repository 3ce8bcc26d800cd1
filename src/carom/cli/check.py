"""carom check: is a scenario file right?"""

from __future__ import annotations

from typing import Annotated

import typer


def check(
    names: Annotated[list[str], typer.Argument(help="Scenario files, or names of shipped ones.")],
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing where all is well.")] = False,
) -> None:
    """Check scenario files without running them.

    Every field, every name, and every rule of the objects that they describe.

    Example: carom check mine.toml
    """
    from ..scenario.check import check_file

    for name in names:
        words = check_file(name)
        if not quiet:
            typer.echo(f"{name}: fine: {words}")
