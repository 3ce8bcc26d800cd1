"""What is computed about a random tree of rigid links, and how large the terms are that were summed for it.

How close is equal? Entries of M span many decades in one mechanism, and a sum may cancel to nothing, so errors are
measured against the *terms that were summed*, row by row. With s_i = sqrt(M_ii), Cauchy-Schwarz gives

    |M_ij| <= s_i s_j      |centrifugal coefficient_ij| <= s_i s_j      |weight_i| <= s_i sqrt(m_total) |g|

whatever the masses and the posture. This is the strictest measure that rounding allows, and the same for all rows.
Accelerations are compared as forces, M (a - a'), for the same reason: M of a light link between two heavy ones is so
badly conditioned that the last bits of the input decide the tenth digit of its acceleration.
"""

from typing import Any

import jax
import numpy as np

import carom
from carom import dynamics

from ..strategies import Case

CLOSE = 1e-10  # promised; rounding in a few hundred operations leaves about 1e-13


@carom.jit
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
        "relative rates": m.joints(v),
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
        far = far + np.abs(np.asarray(case.q)[self.bases :][list(top.slid)]).sum()
        self.reach = far + np.abs(n.hang).sum() + np.abs(n.com).sum() + np.abs(n.site).sum()
        self.second = self.mass * self.reach**2 + n.inertia.sum()
        # Springs, dampers and torques act on the link and react on its parent.
        angle, rate = np.abs(case.q[self.bases :]), self.v[self.bases :]
        above = np.array([[float(p == k) for k in range(top.links)] for p in top.turned_by])
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
