"""carom compare: runs beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import CaromError
from ._speech import Stages, as_json


def compare(
    runs: Annotated[
        list[str], typer.Argument(help="Scenarios, files, NAME@VARIANT, folders of runs, or *.nc: two to six.")
    ],
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Change a value: path=value for all, 2:path=value for the second.")
    ] = None,
    signal: Annotated[list[str] | None, typer.Option(help="A curve that is shown at first. Repeatable.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page.")] = Path("comparison.html"),
    replace: Annotated[bool, typer.Option("--replace", help="Replace the page if it is there.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the page, nothing else.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print all differences.")] = False,
) -> None:
    """Compare runs: a table of differences, and one page with pictures in step and curves over one another.

    Scenarios are run; a folder that `carom run` wrote is run again, which gives the same; a NetCDF file has curves
    and no picture. To compare a scenario with itself, name it twice and change something in one of them.

    Example: carom compare ball-drop ball-drop --set 2:contacts.floor.normal.restitution=0.8
    """
    from ..experiment.comparing import compare as beside
    from ..result._files import refuse_unwritable

    refuse_unwritable(out)
    if out.exists() and not replace:
        raise CaromError(f"{out} is there already; give --replace to replace it, or another name with --out")
    say = Stages(quiet or json)
    try:
        found = beside(*runs, changes=_changes(changes or [], len(runs)), say=say)
        say("page")
        found.page(out, tuple(signal) if signal else None)
    finally:
        say.close()
    if json:
        as_json({
            "runs": list(found.labels),
            "differences": [
                {"kind": d.kind, "name": d.name, "unit": d.unit, "values": list(d.values), "difference": d.spread}
                for d in found.differences
            ],
        })  # fmt: skip
        return
    typer.echo(str(out) if quiet else f"{found}\n\npage: {out}")


def _changes(given: list[str], count: int) -> list[dict[str, Any]]:
    """What is changed in each run."""
    from ..scenario._change import parsed_change

    out: list[dict[str, Any]] = [{} for _ in range(count)]
    for text in given:
        number, sign, rest = text.partition(":")
        own = bool(sign) and number.strip().isdigit()
        if own and not 1 <= int(number) <= count:
            raise CaromError(f"--set {text} is for run {int(number)}, and there are {count}; count from 1")
        path, value = parsed_change(rest if own else text)
        for k in [int(number) - 1] if own else range(count):
            out[k][path] = value
    return out
