"""What a law says of itself, for people who choose one."""

from __future__ import annotations

from typing import Any, NamedTuple


class Card(NamedTuple):
    """The entry of a law in the catalogue (`carom laws`)."""

    name: str  # as in speech and on the command line: 'hunt-crossley'
    formula: str
    parameters: tuple[tuple[str, str], ...]  # name in Python, meaning with unit and range
    source: str
    choose: str  # when to choose it, and when not
    in_phases: tuple[tuple[str, str], ...] = ()  # phase, and the formula that holds in it, where they differ

    @property
    def reference(self) -> str:
        return f"{self.name}: {self.source}" if self.source else ""


def references(*laws: Any) -> tuple[str, ...]:
    """Of laws that have a card; one of a user's own need not."""
    cards = [getattr(law, "card", None) for law in laws]
    return tuple(card.reference for card in cards if card is not None and card.source)
