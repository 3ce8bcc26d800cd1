"""Inverse dynamics in contact against Newton and Euler's equations written out link by link, in NumPy."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import carom
from carom import CaromError
from carom.contact import ContactInverse
from carom.control import Quintic
from carom.crawl import ClosedMotion, SlidingPlan

G = 9.81
MU = 0.3
STATES = 6

pytestmark = pytest.mark.usefixtures("unchecked")


# -- an independent solution -----------------------------------------------------------------------------------------


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def turned(angle, p):
    return np.array([np.cos(angle) * p[0] - np.sin(angle) * p[1], np.sin(angle) * p[0] + np.cos(angle) * p[1]])


def newton_euler(links, q, v, a, gravity, tip_force):
    """Joint torques and the force of the base on the first link, from the tip inwards; links are (m, I, com, tip)."""
    places, pulls, where, speedup = [], [], np.zeros(2), np.zeros(2)
    for (_, _, com, tip), angle, rate, turn in zip(links, q, v, a, strict=True):
        c, r = turned(angle, com), turned(angle, tip)
        places.append((where, where + c, where + r))
        pulls.append(speedup + turn * np.array([-c[1], c[0]]) - rate**2 * c)
        where, speedup = where + r, speedup + turn * np.array([-r[1], r[0]]) - rate**2 * r
    force, torque, torques = np.asarray(tip_force), 0.0, []
    for (m, inertia, _, _), (joint, centre, end), pull, turn in reversed(
        list(zip(links, places, pulls, a, strict=True))
    ):
        # `force` and `torque` act at the link's end: of the surface, or the reaction of the next link
        own = m * pull - m * gravity - force
        own_torque = inertia * turn - cross(joint - centre, own) - cross(end - centre, force) - torque
        torques.append(own_torque)
        force, torque = -own, -own_torque
    return np.array(torques[::-1]), -force


def solved(links, q, v, a, gravity, direction, passive):
    """Torques, normal force and force of the base on link 1; torques are linear in the normal force."""
    still, base0 = newton_euler(links, q, v, a, gravity, np.zeros(2))
    zero = np.zeros(len(q))
    unit, base1 = newton_euler(links, q, zero, zero, np.zeros(2), direction)
    normal = -still[passive] / unit[passive]
    return still + normal * unit, normal, base0 + normal * base1


# -- random chains on surfaces ---------------------------------------------------------------------------------------


def random_links(rng, count):
    for _ in range(count):
        length = rng.uniform(0.3, 1.0)
        com = (rng.uniform(0.2, 0.8) * length, rng.uniform(-0.1, 0.1))
        yield rng.uniform(0.3, 2.0), rng.uniform(0.01, 0.1), np.array(com), np.array([length, rng.uniform(-0.1, 0.1)])


def chain(links, base=None):
    bodies = [carom.Body(mass=m, inertia=i, com=tuple(c), tip=tuple(t)) for m, i, c, t in links]
    first = carom.Link(bodies[0], sites={"foot": (0.0, 0.0)})
    return carom.Mechanism([first, *bodies[1:]], base=base)


def plane(x, y, shape):
    return carom.Plane(point=(x, y), slope=shape)


def circle(x, y, shape):
    """Of radius 0.7, met from outside where its normal has the angle `shape` from upright."""
    n = -jnp.sin(shape), jnp.cos(shape)
    return carom.Circle(centre=(x - 0.7 * n[0], y - 0.7 * n[1]), radius=0.7)


def graph(x, y, shape):
    return carom.Graph(lambda s, x, y, k: y + 0.2 * jnp.sin(k + 2.0 * (s - x)) - 0.2 * jnp.sin(k), (x, y, shape))


def normal_of(kind, shape):
    """Unit normal at the tip, by hand."""
    slope = np.arctan(0.4 * np.cos(shape)) if kind is graph else shape
    return np.array([-np.sin(slope), np.cos(slope)])


@eqx.filter_jit
def motion_and_efforts(kind, mechanism, passive, q, v, a, shape, gravity):
    """A surface is laid through the tip; the passive joint is then started from elsewhere."""
    place = carom.dynamics.site_position(mechanism, q, mechanism.tip)
    contact = carom.Contact(mechanism.tip, kind(place[0], place[1], shape), 0.0, carom.Coulomb(MU), name="tip")
    problem = ContactInverse(mechanism, contact, passive=[mechanism.topology.names[passive]], gravity=gravity)
    moved = problem.closed((passive,), False, q.at[passive].add(0.02), v, a, 0.0)[0]
    return moved, problem.efforts(*moved, None, 0.0)


CASES = [(2, plane), (3, circle), (4, graph), (5, plane), (6, circle), (7, plane), (8, graph)]


@pytest.mark.parametrize(("count", "kind"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_torques_and_reaction_are_those_of_newton_and_euler(count, kind):
    rng = np.random.default_rng(count)
    links = list(random_links(rng, count))
    mechanism = chain(links)
    passive = count - 1 if count != 4 else 2  # any joint may be the passive one
    gravity = np.array([1.0, -G])
    shapes = rng.uniform(-0.4, 0.4, STATES)
    shapes[0] = 0.0  # flat
    q = rng.uniform(-0.9, 0.9, (STATES, count))
    v, a = rng.normal(size=(2, STATES, count))
    run = jax.vmap(motion_and_efforts, in_axes=(None, None, None, 0, 0, 0, 0, None))
    (q1, v1, a1), found = jax.tree.map(np.asarray, run(kind, mechanism, passive, q, v, a, jnp.asarray(shapes), gravity))
    np.testing.assert_allclose(q1, q, atol=1e-11)  # Newton found its way back
    assert np.max(np.abs([found.gap, found.gap_rate, found.gap_acceleration])) < 1e-12
    for k in range(STATES):
        n = normal_of(kind, shapes[k])
        direction = n - MU * np.sign(found.sliding[k, 0]) * np.array([n[1], -n[0]])
        torques, normal, _ = solved(links, q1[k], v1[k], a1[k], gravity, direction, passive)
        scale = max(1.0, np.max(np.abs(torques)), abs(normal)) / min(1.0, found.leverage[k])
        np.testing.assert_allclose(found.torques[k], torques, rtol=0.0, atol=1e-10 * scale)
        np.testing.assert_allclose(found.normal[k, 0], normal, rtol=0.0, atol=1e-10 * scale)
        assert found.torques[k, passive] == 0.0


def test_a_free_chain_stands_on_one_foot_and_slides_on_the_other():
    """No joint torque from the surroundings, two reactions at the foot that sticks: as many unknowns as equations."""
    rng = np.random.default_rng(7)
    links = list(random_links(rng, 3))
    mechanism = chain(links, carom.Free())
    floor, mu = carom.Plane(height=0.0), carom.Coulomb(MU)
    foot = carom.Contact(mechanism.site("foot"), floor, 0.0, mu, name="foot")
    tip = carom.Contact(mechanism.tip, floor, 0.0, mu, name="tip")
    problem = ContactInverse(mechanism, [foot, tip], sticking=["foot"])
    guess = np.array([0.3, 0.0, 0.7, -0.1, -0.8])
    rate, turn = np.array([0.0, 0.0, 0.9, -0.5, 0.0]), np.array([0.0, 0.0, -1.1, 2.0, 0.0])
    q, v, a = problem.close(guess, rate, turn, follow=["link3"])
    found = problem.solve(q, v, a)
    direction = np.array([-MU * np.sign(float(found.sliding[1])), 1.0])
    angles = [np.asarray(x)[2:] for x in (q, v, a)]
    torques, normal, base = solved(links, *angles, np.array([0.0, -G]), direction, 0)
    np.testing.assert_allclose(found.torques, torques, atol=1e-10 * np.max(np.abs(torques)))
    np.testing.assert_allclose(found.normal, [base[1], normal], rtol=1e-10)
    np.testing.assert_allclose(found.friction, [base[0], direction[0] * normal], rtol=1e-10)


def test_two_passive_joints_need_two_contacts():
    """Two fingers of a hand on the floor, the last joint of each without motor: the hand's weight is carried."""
    rod = carom.Rod(length=0.5, mass=1.0)
    hand = carom.Mechanism(
        [
            carom.Link(rod, name="palm"),
            *(
                carom.Link(rod, name=f"{side}{k}", parent="palm" if k == 1 else f"{side}1")
                for side in ("a", "b")
                for k in (1, 2)
            ),
        ]
    )
    floor = carom.Plane(height=-0.6)
    tips = [carom.Contact(hand.site(f"{side}2.tip"), floor, 0.0, carom.Coulomb(0.2), name=side) for side in ("a", "b")]
    problem = ContactInverse(hand, tips, passive=["a2", "b2"])
    q, v, a = problem.close(np.deg2rad([0.0, -100.0, -70.0, -40.0, -110.0]), [0.0, 0.5, 0.0, -0.7, 0.0])
    found = problem.solve(q, v, a)
    forces = {f"{s}2.tip": (float(found.friction[i]), float(found.normal[i])) for i, s in enumerate(("a", "b"))}
    forward = carom.dynamics.forward_dynamics(hand, q, v, torques=found.torques, forces=forces)
    np.testing.assert_allclose(forward, a, atol=1e-11)
    assert float(found.torques[2]) == float(found.torques[4]) == 0.0


