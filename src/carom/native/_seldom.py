"""Numbers that a long loop carries and seldom asks for: they lie in memory, so that registers are left for the others.

A thread has 255 registers, two to a number. Where they do not suffice, NVIDIA's compiler computes in an order that
needs few of them, one chain after the other, and moves to memory what it chooses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ._ssa import Block, Branch, Loop, Value

HELD = 24  # numbers that a loop around others carries in registers


def seldom_used(loop: Loop) -> list[int]:
    """Which of the carried numbers lie in memory: those used at the fewest places, and in no loop within."""
    if not any(isinstance(item, Loop) for item in loop.body.code if item.live):
        return []
    uses: Counter[int] = Counter()
    within: set[int] = set()
    for value, inner in _uses(loop.body, False):
        uses[id(value)] += 1
        if inner:
            within.add(id(value))
    numbers = [k for k, value in enumerate(loop.carried) if value.live and value.kind == "f"]
    free = [k for k in numbers if id(loop.carried[k]) not in within]
    return sorted(free, key=lambda k: uses[id(loop.carried[k])])[: max(len(numbers) - HELD, 0)]


def _uses(block: Block, inner: bool) -> Iterator[tuple[Value, bool]]:
    """Every use of a value, and whether it is within a loop."""
    for item in block.code:
        if not item.live:
            continue
        if isinstance(item, Value):
            yield from ((arg, inner) for arg in item.args)
        elif isinstance(item, Branch):
            yield item.which, inner
            for arm, values in zip(item.arms, item.values, strict=True):
                yield from _uses(arm, inner)
                yield from ((value, inner) for value, left in zip(values, item.results, strict=True) if left.live)
        else:
            yield from ((value, inner) for value, left in zip(item.first, item.carried, strict=True) if left.live)
            yield from _uses(item.head, True)
            yield from _uses(item.body, True)
