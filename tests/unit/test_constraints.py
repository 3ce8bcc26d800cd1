"""Pins, closed loops and curves against closed forms; redundant, massless and contradictory cases of the KKT system."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import BASE, Link, Locked, OnCurve, Pin, dynamics
from carom.dynamics import constrained_dynamics, constraints

G = 9.81
TIGHT = 1e-12  # a system of ten unknowns, condition number below a thousand


def rod(length: float, mass: float = 1.0) -> carom.Rod:
    return carom.Rod(length=length, mass=mass)


def four_bar() -> tuple[carom.Mechanism, list[dynamics.AbstractConstraint], jax.Array]:
    """Crank 1, coupler 2, rocker 1.5 on pivots 2 apart; a guess of the angles."""
    return carom.Arm([rod(1.0), rod(2.0), rod(1.5)]), [Pin("link3.tip", (2.0, 0.0))], jnp.array([1.2, 0.3, -1.2])


def slider_crank() -> tuple[carom.Mechanism, list[dynamics.AbstractConstraint], jax.Array]:
    """Crank 1, connecting rod 3, slider of mass 2 on the x axis."""
    crank = carom.Arm([rod(1.0), rod(3.0)]).weld("link2", carom.PointMass(mass=2.0))
    return crank, [OnCurve("link2.tip", lambda x, y: y)], jnp.array([0.9, -0.3])


def parallelogram(coupler: float = 1.0) -> tuple[carom.Mechanism, list[dynamics.AbstractConstraint], jax.Array]:
    """Three equal cranks on one coupler: any two of them would do, so one of the four rows is redundant.

    Crank `a` is a bob of mass 2, the others are rods of mass 1: the coupler has something to carry.
    """
    tree = carom.Mechanism(
        [
            Link(carom.PointMass(mass=2.0, length=1.0), name="a", parent=BASE),
            Link(rod(2.0, coupler), name="coupler", parent="a", sites={"middle": (1.0, 0.0)}),
            Link(rod(1.0), name="b", parent=BASE, at=(1.0, 0.0)),
            Link(rod(1.0), name="c", parent=BASE, at=(2.0, 0.0)),
        ]
    )
    return tree, [Pin("b.tip", "middle"), Pin("c.tip", "coupler.tip")], jnp.array([-1.0, 0.0, -1.0, -1.0])


LOOPS: dict[str, Callable[[], Any]] = {
    "four-bar": four_bar,
    "slider-crank": slider_crank,
    "redundant parallelogram": parallelogram,
}


@cache
def moving(loop: Callable[[], Any], speed: float = 2.0) -> tuple[Any, Any, jax.Array, jax.Array]:
    """A closed loop, turning; the same object every time, so that what it compiled serves again."""
    mechanism, held, guess = loop()
    q, v = dynamics.assemble(mechanism, held, guess, jnp.zeros(mechanism.dof).at[0].set(speed))
    return mechanism, held, q, v


def energy(mechanism: carom.Mechanism, q: jax.Array, v: jax.Array) -> jax.Array:
    return dynamics.kinetic_energy(mechanism, q, v) + dynamics.potential_energy(mechanism, q)


# -- long motions --------------------------------------------------------------------------------------------------


def run(mechanism: Any, held: Any, q: jax.Array, v: jax.Array, until: float) -> tuple[jax.Array, ...]:
    """States at 101 times; rtol 1e-12 is the tightest that Dopri8 can tell from rounding."""

    def rate(t: Any, y: Any, args: Any) -> Any:
        out = constrained_dynamics(mechanism, held, *y, throw=False)
        return y[1], out.acceleration

    found = diffrax.diffeqsolve(
        diffrax.ODETerm(rate),
        diffrax.Dopri8(),
        t0=0.0,
        t1=until,
        dt0=1e-3,
        y0=(q, v),
        saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, until, 101)),
        stepsize_controller=diffrax.PIDController(rtol=1e-12, atol=1e-12),
        max_steps=100_000,
    )
    return found.ys


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_a_closed_loop_conserves_energy_for_ten_seconds(name: str) -> None:
    mechanism, held, q, v = moving(LOOPS[name])
    qs, vs = run(mechanism, held, q, v, 10.0)
    energies = jax.vmap(lambda q, v: energy(mechanism, q, v))(qs, vs)
    # Some thousand steps, each with an error of 1e-12, and a loop that opens by no more.
    assert np.ptp(energies) < 1e-8 * np.max(dynamics.kinetic_energy(mechanism, q, v))
    gaps = jax.vmap(lambda q: dynamics.constraint_error(mechanism, held, q))(qs)
    assert np.max(np.abs(gaps)) < 1e-8
    assert np.ptp(qs[:, 0]) > 1.0  # and it did move


def test_a_redundant_pin_does_not_change_the_motion() -> None:
    mechanism, held, q, v = moving(four_bar)
    alone, doubled = (run(mechanism, pins, q, v, 2.0)[0] for pins in (held, [*held, *held]))
    assert np.allclose(doubled, alone, atol=1e-9)


# -- closed forms --------------------------------------------------------------------------------------------------


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


def test_a_slider_crank_moves_as_its_one_coordinate_says() -> None:
    """Lagrange's equation of the crank angle alone, with the other angle solved for by hand."""
    mechanism, held, q, v = moving(slider_crank)

    def whole(angle: Any) -> jax.Array:
        return jnp.stack([angle, -jnp.arcsin(jnp.sin(angle) / 3.0)])

    def lagrangian(angle: Any, rate: Any) -> jax.Array:
        q, v = jax.jvp(whole, (angle,), (rate,))
        return dynamics.kinetic_energy(mechanism, q, v) - dynamics.potential_energy(mechanism, q)

    @jax.jit
    def turn(angle: Any, rate: Any) -> jax.Array:
        momentum = jax.grad(lagrangian, 1)
        along = jax.jvp(lambda angle: momentum(angle, rate), (angle,), (rate,))[1]
        return (jax.grad(lagrangian, 0)(angle, rate) - along) / jax.grad(momentum, 1)(angle, rate)

    found = constrained_dynamics(mechanism, held, q, v).acceleration[0]
    assert found == pytest.approx(float(turn(q[0], v[0])), rel=1e-11)


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


