"""Elastic links, slow proofs: derivatives through a strike, and a stiff chain that behaves as a rigid one."""

import functools
import runpy
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom

EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "elastic_chain.py"))
make_world, run = EXAMPLE["make_world"], EXAMPLE["run"]

STEEL = carom.beam.Section(area=1e-4, second_moment=3e-9, mass_per_length=2.0, youngs_modulus=4e11)
ARM = carom.Arm([carom.Beam(1.2, STEEL, ("clamped", "free"), 2, theory="euler-bernoulli")])

# -- derivatives ------------------------------------------------------------------------------------------------------


def ended(x, reverse_steps=None, rtol=1e-10):
    """State after one strike, and how many there were, from restitution, first angle and first deflection."""
    floor = carom.Contact(ARM.tip, carom.Plane(height=-0.5), x[0], name="floor")
    world = carom.World(ARM, contacts=floor, gravity=9.81)
    q, v = jnp.stack([x[1], x[2], jnp.asarray(0.002)]), jnp.array([-2.0, 0.0, 0.0])
    settings = carom.Settings(rtol=rtol, atol=0.01 * rtol, ledger=False)
    end = carom.final_state(world, carom.State(q, v), 0.02, settings=settings, reverse_steps=reverse_steps)
    return jnp.stack([*end.y.q, *end.y.v, end.events * 1.0])


@functools.cache
def differences():
    run = carom.jit(functools.partial(ended, rtol=1e-13))
    x = jnp.array([0.6, -0.4, 0.01])
    assert float(run(x)[-1]) == 1.0
    columns = []
    for i in range(3):
        coarse, fine = ((run(x.at[i].add(h)) - run(x.at[i].add(-h))) / (2 * h) for h in (2e-4, 1e-4))
        columns.append((4 * fine - coarse) / 3)
    return x, np.stack(columns, axis=1)[:-1]


def test_forward_derivatives_through_a_strike():
    x, expected = differences()
    push = carom.jit(lambda x, dx: jax.jvp(ended, (x,), (dx,))[1])
    got = np.stack([push(x, dx) for dx in jnp.eye(3)], axis=1)[:-1]
    assert np.all(np.isfinite(got))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.max(np.abs(expected)))


def test_reverse_derivatives_through_a_strike():
    x, expected = differences()
    weights = jnp.array([1.0, -2.0, 0.5, 0.3, 0.1, -0.2, 0.0])
    pull = carom.jit(jax.grad(lambda x: weights @ ended(x, reverse_steps=2048)))
    got = np.asarray(pull(x))
    assert np.all(np.isfinite(got))
    wanted = weights[:-1] @ expected
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5 * np.max(np.abs(wanted)))


# -- a stiff chain ----------------------------------------------------------------------------------------------------

STIFFER = (1.0, 1e2, 1e4)


@functools.cache
def fallen(stiffer):
    """Up to just before the middle joints of the rigid chain come down."""
    world = make_world(sets=()) if stiffer is None else make_world(stiffer=stiffer)
    return run(world, rtol=1e-10, until=0.52)


def touches(stiffer):
    return [e.t for e in fallen(stiffer).events if e.exit == "touch" and e.automaton == "O1"]


def test_a_stiff_chain_falls_and_strikes_as_the_rigid_one():
    """E times 1e4: one blow instead of three, and nearly the rigid velocities after it; at 50 times the steps."""
    rigid = fallen(None).at([0.5])
    gaps = {s: np.max(np.abs(fallen(s).at([0.5]).v[0, :5] - rigid.v[0])) for s in STIFFER}
    assert [len(touches(s)) for s in (None, *STIFFER)] == [1, 3, 1, 1]
    for s in STIFFER:
        assert touches(s)[0] == pytest.approx(touches(None)[0], abs=1e-12)
    assert gaps[1e4] < 0.02  # of 10 rad/s
    assert gaps[1.0] > 1.0
    np.testing.assert_allclose(fallen(1e4).at([0.5]).q[0, :5], rigid.q[0], atol=2e-3)
    assert np.max(np.abs(fallen(1e4).q[:, 5:])) < 2e-5 < 5e-3 < np.max(np.abs(fallen(1.0).q[:, 5:]))
    steps = [fallen(s).statistics.steps for s in STIFFER]
    assert 20 < steps[2] / steps[0] < 100  # frequencies are 100 times higher
