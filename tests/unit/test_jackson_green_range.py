"""Jackson and Green's law far outside the range of its fits: finite, monotone, and said so."""

import warnings
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact import integrated_blow
from carom.contact.normal.jackson_green import DEEPEST, RECOVERY

STEEL = carom.Material(210e9, 0.29)


def ball_on_aluminium(strength, radius):
    """Law and mass of a steel ball on a flat of aluminium that yields at this stress [Pa]."""
    law = carom.JacksonGreen(STEEL, carom.Material(70e9, 0.33, strength), radius)
    return law, 4.0 / 3.0 * np.pi * radius**3 * 7800.0


def quietly(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", carom.CaromWarning)
        return function(*args, **options)


@pytest.mark.parametrize("radius", [1e-3, 0.1])
@pytest.mark.parametrize("strength", [5e6, 20e6, 2e8, 2e9])
def test_restitution_falls_with_speed_at_any_speed(strength, radius):
    law, mass = ball_on_aluminium(strength, radius)
    found = [quietly(carom.achieved_restitution, law, v, mass) for v in np.geomspace(0.01, 100.0, 9)]
    assert np.all(np.isfinite(found)) and min(found) > 0.0 and max(found) <= 1.0
    assert all(b < a or a == b == 1.0 for a, b in pairwise(found))


@pytest.mark.parametrize(
    ("strength", "radius", "speed"),
    [(20e6, 0.01, 1.0), (20e6, 0.01, 30.0), (5e6, 0.1, 100.0), (2e9, 1e-3, 100.0), (2e8, 0.01, 5.0)],
)
def test_quadrature_integration_and_simulation_agree(strength, radius, speed):
    """Of these, the third and fourth press the ball in beyond its radius; the last stays within the fits."""
    law, mass = ball_on_aluminium(strength, radius)
    expected = quietly(carom.achieved_restitution, law, speed, mass)
    blow = integrated_blow(law, speed, mass)
    assert blow.speed / speed == pytest.approx(expected, rel=1e-6)
    simulated = quietly(carom.simulated_restitution, law, speed, mass, until=1.0)
    assert simulated == pytest.approx(expected, rel=1e-6)


def test_the_curves_go_on_with_their_slopes():
    law, _ = ball_on_aluminium(20e6, 0.01)
    critical = float(law._constants()[2])
    recovery = lambda d: d - law._dent(d)[0]  # noqa: E731
    for place, curve in ((DEEPEST * critical, recovery), (float(law._full()), law._plastic)):
        below, above = place * (1.0 - 1e-6), place * (1.0 + 1e-6)
        assert float(curve(above)) == pytest.approx(float(curve(below)), rel=3e-6)
        slopes = [float(jax.grad(curve)(jnp.asarray(d))) for d in (below, above)]
        assert slopes[1] == pytest.approx(slopes[0], abs=1e-4 * float(curve(place)) / place)
    assert float(recovery(DEEPEST * critical)) == pytest.approx(RECOVERY * critical, rel=1e-12)
    assert float(recovery(1e7 * critical)) == pytest.approx(RECOVERY * critical, rel=1e-9)
    assert float(law._contact_radius(jnp.asarray(1.0))) == 0.01  # never more than the ball's


def test_within_the_fits_the_formula_is_the_published_one():
    law, _ = ball_on_aluminium(2e8, 0.01)
    critical = float(law._constants()[2])
    for r in (1.9, 10.0, 300.0, 2386.0):
        d = r * critical
        assert float(law._dent(d)[0]) == pytest.approx(1.02 * d * (1.0 - ((r + 5.9) / 6.9) ** -0.54), rel=1e-15)


def test_a_run_and_a_restitution_beyond_the_fits_say_so():
    law, mass = ball_on_aluminium(20e6, 0.01)
    with pytest.warns(carom.CaromWarning, match=r"JacksonGreen was indented by .* extrapolated beyond .*2386 d_c"):
        carom.achieved_restitution(law, 1.0, mass)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        carom.achieved_restitution(law, 0.2, mass)  # 2204 d_c
    ball = carom.Mechanism([carom.Disk(radius=0.01, mass=mass)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), law, radius=0.01, name="floor")
    world = carom.World(ball, contacts=floor, gravity=0.0)
    fast, slow = (world.state(base=(0.0, 0.011), base_velocity=(0.0, -v)) for v in (1.0, 0.2))
    with pytest.warns(carom.CaromWarning, match=r"contact 'floor': JacksonGreen was indented"):
        result = carom.simulate(world, fast, until=0.02)
    assert result.v[-1][1] == pytest.approx(quietly(carom.achieved_restitution, law, 1.0, mass), rel=1e-6)
    assert carom.simulate(world, slow, until=0.02).warnings == []


def test_derivatives_beyond_the_fits_are_finite():
    def dent(strength, d):
        law = carom.JacksonGreen(STEEL, carom.Material(70e9, 0.33, strength), 0.01)
        return sum(law._dent(d)) + law._plastic(d)

    for d in (1e-5, 1e-3, 0.05):
        assert np.all(np.isfinite(jax.grad(dent, argnums=(0, 1))(20e6, d)))
