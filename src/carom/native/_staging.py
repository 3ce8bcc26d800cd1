"""Equations of scalars, put into JAX's record of a trace without its ceremony.

A program has a hundred thousand equations of scalars; binding one takes JAX 25 microseconds (canonical values, checks
of meshes and of abstract references, a cache of types, the source line), and its derivative two or three times that.
Here the type is known, so that only the equation and its variable are made. The equations are those of JAX. Where a
trace is of another kind (eager, batched, reverse), or JAX has other insides, `bind` does it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

try:
    from jax._src import ad_util, core, dtypes, source_info_util
    from jax._src.interpreters.ad import JVPTrace, JVPTracer
    from jax._src.interpreters.partial_eval import DynamicJaxprTrace, DynamicJaxprTracer, TracingEqn

    SOURCE, FOUND = source_info_util.new_source_info(), True
except ImportError:  # another JAX
    FOUND = False

Value = Any  # a tracer, or a number
Tangent = Any  # a tracer, or None for zero
Emit = Callable[..., Value]
ZERO = np.float64(0.0)


class _Insides:
    """Does this JAX have the insides that are relied on here?"""

    known = FOUND


class Written:
    """What writes the equation of a function of jax.lax of scalars: its primitive, with the parameters JAX gives it."""

    def __init__(self, name: str, *args: Any) -> None:
        (equation,) = jax.make_jaxpr(getattr(jax.lax, name, None) or ad_util.add_jaxvals)(*args).jaxpr.eqns
        self.primitive, self.params = equation.primitive, equation.params
        self.aval, self.effects, self.context = equation.outvars[0].aval, equation.effects, equation.ctx
        self.dtypes = [v.aval.dtype for v in equation.invars]
        self.tangent = TANGENTS.get(name)
        self.flat = name in FLAT

    def __call__(self, *operands: Value) -> Value:
        trace = core.trace_ctx.trace if _Insides.known else None
        if _recorded(trace):
            out = _emitted(trace, self, operands)
            if out is not None:
                return out
        return self.primitive.bind(*operands, **self.params)

    def instead(self, usual: Callable[..., Value]) -> Callable[..., Value]:
        """What takes the place of this primitive's `bind`: operators in rules and in recorded programs come there."""
        kinds, params = self.dtypes, self.params

        def bind(*operands: Value, **given: Any) -> Value:
            trace = core.trace_ctx.trace
            if given == params and _recorded(trace) and all(map(_is_scalar, operands, kinds)):
                out = _emitted(trace, self, operands)
                if out is not None:
                    return out
            return usual(*operands, **given)

        return bind


def _is_scalar(x: Value, dtype: Any) -> bool:
    """Is this a scalar of this type, whose type does not depend on what it meets?"""
    if isinstance(x, core.Tracer):
        aval: Any = x.aval
        return aval.dtype is dtype and aval.shape == () and not aval.weak_type
    return isinstance(x, dtype.type)


def _recorded(trace: Any) -> bool:
    """Does this trace end in a jaxpr, with nothing but forward derivatives on the way?"""
    if not _Insides.known:
        return False
    while isinstance(trace, JVPTrace):
        trace = trace.parent_trace
    return isinstance(trace, DynamicJaxprTrace)


def _emitted(trace: Any, write: Written, operands: tuple[Value, ...]) -> Value | None:
    """The value of the equation in this trace; None where its derivative is JAX's affair."""
    if isinstance(trace, DynamicJaxprTrace):
        return _put_down(trace, write, operands)
    primals, tangents = [], []
    for x in operands:
        ours = isinstance(x, JVPTracer) and x._trace.tag is trace.tag
        primals.append(x.primal if ours else x)
        tangents.append(x.tangent if ours and not isinstance(x.tangent, ad_util.Zero) else None)
    if write.flat or all(t is None for t in tangents):
        return _emitted(trace.parent_trace, write, tuple(primals))
    if write.tangent is None:
        return None
    value = _emitted(trace.parent_trace, write, tuple(primals))

    def emit(name: str, *operands: Value) -> Value:
        return _emitted(trace.parent_trace, rules()[name], operands)

    return None if value is None else JVPTracer(trace, value, write.tangent(emit, primals, tangents))


def _put_down(trace: Any, write: Written, operands: tuple[Value, ...]) -> Value:
    """A new equation of a jaxpr, and the tracer of its result."""
    ins = [x if isinstance(x, DynamicJaxprTracer) and x._trace is trace else _constant(trace, x) for x in operands]
    var = trace.frame.gensym(write.aval)
    equation = TracingEqn(ins, [var], write.primitive, write.params, write.effects, SOURCE, write.context)
    out = DynamicJaxprTracer(trace, write.aval, var, SOURCE, equation)
    trace.frame.add_eqn(equation)
    return out


def _constant(trace: Any, x: Value) -> Any:
    return trace.to_jaxpr_tracer(dtypes.canonicalize_value(x), SOURCE)


