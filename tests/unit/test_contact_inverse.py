"""Inverse dynamics in contact against Newton and Euler's equations; closed motions and derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import carom
from carom import native
from carom.contact import ContactInverse
from carom.control import Quintic
from carom.crawl import ClosedMotion

from .chains_on_surfaces import G, arm_on, chain, random_links, solved
from .row_by_row import each_row

MU = 0.3
STATES = 6

pytestmark = pytest.mark.usefixtures("unchecked")


# -- random chains on surfaces -----------------------------------------------------------------------------------------


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

    @carom.jit
    def run(mechanism, gravity, *states):
        return native.rows(lambda *state: motion_and_efforts(kind, mechanism, passive, *state, gravity))(*states)

    (q1, v1, a1), found = run(mechanism, gravity, q, v, a, shapes)
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


# -- motion, derivatives -----------------------------------------------------------------------------------------------


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
    found = each_row(closed.at)(times)
    v, a = each_row(lambda t: jax.jvp(rates, (t,), (1.0,)))(times)
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
