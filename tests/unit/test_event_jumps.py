"""The event rule of docs/events.md where something jumps: walls, bounces, phases, schedules, and guards that break."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.control import AtTime
from carom.hybrid import Landing

from .probes import EXACT, G, Probe, disk, instants

# -- jumps -------------------------------------------------------------------------------------------------------------


def wall(numbers, scene, own):
    return (scene.q[0] - numbers[0],)


def mirror(numbers, scene, own, fired) -> Landing:
    """An elastic wall."""
    return Landing(own.phase, (own.memory[0] + 1.0,), own.states, (-scene.v[0], scene.v[1], scene.v[2]))


def leaving(numbers, scene, own):
    return (-scene.v[0] - numbers[0],)


def test_a_jump_that_lands_on_another_guard_is_answered_at_the_same_instant() -> None:
    """The wall turns v_x from +1 to -1; a guard of -v_x - 0.5 has then jumped past zero without time going on."""
    for order in (1, -1):
        parts = [Probe("wall", wall, (1.0,), mirror, impulsive=True), Probe("follower", leaving, (0.5,))][::order]
        world = carom.World(disk(), control=parts, gravity=0.0)
        result = carom.simulate(world, world.state(base=(0.0, 0.0), base_velocity=(1.0, 0.0)), until=1.0)
        assert [e.automaton for e in result.events] == ["wall", "follower"]  # also when it comes first in the list
        assert result.statistics.events == 2
        assert np.allclose([e.t for e in result.events], 1.0, rtol=0.0, atol=1e-15)  # the horizon: all of it is served
        assert result.events[1].v[0] == -1.0
        assert result.finished


def test_a_rebound_is_armed_again_at_once() -> None:
    """Between two elastic walls: 20 blows, though free flight lets a step span a whole crossing."""

    def walls(numbers, scene, own):
        return (scene.q[0] - numbers[0], -scene.q[0])

    both = Probe("walls", walls, (0.1,), mirror, exits=("right", "left"), impulsive=True)
    world = carom.World(disk(), control=both, gravity=0.0)
    result = carom.simulate(world, world.state(base=(0.05, 0.0), base_velocity=(0.7, 0.0)), until=3.0)
    count = int((3.0 * 0.7 - 0.05) / 0.1) + 1
    expected = (0.05 + 0.1 * np.arange(count)) / 0.7
    assert np.max(np.abs(np.array([e.t for e in result.events]) - expected)) < 1e-12
    assert [e.exit for e in result.events] == (["right", "left"] * count)[:count]
    assert abs(result.v[-1][0]) == 0.7


def test_a_bouncing_ball_keeps_its_closed_form_until_it_ends_in_zeno() -> None:
    """v_n = e^n v_0, flights 2 v_n / g: 20 instants; then flights shorter than time can resolve, and an outcome."""

    def floor(numbers, scene, own):
        return (-scene.q[1],)

    def bounce(numbers, scene, own, fired) -> Landing:
        v = scene.v
        return Landing(own.phase, (own.memory[0] + 1.0,), own.states, (v[0], -numbers[0] * v[1], v[2]))

    e, v0 = 0.7, 3.0
    world = carom.World(disk(), control=Probe("floor", floor, (e,), bounce, impulsive=True))
    result = carom.simulate(world, world.state(base_velocity=(0.0, v0)), until=5.0, throw=False)
    times = np.array(instants(result, "floor"))
    expected = 2.0 * v0 / G * (1.0 - e ** np.arange(1, 21)) / (1.0 - e)
    assert np.max(np.abs(times[:20] - expected)) < EXACT
    end = 2.0 * v0 / G / (1.0 - e)
    assert "more than 100 events at one instant" in result.outcome
    assert abs(float(result.final.t) - end) < 2e-11
    assert abs(result.q[-1][1]) < 1e-12


def test_an_automaton_that_triggers_itself_for_ever_ends_as_zeno() -> None:
    """Two probes that toggle each other's guards without time going on."""

    def blink_a(numbers, scene, own):
        return (jnp.where(scene.phases["a"] == scene.phases["b"], scene.t - numbers[0], -1.0),)

    def blink_b(numbers, scene, own):
        return (jnp.where(scene.phases["a"] != scene.phases["b"], scene.t - numbers[0], -1.0),)

    def toggle(numbers, scene, own, fired) -> Landing:
        return Landing(1 - own.phase, own.memory, own.states, scene.v)

    world = carom.World(disk(), control=[Probe("a", blink_a, (0.5,), toggle), Probe("b", blink_b, (0.5,), toggle)])
    with pytest.raises(carom.SimulationError, match=r"more than 100 events at one instant.*t = 0\.5 s"):
        carom.simulate(world, world.state(), until=1.0)


