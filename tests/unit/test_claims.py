"""Sections through blows and long steps, responses that never arrive, and sentences that every controller owes."""

import itertools
import math

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.captures import HoldPose
from carom.control import (
    AtHeight,
    ComputedTorque,
    Cubic,
    FeedForward,
    Fitted,
    Hold,
    MinimumJerk,
    OnStrike,
    ParabolicBlends,
    Quintic,
    Waypoints,
)

# -- Poincare sections where blows end the steps -----------------------------------------------------------------------

RADIUS, DROP, BOUNCE, G = 0.1, 1.0, 0.7, 9.81


def height_rate(t, q, v):
    return v[1]


@pytest.fixture(scope="module")
def ball():
    """Let go one metre above a rigid floor; a flight is one step of the integration, or two."""
    disk = carom.Mechanism([carom.Disk(radius=RADIUS, mass=2.0)], base=carom.Free())
    floor = carom.Contact(disk.tip, carom.Plane(height=0.0), BOUNCE, radius=RADIUS, name="floor")
    world = carom.World(disk, contacts=floor, gravity=G)
    return carom.simulate(world, world.state(base=(0.0, DROP + RADIUS)), until=2.0)


def blows(count):
    """Instants of the blows and of the tops between them, and heights of the tops, in closed form."""
    t, speed, hits, tops, heights = math.sqrt(2 * DROP / G), math.sqrt(2 * DROP * G), [], [], []
    for _ in range(count):
        speed *= BOUNCE
        hits.append(t)
        tops.append(t + speed / G)
        heights.append(speed**2 / (2 * G))
        t += 2 * speed / G
    return hits, tops, heights


def test_a_ball_turns_at_every_top_and_at_every_blow(ball):
    section = carom.poincare(ball, height_rate)
    hits, tops, heights = blows(4)
    assert len(ball.t) < 3 * len(hits), "the test is about steps as long as a flight"
    expected = [t for pair in zip(hits, tops, strict=True) for t in pair]
    np.testing.assert_allclose(section.t, expected, rtol=1e-12)
    assert section.jumped.tolist() == [True, False] * 4
    np.testing.assert_allclose(section.q[1::2, 1] - RADIUS, heights, rtol=1e-10)
    np.testing.assert_allclose(section.v[1::2, 1], 0.0, atol=1e-12)
    after = BOUNCE ** np.arange(1, 5) * math.sqrt(2 * DROP * G)
    np.testing.assert_allclose(section.v[::2, 1], after, rtol=1e-10)  # of a blow, the state behind it
    for way, chosen in ((1, section.t[::2]), (-1, section.t[1::2])):
        np.testing.assert_array_equal(carom.poincare(ball, height_rate, direction=way).t, chosen)


@pytest.mark.parametrize("below", [1e-3, 1e-8])
def test_a_scalar_that_passes_zero_twice_within_a_step_is_found(ball, below):
    """Just below the tops: up and down again, shortly after another."""
    _, tops, heights = blows(2)
    for top, height in zip(tops, heights, strict=True):
        level = height - below
        section = carom.poincare(ball, lambda t, q, v, level=level: q[1] - RADIUS - level)
        near = section.t[np.abs(section.t - top) < 0.02]
        apart = math.sqrt(2 * below / G)
        np.testing.assert_allclose(near - top, [-apart, apart], rtol=1e-5)
        above = carom.poincare(ball, lambda t, q, v, level=height + below: q[1] - RADIUS - level)
        assert not np.any(np.abs(above.t - top) < 0.02)


def test_a_ball_that_has_come_to_rest_passes_nothing_any_more():
    """After infinitely many blows the rate stays zero: no passage, however long it lies there."""
    disk = carom.Mechanism([carom.Disk(radius=RADIUS, mass=2.0)], base=carom.Free())
    floor = carom.Contact(disk.tip, carom.Plane(height=0.0), 0.3, radius=RADIUS, name="floor")
    world = carom.World(disk, contacts=floor, gravity=G)
    result = carom.simulate(world, world.state(base=(0.0, 0.1 + RADIUS)), until=1.0)
    rest = math.sqrt(2 * 0.1 / G) * (1 + 2 * 0.3 / 0.7)
    section = carom.poincare(result, height_rate)
    assert len(section.t) > 8
    assert np.max(section.t) <= rest + 1e-9
    assert np.all(np.diff(section.jumped.astype(int)) != 0)  # blow, top, blow, top


