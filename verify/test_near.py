"""Boxes in two steps, bounds first, and all of them in one: the same events at the same instants."""

import itertools

import jax
import numpy as np
import pytest

import carom
from carom.contact.impact import _crowd_near, _kinds
from carom.hybrid import _run

H = 0.05
SQUARE = [(-H, -H), (H, -H), (H, H), (-H, H)]


def boxes(count):
    body = carom.Mechanism([carom.Disk(radius=H, mass=0.1)], base=carom.Free())
    robot = carom.side_by_side(**{f"b{k}": body for k in range(count)})
    shapes = [carom.Polygon(site, SQUARE) for site in robot.topology.site_names]
    floor = [
        carom.Contact(s, carom.Plane(height=0.0), carom.Newton(0.3), name=f"floor {k}") for k, s in enumerate(shapes)
    ]
    pairs = [
        carom.Contact(a, b, carom.Newton(0.3), name=f"{i} - {j}")
        for (i, a), (j, b) in itertools.combinations(enumerate(shapes), 2)
    ]
    return carom.World(robot, contacts=[*floor, *pairs], gravity=9.81, settle_speed=1e-3)


def starts(world):
    """Boxes that fall; and boxes that are shot at each other from afar, so that one long step would pass them all."""
    rng = np.random.default_rng(1)
    places = [(0.15 * k, 0.2 + 0.11 * (k % 2)) for k in range(6)]
    falling = world.state(base=places, angles=rng.uniform(-0.5, 0.5, 6))
    far = [(20.0 * (k // 2) + 6.0 * (k % 2), 5.0 + 0.03 * (k % 2)) for k in range(6)]
    speeds = [((40.0, 0.0), (-60.0, 0.0))[k % 2] for k in range(6)]
    shot = world.state(base=far, angles=rng.uniform(-0.5, 0.5, 6), base_velocity=speeds)
    return {"falling": (falling, 0.5), "shot": (shot, 0.2)}


def runs(monkeypatch, many):
    monkeypatch.setenv("CAROM_PROGRAMS", "off")
    monkeypatch.setattr(_kinds, "MANY", many)
    monkeypatch.setattr(_crowd_near, "PIECE", 16)
    _run._EXECUTABLES.clear()
    jax.clear_caches()
    world = boxes(6)
    assert world.automata[0].crowd.sifted == (many < 100)
    return {word: carom.simulate(world, start, until=until) for word, (start, until) in starts(world).items()}


@pytest.fixture(scope="module")
def both():
    with pytest.MonkeyPatch.context() as patch:
        one, two = runs(patch, 10**6), runs(patch, 8)
    _run._EXECUTABLES.clear()
    return one, two


@pytest.mark.parametrize("word", ["falling", "shot"])
def test_events_and_ends_are_the_same_in_one_step_and_in_two(both, word):
    one, two = (each[word] for each in both)
    assert len(one.impacts) == len(two.impacts) > 5 * (word == "falling")
    assert np.allclose([i.t_start for i in one.impacts], [i.t_start for i in two.impacts], rtol=0.0, atol=1e-9)
    assert [i.contact for i in one.impacts] == [i.contact for i in two.impacts]
    assert one.statistics.steps == pytest.approx(two.statistics.steps, rel=0.01)  # nor is anything looked at again
    assert np.allclose(one.q[-1], two.q[-1], rtol=0.0, atol=1e-6)
