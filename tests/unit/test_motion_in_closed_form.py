"""Equations of motion, energies and momenta against closed forms; kinematics of sites."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics

from ..strategies import TREES
from .varied_chains import ROD, TIGHT, G, close, random_state, varied

# -- closed forms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formalism", [None, *dynamics.FORMALISMS])
def test_a_rod_falls_as_a_physical_pendulum(formalism: str | None) -> None:
    q, v = jnp.array([0.7]), jnp.array([1.3])
    a = dynamics.forward_dynamics(carom.Arm([ROD]), q, v, formalism=formalism)
    assert close(a, [-1.5 * G * np.cos(0.7) / 2.0])


@pytest.mark.parametrize("formalism", dynamics.FORMALISMS)
def test_the_double_pendulum_of_the_textbook(formalism: str) -> None:
    """Two point masses; angles from the vertical in the textbook, from the x axis here."""
    (m1, m2), (l1, l2), (t1, t2), (w1, w2) = (2.0, 3.0), (1.5, 0.7), (0.4, -1.1), (1.2, -2.3)
    d, common = t1 - t2, 2 * m1 + m2 - m2 * np.cos(2 * (t1 - t2))
    first = -G * (2 * m1 + m2) * np.sin(t1) - m2 * G * np.sin(t1 - 2 * t2)
    first -= 2 * np.sin(d) * m2 * (w2**2 * l2 + w1**2 * l1 * np.cos(d))
    second = 2 * np.sin(d) * (w1**2 * l1 * (m1 + m2) + G * (m1 + m2) * np.cos(t1) + w2**2 * l2 * m2 * np.cos(d))
    expected = [first / (l1 * common), second / (l2 * common)]
    arm = carom.Arm([carom.PointMass(mass=m1, length=l1), carom.PointMass(mass=m2, length=l2)])
    q, v = jnp.array([t1, t2]) - np.pi / 2, jnp.array([w1, w2])
    assert close(dynamics.forward_dynamics(arm, q, v, formalism=formalism), expected)


def test_a_free_body_flies_and_spins() -> None:
    disk = carom.Mechanism([carom.Disk(radius=1.0, mass=2.0)], base=carom.Free())
    q, v = jnp.array([1.0, 2.0, 0.3]), jnp.array([4.0, 5.0, 6.0])
    assert close(dynamics.forward_dynamics(disk, q, v), [0.0, -G, 0.0])
    pushed = dynamics.forward_dynamics(disk, q, v, base_force=(3.0, 4.0), torques=[5.0], gravity=0.0)
    assert close(pushed, [1.5, 2.0, 5.0])


def test_springs_pull_to_rest_and_dampers_brake_relative_to_the_parent() -> None:
    joint = carom.Joint(stiffness=7.0, rest=0.2, damping=0.5)
    arm = carom.Arm([ROD, carom.Link(ROD, joint=joint)])
    torque = -7.0 * ((0.9 - 0.4) - 0.2) - 0.5 * (2.0 - 1.0)
    force = dynamics.generalized_force(arm, jnp.array([0.4, 0.9]), jnp.array([1.0, 2.0]))
    assert close(force, [-torque, torque])


def test_torques_turn_the_link_and_react_on_its_parent() -> None:
    fork = TREES["fork of 3, free"]
    still = jnp.zeros(fork.dof)
    force = dynamics.generalized_force(fork, still, still, torques=[1.0, 10.0, 100.0])
    assert close(force, [0.0, 0.0, 1.0 - 10.0 - 100.0, 10.0, 100.0])


def test_a_force_at_a_site_acts_through_its_lever() -> None:
    arm = carom.Arm([ROD, ROD])
    q, still = jnp.array([0.3, 1.1]), jnp.zeros(2)
    levers = [np.array([np.cos(t), np.sin(t)]) * 2.0 for t in (0.3, 1.1)]
    expected = [r[0] * 5.0 - r[1] * 4.0 for r in levers]
    by_name = dynamics.generalized_force(arm, q, still, forces={"link2.tip": (4.0, 5.0)})
    by_site = dynamics.generalized_force(arm, q, still, forces={arm.tip: (4.0, 5.0)})
    assert close(by_name, expected) and close(by_site, expected)


@pytest.mark.parametrize("keys", ["sites", "both kinds"])
def test_several_forces_may_be_given_by_site(keys: str) -> None:
    arm, (q, v, _) = carom.Arm([ROD, ROD]), random_state(carom.Arm([ROD, ROD]))
    first = arm.site("link1.tip") if keys == "sites" else "link1.tip"
    found = dynamics.forward_dynamics(arm, q, v, forces={arm.tip: (1.0, 2.0), first: (3.0, 4.0)})
    assert close(found, dynamics.forward_dynamics(arm, q, v, forces={"link2.tip": (1.0, 2.0), "link1.tip": (3.0, 4.0)}))


def test_gravity_is_a_number_downwards_or_a_vector() -> None:
    arm, (q, v, _) = varied(2), random_state(varied(2))

    def fall(gravity: Any) -> jax.Array:
        return dynamics.forward_dynamics(arm, q, v, gravity=gravity)

    assert close(fall(G), fall((0.0, -G))) and close(dynamics.forward_dynamics(arm, q, v), fall(G))
    assert close(fall(0.0), fall((0.0, 0.0)))
    # On a slope the arm moves as it would, tilted, on level ground.
    slope = jnp.array([-G * np.sin(0.3), -G * np.cos(0.3)])
    tilted = eqx.tree_at(lambda m: m.numbers.rest, arm, arm.numbers.rest + jnp.array([0.3, 0.0]))
    assert close(dynamics.forward_dynamics(tilted, q + 0.3, v), fall(slope))


def test_gravity_may_be_a_tuple_of_numpy_numbers() -> None:
    arm, (q, v, _) = varied(2), random_state(varied(2))
    slope = (-G * np.sin(0.3), -G * np.cos(0.3))
    found = dynamics.forward_dynamics(arm, q, v, gravity=slope)
    assert close(found, dynamics.forward_dynamics(arm, q, v, gravity=jnp.array(slope)))


def test_energies_of_a_rod() -> None:
    joint = carom.Joint(stiffness=7.0, rest=0.2)
    arm = carom.Mechanism([carom.Link(ROD, joint=joint)], base=carom.Fixed(5.0, 6.0))
    q, v = jnp.array([0.7]), jnp.array([1.3])
    assert dynamics.kinetic_energy(arm, q, v) == pytest.approx(0.5 * (3.0 * 4.0 / 3) * 1.3**2, rel=TIGHT)
    height, spring = 6.0 + np.sin(0.7), 0.5 * 7.0 * 0.5**2
    assert dynamics.potential_energy(arm, q) == pytest.approx(3.0 * G * height + spring, rel=TIGHT)
    assert dynamics.potential_energy(arm, q, (1.0, 0.0)) == pytest.approx(
        -3.0 * (5.0 + np.cos(0.7)) + spring, rel=TIGHT
    )


def test_energies_by_link_add_up_and_know_their_link() -> None:
    arm, (q, v, _) = carom.Arm([ROD, ROD]), (jnp.array([0.3, 1.1]), jnp.array([0.0, 2.0]), None)
    kinetic, potential = dynamics.kinetic_energy_by_link(arm, q, v), dynamics.potential_energy_by_link(arm, q)
    assert close(kinetic, [0.0, 0.5 * (3.0 * 4.0 / 3) * 2.0**2])
    assert close(potential, [3.0 * G * np.sin(0.3), 3.0 * G * (2.0 * np.sin(0.3) + np.sin(1.1))])
    assert dynamics.kinetic_energy(arm, q, v) == pytest.approx(float(kinetic.sum()), rel=TIGHT)


@pytest.mark.parametrize("name", ["bush of 6, children listed first", "arm and two targets, 7"])
def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(name: str) -> None:
    tree = TREES[name]
    q, v, _ = random_state(tree)
    assert dynamics.kinetic_energy(tree, q, v) == pytest.approx(
        float(v @ dynamics.mass_matrix(tree, q) @ v / 2), rel=TIGHT
    )


def test_momentum_moves_the_centre_of_mass_and_depends_on_the_point() -> None:
    tree = varied(3, carom.Free())
    q, v, _ = random_state(tree)
    mass = np.sum(tree.numbers.mass)
    velocity = jax.jvp(lambda q: dynamics.centre_of_mass(tree, q), (q,), (v,))[1]
    here, there = dynamics.momentum(tree, q, v), dynamics.momentum(tree, q, v, about=(2.0, -3.0))
    assert close(here.linear, mass * velocity) and close(there.linear, here.linear)
    moved = here.angular - (2.0 * here.linear[1] + 3.0 * here.linear[0])
    assert there.angular == pytest.approx(float(moved), rel=TIGHT)


def test_angular_momentum_of_a_turning_rod() -> None:
    found = dynamics.momentum(carom.Arm([ROD]), jnp.array([0.7]), jnp.array([1.3]))
    assert found.angular == pytest.approx(3.0 * 4.0 / 3 * 1.3, rel=TIGHT)
    assert close(found.linear, 3.0 * 1.3 * np.array([-np.sin(0.7), np.cos(0.7)]))


# -- sites -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two roots of 5, free", "bush of 6, children listed first", "arm and two targets, 7"])
def test_site_kinematics_are_derivatives_of_the_position(name: str) -> None:
    tree = TREES[name]
    q, v, _ = random_state(tree)

    @jax.jit
    def derivatives(q: jax.Array, v: jax.Array) -> list[tuple[jax.Array, ...]]:
        out = []
        for site in tree.topology.site_names:
            place = lambda q, site=site: dynamics.site_position(tree, q, site)  # noqa: E731
            velocity = lambda q, place=place: jax.jvp(place, (q,), (v,))[1]  # noqa: E731
            expected = velocity(q), jax.jacfwd(place)(q), jax.jvp(velocity, (q,), (v,))[1]
            given = (
                dynamics.site_velocity(tree, q, v, site),
                dynamics.site_jacobian(tree, q, site),
                dynamics.site_bias(tree, q, v, site),
            )
            out += list(zip(given, expected, strict=True))
        return out

    assert all(close(given, expected) for given, expected in derivatives(q, v))
