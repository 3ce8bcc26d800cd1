"""Closed loops, turning: four-bar, slider-crank, and a parallelogram with a redundant row."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp

import carom
from carom import BASE, Link, OnCurve, Pin, dynamics

G = 9.81
TIGHT = 1e-12  # a system of ten unknowns, condition number below a thousand


def rod(length: float, mass: float = 1.0) -> carom.Rod:
    return carom.Rod(length=length, mass=mass)


def four_bar() -> tuple[carom.Mechanism, list[dynamics.AbstractConstraint], jax.Array]:
    """Crank 1, coupler 2, rocker 1.5 on pivots 2 apart; a guess of the angles."""
    return carom.Arm([rod(1.0), rod(2.0), rod(1.5)]), [Pin("link3.tip", (2.0, 0.0))], jnp.array([1.2, 0.3, -1.2])


def slider_crank() -> tuple[carom.Mechanism, list[dynamics.AbstractConstraint], jax.Array]:
    """Crank 1, connecting rod 3, slider of mass 2 on the x axis."""
    crank = carom.Arm([rod(1.0), rod(3.0)]).weld("link2", carom.PointMass(mass=2.0))
    return crank, [OnCurve("link2.tip", lambda x, y: y)], jnp.array([0.9, -0.3])


def parallelogram(coupler: float = 1.0) -> tuple[carom.Mechanism, list[dynamics.AbstractConstraint], jax.Array]:
    """Three equal cranks on one coupler: any two of them would do, so one of the four rows is redundant.

    Crank `a` is a bob of mass 2, the others are rods of mass 1: the coupler has something to carry.
    """
    tree = carom.Mechanism(
        [
            Link(carom.PointMass(mass=2.0, length=1.0), name="a", parent=BASE),
            Link(rod(2.0, coupler), name="coupler", parent="a", sites={"middle": (1.0, 0.0)}),
            Link(rod(1.0), name="b", parent=BASE, at=(1.0, 0.0)),
            Link(rod(1.0), name="c", parent=BASE, at=(2.0, 0.0)),
        ]
    )
    return tree, [Pin("b.tip", "middle"), Pin("c.tip", "coupler.tip")], jnp.array([-1.0, 0.0, -1.0, -1.0])


LOOPS: dict[str, Callable[[], Any]] = {
    "four-bar": four_bar,
    "slider-crank": slider_crank,
    "redundant parallelogram": parallelogram,
}


@cache
def moving(loop: Callable[[], Any], speed: float = 2.0) -> tuple[Any, Any, jax.Array, jax.Array]:
    """A closed loop, turning; the same object every time, so that what it compiled serves again."""
    mechanism, held, guess = loop()
    q, v = dynamics.assemble(mechanism, held, guess, jnp.zeros(mechanism.dof).at[0].set(speed))
    return mechanism, held, q, v


def energy(mechanism: carom.Mechanism, q: jax.Array, v: jax.Array) -> jax.Array:
    return dynamics.kinetic_energy(mechanism, q, v) + dynamics.potential_energy(mechanism, q)
