"""Batches: lanes equal single runs, and a lane that fails is named while the others finish."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.hybrid.settings import Integration
from carom.hybrid.solvers import solver_of
from carom.study._lanes import How, lockstep


def bouncing(p):
    """A ball on a Hertzian floor; p = (stiffness, gravity)."""
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), carom.Hertz(p[0]), radius=0.1, name="floor")
    return carom.World(ball, contacts=floor, gravity=p[1])


PARAMETERS = jnp.stack([jnp.geomspace(1e4, 1e6, 5), jnp.linspace(5.0, 15.0, 5)], axis=1)
BASE = (0.0, 0.6)
START = bouncing(PARAMETERS[0]).state(base=BASE)


@pytest.fixture(scope="module")
def ends():
    return carom.batch(bouncing, PARAMETERS, START, until=1.0, settings=carom.Settings(ledger=False))


def test_every_lane_equals_its_single_run(ends):
    assert len({int(n) for n in ends.events}) > 1, "the lanes should meet different numbers of events"
    for i, p in enumerate(PARAMETERS):
        world = bouncing(p)
        alone = carom.simulate(world, world.state(base=BASE), until=1.0, settings=carom.Settings(ledger=False))
        np.testing.assert_allclose(ends.q[i], alone.q[-1], rtol=1e-9, atol=1e-12)
        assert int(ends.events[i]) == len(alone.events)


def test_lockstep_equals_one_by_one(ends):
    integration = Integration(solver_of("tsit5"), 1e-8, 1e-10, 1.0, 1_000_000, 2**62)
    rows = jax.tree.map(lambda x: jnp.broadcast_to(x, (5, 3)), START)
    carry = lockstep(bouncing, How(None, False), PARAMETERS, rows, integration)
    np.testing.assert_allclose(jnp.stack(carry.y.q, axis=-1), ends.q, rtol=1e-9, atol=1e-12)


def test_a_failing_lane_is_named_and_the_others_finish():
    wrong = PARAMETERS.at[2, 1].set(jnp.nan)
    with pytest.raises(carom.CaromError, match=r"1 of 5 did not finish \(lane 2: gravity of world is nan"):
        carom.batch(bouncing, wrong, START, until=1.0)
    kept = carom.batch(bouncing, wrong, START, until=1.0, throw=False)
    assert kept.failed.tolist() == [2]
    assert np.all(np.isfinite(np.asarray(kept.q)[[0, 1, 3, 4]]))


def test_parameters_of_different_lengths_are_refused():
    with pytest.raises(carom.CaromError, match="one entry per lane"):
        carom.batch(bouncing, (jnp.ones(3), jnp.ones(4)), START, until=1.0)
