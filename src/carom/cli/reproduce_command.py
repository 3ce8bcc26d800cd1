"""carom reproduce: the shipped studies beside their sources."""

from __future__ import annotations

import json as json_
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._speech import DIFFERS, ENDED_EARLY, INTERRUPTED, Stages
from ._tables import quantity_table

if TYPE_CHECKING:
    from ..experiment.measures.all_measures import Measured
    from ..scenario.model import Scenario


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Shipped scenarios or files; all shipped if left out.")
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write the table to this file as JSON, too.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only what differs.")] = False,
) -> None:
    """Print the sources' numbers beside carom's.

    Runs the studies and compares every number that their sources report.

    Exit codes: 0 all agree, or differ for a stated reason; 1 one differs without a stated reason; 3 a run ended early;
    130 interrupted.

    Example: carom reproduce arm-repeated-impact
    """
    from ..result._files import refuse_unwritable
    from ..scenario.library import names as shipped

    rows: list[dict[str, Any]] = []
    outcomes: list[int] = []
    given = [_read(name) for name in names or shipped()]  # a mistake in the last one is said before the first one runs
    if json is not None:
        refuse_unwritable(json)
    try:
        for scenario, where, text in given:
            for code, more in _compared(scenario, where, text, quiet):
                outcomes.append(code)
                rows += more
                _keep(json, rows)
    except KeyboardInterrupt:
        outcomes.append(INTERRUPTED)
        typer.echo("carom: interrupted; what was compared is above", err=True)
    raise typer.Exit(_verdict(rows, max(outcomes, default=0)))


def _read(name: str) -> tuple[Any, str, str]:
    """A scenario, what to call it in messages, and its text."""
    from ..scenario._text import read
    from ..scenario.library import text_and_place

    text, where = text_and_place(name)
    return read(text, where), where, text


def _compared(scenario: Scenario, where: str, text: str, quiet: bool) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Exit code and rows of a scenario and of each of its variants, printed as they come."""
    from ..experiment._scenario_check import placed
    from ..experiment.experiment import perform
    from ..experiment.measures import measured

    say = Stages(quiet)
    for variant in (None, *scenario.variants):
        each = scenario if variant is None else scenario.variant(variant)
        say(each.name)
        try:
            with placed(where, text) if variant is None else placed(f"{where}, variant '{variant}'"):
                found = perform(each.model_copy(update={"compare": []}), say, False)
        finally:
            say.close()
        if found.interrupted:
            raise KeyboardInterrupt
        if not found.finished:
            typer.echo(f"{each.name}: {found.outcome}\n")
            yield ENDED_EARLY, []
            continue
        results = measured(found)
        shown = [m for m in results if m.expected is not None and not (quiet and m.agrees)]
        if shown:
            typer.echo(f"{each.name}: {each.source or each.title}")
            typer.echo(quantity_table({m.name: record(m) for m in shown}) + "\n")
        yield 0, [{"scenario": each.name} | record(m) for m in results]


def _keep(json: Path | None, rows: list[dict[str, Any]]) -> None:
    """What is known so far, so that a long comparison that is stopped has not been for nothing."""
    if json is not None:
        from ..result._files import write_text
        from ..result._json_values import clean

        write_text(json, json_.dumps(clean(rows), indent=1, ensure_ascii=False) + "\n")


def _verdict(rows: list[dict[str, Any]], code: int) -> int:
    known = [r for r in rows if r["agrees"] is not None]
    agree = sum(r["agrees"] for r in known)
    stated = sum(not r["agrees"] and bool(r["note"]) and not r["missing"] for r in known)
    wrong = len(known) - agree - stated
    if not known:
        typer.echo("nothing to compare: no number is expected; give quantities an expected value")
        return code
    total = f"{len(known)} number{'s' * (len(known) != 1)}"
    typer.echo(f"{total}: {agree} agree, {stated} differ for a stated reason, {wrong} differ without one")
    return code or (DIFFERS if wrong else 0)


def record(m: Measured) -> dict[str, Any]:
    """A quantity as a row of the table."""
    names = (
        "name",
        "value",
        "unit",
        "about",
        "expected",
        "difference",
        "allowed",
        "agrees",
        "verdict",
        "source",
        "note",
        "missing",
    )
    return {name: getattr(m, name) for name in names}
