"""Links that slide, in worlds: closed forms, conservation, stops, blows, control."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics
from carom.scenario._build import state_of

G = 9.81
FINE = carom.Settings(rtol=1e-12)
TIGHT = carom.Settings(solver="dopri8", rtol=1e-13, atol=1e-15)  # momentum of what turns is exact to the tolerance


def shaft(angle: float = -0.5 * np.pi, restitution: float = 0.5) -> carom.World:
    """A piston of 2 kg on a guide at an angle; a stop at 0 m, and a floor that its tip meets at 1 m."""
    guide = carom.Slider(axis=(3.0 * np.cos(angle), 3.0 * np.sin(angle)), angle=angle)
    piston = carom.Mechanism([carom.Link(carom.Rod(0.25, 2.0), name="piston", joint=guide)])
    far = 1.25 * np.array([np.cos(angle), np.sin(angle)])
    floor = carom.Plane(point=tuple(far), normal=(-np.cos(angle), -np.sin(angle)))
    stop = carom.JointLimit(piston, "piston", lower=-0.1)
    contacts = [
        carom.Contact(piston.tip, floor, carom.Newton(restitution), name="floor"),
        carom.Contact(stop, normal=carom.Newton(1.0), name="stop"),
    ]
    return carom.World(piston, contacts=contacts, gravity=G)


def test_a_piston_falls_along_its_guide_and_strikes_a_floor_and_a_stop() -> None:
    for angle in (-0.5 * np.pi, -0.4, -1.0 - 0.5 * np.pi):
        world, pull = shaft(angle), -G * np.sin(angle)
        result = carom.simulate(world, world.state(), until=3.0 / np.sqrt(pull))
        blow = result.impacts[0]
        assert blow.contact == "floor"
        np.testing.assert_allclose(blow.t_start, np.sqrt(2.0 / pull), rtol=1e-10)
        np.testing.assert_allclose(blow.normal_velocity_before, -np.sqrt(2.0 * pull), rtol=1e-10)
        np.testing.assert_allclose(blow.normal_impulse, 2.0 * 1.5 * np.sqrt(2.0 * pull), rtol=1e-9)
        early = 0.6 * blow.t_start
        np.testing.assert_allclose(result.at([early]).q[0], [0.5 * pull * early**2], rtol=1e-10)
        assert result.energy.max_error_percent < 1e-6
    up = carom.simulate(world, world.state(slides=[0.5], slide_rates=[-4.0]), until=0.2)
    assert [i.contact for i in up.impacts] == ["stop"]
    np.testing.assert_allclose(
        up.q[-1] * 0 + up.v[-1], 4.0 + 0.2 * pull - 2.0 * pull * up.impacts[0].t_start, rtol=1e-8
    )


def tube(turning: float) -> carom.World:
    """A tube that turns about its middle, a bead that slides in it; no weight."""
    links = [
        carom.Link(carom.Body(mass=turning, inertia=turning), name="tube"),
        carom.Link(carom.PointMass(mass=2.0, length=0.0), name="bead", at=(0.0, 0.0), joint=carom.Slider()),
    ]
    return carom.World(carom.Mechanism(links), gravity=0.0)


def test_a_bead_in_a_spinning_tube() -> None:
    heavy = tube(1e10)  # turns at a constant rate, whatever the bead does
    driven = carom.simulate(heavy, heavy.state(angles=[0.3], rates=[2.0], slides=[0.1]), until=1.5, settings=FINE)
    np.testing.assert_allclose(driven.q[-1, 1], 0.1 * np.cosh(3.0), rtol=1e-8)
    light = tube(0.5)
    start = light.state(angles=[0.3], rates=[2.0], slides=[0.1], slide_rates=[0.4])
    free = carom.simulate(light, start, until=1.5, settings=FINE)
    s, rate, speed = free.q[:, 1], free.v[:, 0], free.v[:, 1]
    np.testing.assert_allclose((0.5 + 2.0 * s**2) * rate, (0.5 + 0.02) * 2.0, rtol=1e-9)
    energy = 0.5 * (0.5 + 2.0 * s**2) * rate**2 + speed**2
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    assert free.energy.max_error_percent < 1e-6
    away = carom.World(
        carom.Mechanism(list(light.mechanism.recipe.made_of.links), base=carom.Fixed(1e3, -1e3)), gravity=0.0
    )
    far = carom.simulate(
        away, away.state(angles=[0.3], rates=[2.0], slides=[0.1], slide_rates=[0.4]), until=1.5, settings=FINE
    )
    np.testing.assert_allclose(far.q[-1], free.q[-1], rtol=1e-9)


def robot() -> carom.Mechanism:
    """A satellite; a boom slides out of it, a hand is hinged to the boom, a finger slides out of the hand."""
    boom = carom.Slider(axis=(1.0, 0.5), angle=0.3, stiffness=4.0, rest=0.2, damping=0.3)
    links = [
        carom.Link(carom.Body(mass=5.0, inertia=0.8, com=(0.1, 0.05)), name="body"),
        carom.Link(carom.Rod(0.8, 1.0), name="boom", parent="body", at=(0.3, 0.1), joint=boom),
        carom.Link(
            carom.Rod(0.5, 0.7),
            name="hand",
            parent="boom",
            joint=carom.Joint(damping=0.05, rotor_inertia=1e-3, gear=9.0),
        ),
        carom.Link(
            carom.Rod(0.2, 0.3),
            name="finger",
            parent="hand",
            joint=carom.Slider(axis=(1.0, -0.2), rotor_inertia=1e-4, gear=40.0),
        ),
    ]
    return carom.Mechanism(links, base=carom.Free())


def test_a_robot_in_space_keeps_its_momentum_under_every_controller() -> None:
    m = robot()
    targets = [[0.0, 0.4, 1.0, 0.1]]
    posture = carom.PostureControl(m, targets, kp=[0.0, 30.0, 6.0, 20.0], kd=[0.0, 5.0, 1.0, 3.0], name="posture")
    relative = carom.PostureControl(
        m, targets, kp=[0.0, 3.0, 2.0, 1.0], kd=[0.0, 0.1, 0.1, 0.1], ki=[0.0, 1.0, 1.0, 1.0],
        relative=True, limit=[0.0, 2.0, 0.5, 1.0], name="PID",
    )  # fmt: skip
    plan = carom.control.Waypoints([0.0, 0.5, 1.0], np.array([[0.0] * 4, [0.0, 1.0, -0.5, 0.7], [0.0, -1.0, 0.2, 0.1]]))
    forward = carom.control.FeedForward(m, plan, name="plan")
    pose = m.coordinates([0.1, 0.3], slides=[0.2, 0.1])
    hold = carom.HoldPose(m, pose, kp=2.0, base="free-floating", name="hold")
    spring = carom.Spring(m.site("body.tip"), to=m.site("finger.tip"), stiffness=5.0, length=1.0)
    world = carom.World(m, control=[posture, relative, forward, hold], elements=[spring], gravity=0.0)
    start = world.state(
        angles=[0.3, -0.4],
        rates=[0.2, 1.0],
        slides=[0.1, 0.05],
        slide_rates=[-0.3, 0.2],
        base=(3.0, -2.0),
        base_velocity=(0.4, 0.1),
    )
    result = carom.simulate(world, start, until=1.0, settings=TIGHT)
    p = [dynamics.momentum(m, jnp.asarray(q), jnp.asarray(v)) for q, v in zip(result.q, result.v, strict=True)]
    drift = np.array([[*(x.linear - p[0].linear), x.angular - p[0].angular] for x in p])
    assert np.max(np.abs(drift)) < 1e-12
    assert float(np.ptp(result.q[:, 3])) > 0.05  # it moves
    assert result.energy.max_error_percent < 1e-6


def test_the_own_coordinates_go_to_and_fro() -> None:
    m = robot()
    start = m.state(angles=[10.0, 20.0], slides=[0.3, 0.4], relative=True, degrees=True)
    np.testing.assert_allclose(np.asarray(start.q)[2:], [np.deg2rad(10.0), 0.3, np.deg2rad(30.0), 0.4], rtol=1e-14)
    np.testing.assert_allclose(m.angles(start.q, degrees=True), [10.0, 10.0, 30.0, 30.0], rtol=1e-14)
    np.testing.assert_allclose(m.angles(start.q, relative=True, degrees=True), [10.0, 0.0, 20.0, 0.0], atol=1e-14)
    np.testing.assert_allclose(m.slides(start.q), [0.3, 0.4])
    np.testing.assert_allclose(m.to_absolute(m.to_relative(start.q)), start.q, rtol=1e-14)
    some = jnp.asarray(np.random.default_rng(3).normal(size=m.dof))
    np.testing.assert_allclose(dynamics.forward_inverse.efforts(m, m.efforts_to_absolute(some)), some, rtol=1e-13)
    jacobian = jax.jacfwd(lambda q: dynamics.site_position(m, q, "finger.tip"))(start.q)
    np.testing.assert_allclose(dynamics.site_jacobian(m, start.q, "finger.tip"), jacobian, atol=1e-14)
    v = jnp.asarray(np.random.default_rng(4).normal(size=m.dof))
    rate = jax.jvp(lambda q: dynamics.site_velocity(m, q, v, "finger.tip"), (start.q,), (v,))[1]
    np.testing.assert_allclose(dynamics.site_bias(m, start.q, v, "finger.tip"), rate, atol=1e-12)


def test_a_rotor_in_closed_form() -> None:
    """On a pivot J n^2 adds to the inertia; in a free pair the motor, the links and the rotor share their momenta."""
    motor = carom.Joint(rotor_inertia=2e-3, gear=30.0)
    arm = carom.Mechanism([carom.Link(carom.Rod(1.0, 3.0), joint=motor)])
    still = np.zeros(1)
    for formalism in dynamics.FORMALISMS:
        found = dynamics.forward_dynamics(arm, still, still, torques=[1.4], gravity=0.0, formalism=formalism)
        np.testing.assert_allclose(found, 1.4 / (1.0 + 2e-3 * 900.0), rtol=1e-13)
    lift = carom.Slider(axis=(0.0, 1.0), rotor_inertia=2e-3, gear=50.0)
    press = carom.Mechanism([carom.Link(carom.PointMass(3.0, 0.0), joint=lift)])
    fall = dynamics.forward_dynamics(press, still, still, torques=[0.0], gravity=G)
    np.testing.assert_allclose(fall, -3.0 * G / (3.0 + 2e-3 * 2500.0), rtol=1e-13)
    # A body of inertia A, a disk of inertia B about its centre, a rotor that A carries; without outer forces
    # A a + B b + J r = 0 with r = a + n (b - a), and the torque on B is tau - n J r'.
    a, b, j, n, tau = 0.8, 0.3, 0.05, 6.0, 0.7
    wheel = carom.Link(carom.Body(mass=1.0, inertia=b), at=(0.0, 0.0), joint=carom.Joint(rotor_inertia=j, gear=n))
    pair = carom.Mechanism([carom.Body(mass=2.0, inertia=a), wheel], base=carom.Free())
    found = dynamics.forward_dynamics(pair, np.zeros(4), np.zeros(4), torques=[0.0, tau], gravity=0.0)
    body, disk = np.linalg.solve([[a + j * (1.0 - n), b + j * n], [n * j * (1.0 - n), b + n * n * j]], [0.0, tau])
    np.testing.assert_allclose(found, [0.0, 0.0, body, disk], rtol=1e-12, atol=1e-13)
    with pytest.raises(carom.CaromError, match="has a rotor_inertia, but 'link1' is the first link of a free base"):
        carom.Mechanism([carom.Link(carom.Rod(1.0, 1.0), joint=motor)], base=carom.Free())


def test_mistakes_with_sliders_are_said() -> None:
    rod, slides = carom.Rod(1.0, 1.0), carom.Slider()
    with pytest.raises(carom.CaromError, match=r"axis of Slider is \(0, 0\), which has no direction"):
        carom.Slider(axis=(0.0, 0.0))
    with pytest.raises(carom.CaromError, match="'link1' has a Slider on a free base"):
        carom.Mechanism([carom.Link(rod, joint=slides)], base=carom.Free())
    beam = carom.Beam(
        1.0,
        carom.beam.Section.rectangle(width=0.01, depth=0.02, density=7800.0, youngs_modulus=2e11, poisson_ratio=0.3),
        ("clamped", "free"),
        1,
    )
    with pytest.raises(carom.CaromError, match="'link2' has a Slider and link 'link1' is elastic"):
        carom.Mechanism([beam, carom.Link(rod, joint=slides)])
    m = carom.Mechanism([rod, carom.Link(rod, name="out", joint=slides)])
    with pytest.raises(
        carom.CaromError,
        match=r"angles of state has shape .2,.; it must have one number for each link on a hinge: 'link1'",
    ):
        m.state(angles=[0.1, 0.2])
    with pytest.raises(carom.CaromError, match=r"slides of state has shape .2,.*: 'out'; angles of links on hinges"):
        m.state(slides=[0.1, 0.2])
    stops = [carom.JointLimit(m, "out", lower=0.5), carom.JointLimit(m, "out", upper=0.2)]
    with pytest.raises(carom.CaromError, match=r"lower JointLimit of 'out' is 0.5 m, not below its upper one, 0.2 m"):
        carom.World(m, contacts=[carom.Contact(stop, normal=carom.Newton(0.5)) for stop in stops])
    with pytest.raises(carom.CaromError, match="a joint's stop does not slide"):
        carom.World(m, contacts=carom.Contact(stops[0], normal=carom.Newton(0.5), friction=carom.Coulomb(0.3)))
    control = carom.PostureControl(m, [[0.0, 0.9]], kp=[1.0, 1.0], kd=[1.0, 1.0])
    with pytest.raises(carom.CaromError, match=r"asks link 'out' for 0.9 m relative to its parent"):
        carom.World(m, contacts=carom.Contact(stops[1], normal=carom.Newton(0.5)), control=control)
    with pytest.raises(carom.CaromError, match="locks an angle that cannot change: 'out' is on a Slider"):
        carom.World(m, constraints=carom.Locked("out", "link1"))
    with pytest.raises(carom.CaromError, match="ContactInverse solves for torques of hinges only"):
        carom.contact.ContactInverse(m, [], [])


def test_a_world_with_sliders_is_written_and_read(tmp_path: Path) -> None:
    m = robot()
    stop = carom.Contact(carom.JointLimit(m, "boom", upper=1.5), normal=carom.Newton(0.5), name="stop")
    control = carom.PostureControl(m, [[0.0, 0.4, 1.0, 0.1]], kp=[0.0, 3.0, 2.0, 1.0], kd=[0.0, 0.1, 0.1, 0.1])
    world = carom.World(m, contacts=stop, control=control, gravity=0.0)
    start = world.state(angles=[0.3, -0.4], slides=[0.1, 0.05], slide_rates=[-0.3, 0.2])
    path = tmp_path / "robot.toml"
    carom.Scenario.of(world, start, until=0.1, name="robot").save(path)
    assert "[mechanisms.robot.links.boom.slider]" in path.read_text()
    again = carom.Scenario.load(path)
    built = again.world()
    assert jax.tree.structure(built) == jax.tree.structure(world)
    for a, b in zip(jax.tree.leaves(built), jax.tree.leaves(world), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(state_of(again, built.mechanism).q, start.q)
    np.testing.assert_array_equal(state_of(again, built.mechanism).v, start.v)
    assert "'boom upper limit', JointLimit(slide=1.5 m)" in repr(world)
    assert "slides along (0.894427, 0.447214)" in repr(world)
    with pytest.raises(carom.CaromError, match="link 'boom' has both joint and slider"):
        again.with_({"mechanisms.robot.links.boom.joint.stiffness": 1.0}).world()
