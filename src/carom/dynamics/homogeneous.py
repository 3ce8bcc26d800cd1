"""Homogeneous 4x4 matrices: position M, velocity W, acceleration H, pseudo-inertia J and action Phi.

A point p = (x, y, z, 1) of a link with velocity matrix W and acceleration matrix H = W' + W^2 moves with W p and H p.
For every joint L = W / rate; in the frame of the world

    revolute about O:   L = [[0, -1, 0, O_y], [1, 0, 0, -O_x], 0, 0]       sliding along e:  L_03 = e_x, L_13 = e_y
    W_k = W_parent + L q'                   H_k = H_parent + L q'' + L^2 q'^2 + 2 W_parent L q'
    J = integral p p^T dm, carried into the world as M J M^T;  Phi = H J - J H^T (forces in column 3, moments elsewhere)
    generalized force of joint i: the pseudo-scalar product Phi (x) L_i, summed over the links that the joint moves

Source: the space-capture thesis. Its (3.26) must be symmetric, and J and Phi project as M J M^T, not as velocities do.
The joints' own coordinates are *relative* angles here; the constant map to absolute ones is applied at the end.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import errors
from ..mechanism import Mechanism, Topology
from ..quantities import Point, Real, Vector
from . import _rotors as rotors
from .formalism import AbstractFormalism


def _position(cos: Real, sin: Real, x: Real, y: Real) -> Array:
    """Position matrix: turn by the angle, then shift to (x, y)."""
    zero, one = jnp.zeros_like(cos), jnp.ones_like(cos)
    rows = [(cos, -sin, zero, x), (sin, cos, zero, y), (zero, zero, one, zero), (zero, zero, zero, one)]
    return jnp.stack([jnp.stack([jnp.asarray(e, dtype=float) for e in row]) for row in rows])


def _positions(mechanism: Mechanism, q: Vector) -> list[Array]:
    """Position matrix of every link's frame in the world, by composition along the tree."""
    n, top = mechanism.numbers, mechanism.topology
    if top.elastic:
        bends = next(name for name, modes in zip(top.names, top.modes, strict=True) if modes)
        raise errors.CaromError(
            f"formalism 'homogeneous' was asked for link '{bends}', which is elastic; it handles rigid links only; use "
            "'explicit', 'lagrange' or 'gibbs_appell'"
        )
    relative = mechanism.to_relative(q)
    still = jnp.asarray(0.0)
    found: dict[int, Array] = {}
    for k in top.order:
        parent, at = top.parents[k], top.base_index(top.trees[k])
        if parent >= 0:
            above = found[parent]
        else:
            x, y = n.pivot[top.trees[k]] if at is None else (q[at], q[at + 1])
            above = _position(still + 1.0, still, x, y)
        own = relative[top.angle_index(k)]
        if top.slides[k]:
            found[k] = above @ _position(still + 1.0, still, *(n.hang[k] + own * n.axis[k]))
        else:
            found[k] = above @ _position(jnp.cos(own), jnp.sin(own), n.hang[k, 0], n.hang[k, 1])
    return [found[k] for k in range(top.links)]


def _joints(mechanism: Mechanism, positions: list[Array]) -> Array:
    """L of every coordinate, in the world's frame."""
    top = mechanism.topology
    slide = [np.zeros((4, 4)), np.zeros((4, 4))]
    slide[0][0, 3] = slide[1][1, 3] = 1.0
    turn = np.zeros((4, 4))
    turn[0, 1], turn[1, 0] = -1.0, 1.0
    out = [jnp.asarray(slide[i % 2]) for i in range(top.base_dof)]
    for k, place in enumerate(positions):
        x, y = place[0, 3], place[1, 3]
        if top.slides[k]:
            out.append(jnp.zeros((4, 4)).at[:2, 3].set(place[:2, :2] @ mechanism.numbers.axis[k]))
            continue
        out.append(jnp.asarray(turn).at[0, 3].set(y).at[1, 3].set(-x))
    return jnp.stack(out)


def _inertias(mechanism: Mechanism, positions: list[Array]) -> Array:
    """Pseudo-inertia of every link in the world's frame. Only xx + yy counts in the plane: it is split evenly."""
    n = mechanism.numbers

    def own(mass: Real, com: Point, inertia: Real) -> Array:
        first = jnp.stack([com[0], com[1], 0.0 * mass, 1.0 + 0.0 * mass])
        spread = jnp.zeros((4, 4)).at[0, 0].set(inertia / 2).at[1, 1].set(inertia / 2)
        return mass * jnp.outer(first, first) + spread

    local = jax.vmap(own)(n.mass, n.com, n.inertia)
    place = jnp.stack(positions)
    return place @ local @ jnp.swapaxes(place, 1, 2)


