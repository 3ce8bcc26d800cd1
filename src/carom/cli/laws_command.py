"""carom laws: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._speech import as_json, console

if TYPE_CHECKING:
    from rich.table import Table

    from ..contact.card import Card


def laws(
    name: Annotated[str | None, typer.Argument(help="Only this law, such as hunt-crossley.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only these: normal, friction, impact or restitution.")] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """List the contact laws.

    Formula, parameters, source, and when to choose them.

    Example: carom laws gonthier
    """
    from rich.text import Text

    from ..contact import catalogue

    found = _chosen(None if name is None else catalogue.spelled(name), kind)
    if json:
        as_json([{"kind": k, **_record(card)} for k, cards in found.items() for card in cards])
        return
    out = console()
    for k, cards in found.items():
        out.print(Text(f"{k} laws" if cards else f"{k} laws: none in the catalogue", style="bold"))
        for card in cards:
            out.print(_block(card))


def _chosen(name: str | None, kind: str | None) -> dict[str, list[Card]]:
    """Cards by kind; of one law, or of all."""
    from ..contact import catalogue

    wanted = catalogue.laws(kind) if name is None else {name: catalogue.find(name, kind)}
    return {
        k: [entry.card for entry in entries if entry.card.name in wanted]
        for k, entries in catalogue.kinds().items()
        if (kind in (None, k)) and (name is None or any(entry.card.name == name for entry in entries))
    }


def _record(card: Card) -> dict[str, Any]:
    return {**card._asdict(), "parameters": dict(card.parameters), "in_phases": dict(card.in_phases)}


def _block(card: Card) -> Table:
    """One law: its name above labelled lines that wrap beside their labels."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(f"\n{card.name}", style="bold"), Text(f"\n{card.formula}"))
    for parameter, meaning in card.parameters:
        grid.add_row(Text(f"  {parameter}"), Text(meaning))
    if card.source:
        grid.add_row(Text("  source"), Text(card.source))
    grid.add_row(Text("  choose for"), Text(card.choose))
    return grid
