"""What writers of source share: they go through the blocks of a program and name its values."""

from __future__ import annotations

import abc

from ._ssa import Block, Branch, Loop, Value


class Writer(abc.ABC):
    """Lines of one function."""

    stem = "v"  # what names of values begin with

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    @abc.abstractmethod
    def literal(self, value: Value) -> str:
        """A known number."""

    @abc.abstractmethod
    def operation(self, v: Value) -> None:
        """Write an operation."""

    @abc.abstractmethod
    def branch(self, item: Branch) -> None:
        """Write a branch."""

    @abc.abstractmethod
    def loop(self, item: Loop) -> None:
        """Write a loop."""

    def name(self, value: Value) -> str:
        """How a value is called."""
        while value.op == "left":
            value = value.args[0]
        if value.op == "known":
            return self.literal(value)
        if not value.name:
            value.name = self.fresh()
        return value.name

    def fresh(self) -> str:
        self.count += 1
        return f"{self.stem}{self.count}"

    def block(self, block: Block) -> None:
        """Write what is needed of a block, in order."""
        for item in block.code:
            if not item.live:
                continue
            if isinstance(item, Value):
                if item.op != "left":
                    self.operation(item)
            elif isinstance(item, Branch):
                self.branch(item)
            else:
                self.loop(item)
