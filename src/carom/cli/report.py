"""carom report: figures and report of a run that has been written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import CaromError
from .speech import Stages


def report(
    folder: Annotated[Path, typer.Argument(help="A folder that `carom run` wrote.")],
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the path, nothing else.")] = False,
) -> None:
    """Make the report of a run again.

    Figures and report.html are made from its scenario.toml. The run is repeated, which gives the same on the same
    machine; the folder is replaced when all is done.

    Example: carom report runs/ball-drop
    """
    from ..scenario.library import load
    from ..scenario.model import Output
    from ..scenario.output import write
    from ..scenario.study import study

    file = folder / "scenario.toml"
    if not file.exists():
        raise CaromError(f"{folder} holds no scenario.toml; give a folder that `carom run` wrote")
    scenario = load(file)
    if not scenario.output.report:
        scenario = scenario.model_copy(update={"output": Output(samples=scenario.output.samples)})
    say = Stages(quiet)
    try:
        say("running again")
        write(study(scenario, say, False), folder, replace=True, say=say)
    finally:
        say.close()
    typer.echo(str(folder / "report.html"))
