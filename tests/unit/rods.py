"""Rods to build with, a payload to weld on, and a state of two links."""

import jax.numpy as jnp

import carom

ROD = carom.Rod(length=2.0, mass=3.0)
EXACT = 1e-14  # a handful of operations


def arm_of(*lengths: float, base: carom.Fixed | carom.Free | None = None) -> carom.Mechanism:
    return carom.Mechanism([carom.Rod(length=length, mass=1.0) for length in lengths], base=base)


PAYLOAD = carom.Body(mass=2.0, inertia=0.7, com=(0.3, -0.2))
Q, V = jnp.array([0.4, -0.9]), jnp.array([1.5, -2.5])