# -- redundant rows ------------------------------------------------------------------------------------------------


def test_three_cranks_on_one_coupler_move_as_one() -> None:
    mechanism, held, q, v = moving(parallelogram)
    out = constrained_dynamics(mechanism, held, q, v)
    # Bob, two rods, and the coupler, which only shifts; by hand:
    inertia, weight = 2.0 + 2 / 3 + 1.0, 2.0 + 2 * 0.5 + 1.0
    expected = -G * np.cos(q[0]) * weight / inertia
    assert np.allclose(out.acceleration, expected * np.array([1.0, 0.0, 1.0, 1.0]), atol=1e-11)
    assert out.rank == mechanism.dof + 3 and not out.conflict  # four rows, one of them redundant


@pytest.mark.parametrize("name", LOOPS)
def test_a_redundant_constraint_changes_nothing(name: str) -> None:
    mechanism, held, q, v = moving(LOOPS[name])
    once, twice = (constrained_dynamics(mechanism, held * times, q, v) for times in (1, 2))
    size = np.max(np.abs(once.acceleration))
    assert np.allclose(twice.acceleration, once.acceleration, atol=1e-10 * size, rtol=0)
    # Equal rows share one force equally, and its sum stays.
    rows = len(once.multipliers)
    assert np.allclose(twice.multipliers[:rows], twice.multipliers[rows:], atol=1e-10 * size)
    assert np.allclose(twice.multipliers[:rows] * 2, once.multipliers, atol=1e-10 * size)
    assert twice.rank == once.rank


def test_a_redundant_loop_that_has_opened_a_little_still_moves_as_one() -> None:
    """Rounding and integration open loops by 1e-9: rows that should be dependent must not become independent."""
    mechanism, held, q, v = moving(parallelogram)
    exact = constrained_dynamics(mechanism, held, q, v)
    noise = 1e-9 * np.random.default_rng(0).normal(size=(2, mechanism.dof))
    opened = constrained_dynamics(mechanism, held, q + noise[0], v + noise[1])
    assert np.allclose(opened.acceleration, exact.acceleration, atol=1e-6)


# -- massless links ------------------------------------------------------------------------------------------------


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


# -- contradictions ------------------------------------------------------------------------------------------------

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


