"""Counts the files of carom that one run touches, from its scenario to its report: those of which a function is called.

.venv/bin/python tools/touched.py [SCENARIO]          # ball-drop unless told; --list names them
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

os.environ["CAROM_PROGRAMS"] = "off"  # what is not traced is not touched

import carom
from carom_command import main

PACKAGE = str(Path(carom.__file__).parent) + os.sep


def touched(scenario: str) -> set[str]:
    """Files of which `carom run` calls a function."""
    seen: set[str] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE) and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code.co_filename)

    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["carom", "run", scenario, "--out", f"{folder}/run", "--quiet"]
        threading.setprofile(look)
        sys.setprofile(look)
        try:
            main()
        except SystemExit:
            pass
        finally:
            sys.setprofile(None)
    return seen


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    listed = "--list" in sys.argv
    files = touched(words[0] if words else "ball-drop")
    print(f"{len(files)} files of {sum(1 for _ in Path(PACKAGE).rglob('*.py'))}")
    if listed:
        print("\n".join(f"    {name.removeprefix(PACKAGE)}" for name in sorted(files)))
