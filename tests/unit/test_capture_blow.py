"""A capture as an impact: its signs, against the momentum of the object and the energy of the whole."""

import numpy as np

import carom
from carom.captures import capture
from carom.experiment.experiment import _blow_of
from carom.scenario import load
from carom.scenario._build import mechanism_of, state_of


def test_the_impulse_stops_the_object_and_takes_the_energy():
    both = mechanism_of(load("capture-sideways"))
    start = state_of(load("capture-sideways"), both)
    at = [both.topology.labels.index(name) for name in ("target.x", "target.y")]
    oblique = start.v.at[at[1]].set(-0.7)  # else nothing acts across the approach
    own = capture(both, "arm.link2.tip", "target.grip", carom.State(start.q, oblique), kind="point", restitution=0.5)
    impact, _, way = _blow_of(own)
    normal, tangent = np.array(way), np.array([way[1], -way[0]])
    impulse = impact.normal_impulse * normal + impact.tangential_impulse * tangent  # on the hand
    gained = 15.0 * np.asarray(own.after - own.before)[at]  # by the object, a disk of 15 kg about its base
    np.testing.assert_allclose(impulse, -gained, atol=1e-12)
    assert abs(impact.tangential_impulse) > 0.1 and impact.normal_velocity_after > 0.0 > impact.normal_velocity_before
    work = 0.5 * impact.normal_impulse * (impact.normal_velocity_before + impact.normal_velocity_after)
    np.testing.assert_allclose(impact.kinetic_energy_after - impact.kinetic_energy_before, work, rtol=1e-10)
