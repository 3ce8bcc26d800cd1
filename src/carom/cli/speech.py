"""How commands speak: results on stdout, one sentence on stderr for a mistake, and an exit code."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import typer
from rich.console import Console

from .. import errors

BAD_INPUT = 2


def answering(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose refusals become one sentence and exit code 2, without a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except errors.CaromError as refusal:
            typer.echo(f"carom: {refusal}", err=True)
            raise typer.Exit(BAD_INPUT) from None

    return run


def console() -> Console:
    """Made when it is needed: stdout may have been redirected since the import. Text is never read as markup."""
    return Console(markup=False, highlight=False, emoji=False)


def as_json(value: Any) -> None:
    """Machine-readable, and the same on every terminal."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
