"""Rotors of motors: J / 2 (g . v)^2 each, with constant g, so that they add to the mass matrix and to nothing else.

The parent carries the rotor of a joint, which turns at theta_p' + n q' with q' the joint's own rate: for a hinge
q' = theta' - theta_p', so that g has n at theta and 1 - n at theta_p; for a slider q' = s', and g has n at s and 1 at
theta_p. On the world theta_p' is zero.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..mechanism import Mechanism, Topology
from ..quantities import Reals, Vector


def turns_with(top: Topology, k: int) -> int:
    """The link whose angle is that of the parent of k; -1 on the world."""
    parent = top.parents[k]
    return -1 if parent < 0 else top.carriers[parent]


def gearing(top: Topology, gear: Reals, k: int) -> list[tuple[int, Any]]:
    """g of the rotor of joint k: where its entries stand, and what they are."""
    above, own = turns_with(top, k), (top.angle_index(k), gear[k])
    return [own] if above < 0 else [own, (top.angle_index(above), 1 if top.slides[k] else 1 - gear[k])]


def rates(mechanism: Mechanism, v: Vector) -> Array:
    """Rate [rad/s] of every joint's rotor; zero where there is none."""
    n, top = mechanism.numbers, mechanism.topology
    own = [
        sum(g * v[i] for i, g in gearing(top, n.gear, k)) if top.rotors[k] else jnp.zeros(()) for k in range(top.links)
    ]
    return jnp.stack(own)


def matrix(mechanism: Mechanism) -> Array:
    """What the rotors add to the mass matrix."""
    n, top = mechanism.numbers, mechanism.topology
    total = jnp.zeros((top.dof, top.dof))
    for k in np.flatnonzero(top.rotors):
        for i, g in gearing(top, n.gear, int(k)):
            for j, h in gearing(top, n.gear, int(k)):
                total = total.at[i, j].add(n.rotor[k] * g * h)
    return total
