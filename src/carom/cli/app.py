"""The application: its commands, and what they have in common.

A new command is a file with one function, and one line in registry.py.
"""

from __future__ import annotations

import typer

from .. import registry
from ._speech import answering

app = typer.Typer(
    name="carom",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a mistake of ours should be reported with the traceback that Python gives
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # units in square brackets are no markup
)


def _version(asked: bool) -> bool:
    if asked:
        from importlib.metadata import version

        typer.echo(f"carom {version('carom')}")
        raise typer.Exit
    return asked


@app.callback()
def _several(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Planar robots that collide. Every command answers to --help with an example.

    Begin with: carom run ball-drop
    """


for _line in registry.COMMANDS:
    app.command(*_line.more)(answering(_line.found()))
