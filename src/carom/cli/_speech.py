"""How commands speak: results on stdout, everything else on stderr, one sentence for a mistake, and an exit code.

0  done            2  bad input, or a file that cannot be read or written
1  a number differs from its source without a reason (carom reproduce)
3  the run ended early; what was computed is written   130  interrupted by Ctrl-C; what was computed is written
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from .. import errors
from .._progress import Line

if TYPE_CHECKING:
    from rich.console import Console

DIFFERS, BAD_INPUT, ENDED_EARLY, INTERRUPTED = 1, 2, 3, 130


def answering(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose refusals become one sentence and an exit code, without a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except errors.CaromError as refusal:
            typer.echo(f"carom: {refusal}", err=True)
            raise typer.Exit(INTERRUPTED if refusal.interrupted else BAD_INPUT) from None
        except KeyboardInterrupt:
            typer.echo("carom: interrupted; nothing was written", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader of a pipe, such as head, has gone
            sys.stderr.close()
            raise typer.Exit(0) from None
        except OSError as trouble:
            what = f"{trouble.filename}: " if trouble.filename else ""
            typer.echo(f"carom: {what}{(trouble.strerror or type(trouble).__name__).lower()}; check the path", err=True)
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            typer.echo("carom: the memory of this machine is used up; shorten the run, or ask for less", err=True)
            raise typer.Exit(ENDED_EARLY) from None

    return run


def console(**options: Any) -> Console:
    """Made when it is needed: stdout may have been redirected since the import. Text is never read as markup."""
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False, **options)


def as_json(value: object) -> None:
    """Machine-readable, and the same on every terminal."""
    from ..result._json_values import clean

    typer.echo(json.dumps(clean(value), indent=2, ensure_ascii=False, allow_nan=False))


class Stages(Line):
    """One line on a terminal that says what is being done; nothing where stderr is a file or quiet is asked for."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(False if quiet else None)

    def __call__(self, words: str) -> None:
        self.update(words)
