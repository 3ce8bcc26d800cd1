"""Dry friction of joints: closed forms of stick and slip, conservation, other places and units, derivatives."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics
from carom.control import AbstractActuator
from carom.hybrid.scene import Own, Scene
from carom.quantities import Real

G = 9.81
FINE = carom.Settings(rtol=1e-12, atol=1e-13)
TIGHT = carom.Settings(rtol=1e-13, atol=1e-15)
K, START, STOPS = 8.0, 1.0, 4  # stiffness; 1 - 2 n F / K is within F / K after four half-swings for F = 1


class Ramp(AbstractActuator):
    """Efforts that grow with time."""

    slopes: Any

    def asked(self, scene: Scene, own: Own) -> list[Any]:
        return [slope * scene.t for slope in self.slopes]


def sprung(friction: Real, slides: bool, static: Real | None = None, scale: float = 1.0) -> carom.World:
    """A wheel on a torsional spring, or a block on a spring that slides, without weight."""
    kind = carom.Slider if slides else carom.Joint
    joint = kind(stiffness=K * scale, friction=friction, static_friction=static)
    body = carom.Body(mass=2.0 * scale, inertia=2.0 * scale)
    return carom.World(carom.Mechanism([carom.Link(body, name="block", joint=joint)]), gravity=0.0)


def start_of(world: carom.World, where: float = START) -> carom.State:
    return world.state(slides=[where]) if world.mechanism.topology.sliding else world.state(angles=[where])


def test_amplitude_falls_by_two_thresholds_each_half_swing_until_it_sticks() -> None:
    friction = 1.0
    world = sprung(friction, False)
    result = carom.simulate(world, start_of(world), until=8.0, settings=FINE)
    assert [event.exit for event in result.events] == ["stop block"] * STOPS
    half = np.pi / np.sqrt(K / 2.0)
    np.testing.assert_allclose([event.t for event in result.events], half * np.arange(1, STOPS + 1), rtol=1e-10)
    crests = [(-1.0) ** n * (START - 2.0 * n * friction / K) for n in range(1, STOPS + 1)]
    np.testing.assert_allclose([event.q[0] for event in result.events], crests, atol=1e-10)
    np.testing.assert_allclose(result.q[-1], result.events[-1].q_after, atol=1e-15)  # it does not creep
    assert np.abs(result.v[-1, 0]) < 1e-30
    assert result.energy.max_error_percent < 1e-6
    lost = 0.5 * K * (START**2 - crests[-1] ** 2)
    np.testing.assert_allclose(result.energy.works["joints: friction"][-1], -lost, rtol=1e-9)


def test_stiction_holds_where_sliding_friction_would_not() -> None:
    """At the first crest, 0.75 m, the spring pulls with 6 N: less than 6.5 N, more than 1 N."""
    for static, stops in ((6.5, 1), (5.5, 2), (1.0, 4)):
        world = sprung(1.0, True, static)
        result = carom.simulate(world, start_of(world), until=8.0)
        assert len(result.events) == stops


def test_batch_equals_single_runs_and_derivatives_are_those_of_the_closed_form() -> None:
    """The place where it stops is 1 - 8 F / K."""
    start, until = start_of(sprung(1.0, True)), 7.0
    frictions = np.array([0.97, 1.0, 1.03])
    table = carom.batch(lambda p: sprung(p["F"], True), {"F": frictions}, start, until=until, settings=FINE)
    np.testing.assert_allclose(np.asarray(table.q)[:, 0], START - 2.0 * STOPS * frictions / K, atol=1e-10)

    def end(friction: Real) -> Any:
        return carom.final_state(sprung(friction, True), start, until=until, settings=FINE).y.q[0]

    np.testing.assert_allclose(jax.jacfwd(end)(1.0), -2.0 * STOPS / K, rtol=1e-8)


@pytest.fixture(scope="module")
def held() -> carom.World:
    """Two rods that friction holds against their weight, and a torque that grows at the second joint."""
    return ramped(1.0, 1.0)


def ramped(sense: float, unit: float, place: tuple[float, float] = (0.0, 0.0)) -> carom.World:
    """The same mirrored (sense -1), with another unit of length (1 m is `unit`), and elsewhere; mass stays [kg]."""
    joints = [carom.Joint(friction=40.0 * unit**2), carom.Joint(friction=8.0 * unit**2, static_friction=9.0 * unit**2)]
    rods = [carom.Link(carom.Rod(unit, 1.0), joint=joint) for joint in joints]
    control = Ramp([0.0, -2.0 * sense * unit**2], links=2)
    return carom.World(carom.Mechanism(rods, base=carom.Fixed(*place)), control=control, gravity=G * unit)


def test_an_arm_rests_under_its_weight_and_slips_at_the_instant_at_which_a_torque_exceeds_friction(
    held: carom.World,
) -> None:
    result = carom.simulate(held, held.state(angles=[0.3, 0.1]), until=2.5, settings=FINE)
    slip = result.events[0]
    assert slip.exit == "slip back link2"
    np.testing.assert_allclose(slip.t, (9.0 - 0.5 * G * np.cos(0.1)) / 2.0, rtol=1e-12)
    before = result.at(np.linspace(0.0, slip.t, 7)).q
    np.testing.assert_allclose(before, np.broadcast_to([0.3, 0.1], before.shape), atol=1e-14)
    assert result.energy.max_error_percent < 1e-6


def test_mirrored_a_kilometre_away_and_in_other_units_it_is_the_same_motion(held: carom.World) -> None:
    """In mm, and with grams for kilograms: 1 N m is 1e6 g mm^2/s^2 times 1e3, which the scale of 1e3 covers."""
    end = carom.simulate(held, held.state(angles=[0.3, 0.1]), until=2.5, settings=FINE).q[-1]
    mirrored = ramped(-1.0, 1.0)
    other = carom.simulate(mirrored, mirrored.state(angles=[np.pi - 0.3, np.pi - 0.1]), until=2.5, settings=FINE)
    np.testing.assert_allclose(other.q[-1], np.pi - end, atol=1e-10)
    for world in (ramped(1.0, 1.0, (1e3, -1e3)), ramped(1.0, 1e3)):
        again = carom.simulate(world, world.state(angles=[0.3, 0.1]), until=2.5, settings=FINE)
        np.testing.assert_allclose(again.q[-1], end, atol=1e-9)


def test_a_free_robot_keeps_its_momentum_while_its_joints_stick_and_slip() -> None:
    hub = carom.Body(mass=5.0, inertia=1.0, tip=(0.5, 0.0))
    arm = carom.Link(carom.Rod(1.0, 1.0), name="arm", joint=carom.Joint(friction=0.4, stiffness=3.0))
    tail = carom.Slider(axis=(0.0, 1.0), friction=0.3, static_friction=0.5, stiffness=2.0)
    other = carom.Link(carom.Rod(0.7, 1.0), name="tail", parent="hub", at=(-0.5, 0.0), joint=tail)
    robot = carom.Mechanism([carom.Link(hub, name="hub"), arm, other], base=carom.Free())
    world = carom.World(robot, gravity=0.0)
    start = world.state(angles=[0.2, 1.5], rates=[0.3, 0.5], slides=[0.3], base_velocity=[0.1, -0.2])
    result = carom.simulate(world, start, until=6.0, settings=TIGHT)
    words = {event.exit.split()[0] for event in result.events}
    assert words == {"stop", "slip"} and len(result.events) >= 8
    found = [dynamics.momentum(robot, jnp.asarray(q), jnp.asarray(v)) for q, v in zip(result.q, result.v, strict=True)]
    np.testing.assert_allclose([m.angular for m in found], found[0].angular, atol=1e-12)
    np.testing.assert_allclose([m.linear for m in found], np.broadcast_to(found[0].linear, (len(found), 2)), atol=1e-12)
    assert result.energy.max_error_percent < 1e-6


def test_files_and_print_hold_friction_and_limits() -> None:
    arm = carom.Mechanism(
        [
            carom.Link(carom.Rod(1.0, 1.0), name="a", joint=carom.Joint(friction=0.5, static_friction=0.75)),
            carom.Link(carom.Rod(1.0, 1.0), name="b", joint=carom.Slider(friction=2.0, effort_limit=7.0)),
        ]
    )
    world = carom.World(arm)
    text = carom.Scenario.of(world, world.state(angles=[0.1]), until=1.0, name="rubs").toml()
    again = carom.Scenario.read(text).world()
    for field in ("friction", "stiction", "effort"):
        np.testing.assert_array_equal(getattr(again.mechanism.numbers, field), getattr(arm.numbers, field))
    assert "friction 0.5 (static 0.75) N m" in repr(world) and "friction 2 N  effort up to 7 N" in repr(world)
