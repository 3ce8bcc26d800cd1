"""State machines of every kind of actuator, at every size and place, by every kind of transition: closed forms."""

import math

import numpy as np
import pytest

import carom

TIGHT = 1e-10


def block_of(base=(0.0, 0.0), **joint):
    slider = carom.Slider(axis=(1.0, 0.0), **joint)
    return carom.Mechanism([carom.Link(carom.PointMass(1.0), name="block", joint=slider)], base=carom.Fixed(*base))


def run(block, states, until=1.0, atol=1e-12, **more):
    control = carom.StateMachine(block, {k: carom.Mode(**v) for k, v in states.items()}, name="m", **more)
    world = carom.World(block, control=control, gravity=0.0)
    settings = carom.Settings(rtol=TIGHT, atol=atol)
    return carom.simulate(world, world.state(slides=[0.0]), until=until, settings=settings)


@pytest.mark.parametrize(("size", "x0"), [(1e-9, 0.0), (1.0, 0.0), (1e6, 0.0), (1.0, 1e3), (1.0, -1e6)])
def test_size_and_place_change_nothing(size, x0):
    """Pushed over a distance, coasting, braked: 1 s, 1.5 s, 3.5 s."""
    states = {
        "push": {"torques": {"block": 2.0 * size}, "to": {"coast": f"block.x > {x0 + size!r} m"}},
        "coast": {"to": {"brake": "after 0.5 s"}},
        "brake": {"torques": {"block": -size}, "to": {"hold": "block.slide_rate < 0"}},
        "hold": {},
    }
    result = run(block_of((x0, 0.0)), states, 6.0, 1e-12 * size)
    assert [e.t for e in result.events] == pytest.approx([1.0, 1.5, 3.5], abs=2e-9)
    assert result.q[-1][0] == pytest.approx(4.0 * size, rel=1e-8)


PULLED = {
    "a": {"torques": {"block": "4*sin(1*t)"}, "to": {"b": "after 0.35 s"}},
    "b": {"torques": {"block": -4.0}},
}


def test_a_digital_machine_holds_its_torques_also_over_a_transition():
    result = run(block_of(), PULLED, rate=10.0, limit={"block": 1.0})
    held = result.signal("control.m.block", [0.05, 0.15, 0.29, 0.345, 0.36, 0.41, 0.9])
    assert held == pytest.approx([0.0, 4.0 * math.sin(0.1), 4.0 * math.sin(0.2), 1.0, 1.0, -1.0, -1.0], abs=1e-12)
    assert [e.t for e in result.events if "->" in e.exit] == pytest.approx([0.35], abs=1e-12)
    assert result.signal("clock.m", [0.3, 0.5]) == pytest.approx([0.3, 0.15], abs=1e-9)
    scenario = carom.Scenario.of(result.world, result.start, until=1.0, settings=carom.Settings(rtol=TIGHT))
    again = carom.Scenario.read(scenario.toml()).simulate()
    assert again.q[-1] == pytest.approx(result.q[-1], abs=1e-10)
    swept = carom.sweep(scenario, {"control.m.limit.block": [1.0, 0.5]}, ["final(block.slide)"])
    assert swept["final(block.slide)"].values[0] == pytest.approx(float(result.q[-1][0]), abs=1e-9)


def test_behind_a_lag_its_steps_are_exponentials():
    result = run(block_of(), PULLED, rate=10.0, lag={"block": 0.05})
    late, first, second = math.exp(-2.0), 4.0 * math.sin(0.1), 4.0 * math.sin(0.2)
    expected = [0.0, first * (1.0 - late), second * (1.0 - late) + first * (1.0 - late) * late]
    assert result.signal("control.m.block", [0.1, 0.2, 0.3]) == pytest.approx(expected, abs=1e-8)


def test_limits_of_joint_and_machine_and_a_lag_together():
    states = {"a": {"torques": {"block": 4.0}, "to": {"b": "after 0.35 s"}}, "b": {"torques": {"block": -4.0}}}
    result = run(block_of(effort_limit=1.5), states, limit={"block": 3.0}, lag={"block": 0.1})
    most = 1.5 * (1.0 - math.exp(-3.5))
    expected = [1.5 * (1.0 - math.exp(-2.0)), most, -1.5 + (most + 1.5) * math.exp(-2.5)]
    assert result.signal("control.m.block", [0.2, 0.35, 0.6]) == pytest.approx(expected, abs=1e-8)


def test_a_spring_whose_rest_moves_on_a_slider_with_gear_and_rotor():
    """x'' + 16 x = 16 0.1 sin 3t: 24 N/m on 1 kg and a rotor of 0.02 kg m^2 at 5 rad/m."""
    states = {"a": {"targets": {"block": "0.1*sin(3*t)"}, "kp": {"block": 24.0}}}
    result = run(block_of(rotor_inertia=0.02, gear=5.0), states, 2.0)
    t = np.linspace(0.0, 2.0, 9)
    expected = 0.1 * 16.0 / 7.0 * (np.sin(3.0 * t) - 0.75 * np.sin(4.0 * t))
    np.testing.assert_allclose(result.signal("block.slide", t), expected, atol=1e-9)
    assert result.energy.max_error_percent < 1e-6


ARM = carom.Arm([carom.Rod(length=1.0, mass=1.0)])
FLOOR = carom.Contact(ARM.tip, carom.Plane(height=-0.5), 0.0, carom.Coulomb(0.3), name="floor")


def fallen(condition, **more):
    states = {"a": carom.Mode(to={"b": condition}), "b": carom.Mode(**more)}
    other = carom.StateMachine(
        ARM, {"off": carom.Mode(to={"on": "link1.angle < 0.3"}), "on": carom.Mode()}, name="other"
    )
    world = carom.World(ARM, contacts=FLOOR, control=[carom.StateMachine(ARM, states, name="m"), other], gravity=9.81)
    result = carom.simulate(world, world.state(angles=[0.5]), until=0.6, settings=carom.Settings(rtol=TIGHT))
    return next(e for e in result.events if e.automaton == "m" and "->" in e.exit)


@pytest.mark.parametrize(
    ("condition", "what", "value"),
    [
        ("strike floor", "angle", -math.pi / 6.0),
        ("contact.floor.closed", "angle", -math.pi / 6.0),
        ("link1.angle < 10 deg", "angle", math.radians(10.0)),
        ("tip.y < 0.2 m", "angle", math.asin(0.2)),
        ("phase.other.on", "angle", 0.3),
        ("abs(link1.rate) > 1 rad/s", "rate", -1.0),
        ("energy.kinetic > 0.3 J", "rate", -math.sqrt(0.6 * 3.0)),
        ("after 30 ms", "time", 0.03),
        ("t > 0.1 s", "time", 0.1),
    ],
)
def test_every_kind_of_transition_happens_where_it_says(condition, what, value):
    event = fallen(condition)
    found = {"angle": event.q[0], "rate": event.v[0], "time": event.t}[what]
    assert found == pytest.approx(value, abs=1e-8)
    # All of them on the one fall, w^2 = 3 g / l (sin a0 - sin a), until the plastic blow ends it.
    square = 3.0 * 9.81 * (math.sin(0.5) - math.sin(event.q[0]))
    assert event.v[0] ** 2 == pytest.approx(0.0 if "floor" in condition else square, abs=1e-7)
