"""The application: its commands, and what they have in common.

A new command is a file with one function, and one entry in `COMMANDS`.
"""

from __future__ import annotations

from collections.abc import Callable

import typer

from .check_command import check
from .equations_command import equations
from .laws_command import laws
from .list_command import list_
from .new_command import new
from .report_command import report
from .reproduce_command import reproduce
from .restitution_command import restitution
from .run_command import run
from .schema_command import schema
from .show_command import show
from .speech import answering

COMMANDS: dict[str, Callable[..., None]] = {
    "list": list_,
    "show": show,
    "new": new,
    "check": check,
    "run": run,
    "reproduce": reproduce,
    "equations": equations,
    "laws": laws,
    "restitution": restitution,
    "report": report,
    "schema": schema,
}

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


for _name, _command in COMMANDS.items():
    app.command(_name)(answering(_command))
