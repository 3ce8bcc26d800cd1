"""Names of what rigid contacts have together, written out one by one or on arrays.

They are made of static names alone, and kept: a program asks for them many times while it is traced.
"""

from __future__ import annotations

import functools

from ...hybrid.automaton import Anatomy
from ...hybrid.reporting import Channel
from ..friction._stick_slip import OPEN, WORDS
from ._crowd_landing import PHASES
from ._phases import LOST_WORDS

Names = tuple[str, ...]

STRUCK = "last strike"  # [s] when a contact was; -1: never


@functools.lru_cache(maxsize=64)
def written_out(names: Names, rubs: Names, moves: bool) -> Anatomy:
    """Of contacts with these names, of which `rubs` have friction; does a surface move?"""
    return Anatomy(
        phases=(*_combinations(names, rubs), LOST_WORDS),
        exits=tuple(name for family in _exits(names, rubs) for name in family),
        memory=_memory(names, rubs),
        instants=_each((STRUCK,), names),
        channels=_channels(rubs, moves),
        clocked=moves,
        impulsive=True,
        looks_again=True,
    )


@functools.lru_cache(maxsize=64)
def on_arrays(names: Names, rubs: Names, moves: bool) -> Anatomy:
    """The same for many: every word is a family of exits, and the modes stand in the memory."""
    return Anatomy(
        phases=PHASES,
        exits=_exits(names, rubs),
        memory=(*_each(("mode",), names), *_memory(names, rubs)),
        instants=_each((STRUCK,), names),
        channels=_channels(rubs, moves),
        clocked=moves,
        impulsive=True,
        looks_again=True,
        arrays=True,
    )


def _each(words: Names, names: Names) -> Names:
    return tuple(f"{word} {name}" for word in words for name in names)


def _exits(names: Names, rubs: Names) -> tuple[Names, ...]:
    """One family per word."""
    plain = tuple(_each((word,), names) for word in ("strike", "lift"))
    return (*plain, *(_each((word,), rubs) for word in ("slip right", "slip left", "stop", "paradox") if rubs))


def _memory(names: Names, rubs: Names) -> Names:
    impulses = (*_each(("last impulse",), names), *_each(("last friction impulse",), rubs))
    none = (*_each(("least speed",), names), *_each(("least sliding",), rubs))
    return (*impulses, *none, *_each((STRUCK,), names))


def _channels(rubs: Names, moves: bool) -> tuple[Channel, ...]:
    friction = (Channel("friction", "dissipative"),) if rubs else ()
    moved = (Channel("surface motion", "driven"),) if moves else ()
    return (Channel("blows", "dissipative"), *friction, *moved)


def _combinations(names: Names, rubs: Names) -> Names:
    """What the contacts do in every phase; the first contact is the last digit of its number."""
    found: list[Names] = [()]
    for name in reversed(names):
        closed = [f"{name} {word}" for word in WORDS[OPEN + 1 :]] if name in rubs else [name]
        found = [(*mine, *rest) for rest in found for mine in ((), *((word,) for word in closed))]
    return tuple(f"closed: {', '.join(closed)}" if closed else "open" for closed in found)
