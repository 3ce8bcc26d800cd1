"""A ball on a rigid floor, against the closed form of its infinitely many bounces."""

import numpy as np
import pytest

import carom

HEIGHT, G, E, RADIUS = 1.0, 9.81, 0.7, 0.1


def world(restitution, **options):
    ball = carom.Mechanism([carom.Disk(radius=RADIUS, mass=2.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), restitution, radius=RADIUS, name="floor")
    return carom.World(ball, contacts=floor, gravity=G, **options)


@pytest.fixture(scope="module")
def result():
    whole = world(E)
    return carom.simulate(whole, whole.state(angles=[0.3], rates=[2.0], base=(0.0, HEIGHT + RADIUS)), until=4.0)


def instants(count):
    first = np.sqrt(2 * HEIGHT / G)
    return first + np.cumsum([0.0, *(2 * first * E**k for k in range(1, count))])


def test_twenty_impact_times_equal_the_closed_form(result):
    found = [event.t for event in result.events[:20]]
    np.testing.assert_allclose(found, instants(20), rtol=0, atol=1e-12)


def test_impulses_follow_newtons_law(result):
    speed = np.sqrt(2 * G * HEIGHT)
    for k, event in enumerate(result.events[:10]):
        assert event.memory["last impulse floor"] == pytest.approx(2.0 * (1 + E) * speed * E**k, rel=1e-10)


def test_the_zeno_sequence_ends_in_maintained_contact(result):
    """The limit is t_1 (1 + 2 e / (1 - e)); the last bounce is slower than 1e-6 m/s, so it lasts less than 1e-6 s."""
    limit = np.sqrt(2 * HEIGHT / G) * (1 + 2 * E / (1 - E))
    last = result.events[-1]
    assert last.phase_after == "closed: floor"
    assert 0.0 < limit - last.t < 1e-6
    np.testing.assert_allclose(result.q[-1][1], RADIUS, atol=1e-12)
    assert result.v[-1][1] == 0.0 and result.v[-1][2] == pytest.approx(2.0, rel=1e-12)  # it goes on turning


def test_the_blows_take_all_the_energy(result):
    assert result.energy.works["rigid contacts: blows"][-1] == pytest.approx(-2.0 * G * HEIGHT, rel=1e-9)
    assert result.energy.max_error_percent < 1e-9


def test_a_plastic_blow_closes_at_once():
    whole = world(0.0)
    once = carom.simulate(whole, whole.state(base=(0.0, HEIGHT + RADIUS)), until=1.0)
    assert [event.phase_after for event in once.events] == ["closed: floor"]


def test_a_stone_in_a_corner_stops():
    """Lecture notes, problem 2: sliding along y >= 0 it strikes 3 - x - y >= 0; both contacts push with m v (1, 1)."""
    stone = carom.Mechanism([carom.Disk(radius=1.0, mass=3.0)], base=carom.Free())
    floor = carom.Contact(stone.tip, carom.Plane(height=0.0), 0.0, name="floor")
    slope = carom.Plane(point=(3.0, 0.0), slope=3 * np.pi / 4)  # free side: below the line x + y = 3
    wall = carom.Contact(stone.tip, slope, 0.0, name="wall")
    corner = carom.World(stone, contacts=[floor, wall], gravity=0.0)
    run = carom.simulate(corner, corner.state(base=(1.0, 0.0), base_velocity=(2.0, 0.0)), until=2.0)
    blow = run.events[0]
    assert blow.t == pytest.approx(1.0, abs=1e-12)
    # The notes measure the second constraint by 3 - x - y, carom by a distance: sqrt(2) between the impulses.
    assert blow.memory["last impulse floor"] == pytest.approx(3.0 * 2.0, rel=1e-12)
    assert blow.memory["last impulse wall"] == pytest.approx(3.0 * 2.0 * np.sqrt(2.0), rel=1e-12)
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-12)


def test_two_balls_share_momentum_and_energy_as_the_textbook_says():
    """Unequal masses, restitution e, off-centre, free: both momenta stay, the blow takes (1 - e^2) m v_n^2 / 2."""
    make = [carom.Mechanism([carom.Disk(radius=RADIUS, mass=m)], base=carom.Free()) for m in (1.0, 3.0)]
    pair = carom.side_by_side(first=make[0], second=make[1])
    blow = carom.Contact(
        pair.site("first.link1.tip"), pair.site("second.link1.tip"), E, radius=RADIUS, other_radius=RADIUS, name="blow"
    )
    whole = carom.World(pair, contacts=blow, gravity=0.0)
    run = carom.simulate(
        whole,
        whole.state(rates=[1.0, -2.0], base=[(0.0, 0.05), (1.0, 0.0)], base_velocity=[(2.0, 0.0), (-1.0, 0.0)]),
        until=1.0,
    )
    assert len(run.events) == 1
    assert run.momentum.linear_drift < 1e-12 and run.momentum.angular_drift < 1e-12
    normal = 3.0 * np.cos(np.arcsin(0.05 / (2 * RADIUS)))
    lost = 0.5 * (1 - E**2) * (1.0 * 3.0 / 4.0) * normal**2
    assert run.energy.works["rigid contacts: blows"][-1] == pytest.approx(-lost, rel=1e-10)
