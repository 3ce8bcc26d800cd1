"""Pairs in states that can be worked out by hand, energy through elastic blows on all of them, and refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.pairs import DiskOnDisk, SiteOnSegment, SiteOnSurface, pair_of
from carom.hybrid.scene import Load, Scene, split


def disk(radius=0.5):
    return carom.Mechanism([carom.Disk(radius=radius, mass=1.0)], base=carom.Free())


BALL = disk()
TWO = carom.side_by_side(one=disk(), other=disk())
ONE, OTHER = TWO.site("one.link1.tip"), TWO.site("other.link1.tip")
FLOOR = carom.Plane(height=0.0)


def scene(mechanism, q, v, t=0.0):
    q, v = (jnp.asarray(x, dtype=float) for x in (q, v))
    return Scene(mechanism, jnp.asarray(t), split(mechanism, q), split(mechanism, v))


def pushed(pair, now, normal, drag):
    load = Load(now.mechanism)
    pair.push(now, load, pair.touching(now), normal, drag)
    return np.asarray(load.vector())


# -- a rim on a surface -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("surface", "centre", "velocity"),
    [
        (FLOOR, (0.0, 0.5), (-1.0, 0.0)),  # turning to the left, it rolls to the left
        (carom.Circle((0.0, 0.0), 2.0, inside=True), (0.0, -1.5), (-1.0, 0.0)),
        (carom.Circle((0.0, -3.0), 3.0), (0.0, 0.5), (-1.0, 0.0)),
        (carom.Wall(0.5, facing="left"), (0.0, 0.0), (0.0, -1.0)),
        (carom.Moving(FLOOR, velocity=(0.7, 0.0)), (0.0, 0.5), (-0.3, 0.0)),
    ],
    ids=["floor", "drum", "hill", "wall", "belt"],
)
def test_a_rolling_disk_does_not_slide(surface, centre, velocity):
    pair = pair_of("test", BALL.tip, surface, radius=0.5)
    k = pair.touching(scene(BALL, (*centre, 0.3), (*velocity, 2.0)))
    np.testing.assert_allclose((k.indentation, k.rate, k.sliding), 0.0, atol=1e-15)
    slower = pair.touching(scene(BALL, (*centre, 0.3), (*velocity, 1.5)))
    assert float(slower.sliding) == pytest.approx(-0.25, abs=1e-15)


def test_a_moving_floor_counts_in_the_rate():
    lift = carom.Moving(FLOOR, velocity=(0.2, 0.3))
    now = scene(BALL, (1.0, 0.7, 0.0), (0.5, -1.0, 0.0), t=2.0)
    pair = pair_of("test", BALL.tip, lift, radius=0.5)
    k = pair.touching(now)
    np.testing.assert_allclose((k.indentation, k.rate, k.sliding), (0.4, 1.3, 0.3), atol=1e-15)
    np.testing.assert_allclose(pair.carried(now, k), (0.3, 0.2), atol=1e-15)
    np.testing.assert_allclose(pair.place(now, k), (0.6, -0.4), atol=1e-15)
    assert pair.moves and not pair_of("test", BALL.tip, FLOOR).moves


# -- two round bodies -------------------------------------------------------------------------------------------------

APART, MOVING = (0.1, 0.2, 0.9, -0.3, 0.4, 1.1), (1.0, -0.5, 0.2, 0.3, 3.0, -2.0)


def test_exchanging_two_disks_changes_nothing():
    now = scene(TWO, APART, MOVING)
    pair, swapped = pair_of("test", ONE, OTHER, 0.5, 0.55), pair_of("test", OTHER, ONE, 0.55, 0.5)
    k, other = pair.touching(now), swapped.touching(now)
    np.testing.assert_allclose(k[:5], other[:5], atol=1e-14)
    np.testing.assert_allclose(k.normal, np.negative(other.normal), atol=1e-15)
    np.testing.assert_allclose(pushed(pair, now, 2.0, 0.7), pushed(swapped, now, 2.0, 0.7), atol=1e-14)
    assert float(k.indentation) == pytest.approx(1.05 - np.hypot(0.8, 0.5), abs=1e-15)


def test_a_disk_at_rest_is_a_round_surface():
    q, v = APART, (*MOVING[:2], 0.0, 0.0, MOVING[4], 0.0)
    pair = pair_of("test", ONE, OTHER, 0.5, 0.4)
    k = pair.touching(scene(TWO, q, v))
    surface = pair_of("test", ONE, carom.Circle(q[2:4], 0.4), 0.5).touching(scene(TWO, q, v))
    np.testing.assert_allclose(k[:2], surface[:2], atol=1e-14)
    np.testing.assert_allclose(k.normal, surface.normal, atol=1e-14)


def test_a_ball_in_a_ring():
    ring = pair_of("test", ONE, carom.Ring(OTHER, 1.5), 0.5)
    k = ring.touching(scene(TWO, (0.8, 0.0, 0.0, 0.0, 0.0, 0.0), (0.6, 0.2, 0.0, 0.0, 0.4, 0.0)))
    np.testing.assert_allclose((k.indentation, k.rate), (-0.2, 0.6), atol=1e-15)
    np.testing.assert_allclose(k.normal, (-1.0, 0.0), atol=1e-15)
    assert float(k.x) == pytest.approx(1.4, abs=1e-15)  # in the middle of the gap
    middle = scene(TWO, (0.3, 0.1, 0.3, 0.1, 0.0, 0.0), MOVING)
    assert float(ring.touching(middle).indentation) == pytest.approx(-1.0, abs=1e-15)
    assert np.all(np.isfinite(jax.tree.leaves(ring.touching(middle))))


def test_the_place_of_a_contact_goes_with_the_other_body():
    pair = pair_of("test", ONE, OTHER, 0.5, 0.5)
    now = scene(TWO, APART, MOVING)
    # Both bodies turned by 0.7 about the origin, as one.
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([(c, -s), (s, c)])
    q = np.concatenate([turn @ APART[:2], turn @ APART[2:4], np.add(APART[4:], 0.7)])
    later = scene(TWO, q, MOVING)
    here, there = (np.asarray(pair.place(at, pair.touching(at))) for at in (now, later))
    np.testing.assert_allclose(here, there, atol=1e-15)


# -- a bar ------------------------------------------------------------------------------------------------------------

BAR_ARM = carom.side_by_side(
    ball=disk(),
    bar=carom.Arm([carom.Link(carom.Rod(length=2.0, mass=1.0), sites={"near": (0.0, 0.0), "far": (2.0, 0.0)})]),
)
BAR = carom.Segment(BAR_ARM.site("bar.near"), BAR_ARM.site("bar.far"), radius=0.1)
ON_BAR = pair_of("test", BAR_ARM.site("ball.link1.tip"), BAR, 0.5)


def test_bars_and_rings_take_sites_by_name():
    """As a contact's own site: looked up in the world that the contact joins."""
    law = carom.Newton(0.5)
    for against, same in (
        (carom.Segment("bar.near", BAR_ARM.site("bar.far"), radius=0.1), BAR),
        (carom.Ring("bar.near", 2.0), carom.Ring(BAR_ARM.site("bar.near"), 2.0)),
    ):
        by_name = carom.World(BAR_ARM, contacts=carom.Contact("ball.link1.tip", against, law, radius=0.5))
        by_site = carom.World(BAR_ARM, contacts=carom.Contact(BAR_ARM.site("ball.link1.tip"), same, law, radius=0.5))
        assert str(by_name) == str(by_site)
        assert by_name.contacts[0].pair == by_site.contacts[0].pair
    with pytest.raises(carom.CaromError, match=r"there is no site 'bar\.middle'"):
        carom.World(BAR_ARM, contacts=carom.Contact("ball.link1.tip", carom.Ring("bar.middle", 2.0), law))


