"""What holds for every impulsive law by itself, whatever its formula, under numbers that Hypothesis draws."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from carom.contact import catalogue
from carom.contact.impact._path import Weights, path

from .catalogued import both_ways, compiled, decades, every_impact, law_of, opened, says

# -- impulsive laws ----------------------------------------------------------------------------------------------------


@functools.cache
def blow(name: str) -> Any:
    """Impulses P_n and P_t, velocities u_n and u_t after the blow, and the change of energy."""
    law = law_of(name)

    @compiled
    def strike(w: Weights, approach: Any, sliding: Any, mu: Any, limit: Any, e: Any) -> Any:
        way = path(w, approach, sliding, mu, limit)
        p = law.end(way, e)
        q = way.friction(p)
        change = w.nn * p + w.nt * q, w.nt * p + w.tt * q
        energy = p * (approach + 0.5 * change[0]) + q * (sliding + 0.5 * change[1])
        return p, q, approach + change[0], sliding + change[1], energy

    return strike


@st.composite
def strikes(draw: st.DrawFn) -> tuple[Weights, float, float, float, float]:
    """Any inertia seen from the contact point, any approach, sliding, friction and stiction."""
    nn, tt = draw(decades(-1, 2)), draw(decades(-1, 2))
    nt = draw(st.floats(-0.99, 0.99)) * (nn * tt) ** 0.5
    mu = draw(st.floats(0.0, 2.0))
    sliding = draw(st.one_of(st.just(0.0), st.floats(-10.0, 10.0).map(lambda x: round(x, 6))))
    return Weights(nn, nt, tt), -draw(decades(-2, 1)), sliding, mu, mu * draw(st.floats(1.0, 2.0))


restitutions = st.one_of(st.just(0.0), st.just(1.0), st.floats(0.0, 1.0))


@every_impact
@settings(max_examples=100)
@given(strike=strikes(), e=restitutions)
def test_impulses_push_within_the_friction_cone(name: str, strike: Any, e: float) -> None:
    """And what strikes does not go on into the surface, nor leave it with more energy than it had."""
    w, approach, sliding, _, limit = strike
    p, q, rise, slide, energy = (float(x) for x in blow(name)(*strike, e))
    assert np.all(np.isfinite([p, q, rise, slide, energy]))
    assert p > 0.0
    assert abs(q) <= limit * p * (1.0 + 1e-12)
    assert rise >= -1e-9 * (abs(approach) + abs(sliding))
    there = w.tt * approach**2 - 2.0 * w.nt * approach * sliding + w.nn * sliding**2
    there /= 2.0 * (w.nn * w.tt - w.nt**2)  # all the energy that impulses at this point can take
    assert energy >= -there * (1.0 + 1e-9)
    assert energy <= 1e-9 * there or says(name, "can create energy")


@every_impact
@example(strike=(Weights(1.0, -5e-324, 1.0), -1.0, 1.0, 0.0, 0.0), e=1.0)  # the least coupling there is
@given(strike=strikes(), e=restitutions)
def test_a_frictionless_blow_gives_back_the_speed_that_is_asked_for(name: str, strike: Any, e: float) -> None:
    w, approach, sliding, _, _ = strike
    _, q, rise, _, energy = (float(x) for x in blow(name)(w, approach, sliding, 0.0, 0.0, e))
    asked = e if "restitution" in {n for n, _ in catalogue.find(name).card.parameters} else float(law_of(name).asked)
    assert q == 0.0
    assert rise == pytest.approx(-asked * approach, abs=1e-9 * abs(approach))
    assert energy == pytest.approx(-(1.0 - asked**2) * approach**2 / (2.0 * w.nn), abs=1e-9 * approach**2 / w.nn)


# -- derivatives -------------------------------------------------------------------------------------------------------


@every_impact
def test_derivatives_of_a_blow(name: str) -> None:
    """With and without sliding, friction and restitution: where its pieces meet."""
    numbers, law = opened(name)

    def after(n: Any, w: Any, approach: Any, sliding: Any, mu: Any, e: Any) -> Any:
        way = path(w, approach, sliding, mu, mu)
        p = law(n).end(way, e)
        return p, way.friction(p)

    w = Weights(1.0, 0.4, 2.0)
    both_ways(
        after,
        *((numbers, w, -1.0, slide, mu, e) for slide in (0.0, 0.3, -5.0) for mu in (0.0, 0.5) for e in (0.0, 0.7)),
    )
