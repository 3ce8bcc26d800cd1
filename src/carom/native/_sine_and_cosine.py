"""Sine and cosine of two angles together, for machines that multiply and add in one rounding.

A right-hand side asks for both of every angle. C's library looks into tables for each, and a call keeps no register;
here they are polynomials of what remains of an angle, in line where a program is compiled thoroughly. They are right to
0.76 units in the last place up to FAR, beyond which the library is asked.

Quick programs call what stands in a module of its own; thorough ones have the same text, and so give the same numbers.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable
from typing import Any

FAR = 1e5  # [rad]
ROUND = 1.5 * 2.0**52  # added to a number it leaves the nearest whole one in the last bits
QUARTER = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)  # of a turn, in parts
# Best for |r| < pi / 4: sin r = r - r^3 S(r^2) to 4e-18 of it; cos r = 1 - r^2 / 2 + r^4 C(r^2) to 6e-20.
SINES = (
    *(0.1666666666666663, -0.008333333333322113, 0.00019841269829584852),
    *(-2.755731361970196e-06, 2.5050747490581213e-08, -1.5896213899092106e-10),
)
COSINES = (
    *(0.041666666666666595, -0.001388888888887305, 2.4801587288846544e-05),
    *(-2.755731417776597e-07, 2.0875700628712985e-09, -1.1358525220417362e-11),
)
TURNED, BEYOND = "carom_turned", "carom_beyond"
F, BITS, BOTH = "<2 x double>", "<2 x i64>", "{<2 x double>, <2 x double>}"
DECLARED = f"declare {BOTH} @{TURNED}({F})"
LIKELY = '!0 = !{!"branch_weights", i32 1000000, i32 1}\n'


@functools.cache
def fused() -> bool:
    """Does this machine multiply and add in one rounding?"""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    return bool(features.get("fma", False) or features.get("neon", False))


class _Lines:
    """A function of two angles, line by line."""

    def __init__(self) -> None:
        self.count, self.lines = 0, list[str]()

    def put(self, expression: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {expression}")
        return f"%t{self.count}"

    def of(self, op: str, x: str, y: str) -> str:
        return self.put(f"{op} {F if op[0] == 'f' else BITS} {x}, {y}")

    def fma(self, x: str, y: str, z: str) -> str:
        return self.put(f"call {F} @llvm.fma.v2f64({F} {x}, {F} {y}, {F} {z})")

    def minus(self, x: str) -> str:
        return self.put(f"fneg {F} {x}")

    def polynomial(self, c: tuple[float, ...], z: str, z2: str, z4: str) -> str:
        """In pairs, and pairs of pairs: in half the time of one term after the other."""
        a, b, d = (self.fma(_all(c[k + 1]), z, _all(c[k])) for k in (0, 2, 4))
        return self.fma(z4, d, self.fma(z2, b, a))

    def opposed(self, x: str, quarters: str) -> str:
        """-x in the third and fourth quarter."""
        sign = self.of("shl", self.of("and", quarters, _whole(2)), _whole(62))
        bits = self.of("xor", self.put(f"bitcast {F} {x} to {BITS}"), sign)
        return self.put(f"bitcast {BITS} {bits} to {F}")

    def returned(self, sine: str, cosine: str) -> None:
        half = self.put(f"insertvalue {BOTH} poison, {F} {sine}, 0")
        self.lines.append(f"  ret {BOTH} {self.put(f'insertvalue {BOTH} {half}, {F} {cosine}, 1')}")


def _all(x: float) -> str:
    word = f"double 0x{struct.pack('>d', x).hex().upper()}"
    return f"<{word}, {word}>"


def _whole(x: int) -> str:
    return f"<i64 {x}, i64 {x}>"


def _near(w: _Lines) -> tuple[str, str]:
    """Sines and cosines of %x, which are near enough."""
    shifted = w.fma("%x", _all(2.0 / math.pi), _all(ROUND))
    turns, quarters = w.of("fsub", shifted, _all(ROUND)), w.put(f"bitcast {F} {shifted} to {BITS}")
    large = w.fma(w.minus(turns), _all(QUARTER[0]), "%x")  # exact
    part = w.of("fmul", turns, _all(QUARTER[1]))
    r = w.of("fsub", large, part)
    lost = w.fma(turns, _all(QUARTER[2]), w.fma(turns, _all(QUARTER[1]), w.minus(part)))
    over = w.of("fsub", lost, w.of("fsub", w.of("fsub", large, r), part))  # what r has too much
    z = w.of("fmul", r, r)
    z2 = w.of("fmul", z, z)
    z4 = w.of("fmul", z2, z2)
    flat = w.fma(z, _all(-0.5), _all(1.0))
    left = w.fma(z, _all(-0.5), w.of("fsub", _all(1.0), flat))  # what that has lost
    bent = w.fma(w.of("fmul", r, z), w.polynomial(SINES, z, z2, z4), w.of("fmul", over, flat))
    sine = w.of("fsub", r, bent)
    slight = w.fma(z2, w.polynomial(COSINES, z, z2, z4), w.fma(r, over, left))
    cosine = w.of("fadd", flat, slight)
    odd = w.put(f"icmp ne {BITS} {w.of('and', quarters, _whole(1))}, {_whole(0)}")
    first = w.put(f"select <2 x i1> {odd}, {F} {cosine}, {F} {sine}")
    second = w.put(f"select <2 x i1> {odd}, {F} {sine}, {F} {cosine}")
    return w.opposed(first, quarters), w.opposed(second, w.of("add", quarters, _whole(1)))


def _turned(how: str, more: str = "") -> str:
    w = _Lines()
    near = w.put(f"fcmp olt {F} {w.put(f'call {F} @llvm.fabs.v2f64({F} %x)')}, {_all(FAR)}")
    one, two = (w.put(f"extractelement <2 x i1> {near}, i32 {k}") for k in (0, 1))
    w.lines += [f"  br i1 {w.put(f'and i1 {one}, {two}')}, label %near, label %far, !prof !0", "near:"]
    w.returned(*_near(w))
    w.lines += ["far:", f"  %away = call {BOTH} @{BEYOND}({F} %x)", f"  ret {BOTH} %away"]
    declared = [f"declare {F} @llvm.fabs.v2f64({F})", f"declare {F} @llvm.fma.v2f64({F}, {F}, {F})"]
    return "\n".join([*declared, f"{how} {BOTH} @{TURNED}({F} %x) {more} nounwind {{", *w.lines, "}", ""])


def _beyond() -> str:
    """The library's, one angle after the other."""
    w, found = _Lines(), {"sin": "poison", "cos": "poison"}
    for k in (0, 1):
        x = w.put(f"extractelement {F} %x, i32 {k}")
        for name in found:
            one = w.put(f"call double @{name}(double {x})")
            found[name] = w.put(f"insertelement {F} {found[name]}, double {one}, i32 {k}")
    w.returned(found["sin"], found["cos"])
    declared = ["declare double @sin(double)", "declare double @cos(double)"]
    return "\n".join([*declared, f"define {BOTH} @{BEYOND}({F} %x) nounwind {{", *w.lines, "}", ""])


def in_line(text: str) -> str:
    """The text of a program with the function that it calls, to be put in line."""
    if DECLARED not in text:
        return text
    far = f"declare {BOTH} @{BEYOND}({F}) cold nounwind\n"
    return text.replace(DECLARED, far + _turned("define internal", "alwaysinline")) + LIKELY


def called(code: bytes) -> bool:
    """Does a program call one of these functions?"""
    return TURNED.encode() in code or BEYOND.encode() in code


@functools.cache
def linked(target: Callable[[], Any]) -> object:
    """Tell LLVM where these functions are, compiled by themselves; what is returned keeps them there."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_turned("define") + _beyond() + LIKELY), target())
    engine.finalize_object()
    for name in (TURNED, BEYOND):
        llvm.add_symbol(name, engine.get_function_address(name))
    return engine