@pytest.mark.parametrize(
    ("at", "depth", "normal"),
    [
        ((1.0, 0.7), -0.1, (0.0, 1.0)),
        ((1.5, -0.55), 0.05, (0.0, -1.0)),
        ((2.4, 0.3), 0.1, (0.8, 0.6)),
        ((-0.6, -0.8), -0.4, (-0.6, -0.8)),
        ((2.0, 0.6), 0.0, (0.0, 1.0)),  # where the straight part ends
    ],
)
def test_a_tip_meets_the_bar_or_its_ends(at, depth, normal):
    k = ON_BAR.touching(scene(BAR_ARM, (*at, 0.3, 0.0), (0.0, 0.0, 0.0, 0.0)))
    assert float(k.indentation) == pytest.approx(depth, abs=1e-15)
    np.testing.assert_allclose(k.normal, normal, atol=1e-15)


def test_the_distance_from_a_bar_is_smooth_where_its_end_begins():
    def depth(x):
        return ON_BAR.touching(scene(BAR_ARM, jnp.stack([x, 0.6, 0.3, 0.0]), np.zeros(4))).indentation

    slopes = [float(jax.grad(depth)(x)) for x in (2.0 - 1e-9, 2.0, 2.0 + 1e-9)]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-8)


# -- stops ------------------------------------------------------------------------------------------------------------

