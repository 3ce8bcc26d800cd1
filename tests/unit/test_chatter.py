"""Many events: those that lead nowhere end by name, those that go on for ever go on."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.hybrid import AbstractAutomaton, Anatomy, Channel, Flow, Landing, outcome
from carom.hybrid.condition import rising, unless

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())


class Relay(AbstractAutomaton):
    """Pushes a ball to the right or left, with 1 N, and turns when its velocity is on the other side of a band."""

    name: str = eqx.field(static=True)
    band: Any

    anatomy = Anatomy(("right", "left"), ("turn left", "turn right"), channels=(Channel("relay", "driven"),))

    def force(self, scene, own, load):
        push = jnp.where(own.phase == 0, 1.0, -1.0)
        load.add(0, push)
        return Flow(powers=(push * scene.v[0],))

    def guard(self, scene, own):
        v = scene.v[0]
        return unless(own.phase != 0, rising(v - self.band)), unless(own.phase == 0, rising(-v - self.band))

    def jump(self, scene, own, fired):
        return Landing(jnp.where(fired[0], 1, 0), (), ())


def test_a_relay_that_keeps_switching_is_named():
    world = carom.World(BALL, control=Relay("relay", jnp.asarray(1e-9)), gravity=0.0)
    with pytest.raises(carom.SimulationError, match="10,000 events, each within a thousandth of a step") as info:
        carom.simulate(world, world.state(base=(0.0, 0.0)), until=1.0)
    assert int(info.value.result.final.outcome) == outcome.CHATTER
    assert float(info.value.result.final.t) < 1e-3


def test_a_ball_between_two_walls_may_bounce_for_ever():
    """Nothing bends its way, so that the solver proposes endless steps; it was called chatter after 14,999 blows."""
    walls = [
        carom.Contact(BALL.tip, wall, carom.Newton(1.0), radius=0.1, name=name)
        for name, wall in (("left", carom.Wall(0.0, facing="right")), ("right", carom.Wall(1.0, facing="left")))
    ]
    world = carom.World(BALL, contacts=[*walls], gravity=0.0)
    result = carom.simulate(
        world,
        world.state(base=(0.1, 0.0), base_velocity=(0.8, 0.0)),
        until=20_000.5,
        settings=carom.Settings(ledger=False),
    )
    assert result.statistics.events == 20_000
    np.testing.assert_allclose(result.q[-1][0], 0.5, atol=20_000 * 2.0 * 0.8 * 2.0 * 2.2e-16 * 20_000)
