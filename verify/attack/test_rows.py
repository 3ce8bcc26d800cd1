"""Known failures, one by one: each was seen on the engine that armed guards by their signs.

The comment in each test says what that engine did.
"""

import numpy as np
import pytest

import carom

from . import test_feet as feet
from . import test_posts as posts
from . import test_rolls as rolls
from . import test_shakers as shakers
from .tally import run

G = 9.81


def ball_on(floor, restitution=0.5, radius=0.1, mass=1.0):
    ball = carom.Mechanism([carom.Disk(radius=radius, mass=mass)], base=carom.Free())
    contact = carom.Contact(ball.tip, carom.Plane(height=floor), restitution, radius=radius, name="floor")
    return carom.World(ball, contacts=contact, gravity=G)


@pytest.mark.slow
@pytest.mark.parametrize("floor", [0.0, 1.0, 0.5, 0.3, -1.2, 1e4])
def test_the_readmes_ball_at_another_height(floor):
    # Then: right at 0; elsewhere time stood still at the 12th or 13th bounce, at 1e4 m before the first.
    world = ball_on(floor)
    run = carom.simulate(
        world,
        world.state(base=(0.0, floor + 1.1)),
        until=3.0,
        throw=False,
        progress=False,
        settings=carom.Settings(max_steps=20_000),
    )
    assert run.finished, run.outcome
    assert run.events[-1].phase_after == "closed: floor"
    assert abs(run.q[-1][1] - floor - 0.1) < 1e-12 + 64 * np.spacing(abs(floor))


@pytest.mark.slow
@pytest.mark.parametrize("make", [rolls.make_hertz, rolls.make_hunt_crossley])
def test_a_ball_that_rolls_and_bounces_touches_down(make):
    # Then: 12 of 50 (Hertz) and 4 of 50 (Hunt and Crossley) stood still at a touch-down, on slopes of 0 and 1e-12.
    lanes = 50
    p, start = rolls.draws(np.random.default_rng(2), lanes)
    base, velocity = rolls.placed(p, start)
    where = {"base": base, "base_velocity": velocity, "rates": start[5:].T}
    ends = run(make, p, np.zeros((lanes, 1)), 1.0, **where, max_steps=100_000)
    assert np.all(ends.done), (
        f"{np.sum(~ends.done)} of {lanes} did not finish; the first: {ends.words(np.argmin(ends.done))}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("tilt", [0.0, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11])
def test_a_flat_bar_stays_on_two_feet(tilt):
    # Then: 12 of 20 finished with a foot below the floor, by up to 1 m, at tilts up to 1e-14; 6 at 1e-13, 1 at 1e-11.
    lanes, across = 20, np.linspace(0.05, 0.5, 20)
    one = np.ones(lanes)
    p = {"mass": one, "gyration": 0.3 * one, "off": 0.1 * one, "above": 0.0 * one, "mu": one, "floor": 0.0 * one}
    p["e"] = np.linspace(0.0, 0.9, lanes)
    angles = np.full((lanes, 1), tilt)
    ends = run(
        feet.make_of(2, False), p, angles, 1.0, base=np.stack([0 * one, across], 1), max_steps=30_000, size=lanes
    )
    sunk = feet.depth(ends.q, p, 2)
    assert np.all(ends.done), f"{np.sum(~ends.done)} of {lanes} did not finish"
    assert np.max(sunk) < 1e-9, (
        f"{np.sum(sunk > 1e-9)} of {lanes} finished with a foot below the floor, {np.max(sunk):.3g} m"
    )


@pytest.mark.slow
def test_a_thin_bar_meets_small_disks():
    # Then: 57 of 119 bars of 7 mm, swung at 11.8 rad/s, went through their disk.
    posts.test_the_bar_at_11_8_radians_per_second()


@pytest.mark.slow
def test_a_shaken_table_is_met_in_time():
    # Then: 13 of 37 first impacts were most of a period late.
    shakers.test_the_table_at_95_6_hertz()


@pytest.mark.slow
@pytest.mark.parametrize("lower", [0.0, 1e-15, 5e-13, 1e-12, 1e-11])
def test_two_balls_dropped_nearly_together(lower):
    # Then: exactly together they were right; 1e-15, 5e-13 and 1e-11 m apart they stood still, one after 0.742 s.
    both = carom.side_by_side(
        **{n: carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free()) for n in ("a", "b")}
    )
    contacts = [
        carom.Contact(both.site(f"{n}.link1.tip"), carom.Plane(height=0.0), 0.5, radius=0.1, name=n) for n in "ab"
    ]
    world = carom.World(both, contacts=[*contacts], gravity=G)
    for height in (0.3, 0.7, 1.0):
        base = [(0.0, 0.1 + height), (1.0, 0.1 + height + lower)]
        run = carom.simulate(
            world,
            world.state(base=base),
            until=2.5,
            throw=False,
            progress=False,
            settings=carom.Settings(max_steps=20_000),
        )
        assert run.finished, f"from {height} m: {run.outcome} at t = {run.t[-1]}"
        assert np.max(np.abs(run.q[-1][[1, 3]] - 0.1)) < 1e-12


