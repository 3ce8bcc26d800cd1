"""A planar hopper that puts its foot too near falls over; with feedback about its hop in place it does not.

And how far from its orbit a juggler may start: numbers of docs/estimation.md.
"""

import math

import numpy as np
import pytest
from examples.steady_juggler import flights, juggled, juggler

import carom

EXACT = carom.Settings(rtol=1e-10)
STRIKE = ("rigid contacts", "strike foot")


def hopper(ahead, more):
    """The hopper of the tutorial: its foot is put `ahead` vx + `more` (vx - 1 m/s) before the hip [m]."""
    body = carom.Link(carom.Body(mass=10.0, inertia=2.5), name="body")
    half = {"mass": 0.5, "com": (0.2, 0.0), "tip": (0.35, 0.0)}
    thigh = carom.Link(carom.Body(inertia=0.02, **half), name="thigh", parent="body", at=(0.0, 0.0))
    spring = carom.Slider(stiffness=3000.0)
    shin = carom.Link(carom.Body(inertia=0.005, **half), name="shin", parent="thigh", joint=spring)
    robot = carom.Mechanism([body, thigh, shin], base=carom.Free())
    foot = carom.Contact("shin.tip", carom.Plane(height=0.0), carom.Newton(0.0), carom.Coulomb(0.9), name="foot")
    upright = "(150*body.angle + 30*body.rate) * clip(-20*shin.slide, 0, 1)"
    forward = f"asin(clip(({ahead}*com.vx + {more}*(com.vx - 1))/0.7, -0.4, 0.4)) - pi/2 - body.angle"
    states = {
        "flight": carom.Mode(
            targets={"thigh": forward},
            kp={"thigh": 120.0},
            kd={"thigh": 8.0},
            torques={"shin": "-100 - 40*shin.slide_rate"},
            to={"compression": "strike foot"},
        ),
        "compression": carom.Mode(torques={"thigh": upright}, to={"thrust": "shin.slide_rate > 0"}),
        "thrust": carom.Mode(
            torques={"thigh": upright, "shin": "clip(12*(115 - energy.total), 0, 400)"}, to={"flight": "release foot"}
        ),
    }
    control = carom.StateMachine(robot, states, name="hopper")
    return carom.World(robot, contacts=foot, control=control, gravity=9.81)


def test_a_planar_hopper_is_held_and_comes_back_from_a_push():
    world = hopper(0.1, 0.05)
    start = world.state(angles=[0.0, -math.pi / 2], base=(0.0, 0.95))
    map = carom.ReturnMap(carom.simulate(world, start, until=40.0, settings=EXACT), *STRIKE, drifts=["base.x"])
    orbit = map.orbit()
    for ahead, more in ((0.1, 0.03), (0.1, 0.0), (0.04, 0.0)):  # the gait is followed to where it is unstable
        map = map.of(hopper(ahead, more))
        orbit = map.orbit(orbit.state)
    assert np.abs(orbit.multipliers[0]) > 1.8
    held = carom.stabilise(map, orbit, ["thigh", "shin"], state_cost=1.0, input_cost=1e-3, steps=16)
    print(held)
    np.testing.assert_allclose(np.abs(held.after[:3]), np.abs(held.model[:3]), rtol=1e-3)
    assert np.abs(held.after[0]) < 0.15
    # The machine begins in flight, so that runs begin at the top of a hop; one of them leans.
    for lean in (0.0, 0.02):
        start = world.state(angles=[lean, -math.pi / 2], base=(0.0, 0.87))
        run = carom.simulate(held.world, start, until=15.0, settings=EXACT)
        strikes = np.array([event.t for event in run.events if event.exit == STRIKE[1]])
        off = np.abs(np.diff(strikes) - held.period)
        print(off)
        assert len(strikes) > 12 and off[1] > 1e-3 and np.all(off[8:] < 1e-6)
        assert abs(run.signal("body.angle", 15.0)) < 0.02
    alone = carom.simulate(map.world, start, until=15.0, settings=EXACT, throw=False)
    print(alone.outcome, alone.t[-1])
    assert alone.t[-1] < 15.0 or alone.signal("body.y", 15.0) < 0.4


@pytest.mark.parametrize(("cost", "slow", "fast"), [(1e-2, -3.0, 2.5), (1e-4, -0.75, 1.25)])
def test_the_juggler_comes_back_from_throws_within_the_basin_that_is_stated(cost, slow, fast):
    world = juggler()
    held = carom.stabilise(world, juggled(world), "paddle", input_cost=cost, steps=10)
    for kick in np.arange(slow, fast + 0.1, 0.25):
        found = flights(held.world, held.start, kick, 16.0 * held.period)
        assert len(found) > 8 and abs(found[-1] - held.period) < 1e-4, kick
    beyond = flights(held.world, held.start, fast + 0.25, 16.0 * held.period)
    assert len(beyond) < 9 or abs(beyond[-1] - held.period) > 1e-4
