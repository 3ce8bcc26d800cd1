"""carom reproduce: the shipped studies beside their sources."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import Annotated, Any

import typer

from .speech import DIFFERS, ENDED_EARLY, Stages
from .tables import quantity_table


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Shipped scenarios or files; all shipped if left out.")
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write the table to this file as JSON, too.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only what differs.")] = False,
) -> None:
    """Print the sources' numbers beside carom's.

    Runs the studies and compares every number that their sources report.

    Exit codes: 0 all agree, or differ for a stated reason; 1 a number differs without a reason; 3 a run ended early.

    Example: carom reproduce arm-repeated-impact
    """
    from ..scenario.library import load
    from ..scenario.library import names as shipped
    from ..scenario.measures import measured
    from ..scenario.study import study

    say = Stages(quiet)
    rows: list[dict[str, Any]] = []
    early = False
    for name in names or shipped():
        scenario = load(name)
        for each in (scenario, *(scenario.variant(v) for v in scenario.variants)):
            say(each.name)
            found = study(each.model_copy(update={"compare": []}), say, False)
            say.close()
            if not found.finished:
                early = True
                typer.echo(f"{each.name}: {found.outcome}\n")
                continue
            results = measured(found)
            rows += [{"scenario": each.name} | record(m) for m in results]
            shown = [m for m in results if m.expected is not None and not (quiet and m.agrees)]
            if shown:
                typer.echo(f"{each.name}: {each.source or each.title}")
                typer.echo(quantity_table({m.name: record(m) for m in shown}) + "\n")
    if json is not None:
        from ..result.files import write_text
        from ..scenario.summary import clean

        write_text(json, json_.dumps(clean(rows), indent=1, ensure_ascii=False) + "\n")
    raise typer.Exit(_verdict(rows, early))


def _verdict(rows: list[dict[str, Any]], early: bool) -> int:
    known = [r for r in rows if r["agrees"] is not None]
    agree = sum(r["agrees"] for r in known)
    stated = sum(not r["agrees"] and bool(r["note"]) and not r["missing"] for r in known)
    wrong = len(known) - agree - stated
    typer.echo(f"{len(known)} numbers: {agree} agree, {stated} differ for a stated reason, {wrong} differ without one")
    return ENDED_EARLY if early else DIFFERS if wrong else 0


def record(m: Any) -> dict[str, Any]:
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
