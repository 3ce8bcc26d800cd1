"""The application: its commands, and what they have in common.

A new command is a file with one function, and one entry in `COMMANDS`.
"""

from __future__ import annotations

import typer

from .laws import laws
from .restitution import restitution
from .speech import answering

COMMANDS = (laws, restitution)

app = typer.Typer(
    name="carom",
    help="Planar robots that collide.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a mistake of ours should be reported with the traceback that Python gives
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # units in square brackets are no markup
)


@app.callback()
def _several() -> None:
    """Planar robots that collide. Every command answers to --help with an example."""


for _command in COMMANDS:
    app.command()(answering(_command))
