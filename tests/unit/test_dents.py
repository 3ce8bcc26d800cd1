"""Dents that a blow leaves: what the next one finds there, by itself and in a run."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact import integrated_blow
from carom.contact.normal.jackson_green import ELASTIC, RESTITUTION

from .steel_and_rubber import STEEL

# -- dents -------------------------------------------------------------------------------------------------------------

DENTING = carom.JacksonGreen(STEEL, STEEL, 0.005, dents=True)
PLACE = (0.3, -1.0)


@pytest.fixture(scope="module")
def first():
    return integrated_blow(DENTING, 2.0, 1.0, place=PLACE)


def test_the_first_blow_does_not_know_of_dents(first):
    plain = integrated_blow(replace(DENTING, dents=False), 2.0, 1.0)
    assert first.speed == pytest.approx(plain.speed, rel=1e-12)
    assert first.memory[:3] == pytest.approx(plain.memory, rel=1e-12)
    assert first.memory[3:5] == PLACE
    assert 0.0 < first.memory[1] < first.memory[0] == pytest.approx(first.depth, rel=1e-9)


def test_the_surface_lies_deeper_within_the_dent_only(first):
    contact_radius = float(DENTING._contact_radius(jnp.asarray(first.memory[0])))
    assert contact_radius > np.sqrt(0.005 * first.depth)  # plastic contact is wider than Hertz's
    x, y = PLACE
    for share, depth in ((0.0, first.memory[1]), (0.99, first.memory[1]), (1.01, 0.0)):
        for angle in (0.0, 2.0):
            place = (x + share * contact_radius * np.cos(angle), y + share * contact_radius * np.sin(angle))
            assert float(DENTING.surface(first.memory, place)) == depth
    assert float(replace(DENTING, dents=False).surface(first.memory[:3], PLACE)) == 0.0


def test_a_lighter_blow_into_the_dent_is_elastic_and_leaves_it(first):
    phase, _ = DENTING.meet(jnp.asarray(0.9), first.memory, PLACE)
    assert int(phase) == RESTITUTION
    second = integrated_blow(DENTING, 0.9 * first.speed, 1.0, memory=first.memory, place=(PLACE[0] + 1e-4, PLACE[1]))
    assert second.speed == pytest.approx(0.9 * first.speed, rel=1e-11)
    assert first.memory[1] < second.depth < first.memory[0]
    assert second.memory[:5] == first.memory[:5]


def test_a_harder_blow_into_the_dent_deepens_it_by_the_energy_that_is_new(first):
    """Up to d_m it stores what the first blow gave back; then it goes on as if the first one had never stopped."""
    more = 0.5  # [J]
    speed = np.sqrt(first.speed**2 + 2.0 * more)
    second = integrated_blow(DENTING, speed, 1.0, memory=first.memory, place=(PLACE[0] + 1e-4, PLACE[1]))
    at_once = integrated_blow(DENTING, np.sqrt(2.0**2 + 2.0 * more), 1.0, place=PLACE)
    assert second.depth == pytest.approx(at_once.depth, rel=1e-9)
    assert second.memory[:5] == pytest.approx(at_once.memory[:5], rel=1e-9)  # the dent keeps its place
    assert second.speed == pytest.approx(at_once.speed, rel=1e-9)
    assert second.memory[1] > first.memory[1]


def test_a_blow_elsewhere_starts_afresh_and_leaves_the_last_dent(first):
    phase, _ = DENTING.meet(jnp.asarray(0.9), first.memory, (1.0, -1.0))
    assert int(phase) == ELASTIC
    plain = integrated_blow(DENTING, 1.0, 1.0, place=(1.0, -1.0))
    beside = integrated_blow(DENTING, 1.0, 1.0, memory=first.memory, place=(1.0, -1.0))
    assert beside.speed == pytest.approx(plain.speed, rel=1e-12) and beside.speed < 0.6
    assert beside.memory[:5] == pytest.approx(plain.memory[:5], rel=1e-12)
    light = integrated_blow(DENTING, 0.01, 1.0, memory=first.memory, place=(1.0, -1.0))
    assert light.speed == pytest.approx(0.01, rel=1e-11)
    assert light.memory[:5] == first.memory[:5]  # it left no dent, so the last one is still the first


# -- dents in a run: a ball falls a centimetre onto steel, straight or with a drift ------------------------------------


def restitutions(law, drift):
    """Of the first two bounces, with the depths at which they meet the floor."""
    ball = carom.Mechanism([carom.Disk(radius=0.005, mass=0.004)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), law, radius=0.005, name="floor")
    world = carom.World(ball, contacts=floor, gravity=9.81)
    start = world.state(base=(0.0, 0.015), base_velocity=(drift, 0.0))
    result = carom.simulate(world, start, until=0.15, settings=carom.Settings(rtol=1e-10))
    touches, releases = ([e for e in result.events if e.exit == kind][:2] for kind in ("touch", "release"))
    rebounds = [-out.v[1] / into.v[1] for into, out in zip(touches, releases, strict=True)]
    return rebounds, [0.005 - e.q[1] for e in touches], touches[-1].memory


def test_a_ball_that_falls_into_its_own_dent_loses_no_more():
    """The first blow hardens the place: what it gave back is just what the dent stores again."""
    soft = carom.JacksonGreen(STEEL, replace(STEEL, yield_strength=2e8), 0.005, dents=True)
    (first, second), depths, memory = restitutions(soft, 0.0)
    assert first < 0.8
    assert second == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(depths, [0.0, memory["residual indentation"]], rtol=0, atol=1e-12)
    (elsewhere, fresh), depths, _ = restitutions(soft, 0.1)
    assert elsewhere == pytest.approx(first, abs=1e-8)
    assert first < fresh < 0.9  # slower, on a surface as new: some loss again
    np.testing.assert_allclose(depths, 0.0, rtol=0, atol=1e-12)