# -- motion, derivatives ---------------------------------------------------------------------------------------------


def arm_on(surface, mu=0.4, links=3):
    arm = carom.Arm([carom.Rod(length=0.5, mass=1.0)] * links, base=(0.0, 0.2))
    tip = carom.Contact(arm.tip, surface, 0.0, carom.Coulomb(mu), name="tip")
    return ContactInverse(arm, tip, passive=[f"link{links}"])


@pytest.fixture(scope="module")
def round_floor():
    return arm_on(carom.Circle(centre=(0.9, -1.0), radius=1.0))


@pytest.fixture(scope="module")
def closed(round_floor):
    led = Quintic([0.6, -0.1], [0.3, -0.4], 0.8, start_velocity=[0.1, -0.2])
    return ClosedMotion(round_floor, led, [-1.0])


def test_rates_of_a_closed_motion_are_its_derivatives(closed):
    """Velocities and accelerations come from linear equations; here they are compared with jvp of the angles."""

    def angles(t):
        return closed.at(t).q

    def rates(t):
        return jax.jvp(angles, (t,), (1.0,))[1]

    times = jnp.linspace(0.05, 0.75, 8)
    found = jax.jit(jax.vmap(closed.at))(times)
    v, a = jax.jit(jax.vmap(lambda t: jax.jvp(rates, (t,), (1.0,))))(times)
    np.testing.assert_allclose(found.v, v, atol=1e-11)
    np.testing.assert_allclose(found.a, a, atol=1e-10)
    tips = jax.vmap(lambda q: carom.dynamics.site_position(closed.problem.mechanism, q, "link3.tip"))(found.q)
    np.testing.assert_allclose(np.hypot(tips[:, 0] - 0.9, tips[:, 1] + 1.0), 1.0, atol=1e-14)


