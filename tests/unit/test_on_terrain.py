"""An inchworm on any surface, with unequal links: the torques of NumPy's own equations, in any place and mirrored."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.crawl import Inchworm, TerrainInchworm
from carom.scenario import load
from carom.scenario._crawlers import gait_of
from carom.scenario.places import ScenarioError
from tests.unit.chains_on_surfaces import solved

LENGTHS, MASSES, MU, G = (0.12, 0.18, 0.15), (0.8, 1.3, 0.9), 0.4, 9.81
START, STEPS = [20.0, -4.0], [("front", [38.0, -8.0]), ("rear", [18.0, 6.0])]
TIMES = np.array([0.0, 0.3, 0.9, 1.7, 2.0])


def hills(side=1.0, x0=0.0, y0=0.0):
    """Hills of 2 cm; side -1 mirrors them."""
    return carom.Graph(_height, parameters=(side, x0, y0), bend=0.2, probe=x0)


def _height(x, side, x0, y0):
    s = side * (x - x0)
    return y0 + 0.02 * jnp.sin(7.0 * s) + 0.006 * jnp.cos(15.0 * s)


def walked(surface, foot, lengths=LENGTHS, masses=MASSES, steps=STEPS):
    worm = TerrainInchworm(surface, lengths, masses, MU, G, foot)
    return worm.gait(START, steps, 2.0, 0.5, degrees=True)


@pytest.fixture(scope="module")
def walk():
    return walked(hills(), (0.45, 0.0))


def test_both_feet_stand_on_the_surface_and_one_at_a_time_moves(walk):
    height = np.asarray(_height(jnp.asarray(walk.feet[..., 0]), 1.0, 0.0, 0.0))
    np.testing.assert_allclose(walk.feet[..., 1], height, atol=1e-10)
    moved = np.linalg.norm(np.diff(walk.feet, axis=0), axis=2)
    np.testing.assert_allclose(moved[[0, 1], [1, 0]], 0.0, atol=1e-12)
    assert np.all(moved[[0, 1], [0, 1]] > 0.01)
    assert float(walk.distance) == pytest.approx(np.mean(np.diff(walk.feet[[0, -1], :, 0], axis=0)), abs=1e-12)
    assert (float(walk.period), walk.placed(1)) == (4.0, (2.0, False, (0.0, 0.0)))


@pytest.mark.parametrize("k", [0, 1])
def test_torques_are_those_of_newton_and_euler(walk, k):
    """In NumPy, link by link; the direction of the reaction from the slope of the ground under the foot."""
    step = walk.steps[k]
    order = slice(None, None, 1 if step.holds == "rear" else -1)
    links = [
        (m, m * a * a / 12.0, np.array([a / 2.0, 0.0]), np.array([a, 0.0]))
        for a, m in zip(LENGTHS[order], MASSES[order], strict=True)
    ]
    moved, found = step.plan.over(TIMES)
    h = 1e-6
    for i in range(len(TIMES)):
        q, v, a = (np.asarray(x[i]) for x in (moved.q, moved.v, moved.a))
        reach = np.asarray(step.mechanism.numbers.pivot[0]) + sum(
            n[3][0] * np.array([np.cos(p), np.sin(p)]) for n, p in zip(links, q, strict=True)
        )
        slope = float(_height(reach[0] + h, 1.0, 0.0, 0.0) - _height(reach[0] - h, 1.0, 0.0, 0.0)) / (2.0 * h)
        normal = np.array([-slope, 1.0]) / np.hypot(1.0, slope)
        along = np.array([normal[1], -normal[0]])  # both feet go forwards, so friction points back
        torques, force, _ = solved(links, q, v, a, np.array([0.0, -G]), normal - MU * along, passive=2)
        np.testing.assert_allclose(found.torques[i, :2], torques[:2], rtol=1e-7)
        assert float(found.torques[i, 2]) == 0.0
        assert float(found.normal[i, 0]) == pytest.approx(force, rel=1e-7)


def test_a_kilometre_away_nothing_changes(walk):
    away = walked(hills(1.0, 1000.0, -300.0), (1000.45, -300.0))
    np.testing.assert_allclose(away.feet - np.array([1000.0, -300.0]), walk.feet, atol=1e-9)
    for here, there in zip(walk.steps, away.steps, strict=True):
        np.testing.assert_allclose(there.plan.over(TIMES)[1].torques, here.plan.over(TIMES)[1].torques, atol=1e-7)


def test_mirrored_it_is_the_same_walk_backwards(walk):
    steps = [("rear" if holds == "front" else "front", angles) for holds, angles in STEPS]
    other = walked(hills(-1.0), (-0.45, 0.0), LENGTHS[::-1], MASSES[::-1], steps)
    np.testing.assert_allclose(other.feet[:, ::-1] * np.array([-1.0, 1.0]), walk.feet, atol=1e-12)
    for here, there in zip(walk.steps, other.steps, strict=True):
        np.testing.assert_allclose(there.plan.over(TIMES)[1].torques, -here.plan.over(TIMES)[1].torques, atol=1e-10)


def test_on_level_ground_with_equal_links_it_is_the_inchworm():
    steps = [("front", [25.0, 15.0, -10.0])]
    other = TerrainInchworm(carom.Plane(height=0.0), [0.14] * 4, [1.0] * 4, MU, G, (0.56, 0.2))
    found = other.gait([0.0] * 3, steps, 1.0, degrees=True)
    step = Inchworm(0.14, 1.0, friction=MU).step("front", np.zeros(4), np.deg2rad(steps[0][1]), 1.0)
    times = np.linspace(0.0, 1.0, 7)
    (_, mine), (_, known) = found.steps[0].plan.over(times), step.plan.over(times)
    np.testing.assert_allclose(mine.normal, known.normal, atol=1e-12)
    np.testing.assert_allclose(mine.torques, -known.torques, atol=1e-12)  # seen as in a mirror
    assert float(found.steps[0].advance) == pytest.approx(float(step.advance), abs=1e-14)


def test_the_first_posture_must_reach_the_ground():
    with pytest.raises(
        carom.CaromError, match=r"the last link cannot reach the surface in the first posture \(its end"
    ):
        TerrainInchworm(carom.Plane(height=0.0), LENGTHS, MASSES).gait([80.0, 80.0], STEPS, 1.0, degrees=True)
    with pytest.raises(carom.CaromError, match=r"duration of gait holds 3 numbers; .* each of the 2 steps"):
        TerrainInchworm(carom.Plane(height=0.0), LENGTHS, MASSES).gait(START, STEPS, [1.0] * 3, degrees=True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((7.0, LENGTHS, MASSES), "surface of TerrainInchworm is a float; it must be a surface"),
        ((carom.Plane(height=0.0), [0.1], [1.0]), "lengths of TerrainInchworm holds 1; a chain has at least 2 links"),
        ((carom.Plane(height=0.0), LENGTHS, [1.0, 2.0]), "masses"),
        ((carom.Plane(height=0.0), LENGTHS, [1.0, -2.0, 1.0]), r"masses\[1\] of TerrainInchworm is -2"),
        ((carom.Moving(carom.Plane(height=0.0), velocity=(1.0, 0.0)), LENGTHS, MASSES), "moves; feet hold on one at"),
    ],
)
def test_what_it_is_made_of_is_checked(given, words):
    with pytest.raises(carom.CaromError, match=words):
        TerrainInchworm(*given)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"crawl.surface": "hill"}, r"surface \(of crawl\) .*'hills'"),
        ({"crawl.slope": 0.1}, "slope of crawl is 0.1, but its surface is 'hills', not level ground; tilt the surface"),
        ({"crawl.length": [0.1, 0.2]}, "length of crawl has shape"),
        ({"crawl.mass": [1.0, 1.0, 0.0, 1.0]}, r"masses\[2\] of TerrainInchworm is 0"),
    ],
)
def test_a_file_is_checked(change, words):
    from carom.experiment._scenario_check import check

    with pytest.raises(ScenarioError, match=words):
        check(load("inchworm-terrain").with_(change))


def test_unequal_links_need_no_surface():
    level = load("inchworm").with_({"crawl.length": [0.14] * 4, "crawl.slope": 0.05})
    short = level.with_({"crawl.steps": plain_steps(level)[:1]})
    sloped = load("inchworm").with_({"crawl.slope": 0.05, "crawl.steps": plain_steps(level)[:1]}).crawl
    known = Inchworm(0.14, 1.0, slope=sloped.slope).step("front", np.zeros(4), np.deg2rad([25.0, 15.0, -10.0]), 1.0)
    mine = gait_of(short).steps[0].plan.over([0.5])[1]
    np.testing.assert_allclose(mine.normal, known.plan.over([0.5])[1].normal, atol=1e-12)


def plain_steps(scenario):
    return [step.model_dump(exclude_none=True) for step in scenario.crawl.steps]
