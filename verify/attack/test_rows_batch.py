"""Known failures of batches: lanes whose numbers are refused in a single run must be refused by name in a batch."""

import numpy as np
import pytest

import carom

G = 9.81


def make(p):
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    contact = carom.Contact(ball.tip, carom.Plane(height=0.0), carom.Newton(p), radius=0.1, name="floor")
    return carom.World(ball, contacts=contact, gravity=G)


def make_shaken(p):
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    table = carom.Moving(carom.Plane(height=0.0), amplitude=(0.0, p), frequency=10.0)
    contact = carom.Contact(ball.tip, table, carom.Newton(0.5), radius=0.1, name="table")
    return carom.World(ball, contacts=contact, gravity=G)


FEW = carom.Settings(max_steps=20_000)


def make_stiff(p):
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    law = carom.HuntCrossley(1e6, p)
    return carom.World(ball, contacts=carom.Contact(ball.tip, carom.Plane(height=0.0), law, radius=0.1), gravity=G)


@pytest.mark.slow
@pytest.mark.parametrize("bad", [np.nan, np.inf, -0.5, 1e9, 1.5])
@pytest.mark.parametrize("law", [make, make_stiff])
def test_a_restitution_that_is_none_fails_its_lane(bad, law):
    # Then: "all finished" but for infinity with Newton and NaN with Hunt and Crossley.
    values = np.array([0.5, bad, 0.7])
    out = carom.batch(law, values, law(0.5).state(base=(0.0, 1.1)), until=1.0, settings=FEW, throw=False)
    assert out.failed.tolist() == [1], out
    assert np.all(np.isfinite(out.q[[0, 2]]))


@pytest.mark.slow
@pytest.mark.parametrize("law", [make, make_stiff])
def test_a_lane_that_starts_inside_the_floor_fails(law):
    # Then: "all finished" with Newton; right with Hunt and Crossley.
    base = np.array([[0.0, 1.1], [0.0, 0.05], [0.0, 0.6]])
    out = carom.batch(law, np.full(3, 0.5), law(0.5).state(base=base), until=1.0, settings=FEW, throw=False)
    assert out.failed.tolist() == [1], out


@pytest.mark.slow
@pytest.mark.parametrize("field", ["angles", "rates", "base", "base_velocity"])
def test_a_start_that_is_not_finite_fails_its_lane(field):
    # Then: right, by name: not finite.
    start = {"angles": np.zeros((3, 1)), "rates": np.zeros((3, 1)), "base": np.full((3, 2), 1.1)}
    start["base_velocity"] = np.zeros((3, 2))
    start[field][1, 0] = np.nan
    out = carom.batch(make, np.full(3, 0.5), make(0.5).state(**start), until=1.0, settings=FEW, throw=False)
    assert out.failed.tolist() == [1], out


@pytest.mark.slow
def test_lanes_that_met_their_number_of_events_are_not_finished():
    # Then: "all finished", although lane 0 stopped at its third bounce and lane 1 at its horizon.
    base = np.array([[0.0, 0.2], [0.0, 5.0]])
    start, settings = make(0.5).state(base=base), carom.Settings(max_events=3)
    out = carom.batch(make, np.full(2, 0.5), start, until=1.0, settings=settings, throw=False)
    codes = np.asarray(out.outcome)
    assert codes[0] != codes[1] and out.t[0] < 1.0
    assert "all finished" not in repr(out), repr(out)


@pytest.mark.slow
def test_a_moving_surface_may_be_made_in_a_batch():
    # Then: jax.errors.TracerBoolConversionError, from the check of constants among the numbers of Moving.
    start = make_shaken(0.01).state(base=(0.0, 0.5))
    out = carom.batch(make_shaken, np.array([0.01, 0.02]), start, until=0.2, throw=False)
    assert len(out.failed) == 0


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 1e-16, 1e-12, 1e-10])
@pytest.mark.parametrize("law", [make, make_stiff])
def test_a_lane_that_starts_at_the_surface_and_moves_in(gap, law):
    # Then: with Newton it fell through the floor at gaps of 0 and 1e-16, and "all finished".
    base = np.broadcast_to([0.0, 0.1 + gap], (3, 2))
    velocity = np.array([[0.0, -1e-3], [0.0, -1.0], [0.0, 1.0]])
    start = law(0.5).state(base=base, base_velocity=velocity)
    out = carom.batch(law, np.full(3, 0.5), start, until=0.4, settings=FEW, throw=False)
    ended = np.isin(np.arange(3), out.failed)
    assert np.all(ended | (out.q[:, 1] > 0.09)), (out, out.q[:, 1])


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 1e-16, 1e-12])
@pytest.mark.parametrize("law", [make, make_stiff])
def test_a_run_that_starts_at_the_surface_and_moves_in(gap, law):
    # Then: right: a single run refuses what a batch lets fall.
    try:
        world = law(0.5)
        run = carom.simulate(
            world, world.state(base=(0.0, 0.1 + gap), base_velocity=(0.0, -1.0)), until=0.4, progress=False
        )
    except carom.CaromError:
        return  # refused by a sentence
    assert run.q[-1][1] > 0.09, (run, run.q[-1])