def test_relative_and_absolute_angles_lead_to_one_motion(round_floor):
    q, v, a = jnp.array([0.6, -0.1, -1.0]), jnp.array([0.3, -0.5, 9.0]), jnp.array([-1.0, 0.7, 9.0])
    m = round_floor.mechanism
    one = round_floor.close(q, v, a)
    two = round_floor.close(*(m.to_relative(x) for x in (q, v, a)), relative=True)
    for x, y in zip(one, two, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)


def test_derivatives_in_both_modes(round_floor):
    """Torques with respect to the posture, the rates, a mass, the friction and the surface, through Newton's method."""

    def torques(angles, mass, mu, radius):
        arm = carom.Arm([carom.Rod(length=0.5, mass=mass)] * 3, base=(0.0, 0.2))
        surface = carom.Circle(centre=(0.9, -1.0), radius=radius)
        tip = carom.Contact(arm.tip, surface, 0.0, carom.Coulomb(mu))
        problem = ContactInverse(arm, tip, passive=["link3"])
        q = jnp.concatenate([angles, jnp.asarray([-1.0])])
        v, a = jnp.array([0.4, -0.2, 0.0]), jnp.array([1.0, 0.5, 0.0])
        moved = problem.closed((2,), False, q, v, a, 0.0)[0]
        found = problem.efforts(*moved, None, 0.0)
        return jnp.concatenate([found.torques, found.normal])

    args = (jnp.array([0.6, -0.1]), 1.2, 0.35, 1.0)
    check_grads(jax.jit(torques), args, order=1, modes=("fwd", "rev"), eps=1e-6, atol=1e-7, rtol=1e-7)


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def floor():
    return arm_on(carom.Plane(height=0.0))


