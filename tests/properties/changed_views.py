"""Other views of one world: turned, shifted, mirrored, seen from a train."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..strategies import Case


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
