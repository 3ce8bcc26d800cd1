"""A program of scalars as text of LLVM: a function of two addresses, of its arguments and of its working memory."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from . import _sine_and_cosine as turns
from ._fusing import fused
from ._ssa import Block, Branch, Builder, Loop, Value, mark, where_of
from ._writer import Writer

TYPES = {"f": "double", "i": "i64", "b": "i1"}
FLOATS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
WHOLE = {"add": "add", "sub": "sub", "mul": "mul", "div": "sdiv", "rem": "srem", "and": "and", "or": "or", "xor": "xor"}
ORDERED = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
SIGNED = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
UNSIGNED = {"lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge", "eq": "eq", "ne": "ne"}
INSTRUCTIONS = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "round": "roundeven", "away": "round", "abs": "fabs"}
STORED = {
    "<f8": "double",
    "<i8": "i64",
    "<i4": "i32",
    "|b1": "i8",
    "<i2": "i16",
    "|i1": "i8",
    "<u4": "i32",
    "<u8": "i64",
}


def written(program: Builder, results: Sequence[Value], places: Sequence[tuple[int, str]], name: str) -> str:
    """The program, which leaves its results at these places: the offset [byte] and the type of each."""
    mark(program, results)
    writer = _Writer(fused(program, results) if turns.fused() else {})
    writer.block(program.top)
    for value, (offset, dtype) in zip(results, places, strict=True):
        writer.stored(writer.name(value), value.kind, "out", str(offset), dtype)
    head = [f"define void @{name}(ptr noalias %in, ptr noalias %out) {{", "begin:"]
    return "\n".join([*map(_pure, sorted(writer.declared)), *head, *writer.lines, "  ret void", "}", ""])


def _pure(declaration: str) -> str:
    """Functions of numbers depend on them alone: LLVM then computes a sine and a cosine of one angle together."""
    return (
        f"{declaration} memory(none) nounwind willreturn" if declaration.startswith("declare double") else declaration
    )


class _Writer(Writer):
    """Lines of one function; `label` is the block that is being written."""

    stem = "%v"

    def __init__(self, fused: dict[int, Value | None]) -> None:
        super().__init__()
        self.fused = fused
        self.declared: set[str] = set()
        self.label = "begin"
        self.done: set[int] = set()  # values that are written
        self.angles: list[
            dict[int, tuple[str, str, int]]
        ] = []  # of each open block: sines, cosines and place among them
        self.ahead: list[list[Value]] = []  # sines and cosines of each open block

    def literal(self, value: Value) -> str:
        return _literal(value)

    def begin(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def block(self, block: Block) -> None:
        self.angles.append({})
        self.ahead.append([v for v in block.code if isinstance(v, Value) and v.live and _turns(v)])
        super().block(block)
        self.angles.pop()
        self.ahead.pop()

    def branch(self, item: Branch) -> None:
        self.count += 1
        stem, which = f"b{self.count}", item.which
        arms, join = [f"{stem}.{i}" for i in range(len(item.arms))], f"{stem}.join"
        if len(arms) == 2:
            flag = self.name(which.args[0] if which.op == "btoi" else which)
            if which.kind == "i" and which.op != "btoi":
                test = self.fresh()
                self.lines.append(f"  {test} = icmp sgt i64 {flag}, 0")
                flag = test
            self.lines.append(f"  br i1 {flag}, label %{arms[1]}, label %{arms[0]}")
        else:
            cases = " ".join(f"i64 {i}, label %{arm}" for i, arm in enumerate(arms[:-1]))
            self.lines.append(f"  switch i64 {self.name(which)}, label %{arms[-1]} [ {cases} ]")
        ends = []
        for label, arm in zip(arms, item.arms, strict=True):
            self.begin(label)
            self.block(arm)
            self.lines.append(f"  br label %{join}")
            ends.append(self.label)
        self.begin(join)
        for i, result in enumerate(item.results):
            if result.live:
                froms = ", ".join(f"[ {self.name(v[i])}, %{end} ]" for v, end in zip(item.values, ends, strict=True))
                self.lines.append(f"  {self.name(result)} = phi {TYPES[result.kind]} {froms}")
                self.done.add(id(result))

    def loop(self, item: Loop) -> None:
        self.count += 1
        stem, before = f"l{self.count}", self.label
        assert item.goes is not None
        self.lines.append(f"  br label %{stem}.head")
        self.begin(f"{stem}.head")
        for value, first, new in zip(item.carried, item.first, item.next, strict=True):
            if value.live:
                froms = f"[ {self.name(first)}, %{before} ], [ {self.name(new)}, %{stem}.next ]"
                self.lines.append(f"  {self.name(value)} = phi {TYPES[value.kind]} {froms}")
                self.done.add(id(value))
        self.block(item.head)
        self.lines.append(f"  br i1 {self.name(item.goes)}, label %{stem}.body, label %{stem}.end")
        self.begin(f"{stem}.body")
        self.block(item.body)
        self.lines.append(f"  br label %{stem}.next")
        self.begin(f"{stem}.next")
        self.lines.append(f"  br label %{stem}.head")
        self.begin(f"{stem}.end")

    def operation(self, v: Value) -> None:
        """One line, or a few."""
        op, kind = v.op, v.kind
        self.done.add(id(v))
        if id(v) in self.fused:
            return self.multiplied(v, self.fused[id(v)])
        a = [self.name(x) for x in v.args]
        if _turns(v):
            return self.turned(v)
        if op == "load":
            return self.loaded(v, a[0])
        if op == "store":
            base, offset, dtype = where_of(v)
            return self.stored(a[0], kind, base, self.place(a[1], offset, dtype), dtype)
        if op == "lapack":
            return self.lapack(*v.data)  # type: ignore[misc]
        self.lines.append(f"  {self.name(v)} = {self.expression(v, op, kind, a)}")
        return None

    def multiplied(self, v: Value, product: Value | None) -> None:
        """A sum or difference with a product in it, in one rounding; nothing where the product stands by itself."""
        if product is None:
            return
        x, y = (self.name(a) for a in product.args)
        other = self.name(next(a for a in v.args if a is not product))
        if v.op == "sub" and v.args[0] is product:
            other = self.temporary(f"fneg double {other}")
        elif v.op == "sub":
            x = self.temporary(f"fneg double {x}")
        self.lines.append(f"  {self.name(v)} = {self.called('llvm.fma.f64', [x, y, other])}")

    def turned(self, v: Value) -> None:
        """Sine or cosine: both are computed where one is asked for first, with those of another angle."""
        x = _itself(v.args[0])
        found = next((known[id(x)] for known in self.angles if id(x) in known), None)
        if found is None:
            found = self.both(x)
        name, (which, place) = self.name(v), (found[v.data == "cos"], found[2])
        self.lines.append(f"  {name} = extractelement {turns.F} {which}, i32 {place}")

    def both(self, x: Value) -> tuple[str, str, int]:
        other = next((y for v in self.ahead[-1] if self.may_join(y := _itself(v.args[0]), x)), x)
        first = self.temporary(f"insertelement {turns.F} poison, double {self.name(x)}, i32 0")
        each = self.temporary(f"insertelement {turns.F} {first}, double {self.name(other)}, i32 1")
        self.declared.add(turns.DECLARED)
        pair = self.temporary(f"call {turns.BOTH} @{turns.TURNED}({turns.F} {each})")
        sines, cosines = (self.temporary(f"extractvalue {turns.BOTH} {pair}, {k}") for k in (0, 1))
        self.angles[-1] |= {id(other): (sines, cosines, 1), id(x): (sines, cosines, 0)}
        return sines, cosines, 0

    def may_join(self, other: Value, x: Value) -> bool:
        """Is this another angle, known by now, whose sine and cosine are not?"""
        return other is not x and id(other) in self.done and not any(id(other) in known for known in self.angles)

    def lapack(self, name: str, places: tuple[int, ...]) -> None:
        """A call of a library's function, whose arguments all lie in working memory."""
        self.declared.add(f"declare void @{name}({', '.join(['ptr'] * len(places))})")
        at = [self.temporary(f"getelementptr i8, ptr %out, i64 {place}") for place in places]
        self.lines.append(f"  call void @{name}({', '.join(f'ptr {x}' for x in at)})")

    def expression(self, v: Value, op: str, kind: str, a: list[str]) -> str:
        t, of = TYPES[kind], v.args[0].kind
        if op in FLOATS and kind == "f":
            return f"{FLOATS[op]} double {a[0]}, {a[1]}"
        if op in ORDERED:
            if of == "f":
                return f"fcmp {ORDERED[op]} double {a[0]}, {a[1]}"
            return f"icmp {(SIGNED if of == 'i' else UNSIGNED)[op]} {TYPES[of]} {a[0]}, {a[1]}"
        if op in WHOLE:
            return f"{WHOLE[op]} {t} {a[0]}, {a[1]}"
        if op == "select":
            flag = a[0] if of == "b" else self.temporary(f"icmp ne i64 {a[0]}, 0")
            return f"select i1 {flag}, {t} {a[2]}, {t} {a[1]}"
        if op == "neg":
            return f"fneg double {a[0]}" if kind == "f" else f"sub i64 0, {a[0]}"
        if op == "not":
            return f"xor {t} {a[0]}, {'true' if kind == 'b' else '-1'}"
        if op in ("max", "min"):
            return self.extreme(op, kind, a)
        if op == "call":
            return self.called(str(v.data), a)
        if op in INSTRUCTIONS:
            if kind != "f":
                raise NotImplementedError(f"{op} of whole numbers")
            return self.called(f"llvm.{INSTRUCTIONS[op]}.f64", a)
        return self.converted(op, a[0])

    def converted(self, op: str, x: str) -> str:
        if op == "itof":
            return f"sitofp i64 {x} to double"
        if op == "btof":
            return f"uitofp i1 {x} to double"
        if op == "btoi":
            return f"zext i1 {x} to i64"
        if op == "ftoi":  # out of range: the nearest that there is
            self.declared.add("declare i64 @llvm.fptosi.sat.i64.f64(double)")
            return f"call i64 @llvm.fptosi.sat.i64.f64(double {x})"
        raise NotImplementedError(op)

    def extreme(self, op: str, kind: str, a: list[str]) -> str:
        """The larger or smaller; if one is not a number, that one."""
        if kind == "i":
            test = self.temporary(f"icmp {'sgt' if op == 'max' else 'slt'} i64 {a[0]}, {a[1]}")
            return f"select i1 {test}, i64 {a[0]}, i64 {a[1]}"
        test = self.temporary(f"fcmp {'ogt' if op == 'max' else 'olt'} double {a[0]}, {a[1]}")
        best = self.temporary(f"select i1 {test}, double {a[0]}, double {a[1]}")
        odd = self.temporary(f"fcmp uno double {a[0]}, 0.0")
        return f"select i1 {odd}, double {a[0]}, double {best}"

    def called(self, name: str, a: list[str]) -> str:
        self.declared.add(f"declare double @{name}({', '.join(['double'] * len(a))})")
        return f"call double @{name}({', '.join(f'double {x}' for x in a)})"

    def temporary(self, expression: str) -> str:
        name = self.fresh()
        self.lines.append(f"  {name} = {expression}")
        return name

    def place(self, index: str, offset: int, dtype: str) -> str:
        """[byte] of a number in an array."""
        size = int(dtype[2:])
        if not index.startswith("%"):
            return str(offset + int(index) * size)
        scaled = self.temporary(f"mul i64 {index}, {size}")
        return self.temporary(f"add i64 {scaled}, {offset}")

    def loaded(self, v: Value, index: str) -> None:
        base, offset, dtype = where_of(v)
        address = self.temporary(f"getelementptr i8, ptr %{base}, i64 {self.place(index, offset, dtype)}")
        stored, kind = STORED[dtype], v.kind
        if stored == TYPES[kind]:
            self.lines.append(f"  {self.name(v)} = load {stored}, ptr {address}")
            return
        raw = self.temporary(f"load {stored}, ptr {address}")
        longer = "zext" if dtype[1] == "u" else "sext"
        how = f"icmp ne {stored} {raw}, 0" if kind == "b" else f"{longer} {stored} {raw} to i64"
        self.lines.append(f"  {self.name(v)} = {how}")

    def stored(self, x: str, kind: str, base: str, place: str, dtype: str) -> None:
        address = self.temporary(f"getelementptr i8, ptr %{base}, i64 {place}")
        stored = STORED[dtype]
        if stored != TYPES[kind]:
            x = self.temporary(f"{'zext' if kind == 'b' else 'trunc'} {TYPES[kind]} {x} to {stored}")
        self.lines.append(f"  store {stored} {x}, ptr {address}")


def _turns(v: Value) -> bool:
    return v.op == "call" and v.data in ("sin", "cos") and turns.fused()


def _itself(x: Value) -> Value:
    """What a loop carried, as it is in the loop."""
    while x.op == "left":
        x = x.args[0]
    return x


def _literal(value: Value) -> str:
    if value.kind == "f":
        assert isinstance(value.data, float)
        return f"0x{struct.pack('>d', value.data).hex().upper()}"
    if value.kind == "b":
        return "true" if value.data else "false"
    return str(value.data)
