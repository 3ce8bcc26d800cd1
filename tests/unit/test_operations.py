"""What one attempt costs, in operations of its program: what everybody waits for, in tracing, compiling and running."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
from examples.arm_repeated_impact import make_world

import carom
from carom import native
from carom._simulation import _opened
from carom.hybrid._noughts import noughts
from carom.hybrid._run import chunk, executable


def ball():
    b = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(b.tip, carom.Plane(height=0.0), carom.Newton(0.5), radius=0.1, name="floor")
    world = carom.World(b, contacts=floor, gravity=9.81)
    return world, world.state(base=(0.0, 1.1))


def arm():
    world = make_world()
    return world, world.state([60.0, 45.0], degrees=True)


# As counted in November 2026; lower them with every gain.
COUNTED = {ball: 4_199, arm: 5_486}


@pytest.mark.parametrize("make", list(COUNTED))
def test_an_attempt_does_not_grow(make):
    world, start = make()
    args = (world, carom.Settings().integration(1.0), _opened(world, start, 1.0, True))
    program = native.program(partial(chunk, 1024), args, noughts=noughts(args))
    assert program.layout.operations <= 1.1 * COUNTED[make]


def test_what_is_zero_in_a_world_costs_nothing_and_another_number_is_another_program(traced):
    def reach(world):
        return jnp.sin(world.gravity[0] * world.mass) + world.gravity[1]

    down, aside = (carom.World(ball()[0].mechanism, gravity=g) for g in ((0.0, -9.81), (2.0, -9.81)))
    first, second = executable(reach, (), down), executable(reach, (), aside)
    assert first is not second and first.layout.operations < second.layout.operations
    for program, world in ((first, down), (second, aside)):
        np.testing.assert_allclose(program(world), reach(world))
    with pytest.raises(ValueError, match="some numbers were zero"):
        first(aside)
    assert executable(reach, (), carom.World(ball()[0].mechanism, gravity=(0.0, -1.6))) is first