@pytest.fixture(scope="module")
def moving(floor):
    return floor.close([0.9, -0.2, -0.9], [0.5, 0.1, 0.0], [0.0, 0.0, 0.0])


def test_a_singular_posture_is_named(floor):
    """The reaction's line passes through the last joint where cos phi + mu sin phi = 0 while the tip goes right."""
    phi = -np.arctan(1.0 / 0.4)
    height = 0.2 + 0.5 * np.sin(phi)
    q = np.array([np.arcsin(-height / 0.5), 0.0, phi])
    q, v, a = floor.close(q, [0.0, 0.1, 0.0], follow=["link3"])
    assert float(floor.solve(q, v, a, throw=False).sliding[0]) < 0.0
    assert float(floor.solve(q, v, a).normal[0]) > 0.0  # to the left all is well
    with pytest.raises(CaromError, match=r"joint 'link3' has no torque .* in the posture q = .*another passive joint"):
        floor.solve(q, -v, a)


def test_a_motion_that_leaves_the_surface_is_refused_with_its_error(floor, moving):
    q, v, a = moving
    with pytest.raises(
        CaromError, match=r"leaves the surface of 'tip': gap .*, its rate .* m/s, its acceleration 0\.\d+ m/s"
    ):
        floor.solve(q, v, a.at[2].add(1.0))
    with pytest.raises(CaromError, match=r"leaves the surface of 'tip': gap 0\.0\d+ m"):
        floor.solve(q.at[2].add(0.1), v, a)


def test_at_rest_the_sense_must_be_given(floor, moving):
    q = moving[0]
    still = jnp.zeros(3)
    with pytest.raises(CaromError, match=r"'tip' is at rest.*senses"):
        floor.solve(q, still, still)
    right, left = (float(floor.solve(q, still, still, senses=s).normal[0]) for s in (1, -1))
    # The passive link is a lever under its own weight: N (cos phi + sigma mu sin phi) = m g cos phi / 2
    cos, sin = np.cos(float(q[2])), np.sin(float(q[2]))
    assert right == pytest.approx(0.5 * G * cos / (cos + 0.4 * sin), rel=1e-12)
    assert left == pytest.approx(0.5 * G * cos / (cos - 0.4 * sin), rel=1e-12)
    sign = float(jnp.sign(floor.solve(*moving).sliding[0]))
    with pytest.raises(CaromError, match="contradict the motion"):
        floor.solve(*moving, senses=[-sign])


