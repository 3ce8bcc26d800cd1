"""Derivatives through the instant at which a block on a belt lets go: forces decide it, and the state follows."""

import jax
import jax.numpy as jnp
import numpy as np

import carom
from carom.hybrid import outcome

G = 9.81
BLOCK = carom.Mechanism([carom.Body(mass=1.0, inertia=0.1)], base=carom.Free())
X = jnp.array([0.2, 0.3, 100.0, 0.075])  # mu, static, stiffness [N/m], speed of the belt [m/s]
# It lets go when the force has grown by the last thousandth, which takes 0.4 ms: the force's own rounding is then far
# larger than what it grows by in the last bit of time.
PLACE, UNTIL = 0.999 * 0.3 * G / 100.0, 0.1  # [m], [s]


def pulled(far, x):
    """Place and speed of a block that a spring holds back: the belt takes it along until friction is used up."""
    mu, static, stiffness, speed = x
    belt = carom.Moving(carom.Plane(height=0.0), velocity=(speed, 0.0))
    spring = carom.Spring(BLOCK.tip, to=(far - 1.0, 0.0), stiffness=stiffness, length=1.0)
    touch = carom.Contact(BLOCK.tip, belt, 0.0, carom.Coulomb(mu, static), name="belt")
    world = carom.World(BLOCK, contacts=touch, elements=spring, gravity=G)
    still = jnp.zeros(())
    start = carom.State(jnp.stack([far + PLACE, still, still]), jnp.stack([speed, still, still]))
    end = carom.final_state(world, start, UNTIL, settings=carom.Settings(rtol=1e-11, atol=1e-13, ledger=False))
    return jnp.stack([end.y.q[0] - far, end.y.v[0]]), (end.outcome, end.events)


def pulled_exactly(x):
    mu, static, stiffness, speed = x
    w = jnp.sqrt(stiffness)
    since = UNTIL - (static * G / stiffness - PLACE) / speed
    beyond = (static - mu) * G / stiffness
    place = mu * G / stiffness + beyond * jnp.cos(w * since) + speed / w * jnp.sin(w * since)
    return jnp.stack([place, -beyond * w * jnp.sin(w * since) + speed * jnp.cos(w * since)])


def test_a_block_lets_go_as_its_closed_form_says():
    """Far away the spring's force is rounded by its places: the instant lost its derivative there, in silence."""
    push = carom.jit(lambda far, x, dx: jax.jvp(lambda x: pulled(far, x), (x,), (dx,), has_aux=True))
    exact, slope = pulled_exactly(X), jax.jacfwd(pulled_exactly)(X)
    for far, accuracy in ((0.0, 1e-10), (1e4, 1e-8)):
        for i, dx in enumerate(jnp.eye(len(X))):
            value, pushed, (code, events) = push(jnp.asarray(far), X, dx)
            assert int(code) == outcome.FINISHED and int(events) == 1
            np.testing.assert_allclose(value, exact, atol=accuracy)
            np.testing.assert_allclose(pushed, slope[:, i], rtol=accuracy)
