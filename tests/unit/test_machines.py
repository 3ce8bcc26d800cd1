"""State machines and plain functions as controllers: transitions located exactly, in Python and in files alike."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

import carom

BLOCK = carom.Mechanism([carom.Link(carom.PointMass(1.0), name="block", joint=carom.Slider(axis=(1.0, 0.0)))])
STATES = {
    "push": carom.Mode(torques={"block": 2.0}, to={"coast": "block.slide > 1 m"}),
    "coast": carom.Mode(to={"brake": "after 500 ms"}),
    "brake": carom.Mode(
        torques={"block": "-1 N * (0 * clock.driver + 1 s) / 1 s"}, to={"hold": "block.slide_rate < 0"}
    ),
    "hold": carom.Mode(targets={"block": "3.5 m"}, kp={"block": 9.0}, kd={"block": 6.0}),
}


def world_of(control, mechanism=BLOCK):
    return carom.World(mechanism, control=control, gravity=0.0)


@pytest.fixture(scope="module")
def pushed():
    world = world_of(carom.StateMachine(BLOCK, STATES, name="driver"))
    return carom.simulate(world, world.state(slides=[0.0]), until=6.0)


def test_transitions_happen_at_the_instants_of_the_closed_form(pushed):
    events = [(e.exit, e.t) for e in pushed.events]
    assert [name for name, _ in events] == [
        "push -> coast: block.slide > 1 m",
        "coast -> brake: after 0.5 s",
        "brake -> hold: block.slide_rate < 0",
    ]
    assert [t for _, t in events] == pytest.approx([1.0, 1.5, 3.5], abs=1e-9)
    assert pushed.events[2].q[0] == pytest.approx(1.0 + 1.0 + 2.0, abs=1e-9)
    away, t = 0.5, 6.0 - 3.5  # critically damped towards 3.5 m
    assert pushed.q[-1][0] == pytest.approx(3.5 + away * (1 + 3 * t) * math.exp(-3 * t), abs=1e-8)
    assert pushed.energy.max_error_percent < 1e-6


def test_phases_clocks_and_efforts_are_signals(pushed):
    t = [0.5, 1.25, 2.5, 5.0]
    assert pushed.signal("phase.driver.coast", t).tolist() == [0.0, 1.0, 0.0, 0.0]
    assert pushed.signal("clock.driver", t) == pytest.approx([0.5, 0.25, 1.0, 1.5], abs=1e-9)
    assert pushed.signal("control.driver.block", t[:3]).tolist() == [2.0, 0.0, -1.0]
    assert pushed.unit("control.driver.block") == "N" and pushed.unit("control.driver.power") == "W"
    work = pushed.signal("work.driver", [1.0, 3.5])
    assert work == pytest.approx([2.0, 0.0], abs=1e-8)


def test_files_say_the_same(pushed):
    scenario = carom.Scenario.of(pushed.world, pushed.start, until=6.0)
    again = carom.Scenario.read(scenario.toml())
    assert again == scenario
    assert again.simulate().q[-1] == pytest.approx(pushed.q[-1], abs=1e-12)
    assert again.control["driver"].states["coast"].to == {"brake": "after 0.5 s"}


def test_another_machine_may_wait_for_it_and_first_and_limits_count():
    lead = carom.StateMachine(
        BLOCK,
        {"idle": carom.Mode(to={"go": "after 0.2"}), "go": carom.Mode(torques={"block": 4.0})},
        limit={"block": 3.0},
        name="lead",
    )
    follow = carom.StateMachine(
        BLOCK,
        {"off": carom.Mode(), "wait": carom.Mode(to={"off": "phase.lead.go"})},
        first="wait",
        name="follow",
    )
    world = world_of([lead, follow])
    result = carom.simulate(world, world.state(slides=[0.0]), until=1.0)
    assert [(e.automaton, round(e.t, 12)) for e in result.events if "->" in e.exit] == [("lead", 0.2), ("follow", 0.2)]
    assert result.q[-1][0] == pytest.approx(0.5 * 3.0 * 0.8**2, abs=1e-9)


def test_an_actuator_with_a_lag_follows_exponentially():
    control = carom.TorqueFunction(BLOCK, lambda t, state, phase: [2.0], lag={"block": 0.1})
    world = world_of(control)
    result = carom.simulate(world, world.state(slides=[0.0]), until=1.0)
    assert result.v[-1][0] == pytest.approx(2.0 * (1.0 - 0.1 * (1.0 - math.exp(-10.0))), abs=1e-8)
    assert result.energy.max_error_percent < 1e-5
    assert float(result.signal("control.control.block", 0.1)) == pytest.approx(2.0 * (1 - math.exp(-1.0)), abs=1e-8)


def spring(t, state, phase):
    return {"block": -4.0 * state.joint("block") + 0.0 * state["block.slide"]}


def plain(t, state, phase):
    return [-4.0 * float(state.q[0]) if t >= 0.0 else math.nan]


def test_a_plain_function_is_traced_or_sampled():
    world = world_of(carom.TorqueFunction(BLOCK, spring, name="spring"))
    result = carom.simulate(world, world.state(slides=[1.0]), until=1.0)
    assert result.q[-1][0] == pytest.approx(math.cos(2.0), abs=1e-8)
    assert result.trajectory["torque"].sel(controller="spring").shape[1] == 1 and "torques" in result.plot.names()
    with pytest.raises(carom.CaromError, match="made of code"):
        carom.Scenario.of(world, result.start, until=1.0)


def test_a_sampled_function_may_be_any_python():
    sampled = world_of(carom.TorqueFunction(BLOCK, plain, rate=4.0))
    result = carom.simulate(sampled, sampled.state(slides=[1.0]), until=0.5)
    x, v = 1.0, 0.0
    for _ in range(2):  # held for a quarter of a second
        a = -4.0 * x
        x, v = x + 0.25 * v + 0.5 * a / 16.0, v + 0.25 * a
    assert result.q[-1][0] == pytest.approx(x, abs=1e-9) and result.v[-1][0] == pytest.approx(v, abs=1e-9)


def machine(**states):
    return carom.StateMachine(BLOCK, states, name="m")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: machine(a=carom.Mode(to={"bb": "after 1"}), b=carom.Mode()),
            "there is no state (to of state 'a' of 'm')",
        ),
        (lambda: machine(a=carom.Mode(), b=carom.Mode()), "begins in state 'a', which it can never leave"),
        (
            lambda: machine(a=carom.Mode(to={"b": "after 1"}), b=carom.Mode(), c=carom.Mode()),
            "no way leads from state 'a' of 'm' to state 'c'",
        ),
        (lambda: machine(a=carom.Mode(targets={"block": 1.0})), "which no gain drives there; give kp"),
        (lambda: machine(a=carom.Mode(kp={"blok": 1.0})), "did you mean 'block'?"),
        (lambda: machine(a=carom.Mode(torques={"block": "tip.y +"})), "ends too early"),
        (lambda: machine(a=carom.Mode(to={"a": "strike"})), "names no contact"),
        (lambda: machine(), "it must be {name: carom.Mode(...)}, one at least"),
        (lambda: world_of(machine(a=carom.Mode(torques={"block": "block.slid"}))), "did you mean 'block.slide'?"),
        (lambda: world_of(machine(a=carom.Mode(torques={"block": "block.slide"}))), "they do not fit"),
        (lambda: world_of(machine(a=carom.Mode(to={"a": "1 > 2"}))), "it never changes"),
        (lambda: world_of(machine(a=carom.Mode(to={"a": "block.slide"}))), "a condition is asked for"),
        (lambda: world_of(machine(a=carom.Mode(to={"a": "strike floor"}))), "there is no contact 'floor'"),
        (
            lambda: world_of(carom.TorqueFunction(BLOCK, lambda t, s, p: [1.0, 2.0])),
            "returns 2 torques; it must return",
        ),
        (lambda: world_of(carom.TorqueFunction(BLOCK, lambda t, s, p: [math.nan])), "torques are finite"),
        (lambda: world_of(carom.TorqueFunction(BLOCK, plain)), "cannot be traced by JAX"),
        (lambda: carom.TorqueFunction(BLOCK, 3.0), "it must be a function of (t, state, phase)"),
    ],
)
def test_what_cannot_work_is_refused(make, said):
    with pytest.raises(carom.CaromError) as refusal:
        make()
    assert said in str(refusal.value)


def test_torques_that_become_no_numbers_are_named():
    world = world_of(carom.TorqueFunction(BLOCK, lambda t, state, phase: [jnp.log(state.q[0] - 5.0)], name="bad"))
    with pytest.raises(carom.CaromError, match="controller 'bad' asks for nan on 'block'"):
        carom.simulate(world, world.state(slides=[1.0]), until=1.0)


def test_a_trajectory_begins_when_its_state_does():
    rise = carom.control.MinimumJerk([0.0], [1.0], 1.0)
    states = {
        "wait": carom.Mode(to={"go": "after 0.3 s"}),
        "go": carom.Mode(trajectory=rise, kp={"block": 1e4}, kd={"block": 200.0}),
    }
    world = world_of(carom.StateMachine(BLOCK, states))
    result = carom.simulate(world, world.state(slides=[0.0]), until=1.5)
    assert result.signal("block.slide", [0.3, 0.8, 1.5]) == pytest.approx([0.0, 0.5, 1.0], abs=2e-3)
    scenario = carom.Scenario.of(world, result.start, until=1.5)
    assert carom.Scenario.read(scenario.toml()) == scenario
    assert np.allclose(scenario.simulate().q[-1], result.q[-1], atol=1e-9)


def test_numbers_of_a_machine_can_be_swept(pushed):
    scenario = carom.Scenario.of(pushed.world, pushed.start, until=1.0)
    data = carom.sweep(
        scenario, {"control.driver.states.push.torques.block": [1.0, 2.0]}, ["final(block.slide)", "most(clock.driver)"]
    )
    assert data["final(block.slide)"].values == pytest.approx([0.5, 1.0], abs=1e-9)
    assert data["final(block.slide)"].attrs["units"] == "m"
