"""carom equations: the equations of motion of a scenario, to read."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import CaromError


def equations(
    name: Annotated[str, typer.Argument(help="A shipped scenario, or a file.")] = "arm-repeated-impact",
    latex: Annotated[bool, typer.Option("--latex", help="As LaTeX.")] = False,
) -> None:
    """Print the equations of motion.

    Example: carom equations arm-plastic --latex
    """
    from .. import equations as write_down
    from ..scenario._build import mechanism_of
    from ..scenario.library import load

    scenario = load(name)
    if scenario.crawl is not None:
        raise CaromError(f"'{scenario.name}' is a gait of several mechanisms; take a scenario with one")
    found = write_down(mechanism_of(scenario))
    typer.echo(found.latex() if latex else str(found))