def _moves(top: Topology) -> np.ndarray:
    """moves[i, k] is 1 where joint coordinate i moves link k."""
    out = np.zeros((top.dof, top.links))
    for k in range(top.links):
        for i in (*(i for i, _ in top.paths[k]), k):
            out[top.angle_index(i), k] = 1.0
        at = top.base_index(top.trees[k])
        if at is not None:
            out[at : at + 2, k] = 1.0
    return out


def _accelerations(top: Topology, joints: Array, rates: Vector) -> Array:
    """H of every link at zero joint accelerations, by Coriolis's theorem along the tree."""
    nothing = jnp.zeros((4, 4))
    velocity: dict[int, Array] = {}
    acceleration: dict[int, Array] = {}
    for k in top.order:
        parent, at = top.parents[k], top.base_index(top.trees[k])
        if parent >= 0:
            w, h = velocity[parent], acceleration[parent]
        elif at is not None:  # two sliding joints: L^2 and every product of the two vanish
            w, h = joints[at] * rates[at] + joints[at + 1] * rates[at + 1], nothing
        else:
            w, h = nothing, nothing
        own = joints[top.angle_index(k)] * rates[top.angle_index(k)]
        velocity[k] = w + own
        acceleration[k] = h + own @ own + 2.0 * w @ own
    return jnp.stack([acceleration[k] for k in range(top.links)])


def _pseudo_scalar(action: Array, joints: Array) -> Array:
    """Phi (x) L for every link (first axis of the result) and joint (second): the power of Phi along L."""
    i, j = np.array([1, 2, 2, 0, 1, 2]), np.array([0, 0, 1, 3, 3, 3])
    return action[:, i, j] @ joints[:, i, j].T


class Homogeneous(AbstractFormalism):
    """4x4 position, velocity, pseudo-inertia and action matrices. Source: the space-capture thesis. Rigid only."""

    @property
    def name(self) -> str:
        return "homogeneous"

    def mass_matrix(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, "dof dof"]:
        top = mechanism.topology
        positions = _positions(mechanism, q)
        joints, inertias = _joints(mechanism, positions), _inertias(mechanism, positions)
        moves = _moves(top)
        # tr(L_i J_k L_j^T), summed over the links that both joints move
        forward = jnp.einsum("iab,kbc->ikac", joints, inertias) * moves[:, :, None, None]
        relative = jnp.einsum("ikac,jac,jk->ij", forward, joints, moves)
        half = jax.vmap(mechanism.efforts_to_absolute)(relative)
        whole = jax.vmap(mechanism.efforts_to_absolute)(half.T)
        return whole + rotors.matrix(mechanism) if any(top.rotors) else whole

    def bias(self, mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"]) -> Float[Array, " dof"]:
        top = mechanism.topology
        positions = _positions(mechanism, q)
        joints, inertias = _joints(mechanism, positions), _inertias(mechanism, positions)
        h = _accelerations(top, joints, mechanism.to_relative(v))
        return self._force(mechanism, joints, h, inertias)

    def gravity(
        self, mechanism: Mechanism, q: Float[Array, " dof"], gravity: Float[Array, "2"]
    ) -> Float[Array, " dof"]:
        top = mechanism.topology
        positions = _positions(mechanism, q)
        joints, inertias = _joints(mechanism, positions), _inertias(mechanism, positions)
        fall = jnp.zeros((4, 4)).at[0, 3].set(gravity[0]).at[1, 3].set(gravity[1])
        return self._force(mechanism, joints, jnp.broadcast_to(fall, (top.links, 4, 4)), inertias)

    def _force(self, mechanism: Mechanism, joints: Array, h: Array, inertias: Array) -> Array:
        """Generalized force, on absolute angles, of all links accelerating by h."""
        moment = h @ inertias
        action = moment - jnp.swapaxes(moment, 1, 2)  # Phi = H J - J H^T
        relative = jnp.einsum("ki,ik->i", _pseudo_scalar(action, joints), _moves(mechanism.topology))
        return mechanism.efforts_to_absolute(relative)
