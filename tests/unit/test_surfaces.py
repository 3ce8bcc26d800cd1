"""Surfaces against dense sampling, closed forms and scipy's splines; and what they refuse."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar

import carom
from carom import native

RNG = np.random.default_rng(7)
ELLIPSE = lambda x, y: 1.0 - (x / 2.0) ** 2 - y**2  # noqa: E731
POINTS = np.array([(-1.0, 0.0), (0.0, 0.3), (0.7, -0.1), (2.0, 0.3), (2.6, 0.1)])
AROUND = np.array([(2.0 * np.cos(a), 1.5 * np.sin(a)) for a in np.array([0.0, 0.7, 1.5, 2.6, 3.3, 4.4, 5.5])])


def gaps(surface, points):
    return np.asarray(carom.jit(native.rows(lambda p: surface.gap(p[0], p[1], 0.0)))(jnp.asarray(points)))


# -- straight and round -----------------------------------------------------------------------------------------------


def test_a_plane_may_be_given_in_many_ways():
    x, y = 0.7, -0.4
    slope = carom.Plane(point=(0.2, 0.1), slope=0.3)
    same = carom.Plane(point=(0.2, 0.1), normal=(-5.0 * np.sin(0.3), 5.0 * np.cos(0.3)))
    np.testing.assert_allclose(slope.gap(x, y, 0.0), same.gap(x, y, 0.0), atol=1e-15)
    np.testing.assert_allclose(slope.normal(x, y, 0.0), (-np.sin(0.3), np.cos(0.3)), atol=1e-15)
    assert float(carom.Plane(height=-1.0).gap(x, y, 0.0)) == pytest.approx(0.6, abs=1e-15)
    assert float(carom.Wall(2.0, facing="left").gap(x, y, 0.0)) == pytest.approx(1.3, abs=1e-15)
    assert float(carom.Wall(-2.0, facing="right").gap(x, y, 0.0)) == pytest.approx(2.7, abs=1e-15)


def test_the_centre_of_a_ring_is_harmless():
    ring = carom.Circle((0.3, 0.2), 2.0, inside=True)
    assert float(ring.gap(0.3, 0.2, 0.0)) == 2.0
    assert np.all(np.isfinite(jax.grad(ring.gap, argnums=(0, 1))(0.3, 0.2, 0.0)))
    assert np.all(np.isfinite(jax.jacfwd(lambda x: jnp.stack(ring.normal(x, 0.2, 0.0)))(0.3)))


# -- curves against sampling ------------------------------------------------------------------------------------------


def nearest(curve, point, u):
    """Distance from a sampled curve, polished."""

    def far(u):
        return np.hypot(*(curve(u) - point))

    best = u[np.argmin(np.hypot(*(curve(u) - point[:, None])))]
    h = u[1] - u[0]
    return minimize_scalar(far, bounds=(best - h, best + h), method="bounded", options={"xatol": 1e-12}).fun


def wave(u):
    return np.array([u, 0.2 * np.sin(2.0 * u)])


def oval(u):
    return np.array([2.0 * np.cos(u), np.sin(u)])


@pytest.mark.parametrize(
    ("surface", "curve"),
    [
        (carom.Graph(lambda x: 0.2 * jnp.sin(2.0 * x)), wave),
        (carom.Implicit(lambda x, y: jnp.expm1(y - 0.2 * jnp.sin(2.0 * x))), wave),
        (carom.Implicit(ELLIPSE), oval),
        (carom.Spline(POINTS), lambda u: CubicSpline(*chords(POINTS), bc_type="natural")(u).T),
    ],
    ids=["graph", "implicit wave", "ellipse", "spline"],
)
def test_the_gap_is_the_distance_to_the_nearest_point(surface, curve):
    u = np.linspace(0.3, 2.5, 20)  # within the spline, whose parameter is its chord length
    feet = curve(u)
    along = curve(u + 1e-6) - curve(u - 1e-6)
    normal = np.array([-along[1], along[0]]) / np.hypot(*along)
    far = RNG.uniform(-0.2, 0.2, 20)
    points = (feet + far * normal).T
    found = gaps(surface, points)
    dense = np.linspace(-1.0, 4.0, 20001) if curve is not oval else np.linspace(0.0, 2 * np.pi, 20001)
    if isinstance(surface, carom.Spline):
        dense = np.linspace(0.0, chords(POINTS)[0][-1], 20001)
    expected = [nearest(curve, p, dense) for p in points]
    np.testing.assert_allclose(np.abs(found), expected, atol=1e-9)
    np.testing.assert_array_equal(np.sign(found), np.sign(far))


@pytest.mark.parametrize(
    ("surface", "side"),
    [
        (carom.Graph(lambda x: jnp.sin(3.0 * x)), lambda x, y: y - np.sin(3.0 * x)),
        (carom.Graph(lambda x: jnp.sin(3.0 * x), below=True), lambda x, y: np.sin(3.0 * x) - y),
        (carom.Implicit(ELLIPSE), ELLIPSE),
        (carom.Implicit(lambda x, y: y - jnp.sin(3.0 * x)), lambda x, y: y - np.sin(3.0 * x)),
    ],
    ids=["graph", "ceiling", "ellipse", "implicit wave"],
)
def test_the_sign_of_the_gap_is_right_far_beyond_the_radius_of_curvature(surface, side):
    points = RNG.uniform(-4.0, 4.0, (2000, 2))
    found, right = gaps(surface, points), side(*points.T)
    assert np.all(np.isfinite(found))
    clear = np.abs(right) > 1e-6
    np.testing.assert_array_equal(np.sign(found[clear]), np.sign(right[clear]))


def test_a_ball_may_start_in_the_middle_of_a_table():
    table = carom.Implicit(ELLIPSE)
    assert float(table.gap(0.0, 0.0, 0.0)) == pytest.approx(1.0, abs=0.05)  # an estimate will do there
    assert np.all(np.isfinite(jax.grad(table.gap, argnums=(0, 1))(0.0, 0.0, 0.0)))


# -- splines ----------------------------------------------------------------------------------------------------------


def chords(points):
    return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))]), points


@pytest.mark.parametrize("kind", ["natural", "clamped", "periodic"])
def test_splines_are_those_of_scipy(kind):
    points = AROUND if kind == "periodic" else POINTS
    tangents = np.array([(1.0, 1.0), (0.0, -2.0)]) if kind == "clamped" else None
    surface = carom.Spline(points, closed=kind == "periodic", tangents=None if tangents is None else tuple(tangents))
    ends = np.concatenate([points, points[:1]]) if kind == "periodic" else points
    unit = None if tangents is None else tangents / np.hypot(*tangents.T)[:, None]
    bc = {"natural": "natural", "periodic": "periodic", "clamped": unit is not None and ((1, unit[0]), (1, unit[1]))}
    s, _ = chords(ends)
    theirs = CubicSpline(s, ends, bc_type=bc[kind])
    on = theirs(np.linspace(0.0, s[-1], 50))
    np.testing.assert_allclose(gaps(surface, on), 0.0, atol=1e-12)
    off = np.linspace(0.1, s[-1] - 0.1, 30)
    t = theirs(off, 1)
    n = np.stack([-t[:, 1], t[:, 0]], axis=1) / np.hypot(*t.T)[:, None]
    np.testing.assert_allclose(gaps(surface, theirs(off) + 0.05 * n), 0.05, atol=1e-12)


def test_an_open_spline_goes_on_straight():
    surface = carom.Spline([(0.0, 0.0), (1.0, 0.2), (2.0, 0.0)], tangents=((1.0, 0.0), (1.0, -1.0)))
    np.testing.assert_allclose(gaps(surface, [(-50.0, 0.3), (12.0, -10.0)]), [0.3, 0.0], atol=1e-12)
    two = carom.Spline([(0.0, 0.0), (1.0, 1.0)])
    np.testing.assert_allclose(gaps(two, [(0.0, 1.0), (9.0, 8.0)]), np.sqrt([0.5, 0.5]) * [1, -1], atol=1e-12)


def test_a_closed_spline_has_its_free_side_on_the_left():
    inward, outward = carom.Spline(AROUND, closed=True), carom.Spline(AROUND[::-1], closed=True)
    assert float(inward.gap(1.5, 0.0, 0.0)) > 0.0 > float(outward.gap(1.5, 0.0, 0.0))
    np.testing.assert_allclose(gaps(inward, AROUND), 0.0, atol=1e-12)


# -- numbers that may change ------------------------------------------------------------------------------------------


def test_gaps_are_differentiable_in_the_numbers_of_a_surface():
    def crest(a):
        return carom.Graph(lambda x, a: a * jnp.cos(x), parameters=(a,)).gap(0.0, 1.0, 0.0)

    def raised(h):
        return carom.Spline([(-1.0, h), (0.0, h), (1.0, h)]).gap(0.3, 1.0, 0.0)

    def wider(r):
        return carom.Implicit(lambda x, y, r: x**2 + y**2 - r**2, parameters=(r,), probe=(1.0, 0.0)).gap(1.5, 0.5, 0.0)

    for gap, at in ((crest, 0.2), (raised, 0.1), (wider, 1.0)):
        assert float(jax.jit(jax.grad(gap))(at)) == pytest.approx(-1.0, abs=1e-10)
        assert float(jax.jit(jax.jacfwd(gap))(at)) == pytest.approx(-1.0, abs=1e-10)


# -- motion -----------------------------------------------------------------------------------------------------------


def test_a_belt_stays_where_it_is_and_drags():
    belt = carom.Moving(carom.Plane(height=0.2), velocity=(3.0, 0.0))
    assert float(belt.gap(5.0, 1.0, 2.0)) == pytest.approx(0.8, abs=1e-14)
    np.testing.assert_allclose(belt.drift(5.0, 0.2, 2.0), (3.0, 0.0), atol=1e-14)
    np.testing.assert_allclose(belt.place(5.0, 0.2, 2.0), (-1.0, 0.2), atol=1e-14)
    assert belt.moves and not carom.Plane(height=0.0).moves


def test_a_shaker_follows_its_sine():
    shaker = carom.Moving(carom.Plane(height=0.0), amplitude=(0.0, 0.1), frequency=2.0, phase=0.3)
    for t in (0.0, 0.1, 0.35):
        at = 2 * np.pi * 2.0 * t + 0.3
        assert float(shaker.gap(7.0, 1.0, t)) == pytest.approx(1.0 - 0.1 * np.sin(at), abs=1e-14)
        np.testing.assert_allclose(shaker.drift(7.0, 0.0, t), (0.0, 0.1 * 4 * np.pi * np.cos(at)), atol=1e-13)


def test_a_turning_wall_turns_about_its_point():
    door = carom.Moving(carom.Wall(1.0, facing="right"), turning=0.5, about=(1.0, 0.0))
    t = np.pi  # a quarter turn: the wall is a floor seen from its hinge, its normal up
    np.testing.assert_allclose(door.normal(3.0, 0.4, t), (0.0, 1.0), atol=1e-14)
    assert float(door.gap(3.0, 0.4, t)) == pytest.approx(0.4, abs=1e-14)
    np.testing.assert_allclose(door.drift(3.0, 0.0, t), (0.0, 1.0), atol=1e-14)  # 0.5 rad/s, 2 m from the hinge


def test_a_motion_given_as_a_function_is_the_ready_made_one():
    floor = carom.Plane(point=(0.0, 0.1), slope=0.2)
    ready = carom.Moving(floor, velocity=(0.3, -0.2), turning=0.7, about=(0.4, 0.1))
    turn = lambda t, w: (0.3 * t, -0.2 * t, w * t)  # noqa: E731
    own = carom.Moving(floor, motion=turn, parameters=(0.7,), about=(0.4, 0.1), frequency=0.0)
    for what in ("gap", "normal", "drift", "place"):
        a, b = (np.asarray(getattr(s, what)(0.5, 0.9, 1.3)) for s in (ready, own))
        np.testing.assert_allclose(a, b, atol=1e-14)


# -- refusals ---------------------------------------------------------------------------------------------------------

FLOOR = carom.Plane(height=0.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: carom.Plane(), "either a height or a point"),
        (lambda: carom.Plane(height=0.0, point=(0, 0)), "either a height or a point"),
        (lambda: carom.Plane(height=0.0, slope=0.1, normal=(0, 1)), "both a slope and a normal"),
        (lambda: carom.Plane(point=(0, 0), normal=(0, 0)), r"normal of Plane is \(0, 0\)"),
        (lambda: carom.Plane(height="low"), "height of Plane is 'low'"),
        (lambda: carom.Wall(1.0, facing="lift"), "did you mean 'left'"),
        (lambda: carom.Wall(np.nan, facing="left"), "x of Wall is nan"),
        (lambda: carom.Circle((0, 0), 0.0), "radius of Circle is 0; it must be greater"),
        (lambda: carom.Graph(3.0), "height of Graph is a float; it must be a function"),
        (lambda: carom.Graph(lambda x: jnp.stack([x, x])), r"gives \(2,\) at x = 0; it must give a single number"),
        (lambda: carom.Graph(lambda x: jnp.sqrt(x - 1.0)), "its value is nan at x = 0"),
        (lambda: carom.Graph(lambda x: jnp.abs(x) ** 1.5), "second derivative is (inf|nan) at x = 0"),
        (lambda: carom.Graph(lambda x: float(x)), "fails at x = 0 with ConcretizationTypeError"),
        (lambda: carom.Graph(lambda x: x, parameters=3.0), "parameters of Graph is a float; it must be a tuple"),
        (lambda: carom.Graph(lambda x, a: x, parameters=("a",)), r"parameters\[0\] of Graph is 'a'"),
        (lambda: carom.Graph(lambda x, a: x, parameters=(np.inf,)), r"parameters\[0\] of Graph is inf"),
        (lambda: carom.Spline([(0, 0)]), "holds 1; an open curve needs at least 2"),
        (lambda: carom.Spline([]), "holds 0; an open curve needs at least 2"),
        (lambda: carom.Spline([(0, 0), (1, 1)], closed=True), "holds 2; a closed curve needs at least 3"),
        (lambda: carom.Spline([(0, 0), (0, 0), (1, 1)]), r"points\[0\] and points\[1\] of Spline coincide"),
        (lambda: carom.Spline([(0, 0), (1, 0), (1, 1), (0, 0)], closed=True), "leave the last one out"),
        (lambda: carom.Spline([(0, 0), (1, 2, 3)]), r"points\[1\] of Spline has shape"),
        (lambda: carom.Spline(np.zeros((3, 3))), r"points of Spline has shape \(3, 3\)"),
        (lambda: carom.Spline(np.array([(0, 0), (1, np.nan)])), "not finite"),
        (lambda: carom.Spline([(0, 0), (1, 1)], tangents=((1, 0),)), "must be two directions"),
        (lambda: carom.Spline([(0, 0), (1, 1)], tangents=((1, 0), (0, 0))), r"tangents\[1\] of Spline is \(0, 0\)"),
        (lambda: carom.Spline(AROUND, closed=True, tangents=((1, 0), (1, 0))), "has no ends"),
        (lambda: carom.Implicit("circle"), "function of Implicit is a str"),
        (lambda: carom.Implicit(lambda x, y: (x, y)), r"gives \(\), \(\) at \(0, 0\)"),
        (lambda: carom.Implicit(lambda x, y: jnp.log(x)), "its value is -inf"),
        (lambda: carom.Implicit(lambda x, y: 1.0 + x**2), r"nowhere zero near \(0, 0\)"),
        (lambda: carom.Implicit(lambda x, y: (x**2 + y**2 - 1.0) ** 2), "has gradient zero at"),
        (lambda: carom.Implicit(ELLIPSE, probe=(1.0,)), "probe of Implicit has shape"),
        (lambda: carom.Moving(3.0, velocity=(1, 0)), "surface of Moving is a float"),
        (lambda: carom.Moving(FLOOR), "Moving got no motion"),
        (lambda: carom.Moving(FLOOR, velocity=1.0), "velocity of Moving has shape"),
        (lambda: carom.Moving(FLOOR, amplitude=(0, 0.1)), "needs both amplitude"),
        (lambda: carom.Moving(FLOOR, frequency=1.0), "needs both amplitude"),
        (lambda: carom.Moving(FLOOR, amplitude=(0, 0.1), frequency=0.0), "frequency of Moving is 0"),
        (lambda: carom.Moving(FLOOR, velocity=(1, 0), motion=lambda t: (t, t, t)), "a motion and also velocity"),
        (lambda: carom.Moving(FLOOR, velocity=(1, 0), parameters=(1.0,)), "without a motion to use them"),
        (lambda: carom.Moving(FLOOR, motion=lambda t: (t, t), frequency=0), "it must give 3 single numbers"),
        (lambda: carom.Moving(FLOOR, motion=lambda t: (1 / t, t, t), frequency=0), "every entry must be finite"),
        (lambda: carom.Moving(FLOOR, turning=1.0, about=(1, 2, 3)), "about of Moving has shape"),
    ],
)
def test_bad_input_is_refused_by_a_sentence(make, words):
    with pytest.raises(carom.CaromError, match=words):
        make()
