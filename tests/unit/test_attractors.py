"""Attractors, basins and dimensions of what is known in closed form; lanes of an oscillator with two of them."""

import numpy as np
import pytest
from examples import impact_oscillator

import carom


def test_attractors_are_told_apart_by_their_points():
    rng = np.random.default_rng(0)
    kinds = [np.array([[1.0, 2.0]]), np.array([[0.0, -1.0], [3.0, 1.0]]), np.array([[0.0, 1.0], [3.0, -1.0]])]
    which = np.concatenate([rng.integers(0, 3, 97), [0, 1, 2]])
    points = np.zeros((104, 8, 2))
    for lane, kind in enumerate(which):
        turns = rng.integers(0, 2)
        points[lane] = [kinds[kind][(k + turns) % len(kinds[kind])] for k in range(8)]
    points += 1e-9 * rng.normal(size=points.shape)
    points[100:103] = rng.normal(size=(3, 8, 2))  # wander
    points[103, 2] = np.nan
    found = carom.attractors(points)
    assert np.all(found.labels[100:103] == -1) and found.labels[103] == -2
    counts = np.bincount(which)
    assert [a.lanes for a in found.found] == sorted(counts.tolist(), reverse=True)
    for label, attractor in enumerate(found.found):
        (kind,) = {int(k) for k in which[found.labels[:100] == label]}
        known = kinds[kind][np.argsort(-kinds[kind][:, 0])]
        assert attractor.period == len(known)
        np.testing.assert_allclose(attractor.points, known, atol=1e-7)
    assert "3 attractors of 104 starts" in str(found) and "repeat nothing:   2.88%" in str(found)


def test_one_attractor_is_one_although_nothing_else_gives_a_scale():
    points = 0.3 + 1e-12 * np.random.default_rng(0).normal(size=(20, 6, 2))
    assert [a.lanes for a in carom.attractors(points).found] == [20]


def strips(level):
    """The gaps of Cantor's set, times a line: of every point, how many cuts it survived."""
    cut = np.array([(np.base_repr(k, 3).zfill(level) + "1").index("1") for k in range(3**level)])
    return np.broadcast_to(np.append(cut, 0), (3**level + 1, 3**level + 1))


def test_dimensions_of_borders_that_are_known():
    x = np.linspace(-1.0, 1.0, 513)
    disk = x[:, None] ** 2 + x[None, :] ** 2 < 0.6
    circle = carom.box_dimension(disk)
    assert circle.dimension == pytest.approx(1.0, abs=0.05)
    everywhere = carom.box_dimension(np.random.default_rng(0).integers(0, 2, (256, 256)), [2, 4, 8, 16])
    assert everywhere.dimension == pytest.approx(2.0, abs=0.06)
    found = carom.box_dimension(strips(6), [3, 9, 27, 81])
    assert found.dimension == pytest.approx(1.0 + np.log(2) / np.log(3), abs=0.04)
    assert carom.box_dimension(np.zeros((64, 64))).dimension == 0.0


def test_basins_of_a_driven_mass_between_stops_are_mirrored():
    """x, t -> -x, t + half a period: seen at full periods, the mirror of an attractor is another motion; here both."""
    x, v, found, ends = impact_oscillator.basins(16)
    assert not np.any(found.labels < 0) and len(ends.failed) == 0
    sizes = [a.lanes for a in found.found]
    assert len(found.found) == 4 and sum(sizes) == 256
    for lane in (3, 77, 200):  # a lane's end is the end of the run alone
        world = impact_oscillator.driven(0.0)
        start = world.state(slides=[x[lane % 16]], slide_rates=[v[lane // 16]])
        until = 2 * np.pi / impact_oscillator.FREQUENCY * (impact_oscillator.SETTLED + impact_oscillator.KEPT - 1)
        alone = carom.simulate(world, start, until=until, settings=impact_oscillator.QUICK)
        points = found.found[found.labels[lane]].points
        assert np.min(np.max(np.abs(points - [alone.q[-1][0], alone.v[-1][0]]), axis=1)) < 1e-3
    drawn = carom.figures.basins(x, v, found.labels.reshape(16, 16)).axes[0]
    assert drawn.collections[0].get_array().shape == (16, 16)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: carom.attractors(np.zeros((3, 4))), "points of attractors have shape"),
        (lambda: carom.attractors(np.zeros((3, 4, 2)), near=0.0), "near"),
        (lambda: carom.box_dimension(np.zeros((8, 8))), "give a grid, 32 by 32 at least"),
        (lambda: carom.box_dimension(np.zeros((64, 64)), [4]), "give two or more, from 1 to 64 cells"),
        (lambda: carom.figures.basins([0, 1], [0, 1, 2], np.zeros((2, 3))), r"reshape them to \(3, 2\)"),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(carom.CaromError, match=words):
        call()