ARM = carom.Arm([carom.Rod(length=1.0, mass=1.0), carom.Rod(length=1.0, mass=1.0)])


def test_a_stop_turns_its_link_and_reacts_on_the_parent():
    now = scene(ARM, (0.4, 1.5), (2.0, 3.0))
    upper, lower = carom.JointLimit(ARM, "link2", upper=1.0), carom.JointLimit(ARM, "link2", lower=1.2)
    np.testing.assert_allclose(upper.touching(now)[:3], (0.1, 1.0, 0.0), atol=1e-15)
    np.testing.assert_allclose(lower.touching(now)[:3], (0.1, -1.0, 0.0), atol=1e-15)
    np.testing.assert_allclose(pushed(upper, now, 5.0, 3.0), (5.0, -5.0), atol=1e-15)
    np.testing.assert_allclose(pushed(lower, now, 5.0, 3.0), (-5.0, 5.0), atol=1e-15)


def test_a_stop_at_the_base_reacts_on_the_world():
    now = scene(ARM, (0.4, 1.5), (2.0, 3.0))
    first = carom.JointLimit(ARM, "link1", lower=0.5)
    np.testing.assert_allclose(first.touching(now)[:3], (0.1, -2.0, 0.0), atol=1e-15)
    np.testing.assert_allclose(pushed(first, now, 5.0, 3.0), (5.0, 0.0), atol=1e-15)


# -- what is meant ----------------------------------------------------------------------------------------------------


def test_pairs_are_chosen_by_what_is_given():
    stop = carom.JointLimit(ARM, "link2", upper=1.0)
    meant = {
        "one.link1.tip": (pair_of("test", ONE, FLOOR), SiteOnSurface, "m"),
        "one.link1.tip on other.link1.tip": (pair_of("test", ONE, OTHER, 0.1, 0.1), DiskOnDisk, "m"),
        "one.link1.tip in other.link1.tip": (pair_of("test", ONE, carom.Ring(OTHER, 2.0)), DiskOnDisk, "m"),
        "ball.link1.tip on bar.near - bar.far": (ON_BAR, SiteOnSegment, "m"),
        "link2 upper limit": (pair_of("test", stop, None, 0.0, 0.0), carom.JointLimit, "rad"),
    }
    for name, (pair, kind, unit) in meant.items():
        assert (type(pair), pair.name, pair.length_unit) == (kind, name, unit)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pair_of("Contact", "tip", FLOOR), "site of Contact is 'tip'; it must come from a mechanism"),
        (lambda: pair_of("Contact", ONE, FLOOR, -1.0), "radius of Contact at 'one.link1.tip' is -1"),
        (lambda: pair_of("Contact", ONE, FLOOR, 0.1, 0.2), "other_radius of .* a Plane has its own size"),
        (lambda: pair_of("Contact", ONE, OTHER, 0.1, -0.2), "other_radius of .* is -0.2"),
        (lambda: pair_of("Contact", ONE, ONE), "a site of the same link; they cannot meet"),
        (lambda: pair_of("Contact", ONE, carom.Ring(ONE, 1.0)), "a site of the same link; they cannot meet"),
        (lambda: pair_of("Contact", ONE, 3.0), "is against a float; it must be a surface"),
        (lambda: pair_of("Contact", ONE, None), "is against a NoneType; it must be a surface"),
        (lambda: pair_of("Contact", ONE, carom.Ring(OTHER, 0.4), 0.5), "what runs inside must be smaller"),
        (lambda: pair_of("Contact", carom.JointLimit(ARM, "link2", upper=1.0), FLOOR), "leave `against` at None"),
        (lambda: pair_of("Contact", carom.JointLimit(ARM, "link2", upper=1.0), None, 0.1), "radius of .* leave it out"),
        (lambda: carom.Ring(3, 1.0), "site of Ring is 3"),
        (lambda: carom.Ring(ONE, 0.0), "radius of Ring at 'one.link1.tip' is 0"),
        (lambda: carom.Segment(ONE, 3), "end of Segment is 3"),
        (lambda: carom.Segment(ONE, OTHER), "joins sites of two links"),
        (lambda: carom.Segment(ONE, ONE), "begins and ends at 'one.link1.tip'"),
        (lambda: carom.Segment(BAR.start, BAR.end, radius=-0.1), "radius of Segment from 'bar.near' is -0.1"),
        (
            lambda: pair_of("Contact", BAR_ARM.site("ball.link1.tip"), carom.Segment(BAR.start, BAR.end)),
            "is 0 and so is that of its Segment; .* give one of them a radius > 0",
        ),
        (
            lambda: pair_of("Contact", BAR_ARM.site("bar.link1.tip"), BAR, 0.1),
            "a site of the same link; they cannot meet",
        ),
        (lambda: carom.JointLimit("arm", "link1", upper=1.0), "mechanism of JointLimit is a str"),
        (lambda: carom.JointLimit(ARM, "link3", upper=1.0), "there is no link 'link3'"),
        (lambda: carom.JointLimit(ARM, "link1"), "needs either lower= or upper="),
        (lambda: carom.JointLimit(ARM, "link1", lower=0.0, upper=1.0), "needs either lower= or upper="),
        (lambda: carom.JointLimit(ARM, "link1", lower=np.inf), "lower of JointLimit of 'link1' is inf"),
        (lambda: carom.JointLimit(BALL, "link1", lower=0.0), "a free point holds no torque"),
    ],
)
def test_bad_input_is_refused_by_a_sentence(make, words, unchecked):
    with pytest.raises(carom.CaromError, match=words):
        make()


