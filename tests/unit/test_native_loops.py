"""Branches, loops and buffers of programs as machine code: what JAX computes, and no more than is needed."""

import jax
import jax.numpy as jnp
import numpy as np

from carom import native
from tests.unit.test_native import RNG, check, made


def rows_written(table, order, when):
    """A table whose rows are overwritten in a loop, some of them, and by one arm of a branch alone."""

    def step(table, each):
        row, on = each
        written = jax.lax.dynamic_update_slice(table, (table[row] + 1.0)[None], (row, jnp.zeros_like(row)))
        return written, on

    def once(s, each):
        table, count = s
        put = lambda table: step(table, each)[0]  # noqa: E731
        return (jax.lax.cond(each[1], put, lambda table: table, table), count + each[1]), None

    return jax.lax.scan(once, (native.buffer(table), 0), (order, when))[0]


def test_a_buffer_is_changed_in_place_and_by_one_arm_of_a_branch():
    order, when = np.array([2, 0, 2, 5, 1, 2]), np.array([True, False, True, True, False, True])
    check(rows_written, RNG.normal(size=(6, 3)), order, when)
    many = RNG.normal(size=(4, 6, 3))  # one lane after the other, each with its own
    check(lambda tables: jax.lax.map(lambda t: rows_written(t, jnp.asarray(order), jnp.asarray(when)), tables), many)


def test_a_round_of_a_loop_knows_that_it_goes_on():
    """What it goes on for need not be asked for again."""

    def known(x):
        return jax.lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, jnp.where(s[0] < 5, s[1] + x, s[1])), (0, x))

    def plain(x):
        return jax.lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] + x), (0, x))

    x = np.asarray(0.3)
    check(known, x)
    assert made(known, x).layout.operations == made(plain, x).layout.operations


def test_only_the_arm_of_a_branch_that_is_taken_is_run():
    def choose(x, i):
        arms = [lambda x: x + 1.0, lambda x: jax.lax.while_loop(lambda y: y != 0.0, lambda y: y, x), jnp.sin]
        return jax.lax.switch(i, arms, x), jax.lax.cond(x > 0, lambda: x, lambda: -x)

    for i in (0, 2, 5):  # the arm between them would never end
        check(choose, np.asarray(2.0), np.asarray(i), ulps=2)


def test_loops_carry_numbers_and_rows():
    check(
        lambda x: jax.lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] + 1, s[1] * 1.1 + s[0]), (0, x)),
        np.asarray(0.3),
    )
    rows = RNG.normal(size=(700, 3))
    check(lambda rows: jax.lax.map(lambda r: jnp.cumsum(r), rows), rows)
    long, at = RNG.normal(size=(7, 50, 2, 3)), np.asarray([[0, 0], [6, 49], [3, 7], [9, 60], [-1, -2]])
    check(lambda a, at: jax.lax.map(lambda k: a[k[0], k[1]], at), long, at)
    check(lambda a, at: jax.lax.map(lambda k: jax.lax.dynamic_slice(a, (k[0], k[1], 0, 0), (1, 5, 2, 3)), at), long, at)
    for reverse in (False, True):
        check(lambda rows, r=reverse: jax.lax.scan(lambda c, x: (c + x[0], c * x[1]), 0.0, rows, reverse=r), rows)
    check(lambda rows: jax.lax.scan(lambda c, x: (c + x[0], c * x[1]), 0.0, rows[:2]), rows[:3])

    def nested(r):
        def inner(i, s):
            return s + jax.lax.fori_loop(0, i, lambda j, t: t + r[0] * j, 0.0)

        return jax.lax.fori_loop(0, 4, inner, 0.0)

    check(lambda rows: jax.lax.map(nested, rows), rows, ulps=8)


def test_a_buffer_is_written_row_by_row():
    def record(x):
        def body(s):
            i, y, rows = s
            return i + (y > 0).astype(int), -0.9 * y, rows.at[i].set(jnp.stack([y, y * y]))

        return jax.lax.while_loop(lambda s: s[0] < 900, body, (jnp.asarray(0), x, jnp.zeros((4000, 2))))

    check(record, np.asarray(0.7))


def test_a_buffer_is_written_in_either_arm_of_a_branch():
    """Each arm sees what was there before the branch, and what is asked for afterwards is what the taken one left."""

    def record(x):
        def body(s):
            i, y, rows = s

            def up(rows):
                return rows.at[i % 5].set(jnp.stack([y, rows[0, 1]]))

            def down(rows):
                return rows.at[(i + 2) % 5].set(jnp.stack([rows[1, 0], -y]))

            return i + 1, -0.9 * y, jax.lax.cond(y > 0, up, down, rows)

        first = jnp.asarray(0), x, native.buffer(jnp.zeros((5, 2)))
        return jax.lax.while_loop(lambda s: s[0] < 23, body, first)

    check(record, np.asarray(0.7))
