"""Laws of mechanics on random trees: one compiled function per topology, many random numbers through it.

How close is equal? Entries of M span many decades in one mechanism, and a sum may cancel to nothing, so errors are
measured against the *terms that were summed*, row by row. With s_i = sqrt(M_ii), Cauchy-Schwarz gives

    |M_ij| <= s_i s_j      |centrifugal coefficient_ij| <= s_i s_j      |weight_i| <= s_i sqrt(m_total) |g|

whatever the masses and the posture. This is the strictest measure that rounding allows, and the same for all rows.
Accelerations are compared as forces, M (a - a'), for the same reason: M of a light link between two heavy ones is so
badly conditioned that the last bits of the input decide the tenth digit of its acceleration.
"""

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

CLOSE = 1e-10  # promised; rounding in a few hundred operations leaves about 1e-13


@eqx.filter_jit
def facts(case: Case) -> dict[str, Any]:
    """Everything the laws speak about."""
    m, q, v, g = case.mechanism, case.q, case.v, case.gravity
    bases = m.topology.base_dof
    forces = dict(zip(case.pushed, case.forces, strict=True))

    def move(formalism: str) -> Any:
        pushes = {"torques": case.torques, "forces": forces, "base_force": case.base_force}
        return dynamics.forward_dynamics(m, q, v, **pushes, gravity=g, formalism=formalism)

    def to_and_fro(formalism: str) -> Any:
        """The efforts that a wished acceleration needs, and the acceleration that they give."""
        need = dynamics.inverse_dynamics(m, q, v, case.wished, forces=forces, gravity=g, formalism=formalism)
        back = {"base_force": need[:bases], "torques": need[bases:]}
        return dynamics.forward_dynamics(m, q, v, **back, forces=forces, gravity=g, formalism=formalism)

    a = move("explicit")
    energy, energy_rate = jax.jvp(
        lambda q, v: dynamics.kinetic_energy(m, q, v) + dynamics.potential_energy(m, q, g), (q, v), (v, a)
    )
    momentum, momentum_rate = jax.jvp(lambda q, v: dynamics.momentum(m, q, v), (q, v), (v, a))
    return {
        "M": {f: dynamics.mass_matrix(m, q, f) for f in dynamics.FORMALISMS},
        "bias": {f: dynamics.bias(m, q, v, f) for f in dynamics.FORMALISMS},
        "weight": {f: dynamics.gravity_force(m, q, g, f) for f in dynamics.FORMALISMS},
        "a": a,
        "a, recursive": move("gibbs_appell"),
        "efforts": dynamics.inverse_dynamics(m, q, v, a, forces=forces, gravity=g),
        "to and fro": to_and_fro("explicit"),
        "to and fro, recursive": to_and_fro("gibbs_appell"),
        "energy": energy,
        "energy rate": energy_rate,
        "momentum": momentum,
        "momentum rate": momentum_rate,
        "relative rates": m.angles(v, relative=True),
        "at": [dynamics.site_position(m, q, s) for s in case.pushed],
        "site velocities": [dynamics.site_velocity(m, q, v, s) for s in case.pushed],
        "jacobians": [dynamics.site_jacobian(m, q, s) for s in case.pushed],
        "centre": dynamics.centre_of_mass(m, q),
    }


class Size:
    """Sizes of the terms that are summed in the rows of the equations of motion."""

    def __init__(self, case: Case, found: dict[str, Any]) -> None:
        top, n = case.mechanism.topology, jax.tree.map(np.asarray, case.mechanism.numbers)
        self.bases, self.s = top.base_dof, np.sqrt(np.diag(found["M"]["explicit"]))
        self.mass, self.g = n.mass.sum(), np.linalg.norm(case.gravity)
        self.v, self.spin = np.abs(case.v), np.abs(case.v[self.bases :]).max()
        # No point of the mechanism is farther from the world's origin than this.
        far = np.abs(case.q[: self.bases]).sum() + np.abs(n.pivot).sum()
        self.reach = far + np.abs(n.hang).sum() + np.abs(n.com).sum() + np.abs(n.site).sum()
        self.second = self.mass * self.reach**2 + n.inertia.sum()
        # Springs, dampers and torques act on the link and react on its parent.
        angle, rate = np.abs(case.q[self.bases :]), self.v[self.bases :]
        above = np.array([[float(p == k) for k in range(top.links)] for p in top.parents])
        joint = n.stiffness * (angle + above @ angle + np.abs(n.rest)) + n.damping * (rate + above @ rate)
        joint = joint + np.abs(case.torques)
        self.applied = np.concatenate([np.abs(case.base_force), joint + above.T @ joint])
        for jacobian, force in zip(found["jacobians"], case.forces, strict=True):
            self.applied = self.applied + np.abs(jacobian).T @ np.abs(force)
        # Mass that each link carries, itself included.
        below = np.eye(top.links)
        for k in range(top.links):
            below[[i for i, _ in top.paths[k]], k] = 1.0
        self.carried = below @ n.mass

    def with_levers(self) -> np.ndarray:
        """s for `homogeneous`: its joints turn whole subtrees (relative angles) and its levers are the world's."""
        angles = np.sqrt(self.s[self.bases :] ** 2 + self.carried * self.reach**2)
        return np.concatenate([self.s[: self.bases], angles])

    def centrifugal(self, s: np.ndarray) -> np.ndarray:
        return s * self.spin * np.sum(s * self.v)

    def weight(self, s: np.ndarray) -> np.ndarray:
        return s * np.sqrt(self.mass) * self.g

    def inertial(self, a: Any) -> np.ndarray:
        return self.s * np.sum(self.s * np.abs(a))

    def rows(self, *accelerations: Any) -> np.ndarray:
        """All terms of the equations of motion."""
        moving = self.centrifugal(self.s) + self.weight(self.s) + self.applied
        return moving + sum(self.inertial(a) for a in accelerations)


