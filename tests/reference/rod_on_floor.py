"""A free rod that touches a plane with one end, and its inverse inertia there."""

from typing import Any

import numpy as np

import carom

G = 9.81


LENGTH = 1.0  # and mass 1: the inverse inertia at the end is [[1 + 3 c^2, -3 s c], [-3 s c, 1 + 3 s^2]]
FIRST = carom.Settings(rtol=1e-11, atol=1e-13, max_events=1)


def rod(law: Any, mu: Any, static: Any = None, tip: float = LENGTH / 2, plane: Any = None) -> carom.World:
    """A free rod, by its centre, that touches with one end; with tip = 0 a block."""
    body = carom.Body(mass=1.0, inertia=LENGTH**2 / 12, tip=(tip, 0.0))
    free = carom.Mechanism([body], base=carom.Free())
    friction = carom.Coulomb(mu, static=mu if static is None else static)
    plane = carom.Plane(point=(0.0, 0.0), slope=0.0) if plane is None else plane
    foot = carom.Contact(free.tip, plane, law, friction, name="foot")
    return carom.World(free, contacts=foot, gravity=G)


def weights(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1 + 3 * c * c, -3 * s * c], [-3 * s * c, 1 + 3 * s * s]])