# -- assembling ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOOPS)
def test_assemble_closes_a_loop_and_projects_the_velocity_as_a_blow_would(name: str) -> None:
    mechanism, held, guess = LOOPS[name]()
    before = jnp.asarray(np.random.default_rng(0).normal(size=mechanism.dof))
    q, v = dynamics.assemble(mechanism, held, guess, before)
    assert np.max(np.abs(dynamics.constraint_error(mechanism, held, q))) < TIGHT
    rows, _ = constraints.constraint_rows(mechanism, held, q, v)
    assert np.allclose(rows @ v, 0.0, atol=1e-11)
    # The impulse acts along the rows: it does no work on any velocity that the constraints allow.
    impulse = dynamics.mass_matrix(mechanism, q) @ (v - before)
    allowed = np.linalg.svd(np.asarray(rows))[2][np.linalg.matrix_rank(rows, tol=1e-9) :]
    assert len(allowed) == 1 and np.allclose(allowed @ impulse, 0.0, atol=1e-11)


def test_assemble_leaves_a_closed_loop_alone() -> None:
    mechanism, held, q, v = moving(four_bar)
    again = dynamics.assemble(mechanism, held, q, v)
    assert np.allclose(again[0], q, atol=TIGHT) and np.allclose(again[1], v, atol=1e-11)


def test_assemble_says_which_constraints_cannot_be_met() -> None:
    with pytest.raises(carom.CaromError, match=r"Pin\('link2.tip' to a fixed point\) cannot all be met.*link lengths"):
        dynamics.assemble(ARM, [Pin("link2.tip", (5.0, 5.0))], Q)


def test_stabilising_pulls_errors_back_as_a_critically_damped_spring() -> None:
    mechanism, held, q, v = moving(four_bar)
    q, v, rate = q + 0.01, v + jnp.array([0.02, -0.01, 0.03]), 5.0
    out = constrained_dynamics(mechanism, held, q, v, stabilise=rate)
    error = lambda q: dynamics.constraint_error(mechanism, held, q)  # noqa: E731
    speed = lambda q, v: jax.jvp(error, (q,), (v,))[1]  # noqa: E731
    second = jax.jvp(speed, (q, v), (v, out.acceleration))[1]
    assert np.allclose(second, -2 * rate * speed(q, v) - rate**2 * error(q), atol=1e-10)


# -- power, formalisms, transformations ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOOPS)
def test_constraint_forces_do_no_work(name: str) -> None:
    mechanism, held, q, v = moving(LOOPS[name])
    torques = jnp.asarray(np.random.default_rng(0).normal(size=mechanism.topology.links))
    site, push = mechanism.topology.site_names[1], jnp.array([3.0, -4.0])
    out = constrained_dynamics(mechanism, held, q, v, torques=torques, forces={site: push})
    rate = jax.jvp(lambda q, v: energy(mechanism, q, v), (q, v), (v, out.acceleration))[1]
    power = torques @ mechanism.angles(v, relative=True) + push @ dynamics.site_velocity(mechanism, q, v, site)
    assert rate == pytest.approx(float(power), abs=1e-10 * float(dynamics.kinetic_energy(mechanism, q, v) + 10.0))


@pytest.mark.parametrize("formalism", dynamics.FORMALISMS)
def test_every_formalism_gives_the_same_constrained_motion(formalism: str) -> None:
    mechanism, held, q, v = moving(four_bar)
    out, expected = (constrained_dynamics(mechanism, held, q, v, formalism=f) for f in (formalism, "explicit"))
    assert np.allclose(out.acceleration, expected.acceleration, rtol=1e-11)
    assert np.allclose(out.multipliers, expected.multipliers, rtol=1e-11)


def derivative_and_difference(function: Callable[..., jax.Array], point: Any, step: Any) -> tuple[jax.Array, jax.Array]:
    """Derivative along `step` (forward mode; reverse mode must agree to rounding) and central difference."""

    @jax.jit
    def both(point: Any) -> tuple[jax.Array, jax.Array, Any]:
        value, forward = jax.jvp(function, point, step)
        return value, forward, jax.vjp(function, *point)[1](jnp.ones_like(value))

    h = 1e-5
    ahead, behind = (both(jax.tree.map(lambda x, d, h=h: x + h * d, point, step))[0] for h in (h, -h))
    _, forward, backward = both(point)
    along = sum(jnp.vdot(b, d) for b, d in zip(jax.tree.leaves(backward), jax.tree.leaves(step), strict=True))
    assert along == pytest.approx(float(jnp.sum(forward)), rel=1e-9)
    return forward, (ahead - behind) / (2 * h)


