"""Extremes of a coordinate are looked for between the ends of steps."""

import numpy as np
import pytest

import carom
from carom.experiment.measures._turning import extremes


def test_a_rod_swings_back_from_a_wall_as_high_as_its_energy_says():
    """1 - cos(a) is e^2 of what it was; steps are long, and none ends at the top."""
    e, first = 0.6, 1.0
    rod = carom.Arm([carom.Rod(length=1.0, mass=1.0)])
    wall = carom.Contact(rod.tip, carom.Wall(0.0, "right"), carom.Newton(e), name="wall")
    world = carom.World(rod, contacts=wall)
    run = carom.simulate(world, world.state([first - 0.5 * np.pi]), until=1.5, settings=carom.Settings("dopri8", 1e-9))
    strike = run.impacts[0].t_start
    t, angle = extremes(run, 0)
    assert np.all(np.diff(t) >= 0.0) and t[-1] == 1.5 and angle[-1] == run.q[-1, 0]
    top = np.arccos(1.0 - e**2 * (1.0 - np.cos(first)))
    again, there = run.t > strike, t > strike
    assert np.max(run.q[again, 0]) + 0.5 * np.pi < top - 1e-6  # where steps end it is lower
    assert np.max(angle[there]) + 0.5 * np.pi == pytest.approx(top, abs=2e-9)
    assert np.min(angle) == pytest.approx(-0.5 * np.pi, abs=1e-12)
