"""carom studio: a scenario on a local page, run again at every change."""

from __future__ import annotations

from typing import Annotated

import typer

FIRST = "arm-repeated-impact"


def studio(
    name: Annotated[str, typer.Argument(help="A shipped scenario, or a file.")] = FIRST,
    port: Annotated[int | None, typer.Option(help="Where to listen; a free port if left out.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")] = True,
) -> None:
    """See a scenario, drag it, slide its numbers, and watch it run again at every change.

    The page is served on this machine alone, to the one browser that opens its address first. Nothing is written: the
    page gives what was changed as TOML, as Python, or as a report. Ctrl-C ends it.

    Example: carom studio ball-drop
    """
    from ..studio import serve

    serve(name, port, browser, lambda words: typer.echo(words, err=True))
