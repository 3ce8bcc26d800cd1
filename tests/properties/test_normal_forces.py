"""What holds for every normal law by itself, whatever its formula, under numbers that Hypothesis draws."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carom.contact import achieved_restitution, integrated_blow
from carom.hybrid.condition import condition_of

from .catalogued import both_ways, compiled, decades, every_normal, law_of, opened, says

# -- normal laws -------------------------------------------------------------------------------------------------------


@functools.cache
def stage(name: str) -> Any:
    """Force, phase and memory after one moment of a blow, at which exits whose guard is not negative have fired."""
    law = law_of(name)

    @compiled
    def at(phase: Any, memory: Any, d: Any, rate: Any) -> Any:
        fired = tuple(jnp.asarray(condition_of(g).value >= 0.0) for g in law.guard(phase, memory, d, rate))
        after = law.jump(fired, phase, memory, d)
        return law.force(*after, d, rate), *after

    return at


@functools.cache
def touched(name: str) -> Any:
    law = law_of(name)
    return compiled(lambda rate: (jnp.asarray(0), jax.tree.map(lambda x: jnp.asarray(x, float), law.touch(rate))))


moments = st.lists(st.tuples(st.one_of(st.just(0.0), decades(-10, -3)), st.floats(-1.5, 1.0)), min_size=2, max_size=6)


@every_normal
@given(speed=decades(-3, 1), course=moments)
def test_a_normal_force_never_pulls(name: str, speed: float, course: list[tuple[float, float]]) -> None:
    """At any depth and rate, in any phase and with any memory that a blow can lead to."""
    phase, memory = touched(name)(speed)
    for d, share in course:
        force, phase, memory = stage(name)(phase, memory, d, share * speed)
        assert np.isfinite(force)
        assert force >= 0.0 or says(name, "adhesive")


@every_normal
@settings(max_examples=4)  # of a quarter of a second
@given(speed=decades(-2, 1), mass=decades(-2, 2))
def test_compression_and_release_never_gain_energy(name: str, speed: float, mass: float) -> None:
    law = law_of(name)
    blow = integrated_blow(law, speed, mass)
    assert 0.0 <= blow.speed <= speed * (1.0 + 1e-10)
    assert achieved_restitution(law, speed, mass) == pytest.approx(blow.speed / speed, abs=1e-9)


# -- derivatives at touch-down -----------------------------------------------------------------------------------------


@pytest.mark.slow
@every_normal
def test_derivatives_of_a_normal_force_at_touch_down(name: str) -> None:
    numbers, law = opened(name)

    def forces(n: Any, phase: Any, memory: Any, d: Any, rate: Any) -> Any:
        """At once, and with a memory of earlier moments."""
        at = jnp.round(jax.lax.stop_gradient(phase)).astype(int)
        return law(n).force(0, law(n).touch(jnp.abs(rate)), d, rate), law(n).force(at, memory, d, rate)

    phases, seen = len(law_of(name).phases), []
    phase, memory = touched(name)(1.0)
    for d, rate in ((1e-4, 1.0), (2e-4, -0.1), (1e-4, -0.5)):  # into it, the deepest point, out
        seen.append(memory)
        _, phase, memory = stage(name)(phase, memory, d, rate)
    both_ways(forces, *((numbers, phase, memory, 0.0, -0.5) for phase in range(phases) for memory in seen))
