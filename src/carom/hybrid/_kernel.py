"""A batch on a GPU as one kernel: every lane keeps its whole simulation in registers from the first step to the last.

In lockstep, each of the loop's operations would read and write every lane's numbers through the GPU's memory, and that
traffic bounds the speed. Here a block of lanes runs the loop by itself until its own last lane has finished.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jaxtyping import PyTree

from ..quantities import Vector
from . import outcome
from ._carry import Carry
from ._loop import advance
from ._scalar import scalar_program
from .settings import Integration
from .world import World

LANES = 32  # per block: one warp


def in_registers(
    make: Callable[[Any], World], parameters: PyTree, integration: Integration, carry: Carry, interpret: bool = False
) -> Carry:
    """Advance all lanes to their ends. `integration` must hold numbers, not traced values: they become constants."""
    one = jax.tree.map(lambda x: x[0], (parameters, carry))
    program = scalar_program(lambda p, c: advance(make(p), integration, c)[0], *one)
    given, _ = jax.tree.flatten(parameters)
    state, tree = jax.tree.flatten(carry)
    lanes = state[0].shape[0]
    padded = -(-lanes // LANES) * LANES
    width = len(given)
    flags = [x.dtype == jnp.bool_ for x in state]
    code = _index_of_outcome(tree)

    def kernel(*refs: Any) -> None:
        known = [ref[...] for ref in refs[:width]]
        now = [ref[...] for ref in refs[width : width + len(state)]]
        now = [x != 0 if flag else x for x, flag in zip(now, flags, strict=True)]

        def going(c: PyTree) -> Any:
            return jnp.max((c[code] == outcome.RUNNING).astype(jnp.int32)) > 0

        def body(c: PyTree) -> Any:
            pairs = zip(program([*known, *c]), c, strict=True)
            return [jnp.broadcast_to(jnp.asarray(new, dtype=old.dtype), old.shape) for new, old in pairs]

        for ref, x, flag in zip(refs[width + len(state) :], jax.lax.while_loop(going, body, now), flags, strict=True):
            ref[...] = x.astype(jnp.int32) if flag else x

    def stored(x: Vector) -> Any:
        x = jax.lax.convert_element_type(x, jnp.int32 if x.dtype == jnp.bool_ else x.dtype)  # also ends weak typing
        return jnp.concatenate([x, jnp.broadcast_to(x[-1:], (padded - lanes, *x.shape[1:]))])

    inputs = [stored(x) for x in (*given, *state)]
    block = pl.BlockSpec((LANES,), lambda i: (i,))
    out = pl.pallas_call(
        kernel,
        out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in inputs[width:]],
        grid=(padded // LANES,),
        in_specs=[block] * len(inputs),
        out_specs=[block] * len(state),
        interpret=interpret,
        **({} if interpret else {"compiler_params": _triton()}),
    )(*inputs)
    out = [x[:lanes] != 0 if flag else x[:lanes] for x, flag in zip(out, flags, strict=True)]
    return jax.tree.unflatten(tree, out)


def _triton() -> Any:
    from jax.experimental.pallas import triton as plgpu

    return plgpu.CompilerParams(num_warps=1, num_stages=1)


def _index_of_outcome(tree: jax.tree_util.PyTreeDef) -> int:
    """Where the outcome stands among the leaves of a carry."""
    numbered: Carry = jax.tree.unflatten(tree, list(range(tree.num_leaves)))
    return int(numbered.outcome)
