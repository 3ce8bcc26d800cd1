"""Packages that a study needs, and carom alone does not."""

from __future__ import annotations

import importlib.util

from ...errors import CaromError


def needed(*modules: str) -> None:
    """Refuse to begin without the packages that are needed."""
    for name in modules:
        if importlib.util.find_spec(name) is None:
            what = "'carom[sweep]'" if name != "pyarrow" else name
            raise CaromError(f"this needs {name}, which is not installed; run: pip install {what}")