# -- friction at any mass ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("mass", [1.0, 1e-3, 1e-6])
def test_a_block_on_a_belt_slips_at_the_same_instant(mass):
    # Then: right at 1 kg; late by 2e-8 s at 1 g and by 2e-5 s at 1 mg: a tolerance of 1e-9 N is a lot for a milligram.
    block = carom.Mechanism([carom.Body(mass=mass, inertia=mass)], base=carom.Free())
    belt = carom.Moving(carom.Plane(height=0.0), velocity=(0.5, 0.0))
    contact = carom.Contact(block.tip, belt, 0.0, carom.Coulomb(0.3), name="belt")
    spring = carom.Spring(block.tip, to=(-1.0, 0.0), stiffness=100.0 * mass, length=1.0)
    world = carom.World(block, contacts=contact, elements=spring, gravity=G)
    run = carom.simulate(world, world.state(base=(0.0, 0.0), base_velocity=(0.5, 0.0)), until=0.1, progress=False)
    slips = [event.t for event in run.events if event.exit.startswith("slip")]
    assert slips and abs(slips[0] - 0.3 * G / (100.0 * 0.5)) < 1e-9, slips


@pytest.mark.slow
@pytest.mark.parametrize("mass", [1.0, 1e-3, 1e-6])
def test_what_sticks_does_not_creep(mass):
    # Then: 2.6e-11 m in 5 s at 1 kg, 3.5e-11 m at 1 mg (inertia 1e-8 kg m^2); right at 1 g.
    toe = carom.Mechanism([carom.Body(mass=mass, inertia=1e-2 * mass)], base=carom.Free())
    slope = carom.Plane(point=(0.0, 0.0), slope=0.1)
    contact = carom.Contact(toe.tip, slope, 0.0, carom.Coulomb(0.5), name="toe")
    world = carom.World(toe, contacts=contact, gravity=G)
    run = carom.simulate(world, world.state(base=(0.0, 0.0)), until=5.0, progress=False, throw=False)
    assert run.finished and np.max(np.abs(run.q[:, :2])) < 1e-12, np.max(np.abs(run.q[:, :2]))


# -- tables and horizons -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_impact_at_the_horizon_is_over():
    # Then: result.at(horizon) was the state before the impact, result.v[-1] the one after.
    for height in (0.5, 1.0, 1.7):
        until = float(np.sqrt(2.0 * height / G))
        world = ball_on(0.0)
        run = carom.simulate(world, world.state(base=(0.0, 0.1 + height)), until=until, progress=False)
        if run.events:  # the last bits decide whether the impact comes before the horizon
            np.testing.assert_allclose(run.at(run.t[-1]).v[0], run.v[-1], rtol=0, atol=1e-9)
            assert run.v[-1][1] > 0.0


@pytest.mark.slow
def test_the_floors_share_of_a_blow_is_listed():
    # Then: only the wall was listed; KeyError: 'floor'.
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=2.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), 0.0, radius=0.1, name="floor")
    lean = 0.3  # a wall that leans over the floor presses the ball down
    wall = carom.Plane(point=(1.0, 0.0), normal=(-np.cos(lean), -np.sin(lean)))
    wall = carom.Contact(ball.tip, wall, 0.0, radius=0.1, name="wall")
    world = carom.World(ball, contacts=[floor, wall], gravity=G)
    run = carom.simulate(world, world.state(base=(0.0, 0.1), base_velocity=(2.0, 0.0)), until=1.0, progress=False)
    shares = {impact.contact: impact.normal_impulse for impact in run.impacts if impact.t_start > 0.0}
    assert shares["wall"] == pytest.approx(2.0 * 2.0 / np.cos(lean), rel=1e-6)
    assert shares["floor"] == pytest.approx(2.0 * 2.0 * np.tan(lean), rel=1e-6)


