"""Events that return maps run between: their numbers, and worlds that have no such map."""

from __future__ import annotations

from .. import errors
from .._arguments import Name
from ..hybrid.world import World


def event_of(given: tuple[str, str]) -> tuple[str, str]:
    """The pair of names that an event is."""
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise errors.CaromError(
            f"event is {given!r}; it must be an automaton and one of its exits: ('rigid contacts', 'strike foot')"
        )
    return given[0], given[1]


def guard_of(world: World, automaton: Name, exit: Name) -> int:
    """The number of an event among those of its world."""
    found = world.automaton(automaton)
    errors.name_in(f"event of '{automaton}'", exit, found.anatomy.exit_names)
    which = [a.name for a in world.automata].index(automaton)
    return world.events.index((which, found.anatomy.exit_names.index(exit)))


def refuse_clocks(world: World) -> None:
    """A world that depends on time itself does not return to its state at an event."""
    for automaton in world.automata:
        if automaton.anatomy.clocked:
            raise errors.CaromError(
                f"'{automaton.name}' depends on time itself (a sampled controller, a switch at a time, a moving "
                "surface), so that a state at an event does not determine the future; make it continuous"
            )
