"""Derivatives through impacts: exact saltation, the classic traps, and finite differences through five strikes."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from examples.arm_repeated_impact import make_world

import carom

RADIUS = 0.1
PLAIN = carom.Settings(ledger=False)


def compiled(function):
    return carom.jit(function)


def forward(function, x):
    """Jacobian, one direction after the other: scalar code compiles far faster than code over directions."""
    push = compiled(lambda x, dx: jax.jvp(function, (x,), (dx,))[1])
    return np.stack([push(x, dx) for dx in jnp.eye(len(x))], axis=1)


def backward(function, x, outputs):
    """Jacobian in reverse mode, one output after the other."""
    pull = compiled(lambda x, w: jax.grad(lambda x: w @ function(x))(x))
    return np.stack([pull(x, w) for w in jnp.eye(outputs)])


def ball(plane_contacts):
    mechanism = carom.Mechanism([carom.Disk(radius=RADIUS, mass=1.0)], base=carom.Free())
    contacts = [
        carom.Contact(mechanism.tip, plane, normal=e, radius=RADIUS, name=name) for name, plane, e in plane_contacts
    ]
    return mechanism, [*contacts]


def bounced(x, reverse_steps=None):
    """Height and velocity at t = 1 s of a ball let go at height x[0] with velocity x[1]; restitution x[2], g x[3]."""
    mechanism, rigid = ball([("floor", carom.Plane(height=0.0), x[2])])
    world = carom.World(mechanism, contacts=rigid, gravity=x[3])
    q, v = jnp.stack([0.0, x[0] + RADIUS, 0.0]), jnp.stack([0.0, x[1], 0.0])
    end = carom.final_state(world, carom.State(q, v), 1.0, settings=PLAIN, reverse_steps=reverse_steps)
    return jnp.stack([end.y.q[1] - RADIUS, end.y.v[1]])


def bounced_exactly(x):
    y, v, e, g = x
    t = (v + jnp.sqrt(v * v + 2 * g * y)) / g
    up = -e * (v - g * t)
    rest = 1.0 - t
    return jnp.stack([up * rest - g * rest**2 / 2, up - g * rest])


X = jnp.array([1.0, -0.3, 0.8, 9.81])


def test_one_bounce_equals_the_saltation_matrix_in_forward_mode():
    np.testing.assert_allclose(compiled(bounced)(X), bounced_exactly(X), atol=1e-10)
    got, exact = forward(bounced, X), jax.jacfwd(bounced_exactly)(X)
    np.testing.assert_allclose(got, exact, rtol=1e-8, atol=1e-8)


def test_one_bounce_equals_the_saltation_matrix_in_reverse_mode():
    got, exact = backward(partial(bounced, reverse_steps=256), X, 2), jax.jacfwd(bounced_exactly)(X)
    np.testing.assert_allclose(got, exact, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
def test_elastic_ball_between_ground_and_wall():
    between_ground_and_wall()


def between_ground_and_wall():
    """Reflections only: the end is that of the straight flight, mirrored twice; derivatives are +-1 and +-T."""
    mechanism, rigid = ball([
        ("floor", carom.Plane(height=0.0), 1.0),
        ("wall", carom.Plane(point=(2.0, 0.0), slope=np.pi / 2), 1.0),
    ])  # fmt: skip
    world = carom.World(mechanism, contacts=rigid, gravity=0.0)

    def end(x, reverse_steps=None):
        q, v = jnp.stack([x[0], x[1], 0.0]), jnp.stack([x[2], x[3], 0.0])
        c = carom.final_state(world, carom.State(q, v), 2.0, settings=PLAIN, reverse_steps=reverse_steps)
        return jnp.stack([c.y.q[0], c.y.q[1], c.y.v[0], c.y.v[1]])

    def mirrored(x):
        far, high = 2.0 - RADIUS, RADIUS
        return jnp.stack([2 * far - (x[0] + 2 * x[2]), 2 * high - (x[1] + 2 * x[3]), -x[2], -x[3]])

    x = jnp.array([0.5, 1.0, 1.1, -0.8])
    np.testing.assert_allclose(compiled(end)(x), mirrored(x), atol=1e-10)
    np.testing.assert_allclose(forward(end, x), jax.jacfwd(mirrored)(x), atol=1e-8)
    return partial(end, reverse_steps=256), x, jax.jacfwd(mirrored)(x)


@pytest.mark.slow
def test_elastic_ball_between_ground_and_wall_in_reverse_mode():
    end, x, exact = between_ground_and_wall()
    np.testing.assert_allclose(backward(end, x, 4), exact, atol=1e-8)


@pytest.mark.slow
def test_one_ball_striking_another_hands_on_its_velocity():
    one_ball_striking_another()


@pytest.mark.slow
def test_one_ball_striking_another_in_reverse_mode():
    end, x, exact = one_ball_striking_another()
    np.testing.assert_allclose(backward(end, x, 3), exact, atol=1e-8)


def one_ball_striking_another():
    """Equal masses, elastic: d v_2/d v_1 is exactly 1 (simulators that differentiate penalty steps find 0.75)."""
    make = carom.Mechanism([carom.Disk(radius=RADIUS, mass=1.0)], base=carom.Free())
    pair = carom.side_by_side(first=make, second=make)
    touch = carom.Contact(
        pair.site("second.link1.tip"), pair.site("first.link1.tip"), 1.0, radius=RADIUS, other_radius=RADIUS
    )
    world = carom.World(pair, contacts=touch, gravity=0.0)

    def end(x, reverse_steps=None):
        q = jnp.stack([x[0], 0.0, 1.0, 0.0, 0.0, 0.0])
        v = jnp.stack([x[1], 0.0, 0.0, 0.0, 0.0, 0.0])
        c = carom.final_state(world, carom.State(q, v), 2.0, settings=PLAIN, reverse_steps=reverse_steps)
        return jnp.stack([c.y.q[2], c.y.v[2], c.y.v[0]])

    x = jnp.array([0.0, 1.0])
    np.testing.assert_allclose(compiled(end)(x), [2.0 + 2 * RADIUS, 1.0, 0.0], atol=1e-10)
    exact = [[1.0, 2.0], [0.0, 1.0], [0.0, 0.0]]
    np.testing.assert_allclose(forward(end, x), exact, atol=1e-8)
    return partial(end, reverse_steps=256), x, exact


def struck(x, strikes=5, reverse_steps=None, rtol=1e-10):
    """Time and state of the arm paper's experiment after so many strikes, from friction and first angle."""
    world, start = make_world(x[0]), carom.State(jnp.stack([x[1], jnp.deg2rad(45.0)]), jnp.zeros(2))
    events = 6 * strikes - 1  # touch, switch, yield, peak, release, switch; up to the last release
    settings = carom.Settings(rtol=rtol, atol=0.01 * rtol, max_events=events, ledger=False)
    end = carom.final_state(world, start, 10.0, settings=settings, reverse_steps=reverse_steps)
    return jnp.stack([end.t, *end.y.q, *end.y.v])


@pytest.fixture(scope="module")
def five_strikes():
    """Central differences of fourth order."""
    run = compiled(partial(struck, rtol=1e-13))  # differences of values need more digits than derivatives
    x = jnp.array([0.2, np.pi / 3])
    columns = []
    for i in range(2):
        coarse, fine = ((run(x.at[i].add(h)) - run(x.at[i].add(-h))) / (2 * h) for h in (2e-4, 1e-4))
        columns.append((4 * fine - coarse) / 3)
    return x, np.stack(columns, axis=1)


def test_five_strikes_of_the_arm_in_forward_mode(five_strikes):
    x, expected = five_strikes
    got = forward(struck, x)
    assert np.all(np.isfinite(got)), "touch-down must not make derivatives infinite"
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.max(np.abs(expected)))


@pytest.mark.slow
def test_five_strikes_of_the_arm_in_reverse_mode(five_strikes):
    x, expected = five_strikes
    got = compiled(jax.grad(lambda x: struck(x, reverse_steps=8192)[0]))(x)
    np.testing.assert_allclose(got, expected[0], rtol=1e-5, atol=1e-5 * np.max(np.abs(expected[0])))
