"""Which sums take their product without rounding it first, on machines that multiply and add at once.

Only those of functions that say so (`native.unrounded`), as far as nothing else needs the same sum: equal gaps of two
contacts must come out equal. A sum of two products is not among them, unless one has a known factor (a weight of a
solver's stages): of equal products nothing must be left. What is fused is the same however thoroughly a program is
compiled, so that its numbers are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ._ssa import Block, Branch, Builder, Loop, Value


def fused(program: Builder, results: Sequence[Value]) -> dict[int, Value | None]:
    """By the id of a sum: its product; by that of this product: None. What is live is known."""
    blocks = _blocks(program.top)
    uses = _uses(blocks)
    uses.update(map(id, results))
    out: dict[int, Value | None] = {}
    for block in blocks:
        place = {id(item): i for i, item in enumerate(block.code)}
        for v in block.code:
            if isinstance(v, Value) and v.live and id(v) in program.fusible:
                terms = [x for x in v.args if x.op == "mul" and x.block is block and uses[id(x)] == 1]
                if all(x.op == "mul" for x in v.args):
                    terms = [x for x in terms if any(factor.known for factor in x.args)]
                if terms:  # the one that is known last: what is not fused must be there before
                    last = max(terms, key=lambda x: place[id(x)])
                    out |= {id(v): last, id(last): None}
    return out


def _blocks(top: Block) -> list[Block]:
    out = [top]
    for block in out:  # which grows
        for item in block.code:
            if isinstance(item, Branch) and item.live:
                out += item.arms
            elif isinstance(item, Loop) and item.live:
                out += [item.head, item.body]
    return out


def _uses(blocks: list[Block]) -> Counter[int]:
    """How often each value is needed."""
    out: Counter[int] = Counter()
    for block in blocks:
        for item in block.code:
            if not item.live:
                continue
            if isinstance(item, Value):
                out.update(map(id, item.args))
            elif isinstance(item, Branch):
                out.update(map(id, (item.which, *(x for arm in item.values for x in arm))))
            else:
                out.update(map(id, (item.goes, *item.first, *item.next)))
    return out
