"""Operators that write their primitives at once give what JAX's own give, and are gone afterwards."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src.interpreters.partial_eval import DynamicJaxprTrace

from carom import native
from carom.native import _direct as quick
from carom.native import _staging
from carom.native._direct import direct

ARGUMENTS = (np.float64(0.7), np.float64(-1.3), np.array([0.2, 0.9]), 3)
WEAK = (0.7, -1.3, np.array([0.2, 0.9]), 3)  # of which JAX takes the type from what they meet


def mixed(x, y, row, count):
    """Every operator, with scalars, numbers, flags, arrays and integers on either side."""
    a = 2.0 - x * y + 3 / (x + 1) - (-y) / np.float64(0.5) + 2 * x - 1 + (1 + y)
    flag = (x < y) | ((x >= 0.1) & (y <= a)) | (x < 2.0)
    b = jnp.where(flag, a, 0.0) + jnp.where(x > y, 1, x) + jnp.minimum(x, 0.3) + jnp.maximum(1, y)
    c = jnp.abs(y) + jnp.sign(y) * jnp.asarray(x) + jnp.asarray(x, dtype=float)
    wide = row * x + jnp.where(flag, row, 1.0) + jnp.minimum(row, y) - row / 2 + jnp.abs(row)
    return (
        a,
        b,
        c,
        wide,
        x * count,
        count + 1,
        count / 2,
        flag & (count > 2),
        jnp.where(row > 0.5, x, y),
        jnp.where(flag, 1, 0),
        jnp.where(flag, 1.0, 0),
    )


def both(function, arguments=ARGUMENTS):
    usual = jax.make_jaxpr(lambda *x: function(*x))(*arguments)  # one each: JAX remembers what it traced
    with direct():
        ours = jax.make_jaxpr(lambda *x: function(*x))(*arguments)
    return usual, ours


@pytest.mark.parametrize("arguments", [ARGUMENTS, WEAK])
def test_values_types_and_derivatives_are_those_of_jax(arguments):
    usual, ours = both(mixed, arguments)
    assert [str(v.aval) for v in usual.jaxpr.outvars] == [str(v.aval) for v in ours.jaxpr.outvars]
    for x, y in zip(*(jax.core.eval_jaxpr(p.jaxpr, p.consts, *ARGUMENTS) for p in (usual, ours)), strict=True):
        np.testing.assert_array_equal(x, y)
    for way in (jax.jacfwd, jax.jacrev):
        turned, also = both(way(lambda *x: mixed(*x)[1]), arguments)
        for x, y in zip(*(jax.core.eval_jaxpr(p.jaxpr, p.consts, *ARGUMENTS) for p in (turned, also)), strict=True):
            np.testing.assert_array_equal(x, y)


def curved(x, y):
    """Scalars alone: products, quotients, roots, choices, sizes, flags, what is recorded and what is chosen."""
    part = jax.jit(lambda a, b: jnp.abs(a * b - 2.0 * b) - a / (1.0 + b * b) + jnp.where(a < b, -a, b * b * a))
    flag = ~(x != y) | ((x == 0.7) & (y < 0.0)) | jnp.where(x < y, x < 0.0, y > 0.0)
    one = jnp.where(flag, part(x, y), part(y, x)) + jnp.cos(x * y) * jnp.sin(y) - jnp.sqrt(x) + jnp.sign(y) * x
    two = jax.lax.cond(x > y, lambda a: a * part(a, y), lambda a: a - y, x * x)
    return one * (2.0 - two) + jnp.minimum(x, y) * jnp.maximum(x, -y) - (-x) * jnp.asarray(3.0)


def slope(x, y):
    return jax.jvp(curved, (x, y), (0.3 * x, np.float64(-0.8)))[1]


def bend(x, y):
    return jax.jvp(slope, (x, y), (np.float64(1.0), 0.5 * y))


@pytest.mark.parametrize("function", [curved, slope, bend])
def test_forward_derivatives_of_scalars_are_those_of_jax(function):
    usual, ours = both(function, ARGUMENTS[:2])
    assert [v.aval.str_short() for v in usual.jaxpr.outvars] == [v.aval.str_short() for v in ours.jaxpr.outvars]
    for x, y in [(0.7, -1.3), (-0.7, 1.3), (0.0, 0.0), (2.0, 2.0)]:
        values = [jax.core.eval_jaxpr(p.jaxpr, p.consts, np.float64(x), np.float64(y)) for p in (usual, ours)]
        np.testing.assert_allclose(*map(np.asarray, values), rtol=1e-15, atol=0.0)


def test_equations_are_put_down_without_jaxs_ceremony(monkeypatch):
    """Nearly all of them: what is left to JAX is what is not a scalar."""
    slow, usual = [], DynamicJaxprTrace.process_primitive

    def process(self, primitive, tracers, params, /):
        slow.append(primitive.name)
        return usual(self, primitive, tracers, params)

    monkeypatch.setattr(DynamicJaxprTrace, "process_primitive", process)
    _, ours = both(bend, ARGUMENTS[:2])
    slow.clear()
    with direct():
        jax.make_jaxpr(lambda x, y: bend(x, y))(*ARGUMENTS[:2])
    assert len(slow) < 0.2 * str(ours).count(" = "), slow


def test_a_jax_with_other_insides_is_noticed(monkeypatch):
    assert _staging._tried()
    monkeypatch.setattr(_staging, "TracingEqn", lambda *parts: None)
    assert not _staging._tried()


def test_they_go_past_jaxs_own_functions():
    usual, ours = both(lambda x, y, row, count: jnp.where(x < y, x, y))
    assert [e.primitive.name for e in ours.jaxpr.eqns] == ["lt", "select_n"]
    assert len(usual.jaxpr.eqns) != 2 or usual.jaxpr.eqns[1].primitive.name != "select_n"


def test_jax_is_as_it_was_afterwards_also_after_an_error():
    places = [(where, name) for where, name, _, _ in quick._changes()]
    before = [vars(where).get(name) for where, name in places]
    with pytest.raises(ZeroDivisionError), direct(), direct():
        raise ZeroDivisionError
    after = [vars(where).get(name) for where, name in places]
    assert len(places) > 50 and None in before  # JAX's primitives have no bind of their own
    assert all(now is was or now.__func__ is was.__func__ for now, was in zip(after, before, strict=True))


def test_what_is_traced_once_is_traced_once():
    seen = []

    @native.once
    def part(x, y):
        seen.append(x)
        return x * y + 1.0

    program = native.program(lambda x: part(x, 2.0 * x) + part(2.0 * x, x) + jax.jvp(part, (x, x), (x, x))[1], (0.5,))
    assert len(seen) == 1
    # 2 x^2 + 1, twice, and the derivative of x y along (x, x)
    assert float(program(0.5)) == 2 * (2 * 0.25 + 1) + 0.5
    assert part(1.0, 2.0) == 3.0 and len(seen) == 2  # elsewhere it is the function itself
