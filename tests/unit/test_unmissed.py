"""What an attack on the events found: each was passed in silence, or refused, once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import native

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())


def first_time(gap, until, count=400_001):
    """The first instant at which a gap is gone, by brute force; None if there is none."""
    t = np.linspace(0.0, until, count)
    inside = gap(t) < 0.0
    return t[np.argmax(inside)] if np.any(inside) else None


def test_a_post_that_comes_round_is_met():
    """What turns uniformly swings as well: a whole flight was one step, and the post came round in it."""

    def met(rate):
        rotor = carom.Moving(carom.Circle((1.0, 0.0), 0.2), turning=rate)  # about the origin
        post = carom.Contact(BALL.tip, rotor, carom.Newton(0.5), radius=0.1, name="post")
        world = carom.World(BALL, contacts=post, gravity=0.0)
        run = carom.simulate(world, world.state(base=(4.0, 0.0), base_velocity=(-1.0, 0.0)), until=4.0)
        return [e.t for e in run.events]

    for rate in (4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 20.0, 30.0):
        expected = first_time(lambda t: np.hypot(4 - t - np.cos(rate * t), np.sin(rate * t)) - 0.3, 4.0)  # noqa: B023
        found = met(rate)
        assert len(found) == (expected is not None)
        if expected is not None:
            assert found[0] == pytest.approx(expected, abs=2e-5)


HILLS = {  # 1 m high, 0.4 m wide; the sharpest bend has a radius of 0.02 m
    "graph": lambda: carom.Graph(lambda x: jnp.exp(-((5.0 * x) ** 2)), bend=0.02),
    "graph, estimated": lambda: carom.Graph(lambda x: jnp.exp(-((5.0 * x) ** 2))),
    "implicit": lambda: carom.Implicit(lambda x, y: y - jnp.exp(-((5.0 * x) ** 2)), bend=0.02, probe=(0.0, 1.5)),
}


@pytest.mark.parametrize("kind", HILLS)
def test_a_hill_is_met_although_the_ground_below_is_farther_away(kind):
    """The foot that is found is one nearby: the distance to it says nothing about what stands ahead."""
    contact = carom.Contact(BALL.tip, HILLS[kind](), carom.Newton(0.5), name="hill")
    world = carom.World(BALL, contacts=contact, gravity=0.0)
    wall = np.sqrt(-np.log(0.8)) / 5.0  # half the hill's width at 0.8 m
    for speed in (3.0, 5.0, 8.0, 20.0, 100.0):
        start = world.state(base=(-2.0, 0.8), base_velocity=(speed, 0.0))
        run = carom.simulate(world, start, until=1.0, settings=carom.Settings(max_events=1))
        assert run.events[0].t == pytest.approx((2.0 - wall) / speed, rel=1e-9)


def bump(x, at):
    return jnp.exp(-((5.0 * (x - at)) ** 2))


@pytest.mark.parametrize("law", [carom.Newton(0.5), pytest.param(carom.HuntCrossley(1e6, 0.5), marks=pytest.mark.slow)])
def test_a_hill_where_nobody_looked_is_met(law):
    """Curvature was looked for near the probe alone, and what is elsewhere was taken to be as flat."""
    wall = 2.0 - np.sqrt(-np.log(0.8)) / 5.0  # of a point that flies at 0.8 m
    for at in (30.0, -1000.0):
        surface = carom.Graph(bump, parameters=(at,))
        world = carom.World(BALL, contacts=carom.Contact(BALL.tip, surface, law, name="hill"), gravity=0.0)
        start = world.state(base=(at - 2.0, 0.8), base_velocity=(5.0, 0.0))
        run = carom.simulate(world, start, until=1.0, settings=carom.Settings(max_events=1))
        assert run.events[0].t == pytest.approx(wall / 5.0, rel=1e-9)
        assert len(run.t) < 300


def test_a_hill_that_is_carried_in_is_met():
    carried = carom.Moving(carom.Graph(bump, parameters=(-40.0,)), velocity=(10.0, 0.0))
    world = carom.World(BALL, contacts=carom.Contact(BALL.tip, carried, carom.Newton(0.5), name="hill"), gravity=0.0)
    run = carom.simulate(world, world.state(base=(0.0, 0.8)), until=8.0, settings=carom.Settings(max_events=1))
    assert run.events[0].t == pytest.approx(4.0 - np.sqrt(-np.log(0.8)) / 50.0, rel=1e-9)


def test_a_foot_is_on_the_near_side_of_a_hill():
    """Newton's step from the foot of the hill led beyond it, for some places and not for their neighbours."""
    x = np.linspace(-0.25, -0.15, 2001)
    gap = np.asarray(jax.vmap(lambda x: HILLS["graph"]().gap(x, 0.8, 0.0))(jnp.asarray(x)))
    assert np.all(np.abs(np.diff(gap)) <= 1.0001 * (x[1] - x[0]))  # a distance changes by no more than the way


