"""Sharp corners at sharp corners: which edge they stand on, and what happens when they slide past its end."""

import numpy as np
import pytest

import carom
from carom.contact._sharp import ABSENT, NOWHERE, arms_of, on_edge

SQUARE = carom.Polygon("a.tip", [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
ROUNDING = 1e-14


def met(x, y, corner=0, turn=0.0, held=0.0):
    """A corner of a square that is turned by an angle, at (x, y) of another square."""
    c, s = np.cos(turn), np.sin(turn)
    arms = tuple((c * ax - s * ay, s * ax + c * ay) for ax, ay in arms_of(SQUARE, corner))
    gap, normal, beyond = on_edge(SQUARE, x, y, arms, 1.0, ROUNDING, held)
    return float(gap), np.array([float(n) for n in normal]), float(beyond)


@pytest.mark.parametrize(("corner", "x"), [(0, -1.0), (1, 1.0)])
def test_a_corner_on_a_corner_stands_on_the_edge_below_whatever_rounding_says(corner, x):
    for dx, dy, turn in np.random.default_rng(0).uniform(-1.0, 1.0, (50, 3)) * [1e-14, 1e-12, 1e-12]:
        gap, normal, beyond = met(x + dx, 1.0 + dy, corner, turn)
        np.testing.assert_allclose(normal, [0.0, 1.0], atol=1e-15)
        assert gap == pytest.approx(dy, abs=1e-15) and abs(beyond) < 2e-14


def test_beside_and_beyond_are_told_apart():
    assert met(0.5, 1.0)[2] == pytest.approx(-0.5)
    gap, normal, beyond = met(1.0 + 1e-9, 1.0)
    assert gap == pytest.approx(1e-9) and beyond >= ABSENT  # apart by what it is past the end, sideways
    np.testing.assert_allclose(normal, [1.0, 0.0])
    assert met(0.5, 1.5)[2] == NOWHERE


def test_what_is_held_is_on_the_line_of_its_edge_past_the_end():
    gap, normal, beyond = met(1.01, 1.0 + 1e-12, held=1.0)
    np.testing.assert_allclose(normal, [0.0, 1.0])
    assert gap == pytest.approx(1e-12, abs=1e-15) and beyond == pytest.approx(0.01)


def test_a_corner_that_dips_below_an_edge_does_not_touch_there():
    """The box tips over an end: the corner of what is below touches its side."""
    assert met(1.0 - 1e-9, 1.0 + 1e-10, turn=-0.1)[2] >= ABSENT
    assert met(1.0 - 1e-9, 1.0 + 1e-10, turn=0.1)[2] == pytest.approx(-1e-9, abs=1e-14)


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_a_point_slides_off_a_table(mirror):
    """It slows down by mu g as far as the end, and then falls freely."""
    mass = carom.Mechanism([carom.Link(carom.Body(mass=1.0, inertia=0.01), name="p")], base=carom.Free())
    corners = [(-2.0 * mirror, -1.0), (0.0, -1.0), (0.0, 0.0), (-2.0 * mirror, 0.0)]
    table = carom.Block(corners[:: int(mirror)])
    contact = carom.Contact(mass.tip, table, carom.Newton(0.5), carom.Coulomb(0.2), name="table")
    world = carom.World(mass, contacts=contact, gravity=9.81)
    start = world.state(base=(-0.3 * mirror, 0.0), base_velocity=(1.5 * mirror, 0.0))
    result = carom.simulate(world, start, until=0.5)
    a = 0.2 * 9.81
    end = (1.5 - np.sqrt(1.5**2 - 2.0 * a * 0.3)) / a
    assert [(e.exit, e.phase_after) for e in result.events] == [("lift table", "open")]
    assert result.events[0].t == pytest.approx(end, abs=1e-12)
    later = 0.5 - end
    np.testing.assert_allclose(
        result.q[-1][:2], [mirror * (1.5 - a * end) * later, -0.5 * 9.81 * later**2], rtol=0, atol=1e-9
    )
    assert result.energy.max_error_percent < 1e-6


@pytest.mark.parametrize(("size", "far", "turn"), [(0.36, 1000.0, 2.7), (64.0, 1.0, -1.3), (1e-3, 1.0, 0.4)])
def test_a_point_slides_off_wherever_the_table_is_and_however_it_stands(size, far, turn):
    """Past the end the flank is as near as the top: rounding must not choose it."""
    turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    at = np.array([0.9, -0.7]) * far * size
    mass = carom.Mechanism([carom.Link(carom.Body(mass=1.0, inertia=0.01 * size**2), name="p")], base=carom.Free())
    table = carom.Block(size * np.array([(-2.0, -1.0), (0.0, -1.0), (0.0, 0.0), (-2.0, 0.0)]) @ turned.T + at)
    contact = carom.Contact(mass.tip, table, carom.Newton(0.5), carom.Coulomb(0.2), name="table")
    world = carom.World(mass, contacts=contact, gravity=tuple(turned @ (0.0, -9.81 * size)))
    start = world.state(base=tuple(turned @ (-0.3 * size, 0.0) + at), base_velocity=tuple(turned @ (2.5 * size, 0.0)))
    result = carom.simulate(world, start, until=0.3)
    a = 0.2 * 9.81
    assert result.events[-1].phase_after == "open" and "lift" in result.events[-1].exit
    assert result.events[-1].t == pytest.approx((2.5 - np.sqrt(2.5**2 - 2.0 * a * 0.3)) / a, abs=1e-8)
    assert result.energy.max_error_percent < 1e-6
