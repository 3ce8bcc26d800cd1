"""carom report: figures and report of a run that has been written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import CaromError
from ._speech import ENDED_EARLY, Stages
from .run_command import Columns, Format, Sheet


def report(
    folder: Annotated[Path, typer.Argument(help="A folder that `carom run` wrote.")],
    figures: Format = "png",
    columns: Columns = None,
    style: Sheet = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the path, nothing else.")] = False,
) -> None:
    """Make the report of a run again.

    Figures and report.html are made from its scenario.toml. The run is repeated, which gives the same on the same
    machine; the folder is replaced when all is done. Exit codes: 0 done; 2 bad input; 3 the run ended early, as its
    outcome says; 130 interrupted, and the folder was left as it is.

    Example: carom report runs/ball-drop

    Example: carom report runs/ball-drop --figures svg
    """
    from ..experiment._converge import kept
    from ..experiment._output import Pictures, check_installed, write
    from ..experiment._scenario_check import placed
    from ..experiment.experiment import perform
    from ..scenario.library import load
    from ..scenario.model import Output

    file = folder / "scenario.toml"
    if not file.exists():
        raise CaromError(f"{folder} holds no scenario.toml; give a folder that `carom run` wrote")
    scenario = load(file)
    if not scenario.output.report:
        scenario = scenario.model_copy(update={"output": Output(samples=scenario.output.samples)})
    check_installed(scenario)
    pictures = Pictures(figures, columns, style).checked()
    say = Stages(quiet)
    try:
        say("running again")
        with placed(str(file)):
            found = perform(scenario, say, False)
        if found.interrupted:
            raise KeyboardInterrupt  # the older folder holds more than this run
        write(found, folder, replace=True, say=say, partial=False, holds=kept(folder), pictures=pictures)
    finally:
        say.close()
    typer.echo(str(folder / "report.html"))
    if not found.finished:
        typer.echo(f"carom: {found.outcome}", err=True)
        raise typer.Exit(ENDED_EARLY)
