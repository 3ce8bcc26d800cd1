"""Derivatives through the corners of forces: exact, because every corner is an event."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())

TIGHT = carom.Settings(rtol=1e-10, atol=1e-13, ledger=False)


def both_ways(end, at, h):
    """Forward and reverse mode against central differences; `end(p, reverse_steps)` gives a few numbers."""
    run = carom.jit(lambda p: end(p, None))
    ahead = np.asarray(carom.jit(jax.jacfwd(lambda p: end(p, None)))(at))
    behind = np.asarray(carom.jit(jax.jacrev(lambda p: end(p, 1024)))(at))
    # Two step widths, extrapolated: the error of differences is then of fourth order.
    wide, narrow = ((np.asarray(run(at + w)) - np.asarray(run(at - w))) / (2.0 * w) for w in (2.0 * h, h))
    expected = narrow + (narrow - wide) / 3.0
    scale = np.max(np.abs(expected))
    np.testing.assert_allclose(ahead, expected, rtol=0, atol=1e-6 * scale)
    np.testing.assert_allclose(behind, ahead, rtol=0, atol=1e-9 * scale)


@pytest.mark.slow
def test_through_a_spring_and_damper_that_goes_slack():
    def end(damping, reverse_steps):
        floor = carom.Contact(BALL.tip, carom.Plane(height=0.0), carom.Hooke(1e5, damping), radius=0.1, name="floor")
        world = carom.World(BALL, contacts=floor, gravity=9.81)
        y = carom.final_state(world, BALL.state(base=(0.0, 0.2)), 0.2, settings=TIGHT, reverse_steps=reverse_steps).y
        return jnp.stack([y.q[1], y.v[1]])

    both_ways(end, 200.0, 0.05)
