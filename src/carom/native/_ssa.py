"""A program of scalars: every number is computed once, where all that it needs is known, and not before it may be.

A value is an operation on other values. Values stand in blocks: straight code, the arms of a branch, the head and the
body of a loop. The same operation on the same values is one value (it is looked for in all blocks that come before),
and what does not change in a loop is computed before it. Nothing leaves the arm of a branch: what an arm computes is
computed only where that arm is taken.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol

Kind = Literal["f", "i", "b"]  # float64, int64, Boolean
Number = float | int | bool
MOST: Final = 400_000  # operations: what is larger is left to XLA, whose loops over arrays are shorter code


class Equation(Protocol):
    """An equation of a jaxpr, as far as it is looked at here."""

    primitive: Any
    params: dict[str, Any]
    invars: Sequence[Any]
    outvars: Sequence[Any]


class Shaped(Protocol):
    """The shape and type of an array of a jaxpr."""

    shape: tuple[int, ...]
    size: int


class TooLarge(Exception):
    """More operations than pay as scalars."""


class Value:
    """One scalar: an operation, what it is applied to, and the block in which it is known."""

    __slots__ = ("args", "block", "data", "kind", "live", "name", "op", "where")

    def __init__(
        self, op: str, kind: Kind, args: tuple[Value, ...], data: object, block: Block, where: int | None = None
    ) -> None:
        self.op, self.kind, self.args, self.data, self.block, self.where = op, kind, args, data, block, where
        self.live = False
        self.name = ""

    @property
    def known(self) -> bool:
        """Is it a number rather than an operation?"""
        return self.op == "known"

    @property
    def number(self) -> Number:
        """The number that it is known to be."""
        assert isinstance(self.data, float | int)
        return self.data

    @property
    def whole(self) -> int:
        """The whole number that it is known to be."""
        return int(self.number)


class Block:
    """Straight code. `outer` is where code may go that does not depend on the loop which this block belongs to."""

    __slots__ = ("code", "depth", "found", "outer", "parent")

    def __init__(self, parent: Block | None = None, outer: Block | None = None) -> None:
        self.parent, self.outer = parent, outer
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.code: list[Value | Branch | Loop] = []
        self.found: dict[tuple[object, ...], Value] = {}


class Branch:
    """Arms of which one is run; every result has a value in each arm."""

    __slots__ = ("arms", "live", "results", "values", "which")

    def __init__(self, which: Value, arms: list[Block], values: list[list[Value]], results: list[Value]) -> None:
        self.which, self.arms, self.values, self.results = which, arms, values, results
        self.live = False


class Loop:
    """`head` computes whether the loop goes on, `body` what it carries to the next round and leaves in the end."""

    __slots__ = ("body", "carried", "first", "goes", "head", "live", "next")

    def __init__(self, head: Block, body: Block, first: list[Value], carried: list[Value]) -> None:
        self.head, self.body, self.first, self.carried = head, body, first, carried
        self.goes: Value | None = None
        self.next: list[Value] = []
        self.live = False


class Builder:
    """Writes a program, operation by operation."""

    def __init__(self, tables: bool = False) -> None:
        self.tables = tables  # may known numbers be found by an index?
        self.top = self.block = Block()
        self.count = 0
        self.numbers: dict[tuple[Kind, bytes | int], Value] = {}
        self.nought = Value("known", "f", (), 0.0, self.top)  # zero times something: a zero of either sign
        self.loose = 0  # within how many functions whose sums may take products unrounded
        self.fusible: set[int] = set()  # their sums, if nothing else asks for the same
        self.effects: list[Value] = []  # stores: what must happen although nothing depends on it

    def number(self, kind: Kind, x: Number) -> Value:
        """A known number; the same one is one value."""
        key = (kind, struct.pack("<d", x) if kind == "f" else int(x))
        found = self.numbers.get(key)
        if found is None:
            plain: Number = float(x) if kind == "f" else bool(x) if kind == "b" else int(x)
            found = self.numbers[key] = Value("known", kind, (), plain, self.top)
        return found

    def value(self, op: str, kind: Kind, *args: Value, data: object = None) -> Value:
        """The operation on these values: an existing one, or a new one as far outside of loops as it may stand."""
        floor = 0
        for arg in args:
            if arg.block.depth > floor:
                floor = arg.block.depth
        home = self.block
        while home.outer is not None and floor <= home.outer.depth:
            home = home.outer
        key = (op, data, *map(id, args))  # as `key_of` has it
        place: Block | None = home
        while place is not None:
            found = place.found.get(key)
            if found is not None:
                if not self.loose:
                    self.fusible.discard(id(found))
                return found
            place = place.parent
        new = Value(op, kind, args, data, home)
        if self.loose and kind == "f" and op in ("add", "sub"):
            self.fusible.add(id(new))
        home.found[key] = new
        home.code.append(new)
        self._counted()
        return new

    def here(self, op: str, kind: Kind, *args: Value, data: object = None) -> Value:
        """An operation that stays where it is and happens each time: reading or writing memory that changes."""
        new = Value(op, kind, args, data, self.block)
        self.block.code.append(new)
        self._counted()
        return new

    def store(self, value: Value, index: Value, data: object) -> None:
        """Write a number to memory."""
        self.effects.append(self.here("store", value.kind, value, index, data=data))

    def free(self, kind: Kind, where: int | None = None) -> Value:
        """A value that something else defines: what a loop carries, what a branch leaves."""
        return Value("free", kind, (), None, self.block, where)

    def _counted(self) -> None:
        self.count += 1
        if self.count > MOST:
            raise TooLarge(f"more than {MOST} operations")


def key_of(value: Value) -> tuple[object, ...]:
    """What an operation is found by."""
    return (value.op, value.data, *map(id, value.args))


def where_of(value: Value) -> tuple[str, int, str]:
    """Of what is read or written: which memory, the offset [byte] and the type."""
    assert isinstance(value.data, tuple)
    base, offset, dtype = value.data
    return base, offset, dtype


def mark(program: Builder, results: Sequence[Value]) -> None:
    """Find what the results and the stores depend on: only that is written out."""
    owners = _owners(program.top)
    waiting = [*results, *program.effects]
    while waiting:
        value = waiting.pop()
        if value.live:
            continue
        value.live = True
        waiting += value.args
        waiting += _around(value, owners)


Owners = tuple[dict[int, "Branch | Loop"], dict[int, "Branch | Loop"]]


def _owners(top: Block) -> Owners:
    """Which branch or loop a value is left by, and which one a block belongs to."""
    values: dict[int, Branch | Loop] = {}
    blocks: dict[int, Branch | Loop] = {}
    waiting = [top]
    while waiting:
        for item in waiting.pop().code:
            if isinstance(item, Value):
                continue
            inside = item.arms if isinstance(item, Branch) else [item.head, item.body]
            left = item.results if isinstance(item, Branch) else item.carried
            values |= {id(value): item for value in left}
            blocks |= {id(block): item for block in inside}
            waiting += inside
    return values, blocks


def _around(value: Value, owners: Owners) -> list[Value]:
    """What else must be computed: what a branch or a loop needs that leaves this value, or in which it stands."""
    out: list[Value] = []
    owner = owners[0].get(id(value))
    if isinstance(owner, Branch):
        assert value.where is not None
        out += [arm[value.where] for arm in owner.values]
    elif isinstance(owner, Loop):
        assert value.where is not None
        out += [owner.first[value.where], owner.next[value.where]]
    block: Block | None = value.block
    while owner is not None or block is not None:
        if owner is not None and not owner.live:
            owner.live = True
            need = owner.which if isinstance(owner, Branch) else owner.goes
            assert need is not None
            out.append(need)
        if block is None:
            break
        owner, block = owners[1].get(id(block)), block.parent
    return out
