"""Turn a function into one that computes with scalars only.

A GPU kernel that keeps a whole simulation in registers cannot slice, stack or reshape arrays. The small arrays inside a
step (a link's point, a controller's gains) have static shapes and static indices, so they can be taken apart before the
kernel is built: `scalar_program` evaluates a function's jaxpr with every array replaced by a NumPy array of scalars,
for which slicing and stacking cost nothing. What remains is elementwise arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core as jex
from jaxtyping import Array, PyTree

Scalars = Any  # a NumPy array of cells


class Cell:
    """Holds one scalar, so that NumPy does not look into it."""

    __slots__ = ("x",)

    def __init__(self, x: object) -> None:
        self.x = x


def scalar_program(function: Callable[..., Any], *example: Any) -> Callable[[list[Any]], list[Any]]:
    """`function`, as a map from the list of all its argument scalars to the list of all its result scalars.

    The scalars may be vectors over lanes, all of one shape: then all lanes are computed at once.
    """
    closed = jax.make_jaxpr(function)(*example)

    def program(scalars: list[Any]) -> list[Any]:
        args, at = [], 0
        for var in closed.jaxpr.invars:
            size = int(np.prod(var.aval.shape, dtype=int))
            args.append(_filled(var.aval.shape, scalars[at : at + size]))
            at += size
        results = _evaluate(closed.jaxpr, closed.consts, args)
        return [cell.x for result in results for cell in result.ravel()]

    return program


def scalars_of(tree: PyTree) -> list[Any]:
    """All numbers of a pytree of arrays, one by one."""
    return [leaf[index] for leaf in map(jnp.asarray, jax.tree.leaves(tree)) for index in np.ndindex(leaf.shape)]


def _filled(shape: tuple[int, ...], values: list[Any]) -> Scalars:
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = Cell(value)
    return out.reshape(shape)


def _constant(value: object) -> Scalars:
    """A known array as an array of NumPy scalars, which keep their type."""
    array = np.asarray(value)
    return _filled(array.shape, [array.dtype.type(x) for x in array.ravel()])


def _evaluate(jaxpr: jex.Jaxpr, consts: Sequence[object], args: list[Scalars]) -> list[Scalars]:
    env: dict[Any, Scalars] = {}

    def read(var: jex.Var | jex.Literal) -> Scalars:
        return _constant(var.val) if isinstance(var, jex.Literal) else env[var]

    for var, const in zip(jaxpr.constvars, consts, strict=True):
        env[var] = _constant(const)
    for var, arg in zip(jaxpr.invars, args, strict=True):
        env[var] = arg
    for eqn in jaxpr.eqns:
        inputs = [read(var) for var in eqn.invars]
        for var, value in zip(eqn.outvars, _apply(eqn, inputs), strict=True):
            env[var] = value
    return [read(var) for var in jaxpr.outvars]


def _apply(eqn: jex.JaxprEqn, inputs: list[Scalars]) -> list[Scalars]:
    name, params = eqn.primitive.name, eqn.params
    if name in SHAPES:
        return [SHAPES[name](eqn, *inputs)]
    if name == "unstack":
        return list(np.moveaxis(inputs[0], params["axis"], 0)) if inputs[0].ndim > 1 else _apart(inputs[0])
    if name == "cond":
        return _branch(inputs[0][()].x, params["branches"], inputs[1:])
    if name == "while":
        return _loop(eqn, inputs)
    for key in ("jaxpr", "call_jaxpr", "fun_jaxpr"):  # jit, custom derivatives, ...: what they call, in line
        if key in params:
            inner = params[key]
            consts = getattr(inner, "consts", ())
            return _evaluate(getattr(inner, "jaxpr", inner), consts, inputs)
    return [_elementwise(eqn, inputs)]


def _apart(x: Scalars) -> list[Scalars]:
    return [_filled((), [cell.x]) for cell in x.ravel()]


def _elementwise(eqn: Any, inputs: list[Scalars]) -> Scalars:
    shape = eqn.outvars[0].aval.shape
    spread: list[Any] = [np.broadcast_to(x, shape) for x in inputs]
    types = [var.aval.dtype for var in eqn.invars]
    params = dict(eqn.params)
    if "weak_type" in params:  # Triton's function tables do not know weak types
        params["weak_type"] = False

    def bind(operands: list[Any]) -> Any:
        like = _lanes_of(operands)
        return eqn.primitive.bind(*(_typed(x, t, like) for x, t in zip(operands, types, strict=True)), **params)

    out = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        operands = [x[index].x for x in spread]
        if any(isinstance(x, jax.core.Tracer) for x in operands):
            value = bind(operands)
        else:  # known numbers stay numbers
            with jax.ensure_compile_time_eval():
                value = np.asarray(bind(operands))[()]
        out[index] = Cell(value)
    return out


def _typed(x: object, dtype: np.dtype | type, like: Array | None) -> Any:
    """A number of the given type, spread over the lanes where `like` is."""
    value = x if isinstance(x, jax.Array) else jnp.asarray(x, dtype=dtype)
    return value if like is None or value.shape == like.shape else jnp.broadcast_to(value, like.shape)


def _lanes_of(values: list[Any]) -> Any:
    """One of the values that has an entry per lane, if there is one: what follows from known numbers alone has not."""
    return max((x for x in values if isinstance(x, jax.core.Tracer)), key=lambda x: x.ndim, default=None)


def _branch(which: Array, branches: Sequence[jex.ClosedJaxpr], inputs: list[Scalars]) -> list[Scalars]:
    """A choice between two computations. Lanes choose apart; the second is skipped when no lane wants it."""
    if len(branches) != 2:
        raise NotImplementedError(f"a choice between {len(branches)} branches; write it as nested choices between two")
    no, yes = branches

    def values(branch: jex.ClosedJaxpr) -> list[Any]:
        return [cell.x for result in _evaluate(branch.jaxpr, branch.consts, inputs) for cell in result.ravel()]

    def either() -> list[Any]:
        types = [var.aval.dtype for var in no.jaxpr.outvars for _ in range(var.aval.size)]
        pairs = zip(values(yes), values(no), types, strict=True)
        return [jnp.where(which == 1, _typed(a, t, which), _typed(b, t, which)) for a, b, t in pairs]

    def neither() -> list[Any]:
        types = [var.aval.dtype for var in no.jaxpr.outvars for _ in range(var.aval.size)]
        return [_typed(b, t, which) for b, t in zip(values(no), types, strict=True)]

    chosen = jax.lax.cond(jnp.max(which) > 0, either, neither)
    out, at = [], 0
    for var in no.jaxpr.outvars:
        out.append(_filled(var.aval.shape, chosen[at : at + var.aval.size]))
        at += var.aval.size
    return out


def _loop(eqn: jex.JaxprEqn, inputs: list[Scalars]) -> list[Scalars]:
    """A loop that every lane leaves when it is done; it ends with the last one."""
    p = eqn.params
    known, fixed = p["cond_nconsts"], p["body_nconsts"]
    ask, do, carried = inputs[:known], inputs[known : known + fixed], inputs[known + fixed :]
    shapes = [x.shape for x in carried]
    types = [var.aval.dtype for var in p["body_jaxpr"].jaxpr.outvars for _ in range(var.aval.size)]
    every = [cell.x for x in (*ask, *do, *carried) for cell in x.ravel()]
    like = _lanes_of(every)

    def packed(flat: list[Any]) -> list[Scalars]:
        out, at = [], 0
        for shape in shapes:
            size = int(np.prod(shape, dtype=int))
            out.append(_filled(shape, flat[at : at + size]))
            at += size
        return out

    def wants(flat: list[Any]) -> Any:
        closed = p["cond_jaxpr"]
        return _typed(_evaluate(closed.jaxpr, closed.consts, [*ask, *packed(flat)])[0][()].x, np.bool_, like)

    def going(flat: list[Any]) -> Any:
        return jnp.max(wants(flat).astype(jnp.int32)) > 0

    def body(flat: list[Any]) -> list[Any]:
        closed, on = p["body_jaxpr"], wants(flat)
        results = _evaluate(closed.jaxpr, closed.consts, [*do, *packed(flat)])
        new = [cell.x for result in results for cell in result.ravel()]
        return [jnp.where(on, _typed(a, t, like), b) for a, b, t in zip(new, flat, types, strict=True)]

    first = [_typed(cell.x, t, like) for cell, t in zip((c for x in carried for c in x.ravel()), types, strict=True)]
    return packed(jax.lax.while_loop(going, body, first))


# -- what changes shapes only ----------------------------------------------------------------------------------------


def _broadcast(eqn: jex.JaxprEqn, x: Scalars, *_: Any) -> Scalars:
    shape, where = eqn.params["shape"], eqn.params["broadcast_dimensions"]
    reshaped = x.reshape([x.shape[where.index(d)] if d in where else 1 for d in range(len(shape))])
    return np.broadcast_to(reshaped, shape)


def _slice(eqn: jex.JaxprEqn, x: Scalars) -> Scalars:
    p = eqn.params
    steps = p["strides"] or (1,) * x.ndim
    return x[tuple(slice(a, b, s) for a, b, s in zip(p["start_indices"], p["limit_indices"], steps, strict=True))]


def _reduce(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Scalars], Scalars]:
    def reduce(eqn: jex.JaxprEqn, x: Scalars) -> Scalars:
        axes = eqn.params["axes"]
        kept = [d for d in range(x.ndim) if d not in axes]
        out = np.empty([x.shape[d] for d in kept], dtype=object)
        for index in np.ndindex(out.shape):
            total: Any = None
            for inner in product(*(range(x.shape[d]) for d in axes)):
                full = [0] * x.ndim
                for d, i in zip((*kept, *axes), (*index, *inner), strict=True):
                    full[d] = i
                value = x[tuple(full)].x
                total = value if total is None else combine(total, value)
            out[index] = Cell(total)
        return out

    return reduce


SHAPES: dict[str, Callable[..., Scalars]] = {
    "broadcast_in_dim": _broadcast,
    "reshape": lambda eqn, x, *_: x.reshape(eqn.outvars[0].aval.shape),
    "squeeze": lambda eqn, x: x.reshape(eqn.outvars[0].aval.shape),
    "expand_dims": lambda eqn, x: x.reshape(eqn.outvars[0].aval.shape),
    "transpose": lambda eqn, x: x.transpose(eqn.params["permutation"]),
    "concatenate": lambda eqn, *xs: np.concatenate(xs, axis=eqn.params["dimension"]),
    "stack": lambda eqn, *xs: np.stack(xs, axis=eqn.params["axis"]),
    "slice": _slice,
    "rev": lambda eqn, x: np.flip(x, eqn.params["dimensions"]),
    "iota": lambda eqn: _constant(np.asarray(jax.core.eval_jaxpr(_single(eqn), ())[0])),
    "reduce_sum": _reduce(lambda a, b: a + b),
    "reduce_or": _reduce(lambda a, b: a | b),
    "reduce_and": _reduce(lambda a, b: a & b),
    "reduce_max": _reduce(jnp.maximum),
    "reduce_min": _reduce(jnp.minimum),
    "copy": lambda eqn, x: x,
    "stop_gradient": lambda eqn, x: x,
}


def _single(eqn: jex.JaxprEqn) -> Any:
    raise NotImplementedError("arrays that count are not part of any force law")
