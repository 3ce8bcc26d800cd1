"""Which formula holds in which phase of a contact, with the numbers of its laws."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..contact.card import Card
from ..hybrid.reporting import ContactReport, Phase
from ..hybrid.world import World
from ..quantities import Real
from ..report._data import COMPRESSING, PARTING

HELD = "the gap stays 0, F_n >= 0"


def formulas_of(world: World) -> list[dict[str, Any]]:
    """Of every contact: its laws with their numbers, and the formulas of every phase by its text."""
    return [_of(contact) for contact in world.contacts]


def _of(contact: ContactReport) -> dict[str, Any]:
    laws = [law for law in contact.laws if law is not None and getattr(law, "card", None) is not None]
    phases = [*contact.phases]
    phases += [seen._replace(mode=mode) for seen in (COMPRESSING, PARTING) for mode in {p.mode for p in contact.phases}]
    return {
        "name": contact.name,
        "rigid": contact.rigid,
        "laws": [_told(law.card, [(f.name, getattr(law, f.name)) for f in dataclasses.fields(law)]) for law in laws],
        "phases": {phase.text: _lines(contact, phase, [law.card for law in laws]) for phase in phases},
    }


def _told(card: Card, fields: list[tuple[str, Any]]) -> dict[str, Any]:
    shown = {name: f"{float(x):.4g}" for name, x in fields if _is_number(x)}
    return {"name": card.name, "formula": card.formula, "numbers": shown, "choose": card.choose, "source": card.source}


def _is_number(value: Real) -> bool:
    return not isinstance(value, bool) and np.ndim(value) == 0 and np.asarray(value).dtype.kind in "fi"


def _lines(contact: ContactReport, phase: Phase, cards: list[Card]) -> list[str]:
    """Formulas of the normal direction and of friction."""
    if phase.tone == "open":
        return ["apart: no force"]
    lines = [HELD if contact.rigid else _in(cards[0], phase)] if cards else []
    return lines + [_in(card, phase) for card in cards[1:]]


def _in(card: Card, phase: Phase) -> str:
    """The formula that holds in a phase: that of its word or its mode, else the law's only one."""
    own = dict(card.in_phases)
    words = (phase.word, phase.mode, *phase.word.split()[:1], *phase.mode.split()[:1])
    return next((own[word] for word in words if word in own), card.formula)
