"""Mechanisms as values: immutable, traced, printed, walked over, refused in 32 bits."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics
from carom.mechanism import Topology
from carom.mechanism import _walk as walk

from ..strategies import TREES
from .rods import EXACT, PAYLOAD, ROD, Q, V, arm_of

# -- values ------------------------------------------------------------------------------------------------------------


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


# -- printing ----------------------------------------------------------------------------------------------------------


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


# -- passes over the tree ----------------------------------------------------------------------------------------------


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
