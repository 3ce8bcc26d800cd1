"""carom restitution: what is asked of a law, and what it achieves."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import errors
from ._restitution_figure import check_target, draw
from ._speech import as_json, console

if TYPE_CHECKING:
    from ..contact.catalogue import LawEntry

SHOWN = (0.1, 0.3, 0.5, 0.7, 0.9)  # asked for, in the table of all laws


def restitution(
    law: Annotated[str | None, typer.Argument(help="A normal law, such as flores; `carom laws` lists them.")] = None,
    asked: Annotated[float | None, typer.Option(help="Restitution that is asked for, in [0, 1].")] = None,
    speed: Annotated[float, typer.Option(help="Approach speed [m/s].")] = 1.0,
    mass: Annotated[float, typer.Option(help="Mass that strikes [kg].")] = 1.0,
    all_: Annotated[bool, typer.Option("--all", help="All laws of which a restitution can be asked.")] = False,
    figure: Annotated[Path | None, typer.Option(help="With --all: draw achieved against asked to this file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Print the restitution that a law achieves.

    Beside the one that is asked of it; from the law's energy equation, or by integrating the blow.

    Example: carom restitution lankarani-nikravesh --asked 0.5

    Example: carom restitution --all --figure restitution.png
    """
    if all_ == (law is not None):
        raise errors.CaromError(
            "restitution needs either the name of a law or --all; such as: carom restitution flores --asked 0.8"
        )
    if figure is not None and not all_:
        raise errors.CaromError(f"--figure is {figure}, and it draws all laws together; add --all, without a name")
    if figure is not None:
        check_target(figure)
    from ..contact import catalogue

    if law is not None:
        _one(catalogue.find(catalogue.spelled(law), "normal"), asked, speed, mass, json)
    else:
        _every(SHOWN if asked is None else (asked,), speed, mass, json)
    if figure is not None:
        draw({name: partial(achieved, entry, speed=speed, mass=mass) for name, entry in asking().items()}, figure)


def asking() -> dict[str, LawEntry]:
    """Laws of which a restitution can be asked, by name."""
    from ..contact import catalogue

    return {name: entry for name, entry in catalogue.laws("normal").items() if entry.asks}


def achieved(entry: LawEntry, asked: float | None, speed: float, mass: float) -> float:
    """By the example of the catalogue, with the restitution that is asked for."""
    from ..contact import achieved_restitution

    example = entry.example()
    law = example if asked is None else dataclasses.replace(example, restitution=asked)
    return achieved_restitution(law, speed, mass)


def _one(entry: LawEntry, asked: float | None, speed: float, mass: float, json: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    name = entry.card.name
    if entry.asks and asked is None:
        raise errors.CaromError(f"--asked is missing; '{name}' takes a restitution; add, for instance, --asked 0.8")
    if not entry.asks and asked is not None:
        raise errors.CaromError(
            f"--asked is {asked:g}, but '{name}' takes no restitution: it follows from the other parameters; "
            "leave out --asked to see that of the example"
        )
    value = achieved(entry, asked, speed, mass)
    if json:
        as_json({"law": name, "asked": asked, "achieved": value, "speed": speed, "mass": mass})
        return
    rows = [("law", name), ("asked", f"{asked:g}")] if entry.asks else [("law", name), ("example", _in_words(entry))]
    rows += [("achieved", f"{value:.10f}"), ("at", f"{speed:g} m/s, {mass:g} kg")]
    grid = Table.grid(padding=(0, 2))
    for label, text in rows:
        grid.add_row(Text(label), Text(text))
    console().print(grid)


def _in_words(entry: LawEntry) -> str:
    return " ".join(str(entry.example()).split())


def _every(values: tuple[float, ...], speed: float, mass: float, json: bool) -> None:
    """A row for each law, a column for each restitution that is asked for."""
    from rich.table import Table

    rows = {name: [achieved(entry, c, speed, mass) for c in values] for name, entry in asking().items()}
    if json:
        as_json({"asked": list(values), "achieved": rows, "speed": speed, "mass": mass})
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("asked for")
    for c in values:
        table.add_column(f"{c:g}", justify="right")
    for name, row in rows.items():
        table.add_row(name, *(f"{value:.4f}" for value in row))
    console().print(table)
