"""Functions and state machines that go wrong: a sentence each, also from within a compiled program."""

import math

import jax.numpy as jnp
import pytest

import carom

BLOCK = carom.Mechanism([carom.Link(carom.PointMass(1.0), name="block", joint=carom.Slider(axis=(1.0, 0.0)))])


def run(control, until=0.5, **more):
    world = carom.World(BLOCK, control=control, gravity=0.0, **more)
    return carom.simulate(world, world.state(slides=[0.3]), until=until)


def function(of, **more):
    return lambda: run(carom.TorqueFunction(BLOCK, of, **more))


def machine(name="m", **states):
    return carom.StateMachine(BLOCK, {k: carom.Mode(**v) for k, v in states.items()}, name=name)


def late(t, state, phase):
    return {"block": math.sqrt(-1.0) if t > 0.2 else 1.0}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (function(lambda t, s, p: "push"), "returns a str; it must return one number for each of the 1 links (block)"),
        (function(lambda t, s, p: ["push"]), "returns a list; it must return one number"),
        (function(lambda t: {"block": 1.0}), "takes (t); it must take (t, state, phase), in this order"),
        (function(lambda t, s, p: {"block": s.velocity}), "a state has no 'velocity'; it has q, v, angle(link)"),
        (function(lambda t, s, p: {"block": p["foot"]}), "there is no contact or controller 'foot'"),
        (function(lambda t, s, p: {"block": math.sin(p["foot"])}, rate=50.0), "no contact or controller 'foot'"),
        (function(late, rate=100.0), "asks for nan on 'block': at t = 0.21 s it raised ValueError: math domain error"),
        (
            function(lambda t, s, p: [1.0, 2.0] if t > 0.2 else [0.0], rate=100.0),
            "at t = 0.21 s function of 'control' returns 2 torques; it must return one number",
        ),
        (
            function(lambda t, s, p: math.nan if t > 0.2 else [0.0], rate=100.0),
            "at t = 0.21 s function of 'control' returns a float",
        ),
        (function(lambda t, s, p: {"block": s["control.control.block"]}), "is computed from itself"),
        (
            lambda: run(machine(a={"torques": {"block": "control.m.power * 1 s/m"}})),
            "control.m is computed from itself",
        ),
        (
            lambda: run(
                [
                    machine("A", a={"torques": {"block": "control.B.block"}}),
                    machine("B", a={"torques": {"block": "-control.A.block"}}),
                ]
            ),
            "control.B is computed from itself: the torques of 'B' ask for it, by way of 'A'",
        ),
        (
            lambda: machine(a={"to": {"b": "after 1"}}, b={"to": {"a": []}}),
            "to of state 'b' of 'm' leads to 'a' by no condition; give one, or leave it out",
        ),
    ],
)
def test_trouble_is_said(make, said):
    with pytest.raises(carom.CaromError) as refusal:
        make()
    assert said in str(refusal.value)


def test_a_file_is_checked_for_it():
    from carom.experiment._scenario_check import check

    states = "control.hopper.states.thrust.torques.shin"
    with pytest.raises(carom.CaromError, match=r"control\.hopper is computed from itself"):
        check(carom.Scenario.load("hopper").with_({states: "control.hopper.thigh / (1 m)"}))


def test_a_controller_may_ask_for_the_effort_of_another():
    both = [
        machine("A", a={"torques": {"block": "0.5 * control.B.block"}}),
        machine("B", a={"torques": {"block": "-4 N/m * block.slide"}}),
    ]
    result = run(both, until=1.0)  # a spring of 6 N/m on 1 kg
    assert result.q[-1][0] == pytest.approx(0.3 * math.cos(math.sqrt(6.0)), abs=1e-6)


def test_in_guards_its_own_effort_is_known():
    states = {
        "a": {"torques": {"block": "-4 N/m * block.slide"}, "to": {"b": "control.m.block > -1 N"}},
        "b": {},
    }
    result = run(machine(**states), until=1.0)
    (left,) = [e for e in result.events if "->" in e.exit]
    assert left.q[0] == pytest.approx(0.25, abs=1e-9)  # 4 N/m times 0.25 m


def test_names_may_hold_anything():
    states = {
        "it's": {"to": {'a "b"': "after 0.1 s"}},
        'a "b"': {"to": {"c d.e": "after 0.2 s"}},
        "c d.e": {},
    }
    first = carom.StateMachine(BLOCK, {k: carom.Mode(**v) for k, v in states.items()}, name="my machine")
    second = machine("other", wait={"to": {"on": "phase.'my machine'.'c d.e'"}}, on={})
    result = run([first, second])
    assert [(e.automaton, round(e.t, 9)) for e in result.events] == [
        ("my machine", 0.1),
        ("my machine", 0.3),
        ("other", 0.3),
    ]
    scenario = carom.Scenario.of(result.world, result.start, until=0.5)
    assert carom.Scenario.read(scenario.toml()) == scenario
    assert len(scenario.simulate().events) == 3


def test_the_order_of_states_does_not_matter():
    states = {
        "push": {"torques": {"block": 2.0}, "to": {"rest": "block.slide > 0.5 m"}},
        "rest": {"to": {"pull": "after 0.1 s"}},
        "pull": {"torques": {"block": "-3 N"}},
    }
    runs = []
    for order in (("push", "rest", "pull"), ("pull", "rest", "push"), ("rest", "push", "pull")):
        made = carom.StateMachine(BLOCK, {k: carom.Mode(**states[k]) for k in order}, first="push")
        runs.append(run(made, until=1.0))
    for other in runs[1:]:
        assert [e.exit for e in other.events] == [e.exit for e in runs[0].events]
        assert other.q[-1] == pytest.approx(runs[0].q[-1], abs=1e-12)


def test_a_traced_function_is_in_the_figures_and_the_report(tmp_path):
    from carom.report import report

    control = carom.TorqueFunction(
        BLOCK, lambda t, s, p: {"block": jnp.sin(3.0 * t)}, limit={"block": 0.5}, name="shaker"
    )
    result = run(control, until=1.0)
    assert result.signal("control.shaker.block", [0.1, 0.5]) == pytest.approx([math.sin(0.3), 0.5])
    assert "shaker" in report(result, title="shaken")
    figure = result.plot.torques()
    assert figure.axes and any("shaker" in axes.get_title() for axes in figure.axes)
