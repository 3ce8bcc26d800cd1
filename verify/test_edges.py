"""Boxes with sharp corners on the ends of edges: one slides off a table, others stand exactly on each other."""

import itertools

import numpy as np
import pytest

import carom

SIDE = 0.2
OUTLINE = np.array([(-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1)])


@pytest.mark.parametrize("mirror", [1.0, -1.0])
@pytest.mark.parametrize("friction", [None, 0.1])
def test_a_box_slides_off_a_table_and_tips_over_its_edge(friction, mirror):
    """Flat until its middle is over the end; its corners hand over to that of the table, and back, without a blow."""
    box = carom.Mechanism([carom.Link(carom.Body(mass=1.0, inertia=0.02), name="box")], base=carom.Free())
    shape = carom.Polygon("box.tip", (OUTLINE * [mirror, 1.0])[:: int(mirror)])
    corners = [(-2.0 * mirror, -1.0), (0.0, -1.0), (0.0, 0.0), (-2.0 * mirror, 0.0)]
    law = None if friction is None else carom.Coulomb(friction)
    contact = carom.Contact(shape, carom.Block(corners[:: int(mirror)]), carom.Plastic(), law, name="table")
    world = carom.World(box, contacts=contact, gravity=9.81)
    start = world.state(base=(-0.5 * mirror, 0.1), base_velocity=(2.0 * mirror, 0.0))
    result = carom.simulate(world, start, until=0.6)
    a = 9.81 * (friction or 0.0)
    tips = 0.5 - 0.1 * (friction or 0.0)  # friction turns it forward: mu h earlier
    passes = [s / 2.0 if a == 0.0 else (2.0 - np.sqrt(4.0 - 2.0 * a * s)) / a for s in (0.3, tips)]
    lifts = [e.t for e in result.events if "lift" in e.exit]
    np.testing.assert_allclose(lifts[:2], passes, rtol=0, atol=1e-8)
    assert len(lifts) == 3 and result.events[-1].phase_after == "open"
    assert result.penetration < 1e-10 and result.energy.max_error_percent < 1e-6
    assert max((abs(e.normal_impulse) for e in result.impacts), default=0.0) < 1e-6
    assert result.v[-1][2] * mirror < -1.0


def stack(count, law=None):
    """Equal boxes exactly on each other, on a floor."""
    box = carom.Mechanism([carom.Link(carom.Body(mass=1.0, inertia=SIDE**2 / 6.0), name="box")], base=carom.Free())
    boxes = carom.side_by_side(**{f"b{k}": box for k in range(count)})
    outline = [(x * SIDE / 2.0, y * SIDE / 2.0) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    shapes = [carom.Polygon(name, outline) for name in boxes.topology.site_names]
    laws = (law or carom.Plastic(), carom.Coulomb(0.5))
    contacts = [carom.Contact(shapes[0], carom.Plane(height=0.0), *laws, name="floor")]
    contacts += [carom.Contact(b, a, *laws, name=f"on {k + 1}") for k, (a, b) in enumerate(itertools.pairwise(shapes))]
    world = carom.World(boxes, contacts=contacts, gravity=9.81)
    return world, [(0.0, SIDE * (k + 0.5)) for k in range(count)]


@pytest.mark.parametrize("count", [2, 10])
def test_a_stack_of_boxes_stands(count):
    world, places = stack(count)
    result = carom.simulate(world, world.state(base=places), until=10.0)
    np.testing.assert_allclose(result.q[-1], result.q[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(result.v[-1], 0.0, atol=1e-9)
    assert result.penetration < 1e-9


@pytest.mark.parametrize(("count", "pull"), [(4, 6.0), (10, 8.0)])
def test_a_stack_falls_when_its_lowest_is_pulled_away(count, pull):
    """The lowest box slides out from under the others within 0.05 s, against friction on both sides; they fall."""
    world, places = stack(count)
    speeds = [(pull, 0.0)] + [(0.0, 0.0)] * (count - 1)
    result = carom.simulate(world, world.state(base=places, base_velocity=speeds), until=0.2)
    x, y = result.q[-1][: 2 * count : 2], result.q[-1][1 : 2 * count : 2]
    assert result.penetration < 1e-9 and result.energy.max_error_percent < 1e-6
    energy = result.energy.kinetic + result.energy.potential
    assert np.all(np.diff(energy) < 1e-9 * np.max(np.abs(energy)))
    assert x[0] > SIDE and np.all(y[1:] < np.array(places)[1:, 1] - 0.05)
