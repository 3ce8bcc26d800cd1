"""Bodies, links, trees: what the constructors mean."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics
from carom.mechanism import Topology, walk

from ..strategies import TREES

ROD = carom.Rod(length=2.0, mass=3.0)
EXACT = 1e-14  # a handful of operations


def arm_of(*lengths: float, base: carom.Fixed | carom.Free | None = None) -> carom.Mechanism:
    return carom.Mechanism([carom.Rod(length=length, mass=1.0) for length in lengths], base=base)


def test_importing_carom_switches_on_64_bit_numbers() -> None:
    assert jnp.zeros(1).dtype == jnp.float64
    assert ROD.mass == 3.0 and arm_of(1.0).numbers.mass.dtype == jnp.float64


# -- bodies --------------------------------------------------------------------------------------------------------


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


# -- trees ---------------------------------------------------------------------------------------------------------


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


# -- coordinates ---------------------------------------------------------------------------------------------------


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


# -- welding -------------------------------------------------------------------------------------------------------

PAYLOAD = carom.Body(mass=2.0, inertia=0.7, com=(0.3, -0.2))
Q, V = jnp.array([0.4, -0.9]), jnp.array([1.5, -2.5])


def test_weld_equals_a_body_combined_by_hand() -> None:
    welded = carom.Arm([ROD, ROD]).weld("link2", PAYLOAD, at=(1.5, 0.5), angle=np.pi / 2)
    # The rod's centre is at (1, 0); the payload's, turned by 90 degrees, at (1.5 + 0.2, 0.5 + 0.3).
    centre = (3.0 * np.array([1.0, 0.0]) + 2.0 * np.array([1.7, 0.8])) / 5.0
    steiner = 3.0 * np.sum((np.array([1.0, 0.0]) - centre) ** 2) + 2.0 * np.sum((np.array([1.7, 0.8]) - centre) ** 2)
    combined = carom.Body(mass=5.0, inertia=1.0 + 0.7 + steiner, com=tuple(centre), tip=(2.0, 0.0))
    by_hand = carom.Arm([ROD, combined])
    for name, value in dataclasses.asdict(by_hand.numbers).items():
        if isinstance(value, tuple):  # what bends: nothing here
            assert set(value) == {None}
            continue
        assert np.allclose(dataclasses.asdict(welded.numbers)[name], value, rtol=1e-14, atol=EXACT), name
    assert np.allclose(dynamics.forward_dynamics(welded, Q, V), dynamics.forward_dynamics(by_hand, Q, V), rtol=1e-12)


def test_weld_goes_to_the_tip_by_default_and_leaves_the_old_mechanism_alone() -> None:
    arm = carom.Arm([ROD, ROD])
    bob = carom.PointMass(mass=1.0)
    welded = arm.weld("link1", bob)
    assert np.allclose(welded.numbers.com[0], (3.0 * 1.0 + 1.0 * 2.0) / 4.0 * np.array([1.0, 0.0]), rtol=EXACT)
    assert arm.numbers.mass[0] == 3.0 and welded.numbers.mass[0] == 4.0
    assert welded.topology.shapes == ("body", "rod")
    assert np.all(welded.numbers.hang == arm.numbers.hang) and np.all(welded.numbers.site == arm.numbers.site)


def test_a_captured_body_brings_its_momentum_and_energy() -> None:
    """An arm and a satellite that moves rigidly with its hand are the welded mechanism, by every measure."""
    arm = carom.Mechanism([ROD, ROD], base=carom.Free())
    at, angle = (1.8, 0.2), 0.6
    q, v = jnp.array([0.5, -0.3, 0.4, -0.9]), jnp.array([0.2, 0.1, 1.5, -2.5])
    carrier = carom.Mechanism([ROD, carom.Link(ROD, sites={"grip": at})], base=carom.Free())
    place, speed = dynamics.site_position(carrier, q, "grip"), dynamics.site_velocity(carrier, q, v, "grip")
    both = carom.side_by_side(arm=arm, satellite=carom.Mechanism([PAYLOAD], base=carom.Free()))
    q2 = jnp.concatenate([q[:2], place, q[2:], q[3:] + angle])
    v2 = jnp.concatenate([v[:2], speed, v[2:], v[3:]])
    welded = arm.weld("link2", PAYLOAD, at=at, angle=angle)
    apart, joined = dynamics.momentum(both, q2, v2), dynamics.momentum(welded, q, v)
    assert np.allclose(joined.linear, apart.linear, rtol=1e-13)
    assert joined.angular == pytest.approx(float(apart.angular), rel=1e-13)
    for energy in (dynamics.kinetic_energy, lambda m, q, _: dynamics.potential_energy(m, q)):
        assert energy(welded, q, v) == pytest.approx(float(energy(both, q2, v2)), rel=1e-13)


def test_welding_nothing_changes_nothing_even_on_a_massless_link() -> None:
    nothing = carom.PointMass(mass=0.0)
    arm = carom.Arm([carom.Rod(length=1.0, mass=0.0), ROD])
    welded = arm.weld("link1", nothing).weld("link2", nothing)
    assert np.all(welded.numbers.mass == arm.numbers.mass) and np.all(welded.numbers.inertia == arm.numbers.inertia)
    assert np.all(welded.numbers.com == arm.numbers.com)


def test_derivative_with_respect_to_a_payload() -> None:
    def fall(mass: jax.Array) -> jax.Array:
        return dynamics.forward_dynamics(carom.Arm([ROD]).weld("link1", carom.PointMass(mass=mass)), Q[:1], V[:1])[0]

    # (m l / 2 + p l) g cos / (m l^2 / 3 + p l^2) with m = 3, l = 2
    expected = jax.grad(lambda p: -9.81 * jnp.cos(Q[0]) * (3.0 + 2 * p) / (4.0 + 4 * p))(0.5)
    assert jax.grad(fall)(0.5) == pytest.approx(float(expected), rel=1e-12)


# -- values --------------------------------------------------------------------------------------------------------


def test_everything_is_immutable() -> None:
    for thing in (ROD, carom.Link(ROD), carom.Joint(), carom.Fixed(), arm_of(1.0), arm_of(1.0).tip):
        field = dataclasses.fields(thing)[0].name
        with pytest.raises(AttributeError):
            setattr(thing, field, 1.0)


def test_numbers_are_leaves_and_topology_is_static() -> None:
    light, heavy = (carom.Arm([carom.Rod(length=1.0, mass=mass)]) for mass in (1.0, 2.0))
    assert jax.tree.structure(light) == jax.tree.structure(heavy)
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(light))
    assert isinstance(hash(light.topology), int) and light.topology == heavy.topology


def test_a_mechanism_can_be_built_inside_jit_and_differentiated() -> None:
    @jax.jit
    def fall(length: jax.Array) -> jax.Array:
        arm = carom.Mechanism([carom.Rod(length=length, mass=2.0)], base=carom.Fixed(length, 0.0))
        return dynamics.forward_dynamics(arm, Q[:1], V[:1])[0]

    # A rod falls with -3/2 g cos(theta) / l
    slope = 1.5 * 9.81 * np.cos(Q[0])
    assert fall(2.0) == pytest.approx(-slope / 2.0, rel=1e-13)
    assert jax.grad(fall)(2.0) == pytest.approx(slope / 4.0, rel=1e-13)
    assert jax.jvp(fall, (2.0,), (1.0,))[1] == pytest.approx(slope / 4.0, rel=1e-13)
    assert np.allclose(jax.vmap(fall)(jnp.array([1.0, 2.0])), [-slope, -slope / 2], rtol=1e-13)


def test_building_under_trace_takes_every_number() -> None:
    @jax.jit
    @jax.grad
    def slopes(x: dict[str, jax.Array]) -> jax.Array:
        link = carom.Link(
            carom.Body(mass=x["mass"], inertia=x["inertia"], com=(x["com"], 0.1), tip=x["tip"]),
            at=(x["at"], 0.0),
            joint=carom.Joint(stiffness=x["stiffness"], rest=x["rest"], damping=x["damping"]),
            sites={"hand": x["hand"]},
        )
        tree = carom.Mechanism(
            [ROD, link, carom.PointMass(mass=x["bob"], length=x["string"])], base=carom.Fixed(x["pivot"])
        )
        q, v = jnp.array([0.4, -0.9, 0.2]), jnp.array([1.5, -2.5, 0.3])
        a = dynamics.forward_dynamics(tree, q, v, forces={"hand": (1.0, 2.0)}, formalism="explicit")
        return jnp.sum(a) + dynamics.site_position(tree, q, tree.tip)[0]

    x = dict.fromkeys(("mass", "inertia", "com", "stiffness", "rest", "damping", "at", "bob", "string", "pivot"), 0.7)
    given = jax.tree.map(jnp.asarray, x | {"tip": np.array([1.0, 0.2]), "hand": np.array([0.3, 0.4])})
    assert all(np.all(np.isfinite(slope)) and np.any(slope != 0) for slope in jax.tree.leaves(slopes(given)))


# -- printing ------------------------------------------------------------------------------------------------------


def test_a_mechanism_prints_as_a_table() -> None:
    tree = carom.Mechanism(
        [carom.Link(ROD, name="upper"), carom.Link(PAYLOAD, name="lower", at=(1.5, 0.5))], base=carom.Fixed(1.0, 2.0)
    )
    head, base, titles, upper, lower = repr(tree).splitlines()
    assert head == "Mechanism: 2 links, 2 degrees of freedom"
    assert base == "  base: fixed at (1, 2) m"
    assert titles.split()[:3] == ["link", "shape", "hangs"] and "mass [kg]" in titles
    assert upper.split() == ["upper", "rod", "base", "(0,", "0)", "3", "(1,", "0)", "1"]
    assert lower.split() == ["lower", "body", "upper", "(1.5,", "0.5)", "2", "(0.3,", "-0.2)", "0.7"]


def test_long_free_traced_and_batched_mechanisms_print_briefly() -> None:
    assert "... and 5 more" in repr(arm_of(*[1.0] * 25))
    assert "  base: free" in repr(arm_of(1.0, base=carom.Free())).splitlines()
    assert "  b: free" in repr(carom.side_by_side(a=arm_of(1.0), b=arm_of(1.0, base=carom.Free()))).splitlines()
    shown = []
    batch = jax.vmap(lambda mass: shown.append(carom.Arm([carom.Rod(length=1.0, mass=mass)])) or shown[-1])(jnp.ones(4))
    assert "numbers are traced" in repr(shown[0])
    assert "a batch of (4,)" in repr(batch)


# -- passes over the tree ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bush of 6, children listed first", "arm and two targets, 7"])
def test_scanned_passes_equal_unrolled_ones(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = TREES[name]
    top, rng = tree.topology, np.random.default_rng(3)
    given = jnp.asarray(rng.normal(size=top.links))
    bases = [(float(t), 1.0) for t in range(len(top.free))]

    def passes(top: Topology) -> list[np.ndarray]:
        values = walk.per_link(top, given)
        outward = walk.outward(top, lambda own, up: (own[0] + 2 * up[0], own[0] * up[1]), bases, values)
        inward, arrived = walk.inward(top, lambda own, s: ((own[0] - s[0],), (own[0] + s[0],)), 1, values)
        columns = [c for out in (outward, inward) for c in walk.columns(top, out)]
        return [np.asarray(c) for c in (*columns, *(x for gift in arrived for x in gift))]

    unrolled = passes(top)
    monkeypatch.setattr(walk, "UNROLL", 0)
    for few, many in zip(unrolled, passes(top), strict=True):
        assert np.allclose(many, few, rtol=EXACT)


def test_mechanisms_refuse_32_bit_numbers() -> None:
    with jax.enable_x64(False), pytest.raises(carom.CaromError, match=r"32-bit.*jax_enable_x64"):
        carom.Arm([ROD])
