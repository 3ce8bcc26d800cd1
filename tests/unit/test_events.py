"""The event rule of docs/events.md, sentence by sentence, on automata made for the purpose.

A disk flies freely: x and theta are linear in time, y is a parabola, so every instant is known in closed form.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.control import AtTime
from carom.hybrid import AbstractAutomaton, Flow, Landing, Own
from carom.hybrid.locate import Asked, Ends
from carom.hybrid.seen import hidden_peak

G = 9.81
EXACT = 1e-12  # [s] what docs/events.md promises for an instant


class Probe(AbstractAutomaton):
    """Guards that are any function of scene, memory and a few numbers; by default it counts and lets pass."""

    name: str = eqx.field(static=True)
    numbers: Any
    look: Callable[..., Sequence[Any]] = eqx.field(static=True)
    act: Callable[..., Landing] = eqx.field(static=True)
    words: tuple[str, ...] = eqx.field(static=True)
    blow: bool = eqx.field(static=True)

    def __init__(self, name, look, numbers, act=None, exits=("cross",), impulsive=False):
        self.name, self.look, self.act = name, look, act or passing
        self.words, self.blow = exits, impulsive
        self.numbers = tuple(jnp.asarray(n, dtype=float) for n in numbers)

    @property
    def phases(self):
        return ("on", "off")

    @property
    def exits(self):
        return self.words

    @property
    def impulsive(self):
        return self.blow

    @property
    def memory(self):
        return ("count",)

    @property
    def channels(self):
        return ("blows",)

    def start(self, scene):
        return Own(jnp.asarray(0), (jnp.asarray(0.0),), ())

    def force(self, scene, own, load):
        return Flow(powers=(0.0,))

    def guard(self, scene, own):
        return self.look(self.numbers, scene, own)

    def jump(self, scene, own, fired):
        return self.act(self.numbers, scene, own, fired)


def passing(numbers, scene, own, fired) -> Landing:
    """Count; change nothing else."""
    return Landing(own.phase, (own.memory[0] + 1.0,), own.states, scene.v)


def plane(numbers, scene, own):
    """a t + b x + c y + d sin(theta) + e."""
    a, b, c, d, e = numbers
    return (a * scene.t + b * scene.q[0] + c * scene.q[1] + d * jnp.sin(scene.q[2]) + e,)


def line(name, t=0.0, x=0.0, y=0.0, sine=0.0, offset=0.0) -> Probe:
    return Probe(name, plane, (t, x, y, sine, offset))


IDLE = {"offset": -1.0}


def disk() -> carom.Mechanism:
    return carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())


def fly(first: dict, second: dict = IDLE, until=2.0, velocity=(1.0, 0.0), base=(0.0, 0.0), spin=0.0, gravity=G, **more):
    """One world for most tests: two lines in the state, none of which changes the motion."""
    world = carom.World(disk(), control=[line("first", **first), line("second", **second)], gravity=gravity)
    # A loop that does not get on is a failure, not a wait.
    settings = carom.Settings(max_steps=20_000, **more)
    start = world.state(rates=[spin], base=base, base_velocity=velocity)
    return carom.simulate(world, start, until=until, settings=settings)


def instants(result: Any, name: str = "first") -> list[float]:
    return [e.t for e in result.events if e.automaton == name]


# -- instants --------------------------------------------------------------------------------------------------------


def test_free_fall_through_a_height_is_timed_to_a_picosecond() -> None:
    result = fly({"y": -1.0, "offset": -3.0}, base=(0.0, 0.0))
    (t,) = instants(result)
    assert abs(t - np.sqrt(6.0 / G)) < EXACT
    assert abs(result.events[0].q[1] + 3.0) < 1e-12


def test_a_turning_link_passes_an_angle_on_time() -> None:
    """sin(theta) = 1/2 on the way up, once per turn."""
    spin = 3.0
    result = fly({"sine": 1.0, "offset": -0.5}, until=10.0, spin=spin)
    turns = np.arange(5)
    expected = (np.pi / 6 + 2 * np.pi * turns) / spin
    assert np.max(np.abs(np.array(instants(result)) - expected[expected < 10.0])) < EXACT


@pytest.mark.parametrize("speed", [1e3, 1.0, 1e-3, 1e-5])
def test_an_event_that_lets_pass_is_counted_once_at_any_speed(speed: float) -> None:
    """Rounding of the guard (1e-15 here) is far above what a slow guard does within the resolution of time."""
    offset = -7.123456789 * speed / 10
    result = fly({"x": 1.0, "offset": offset - 3.3}, base=(3.3, 0.0), velocity=(speed, 0.0), gravity=0.0)
    (t,) = instants(result)
    rounding = 2e-15 / speed
    assert abs(t + offset / speed) < EXACT + rounding
    assert result.events[0].memory["count"] == 1.0


def test_only_upward_crossings_count() -> None:
    """Thrown up through a height and down again: one event for each direction, on its own guard."""
    result = fly({"y": 1.0, "offset": -1.0}, {"y": -1.0, "offset": 1.0}, velocity=(0.0, 10.0))
    root = np.sqrt(100.0 - 2.0 * G)
    assert abs(instants(result, "first")[0] - (10.0 - root) / G) < EXACT
    assert abs(instants(result, "second")[0] - (10.0 + root) / G) < EXACT
    assert len(result.events) == 2


# -- the interval is open at the start and closed at the horizon -------------------------------------------------------


@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_a_guard_that_is_zero_at_the_start_does_not_fire(slope: float) -> None:
    assert fly({"x": slope}, gravity=0.0).events == []


def test_a_guard_that_starts_positive_fires_after_it_was_negative() -> None:
    """Thrown down against a gravity that points up: y + 1/2 is positive, negative, positive again."""
    result = fly({"y": 1.0, "offset": 0.5}, velocity=(0.0, -4.0), gravity=-G)
    (t,) = instants(result)
    assert abs(t - (4.0 + np.sqrt(16.0 - G)) / G) < EXACT


def test_an_event_at_the_horizon_is_served() -> None:
    result = fly({"t": 1.0, "offset": -1.5}, until=1.5)
    assert instants(result) == [1.5]
    assert result.finished
    assert result.t[-1] == 1.5


def test_an_event_just_after_the_horizon_is_not() -> None:
    assert fly({"t": 1.0, "offset": -1.5 - 1e-12}, until=1.5).events == []


# -- several events ----------------------------------------------------------------------------------------------------


def test_two_guards_at_one_instant_are_one_event_row_served_in_list_order() -> None:
    """t = 1/3 and y = -g/18 are the same instant; both exits fire together, the first automaton first."""
    result = fly({"t": 3.0, "offset": -1.0}, {"y": -1.0, "offset": -G / 18.0})
    assert [e.automaton for e in result.events] == ["first", "second"]
    assert result.statistics.events == 1
    assert result.events[0].t == result.events[1].t
    assert abs(result.events[0].t - 1.0 / 3.0) < EXACT


@pytest.mark.parametrize("gap", [1e-9, 1e-11, 1e-12])
@pytest.mark.parametrize("order", [1, -1])
def test_two_guards_close_together_are_two_events_in_order_of_time(gap: float, order: int) -> None:
    early, late = {"t": 1.0, "offset": -1.0}, {"x": 1.0, "offset": -1.0 - gap}
    result = fly(*((early, late)[::order]), gravity=0.0)
    assert [e.automaton for e in result.events] == ["first", "second"][::order]
    assert result.statistics.events == 2
    a, b = (e.t for e in result.events)
    assert abs(a - 1.0) < EXACT
    assert abs(b - a - gap) < 1e-14 + 4 * np.finfo(float).eps


def test_a_guard_on_its_way_down_is_not_overlooked_when_another_lands() -> None:
    """first crosses at 0.9 s and falls back through zero at 1.1 s; second crosses while first is still positive."""
    apex = 1.0
    peak = 0.5 * G * 0.1**2
    first = {"y": 1.0, "offset": -0.5 * G * apex**2 + peak}
    for late in (1.0999, 1.05, 1.0):
        result = fly(first, {"t": 1.0, "offset": -late}, velocity=(0.0, G * apex))
        assert abs(instants(result, "first")[0] - 0.9) < 2e-12  # the root is steep enough to lose a digit
        assert abs(instants(result, "second")[0] - late) < EXACT
        assert result.statistics.events == 2


# -- crossings within one step -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("inside", [1e-2, 1e-6, 1e-10])
def test_a_guard_crossed_twice_within_one_step_is_found(inside: float) -> None:
    """The apex of a throw is above the line by so little; steps on a parabola are as long as the run."""
    apex = 0.5 * 16.0 / G
    result = fly({"y": 1.0, "offset": -apex + inside}, velocity=(0.0, 4.0))
    (t,) = instants(result)
    half = np.sqrt(2.0 * inside / G)
    # Rounding of the height over the slope of the crossing: one long step, with weights of up to 12 that cancel.
    noise = 1e-14 / (G * half)
    assert abs(t - (4.0 / G - half)) < EXACT + noise


@pytest.mark.parametrize("outside", [1e-2, 1e-6, 1e-10])
def test_a_guard_missed_by_so_little_does_not_fire(outside: float) -> None:
    apex = 0.5 * 16.0 / G
    result = fly({"y": 1.0, "offset": -apex - outside}, velocity=(0.0, 4.0))
    assert result.finished
    assert result.events == []


@pytest.mark.parametrize(("height", "count"), [(1.0 - 1e-10, 3), (1.0 + 1e-10, 0)])
def test_a_turning_guard_grazed_to_1e_10(height: float, count: int) -> None:
    """sin(theta) just reaches the line, or just does not: no cubic fits this guard exactly, unlike a parabola."""
    result = fly({"sine": 1.0, "offset": -height}, spin=9.0)
    assert len(instants(result)) == count
    expected = (np.pi / 2 - np.arccos(min(height, 1.0)) + 2 * np.pi * np.arange(count)) / 9.0
    assert np.allclose(instants(result), expected, rtol=0.0, atol=1e-11)


def test_no_turn_is_stepped_over() -> None:
    """Free flight costs the solver nothing, so its steps would span many turns; the guard goes up and down in each."""
    result = fly({"sine": 1.0, "offset": -0.99}, spin=50.0, until=4.0)
    assert len(instants(result)) == int((4.0 * 50.0 - np.arcsin(0.99)) // (2 * np.pi)) + 1


def test_a_guard_with_a_kink_is_found_by_its_tangents() -> None:
    """A small post in the way of a straight flight: distance is V-shaped in time, and no force says so."""

    def post(numbers, scene, own):
        x, y = scene.q[0] - numbers[0], scene.q[1] - numbers[1]
        return (numbers[2] - jnp.sqrt(x * x + y * y),)

    for radius, off in ((0.05, 0.0), (0.05, 0.0499), (1e-3, 0.0)):
        world = carom.World(disk(), control=Probe("post", post, (6.3, off, radius)), gravity=0.0)
        result = carom.simulate(world, world.state(base=(0.0, 0.0), base_velocity=(9.0, 0.0)), until=2.0)
        assert np.allclose(instants(result, "post"), [(6.3 - np.sqrt(radius**2 - off**2)) / 9.0], rtol=0.0, atol=EXACT)
    world = carom.World(disk(), control=Probe("post", post, (6.3, 0.0501, 0.05)), gravity=0.0)
    assert carom.simulate(world, world.state(base=(0.0, 0.0), base_velocity=(9.0, 0.0)), until=2.0).events == []


def test_hidden_peak_of_a_cubic_is_its_peak() -> None:
    """x (1 - x) (x + a) - 1/1000 has its peak where its derivative says, whatever happens before and after."""
    for shape in ([-1.0, 0.9, 0.1, -1e-3], [-2.0, 3.0, -1.0, -1e-4], [1.0, -2.0, 1.0, -0.149]):
        p = np.poly1d(shape)
        roots = [r.real for r in p.deriv().roots if abs(r.imag) < 1e-12 and p.deriv(2)(r.real) < 0]
        one, zero = jnp.asarray(1.0), jnp.asarray(0.0)
        first, last = (Ends((jnp.asarray(p(x)),), (jnp.asarray(p.deriv()(x) / 0.3),)) for x in (0.0, 1.0))
        asked = Asked(last, (zero,), (one,), (zero,), (jnp.asarray(1e-14),), (True,))
        where = hidden_peak((jnp.asarray(True),), first, asked, [None], jnp.asarray(0.3))
        assert np.isclose(float(where), 0.3 * roots[0], rtol=1e-12)
        assert float(hidden_peak((jnp.asarray(False),), first, asked, [None], jnp.asarray(0.3))) == np.inf


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


def test_max_events_stops_after_so_many() -> None:
    result = fly({"sine": 1.0, "offset": -0.5}, until=10.0, spin=3.0, max_events=2)
    assert len(result.events) == 2
    assert result.finished
    assert result.outcome == "the number of events asked for was reached"
    assert abs(result.t[-1] - (np.pi / 6 + 2 * np.pi) / 3.0) < EXACT


def test_a_guard_that_becomes_nan_is_an_outcome_and_not_a_silence() -> None:
    def broken(numbers, scene, own):
        return (jnp.sqrt(numbers[0] - scene.t) - 10.0,)

    world = carom.World(disk(), control=Probe("broken", broken, (0.5,)))
    with pytest.raises(carom.SimulationError, match="not finite"):
        carom.simulate(world, world.state(), until=1.0)
