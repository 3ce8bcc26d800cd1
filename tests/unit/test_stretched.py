"""Points that nothing moves along the normal, or along the surface: a pendulum over its lowest point, a lying link."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

import carom

DOWN = -np.pi / 2


def pendulum(floor=0.0, law=None, friction=None, surface=None, at=0.0, length=1.0):
    """A rod that just reaches the floor when it hangs."""
    arm = carom.Mechanism([carom.Rod(length=length, mass=1.0)], base=carom.Fixed(at, at + length))
    surface = carom.Plane(height=at + floor) if surface is None else surface
    contact = carom.Contact(arm.tip, surface, law or carom.Newton(restitution=0.5), friction, name="floor")
    return carom.World(arm, contacts=contact)


def free(start, rate, until=1.0, length=1.0):
    arm = carom.Mechanism([carom.Rod(length=length, mass=1.0)], base=carom.Fixed(0.0, length))
    world = carom.World(arm)
    return carom.simulate(world, world.state([start], [rate]), until=until)


@pytest.mark.parametrize("friction", [None, carom.Coulomb(mu=0.3)], ids=["smooth", "rough"])
@pytest.mark.parametrize("before", [0.0, 1e-9, 1e-7, 0.3])
def test_a_pendulum_that_just_reaches_the_floor_swings_through(friction, before):
    """It was held there for ever, at rest, as "closed", and the ledger said 0 %."""
    world = pendulum(friction=friction)
    result = carom.simulate(world, world.state([DOWN - before], [1.0]), until=1.0)
    np.testing.assert_allclose(result.q[-1], free(DOWN - before, 1.0).q[-1], atol=1e-8)
    assert not result.warnings
    assert result.energy.max_error_percent < 2e-6


@pytest.mark.parametrize("friction", [None, carom.Coulomb(mu=0.3)], ids=["smooth", "rough"])
def test_a_pendulum_that_hangs_on_the_floor_hangs(friction):
    world = pendulum(friction=friction)
    result = carom.simulate(world, world.state([DOWN], [0.0]), until=1.0)
    np.testing.assert_allclose(result.q[-1], DOWN, atol=1e-12)
    assert not result.warnings


@pytest.mark.parametrize(("at", "length", "rate", "until"), [(1e3, 1.0, 1.0, 1.0), (0.0, 1e-6, 1e3, 1e-3)])
def test_neither_place_nor_size_makes_it_strike(at, length, rate, until):
    world = pendulum(at=at, length=length)
    result = carom.simulate(world, world.state([DOWN - 0.3], [rate]), until=until)
    np.testing.assert_allclose(result.q[-1], free(DOWN - 0.3, rate, until, length).q[-1], atol=1e-7)


@pytest.mark.parametrize("height", [1e-12, 1e-10, 1e-8, 1e-4])
@pytest.mark.parametrize("past", [0.0, 1e-7])
def test_a_floor_that_is_higher_than_rounding_is_struck(height, past):
    """From a start at the floor the dip into it begins with a zero, and ends within the first step."""
    world = pendulum(floor=height)
    angle = np.arccos(1.0 - height)
    result = carom.simulate(world, world.state([DOWN - angle * (1.0 + past)], [1.0]), until=0.3)
    assert len(result.impacts) == 1
    assert result.impacts[0].t_start < 1e-8
    np.testing.assert_allclose(result.impacts[0].restitution, 0.5, atol=1e-3)
    assert result.penetration < 1e-13


def test_a_blow_at_the_first_instant_is_in_the_ledger():
    """The start's energy was taken after the blow: 100 % were missing."""
    world = pendulum(floor=0.5)
    start = world.state([DOWN - np.arccos(0.5)], [1.0])
    result = carom.simulate(world, start, until=0.05)
    assert result.impacts[0].t_start == 0.0
    assert result.energy.max_error_percent < 1e-6
    np.testing.assert_allclose(result.energy.start, world.energy(start.q, start.v))
    np.testing.assert_allclose(
        result.energy.works["rigid contacts: blows"][-1], -0.5 * (1.0 / 3.0) * (1.0 - 0.25), rtol=1e-9
    )


def test_a_table_that_lifts_a_hanging_rod_has_no_answer():
    """The rod would have to become shorter."""
    table = carom.Moving(carom.Plane(height=-0.05), velocity=(0.0, 0.5))
    world = pendulum(surface=table)
    with pytest.raises(carom.CaromError, match="rigid contacts allow no motion"):
        carom.simulate(world, world.state([DOWN], [0.0]), until=1.0)


