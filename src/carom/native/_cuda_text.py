"""A program of scalars as CUDA source: one thread per lane, with real branches.

Arguments and results lie by number and then by lane, so that neighbouring threads read neighbouring places. Working
memory is the thread's own.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

from ._cuda_functions import HEAD
from ._seldom import seldom_used
from ._shuffling import Memory, kind_of
from ._ssa import Block, Branch, Builder, Loop, Value, mark, where_of
from ._writer import Writer

TYPES = {"f": "double", "i": "long long", "b": "bool"}
BINARY = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^"}
COMPARED = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
TOGETHER = 4  # angles turned side by side: more would need more registers than there are
OURS = {"exp": "exponential", "log": "logarithm"}  # instead of CUDA's
FUNCTIONS = {"sqrt": "root", "floor": "floor", "ceil": "ceil", "round": "rint", "away": "round", "abs": "fabs"}


def written(program: Builder, results: Sequence[Value | Memory], name: str, room: int, slots: dict[int, str]) -> str:
    """The source: reads arguments where `slots` say (by offset [byte]), writes the results one after the other."""
    mark(program, [x for x in results if isinstance(x, Value)])
    writer = _Writer(slots)
    writer.block(program.top)
    at = 0
    for x in results:
        if isinstance(x, Memory):
            number = _stored(writer.own(x.offset, x.dtype.str, "k"), kind_of(x.dtype))
            writer.line(f"for (int k = 0; k < {x.size}; k++) out[({at}LL + k) * n + lane] = {number};")
        else:
            writer.line(f"out[{at}LL * n + lane] = {_stored(writer.name(x), x.kind)};")
        at += x.size if isinstance(x, Memory) else 1
    own = [f"  alignas(8) char own[{room}] = {{0}};"] if room else []
    head = [HEAD, *writer.table()]
    # Four blocks for each multiprocessor: 255 registers. Without the number long kernels were given 32.
    begin = [
        f'extern "C" __global__ void __launch_bounds__(64, 4) {name}(',
        "    long long n, const double* shared, const double* in, double* out) {",
        "  const long long lane = blockIdx.x * (long long)blockDim.x + threadIdx.x;",
        "  if (lane >= n) return;",
    ]
    return "\n".join([*head, *begin, *own, *writer.lines, "}", ""])


def _stored(text: str, kind: str) -> str:
    """Whole numbers keep their bits."""
    return text if kind == "f" else f"__longlong_as_double((long long){text})"


class _Writer(Writer):
    """Lines of one kernel."""

    def __init__(self, slots: dict[int, str]) -> None:
        super().__init__()
        self.slots = slots
        self.deep = 1
        self.tables: dict[tuple[float, ...], int] = {}  # known numbers that are found by an index
        self.known: dict[float, int] = {}  # numbers that are fetched, and where they stand
        self.angles: dict[int, Turn] = {}  # of the block in hand, by the angle: what is still to be turned
        self.written: set[int] = set()  # what stands in the source already, of the program's blocks in hand

    def literal(self, value: Value) -> str:
        if value.kind != "f" or _is_short(float(value.number)):
            return _literal(value)
        return f"known[{self.known.setdefault(float(value.number), len(self.known))}]"

    def table(self) -> list[str]:
        """Numbers with more digits than an instruction holds are operands from the memory for constants."""
        out = [
            f"__constant__ double table{k}[{len(row)}] = {{{', '.join(map(repr, row))}}};"
            for row, k in self.tables.items()
        ]
        if not self.known:
            return out
        return [*out, f"__constant__ double known[{len(self.known)}] = {{{', '.join(map(repr, self.known))}}};"]

    def block(self, block: Block) -> None:
        outside = self.angles
        self.angles = _turns(block)
        super().block(block)
        self.angles = outside

    def line(self, text: str) -> None:
        self.lines.append("  " * self.deep + text)

    def branch(self, item: Branch) -> None:
        for result in item.results:
            if result.live:
                self.line(f"{TYPES[result.kind]} {self.name(result)};")
        which = self.name(item.which.args[0] if item.which.op == "btoi" else item.which)
        last = len(item.arms) - 1
        for i, (arm, values) in enumerate(zip(item.arms, item.values, strict=True)):
            test = f"if ({which} <= {i}) {{" if last > 1 or item.which.op != "btoi" else f"if (!{which}) {{"
            self.line(test if i == 0 else "} else {" if i == last else f"}} else {test}")
            self.deep += 1
            self.block(arm)
            for result, value in zip(item.results, values, strict=True):
                if result.live:
                    self.line(f"{self.name(result)} = {self.name(value)};")
            self.deep -= 1
        self.line("}")
        self.written |= {id(result) for result in item.results}

    def loop(self, item: Loop) -> None:
        assert item.goes is not None
        self.written |= {id(value) for value in item.carried}
        kept = [k for k, value in enumerate(item.carried) if value.live]
        seldom = seldom_used(item)
        if seldom:
            memory = self.fresh()
            self.line(f"volatile double {memory}[{len(seldom)}];")
            for place, k in enumerate(seldom):
                item.carried[k].name = f"{memory}[{place}]"
        for k in kept:
            declared = "" if k in seldom else f"{TYPES[item.carried[k].kind]} "
            self.line(f"{declared}{self.name(item.carried[k])} = {self.name(item.first[k])};")
        self.line("#pragma unroll 1")  # a loop is there to be short
        self.line("for (;;) {")
        self.deep += 1
        self.block(item.head)
        self.line(f"if (!{self.name(item.goes)}) break;")
        self.block(item.body)
        for k in kept:
            new = self.name(item.next[k])
            new = f"held({new})" if item.next[k].op == "table" else new
            self.line(f"const {TYPES[item.carried[k].kind]} n{k} = {new};")
        for k in kept:
            self.line(f"{self.name(item.carried[k])} = n{k};")
        self.deep -= 1
        self.line("}")

    def operation(self, v: Value) -> None:
        if id(v) in self.written:
            return
        self.written.add(id(v))
        a = [self.name(x) for x in v.args]
        if v.op == "store":
            _, offset, dtype = where_of(v)
            self.line(f"{self.own(offset, dtype, a[1])} = {a[0]};")
            return
        if v.op == "call" and v.data in ("sin", "cos"):
            self.turned(v)
            return
        self.line(f"const {TYPES[v.kind]} {self.name(v)} = {self.expression(v, a)};")

    def turned(self, v: Value) -> None:
        """Sine and cosine of an angle, at the first of the two, and of others that can be known by then.

        Side by side they take half of the time: each is a long chain of operations.
        """
        if id(v.args[0]) not in self.angles:
            return
        group = [self.angles.pop(id(v.args[0]))]
        for other in list(self.angles.values())[: TOGETHER - 1]:
            needed: dict[int, Value] = {}
            if self.can_be_known(other.angle, v.block, needed):
                for value in needed.values():
                    self.operation(value)
                group.append(self.angles.pop(id(other.angle)))
        calls = []
        for turn in group:
            names = [self.name(x) if x else self.fresh() for x in (turn.sine, turn.cosine)]
            self.line(f"double {names[0]}, {names[1]};")
            calls.append(f"({self.name(turn.angle)}, &{names[0]}, &{names[1]});")
        for call in calls:
            self.line(f"turned{call}")
        self.line(f"if ({' || '.join(f'is_far({self.name(turn.angle)})' for turn in group)}) {{")
        for call in calls:
            self.line(f"  unless_far{call}")
        self.line("}")

    def can_be_known(self, value: Value, block: Block, needed: dict[int, Value]) -> bool:
        """May a value be computed at this place of its block? What must be computed before it is added to `needed`."""
        if value.op == "left":
            return value.block is not block or id(value.args[0]) in self.written
        if value.known or value.block is not block or id(value) in self.written or id(value) in needed:
            return True
        if value.op in ("free", "load") or (value.op == "call" and value.data in ("sin", "cos")):
            return False
        if not all(self.can_be_known(arg, block, needed) for arg in value.args):
            return False
        needed[id(value)] = value
        return True

    def expression(self, v: Value, a: list[str]) -> str:
        op = v.op
        if op == "load":
            return self._loaded(v)
        if op == "table":
            assert isinstance(v.data, tuple)
            numbers, width, beside = v.data
            return f"table{self.tables.setdefault(numbers, len(self.tables))}[{a[0]} * {width} + {beside}]"
        if op == "div" and v.args[1].known and v.kind == "f" and _has_inverse(float(v.args[1].number)):
            return f"{a[0]} * {self.literal(Value('known', 'f', (), 1.0 / float(v.args[1].number), v.block))}"
        if op == "div" and v.kind == "f":
            return f"quotient({a[0]}, {a[1]})"
        if op in BINARY:
            return f"{a[0]} {BINARY[op]} {a[1]}"
        if op in COMPARED:
            return f"{a[0]} {COMPARED[op]} {a[1]}"
        if op == "select":
            return f"{a[0]} ? {a[2]} : {a[1]}"
        if op == "neg":
            return f"-{a[0]}" if not a[0].startswith("-") else f"-({a[0]})"
        if op == "not":
            return f"!{a[0]}" if v.kind == "b" else f"~{a[0]}"
        if op in ("max", "min"):
            if v.kind == "f":
                return _extreme(v, a)
            return f"{a[0]} {'>' if op == 'max' else '<'} {a[1]} ? {a[0]} : {a[1]}"
        if op == "call":
            return f"{OURS.get(str(v.data), v.data)}({', '.join(a)})"
        if op in FUNCTIONS and v.kind == "f":
            return f"{FUNCTIONS[op]}({a[0]})"
        if op in ("itof", "btof", "btoi", "ftoi"):
            return f"({TYPES[v.kind]}){a[0]}"
        raise NotImplementedError(f"{op} on a GPU")

    def _loaded(self, v: Value) -> str:
        base, offset, dtype = where_of(v)
        if base == "out":
            return self.own(offset, dtype, self.name(v.args[0]))
        if not v.args[0].known:
            raise NotImplementedError("a computed place among the arguments, on a GPU")
        number = self.slots[offset + v.args[0].whole * int(dtype[2:])]
        return number if v.kind == "f" else f"({TYPES[v.kind]})__double_as_longlong({number})"

    def own(self, offset: int, dtype: str, index: str) -> str:
        kinds = {"f": "double", "i": {"8": "long long", "4": "int"}.get(dtype[2:], "char"), "b": "bool"}
        return f"(({kinds[dtype[1]]}*)(own + {offset}))[{index}]"


class Turn(NamedTuple):
    """An angle, and which of its sine and its cosine are needed."""

    angle: Value
    sine: Value | None
    cosine: Value | None


def _turns(block: Block) -> dict[int, Turn]:
    """Angles of which sines or cosines are needed in this block, in the order in which they are asked for."""
    found: dict[int, Turn] = {}
    for item in block.code:
        if isinstance(item, Value) and item.live and item.op == "call" and item.data in ("sin", "cos"):
            angle = item.args[0]
            old = found.get(id(angle), Turn(angle, None, None))
            found[id(angle)] = old._replace(sine=item) if item.data == "sin" else old._replace(cosine=item)
    return found


def _extreme(v: Value, a: list[str]) -> str:
    """The larger or the smaller; beside a known number only the other may be none, and one comparison tells."""
    for x, text, other in ((v.args[0], a[0], a[1]), (v.args[1], a[1], a[0])):
        if x.known and x.number == x.number:
            return f"{other} {'<' if v.op == 'max' else '>'} {text} ? {text} : {other}"
    return f"{'larger' if v.op == 'max' else 'smaller'}({a[0]}, {a[1]})"


def _is_short(x: float) -> bool:
    """Does an instruction hold it? Of 64 bits it holds the first 32."""
    return not math.isfinite(x) or struct.unpack("<Q", struct.pack("<d", x))[0] & 0xFFFFFFFF == 0


def _has_inverse(x: float) -> bool:
    """May a division by it be a product, right to a rounding?"""
    return 1e-150 < abs(x) < 1e150


def _literal(value: Value) -> str:
    if value.kind == "b":
        return "true" if value.data else "false"
    if value.kind == "i":
        return f"{value.whole}LL" if value.whole > -(2**63) else "(-9223372036854775807LL - 1)"
    x = float(value.number)
    if not math.isfinite(x):  # by its bits: 1.0 / 0.0 would be computed, and that takes long
        return f"__longlong_as_double({struct.unpack('<q', struct.pack('<d', x))[0]}LL)"
    text = repr(x)
    return f"({text})" if text.startswith("-") else text