def test_exits_of_one_automaton_a_little_apart_are_both_served() -> None:
    """The jump disarms both; the later one is clearly negative again at once, however small the distance."""

    def two(numbers, scene, own):
        return (scene.t - numbers[0], scene.t - numbers[0] - numbers[1])

    for gap in (0.0, 2e-14, 1e-13, 1e-12, 1e-9):
        both = Probe("both", two, (0.5, gap), exits=("early", "late"))
        world = carom.World(disk(), control=both)
        result = carom.simulate(world, world.state(), until=1.0)
        assert [e.exit for e in result.events] == ["early", "late"]
        assert np.allclose([e.t for e in result.events], [0.5, 0.5 + gap], rtol=0.0, atol=1e-13)


def test_a_guard_that_its_own_jump_leaves_positive_waits_until_it_was_negative() -> None:
    """Phase 'off' has a guard that is already positive when entered: it must come down first."""

    def hold(numbers, scene, own):
        on = own.phase == 0
        return (jnp.where(on, scene.t - 0.2, -1.0), jnp.where(on, -1.0, jnp.sin(10.0 * scene.t)))

    def swap(numbers, scene, own, fired) -> Landing:
        return Landing(jnp.where(fired[0], 1, 0), own.memory, own.states, scene.v)

    world = carom.World(disk(), control=Probe("hold", hold, (), swap, exits=("go", "back")))
    spin = carom.simulate(world, world.state(rates=[10.0]), until=1.0)
    assert [e.exit for e in spin.events] == ["go", "back", "go"][: len(spin.events)]
    assert abs(spin.events[1].t - 2 * np.pi / 10.0) < EXACT


def test_a_sampled_schedule_loses_no_sample() -> None:
    """A switch at a multiple of the sampling period: both exits belong to one automaton, rounding apart."""
    arm = carom.Arm([carom.Rod(1.0, 1.0)])
    control = carom.PostureControl(arm, [[0.1], [0.2]], [5.0], [1.0], rate=100.0, schedule=[AtTime(0.3), AtTime(0.6)])
    world = carom.World(arm, control=control, gravity=0.0)
    result = carom.simulate(world, world.state(), until=1.0)
    samples = [e.t for e in result.events if e.exit == "sample"]
    assert np.allclose(samples, np.arange(1, 101) / 100.0, rtol=0.0, atol=1e-13)
    assert [round(e.t, 9) for e in result.events if e.exit != "sample"] == [0.3, 0.6]
    first = result.at([0.001]).memory[0][1]
    assert np.allclose(first, 0.5)  # 5 N m/rad times 0.1 rad: the controller acts from the start


# -- limits ------------------------------------------------------------------------------------------------------------


def test_a_guard_that_becomes_nan_is_an_outcome_and_not_a_silence() -> None:
    def broken(numbers, scene, own):
        return (jnp.sqrt(numbers[0] - scene.t) - 10.0,)

    world = carom.World(disk(), control=Probe("broken", broken, (0.5,)))
    with pytest.raises(carom.SimulationError, match="not finite"):
        carom.simulate(world, world.state(), until=1.0)