def test_turning_points_of_an_arm_that_hammers_a_rigid_anvil():
    """Against a fine grid of every stretch between events, and the two sides of every event."""
    arm = carom.Arm([carom.Rod(length=1.0, mass=1.0)])
    anvil = carom.Contact(arm.tip, carom.Plane(height=-0.5), 0.6, name="anvil")
    schedule = [OnStrike(anvil), AtHeight(arm.tip, 0.5)]
    hammer = carom.PostureControl(arm, [[-1.0], [1.0]], kp=[50.0], kd=[3.0], schedule=schedule, compensate_weight=True)
    world = carom.World(arm, contacts=anvil, control=hammer)
    result = carom.simulate(world, world.state(angles=[0.3]), until=3.0)
    ends = np.unique([0.0, *(e.t for e in result.events), float(result.t[-1])])
    spans = [(t, t) for t in {e.t for e in result.events if e.v[0] * e.v_after[0] < 0.0}]
    assert len(spans) == sum(e.exit == "strike anvil" for e in result.events) >= 3
    for a, b in itertools.pairwise(ends):
        grid = np.linspace(a, b, 2001)
        rate = np.asarray(result.at(grid[:-1]).v)[:, 0]  # at b the state is already the one behind the event
        spans += [(grid[i], grid[i + 1]) for i in np.flatnonzero(rate[:-1] * rate[1:] < 0.0)]
    section = carom.poincare(result, lambda t, q, v: v[0])
    assert len(section.t) == len(spans) >= 6
    for t, (low, high) in zip(section.t, sorted(spans), strict=True):
        assert low - 1e-12 <= t <= high + 1e-12
    np.testing.assert_allclose(section.v[~section.jumped, 0], 0.0, atol=1e-9)
    assert np.all(section.v[section.jumped, 0] > 0.0)


def test_a_section_needs_a_number(ball):
    with pytest.raises(
        carom.CaromError, match=r"scalar of poincare gives shape \(3,\) at each instant; it must be a n"
    ):
        carom.poincare(ball, lambda t, q, v: v)


# -- orbits with directions that nothing restores ----------------------------------------------------------------------


class Given(carom.ReturnMap):
    """A linear map x -> A x + b in place of a motion."""

    def __init__(self, slope, shift):
        self.slope, self.shift, self.event = np.asarray(slope), np.asarray(shift), ("floor", "strike")

    def __call__(self, x):
        return self.slope @ x + self.shift, 1.0

    def derivative(self, x):
        return self.slope

    def coordinates(self, x):
        return x[:1], x[1:]


def test_of_many_periodic_motions_the_nearest_is_found():
    orbit = Given([[1.0, 0.5], [0.0, 0.3]], [-0.5, 0.7]).orbit([4.0, 0.2])  # fixed: any first entry, and 1
    np.testing.assert_allclose([orbit.q[0], orbit.v[0]], [4.0, 1.0], atol=1e-12)
    assert not orbit.stable and str(orbit).startswith("neutral orbit through 'strike' of 'floor'")
    for multiplier, word in ((0.9, "stable"), (-1.1, "unstable")):
        found = Given([[multiplier, 0.0], [0.0, 0.0]], [1.0, 0.0]).orbit([0.0, 0.0])
        assert str(found).startswith(f"{word} orbit") and found.stable == (word == "stable")


def test_a_motion_that_drifts_on_is_no_orbit():
    with pytest.raises(carom.CaromError, match=r"'strike' of 'floor' always shifted by 0\.1, whatever .* not periodic"):
        Given([[1.0, 0.0], [0.0, 0.3]], [0.1, 0.7]).orbit([4.0, 0.2])


# -- responses ---------------------------------------------------------------------------------------------------------


