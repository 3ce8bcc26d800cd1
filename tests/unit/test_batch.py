"""Batches: lanes equal single runs, and a lane that fails is named while the others finish."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.hybrid._kernel import in_registers
from carom.hybrid._run import compiler_options, start, to_end
from carom.hybrid._scalar import scalar_program
from carom.hybrid.settings import Integration
from carom.hybrid.solvers import solver_of
from carom.study._lanes import lockstep


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
    carry = lockstep(bouncing, (None, False), PARAMETERS, rows, integration)
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


def soft(arm):
    return carom.Contact(arm.tip, carom.Plane(height=-0.8), carom.Hooke(1e4), name="floor")


def hard(arm):
    return carom.Contact(arm.tip, carom.Plane(height=-0.8), 0.5)


@pytest.mark.parametrize("contact", [soft, hard])
def test_the_gpu_kernel_computes_the_same(contact):
    """Interpreted here; a GPU compiles the same program. A pendulum that strikes keeps the program short."""

    def make(length):
        arm = carom.Arm([carom.Rod(length=length, mass=1.0)])
        return carom.World(arm, contacts=contact(arm))

    lengths = jnp.array([0.9, 1.0, 1.1])
    solver = dataclasses.replace(solver_of("tsit5"), unrolled=True)
    settings = Integration(solver, 1e-6, 1e-8, 0.6, 100_000, 2**62)

    def begin(length):
        return start(make(length), carom.State(jnp.zeros(1), jnp.zeros(1)), 1e-3, False)

    together = in_registers(make, lengths, settings, jax.vmap(begin)(lengths), interpret=True)
    run = jax.jit(lambda x: to_end(make(x), settings, begin(x)), compiler_options=compiler_options())
    for i, length in enumerate(lengths):
        alone = run(length)
        np.testing.assert_allclose(together.y.q[0][i], alone.y.q[0], rtol=1e-9)
        assert int(together.events[i]) == int(alone.events) > 0


def test_known_numbers_stand_beside_lanes_in_the_gpu_kernel():
    """The larger of two known numbers has no entry per lane: a choice between it and what has was refused."""
    limits = jnp.array([1.0, 2.0])
    program = scalar_program(lambda x: jnp.where(x > 0.0, jnp.max(limits), x), 1.0)
    (out,) = jax.jit(lambda x: program([x]))(jnp.array([-1.0, 0.0, 3.0]))
    np.testing.assert_array_equal(out, [-1.0, 0.0, 2.0])
