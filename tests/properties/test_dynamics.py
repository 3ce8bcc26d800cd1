"""Laws of mechanics on random trees: one compiled function per topology, many random numbers through it."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom import dynamics

from ..strategies import LARGE, TREES, Case, cases
from .changed_views import World, worlds
from .tree_facts import Size, close, facts

# -- the laws ----------------------------------------------------------------------------------------------------------


def formalisms_agree(case: Case, found: dict[str, Any], size: Size) -> None:
    for name in dynamics.FORMALISMS:
        s = size.with_levers() if name == "homogeneous" else size.s
        assert close(found["M"][name], found["M"]["explicit"], np.outer(s, s)), name
        assert close(found["bias"][name], found["bias"]["explicit"], size.centrifugal(s)), name
        assert close(found["weight"][name], found["weight"]["explicit"], size.weight(s)), name


def mass_matrix_is_symmetric_and_positive_definite(case: Case, found: dict[str, Any], size: Size) -> None:
    for name, matrix in found["M"].items():
        s = size.with_levers() if name == "homogeneous" else size.s
        assert close(matrix, matrix.T, np.outer(s, s)), name
    scaled = found["M"]["explicit"] / np.outer(size.s, size.s)
    # Rounding moves eigenvalues of the scaled matrix by 1e-15; bodies as light as 1e-6 of the whole leave 1e-9.
    assert np.linalg.eigvalsh(scaled).min() > 1e-13


def recursion_and_elimination_give_one_acceleration(case: Case, found: dict[str, Any], size: Size) -> None:
    a, b, matrix = found["a"], found["a, recursive"], found["M"]["explicit"]
    assert close(matrix @ (a - b), 0.0, size.rows(a, b))


def inverse_dynamics_undo_forward_dynamics(case: Case, found: dict[str, Any], size: Size) -> None:
    given = np.concatenate([case.base_force, case.torques])
    # A joint's torque is the sum of the rows that its subtree holds.
    assert close(found["efforts"], given, size.rows(found["a"]).sum())


def forward_dynamics_undo_inverse_dynamics(case: Case, found: dict[str, Any], size: Size) -> None:
    for way in ("to and fro", "to and fro, recursive"):
        a = found[way]
        assert close(found["M"]["explicit"] @ (a - case.wished), 0.0, size.rows(a, case.wished).sum()), way


def energy_rate_equals_power(case: Case, found: dict[str, Any], size: Size) -> None:
    relative, damping = found["relative rates"], np.asarray(case.mechanism.numbers.damping)
    power = np.sum(case.torques * relative) - np.sum(damping * relative**2)
    power += np.sum(case.base_force * case.v[: size.bases])
    power += sum(f @ v for f, v in zip(np.asarray(case.forces), found["site velocities"], strict=True))
    assert close(found["energy rate"], power, np.sum(size.v * size.rows(found["a"])))


def momentum_changes_by_outer_forces_only(case: Case, found: dict[str, Any], size: Size) -> None:
    top, m = case.mechanism.topology, np.asarray(case.mechanism.numbers.mass)
    if not all(top.free):
        return  # a pivot pushes with a force that nobody asked for
    bases, base_force = (np.asarray(x)[: size.bases].reshape(-1, 2) for x in (case.q, case.base_force))
    weight = m.sum() * np.asarray(case.gravity)
    push = weight + base_force.sum(axis=0) + np.asarray(case.forces).sum(axis=0)
    roots = np.asarray(top.parents) < 0
    relative, rate = np.asarray(case.mechanism.joints(case.q)), found["relative rates"]
    n = case.mechanism.numbers
    held = np.asarray(case.torques) - n.stiffness * (relative - n.rest) - n.damping * rate
    turn = np.sum(held[roots])  # of the surroundings on links that hang on a base
    places = [*zip(found["at"], np.asarray(case.forces), strict=True), *zip(bases, base_force, strict=True)]
    turn += sum(r[0] * f[1] - r[1] * f[0] for r, f in [*places, (found["centre"], weight)])
    moving = np.sum(size.s * np.abs(found["a"])) + (1.0 + size.spin) * np.sum(size.s * size.v)
    lin = np.sqrt(size.mass) * moving + size.mass * size.g + size.applied.sum()
    assert close(found["momentum rate"].linear, push, lin)
    ang = np.sqrt(size.second) * moving + (size.mass * size.g + size.applied.sum()) * (1.0 + size.reach)
    ang += np.sum(size.s * size.v) ** 2  # v x m v, which vanishes as a difference of products
    assert close(found["momentum rate"].angular, turn, ang)


LAWS: tuple[Callable[[Case, dict[str, Any], Size], None], ...] = (
    formalisms_agree,
    mass_matrix_is_symmetric_and_positive_definite,
    recursion_and_elimination_give_one_acceleration,
    inverse_dynamics_undo_forward_dynamics,
    forward_dynamics_undo_inverse_dynamics,
    energy_rate_equals_power,
    momentum_changes_by_outer_forces_only,
)


def alone(case: Case) -> Case:
    """The same case without anything from outside: no weight, no pushes, roots neither driven, sprung nor damped."""
    inner = jnp.asarray([float(p >= 0) for p in case.mechanism.topology.parents])
    return eqx.tree_at(
        lambda c: (
            c.torques,
            c.forces,
            c.base_force,
            c.gravity,
            c.mechanism.numbers.stiffness,
            c.mechanism.numbers.damping,
        ),
        case,
        (
            case.torques * inner,
            0.0 * case.forces,
            0.0 * case.base_force,
            0.0 * case.gravity,
            case.mechanism.numbers.stiffness * inner,
            case.mechanism.numbers.damping * inner,
        ),
    )


def momentum_is_conserved_alone(case: Case) -> None:
    if not all(case.mechanism.topology.free):
        return
    lonely = alone(case)
    found = jax.tree.map(np.asarray, facts(lonely))
    size = Size(lonely, found)
    rate = found["momentum rate"]
    moving = np.sum(size.s * np.abs(found["a"])) + (1.0 + size.spin) * np.sum(size.s * size.v)
    assert close(rate.linear, 0.0, np.sqrt(size.mass) * moving + size.applied.sum())
    angular = np.sqrt(size.second) * moving + size.applied.sum() * (1.0 + size.reach) + np.sum(size.s * size.v) ** 2
    assert close(rate.angular, 0.0, angular)


# -- other views of the same world -------------------------------------------------------------------------------------


def another_view_changes_nothing(case: Case, found: dict[str, Any], size: Size, views: dict[str, World]) -> None:
    top = case.mechanism.topology
    for name, world in views.items():
        other = world.seen(case)
        there = jax.tree.map(np.asarray, facts(other))
        expected = np.asarray(world.coordinates(top, jnp.asarray(found["a"])))
        larger = Size(other, there)
        gap = there["M"]["explicit"] @ (there["a"] - expected)
        assert close(gap, 0.0, larger.rows(expected) + size.rows(found["a"])), name
        if name in ("turned", "mirrored"):  # a shifted world has another zero of potential energy
            heights = size.mass * size.g * size.reach + np.sum(size.applied) * (7.0 + np.abs(world.turn))
            assert close(there["energy"], found["energy"], np.sum(size.s * size.v) ** 2 + heights), name


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in TREES])
@given(data=st.data())
def test_the_laws_of_mechanics_hold(name: str, data: st.DataObject) -> None:
    """One test per topology, so that it is compiled once; Hypothesis reports every law that breaks."""
    case = data.draw(cases(TREES[name]))
    found = jax.tree.map(np.asarray, facts(case))
    size = Size(case, found)
    for law in LAWS:
        law(case, found, size)
    momentum_is_conserved_alone(case)
    turn, pair = st.floats(-4, 4), st.tuples(st.floats(-5, 5), st.floats(-5, 5))
    another_view_changes_nothing(case, found, size, worlds(data.draw(turn), data.draw(pair), data.draw(pair), case))
