"""Derivatives where a joint has dry friction: its rows are measured by the world's length, which is a unit."""

import jax
import jax.numpy as jnp
import numpy as np

import carom
from carom.hybrid import outcome

TIGHT = carom.Settings(rtol=1e-11, atol=1e-13, ledger=False)


def swung(length):
    """First angle and rate of two rods that swing up and stick: nearly all of it is friction of the joints."""
    rod = carom.Rod(length=length, mass=1.0)
    arm = carom.Mechanism([
        carom.Link(rod, name="upper", joint=carom.Joint(friction=6.0)),
        carom.Link(rod, name="fore", parent="upper", joint=carom.Joint(friction=50.0)),
    ])  # fmt: skip
    world = carom.World(arm, gravity=1.0)
    start = carom.State(jnp.full(2, -0.5 * jnp.pi), jnp.full(2, 4.0))
    end = carom.final_state(world, start, 2.0, settings=TIGHT)
    return jnp.stack([end.y.q[0], end.y.v[0]]), (end.outcome, end.events)


def test_rods_stick_where_their_length_lets_them():
    """The derivative by any length was not a number: some site is at a distance of zero from its joint."""
    at, h = jnp.asarray(1.0), 1e-5
    run = carom.jit(swung)
    _, slope, (code, events) = carom.jit(lambda x: jax.jvp(swung, (x,), (jnp.ones_like(x),), has_aux=True))(at)
    assert int(code) == outcome.FINISHED and int(events) == 1
    expected = (np.asarray(run(at + h)[0]) - np.asarray(run(at - h)[0])) / (2.0 * h)
    assert abs(expected[0]) > 0.1
    np.testing.assert_allclose(slope, expected, atol=1e-8)
