"""carom list: the shipped scenarios."""

from __future__ import annotations

from typing import Annotated

import typer

from ._speech import as_json, console


def list_(json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False) -> None:
    """List the shipped scenarios.

    Example: carom list
    """
    from rich.table import Table
    from rich.text import Text

    from ..scenario.library import names, shipped_tables

    found = []
    for name in names():
        tables = shipped_tables(name)
        said = {key: tables.get(key, "") for key in ("title", "source")}
        found.append({"name": name, **said, "variants": list(tables.get("variants", {}))})
    if json:
        as_json(found)
        return
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("scenario", no_wrap=True)
    table.add_column("what happens", overflow="fold")
    table.add_column("variants", overflow="fold")
    for s in found:
        table.add_row(Text(s["name"]), Text(s["title"]), Text(", ".join(s["variants"])))
    console().print(table)
    console().print("\ncarom show NAME tells more, carom run NAME runs it, carom new FILE starts one of your own.")