def test_what_rolls_does_not_pass_a_bump_unfelt():
    """A held contact meets nothing: steps of 0.25 s, metres long, went over a bump as if it were not there."""
    road = carom.Graph(lambda x, at: 0.01 * jnp.exp(-(((x - at) / 0.05) ** 2)), parameters=(3.0,))
    contact = carom.Contact(BALL.tip, road, carom.Newton(0.0), radius=0.02, name="road")
    world = carom.World(BALL, contacts=contact, gravity=9.81)
    for speed in (2.0, 3.0, 5.0, 7.0, 10.0):
        run = carom.simulate(world, world.state(base=(0.0, 0.02), base_velocity=(speed, 0.0)), until=6.0 / speed)
        assert run.events[0].exit == "lift road" and run.events[0].t * speed == pytest.approx(2.95, abs=0.06)
        assert run.q[:, 1].max() > 0.03


@pytest.mark.parametrize("width", [0.01, 0.002, 0.001])
def test_narrow_hills_are_found_in_the_window(width):
    """0.02 m wide, and less than what is between two places that are looked at."""

    def height(x, at):
        return jnp.exp(-(((x - at) / width) ** 2)) + 0.1 * jnp.sin(3.0 * x)

    for at in (3.33, -7.2031, 0.4999):
        graph = carom.Graph(height, parameters=(at,))
        assert float(graph.bend) == pytest.approx(0.5 * width**2, rel=0.02)
        assert float(graph.steep) >= 0.99 * np.sqrt(2.0 / np.e) / width


@pytest.mark.parametrize("width", [0.01, 0.004])
def test_narrow_hills_of_an_equation_are_found_in_the_window(width):
    surface = carom.Implicit(lambda x, y: y - jnp.exp(-((x / width) ** 2)), probe=(3.0, 2.0))
    assert float(surface.bend) == pytest.approx(0.5 * width**2, rel=0.02)


def test_what_was_looked_at_ends_at_the_window():
    small, wide = (carom.Graph(bump, parameters=(30.0,), window=w) for w in (1.0, 50.0))
    assert np.isinf(small.bend) and wide.bend == pytest.approx(0.02, rel=1e-3)
    assert small.clearance(0.0, 5.0, 0.0, 5.0) == pytest.approx(1.0)  # up to the edge
    assert small.clearance(3.0, 5.0, 0.0, 5.0) == 0.01  # beyond it
    for kind in (carom.Graph, carom.Implicit):
        with pytest.raises(
            carom.CaromError, match=r"window of .* is 1e[+]06 m; it must not be above 1000 m; give bend="
        ):
            kind(lambda *at: at[-1], window=1e6)
        with pytest.raises(carom.CaromError, match="got window and bend; where the bend is known it is not"):
            kind(lambda *at: at[-1], window=1.0, bend=1.0)