def random_system(singular: bool, redundant: bool) -> Sequence[jax.Array]:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(5, 5))
    half[4] = 0.0 if singular else half[4]
    rows = rng.normal(size=(2, 5))
    gamma = rng.normal(size=2)
    if redundant:
        rows, gamma = np.vstack([rows, rows[0] + rows[1]]), np.append(gamma, gamma.sum())
    return tuple(jnp.asarray(x) for x in (half @ half.T, rows, rng.normal(size=5), gamma))


@pytest.mark.parametrize("singular", [False, True], ids=["regular", "singular"])
@pytest.mark.parametrize("redundant", [False, True], ids=["independent", "redundant"])
def test_solve_kkt_satisfies_both_equations(singular: bool, redundant: bool) -> None:
    matrix, rows, force, gamma = random_system(singular, redundant)
    out = dynamics.solve_kkt(matrix, rows, force, gamma)
    assert np.allclose(matrix @ out.acceleration - rows.T @ out.multipliers, force, atol=1e-11)
    assert np.allclose(rows @ out.acceleration, gamma, atol=1e-11)
    assert out.rank == 7 and not out.conflict


@pytest.mark.parametrize("singular", [pytest.param(False, id="regular"), pytest.param(True, id="singular")])
@pytest.mark.parametrize("redundant", [False, True], ids=["independent", "redundant"])
def test_solve_kkt_can_be_differentiated(singular: bool, redundant: bool) -> None:
    """Along changes that keep what is singular singular and what is redundant redundant."""
    rng = np.random.default_rng(1)
    point = random_system(singular, redundant)
    turn = jnp.asarray(rng.normal(size=(5, 5)))
    mix = jnp.asarray(rng.normal(size=(5, 5)))

    def of(s: jax.Array, force: jax.Array) -> jax.Array:
        matrix = (jnp.eye(5) + s * turn) @ point[0] @ (jnp.eye(5) + s * turn).T
        out = dynamics.solve_kkt(matrix, point[1] @ (jnp.eye(5) + s * mix), force, point[3] * (1 + s))
        return jnp.concatenate([out.acceleration, out.multipliers])

    forward, difference = derivative_and_difference(
        of, (jnp.asarray(0.0), point[2]), (jnp.asarray(1.0), jnp.asarray(rng.normal(size=5)))
    )
    assert np.allclose(forward, difference, atol=1e-6 * np.max(np.abs(difference)))


@pytest.mark.parametrize("name", LOOPS)
def test_constrained_motion_can_be_differentiated(name: str) -> None:
    """With respect to masses and inertias, at a state that stays closed."""
    mechanism, held, q, v = moving(LOOPS[name])

    def of(mass: jax.Array, inertia: jax.Array) -> jax.Array:
        changed = eqx.tree_at(lambda m: (m.numbers.mass, m.numbers.inertia), mechanism, (mass, inertia))
        out = constrained_dynamics(changed, held, q, v, throw=False)
        return jnp.concatenate([out.acceleration, out.multipliers])

    point = mechanism.numbers.mass, mechanism.numbers.inertia
    step = jax.tree.map(lambda x: jnp.cos(jnp.arange(float(x.size))), point)
    forward, difference = derivative_and_difference(of, point, step)
    assert np.allclose(forward, difference, atol=1e-6 * np.max(np.abs(difference)))


def test_constrained_motion_in_batches() -> None:
    mechanism, held, q, v = moving(four_bar)
    speeds = jnp.array([0.0, 1.0, 2.0])
    batch = jax.jit(jax.vmap(lambda s: constrained_dynamics(mechanism, held, q, s * v, throw=False)))(speeds)
    for lane, speed in enumerate(speeds):
        alone = constrained_dynamics(mechanism, held, q, speed * v)
        assert np.allclose(batch.acceleration[lane], alone.acceleration, rtol=1e-11)
