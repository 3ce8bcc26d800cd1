"""What is asked of a world in every run is found out once, of each world, and never kept from a trace."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import native
from carom.contact.compliant import CompliantContact
from carom.hybrid._remembered import remembered


class Thing:
    """Something that can be pointed at weakly."""

    def __init__(self, number):
        self.number = number


def counted():
    asked = []

    @remembered
    def doubled(thing):
        asked.append(thing.number)
        return 2 * thing.number

    return asked, doubled


def test_each_is_asked_once_for_as_long_as_it_is_there():
    asked, doubled = counted()
    first, second = Thing(1), Thing(2)
    assert [doubled(x) for x in (first, second, first, second)] == [2, 4, 2, 4] and asked == [1, 2]
    for number in range(50):  # which lie where others lay
        assert doubled(Thing(number)) == 2 * number
    assert doubled(first) == 2 and asked.count(1) == 2  # itself, and the thing of the loop


def test_nothing_is_kept_from_a_trace():
    asked, doubled = counted()
    thing = Thing(3)

    @jax.jit
    def traced(x):
        return doubled(thing) * x + doubled(thing)

    assert traced(1.0) == 12.0 and asked == [3, 3]
    assert doubled(thing) == doubled(thing) == 6 and asked == [3, 3, 3]


def falling():
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), carom.Hertz(1e6), radius=0.1, name="floor")
    return carom.World(ball, contacts=floor, gravity=9.81)


def test_programs_take_a_worlds_numbers_in_their_order():
    world, more = falling(), {"a": np.asarray(2.0), "b": np.arange(3)}
    assert world.leaves is world.leaves
    for mine, other in zip(world.leaves, jax.tree.leaves(world), strict=True):
        np.testing.assert_array_equal(mine, other)
    program = native.program(lambda w, m: (w.gravity[1] * m["a"], w.length, m["b"]), (world, more))
    for given in (world, carom.World(world.mechanism, gravity=3.0, contacts=world.automata[0])):
        found = program(given, more)
        np.testing.assert_array_equal(found[0], given.gravity[1] * 2.0)
        np.testing.assert_array_equal(found[1:][1], np.arange(3))
    with pytest.raises(ValueError, match="arrays, and was given"):
        program(world, {"a": 1.0})


def test_settings_of_runs_that_are_alike_are_made_once():
    settings = carom.Settings(rtol=1e-9)
    assert settings.integration(2.0) is carom.Settings(rtol=1e-9).integration(2.0)
    assert float(settings.integration(3.0).until) == 3.0 and float(settings.integration(2.0).rtol) == 1e-9
    traced = jax.jit(lambda rtol, t: carom.Settings(rtol=rtol).integration(t).rtol)
    assert traced(1e-6, 1.0) == 1e-6 and traced(1e-5, 1.0) == 1e-5


def test_a_run_asks_a_world_for_its_words_but_once(monkeypatch):
    told = []
    report = CompliantContact.report.fget
    monkeypatch.setattr(CompliantContact, "report", property(lambda self: told.append(self.name) or report(self)))
    world = falling()
    start = world.state(base=(0.0, 0.3))
    first = carom.simulate(world, start, until=0.5)
    asked = len(told)
    again = carom.simulate(world, start, until=0.5)
    assert len(told) == asked  # five times a run, each with all its words
    assert float(again.final.t) == float(first.final.t) and jnp.all(again.final.y.q[0] == first.final.y.q[0])