def test_bodies_of_very_different_masses_rest_beside_each_other():
    """Reactions of the heavy one drowned in what is added for the light one's: "no motion is possible"."""
    for power in (0, 6, 8, 12, 16):
        balls = [carom.Mechanism([carom.Disk(radius=0.1, mass=10.0**k)], base=carom.Free()) for k in (0, power)]
        both = carom.side_by_side(a=balls[0], b=balls[1])
        floor = carom.Plane(height=0.0)
        contacts = [
            carom.Contact(f"{k}.link1.tip", floor, carom.Newton(0.5), carom.Coulomb(0.3), radius=0.1, name=k)
            for k in "ab"
        ]
        world = carom.World(both, contacts=contacts, gravity=9.81)
        run = carom.simulate(world, world.state(base=(0.0, 0.2, 1.0, 0.1)), until=1.0)
        assert run.finished and run.penetration < 1e-12
        np.testing.assert_allclose(run.q[-1][[1, 3]], 0.1, atol=1e-12)
        np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-12)


def run_on(surface, base, radius, restitution, until):
    contact = carom.Contact(BALL.tip, surface, carom.Newton(restitution), radius=radius, name="surface")
    world = carom.World(BALL, contacts=contact, gravity=9.81)
    return carom.simulate(world, world.state(base=base), until=until)


def knock(t, at):
    return 0.0, 0.02 * jnp.exp(-(((t - at) / 0.01) ** 2)), 0.0


def test_a_knock_under_a_ball_at_rest_is_felt():
    """A ball that lies on a table rides along with it; steps of 0.25 s passed over a knock of 10 ms."""
    for at in (5.03, 5.2, 5.23, 5.24):
        table = carom.Moving(carom.Plane(height=0.0), motion=knock, parameters=(at,), frequency=200.0, travel=0.02)
        run = run_on(table, (0.0, 0.1), 0.1, 0.0, 5.75)
        assert [e.exit for e in run.events] == ["lift surface", "strike surface"]
        # It leaves just before the crest's inflection, at sqrt(2 / e) / 0.01 s times the amplitude.
        assert run.v[:, 1].max() == pytest.approx(np.sqrt(2.0 / np.e) * 2.0, rel=0.02)


def test_a_curve_has_its_foot_on_the_nearer_wall_however_its_points_are_spaced():
    """A duct whose ceiling has a point every 0.1 m, and whose floor has hardly any."""
    top = [(x, 0.6) for x in np.linspace(10.0, 0.0, 101)]
    duct = carom.Spline([(0.0, 0.0), (0.1, 0.0), (9.9, 0.0), (10.0, 0.0), (10.3, 0.3), *top, (-0.3, 0.3)], closed=True)
    ends = {}
    for x in (1.5, 3.0, 5.0, 7.0, 8.5):
        run = run_on(duct, (x, 0.3), 0.05, 0.5, 1.0)
        assert run.finished and run.penetration < 1e-9
        assert run.made.back_end == native.HERE  # a table of samples is looked through there, too
        ends[x] = run.q[-1]
    for x, mirrored in ((1.5, 8.5), (3.0, 7.0)):
        np.testing.assert_allclose(ends[x][0], 10.0 - ends[mirrored][0], atol=1e-7)
        np.testing.assert_allclose(ends[x][1], ends[mirrored][1], atol=1e-7)


def put_down(gap):
    law = carom.HuntCrossley(1e6, 0.5)
    return carom.World(BALL, contacts=carom.Contact(BALL.tip, carom.Plane(height=-gap), law, radius=0.1, name="floor"))


def test_what_a_single_run_refuses_to_start_a_lane_refuses():
    gaps, start = np.array([0.0, 0.01]), BALL.state(base=(0.0, 0.1))
    with pytest.raises(
        carom.CaromError, match=r"lane 0: contact 'floor' is closed at the start: the approach speed is 0"
    ):
        carom.batch(put_down, gaps, start, until=0.01)
    out = carom.batch(put_down, gaps, start, until=0.01, throw=False)
    assert out.failed.tolist() == [0] and "cannot start in contact and at rest" in repr(out)
