"""carom show: what a scenario is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ._speech import console

if TYPE_CHECKING:
    from rich.table import Table

    from ..scenario.model import Scenario


def show(
    name: Annotated[str | None, typer.Argument(help="A shipped scenario, or a file.")] = None,
    toml: Annotated[bool, typer.Option("--toml", help="Print the complete file.")] = False,
    variant: Annotated[str | None, typer.Option(help="Show the variant of this name.")] = None,
    measures: Annotated[bool, typer.Option("--measures", help="List what [quantities] can measure.")] = False,
) -> None:
    """Show a scenario, and what it should give.

    Example: carom show ball-drop
    """
    from rich.text import Text

    if measures:
        _measures()
        return
    from ..errors import CaromError
    from ..scenario.library import load

    if name is None:
        raise CaromError("which scenario? `carom list` names those that are shipped")
    scenario = load(name) if variant is None else load(name).variant(variant)
    if toml:
        typer.echo(scenario.toml())
        return
    out = console()
    out.print(Text(f"{scenario.name}: {scenario.title}", style="bold"))
    for text in (scenario.about.strip(), f"Source: {scenario.source}" if scenario.source else ""):
        if text:
            out.print(Text(" ".join(text.split())))
    out.print()
    for line in _parts(scenario):
        out.print(Text(line))
    if scenario.variants:
        out.print(Text(f"variants: {', '.join(scenario.variants)}  (carom run {scenario.name} --variant ...)"))
    if scenario.quantities:
        out.print()
        out.print(_quantities(scenario))


def _parts(s: Scenario) -> list[str]:
    """The world in a few lines."""
    out = []
    if s.crawl is None:
        from ..scenario._build import world_of

        world = world_of(s) if s.capture is None else world_of(s.model_copy(update={"control": {}}))
        out += str(world.mechanism).splitlines()
    else:
        worm = s.crawl
        equal = not isinstance(worm.length, list) and not isinstance(worm.mass, list)
        size = f"{worm.length:g} m and {worm.mass:g} kg each" if equal else f"of {worm.length} m and {worm.mass} kg"
        ground = "" if worm.surface is None else f", on '{worm.surface}'"
        out.append(f"inchworm of {worm.links} links, {size}, {len(worm.steps)} steps{ground}")
    for name, c in s.contacts.items():
        law = c.normal
        rubs = f", friction {c.friction.law}" if c.friction else ""
        what = c.site if c.limit is None else f"joint of {c.limit.link}"
        against = (
            "its stop"
            if c.limit
            else c.against
            if isinstance(c.against, str)
            else f"a {getattr(c.against, 'kind', None)}"
        )
        out.append(f"contact {name}: {what} against {against}, {law.law}{rubs}")
    out += [f"control {name}: {c.kind}" for name, c in s.control.items()]
    out.append(f"run: until {s.run.end}, {s.run.solver}, rtol {s.run.rtol:g}")
    return out


def _quantities(s: Scenario) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_edge=False)
    for head in ("quantity", "expected", "unit", "about, source"):
        table.add_column(head, overflow="fold")
    for name, q in s.quantities.items():
        expected = "" if q.expected is None else f"{q.expected:.7g}"
        words = "; ".join(w for w in (q.about, q.source) if w)
        table.add_row(Text(name), Text(expected), Text(q.unit), Text(words))
    return table


def _measures() -> None:
    from rich.table import Table
    from rich.text import Text

    from ..experiment.measures import MEASURES

    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("measure", no_wrap=True)
    table.add_column("meaning", overflow="fold")
    table.add_column("in a batch", no_wrap=True)
    for m in MEASURES:
        table.add_row(Text(m.form), Text(m.meaning), Text("no" if m.lane is None else "yes"))
    console().print(table)
