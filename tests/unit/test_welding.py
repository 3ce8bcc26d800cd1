"""Bodies welded to links: what they add, and the derivative with respect to a payload."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics

from .rods import EXACT, PAYLOAD, ROD, Q, V


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
