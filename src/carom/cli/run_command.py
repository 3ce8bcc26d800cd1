"""carom run: a scenario from start to report."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import CaromError
from ._speech import ENDED_EARLY, INTERRUPTED, Stages
from ._tables import digit_table, impact_table, quantity_table, stance_table

Format = Annotated[str, typer.Option("--figures", metavar="FORMAT", help="Files of the figures: png, pdf or svg.")]
Columns = Annotated[
    str | None, typer.Option("--columns", help="Width of the figures: single (3.4 in) or double (6.8 in) column.")
]
Sheet = Annotated[str | None, typer.Option("--style", metavar="FILE", help="A matplotlib style sheet for the figures.")]
Before = Annotated[
    Path | None, typer.Option("--from", help="Go on from the end of a run: its folder, or its trajectory.nc.")
]


def run(
    name: Annotated[str, typer.Argument(help="A shipped scenario, a file, or a study (*.zarr) with --at.")],
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Change a value: path=value, such as run.until=2.0. Repeatable.")
    ] = None,
    variant: Annotated[str | None, typer.Option(help="Run the variant of this name.")] = None,
    at: Annotated[str | None, typer.Option("--at", help="Which run of a study: mu=0.3,angle=60, or point=17.")] = None,
    before: Before = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the results; runs/NAME if left out.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the folder if it is there.")] = False,
    numbers_only: Annotated[bool, typer.Option("--numbers-only", help="No figures, no report.")] = False,
    figures: Format = "png",
    columns: Columns = None,
    style: Sheet = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the folder, nothing else.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print summary.json.")] = False,
    converge: Annotated[
        bool, typer.Option("--converge", help="Run again at a tenth of the tolerance: how many digits hold?")
    ] = False,
) -> None:
    """Run a scenario: numbers, figures, report.

    The results go into a folder, which appears when everything in it is complete. Exit codes: 0 done; 2 bad input; 3
    the run ended early; 130 interrupted. In the last two cases what was computed is written, and the outcome says so.

    With --converge it is run a second time at a tenth of rtol and atol, and every number says how many of its digits
    the two runs share; Ctrl-C during the second run keeps the first one's results.

    Example: carom run arm-repeated-impact --set contacts.tip.friction.mu=0.3 --out stickier

    Example: carom run ball-drop --figures pdf --columns single --style journal.mplstyle

    Example: carom run drops.zarr --at base=0.75

    Example: carom run ball-drop --from runs/ball-drop --set run.until=6.0
    """
    from ..experiment._converge import repeated
    from ..experiment._output import Pictures, check_installed, write
    from ..experiment._scenario_check import check_names
    from ..experiment.experiment import perform

    scenario, place = _asked(name, changes, variant, numbers_only, at)
    check_installed(scenario)
    pictures = Pictures(figures, columns, style).checked()
    folder = free_folder(scenario.name) if out is None else out
    _refuse_existing(folder, replace)
    say = Stages(quiet or json)
    try:
        say("running" if scenario.crawl is None else "planning")
        with place:
            check_names(scenario)
            found = perform(scenario, say, False if quiet or json else None, before)
        holds = repeated(found, say, False if quiet or json else None) if converge and found.finished else None
        summary = write(found, folder, replace=replace, say=say, holds=holds, pictures=pictures)
    finally:
        say.close()
    _tell(summary, folder, quiet, json)
    _leave(found, converge and found.finished and holds is None)


def _leave(found: Any, cut: bool) -> None:
    """With the exit code that says how it went."""
    if cut:
        typer.echo("carom: the second run was interrupted; the results are those of the first", err=True)
        raise typer.Exit(INTERRUPTED)
    if not found.finished:
        raise typer.Exit(INTERRUPTED if found.interrupted else ENDED_EARLY)


def _asked(
    name: str, changes: list[str] | None, variant: str | None, numbers_only: bool, point: str | None
) -> tuple[Any, Any]:
    """The scenario with all that was changed in it, and where its mistakes are told to be."""
    from ..experiment._scenario_check import placed
    from ..scenario._change import changed, parsed_change, told
    from ..scenario._text import read
    from ..scenario.library import text_and_place

    if Path(name).suffix == ".zarr":
        from ..experiment.sweeping._study_point import point_of

        text, where = "", f"a run of {name}"
        scenario = point_of(Path(name), point or "")
    elif point is not None:
        raise CaromError(f"--at names a run of a study, and {name} is none; give values with --set")
    else:
        text, where = text_and_place(name)
        scenario = read(text, where)
    if variant is not None:
        scenario = scenario.variant(variant)
    if changes:
        scenario = told(changed(scenario, dict(parsed_change(each) for each in changes)), changes)
    if numbers_only:
        output = scenario.output.model_copy(update={"figures": [], "report": False})
        scenario = scenario.model_copy(update={"output": output})
    return scenario, placed(where, text) if not changes and variant is None else placed(f"{where}, changed")


def free_folder(name: str) -> Path:
    """runs/NAME, or the first runs/NAME-2, -3 .. that is not there yet."""
    folder, number = Path("runs") / name, 1
    while folder.exists():
        number += 1
        folder = Path("runs") / f"{name}-{number}"
    return folder


def _refuse_existing(folder: Path, replace: bool) -> None:
    """Before the work is done, not after it."""
    from ..result._files import Folder

    Folder(folder, replace).discard()


def _tell(summary: dict[str, Any], folder: Path, quiet: bool, json: bool) -> None:
    if json:
        typer.echo(json_.dumps(summary, indent=1, ensure_ascii=False))
        return
    if quiet:
        typer.echo(str(folder))
        return
    if summary["impacts"]:
        typer.echo(impact_table(summary["impacts"]) + "\n")
    if summary["stances"]:
        typer.echo(stance_table(summary["stances"]) + "\n")
    if summary["quantities"]:
        typer.echo(quantity_table(summary["quantities"]) + "\n")
    for name, other in summary["variants"].items():
        typer.echo(f"variant {name}\n{quantity_table(other['quantities'])}\n")
    if "converge" in summary:
        typer.echo(f"{digit_table(summary['converge'])}\n")
    energy, solver, inside = summary["energy"], summary["solver"], summary["penetration"]
    struck = sum(i["struck"] for i in summary["impacts"])
    typer.echo(
        f"{summary['outcome']}; {_count(struck, 'impact')}, {solver['steps']} steps, compiled in "
        f"{solver['compile_seconds']:.1f} s, ran in {solver['run_seconds']:.3f} s ({solver['back_end']})"
        + (f"; the energy ledger closes to {energy['max_error_percent']:.1e} %" if energy else "")
        + (f"; largest penetration of a rigid contact {inside['largest']:.1e} {inside['unit']}" if inside else "")
    )
    for warning in summary["warnings"]:
        typer.echo(f"warning: {warning}")
    report = folder / "report.html"
    typer.echo(f"report: {report}" if report.exists() else f"results: {folder}")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"