def test_a_link_that_never_reaches_its_target_has_no_rise_and_no_settling_time():
    """PD against weight hangs short of its target: kp (q - target) = -m g l cos q / 2, far from 90 % of the way."""
    arm = carom.Arm([carom.Rod(length=1.0, mass=4.0)])
    control = carom.PostureControl(arm, [0.0], kp=[20.0], kd=[30.0])
    world = carom.World(arm, control=control, gravity=G)
    result = carom.simulate(world, world.state(angles=[-1.2]), until=12.0)
    found = carom.study.response(result, "link1", 0.0)
    assert math.isnan(found.rise_time) and math.isnan(found.settling_time)
    assert found.overshoot == 0.0
    assert 20.0 * found.final_error == pytest.approx(-2.0 * G * math.cos(found.final_error), rel=1e-6)
    assert str(found) == "never at 90 %, overshoot 0.00 %, not settled, final error -7.306e-01 rad"


def test_a_link_driven_away_from_its_target_has_no_response():
    arm = carom.Arm([carom.Rod(length=1.0, mass=3.0)])
    control = carom.PostureControl(arm, [-1.0], kp=[100.0], kd=[20.0])
    world = carom.World(arm, control=control, gravity=0.0)
    result = carom.simulate(world, world.state(), until=2.0)
    found = carom.study.response(result, "link1", 1.0)
    assert math.isnan(found.rise_time) and math.isnan(found.settling_time) and found.overshoot == 0.0
    assert found.final_error == pytest.approx(-2.0, abs=1e-6)


# -- sentences ---------------------------------------------------------------------------------------------------------

ARM = carom.Arm([carom.Rod(length=1.0, mass=1.0)] * 2)
MOTION = MinimumJerk([0.0, 0.0], [0.2, 1.5], 1.0)
TORQUES = Hold([0.0, 0.0], 1.0)
MAKERS = {
    "posture": lambda **o: carom.PostureControl(ARM, [0.2, 1.5], **{"kp": [9.0, 9.0], "kd": [1.0, 1.0], **o}),
    "computed torque": lambda **o: ComputedTorque(ARM, MOTION, **{"kp": [9.0, 9.0], "kd": [1.0, 1.0], **o}),
    "feed forward": lambda **o: FeedForward(ARM, TORQUES, MOTION, **{"kp": [9.0, 9.0], "kd": [1.0, 1.0], **o}),
    "pose": lambda **o: HoldPose(ARM, [0.2, 1.5], **{"kp": [9.0, 9.0], "kd": [1.0, 1.0], "name": "control", **o}),
}


FIELDS = [(name, field) for name in MAKERS for field in ("kp", "kd", "limit") if (name, field) != ("pose", "limit")]


@pytest.mark.parametrize(("name", "field"), [*FIELDS, ("posture", "ki")])
def test_gains_of_the_wrong_length_are_refused(name, field, unchecked):
    for wrong in ([1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]):
        shape = np.shape(wrong)
        words = rf"^{field} of 'control' has shape {shape}; it must be 2 numbers".replace("(", r"\(").replace(
            ")", r"\)"
        )
        with pytest.raises(carom.CaromError, match=words):
            MAKERS[name](**{field: wrong})


@pytest.mark.parametrize("name", MAKERS)
def test_what_every_controller_asks_for_must_be_within_the_stops(name, unchecked):
    def stopped(upper, **options):
        stop = carom.Contact(carom.JointLimit(ARM, "link2", upper=upper), normal=carom.Hooke(1e4))
        return carom.World(ARM, contacts=stop, control=MAKERS[name](**options))

    with pytest.raises(
        carom.CaromError, match=r"asks link 'link2' for 1\.3 rad relative to its parent, beyond its upper"
    ):
        stopped(1.0)
    stopped(1.3)  # at the stop itself


KINDS = {
    "Cubic": lambda t: Cubic([0.0], [1.0], t),
    "Quintic": lambda t: Quintic([0.0], [1.0], t),
    "MinimumJerk": lambda t: MinimumJerk([0.0], [1.0], t),
    "ParabolicBlends": lambda t: ParabolicBlends([0.0], [1.0], t),
    "Hold": lambda t: Hold([0.0], t),
    "Waypoints": lambda t: Waypoints([0.0, t], [[0.0], [1.0]]),
    "Fitted": lambda t: Fitted(lambda i, t: jnp.stack([t]), [0.0, t]),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_motion_that_takes_no_time_is_refused(name, unchecked):
    with pytest.raises(carom.CaromError, match=r"0 s") as told:
        KINDS[name](0.0)
    assert name in str(told.value)
    KINDS[name](0.5)