# -- derivatives: primals and tangents of the operands; a tangent that is zero is None --------------------------------


def _sum(emit: Emit, x: Value, t: list[Tangent]) -> Tangent:
    return _only(t) if _lacks(t) else emit("add", *t)


def _difference(emit: Emit, x: Value, t: list[Tangent]) -> Tangent:
    if _lacks(t):
        return emit("neg", t[1]) if t[0] is None else t[0]
    return emit("sub", *t)


def _product(emit: Emit, x: Value, t: list[Tangent]) -> Tangent:
    terms = [None if t[0] is None else emit("mul", t[0], x[1]), None if t[1] is None else emit("mul", x[0], t[1])]
    return _sum(emit, x, terms)


def _opposite(emit: Emit, x: Value, t: list[Tangent]) -> Tangent:
    return emit("neg", t[0])


def _choice(emit: Emit, x: Value, t: list[Tangent]) -> Tangent:
    return emit("select_n", x[0], *(ZERO if each is None else each for each in t[1:]))


def _size(emit: Emit, x: Value, t: list[Tangent]) -> Tangent:
    return emit("select_n", emit("ge", x[0], ZERO), emit("neg", t[0]), t[0])


def _lacks(t: list[Tangent]) -> bool:
    return any(each is None for each in t)


def _only(t: list[Tangent]) -> Tangent:
    return t[0] if t[1] is None else t[1]


TANGENTS: dict[str, Callable[[Emit, Any, list[Tangent]], Tangent]] = {
    "add": _sum,
    "add_any": _sum,
    "sub": _difference,
    "mul": _product,
    "neg": _opposite,
    "select_n": _choice,
    "abs": _size,
}
FLAT = ("lt", "le", "gt", "ge", "eq", "ne", "bitwise_and", "bitwise_or", "bitwise_not")  # flags have no derivative


def shortcuts() -> list[tuple[Any, str, Any, Callable[..., Any]]]:
    """(where, name, JAX's own or None if it has none there, ours) of insides; none where this JAX has other ones."""
    _Insides.known = _Insides.known and _tried()
    if not _Insides.known:
        return []
    one, flag = np.float64(1.0), np.bool_(True)
    written = [Written(name, one) for name in ("neg", "abs", "sign", "cos", "sin", "sqrt")]
    written += [Written(name, one, one) for name in ("add", "sub", "mul", "div", "add_any", "min", "max")]
    written += [Written(name, one, one) for name in ("lt", "le", "gt", "ge", "eq", "ne")]
    written += [Written(name, flag, flag) for name in ("bitwise_and", "bitwise_or")]
    written += [Written("select_n", flag, one, one), Written("bitwise_not", flag)]
    changed: list[tuple[Any, str, Any, Any]] = [
        (each.primitive, "bind", None, each.instead(each.primitive.bind)) for each in written
    ]
    return [*changed, (core, "eval_jaxpr", core.eval_jaxpr, evaluated(core.eval_jaxpr))]


def evaluated(usual: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """Evaluates a jaxpr as JAX does, which for every equation also sets what it set before, and tells where it is from.

    Most derivatives are traced so: of what was traced once, equation by equation.
    """

    def evaluate(jaxpr: Any, consts: Sequence[Value], *args: Value, **how: bool) -> list[Any]:
        here, literal = core.current_jaxpr_eqn_context(), core.Literal
        if any(eqn.ctx is not here for eqn in jaxpr.eqns):
            return usual(jaxpr, consts, *args, **how)
        known = dict(zip(jaxpr.constvars, consts, strict=True)) | dict(zip(jaxpr.invars, args, strict=True))
        for eqn in jaxpr.eqns:
            primitive = eqn.primitive
            operands = [x.val if isinstance(x, literal) else known[x] for x in eqn.invars]
            out = primitive.bind(*operands, **primitive.get_bind_params(eqn.params))
            known.update(zip(eqn.outvars, out if primitive.multiple_results else (out,), strict=True))
        return [x.val if isinstance(x, literal) else known[x] for x in jaxpr.outvars]

    return evaluate


def _tried() -> bool:
    """Is the derivative of a product what it must be?"""
    product, two, three = Written("mul", np.float64(1.0), np.float64(1.0)), np.float64(2.0), np.float64(3.0)
    try:
        slope = jax.make_jaxpr(lambda x, y: jax.jvp(lambda a: product(a, y), (x,), (x,))[1])(two, three)
        return jax.core.eval_jaxpr(slope.jaxpr, slope.consts, two, three) == [6.0]
    except Exception:  # whatever it is that has changed
        return False


@functools.cache
def rules() -> dict[str, Written]:
    """What derivatives are written with."""
    one, flag = np.float64(1.0), np.bool_(True)
    pairs = {name: Written(name, one, one) for name in ("add", "sub", "mul", "ge")}
    return pairs | {"neg": Written("neg", one), "select_n": Written("select_n", flag, one, one)}
