"""What is asked of a world in every run, and does not change: it is found out once for each."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from .. import native

W = TypeVar("W")
X = TypeVar("X")


def remembered(find: Callable[[W], X]) -> Callable[[W], X]:
    """`find` of a frozen object, asked once as long as it is that one: by where it lies, for as long as it is there.

    While JAX traces nothing is kept: what is found then may hold what is traced.
    """
    known: dict[int, tuple[weakref.ref[Any], X]] = {}

    @functools.wraps(find)
    def found(thing: W) -> X:
        there = known.get(id(thing))
        if there is not None and there[0]() is thing:
            return there[1]
        answer, place = find(thing), id(thing)

        # Called whenever an object goes, also while `known` is looked at. Something else may lie there already.
        forget = lambda gone: known.pop(place, None) if known.get(place, (None,))[0] is gone else None  # noqa: E731
        if native.idle():
            known[place] = weakref.ref(thing, forget), answer
        return answer

    return found