# -- energy -----------------------------------------------------------------------------------------------------------

OVAL = [(2.0 * np.cos(a), 1.5 * np.sin(a)) for a in np.arange(8) * np.pi / 4]


def balls(surface):
    """A ball above a surface."""
    state = {"angles": [0.0], "rates": [3.0], "base": (0.2, 0.8), "base_velocity": (0.3, 0.0)}
    return BALL, carom.Contact(BALL.tip, surface, carom.Hertz(1e6), radius=0.5, name="c"), state


def on_bar():
    state = {"angles": [0.0, 0.0], "base": (1.0, 0.7)}
    return BAR_ARM, carom.Contact(ON_BAR.site, BAR, carom.Hertz(1e6), radius=0.5, name="c"), state


def in_ring():
    state = {"angles": [0.0, 0.0], "base": [(0.3, 0.2), (0.0, 0.0)], "base_velocity": [(2.0, -1.0), (0.0, 0.0)]}
    return TWO, carom.Contact(ONE, carom.Ring(OTHER, 1.0), carom.Hertz(1e6), radius=0.5, name="c"), state


def at_stop():
    stop = carom.JointLimit(ARM, "link2", upper=1.0)
    return ARM, carom.Contact(stop, normal=carom.Hertz(1e5), name="c"), {"angles": [0.0, 0.5], "rates": [0.0, 2.0]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        lambda: balls(carom.Graph(lambda x: 0.1 * jnp.sin(x))),
        lambda: balls(carom.Spline(OVAL, closed=True)),
        lambda: balls(carom.Implicit(lambda x, y: 1.0 - (x / 2.0) ** 2 - (y / 1.5) ** 2)),
        lambda: balls(carom.Moving(FLOOR, amplitude=(0.01, 0.02), frequency=3.0)),
        on_bar,
        in_ring,
        at_stop,
    ],
    ids=["graph", "closed spline", "implicit", "shaker", "segment", "ring", "stop"],
)
def test_elastic_blows_close_the_ledger(given):
    mechanism, contact, state = given()
    run = carom.simulate(carom.World(mechanism, contacts=contact), mechanism.state(**state), until=1.0)
    assert len(run.events) >= 2 and run.events[-1].exit == "release"
    assert run.energy.max_error_percent < 1e-5  # a run's default tolerance leaves about 1e-7
    assert abs(run.energy.works["c: normal force"][-1]) < 1e-6  # an elastic law gives back all it took
    if contact.pair.moves:
        assert abs(run.energy.works["c: surface motion"][-1]) > 0.1  # and a shaker does work
