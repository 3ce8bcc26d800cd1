"""The event rule of docs/events.md, sentence by sentence, on a free flight whose instants are known in closed form."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.hybrid._locate import Asked, Ends
from carom.hybrid._seen import hidden_peak

from .probes import EXACT, G, Probe, disk, fly, instants

# -- instants ----------------------------------------------------------------------------------------------------------


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


# -- limits ------------------------------------------------------------------------------------------------------------


def test_max_events_stops_after_so_many() -> None:
    result = fly({"sine": 1.0, "offset": -0.5}, until=10.0, spin=3.0, max_events=2)
    assert len(result.events) == 2
    assert result.finished
    assert result.outcome == "the number of events asked for was reached"
    assert abs(result.t[-1] - (np.pi / 6 + 2 * np.pi) / 3.0) < EXACT
