"""A rod that lands on one end: its first blow with friction, its mirror image, derivatives; and none falls through.

Expected numbers are computed here, in NumPy and SciPy: closed forms and own paths over the impulse.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

import carom
from carom.hybrid._run import compiler_options

from ..unit.followed_blow import followed
from .rod_on_floor import LENGTH, G, rod, weights

# -- a rod with friction at its end ------------------------------------------------------------------------------------

BLOW = carom.Settings(rtol=1e-10, atol=1e-12, max_events=1, ledger=False)
LANES = 24  # of every batch, so that they share what was compiled


def with_newton(p: Any) -> carom.World:
    return rod(carom.Newton(p[1]), p[0])


def with_poisson(p: Any) -> carom.World:
    return rod(carom.Poisson(p[1]), p[0])


def with_stronge(p: Any) -> carom.World:
    return rod(carom.Stronge(p[1]), p[0])


def landed(law: str, mu: float, e: float, angle: float, rate: float, height: float, v: Any) -> Any:
    """Velocity (x, y, angle) after the first blow of a falling rod: its flight and its blow in closed form."""
    arm = LENGTH / 2

    def gap(t: float) -> Any:
        return height + v[1] * t - G * t**2 / 2 + arm * np.sin(angle + rate * t)

    times = np.linspace(0.0, 2.0, 2001)
    first = np.flatnonzero(gap(times) < 0.0)[0]
    t = brentq(gap, times[first - 1], times[first], xtol=1e-15, rtol=1e-15)
    turned = angle + rate * t
    before = np.array([v[0], v[1] - G * t, rate])
    c, s = arm * np.cos(turned), arm * np.sin(turned)
    normal, rubbed, pieces = followed(weights(turned), before[1] + rate * c, before[0] - rate * s, mu, law, e)
    return before + np.array([rubbed, normal, 12 * (c * normal - s * rubbed)]), pieces


class Falls:
    """Twelve rods that fall on one end, and their mirror images."""

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        n = LANES // 2
        self.mu, self.e = rng.uniform(0.05, 1.5, n), rng.uniform(0.0, 1.0, n)
        self.angle, self.rate = rng.uniform(-2.4, -0.7, n), rng.uniform(-2.0, 2.0, n)
        self.height, self.v = np.full(n, 0.7), np.stack([rng.uniform(-2.0, 2.0, n), rng.uniform(-2.0, 0.0, n)], axis=1)

    def exact(self, law: str) -> Any:
        columns = (self.mu, self.e, self.angle, self.rate, self.height, self.v)
        return [landed(law, *lane) for lane in zip(*columns, strict=True)]

    def run(self, make: Any) -> np.ndarray:
        both = [np.concatenate([a, b]) for a, b in (
            (self.angle, np.pi - self.angle), (self.rate, -self.rate), (self.v, self.v * [-1.0, 1.0])
        )]  # fmt: skip
        parameters = jnp.asarray(np.tile(np.stack([self.mu, self.e], axis=1), (2, 1)))
        base = np.stack([np.zeros(LANES), np.tile(self.height, 2)], axis=1)
        start = make(parameters[0]).state(
            angles=both[0][:, None], rates=both[1][:, None], base=base, base_velocity=both[2]
        )
        out = carom.batch(make, parameters, start, until=2.0, settings=carom.Settings(max_events=1))
        return np.asarray(out.v)


@pytest.mark.parametrize("law", ("newton", "poisson", "stronge"))
def test_a_rod_lands_on_one_end_as_its_path_says_and_so_does_its_mirror_image(law):
    falls = Falls()
    got = falls.run({"newton": with_newton, "poisson": with_poisson, "stronge": with_stronge}[law])
    exact = falls.exact(law)
    went = {tuple(pieces) for _, pieces in exact}
    assert any("sticks" in w for w in went) and any({"left", "right"} <= set(w) for w in went) and len(went) >= 4
    np.testing.assert_allclose(got[: LANES // 2], np.stack([v for v, _ in exact]), rtol=0, atol=1e-10)
    np.testing.assert_allclose(got[LANES // 2 :], got[: LANES // 2] * [-1.0, 1.0, -1.0], rtol=0, atol=1e-10)


def test_nobody_falls_through_the_floor():
    """Rods that slide, stop, stick, slip and leave, at default tolerances: the end never comes below the floor.

    What integration leaves of the normal velocity (1e-8 m/s) must not count as leaving at the next stop or slip.
    """
    rng = np.random.default_rng(0)
    mu, angle = rng.uniform(0.1, 1.2, LANES), rng.uniform(-np.pi + 0.2, -0.2, LANES)
    rate, v = rng.uniform(-4.0, 4.0, LANES), rng.uniform(-3.0, 3.0, LANES)
    c, s = LENGTH / 2 * np.cos(angle), LENGTH / 2 * np.sin(angle)
    parameters = jnp.asarray(np.stack([mu, np.zeros(LANES)], axis=1))
    start = with_newton(parameters[0]).state(
        angles=angle[:, None],
        rates=rate[:, None],
        base=np.stack([-c, -s], axis=1),
        base_velocity=np.stack([v + rate * s, -rate * c], axis=1),
    )
    out = carom.batch(with_newton, parameters, start, until=1.0)
    gaps = np.asarray(out.q[:, 1]) + LENGTH / 2 * np.sin(np.asarray(out.q[:, 2]))
    assert np.min(gaps) > -1e-8, f"{np.sum(gaps < -1e-8)} of {LANES} fell through"
    assert np.sum(np.asarray(out.events)) > LANES


# -- derivatives of a blow with friction -------------------------------------------------------------------------------

FALL = {"rate": 0.5, "height": 0.7, "v": (-1.0, -1.5)}
X = np.array([0.3, 0.7, -1.1])  # mu, restitution, angle at the start: sliding turns round


def after_blow(x: Any, reverse_steps: int | None = None) -> Any:
    q = jnp.stack([0.0, FALL["height"], x[2]])
    v = jnp.array([*FALL["v"], FALL["rate"]])
    world = rod(carom.Stronge(x[1]), x[0])
    end = carom.final_state(world, carom.State(q, v), 2.0, settings=BLOW, reverse_steps=reverse_steps)
    return jnp.stack(end.y.v)


def differences() -> np.ndarray:
    """Central differences, of fourth order, of the closed form."""
    columns = []
    for d in np.eye(3):

        def at(h: float, d: Any = d) -> Any:
            mu, e, angle = X + h * d
            return landed("stronge", mu, e, angle, FALL["rate"], FALL["height"], FALL["v"])[0]

        coarse, fine = ((at(h) - at(-h)) / (2 * h) for h in (2e-3, 1e-3))
        columns.append((4 * fine - coarse) / 3)
    return np.stack(columns, axis=1)


def test_derivatives_of_a_blow_with_friction_in_forward_mode():
    velocity, pieces = landed("stronge", *X, FALL["rate"], FALL["height"], FALL["v"])
    assert {"left", "right"} <= set(pieces)
    push = carom.jit(lambda x, dx: jax.jvp(after_blow, (x,), (dx,)))
    found = [push(jnp.asarray(X), dx) for dx in jnp.eye(3)]
    np.testing.assert_allclose(found[0][0], velocity, atol=1e-10)
    np.testing.assert_allclose(np.stack([f[1] for f in found], axis=1), differences(), rtol=1e-7, atol=1e-7)


@pytest.mark.slow
def test_derivatives_of_a_blow_with_friction_in_reverse_mode():
    def along(x: Any, w: Any) -> Any:
        return w @ after_blow(x, reverse_steps=64)

    pull = jax.jit(jax.grad(along), compiler_options=compiler_options())
    got = np.stack([pull(jnp.asarray(X), w) for w in jnp.eye(3)])
    np.testing.assert_allclose(got, differences(), rtol=1e-7, atol=1e-7)
