"""Chains in which no two links are alike, random states, and how close is equal."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import carom

G = 9.81
ROD = carom.Rod(length=2.0, mass=3.0)
TIGHT = 1e-12  # well-conditioned, some hundred operations


def close(left: Any, right: Any, tolerance: float = TIGHT) -> bool:
    """Relative to the largest entry."""
    left, right = np.asarray(left), np.asarray(right)
    return left.shape == right.shape and bool(
        np.max(np.abs(left - right)) <= tolerance * (np.max(np.abs(right)) + 1e-9)
    )


def random_state(mechanism: carom.Mechanism, seed: int = 0) -> tuple[jax.Array, jax.Array, jax.Array]:
    """q, v and another vector of that size."""
    return tuple(jnp.asarray(np.random.default_rng(seed).normal(size=(3, mechanism.dof))))


def varied(links: int, base: carom.Fixed | carom.Free | None = None) -> carom.Mechanism:
    """A chain in which no two links are alike, with springs, dampers and centres of mass off the axes."""
    return carom.Mechanism(
        [
            carom.Link(
                carom.Body(
                    mass=1.0 + 0.3 * np.sin(k), inertia=0.1, com=(0.5, 0.2 * np.cos(k)), tip=(1.0, 0.1 * np.sin(2 * k))
                ),
                joint=carom.Joint(stiffness=2.0, rest=0.1 * k, damping=0.3),
            )
            for k in range(links)
        ],
        base=base,
    )
