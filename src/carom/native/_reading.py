"""From a jaxpr to a program of scalars, equation by equation."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax.extend import core as jex

from ._arithmetic import OPERATIONS
from ._branching import BRANCHING, spilled
from ._gathering import GATHERING
from ._linear_algebra import ALGEBRA
from ._shuffling import SHUFFLES, WRITTEN_OUT, Memory, Thing, bare, cells, constant, filled, kind_of
from ._ssa import Builder, Equation, Value
from ._sums import SUMS

UNCHANGED = (
    *("copy", "copy_p", "stop_gradient", "optimization_barrier"),
    *("nonbatchable", "nondifferentiable", "nondifferentiable_backward"),
)
BUFFER = "carom_buffer"  # the name of the function that marks an array to be kept in memory
UNROUNDED = "carom_unrounded"  # and of those whose sums may take products unrounded
CALLS = ("jaxpr", "call_jaxpr", "fun_jaxpr")  # where primitives that call others keep what they call


class Reader:
    """Reads equations into a builder; `room` [byte] of working memory are in use."""

    def __init__(self, tables: bool = False) -> None:
        self.b = Builder(tables)
        self.room = 0

    def reserved(self, shape: tuple[int, ...], dtype: Any) -> Memory:
        """A stretch of working memory, zero at first."""
        memory = Memory("out", self.room, tuple(shape), np.dtype(dtype))
        self.room += -(-memory.size * memory.dtype.itemsize // 8) * 8
        return memory

    def read(self, jaxpr: Any, consts: Any, args: list[Thing]) -> list[Thing]:
        """The results of a jaxpr for these arguments."""
        known: dict[Any, Thing] = dict(zip(jaxpr.invars, args, strict=True))
        for var, const in zip(jaxpr.constvars, consts, strict=True):
            known[var] = self._constant(const)
        literal = jex.Literal
        for eqn in jaxpr.eqns:
            inputs = [self._constant(var.val) if isinstance(var, literal) else known[var] for var in eqn.invars]
            name = eqn.primitive.name
            operation = OPERATIONS.get(name)
            if operation is not None:
                known[eqn.outvars[0]] = self._elementwise(operation, eqn, inputs)
                continue
            results = self._other(name, eqn, inputs)
            for var, result in zip(eqn.outvars, results, strict=True):
                known[var] = result
        return [self._constant(v.val) if isinstance(v, jex.Literal) else known[v] for v in jaxpr.outvars]

    def closed(self, closed: Any, args: list[Thing]) -> list[Thing]:
        """The same of a jaxpr that brings its constants."""
        return self.read(getattr(closed, "jaxpr", closed), getattr(closed, "consts", ()), args)

    def _constant(self, x: Any) -> Thing:
        return x if isinstance(x, Value) else constant(self.b, x)

    def _elementwise(self, operation: Any, eqn: Equation, inputs: list[Thing]) -> Thing:
        out = eqn.outvars[0].aval
        kind = kind_of(out.dtype)
        b, p = self.b, eqn.params
        if not out.shape:
            return operation(b, p, kind, [bare(x) if isinstance(x, Value) else cells(b, x)[()] for x in inputs])
        if out.size > 16 * WRITTEN_OUT:
            raise NotImplementedError("arithmetic on a long array")
        spread = [self._spread(x, out.shape, out.size) for x in inputs]
        return filled(out.shape, [operation(b, p, kind, list(each)) for each in zip(*spread, strict=True)])

    def _spread(self, x: Thing, shape: tuple[int, ...], size: int) -> list[Value]:
        """As many values as an array of this shape has."""
        if isinstance(x, Value):
            return [x] * size
        have = cells(self.b, x)
        values: list[Value] = (have if have.shape == shape else np.broadcast_to(have, shape)).ravel().tolist()
        return values

    def _other(self, name: str, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
        if name in SHUFFLES:
            if name == "broadcast_in_dim" and eqn.outvars[0].aval.size > 16 * WRITTEN_OUT:
                return [self._buffer(eqn, inputs[0])]
            out = SHUFFLES[name](self.b, eqn.params, *inputs)
            return [out if isinstance(out, Memory) else bare(out)]
        if name in SUMS:
            return [bare(SUMS[name](self.b, eqn.params, *inputs, kind_of(eqn.outvars[0].aval.dtype)))]
        if name in GATHERING:
            return [bare(GATHERING[name](self.b, eqn, *inputs))]
        if name == "unstack":
            parts = np.moveaxis(cells(self.b, inputs[0]), eqn.params["axis"], 0)
            return [bare(part) for part in parts]
        if name == "split":
            ends = np.cumsum(eqn.params["sizes"])[:-1]
            return list(np.split(cells(self.b, inputs[0]), ends, axis=eqn.params["axis"]))
        if name in UNCHANGED:
            return inputs
        if name == "empty2":
            aval = eqn.outvars[0].aval
            return [constant(self.b, np.zeros(aval.shape, aval.dtype))]
        if name == "select_if_vmap":  # a choice among lanes, of which there is one
            return [inputs[1]]
        if name == "platform_index":
            each = eqn.params["platforms"]
            return [self.b.number("i", next(i for i, names in enumerate(each) if names is None or "cpu" in names))]
        if name in BRANCHING:
            return BRANCHING[name](self, eqn, inputs)
        if name in ALGEBRA:
            return ALGEBRA[name](self, eqn, inputs)
        if eqn.params.get("name") == BUFFER:
            return [x if isinstance(x, Memory) else spilled(self, x) for x in inputs]
        for key in CALLS:
            if key in eqn.params:
                loose = int(UNROUNDED in str(eqn.params.get("name")))
                self.b.loose += loose
                out = self.closed(eqn.params[key], inputs)
                self.b.loose -= loose
                return out
        raise NotImplementedError(name)

    def _buffer(self, eqn: Equation, x: Thing) -> Memory:
        """A long array of zeros, to be written to."""
        zero = cells(self.b, x).ravel()
        if not (len(zero) == 1 and zero[0].known and zero[0].data == 0) or self.b.block is not self.b.top:
            raise NotImplementedError("a long array that is no buffer")
        aval = eqn.outvars[0].aval
        return self.reserved(aval.shape, aval.dtype)
