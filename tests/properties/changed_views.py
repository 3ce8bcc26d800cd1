"""Other views of one world: turned, shifted, mirrored, seen from a train."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import carom

from ..strategies import Case


class World:
    """A change of view: how points, angles, spins and mirror images turn from the old world into the new one."""

    def __init__(self, matrix: Any, shift: Any, turn: float, sign: float, speed: Any = (0.0, 0.0)) -> None:
        self.matrix, self.shift, self.turn, self.sign = np.asarray(matrix), np.asarray(shift), turn, sign
        self.speed = np.asarray(speed)

    def arrows(self, x: Any) -> Any:
        """Forces, velocities, gravity: (x, y) pairs in the last axis."""
        return jnp.asarray(np.asarray(x) @ self.matrix.T)

    def coordinates(self, top: carom.mechanism.Topology, x: Any, shift: Any = (0.0, 0.0), turn: float = 0.0) -> Any:
        base = self.arrows(np.asarray(x[: top.base_dof]).reshape(-1, 2)) + np.asarray(shift)[None, :]
        own = x[top.base_dof :]
        return jnp.concatenate([jnp.ravel(base), jnp.where(np.asarray(top.slides), own, self.sign * own + turn)])

    def seen(self, case: Case) -> Case:
        """The same case in the new world. What a link calls its own (centre, joints) only knows the mirror."""
        n, top = case.mechanism.numbers, case.mechanism.topology
        slides, upright = np.asarray(top.slides), np.asarray([*top.carriers, -1]) < 0  # whose axes are the world's
        hung, owners = upright[list(top.parents)], upright[list(top.site_links)]

        def points(x: Any, in_world: np.ndarray) -> Any:
            return jnp.where(in_world[:, None], self.arrows(x), x * jnp.asarray([1.0, self.sign])[None, :])

        numbers = eqx.tree_at(
            lambda n: (n.com, n.hang, n.axis, n.site, n.rest, n.pivot, n.gear),
            n,
            (
                points(n.com, upright[:-1]),
                points(n.hang, hung),
                points(n.axis, hung),
                points(n.site, owners),
                jnp.where(slides, n.rest, self.sign * n.rest + jnp.where(hung, self.turn, 0.0)),
                self.arrows(n.pivot) + self.shift[None, :],
                n.gear * jnp.where(slides, self.sign, 1.0),  # the rotor of a slider turns the other way
            ),
        )
        return Case(
            eqx.tree_at(lambda m: m.numbers, case.mechanism, numbers),
            self.coordinates(top, case.q, self.shift, self.turn),
            self.coordinates(top, case.v, self.speed),
            self.coordinates(top, case.wished),
            jnp.where(slides, 1.0, self.sign) * case.torques,
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
