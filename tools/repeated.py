"""Passages that stand twice: six or more lines of code, to the letter but for indentation.

python tools/repeated.py [FOLDER]       # of the checkout, src unless given
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

LINES = 6
THIN = ('"""', "#", "from ", "import ", ")", "]", "}")  # what begins lines that say nothing by themselves


def lines_of(path: Path) -> list[tuple[int, str]]:
    """Number and text of the lines that say something."""
    numbered = enumerate((line.strip() for line in path.read_text().splitlines()), start=1)
    return [(number, line) for number, line in numbered if line and not line.startswith(THIN)]


def repeated(folder: Path) -> list[str]:
    """Every passage that stands elsewhere, too, as 'file:first-last'."""
    places: dict[tuple[str, ...], list[tuple[Path, int, int]]] = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        lines = lines_of(path)
        for k in range(len(lines) - LINES + 1):
            window = lines[k : k + LINES]
            places[tuple(line for _, line in window)].append((path, window[0][0], window[-1][0]))
    twice = sorted(place for found in places.values() if len(found) > 1 for place in found)
    passages: list[tuple[Path, int, int]] = []
    for path, first, last in twice:  # windows that overlap are one passage
        if passages and passages[-1][0] == path and first <= passages[-1][2]:
            passages[-1] = (path, passages[-1][1], max(last, passages[-1][2]))
        else:
            passages.append((path, first, last))
    return [f"{path}:{first}-{last}" for path, first, last in passages]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "src"
    found = repeated(folder)
    print("\n".join([*found, f"{len(found)} passages of {LINES} lines or more stand elsewhere, too"]))


if __name__ == "__main__":
    main()
