"""Bodies, links, trees, coordinates: what the constructors mean."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics

from ..strategies import TREES
from .rods import EXACT, ROD, arm_of


def test_importing_carom_switches_on_64_bit_numbers() -> None:
    assert jnp.zeros(1).dtype == jnp.float64
    assert ROD.mass == 3.0 and arm_of(1.0).numbers.mass.dtype == jnp.float64


# -- bodies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "about_joint"),
    [
        (carom.Rod(length=2.0, mass=3.0), 3.0 * 2.0**2 / 3),
        (carom.Disk(radius=2.0, mass=3.0), 3.0 * 2.0**2 / 2),
        (carom.PointMass(mass=3.0, length=2.0), 3.0 * 2.0**2),
        (carom.Body(mass=3.0, inertia=0.5, com=(1.0, -2.0)), 0.5 + 3.0 * (1.0 + 4.0)),
    ],
    ids=lambda x: type(x).__name__,
)
def test_moment_of_inertia_about_the_joint(body: carom.mechanism.AbstractBody, about_joint: float) -> None:
    pendulum = carom.Arm([body])
    for formalism in dynamics.FORMALISMS:
        assert dynamics.mass_matrix(pendulum, jnp.array([0.3]), formalism)[0, 0] == pytest.approx(about_joint, EXACT)


@pytest.mark.parametrize(
    ("body", "tip"),
    [
        (carom.Rod(length=2.0, mass=1.0), (2.0, 0.0)),
        (carom.Disk(radius=2.0, mass=1.0), (0.0, 0.0)),
        (carom.PointMass(mass=1.0, length=2.0), (2.0, 0.0)),
        (carom.Body(mass=1.0, inertia=1.0, tip=(0.3, 0.4)), (0.3, 0.4)),
    ],
    ids=lambda x: type(x).__name__,
)
def test_the_next_link_hangs_at_the_tip(body: carom.mechanism.AbstractBody, tip: tuple[float, float]) -> None:
    arm = carom.Arm([body, carom.Rod(length=1.0, mass=1.0)])
    assert np.allclose(arm.numbers.hang[1], tip, atol=0)
    assert np.allclose(dynamics.site_position(arm, jnp.zeros(2), "link1.tip"), tip, atol=0)


def test_bodies_take_their_numbers_in_the_documented_order() -> None:
    assert carom.Rod(2.0, 3.0) == carom.Rod(length=2.0, mass=3.0)
    assert carom.Disk(2.0, 3.0) == carom.Disk(radius=2.0, mass=3.0)
    assert carom.PointMass(2.0, 3.0) == carom.PointMass(mass=2.0, length=3.0)
    assert carom.Body(2.0, 3.0) == carom.Body(mass=2.0, inertia=3.0)


# -- trees -------------------------------------------------------------------------------------------------------------


def test_a_list_of_bodies_is_a_serial_arm_on_a_fixed_pivot() -> None:
    arm = carom.Arm([ROD, ROD, ROD], base=(1.0, 2.0))
    assert arm.topology.names == ("link1", "link2", "link3")
    assert arm.topology.parents == (-1, 0, 1)
    assert arm.dof == 3
    assert np.allclose(dynamics.site_position(arm, jnp.zeros(3), arm.tip), (7.0, 2.0), atol=EXACT)


def test_one_body_alone_is_a_mechanism() -> None:
    assert carom.Mechanism(ROD).dof == 1
    assert carom.Mechanism(carom.Link(ROD, name="pendulum")).topology.names == ("pendulum",)


def test_links_hang_where_they_are_told() -> None:
    tree = carom.Mechanism(
        [
            carom.Link(ROD, name="trunk"),
            carom.Link(ROD, name="left", parent="trunk", at=(1.0, 0.5)),
            carom.Link(ROD, name="right", parent="trunk"),
            carom.Link(ROD, name="second", parent=carom.BASE, at=(5.0, 0.0)),
        ]
    )
    q = jnp.array([np.pi / 2, 0.0, 0.0, 0.0])
    assert np.allclose(dynamics.site_position(tree, q, "left.tip"), (-0.5 + 2.0, 1.0), atol=EXACT)
    assert np.allclose(dynamics.site_position(tree, q, "right.tip"), (2.0, 2.0), atol=EXACT)
    assert np.allclose(dynamics.site_position(tree, q, "second.tip"), (7.0, 0.0), atol=EXACT)


def test_the_order_of_the_list_only_orders_the_coordinates() -> None:
    a, b, c = (
        carom.Link(carom.Rod(length=length, mass=1.0), name=name, parent=parent)
        for length, name, parent in ((1.0, "a", carom.BASE), (2.0, "b", "a"), (3.0, "c", "b"))
    )
    q, v = jnp.array([0.1, 0.7, -0.4]), jnp.array([1.0, -2.0, 0.5])
    order = np.array([2, 0, 1])
    straight = dynamics.forward_dynamics(carom.Mechanism([a, b, c]), q, v)
    shuffled = dynamics.forward_dynamics(carom.Mechanism([c, a, b]), q[order], v[order])
    assert np.allclose(shuffled, straight[order], rtol=1e-12)


def test_free_base_adds_two_coordinates_in_front() -> None:
    free = arm_of(1.0, 1.0, base=carom.Free())
    assert free.dof == 4
    assert free.topology.labels == ("x", "y", "link1", "link2")
    q = free.coordinates([0.0, np.pi / 2], base=(3.0, 4.0))
    assert np.allclose(free.base(q), [[3.0, 4.0]], atol=0)
    assert np.allclose(dynamics.site_position(free, q, free.tip), (4.0, 5.0), atol=EXACT)


def test_sites_are_found_by_name_and_move_with_their_link() -> None:
    arm = carom.Mechanism([carom.Link(ROD, name="a", sites={"gripper": (1.0, 1.0)}), carom.Link(ROD, name="b")])
    assert arm.topology.site_names == ("a.tip", "b.tip", "gripper")
    assert arm.site("gripper").link == 0
    assert arm.tip == arm.site("b.tip") and arm.site(arm.tip) == arm.tip
    q = jnp.array([np.pi / 2, 0.0])
    assert np.allclose(dynamics.site_position(arm, q, "gripper"), (-1.0, 1.0), atol=EXACT)


def test_side_by_side_keeps_its_parts_apart() -> None:
    arm = carom.Arm([ROD, ROD])
    target = carom.Mechanism([carom.Link(ROD, name="body", sites={"handle": (0.1, 0.2)})], base=carom.Free())
    both = carom.side_by_side(arm=arm, target=target)
    assert both.topology.names == ("arm.link1", "arm.link2", "target.body")
    assert "target.handle" in both.topology.site_names
    assert both.topology.labels == ("target.x", "target.y", "arm.link1", "arm.link2", "target.body")
    q, v = jnp.array([3.0, 4.0, 0.1, 0.2, 0.3]), jnp.array([1.0, -1.0, 2.0, 3.0, 4.0])
    found = dynamics.forward_dynamics(both, q, v)
    alone = np.array([2, 3]), np.array([0, 1, 4])
    for part, index in zip((arm, target), alone, strict=True):
        assert np.allclose(found[index], dynamics.forward_dynamics(part, q[index], v[index]), rtol=1e-12)
    matrix = dynamics.mass_matrix(both, q)
    assert np.all(matrix[np.ix_(*alone)] == 0)
    assert np.allclose(dynamics.site_position(both, jnp.zeros(5), "target.handle"), (0.1, 0.2), atol=EXACT)


def test_side_by_side_of_side_by_side_names_every_level() -> None:
    pair = carom.side_by_side(a=arm_of(1.0, base=carom.Free()), b=arm_of(2.0))
    nested = carom.side_by_side(left=pair, right=pair)
    assert nested.topology.names == ("left.a.link1", "left.b.link1", "right.a.link1", "right.b.link1")
    assert nested.topology.tree_names == ("left.a", "left.b", "right.a", "right.b")
    assert nested.dof == 2 * pair.dof


def test_paths_run_from_the_root_down() -> None:
    top = TREES["bush of 6, children listed first"].topology
    assert top.paths[4] == ((2, 0), (0, 1), (1, 4))
    assert all(top.order.index(p) < top.order.index(k) for k, p in enumerate(top.parents) if p >= 0)


# -- coordinates -------------------------------------------------------------------------------------------------------


def test_relative_angles_are_measured_from_the_parent() -> None:
    arm = arm_of(1.0, 1.0, 1.0)
    q = arm.coordinates([10, 20, 30], relative=True, degrees=True)
    assert np.allclose(jnp.rad2deg(q), [10, 30, 60], rtol=EXACT)
    assert np.allclose(arm.angles(q, relative=True, degrees=True), [10, 20, 30], rtol=1e-13)
    assert np.allclose(arm.angles(q, degrees=True), [10, 30, 60], rtol=EXACT)
    assert np.allclose(arm.coordinates([0.1, 0.2, 0.3]), [0.1, 0.2, 0.3], atol=0)


@pytest.mark.parametrize("name", TREES)
def test_absolute_and_relative_coordinates_undo_each_other(name: str) -> None:
    tree = TREES[name]
    q = jnp.asarray(np.random.default_rng(1).normal(size=tree.dof))
    assert np.allclose(tree.to_absolute(tree.to_relative(q)), q, atol=EXACT)
    assert np.allclose(tree.to_relative(tree.to_absolute(q)), q, atol=EXACT)
    bases = tree.topology.base_dof
    assert np.all(tree.to_relative(q)[:bases] == q[:bases])


@pytest.mark.parametrize("name", TREES)
def test_joint_torques_have_the_same_power_in_both_coordinates(name: str) -> None:
    tree, rng = TREES[name], np.random.default_rng(2)
    efforts, v = (jnp.asarray(rng.normal(size=tree.dof)) for _ in range(2))
    assert tree.efforts_to_absolute(efforts) @ v == pytest.approx(float(efforts @ tree.to_relative(v)), abs=1e-13)
