"""Surfaces whose numbers are traced, how fast and how sharply they change, and how much work their input makes."""

import tracemalloc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.surfaces import AbstractSurface

FLOOR = carom.Plane(height=0.0)
BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())


def hills(x, a, k):
    return a * jnp.cos(k * x)


def bowl(x, y, a, b):
    return y - a * x**2 + b


def sway(t, a):
    return 0.0, a * jnp.sin(20.0 * t), 0.0


# Numbers that are traced stand beside some that are not: under jit, jax.numpy traces these as well.
# -- built while JAX traces -------------------------------------------------------------------------------------------

TRACED = {
    "shaker": lambda p: carom.Moving(FLOOR, amplitude=(0.0, 0.01 * p), frequency=10.0 * p, phase=p),
    "belt": lambda p: carom.Moving(FLOOR, velocity=(p, 0.0), turning=0.1 * p),
    "motion": lambda p: carom.Moving(
        FLOOR, motion=sway, parameters=(0.01 * p,), frequency=20.0 / 6.28, travel=0.01 * p
    ),
    "graph": lambda p: carom.Graph(hills, parameters=(0.1 * p, 3.0)),
    "implicit": lambda p: carom.Implicit(bowl, parameters=(p, 0.1)),
    "closure": lambda p: carom.Moving(
        carom.Graph(lambda x: 0.1 * p * jnp.cos(x)), motion=sway, parameters=(0.01,), frequency=4
    ),
    "spline": lambda p: carom.Spline([(-1.0, 0.1 * p), (0.0, 0.0), (1.0, 0.2 * p)]),
    "ring": lambda p: carom.Circle((0.0, 0.0), 2.0 + p, inside=True),
}


@pytest.mark.parametrize("kind", TRACED)
def test_a_surface_can_be_built_under_jit_and_vmap(kind):
    make, lanes = TRACED[kind], jnp.array([0.5, 1.5])

    def seen(p):
        surface = make(p)
        return surface.locate(0.2, 0.5, 0.3), surface.bound()

    make(0.7)  # with plain numbers it was always possible
    alone = [jax.tree.leaves(jax.jit(seen)(p)) for p in lanes]
    together = jax.tree.leaves(jax.jit(jax.vmap(seen))(lanes))
    for i, one in enumerate(alone):
        for many, expected in zip(together, one, strict=True):
            np.testing.assert_allclose(np.broadcast_to(many, (2,))[i], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["motion", "graph", "implicit"])
def test_a_batch_over_a_number_of_a_surface_is_the_runs_one_by_one(kind):
    def world(p):
        floor = carom.Contact(BALL.tip, TRACED[kind](p), carom.Hertz(1e6), radius=0.1, name="floor")
        return carom.World(BALL, contacts=floor, gravity=9.81)

    numbers, start, settings = np.array([0.6, 1.1]), BALL.state(base=(0.05, 0.35)), carom.Settings(ledger=False)
    ends = carom.batch(world, jnp.asarray(numbers), start, until=0.5, settings=settings)
    assert np.all(np.asarray(ends.events) >= 2)
    for i, p in enumerate(numbers):
        alone = carom.simulate(world(p), start, until=0.5, settings=settings)
        np.testing.assert_allclose(np.asarray(ends.q)[i], alone.q[-1], rtol=0, atol=1e-7)


# -- bounds -----------------------------------------------------------------------------------------------------------


def bounds(surface):
    return [float(x) for x in surface.bound()]


def test_surfaces_at_rest_have_no_speed_and_know_their_sharpest_place():
    for surface, bend in (
        (FLOOR, np.inf),
        (carom.Circle((0.0, 0.0), 0.3), 0.3),
        (carom.Graph(lambda x: 0.2 * jnp.sin(2.0 * x)), 1.0 / 0.8),
        (carom.Graph(lambda x: 1e-3 * jnp.sin(300.0 * x)), 1.0 / 90.0),
        (carom.Graph(jnp.sin, bend=0.5), 0.5),
        (carom.Implicit(lambda x, y: 1.0 - (x / 2.0) ** 2 - y**2), 0.5),
        (carom.Implicit(lambda x, y: 1.0 - x**2 - y**2, bend=0.7), 0.7),
        (carom.Spline([(np.cos(a), np.sin(a)) for a in np.arange(40) * np.pi / 20], closed=True), 1.0),
        (carom.Spline([(0.0, 0.0), (1.0, 1.0)]), np.inf),
    ):
        found = bounds(surface)
        assert found[:5] == [0.0] * 5
        assert found[5] == pytest.approx(bend, rel=0.01)


