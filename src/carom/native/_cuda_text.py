"""A program of scalars as CUDA source: one thread per lane, with real branches.

Arguments and results lie by number and then by lane, so that neighbouring threads read neighbouring places. Working
memory is the thread's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._ssa import Branch, Builder, Loop, Value, mark, where_of
from ._writer import Writer

TYPES = {"f": "double", "i": "long long", "b": "bool"}
BINARY = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^"}
COMPARED = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
FUNCTIONS = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "round": "rint", "away": "round", "abs": "fabs"}
HEAD = """
__device__ inline double larger(double a, double b) { return a != a ? a : a > b ? a : b; }
__device__ inline double smaller(double a, double b) { return a != a ? a : a < b ? a : b; }
"""


def written(program: Builder, results: Sequence[Value], name: str, room: int, slots: dict[int, str]) -> str:
    """The source: reads arguments where `slots` say (by offset [byte]), writes the results one after the other."""
    mark(program, results)
    writer = _Writer(slots)
    writer.block(program.top)
    for k, value in enumerate(results):
        writer.line(f"out[{k} * n + lane] = {_stored(writer.name(value), value.kind)};")
    own = [f"  alignas(8) char own[{room}] = {{0}};"] if room else []
    begin = [
        f'extern "C" __global__ void __launch_bounds__(64) {name}(',
        "    long long n, const double* shared, const double* in, double* out) {",
        "  const long long lane = blockIdx.x * (long long)blockDim.x + threadIdx.x;",
        "  if (lane >= n) return;",
    ]
    return "\n".join([HEAD, *begin, *own, *writer.lines, "}", ""])


def _stored(text: str, kind: str) -> str:
    """Whole numbers keep their bits."""
    return text if kind == "f" else f"__longlong_as_double((long long){text})"


class _Writer(Writer):
    """Lines of one kernel."""

    def __init__(self, slots: dict[int, str]) -> None:
        super().__init__()
        self.slots = slots
        self.deep = 1

    def literal(self, value: Value) -> str:
        return _literal(value)

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

    def loop(self, item: Loop) -> None:
        assert item.goes is not None
        kept = [k for k, value in enumerate(item.carried) if value.live]
        for k in kept:
            value = item.carried[k]
            self.line(f"{TYPES[value.kind]} {self.name(value)} = {self.name(item.first[k])};")
        self.line("for (;;) {")
        self.deep += 1
        self.block(item.head)
        self.line(f"if (!{self.name(item.goes)}) break;")
        self.block(item.body)
        for k in kept:
            self.line(f"const {TYPES[item.carried[k].kind]} n{k} = {self.name(item.next[k])};")
        for k in kept:
            self.line(f"{self.name(item.carried[k])} = n{k};")
        self.deep -= 1
        self.line("}")

    def operation(self, v: Value) -> None:
        a = [self.name(x) for x in v.args]
        if v.op == "store":
            _, offset, dtype = where_of(v)
            self.line(f"{self._own(offset, dtype, a[1])} = {a[0]};")
            return
        self.line(f"const {TYPES[v.kind]} {self.name(v)} = {self.expression(v, a)};")

    def expression(self, v: Value, a: list[str]) -> str:
        op = v.op
        if op == "load":
            return self._loaded(v)
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
                return f"{'larger' if op == 'max' else 'smaller'}({a[0]}, {a[1]})"
            return f"{a[0]} {'>' if op == 'max' else '<'} {a[1]} ? {a[0]} : {a[1]}"
        if op == "call":
            return f"{v.data}({', '.join(a)})"
        if op in FUNCTIONS and v.kind == "f":
            return f"{FUNCTIONS[op]}({a[0]})"
        if op in ("itof", "btof", "btoi", "ftoi"):
            return f"({TYPES[v.kind]}){a[0]}"
        raise NotImplementedError(f"{op} on a GPU")

    def _loaded(self, v: Value) -> str:
        base, offset, dtype = where_of(v)
        if base == "out":
            return self._own(offset, dtype, self.name(v.args[0]))
        if not v.args[0].known:
            raise NotImplementedError("a computed place among the arguments, on a GPU")
        number = self.slots[offset + v.args[0].whole * int(dtype[2:])]
        return number if v.kind == "f" else f"({TYPES[v.kind]})__double_as_longlong({number})"

    def _own(self, offset: int, dtype: str, index: str) -> str:
        kinds = {"f": "double", "i": {"8": "long long", "4": "int"}.get(dtype[2:], "char"), "b": "bool"}
        return f"(({kinds[dtype[1]]}*)(own + {offset}))[{index}]"


def _literal(value: Value) -> str:
    if value.kind == "b":
        return "true" if value.data else "false"
    if value.kind == "i":
        return f"{value.whole}LL" if value.whole > -(2**63) else "(-9223372036854775807LL - 1)"
    x = float(value.number)
    if x != x:
        return "(0.0 / 0.0)"
    if x in (float("inf"), -float("inf")):
        return f"({'-' if x < 0 else ''}1.0 / 0.0)"
    text = repr(x)
    return f"({text})" if text.startswith("-") else text
