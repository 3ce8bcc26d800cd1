"""carom sweep: many runs of a scenario as one labelled result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..errors import CaromError
from ._speech import INTERRUPTED

if TYPE_CHECKING:
    import xarray

    from ..experiment.sweeping._study_task import Failure


def sweep(
    name: Annotated[str, typer.Argument(help="A shipped scenario, or a file.")],
    over: Annotated[
        list[str] | None,
        typer.Option("--over", help="What is varied: path=a:b:n, path=x,y,z, or path=a:b. Repeatable."),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help="What is recorded of every run. Repeatable.")
    ] = None,
    impacts: Annotated[int | None, typer.Option(help="Record columns of so many first impacts.")] = None,
    sample: Annotated[int | None, typer.Option(help="Draw so many points from the ranges instead of a grid.")] = None,
    method: Annotated[str | None, typer.Option(help="sobol, halton, latin-hypercube, random or saltelli.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the draw.")] = None,
    points: Annotated[str | None, typer.Option(help="A CSV file of points; its first line has the paths.")] = None,
    chunk: Annotated[int | None, typer.Option(help="How many runs are one task.")] = None,
    changes: Annotated[list[str] | None, typer.Option("--set", help="Change a value: path=value. Repeatable.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="*.zarr (can be gone on with), *.nc, *.csv or *.parquet.")
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Write a page, *.html, with maps of every number.")] = None,
    plays: Annotated[int, typer.Option(help="How many runs, well spread, play when they are clicked on the page.")] = 0,
    cluster: Annotated[str | None, typer.Option(help="local:N processes, or the address of a Dask scheduler.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the name of the file, nothing else.")] = False,
) -> None:
    """Run a scenario for many values of its numbers: a map, a sample, a table of points.

    What is left out is read from [study] of the scenario. A study in a Zarr store can be interrupted at any moment: the
    same command goes on with what is not done. Runs that fail keep their outcome, and the others go on. Exit codes: 0
    done; 2 bad input; 130 interrupted.

    Example: carom sweep ball-drop --over start.base.1=0.5:1:11 --measure impact.1.restitution --out drops.zarr
    """
    from ..experiment.sweeping._needed import needed
    from ..experiment.sweeping._study import run_study, study_of
    from ..experiment.sweeping._study_formats import refuse_format
    from ..experiment.sweeping._workers import Workers
    from ..scenario._change import changed, parsed_change
    from ..scenario.library import load

    needed("xarray", "zarr", "dask")
    scenario = load(name)
    if changes:
        scenario = changed(scenario, dict(parsed_change(each) for each in changes))
    plan = study_of(scenario, {
        "over": dict(_varied(each) for each in over) if over else None, "measures": measure, "impacts": impacts,
        "sample": sample, "method": method, "seed": seed, "points": points, "chunk": chunk,
    })  # fmt: skip
    place = Path(f"{scenario.name}.zarr") if out is None else out
    refuse_format(place)
    try:
        with Workers(cluster) as workers:
            data, failures = run_study(plan, place, workers, False if quiet else None)
    except KeyboardInterrupt:
        raise _interrupted(place) from None
    if page is not None:
        from ..experiment.sweeping import study_page

        study_page(data, page, place, plays)
    typer.echo(str(place)) if quiet else _tell(data, place, failures)


def _interrupted(place: Path) -> typer.Exit:
    kept = f"{place} keeps what is complete, and the same command goes on"
    typer.echo(f"carom: interrupted; {kept if place.suffix == '.zarr' else 'nothing was written'}", err=True)
    return typer.Exit(INTERRUPTED)


def _varied(text: str) -> tuple[str, str]:
    path, sign, values = text.partition("=")
    if not sign or not path.strip() or not values.strip():
        raise CaromError(f"--over {text} has no values; write path=a:b:n, such as --over gravity=5:15:11")
    return path.strip(), values.strip()


def _tell(data: xarray.Dataset, place: Path, failures: list[Failure]) -> None:
    from ..experiment.sweeping._study_task import GOOD

    codes = data["outcome"].values
    bad = int(np.sum(~np.isin(codes, GOOD)))
    for name, column in data.data_vars.items():
        if name not in ("outcome", "time") and column.ndim == codes.ndim:
            typer.echo(f"{name}: {_span(column.values)}{_unit(column)}")
    typer.echo(f"{codes.size} runs, {codes.size - bad} ended well, {bad} failed")
    for each in failures:
        typer.echo(f"failed: {each.named}: {each.why}")
    if bad > len(failures):
        rest = f"and {bad - len(failures)} more" if failures else f"{bad}, all of them before this command"
        typer.echo(f"failed: {rest}; `outcome` says which")
    typer.echo(f"study: {place}")


def _span(values: np.ndarray) -> str:
    there = values[np.isfinite(values)]
    missing = values.size - there.size
    words = f"{there.min():.6g} to {there.max():.6g}" if there.size else "nothing"
    return f"{words} ({missing} runs have none)" if missing else words


def _unit(column: Any) -> str:
    unit = column.attrs.get("units", "1")
    return "" if unit in ("1", "-") else f" {unit}"
