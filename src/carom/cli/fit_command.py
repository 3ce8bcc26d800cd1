"""carom fit: numbers of a scenario from what was recorded."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from ..errors import CaromError
from ._speech import INTERRUPTED, Stages

Several: TypeAlias = list[str] | None


def fit(
    name: Annotated[str, typer.Argument(help="A shipped scenario, or a file.")],
    data: Annotated[list[str], typer.Option("--data", "-d", help="A CSV file of records. Repeatable.")],
    vary: Annotated[Several, typer.Option("--vary", help="A number: path, or path=first guess. Repeatable.")] = None,
    each: Annotated[Several, typer.Option("--each", help="One that every run has for itself. Repeatable.")] = None,
    noise: Annotated[Several, typer.Option("--noise", help="Standard deviation, channel=number. Repeatable.")] = None,
    bounds: Annotated[
        Several, typer.Option("--bounds", help="path=low:high; else those of the laws. Repeatable.")
    ] = None,
    starts: Annotated[int, typer.Option(help="Search from so many first guesses, and keep the best end.")] = 1,
    seed: Annotated[int, typer.Option(help="Of the other first guesses, and of the folds.")] = 0,
    time: Annotated[float | None, typer.Option(help="Stop after so many seconds; the best so far is written.")] = None,
    from_first: Annotated[bool, typer.Option("--from-first", help="Every run begins at its first row.")] = False,
    laws: Annotated[Several, typer.Option("--laws", help="Compare: path=a,b,c, or another file. Repeatable.")] = None,
    folds: Annotated[int, typer.Option(help="With --laws: how many parts the runs are dealt into.")] = 5,
    changes: Annotated[Several, typer.Option("--set", help="Change a value: path=value. Repeatable.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the results, else fits/NAME.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the folder if it is there.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the folder, nothing else.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print fit.json, or the comparison as JSON.")] = False,
) -> None:
    """Find numbers of a scenario in records: restitution, friction, masses, lengths, where a run began.

    The first line of a CSV file names its columns as carom does. With a column t [s] they are signals over time
    (angle.LINK, x.SITE, normal.CONTACT ..); with a column impact (1, 2 ..) numbers of impacts (t_start, interval,
    restitution ..); else each row is a run, with measures of it. A column record names the run. Units stand in
    brackets, t [ms]; an empty cell is a gap; the second line may say how noisy columns are, +-0.002.

    Written are fit.json, the scenario with the estimates, residuals.csv, figures and fit.html. Ctrl-C, or the end of
    --time, keeps the best so far. With --laws scenarios are compared: fitted on some runs, judged on others.

    Example: carom fit ball-drop -d drops.csv --vary contacts.floor.normal.restitution --noise interval=0.002 --starts 8
    """
    from ..experiment.measuring.fit_scenario import fit_scenario
    from ..scenario._change import changed, parsed_change
    from ..scenario.library import load

    scenario = load(name)
    if changes:
        scenario = changed(scenario, dict(parsed_change(each) for each in changes))
    options: dict[str, Any] = {
        "each": each or (), "noise": _numbers("noise", noise), "bounds": _bounds(bounds), "starts": starts,
        "seed": seed, "from_first": from_first, "time": time, "progress": False if quiet or json else None,
    }  # fmt: skip
    if laws:
        _compare(scenario, data, vary or [], laws, folds, options, quiet, json)
        return
    folder = _free(scenario.name) if out is None else out
    _refuse_existing(folder, replace)
    found = fit_scenario(scenario, data, vary or (), **options, throw=False)
    _write(found, folder, replace, quiet, json)
    if "interrupted" in found.fit.stopped:
        raise typer.Exit(INTERRUPTED)


def _write(found: Any, folder: Path, replace: bool, quiet: bool, json: bool) -> None:
    from ..experiment.measuring._fit_output import fit_numbers, write_fit
    from ..result._json_values import clean

    say = Stages(quiet or json)
    try:
        write_fit(found, folder, replace, say)
    finally:
        say.close()
    if json:
        typer.echo(json_.dumps(clean(fit_numbers(found)), indent=1, ensure_ascii=False))
        return
    typer.echo(str(folder) if quiet else f"{found}\nfit: {folder / 'fit.html'}")


def _compare(
    scenario: Any,
    data: list[str],
    vary: list[str],
    laws: list[str],
    folds: int,
    options: dict[str, Any],
    quiet: bool,
    json: bool,
) -> None:
    """A table of scenarios, by how well they say what they have not seen."""
    from ..experiment.measuring.compare_scenarios import compare_laws, variants_of
    from ..result._json_values import clean
    from ..study.fitting._judging import numbers_of

    if options["each"]:
        raise CaromError("--each and --laws: what every run has for itself is not known of runs that are held out")
    found = compare_laws(
        data, variants_of(scenario, laws), vary=vary, noise=options["noise"], bounds=options["bounds"],
        from_first=options["from_first"], folds=folds, seed=options["seed"], progress=options["progress"],
    )  # fmt: skip
    if json:
        typer.echo(json_.dumps(clean(numbers_of(found)), indent=1, ensure_ascii=False))
    else:
        typer.echo(found.best if quiet else str(found))


def _numbers(what: str, given: list[str] | None) -> dict[str, float] | None:
    """channel=number, or one number for all."""
    out = {}
    for text in given or ():
        path, sign, value = text.partition("=")
        try:
            out[path.strip()] = float(value)
        except ValueError:
            raise CaromError(f"--{what} {text}: write channel=number, such as --{what} t_start=0.002") from None
        if not sign:
            raise CaromError(f"--{what} {text}: write channel=number, such as --{what} t_start=0.002")
    return out or None


def _bounds(given: list[str] | None) -> dict[str, tuple[float, float]] | None:
    out = {}
    for text in given or ():
        path, _, values = text.partition("=")
        low, _, high = values.partition(":")
        try:
            out[path.strip()] = float(low), float(high)
        except ValueError:
            raise CaromError(f"--bounds {text}: write path=low:high, such as --bounds gravity=9:10") from None
    return out or None


def _free(name: str) -> Path:
    """fits/NAME, or the first fits/NAME-2, -3 .. that is not there yet."""
    folder, number = Path("fits") / name, 1
    while folder.exists():
        number += 1
        folder = Path("fits") / f"{name}-{number}"
    return folder


def _refuse_existing(folder: Path, replace: bool) -> None:
    """Before the work is done, not after it."""
    from ..result._files import Folder

    Folder(folder, replace).discard()
