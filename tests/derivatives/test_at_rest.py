"""Derivatives of what rests: its own steps have no error, however long; its neighbours move all the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom

ARM = carom.Arm([carom.Rod(length=1.0, mass=1.0)])
SPRUNG = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
# Directions one by one are scalars, and compile in a tenth of the time of arrays of them.


def slope_of(function, at):
    return carom.jit(lambda x: jax.jvp(function, (x,), (jnp.ones_like(x),))[1])(jnp.asarray(at))


LONG, W = 10.0, np.sqrt(1.5 * 9.81)  # [s], [rad/s]


def settings(solver="tsit5", rtol=1e-8):
    return carom.Settings(solver=solver, rtol=rtol, atol=0.01 * rtol, ledger=False)


def hanging(angle, reverse_steps=None, **how):
    """Angle and rate of a pendulum that hangs, or nearly."""
    world = carom.World(ARM, gravity=9.81)
    start = carom.State(jnp.stack([angle - 0.5 * jnp.pi]), jnp.zeros(1))
    y = carom.final_state(world, start, LONG, settings=settings(**how), reverse_steps=reverse_steps).y
    return jnp.stack([y.q[0] + 0.5 * jnp.pi, y.v[0]])


NEIGHBOUR = np.array([np.cos(W * LONG), -W * np.sin(W * LONG)])  # where a small angle of 1 leads, per radian


@pytest.mark.parametrize("solver", ["tsit5", "dopri8", "rodas5p"])
def test_a_pendulum_that_hangs_still_has_the_derivative_of_small_swings(solver):
    """It was 4e6 at this tolerance: sixteen steps for ten seconds, as long as they liked."""
    for start in (0.0, 1e-9):
        slope = slope_of(lambda a: hanging(a, solver=solver), start)
        np.testing.assert_allclose(slope, NEIGHBOUR, atol=2e-6 * W)


@pytest.mark.slow
def test_a_pendulum_that_hangs_still_backwards():
    back = carom.jit(jax.grad(lambda a: hanging(a, reverse_steps=1024)[0]))(jnp.asarray(0.0))
    np.testing.assert_allclose(back, slope_of(hanging, 0.0)[0], rtol=1e-10)


def held(angle, gain, until):
    """Angle and rate of an arm on stiff, damped hold of its place: the rate dies within milliseconds."""
    hold = carom.PostureControl(ARM, [[0.0]], kp=[gain], kd=[0.1 * gain])
    world = carom.World(ARM, control=hold, gravity=0.0)
    y = carom.final_state(world, carom.State(jnp.stack([angle]), jnp.zeros(1)), until, settings=settings()).y
    return jnp.stack([y.q[0], y.v[0]])


def test_an_arm_that_is_held_stiffly():
    """The slow root is -10/s, the fast one -590/s: steps are as long as the fast one lets them be."""
    gain, inertia, until = 200.0, 1.0 / 3.0, 0.5
    fast, slow = np.roots([inertia, 0.1 * gain, gain])
    decay = np.exp(np.array([fast, slow]) * until)
    place = (slow * decay[0] - fast * decay[1]) / (slow - fast)
    slope = slope_of(lambda a: held(a, gain, until), 0.0)
    np.testing.assert_allclose(slope[0], place, rtol=1e-5)


def test_numbers_that_a_function_holds_have_their_derivative():
    """Of a floor's own function: what it holds reaches the run by no argument."""

    def end(size):
        floor = carom.Moving(carom.Plane(height=0.0), motion=lambda t: (0.0, size * t * t, 0.0), frequency=1.0)
        touch = carom.Contact(SPRUNG.tip, floor, 1.0, radius=0.1, name="floor")
        world = carom.World(SPRUNG, contacts=touch, gravity=0.0)
        y = carom.final_state(world, SPRUNG.state(base=(0.0, 0.2)), 1.0, settings=settings()).y
        return jnp.stack([y.q[1], y.v[1]])

    a = 0.2
    met = np.sqrt(0.1 / a)  # a t^2 = 0.1; then it leaves with twice the floor's speed
    slope = slope_of(end, a)
    # v = 4 a t, y = 0.2 + v (1 - t) with t = sqrt(0.1/a): dv/da = 2 t, dt/da = -t/(2 a)
    expected = [2.0 * met * (1.0 - met) + 4.0 * a * met * met / (2.0 * a), 2.0 * met]
    np.testing.assert_allclose(slope, expected, rtol=1e-7)


def test_what_hangs_still_anywhere_and_of_any_size_has_the_derivative_of_a_small_swing():
    """A rod of millimetres or metres, of grams or tonnes, up to a kilometre away: cos(sqrt(3 g / 2 l) t)."""

    def slope(length, mass, place, until):
        arm = carom.Mechanism([carom.Rod(length=length, mass=mass)], base=carom.Fixed(place, -place))
        world = carom.World(arm, gravity=9.81)

        def end(angle):
            return carom.final_state(world, carom.State(jnp.stack([angle]), jnp.zeros(1)), until).y.q[0]

        return jnp.ravel(jax.jacfwd(end)(jnp.asarray(-np.pi / 2)))[0]

    rng, of = np.random.default_rng(0), carom.jit(slope)
    for _ in range(20):
        length, mass, place = rng.uniform(0.01, 3.0), 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-1, 3)
        until = rng.uniform(1.0, 8.0)
        found = of(*map(np.asarray, (length, mass, place, until)))
        assert abs(found - np.cos(np.sqrt(1.5 * 9.81 / length) * until)) < 1e-6, (length, mass, place, until)
