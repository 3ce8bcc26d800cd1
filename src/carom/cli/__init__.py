"""The command line: one command, one file. `app.py` lists them."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from types import ModuleType

from .._lazily import when_imported

NEEDED = ("typer", "rich", "pydantic", "tomli_w")


def main() -> None:
    """Entry point of the `carom` script."""
    # Looking for garbage takes a fifth of a start, and there is none yet; at the end all goes with the process.
    gc.set_threshold(500_000, 10, 10)
    atexit.register(gc.freeze)
    # NumPy's matrices are small here; threads that wait for large ones take as long as the import of NumPy itself.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Help on what figures are made of, which nobody reads here, takes half of their import.
    when_imported("matplotlib.artist", _without_help)
    try:
        from .app import app

        app()
    except ModuleNotFoundError as missing:
        package = (missing.name or "").split(".")[0]
        if package not in NEEDED:
            raise
        print(
            f"carom: the command line needs {package}, which is not installed; run: pip install 'carom[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(2) from None


def _without_help(artist: ModuleType) -> None:
    """Classes of matplotlib's get a text for each of their properties, one by one, when they are made."""
    if hasattr(artist.Artist, "_update_set_signature_and_docstring"):
        artist.Artist._update_set_signature_and_docstring = classmethod(lambda cls: None)
