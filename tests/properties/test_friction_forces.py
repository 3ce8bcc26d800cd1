"""What holds for every friction law by itself, whatever its formula, under numbers that Hypothesis draws."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from carom.contact import AbstractDry

from .catalogued import both_ways, compiled, decades, every_friction, law_of, opened

# Speeds over ten decades, rest included.
speeds = st.one_of(st.just(0.0), st.tuples(st.sampled_from([-1.0, 1.0]), decades(-8, 2)).map(lambda x: x[0] * x[1]))


# -- friction laws -----------------------------------------------------------------------------------------------------


@functools.cache
def flow(name: str) -> Any:
    """Force and rates of the states."""
    return compiled(law_of(name).flow)


def stateless(name: str) -> bool:
    return not law_of(name).states


def held(name: str, numbers: list[float]) -> tuple[float, ...]:
    """As many states as the law has."""
    return tuple(numbers[: len(law_of(name).states)])


@every_friction
@given(normal=decades(-3, 6), sliding=speeds)
def test_friction_opposes_sliding(name: str, normal: float, sliding: float) -> None:
    """The force in steady sliding; and the one in any sliding, for laws without states of their own."""
    law = law_of(name)
    forces = [law.force(normal, sliding)] + ([flow(name)((), normal, sliding)[0]] if stateless(name) else [])
    for force in forces:
        assert np.isfinite(force)
        assert force * sliding <= 0.0
    if isinstance(law, AbstractDry):  # while it sticks nothing slides: no power; but it must be able to stick
        assert law.coefficient(abs(sliding)) >= 0.0 and law.drag >= 0.0
        assert law.limit >= law.coefficient(0.0)


@every_friction
@given(normal=decades(-3, 6), sliding=speeds, states=st.lists(st.floats(-1e-3, 1e-3), min_size=4, max_size=4))
def test_friction_is_odd(name: str, normal: float, sliding: float, states: list[float]) -> None:
    there = flow(name)(held(name, states), normal, sliding)
    back = flow(name)(held(name, [-x for x in states]), normal, -sliding)
    for a, b in zip(jax.tree.leaves(there), jax.tree.leaves(back), strict=True):
        assert a == -b


@functools.cache
def dragged(name: str) -> Any:
    """Work done by friction [J], instant by instant, on a body that is dragged to and fro for a second.

    Its velocity is a sum of three sines. Runge-Kutta of order 4, the work as one more state.
    """
    law, count = law_of(name), 20_000

    def velocity(t: Any, sines: Any) -> Any:
        return jnp.sum(sines[0] * jnp.sin(sines[1] * t + sines[2]))

    @compiled
    def run(normal: Any, sines: Any) -> Any:
        def rate(t: Any, y: Any) -> Any:
            v = velocity(t, sines)
            force, rates = law.flow(y[1:], normal, v)
            return (force * v, *rates)

        def step(y: Any, t: Any) -> Any:
            h = 1.0 / count
            add = lambda k, share: tuple(a + share * h * b for a, b in zip(y, k, strict=True))  # noqa: E731
            a = rate(t, y)
            b = rate(t + h / 2, add(a, 0.5))
            c = rate(t + h / 2, add(b, 0.5))
            d = rate(t + h, add(c, 1.0))
            new = tuple(x + h / 6 * (k + 2 * m + 2 * n + o) for x, k, m, n, o in zip(y, a, b, c, d, strict=True))
            return new, new[0]

        start = (jnp.asarray(0.0),) * (1 + len(law.states))
        times = jnp.arange(count) / count
        return jax.lax.scan(step, start, times)[1], jnp.mean(jnp.abs(jax.vmap(lambda t: velocity(t, sines))(times)))

    return run


three = st.lists(st.floats(-0.02, 0.02).map(lambda x: round(x, 6)), min_size=3, max_size=3)
pitches = st.lists(st.floats(1.0, 60.0), min_size=3, max_size=3)
begins = st.lists(st.floats(0.0, 6.0), min_size=3, max_size=3)


@every_friction
@given(normal=decades(-1, 3), sizes=three, pitch=pitches, begin=begins)
def test_friction_never_supplies_energy(name: str, normal: float, sizes: Any, pitch: Any, begin: Any) -> None:
    """Under a steady normal force, a bristle that starts relaxed never gives back more than it took."""
    work, distance = dragged(name)(normal, jnp.array([sizes, pitch, begin]))
    assert np.all(np.isfinite(work))
    assert np.max(work) <= 1e-7 * normal * float(distance)


# -- derivatives at touch-down -----------------------------------------------------------------------------------------


@every_friction
def test_derivatives_of_friction_at_touch_down(name: str) -> None:
    """Neither normal force nor sliding nor deflection: where kinks meet."""
    numbers, law = opened(name)
    z = held(name, [0.0] * 4)
    both_ways(lambda n, z, normal, v: law(n).flow(z, normal, v), (numbers, z, 0.0, 0.0), (numbers, z, 0.0, 0.1))
    if isinstance(law_of(name), AbstractDry):
        both_ways(lambda n, v: law(n).coefficient(jnp.abs(v)) + law(n).limit, (numbers, 0.0), (numbers, 0.1))