# -- worlds that go wrong ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_hopper_without_a_body_ends():
    # Then: right; the foot stays above, the body swings through the floor, which nothing forbids.
    leg = carom.Link(carom.Rod(length=0.5, mass=0.2), name="leg", sites={"foot": (0.5, 0.0)})
    hopper = carom.Mechanism([leg], base=carom.Free()).weld("leg", carom.Disk(radius=0.1, mass=2.0), at=(0.0, 0.0))
    law = carom.Poisson(0.3)
    foot = carom.Contact(hopper.site("foot"), carom.Plane(height=0.0), law, carom.Coulomb(0.6), name="foot")
    world = carom.World(hopper, contacts=foot, gravity=G)
    for lean in (0.05, 0.3, 0.8):
        run = carom.simulate(
            world,
            world.state(angles=[-np.pi / 2 + lean], base=(0.0, 0.7)),
            until=5.0,
            throw=False,
            progress=False,
            settings=carom.Settings(max_steps=100_000),
        )
        assert "step limit" not in run.outcome, f"lean {lean}: t = {run.t[-1]}, {run.outcome}"
        assert len(run.events) < 5_000
        tip = run.q[:, 1] + 0.5 * np.sin(run.q[:, 2])
        assert np.min(tip) > -1e-9, f"lean {lean}: the foot went {-np.min(tip):.3g} m below the floor"


@pytest.mark.slow
def test_a_controller_that_diverges_ends_by_name():
    # Then: step limit, after 375 events, at rates of 6,000 rad/s.
    arm = carom.Arm([carom.Rod(length=0.5, mass=1.0), carom.Rod(length=0.5, mass=1.0)], base=(0.0, 0.6))
    control = carom.PostureControl(arm, [[0.3, -0.3]], kp=[-50.0, -50.0], kd=[-20.0, -20.0])
    floor = carom.Contact(arm.tip, carom.Plane(height=0.0), 0.5, name="floor")
    world = carom.World(arm, contacts=floor, control=control, gravity=G)
    run = carom.simulate(world, world.state(angles=[0.2, 0.1]), until=20.0, throw=False, progress=False)
    assert not run.finished
    assert np.all(np.isfinite(run.q[:-1]))
    assert "a controller diverges" in run.outcome and run.statistics.steps < 1_000_000, run.outcome


@pytest.mark.slow
@pytest.mark.parametrize("pressed", [1.0, 1e2, 1e4])
def test_a_ball_stays_on_top_of_its_dent(pressed):
    # Then: at 100 g a rebound ended within the dent, the touch was never armed again, and it fell 117 m; "finished".
    radius = 0.005
    ball = carom.Mechanism([carom.Disk(radius=radius, mass=0.5)], base=carom.Free())
    steel = carom.Material(210e9, 0.29, 1.12e9)
    law = carom.JacksonGreen(steel, steel, radius)
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), law, radius=radius, name="floor")
    world = carom.World(ball, contacts=floor, gravity=pressed * G)
    run = carom.simulate(
        world,
        world.state(base=(0.0, radius + 1.0 / pressed)),
        until=0.5,
        throw=False,
        progress=False,
        settings=carom.Settings(max_steps=200_000),
    )
    assert np.min(run.q[:, 1]) > 0.0, f"{run.outcome}: the ball is {radius - np.min(run.q[:, 1]):.3g} m below the floor"


@pytest.mark.slow
def test_a_ball_goes_on_bouncing_where_gravity_is_weak():
    # Then: rebounds below 1e-6 m/s counted as none, whatever their height: it lay still after 15 of 27 bounces.
    weak, e, height, until = 1e-8, 0.9, 1e-3, 8000.0
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), e, radius=0.1, name="floor")
    world = carom.World(ball, contacts=floor, gravity=weak)
    run = carom.simulate(world, world.state(base=(0.0, 0.1 + height)), until=until, progress=False, throw=False)
    first = np.sqrt(2.0 * height / weak)
    instants = first * (1.0 + 2.0 * e * (1.0 - e ** np.arange(100)) / (1.0 - e))
    n = int(np.sum(instants < until))
    since, speed = until - instants[n - 1], weak * first * e**n
    assert run.finished and len(run.events) == n, f"{run.outcome}: {len(run.events)} of {n} bounces"
    assert abs(run.q[-1][1] - 0.1 - speed * since + 0.5 * weak * since**2) < 1e-8
