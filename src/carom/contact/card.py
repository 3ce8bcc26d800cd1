"""What a law says of itself, for people who choose one."""

from __future__ import annotations

from typing import NamedTuple


class Card(NamedTuple):
    """The entry of a law in the catalogue (`carom laws`)."""

    name: str  # as in speech and on the command line: 'hunt-crossley'
    formula: str
    parameters: tuple[tuple[str, str], ...]  # name in Python, meaning with unit and range
    source: str
    choose: str  # when to choose it, and when not
