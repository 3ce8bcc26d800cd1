"""A bar that rocks on two feet and settles: both slide the way that it moves then, and friction stops it."""

import numpy as np
import pytest

import carom

FEET = {"left": (-0.3, -0.4), "right": (0.3, -0.4)}


@pytest.mark.parametrize("tilt", [0.003, -0.003])
def test_feet_of_one_bar_slide_one_way_and_stop(tilt):
    """The foot that is struck sticks, the other one lifts too slowly to count: without that speed both feet slide."""
    bar = carom.Mechanism([carom.Link(carom.Body(1.0, 0.2), name="bar", sites=FEET)], base=carom.Free())
    floor = carom.Plane(height=0.0)
    contacts = [carom.Contact(bar.site(x), floor, carom.Newton(0.2), carom.Coulomb(0.4), name=x) for x in FEET]
    world = carom.World(bar, contacts=contacts, settle_speed=0.2)
    height = 0.4 * np.cos(tilt) + 0.3 * np.sin(abs(tilt))
    run = carom.simulate(world, world.state(base=(0.0, height), angles=[tilt]), until=1.0)
    assert run.events[-1].phase_after == "closed: left sticking, right sticking"
    assert np.max(np.abs(run.v[-1])) < 1e-12 and run.energy.max_error_percent < 1e-6
    assert not any("sliding left" in e.phase_after and "sliding right" in e.phase_after for e in run.events)