def test_a_bound_holds_for_the_motion_and_adds_up_over_carriers():
    shaker = carom.Moving(FLOOR, amplitude=(0.03, 0.04), frequency=2.0, velocity=(0.0, 1.0))
    rate = 4.0 * np.pi
    assert bounds(shaker) == pytest.approx([1.0 + 0.05 * rate, 0.1, 1.0, 0.0, rate, np.inf])
    top = carom.Moving(shaker, turning=-3.0)
    assert bounds(top) == pytest.approx([1.0 + 0.05 * rate, 0.1, 1.0, 3.0, rate, np.inf])
    speeds = [np.hypot(*map(float, shaker.drift(0.0, 0.0, t))) for t in np.linspace(0.0, 0.5, 41)]
    assert 0.9 * bounds(shaker)[0] < max(speeds) <= bounds(shaker)[0]


def test_a_motion_of_ones_own_is_bounded_by_its_frequency_and_travel():
    f = 20.0 / (2.0 * np.pi)
    known = carom.Moving(FLOOR, motion=sway, parameters=(0.1,), frequency=f, travel=0.1)
    assert bounds(known) == pytest.approx([2.0, 0.2, 0.0, 0.0, 20.0, np.inf])
    assert bounds(carom.Moving(FLOOR, motion=sway, parameters=(0.1,), frequency=f))[:5] == pytest.approx(
        [np.inf, np.inf, np.inf, 0.0, 20.0]
    )
    turns = carom.Moving(FLOOR, motion=lambda t: (0.0, 0.0, jnp.sin(t)), frequency=1.0, travel=0.0)
    assert bounds(turns)[3] == np.inf  # how fast its angle changes is not said


def test_a_surface_of_ones_own_that_says_nothing_is_taken_to_be_sharp_and_fast():
    class Step(AbstractSurface):
        def gap(self, x, y, t):
            return y

        def normal(self, x, y, t):
            return 0.0, 1.0

    class Lift(Step):
        def drift(self, x, y, t):
            return 0.0, 1.0

    assert bounds(Step()) == [0.0] * 5 + [0.01]
    assert bounds(Lift())[:5] == [np.inf] * 5


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: carom.Moving(FLOOR, motion=lambda t: (t, t, t)), r"motion of Moving is a function; .*give frequency="),
        (lambda: carom.Moving(FLOOR, motion=lambda t: (t, t, t), frequency=-1.0), "frequency of Moving is -1"),
        (
            lambda: carom.Moving(FLOOR, motion=lambda t: (t, t, t), frequency=1.0, travel=np.nan),
            "travel of Moving is nan",
        ),
        (lambda: carom.Moving(FLOOR, velocity=(1, 0), travel=1.0), "travel was given to Moving without a motion"),
        (lambda: carom.Graph(jnp.sin, bend=0.0), "bend of Graph is 0; it must be greater"),
        (lambda: carom.Implicit(lambda x, y: y, bend=np.nan), "bend of Implicit is nan"),
    ],
)
def test_bad_bounds_are_refused_by_a_sentence(make, words):
    with pytest.raises(carom.CaromError, match=words):
        make()


# -- work grows with the input ----------------------------------------------------------------------------------------


def wavy(count):
    x = np.linspace(0.0, 10.0, count)
    return np.stack([x, 0.1 * np.sin(3.0 * x)], axis=1)


def round_about(count):
    turn = np.arange(count) * 2.0 * np.pi / count
    return np.stack([np.cos(turn), np.sin(turn)], axis=1)


def numbers_made(jaxpr):
    """Entries of all arrays that a program makes, with those of every turn of its loops."""
    total = 0
    for line in jaxpr.eqns:
        inner = line.params.get("jaxpr")
        if inner is not None:
            total += line.params.get("length", 1) * numbers_made(getattr(inner, "jaxpr", inner))
        total += sum(int(np.prod(x.aval.shape)) for x in line.outvars)
    return total


@pytest.mark.parametrize(("shape", "closed"), [(wavy, False), (round_about, True)])
def test_the_work_of_a_spline_grows_with_its_points(shape, closed):
    """Twice the points: twice the numbers, traced and not; 10,000 points took 86 s when their matrix was full."""
    made = [
        numbers_made(jax.make_jaxpr(lambda p: carom.Spline(p, closed=closed).pieces)(shape(n)).jaxpr)
        for n in (400, 800)
    ]
    assert made[1] < 2.1 * made[0]
    peaks = []
    for n in (4000, 8000):
        points = shape(n)
        tracemalloc.start()
        carom.Spline(points, closed=closed)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.5 * peaks[0]


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "closed"), [(wavy, False), (round_about, True)])
def test_a_spline_of_traced_points_is_that_of_known_ones_with_derivatives(shape, closed):
    points = shape(12)

    def pieces(p):
        return carom.Spline(p, closed=closed).pieces

    np.testing.assert_allclose(jax.jit(pieces)(points), carom.Spline(points, closed=closed).pieces, atol=1e-13)
    ahead, behind = jax.jacfwd(pieces)(jnp.asarray(points)), jax.jacrev(pieces)(jnp.asarray(points))
    np.testing.assert_allclose(ahead, behind, atol=1e-12)
    assert np.max(np.abs(ahead)) > 1.0