def test_under_jit_the_refusal_is_a_runtime_error(floor, moving):
    q, v, a = moving
    with pytest.raises(Exception, match="leaves the surface of 'tip'"):
        jax.block_until_ready(jax.jit(lambda a: floor.solve(q, v, a))(a + 1.0))


def test_sentences():
    arm = carom.Arm([carom.Rod(length=0.5, mass=1.0)] * 3)
    tip = carom.Contact(arm.tip, carom.Plane(height=0.0), 0.0, carom.Coulomb(0.4), name="tip")
    side = carom.Contact(arm.site("link2.tip"), carom.Plane(height=0.0), 0.0, name="side")
    wrong = {
        r"5 unknowns|4 unknowns for 3 equations.*make 1 more joint\(s\) passive, such as 'link3'": lambda: (
            ContactInverse(arm, tip)
        ),
        "2 unknowns for 3 equations; give 'link2' a motor": lambda: ContactInverse(arm, tip, ["link2", "link3"]),
        "passive joint 'link3' carries nothing.*make 'link2' passive instead": lambda: ContactInverse(
            arm, side, ["link3"]
        ),
        "there is no link 'link9'": lambda: ContactInverse(arm, tip, ["link9"]),
        "passive is 3; it must be a list of names": lambda: ContactInverse(arm, tip, 3),
        "contact 'side' is to stick but has no friction": lambda: ContactInverse(arm, side, ["link1"], ["side"]),
        "there is no sticking contact 'tap'": lambda: ContactInverse(arm, tip, ["link1"], ["tap"]),
        "contacts of ContactInverse is empty": lambda: ContactInverse(arm, [], ["link3"]),
        "contacts of ContactInverse holds a Plane": lambda: ContactInverse(arm, [carom.Plane(height=0.0)], ["link3"]),
        "mechanism of ContactInverse is a int": lambda: ContactInverse(3, tip, ["link3"]),
        "joint 'link3' cannot bring 'tip' onto its surface": lambda: ContactInverse(arm, tip, "link3").close(
            [1.5, 1.5, 0.0]
        ),
        "joint 'link3' is to follow but carries nothing": lambda: ContactInverse(arm, side, "link2").close(
            [0.0, 0.0, 0.0], follow=["link3"]
        ),
        "2 joints follow .* but 1 contacts slide": lambda: ContactInverse(arm, tip, "link3").close(
            [0.1, 0.1, -0.3], follow=["link2", "link3"]
        ),
        "senses of motion are": lambda: ContactInverse(arm, tip, "link3").solve(*np.zeros((3, 3)), senses=[0.5]),
        "free base needs more to stand on": lambda: ContactInverse(
            carom.Mechanism([carom.Rod(length=1.0, mass=1.0)] * 3, base=carom.Free()), tip
        ),
    }
    for words, act in wrong.items():
        with pytest.raises(CaromError, match=words):
            act()


def test_plans_refuse_what_a_surface_cannot_do(floor):
    lift = ClosedMotion(floor, Quintic([0.9, -0.2], [0.3, -0.6], 0.08), [-0.9])
    with pytest.raises(CaromError, match=r"reaction of 'tip' is -.* N at t = .*only pushes"):
        SlidingPlan(floor, lift)
    assert float(SlidingPlan(floor, lift, pull=True).senses[0]) != 0.0
    turning = ClosedMotion(floor, Quintic([0.6, -0.2], [0.5, -0.3], 1.0, start_velocity=[0.6, 0.0]), [-0.9])
    with pytest.raises(CaromError, match="slides against its sense"):
        SlidingPlan(floor, turning)
    with pytest.raises(CaromError, match=r"from t = .* on, joint 'link3' cannot keep its tip"):
        ClosedMotion(floor, Quintic([0.9, -0.2], [1.5, 1.5], 1.0), [-0.9])
    with pytest.raises(CaromError, match="it must move the 2 coordinates that do not follow"):
        ClosedMotion(floor, Quintic([0.9], [1.5], 1.0), [-0.9])
