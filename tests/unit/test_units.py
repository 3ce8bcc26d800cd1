"""The same world in other units of length, mass and time meets the same events and ends in the same place."""

import functools

import numpy as np
import pytest

import carom


def world_in(length, mass, time):
    """A ball that rolls and bounces between a floor and a wall, in numbers of these units."""
    ball = carom.Mechanism([carom.Disk(radius=0.1 * length, mass=mass)], base=carom.Free())
    wall = carom.Plane(point=(length, 0.0), normal=(-1.0, 0.0))
    contacts = [
        carom.Contact(ball.tip, where, carom.Poisson(0.6), carom.Coulomb(0.3), radius=0.1 * length, name=name)
        for name, where in (("floor", carom.Plane(height=0.3 * length)), ("wall", wall))
    ]
    return carom.World(ball, contacts=contacts, gravity=9.81 * length / time**2)


@functools.cache
def met(length, mass, time):
    world = world_in(length, mass, time)
    start = world.state(base=(0.0, 1.4 * length), base_velocity=(1.1 * length / time, 0.0), rates=[3.0 / time])
    run = carom.simulate(world, start, until=2.0 * time)
    events = [event.exit for event in run.events], np.array([event.t for event in run.events]) / time
    return *events, run.q[-1] / [length, length, 1.0], run.statistics.steps


@pytest.mark.parametrize("units", [(1e3, 1e3, 1.0), (1e-6, 1e-9, 1.0), (1e6, 1e6, 1.0), (1.0, 1e-12, 1.0)])
def test_grams_and_millimetres(units):
    names, times, end, steps = met(1.0, 1.0, 1.0)
    others, then, there, taken = met(*units)
    assert others == names and taken == steps
    np.testing.assert_allclose(then, times, atol=1e-10)
    np.testing.assert_allclose(there, end, atol=1e-10)


@pytest.mark.parametrize("time", [1e-6, 1e3, 1e6])
def test_microseconds_and_days(time):
    """What is held was put back every quarter of a second: 786,327 steps instead of 125."""
    names, times, end, steps = met(1.0, 1.0, 1.0)
    others, then, there, taken = met(1.0, 1.0, time)
    assert others == names and taken < 1.5 * steps
    np.testing.assert_allclose(then, times, atol=1e-9)
    np.testing.assert_allclose(there, end, atol=1e-9)
