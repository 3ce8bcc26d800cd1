"""The command line: one command, one file. `app.py` lists them."""

from __future__ import annotations

import gc
import sys

NEEDED = ("typer", "rich", "pydantic", "tomli_w")


def main() -> None:
    """Entry point of the `carom` script."""
    gc.set_threshold(100_000, 10, 10)  # looking for garbage takes a tenth of a start, and there is none yet
    try:
        from .app import app
    except ModuleNotFoundError as missing:
        package = (missing.name or "").split(".")[0]
        if package not in NEEDED:
            raise
        print(
            f"carom: the command line needs {package}, which is not installed; run: pip install 'carom[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    app()
