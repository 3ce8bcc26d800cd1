"""A compliant contact made ever stiffer becomes an impulsive one, as fast as its blow becomes short.

A blow of Hertz's stiffness K lasts for a time proportional to K^(-2/5). Meanwhile the body turns by as much, and so the
velocity after the blow differs by O(K^(-2/5)) from that of the impulsive law. A free rod strikes a floor with its foot,
obliquely; nothing else acts on it, so that its velocity is constant before and after.

- Without friction, or sliding all through, a law of Hunt and Crossley's family stands for every law of restitution with
  the e that it achieves: the inertia that resists the blow does not change.
- When sliding stops within the blow it does change. What is lossless then is Stronge's law with e = 1, and Hertz's.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import carom

FLOOR = carom.Plane(height=0.0)
ROD = carom.Mechanism(
    [carom.Link(carom.Body(mass=1.0, inertia=0.02, com=(0.0, 0.0)), sites={"foot": (0.3, 0.0)})], base=carom.Free()
)
FOOT = ROD.site("foot")
START, UNTIL = {"angles": [-1.0], "base": (0.0, 0.255)}, 0.05
SLIDES, STOPS = (3.0, -1.0, -2.0), (0.3, -1.0, -2.0)  # velocity of the centre [m/s] and turning [rad/s]

TIGHT = carom.Settings(rtol=1e-11, atol=1e-13)
STIFFNESSES = 1e7 * 32.0 ** np.arange(5)  # blows of 5 ms to 20 us
ACHIEVED = carom.achieved_restitution(carom.HuntCrossley(1e7, 0.6))

CASES = {
    "hertz, no friction": (carom.Hertz, None, SLIDES, carom.Newton(1.0)),
    "hertz, slides": (carom.Hertz, carom.Coulomb(0.3), SLIDES, carom.Stronge(1.0)),
    "hertz, stops": (carom.Hertz, carom.Coulomb(0.3, 0.6), STOPS, carom.Stronge(1.0)),
    "gonthier, no friction": (lambda k: carom.Gonthier(k, 0.6), None, SLIDES, carom.Newton(0.6)),
    "gonthier, slides": (lambda k: carom.Gonthier(k, 0.6), carom.Coulomb(0.3), SLIDES, carom.Stronge(0.6)),
    "hunt-crossley, slides": (
        lambda k: carom.HuntCrossley(k, 0.6),
        carom.Coulomb(0.3),
        SLIDES,
        carom.Poisson(ACHIEVED),
    ),
}


def thrown(throw: tuple[float, float, float]) -> carom.State:
    return ROD.state(**START, rates=[throw[2]], base_velocity=throw[:2])


def compliant(law: Any, friction: Any, throw: tuple[float, float, float]) -> np.ndarray:
    """Velocities after the blow, a row for every stiffness."""

    def make(stiffness: Any) -> carom.World:
        return carom.World(ROD, contacts=carom.Contact(FOOT, FLOOR, law(stiffness), friction), gravity=0.0)

    ends = carom.batch(make, jnp.asarray(STIFFNESSES), thrown(throw), until=UNTIL, settings=TIGHT)
    assert np.all(np.asarray(ends.phases[0]) == 0)  # released
    return np.asarray(ends.v)


def impulsive(law: Any, friction: Any, throw: tuple[float, float, float]) -> np.ndarray:
    contacts = carom.Contact(FOOT, FLOOR, law, friction, name="floor")
    result = carom.simulate(
        carom.World(ROD, contacts=contacts, gravity=0.0), thrown(throw), until=UNTIL, settings=TIGHT
    )
    assert [e.exit for e in result.events] == ["strike floor"]
    (impact,) = result.impacts
    assert (abs(impact.tangential_velocity_after) < 1e-9) == (throw is STOPS)
    return np.asarray(result.v[-1])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_velocity_after_a_blow_approaches_the_impulsive_one(case: str) -> None:
    law, friction, throw, restitution = CASES[case]
    limit = impulsive(restitution, friction, throw)
    errors = np.max(np.abs(compliant(law, friction, throw) - limit), axis=1)
    slope = np.polyfit(np.log(STIFFNESSES), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.4, abs=0.02)
    assert errors[-1] < 4e-5
    assert np.max(np.abs(limit - throw)) > 0.5  # the blow changed something
