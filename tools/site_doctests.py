"""Examples in docstrings as code: the reference shows `>>>` and what is indented as what they are."""

from __future__ import annotations

from typing import Any

import griffe


class Doctests(griffe.Extension):
    """Puts a fence around every run of lines that begins with `>>>`, up to the next empty line."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """With a fence around every run of lines that begins with `>>>` or is indented after an empty line.

    >>> fenced("Words.\\n\\n- one\\n\\n    run(one)\\n\\nMore.").splitlines()
    ['Words.', '', '- one', '', '```python', 'run(one)', '```', '', 'More.']
    """
    out: list[str] = []
    deep = None  # indentation of the code that lines now belong to
    for line, before in zip(lines := text.splitlines(), ["", *lines], strict=False):
        if deep is not None and not line.strip():
            out, deep = [*out, "```"], None
        elif deep is None and (line.lstrip()[:3] == ">>>" or (not before.strip() and line[:4] == "    ")):
            kind, deep = "pycon" if ">>>" in line else "python", len(line) - len(line.lstrip())
            out += [] if not before.strip() else [""]
            out.append(f"```{kind}")
        out.append(line if deep is None else line[deep:])
    return "\n".join([*out, "```"] if deep is not None else out)
