"""Strikes and stances: what goes in and out by itself, and what is carried; and what each of them took."""

import numpy as np
import pytest

import carom

G, MASS = 9.81, 2.0
BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=MASS)], base=carom.Free())


def drop(law, friction=None, height=0.6, until=2.0, velocity=(0.0, 0.0), **options):
    contact = carom.Contact(BALL.tip, carom.Plane(height=0.0), law, friction, radius=0.1, name="floor")
    world = carom.World(BALL, contacts=contact, gravity=G, **options)
    return carom.simulate(world, world.state(base=(0.0, height), base_velocity=velocity), until=until)


def test_a_rigid_ball_strikes_and_then_stands():
    found = drop(carom.Newton(0.5), carom.Coulomb(0.3), velocity=(1.0, 0.0))
    assert len(found.impacts) > 10 and all(i.duration == 0.0 for i in found.impacts)
    (stance,) = found.stances
    assert stance.touched and not stance.lifted and stance.t_end == 2.0
    assert stance.t_start == pytest.approx(found.impacts[-1].t_start)
    assert stance.normal_impulse == pytest.approx(MASS * G * stance.duration)
    assert stance.share == pytest.approx(stance.duration / 2.0)
    works = {name: float(work[-1]) for name, work in found.energy.works.items()}
    assert sum(i.energy_lost for i in found.impacts) == pytest.approx(-works["rigid contacts: blows"], rel=1e-9)


def test_a_soft_ball_is_carried_and_a_hard_one_is_not():
    hard, soft = drop(carom.Hertz(1e9), until=0.8), drop(carom.Hooke(2e3), until=0.8)
    assert [i.contact for i in hard.impacts] == ["floor"] and not hard.stances
    assert not soft.impacts
    (stance,) = soft.stances
    assert stance.touched and stance.lifted
    speed = np.sqrt(2.0 * G * 0.5)
    assert stance.normal_impulse == pytest.approx(MASS * (G * stance.duration + 2.0 * speed), rel=1e-4)
    assert stance.max_indentation == pytest.approx(
        MASS * G / 2e3 + np.sqrt((MASS * G / 2e3) ** 2 + MASS * speed**2 / 2e3)
    )
    assert abs(stance.energy_lost) < 1e-6


def test_what_is_put_down_stands_from_the_start():
    found = drop(carom.Hooke(1e5, damping=100.0), height=0.1, until=0.2)
    (stance,) = found.stances
    assert not stance.touched and not stance.lifted and stance.share == 1.0 and not found.impacts
    assert stance.energy_lost == pytest.approx(-float(found.energy.works["floor: normal force"][-1]))


def test_each_of_two_blows_at_one_instant_took_its_own_part():
    links = [carom.Link(carom.Rod(length=1.0, mass=MASS), name="bar", sites={"heel": (0.0, 0.0)})]
    bar = carom.Mechanism(links, base=carom.Free())
    for law in (carom.Newton(0.4), carom.HuntCrossley(1e6, 0.4)):
        feet = [carom.Contact(foot, carom.Plane(height=0.0), law, name=foot) for foot in ("heel", "bar.tip")]
        world = carom.World(bar, contacts=feet, gravity=G)
        found = carom.simulate(world, world.state([0.0], base=(0.0, 0.3)), until=0.3)
        first, second = found.impacts[:2]
        assert {first.contact, second.contact} == {"heel", "bar.tip"} and first.t_start == second.t_start
        assert first.energy_lost == pytest.approx(second.energy_lost)
        lost = first.kinetic_energy_before - first.kinetic_energy_after
        assert first.energy_lost + second.energy_lost == pytest.approx(lost, rel=0.02)  # weight works meanwhile