def test_a_lying_link_cannot_slide_and_still_presses():
    """Its tangential row is zero: reactions were not finite, and the inchworm could not begin its first step."""
    arm = carom.Mechanism([carom.Rod(length=1.0, mass=2.0)], base=carom.Fixed(0.0, 0.0))
    contact = carom.Contact(arm.tip, carom.Plane(height=0.0), carom.Plastic(), carom.Coulomb(mu=0.5), name="floor")
    world = carom.World(arm, contacts=contact)
    result = carom.simulate(world, world.state([0.0], [0.0]), until=0.5)
    push = result.stances[0].normal_impulse / 0.5
    np.testing.assert_allclose(push, 2.0 * 9.81 / 2.0, rtol=1e-6)


def test_bars_that_pass_together_with_others_are_not_stopped():
    """What rests beside it is stopped together; the row of the pendulum is none, and its rate stays."""
    robots = carom.Mechanism(
        [carom.Rod(length=1.0, mass=1.0), carom.Rod(length=1.0, mass=1.0)],
        base=carom.Fixed(0.0, 2.0),
    )
    plane = carom.Plane(height=0.0)
    contacts = [carom.Contact(robots.tip, plane, carom.Plastic(), carom.Coulomb(mu=0.3), name="foot")]
    contacts.append(carom.Contact(robots.tip, carom.Plane(height=-1e-3), carom.Plastic(), name="below"))
    world = carom.World(robots, contacts=contacts)
    result = carom.simulate(world, world.state([DOWN, DOWN], [0.7, 0.7]), until=0.5)
    alone = carom.World(robots)
    want = carom.simulate(alone, alone.state([DOWN, DOWN], [0.7, 0.7]), until=0.5)
    np.testing.assert_allclose(result.q[-1], want.q[-1], atol=1e-8)
    assert bool(jnp.all(jnp.isfinite(result.v)))


@pytest.mark.parametrize("law", [carom.Newton(0.5), carom.Hertz(1e6)], ids=["rigid", "compliant"])
@pytest.mark.parametrize("tops", [1.9e-10, 4e-9, 4.3e-8, 1e-5])
def test_a_crest_that_tops_the_ceiling_is_met_on_the_way_up(law, tops):
    """Looked at where it is highest, nothing grows any more, and the ball was passed inside."""
    ball = carom.Mechanism([carom.Disk(radius=0.05, mass=1.0)], base=carom.Free())
    speed = 7.026867
    ceiling = carom.Plane(point=(0.0, speed**2 / (2 * 9.81) + 0.05 - tops), normal=(0.0, -1.0))
    world = carom.World(ball, contacts=carom.Contact(ball.tip, ceiling, law, radius=0.05))
    for start in (0.0, 0.25, -0.51):
        state = world.state(base=(0.0, 0.0), base_velocity=(start, speed))
        settings = carom.Settings(rtol=1e-12, atol=1e-12, max_events=1)
        result = carom.simulate(world, state, until=1.9, settings=settings)
        assert len(result.events) == 1
        np.testing.assert_allclose(result.events[0].v[1], np.sqrt(2 * 9.81 * tops), rtol=1e-3)


def lying(friction, at):
    """A rod whose pivot is as high as the floor: nothing slides its tip while it lies there."""
    arm = carom.Mechanism([carom.Rod(length=1.0, mass=1.0)], base=carom.Fixed(at, at))
    return carom.World(arm, contacts=carom.Contact(arm.tip, carom.Plane(height=at), carom.Hertz(1e6), friction))


DRY = {
    "coulomb": carom.Coulomb(mu=0.3),
    "static": carom.Coulomb(mu=0.3, static=0.6),
    "karnopp": carom.Karnopp(mu=0.3, static=0.6, band=1e-3),
}


@pytest.mark.parametrize("friction", DRY.values(), ids=DRY)
@pytest.mark.parametrize("at", [0.0, 1e3])
def test_a_rod_that_lies_along_the_floor_sinks_almost_as_without_friction(friction, at):
    """The row of its tip is zero: 0/0 ("not finite"), or a look ahead turned its sense round, without end."""
    angles = jnp.array([0.0, 0.0, 0.0, 1e-14, 1e-9])
    rates = jnp.array([0.0, -1.0, 1.0, -1.0, 0.0])
    ends = []
    for rubs in (friction, None):
        world = lying(rubs, at)
        start = world.state(angles=angles[:, None], rates=rates[:, None])
        ends.append(carom.batch(functools.partial(_same, world), angles, start, until=0.1))
    np.testing.assert_allclose(ends[0].q, ends[1].q, atol=5e-4)  # the lever of friction is no longer than the dent
    touched = np.asarray(rates) <= 0.0  # the one that leaves at once never rubs
    assert np.all(np.abs(ends[0].q - ends[1].q)[touched] > 0.0)


def _same(world, _):
    return world