def close(left: Any, right: Any, size: Any) -> bool:
    return bool(np.all(np.abs(np.asarray(left) - np.asarray(right)) <= CLOSE * np.asarray(size)))


# -- the laws ------------------------------------------------------------------------------------------------------


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
    relative, rate = np.asarray(case.mechanism.angles(case.q, relative=True)), found["relative rates"]
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


# -- other views of the same world ---------------------------------------------------------------------------------


class World:
    """A change of view: how points, angles, spins and mirror images turn from the old world into the new one."""

    def __init__(self, matrix: Any, shift: Any, turn: float, sign: float, speed: Any = (0.0, 0.0)) -> None:
        self.matrix, self.shift, self.turn, self.sign = np.asarray(matrix), np.asarray(shift), turn, sign
        self.speed = np.asarray(speed)

    def arrows(self, x: Any) -> Any:
        """Forces, velocities, gravity: (x, y) pairs in the last axis."""
        return jnp.asarray(np.asarray(x) @ self.matrix.T)

    def coordinates(self, bases: int, x: Any, shift: Any = (0.0, 0.0), turn: float = 0.0) -> Any:
        base = self.arrows(np.asarray(x[:bases]).reshape(-1, 2)) + np.asarray(shift)[None, :]
        return jnp.concatenate([jnp.ravel(base), self.sign * x[bases:] + turn])

    def seen(self, case: Case) -> Case:
        """The same case in the new world. What a link calls its own (centre, joints) only knows the mirror."""
        n, top, nb = case.mechanism.numbers, case.mechanism.topology, case.mechanism.topology.base_dof
        roots = np.asarray(top.parents) < 0
        own = jnp.asarray([1.0, self.sign])[None, :]
        numbers = eqx.tree_at(
            lambda n: (n.com, n.hang, n.site, n.rest, n.pivot),
            n,
            (
                n.com * own,
                jnp.where(roots[:, None], self.arrows(n.hang), n.hang * own),  # roots hang in the world's axes
                n.site * own,
                self.sign * n.rest + jnp.where(roots, self.turn, 0.0),
                self.arrows(n.pivot) + self.shift[None, :],
            ),
        )
        return Case(
            eqx.tree_at(lambda m: m.numbers, case.mechanism, numbers),
            self.coordinates(nb, case.q, self.shift, self.turn),
            self.coordinates(nb, case.v, self.speed),
            self.coordinates(nb, case.wished),
            self.sign * case.torques,
            self.arrows(case.forces),
            jnp.ravel(self.arrows(case.base_force.reshape(-1, 2))),
            self.arrows(case.gravity),
        )


def worlds(turn: float, shift: Any, speed: Any, case: Case) -> dict[str, World]:
    cos, sin = np.cos(turn), np.sin(turn)
    views = {
        "turned": World([[cos, -sin], [sin, cos]], (0.0, 0.0), turn, 1.0),
        "shifted": World(np.eye(2), shift, 0.0, 1.0),
        "mirrored": World(np.diag([1.0, -1.0]), (0.0, 0.0), 0.0, -1.0),
    }
    if all(case.mechanism.topology.free):
        views["seen from a train"] = World(np.eye(2), (0.0, 0.0), 0.0, 1.0, speed)
    return views


def another_view_changes_nothing(case: Case, found: dict[str, Any], size: Size, views: dict[str, World]) -> None:
    nb = case.mechanism.topology.base_dof
    for name, world in views.items():
        other = world.seen(case)
        there = jax.tree.map(np.asarray, facts(other))
        expected = np.asarray(world.coordinates(nb, jnp.asarray(found["a"])))
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
