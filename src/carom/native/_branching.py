"""Branches and loops of a program."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._shuffling import (
    WRITTEN_OUT,
    Memory,
    Thing,
    bare,
    calculated,
    cells,
    filled,
    flat,
    found_in,
    kind_of,
    load,
    row_of,
    store,
    tabled,
)
from ._ssa import Block, Branch, Builder, Equation, Loop, Shaped, Value, key_of

if TYPE_CHECKING:
    from ._reading import Reader

SHORT = 3  # rounds up to which a loop of known length is written out


def _cond(r: Reader, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
    """One of several arms."""
    which, args, branches = inputs[0], inputs[1:], eqn.params["branches"]
    assert isinstance(which, Value)
    b = r.b
    if which.known:
        place = min(max(which.whole, 0), len(branches) - 1)
        return r.closed(branches[place], args)
    home, arms, values, left, written = b.block, [], [], [], []
    for branch in branches:
        b.block = Block(home)
        arms.append(b.block)
        mine = [_own_view(x) for x in args]
        left.append(r.closed(branch, mine))
        values.append([v for x in left[-1] if not _is_buffer(x) for v in flat(b, x)])
        pairs = zip(args, mine, strict=True)
        written += [x for x, seen in pairs if isinstance(x, Memory) and isinstance(seen, Memory) and seen.overwritten]
    b.block = home
    for x in written:  # not before: every arm begins with what was there
        x.overwritten = True
    kept = [_same_buffer([arm[i] for arm in left]) for i in range(len(eqn.outvars))]
    avals = [var.aval for var, memory in zip(eqn.outvars, kept, strict=True) if memory is None]
    kinds = [kind_of(aval.dtype) for aval in avals for _ in range(aval.size)]
    results = [b.free(kind, i) for i, kind in enumerate(kinds)]
    # What all arms leave alike needs no choice.
    out = [values[0][i] if all(arm[i] is values[0][i] for arm in values) else results[i] for i in range(len(kinds))]
    home.code.append(Branch(which, arms, values, results))
    rest = iter(_gathered([aval.shape for aval in avals], out))
    return [next(rest) if memory is None else memory for memory in kept]


def _row(b: Builder, x: Thing, at: Value) -> Thing:
    """A row of what a loop goes over."""
    return row_of(b, x, at).reshape(x.shape[1:]) if isinstance(x, Memory) else found_in(b, cells(b, x), 0, at)


def _is_buffer(x: Thing) -> bool:
    return isinstance(x, Memory) and x.base == "out"


def _own_view(x: Thing) -> Thing:
    """A buffer as an arm sees it, which may overwrite it: the other arms see what was there before."""
    return dataclasses.replace(x) if isinstance(x, Memory) and x.base == "out" else x


def _same_buffer(arms: list[Thing]) -> Memory | None:
    """The buffer that all arms leave, changed in place or as it was; None if they leave numbers."""
    found = [x for x in arms if isinstance(x, Memory) and x.base == "out"]
    if not found:
        return None
    if len(found) < len(arms) or len({x.offset for x in found}) > 1 or any(x.overwritten for x in found):
        raise NotImplementedError("a branch that exchanges buffers")
    return dataclasses.replace(found[0])


def _gathered(shapes: list[tuple[int, ...]], values: list[Value]) -> list[Thing]:
    out: list[Thing] = []
    at = 0
    for shape in shapes:
        size = int(np.prod(shape, dtype=int))
        out.append(filled(shape, values[at : at + size]))
        at += size
    return out


def _while(r: Reader, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
    """A loop that goes on while something holds."""
    p = eqn.params
    known, fixed = p["cond_nconsts"], p["body_nconsts"]
    ask, do, first = inputs[:known], inputs[known : known + fixed], inputs[known + fixed :]

    def goes(carried: list[Thing]) -> Value:
        (answer,) = r.closed(p["cond_jaxpr"], [*ask, *carried])
        assert isinstance(answer, Value)
        return answer

    return looped(r, first, [var.aval for var in eqn.outvars], goes, lambda now: r.closed(p["body_jaxpr"], [*do, *now]))


def looped(
    r: Reader,
    first: list[Thing],
    avals: Sequence[Shaped],
    goes: Callable[[list[Thing]], Value],
    body: Callable[[list[Thing]], list[Thing]],
) -> list[Thing]:
    """A loop that carries numbers, and long arrays in place."""
    b, home = r.b, r.b.block
    start = [v for x in first if not isinstance(x, Memory) for v in flat(b, x)]
    head = b.block = Block(home, home)
    carried = [b.free(v.kind, i) for i, v in enumerate(start)]
    now = _with_memories(first, avals, carried)
    loop = Loop(head, Block(head, home), start, carried)
    loop.goes = goes(now)
    b.block = loop.body
    loop.body.found[key_of(loop.goes)] = b.number("b", True)  # within a round it is known that there is one
    new = body(list(now))
    for old, mine in zip(first, new, strict=True):
        if isinstance(old, Memory) and not (isinstance(mine, Memory) and mine.offset == old.offset):
            raise NotImplementedError("a loop that exchanges long arrays")
    loop.next = [v for x in new if not isinstance(x, Memory) for v in flat(b, x)]
    b.block = home
    home.code.append(loop)
    return _with_memories(first, avals, [_left(r, v) for v in carried])


def _left(r: Reader, carried: Value) -> Value:
    """What a loop carried, as those after it see it."""
    new = Value("left", carried.kind, (carried,), None, r.b.block)
    r.b.block.code.append(new)
    return new


def _with_memories(first: list[Thing], avals: Sequence[Shaped], values: list[Value]) -> list[Thing]:
    out: list[Thing] = []
    at = 0
    for x, aval in zip(first, avals, strict=True):
        if isinstance(x, Memory):
            out.append(Memory(x.base, x.offset, x.shape, x.dtype))
            continue
        out.append(filled(aval.shape, values[at : at + aval.size]))
        at += aval.size
    return out


def _shares(eqn: Equation) -> tuple[int, int]:
    """How many of the arguments stay as they are, and how many are carried; rows have an axis more inside than outside.

    JAX's versions say it each in their own way; the shapes always do.
    """
    inner = eqn.params["jaxpr"].jaxpr
    outs = zip(eqn.outvars, inner.outvars, strict=True)
    carried = sum(len(outer.aval.shape) == len(one.aval.shape) for outer, one in outs)
    pairs = list(zip(eqn.invars, inner.invars, strict=True))
    rows = sum(len(outer.aval.shape) > len(one.aval.shape) for outer, one in pairs)
    return len(pairs) - carried - rows, carried


def _scan(r: Reader, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
    """A loop over the rows of arrays."""
    p, length = eqn.params, eqn.params["length"]
    fixed, count = _shares(eqn)
    do, first, rows = inputs[:fixed], inputs[fixed : fixed + count], inputs[fixed + count :]
    avals = [var.aval for var in eqn.outvars]
    if length <= SHORT:
        return _written_out(r, p, do, first, rows)
    b = r.b
    kept = [x if isinstance(x, Memory) or tabled(r.b, cells(r.b, x)) else spilled(r, x) for x in rows]
    outs = [r.reserved(aval.shape, aval.dtype) for aval in avals[count:]]
    zero, one, last = b.number("i", 0), b.number("i", 1), b.number("i", length)

    def goes(now: list[Thing]) -> Value:
        assert isinstance(now[0], Value)
        return calculated(b, "lt", "b", now[0], last)

    def body(now: list[Thing]) -> list[Thing]:
        i = now[0]
        assert isinstance(i, Value)
        at = calculated(b, "sub", "i", b.number("i", length - 1), i) if p["reverse"] else i
        xs = [bare(_row(b, x, at)) for x in kept]
        new = r.closed(p["jaxpr"], [*do, *now[1:], *xs])
        for memory, value in zip(outs, new[count:], strict=True):
            width = memory.size // length
            begin = calculated(b, "mul", "i", at, b.number("i", width))
            if isinstance(value, Memory):
                _copied(r, value, memory, begin)
                continue
            for k, v in enumerate(flat(b, value)):
                store(b, memory, calculated(b, "add", "i", begin, b.number("i", k)), v)
        return [calculated(b, "add", "i", i, one), *new[:count]]

    counter = _Counter()
    done = looped(r, [zero, *first], [counter, *avals[:count]], goes, body)
    return [*done[1:], *(m if m.size > WRITTEN_OUT else bare(cells(b, m)) for m in outs)]


def _copied(r: Reader, source: Memory, to: Memory, begin: Value) -> None:
    """All numbers of a buffer, to another from a place on."""
    b = r.b

    def goes(now: list[Thing]) -> Value:
        assert isinstance(now[0], Value)
        return calculated(b, "lt", "b", now[0], b.number("i", source.size))

    def body(now: list[Thing]) -> list[Thing]:
        assert isinstance(now[0], Value)
        store(b, to, calculated(b, "add", "i", begin, now[0]), load(b, source, now[0]))
        return [calculated(b, "add", "i", now[0], b.number("i", 1))]

    looped(r, [b.number("i", 0)], [_Counter()], goes, body)


class _Counter:
    """The shape of the number that counts the rounds."""

    shape: tuple[int, ...] = ()
    size = 1


def _written_out(r: Reader, p: Any, do: list[Thing], now: list[Thing], rows: list[Thing]) -> list[Thing]:
    """A short loop, round by round."""
    count, kept = len(now), []
    order = range(p["length"])
    for i in reversed(order) if p["reverse"] else order:
        xs = [
            bare(cells(r.b, x)[i])
            if not isinstance(x, Memory)
            else bare(row_of(r.b, x, r.b.number("i", i)).reshape(x.shape[1:]))
            for x in rows
        ]
        new = r.closed(p["jaxpr"], [*do, *now, *xs])
        now = new[:count]
        kept.append(new[count:])
    kept = kept[::-1] if p["reverse"] else kept
    outs = [np.stack([cells(r.b, x) for x in each]) for each in zip(*kept, strict=True)]
    return [*now, *outs]


def spilled(r: Reader, x: Thing) -> Memory:
    """An array of scalars, written to memory, so that a loop can find its rows."""
    have = cells(r.b, x)
    kind = have.ravel()[0].kind if have.size else "f"
    memory = r.reserved(have.shape, {"f": np.float64, "i": np.int64, "b": np.bool_}[kind])
    for i, value in enumerate(have.ravel()):
        store(r.b, memory, r.b.number("i", i), value)
    return memory


BRANCHING: dict[str, Callable[..., list[Thing]]] = {"cond": _cond, "while": _while, "scan": _scan}
