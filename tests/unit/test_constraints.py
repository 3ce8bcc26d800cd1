"""Pins, locks and curves against closed forms; massless and contradictory cases."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import BASE, Link, Locked, OnCurve, Pin, dynamics
from carom.dynamics import constrained_dynamics

from .closed_loops import TIGHT, G, four_bar, rod

# -- closed forms ------------------------------------------------------------------------------------------------------


def test_a_rod_held_at_its_tip_leans_on_the_pin_with_half_its_weight() -> None:
    out = constrained_dynamics(carom.Arm([rod(2.0, 3.0)]), [Pin("link1.tip", (2.0, 0.0))], jnp.zeros(1), jnp.zeros(1))
    assert np.allclose(out.acceleration, 0.0, atol=TIGHT)
    assert np.allclose(out.multipliers, [0.0, 3.0 * G / 2], atol=1e-11)


def test_a_bead_on_a_circle_is_a_pendulum() -> None:
    """And the multiplier of a signed distance is the outward normal force in newtons."""
    bead = carom.Mechanism([carom.Disk(radius=0.1, mass=2.0)], base=carom.Free())
    angle, rate, radius = 0.4, 1.7, 3.0
    out_ward, along = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    q = jnp.asarray([*(radius * out_ward), 0.0])
    v = jnp.asarray([*(radius * rate * along), 0.0])
    circle = OnCurve("link1.tip", lambda x, y: jnp.hypot(x, y) - radius)
    out = constrained_dynamics(bead, [circle], q, v)
    expected = -G * np.cos(angle) * along - radius * rate**2 * out_ward
    assert np.allclose(out.acceleration, [*expected, 0.0], rtol=TIGHT)
    assert np.allclose(out.multipliers, [2.0 * (G * np.sin(angle) - radius * rate**2)], rtol=TIGHT)


def test_a_bead_on_a_parabola() -> None:
    bead = carom.Mechanism([carom.Disk(radius=0.1, mass=2.0)], base=carom.Free())
    x, speed = 0.7, 1.3
    q, v = jnp.array([x, x**2, 0.0]), jnp.array([speed, 2 * x * speed, 0.0])
    out = constrained_dynamics(bead, [OnCurve("link1.tip", lambda x, y: y - x**2)], q, v)
    expected = -2 * x * (G + 2 * speed**2) / (1 + 4 * x**2)
    assert out.acceleration[0] == pytest.approx(expected, rel=TIGHT)


def test_a_locked_joint_is_a_weld() -> None:
    arm = carom.Arm([rod(1.0), rod(2.0), rod(0.5)])
    q, v = jnp.array([0.3, 0.8, -0.4]), jnp.array([1.5, 1.5, -0.7])
    out = constrained_dynamics(arm, [Locked("link2", "link1", 0.5)], q, v)
    tip = (1.0 + 2.0 * np.cos(0.5), 2.0 * np.sin(0.5))
    welded = carom.Arm([rod(1.0), Link(rod(0.5), at=tip)]).weld("link1", rod(2.0), angle=0.5)
    expected = dynamics.forward_dynamics(welded, q[np.array([0, 2])], v[np.array([0, 2])])
    assert np.allclose(out.acceleration, expected[np.array([0, 0, 1])], rtol=1e-11)
    # The multiplier is the torque that the lock puts on link 2, and against link 1.
    torque = dynamics.inverse_dynamics(arm, q, v, out.acceleration)
    assert np.allclose(torque, [0.0, out.multipliers[0], 0.0], atol=1e-10)


def test_a_link_locked_to_the_world_stands_still() -> None:
    out = constrained_dynamics(carom.Arm([rod(1.0), rod(1.0)]), [Locked("link1")], jnp.array([0.0, 0.5]), jnp.zeros(2))
    assert np.allclose(out.acceleration, [0.0, -1.5 * G * np.cos(0.5)], atol=1e-11)


# -- massless links ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mass", [0.0, 1e-15, 1e-12, 1e-11, 1e-10, 1e-8, 1e-4, 1.0])
def test_a_coupler_of_any_mass_joins_two_pendulums(mass: float) -> None:
    """From nothing to a kilogram: no mass may be too small for a row of M and too large for none."""
    tree = carom.Mechanism(
        [
            Link(carom.PointMass(mass=2.0, length=1.0), name="bob", parent=BASE),
            Link(rod(1.5, mass), name="coupler", parent="bob"),
            Link(rod(1.0, 3.0), name="rod", parent=BASE, at=(1.5, 0.0)),
        ]
    )
    angle, rate = -0.8, 1.4
    q, v = jnp.array([angle, 0.0, angle]), jnp.array([rate, 0.0, rate])
    if mass == 0.0:
        assert np.linalg.matrix_rank(dynamics.mass_matrix(tree, q)) == 2
    out = constrained_dynamics(tree, [Pin("rod.tip", "coupler.tip")], q, v)
    turn = -G * np.cos(angle) * (2.0 + 3.0 / 2 + mass) / (2.0 + 3.0 / 3 + mass)  # the coupler shifts, it does not turn
    assert np.allclose(out.acceleration, [turn, 0.0, turn], atol=1e-9)
    # The rod turns under its weight and the coupler's push; a coupler without mass pushes along its axis, x.
    push = np.array([-np.sin(angle), np.cos(angle)]) @ out.multipliers
    assert push == pytest.approx(3.0 / 3 * turn + 3.0 * G * np.cos(angle) / 2, abs=1e-9)
    assert abs(out.multipliers[1]) <= 2 * G * mass + 1e-11


def test_a_massless_pair_of_rods_follows_its_pin() -> None:
    """A massless dyad on a pin has no freedom and no force: it goes where the geometry says."""
    mechanism = carom.Arm([rod(1.0, 0.0), rod(1.0, 0.0)])
    q = jnp.array([0.9, -0.4])
    pin = Pin("link2.tip", dynamics.site_position(mechanism, q, "link2.tip"))
    out = constrained_dynamics(mechanism, [pin], q, jnp.zeros(2))
    assert np.allclose(out.acceleration, 0.0, atol=TIGHT) and np.allclose(out.multipliers, 0.0, atol=TIGHT)


def test_masses_over_six_decades_keep_their_digits() -> None:
    """The four-bar with a coupler of a milligram against one without any mass."""

    def turn(mass: float) -> np.ndarray:
        mechanism = carom.Arm([rod(1.0), rod(2.0, mass), rod(1.5)])
        q, v = dynamics.assemble(mechanism, four_bar()[1], four_bar()[2], jnp.array([2.0, 0.0, 0.0]))
        return np.asarray(constrained_dynamics(mechanism, four_bar()[1], q, v).acceleration)

    assert np.allclose(turn(1e-6), turn(0.0), rtol=1e-4)
    assert np.allclose((turn(2e-6) - turn(0.0)) / 2, turn(1e-6) - turn(0.0), rtol=1e-4)  # linear in the mass


# -- contradictions ----------------------------------------------------------------------------------------------------

ARM = carom.Arm([rod(1.0), rod(1.0)])
# A tip that is pinned, and at the same time drawn along the circle that it moves on.
PINNED_AND_DRAWN = [Pin("link2.tip", (1.5, 0.5)), OnCurve("link2.tip", lambda x, y: x**2 + y**2 - 3.0)]
Q, V = jnp.array([0.1, 0.2]), jnp.array([1.0, 2.0])


def test_contradictory_constraints_are_refused_by_name() -> None:
    with pytest.raises(
        carom.CaromError, match=r"Pin\('link2.tip' to a fixed point\), OnCurve\('link2.tip'\) contradict"
    ):
        constrained_dynamics(ARM, PINNED_AND_DRAWN, Q, V)


def test_contradictory_constraints_are_refused_inside_jit() -> None:
    with pytest.raises(Exception, match=r"OnCurve\('link2.tip'\) contradict each other"):
        jax.block_until_ready(eqx.filter_jit(constrained_dynamics)(ARM, PINNED_AND_DRAWN, Q, V))


def test_a_contradiction_can_be_read_instead_of_raised() -> None:
    wrong = constrained_dynamics(ARM, PINNED_AND_DRAWN, Q, V, throw=False)
    right = constrained_dynamics(ARM, PINNED_AND_DRAWN[:1], Q, V, throw=False)
    assert wrong.conflict and wrong.residual > 1e-3
    assert not right.conflict and right.residual < TIGHT


def test_one_site_cannot_be_pinned_at_two_points() -> None:
    arm = carom.Arm([rod(1.0), rod(1.0), rod(1.0)])
    q = jnp.array([0.1, 0.9, -0.5])
    here = dynamics.site_position(arm, q, arm.tip)
    with pytest.raises(carom.CaromError, match="contradict"):
        constrained_dynamics(arm, [Pin(arm.tip, here), Pin(arm.tip, here + 0.1)], q, jnp.zeros(3))


# -- assembling --------------------------------------------------------------------------------------------------------


def test_assemble_says_which_constraints_cannot_be_met() -> None:
    with pytest.raises(carom.CaromError, match=r"Pin\('link2.tip' to a fixed point\) cannot all be met.*link lengths"):
        dynamics.assemble(ARM, [Pin("link2.tip", (5.0, 5.0))], Q)
