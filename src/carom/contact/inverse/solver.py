"""`ContactInverse`: torques and reactions of a motion in contact, and the motion itself, for users."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ... import errors
from ..._arguments import ContactsLike, MechanismLike, Names
from ...dynamics.formalism import AbstractFormalism
from ...dynamics.forward_inverse import STANDARD_GRAVITY, formalism_of, gravity_vector, vector_of
from ...hybrid.compiling import kept
from ...quantities import Given, Gravity, Real, Vector
from ._closing import closed_motion
from .checks import checked, reached, senses_of
from .problem import (
    InverseProblem,
    contacts_of,
    names_of,
    refuse_count,
    refuse_follow,
    refuse_idle,
    rigid_of,
    sticking_of,
)
from .reactions import ContactEfforts, efforts_of


class ContactInverse(InverseProblem):
    """Inverse dynamics of a mechanism whose sites slide, or stick, on surfaces.

    - `contacts`: one or several contacts of sites with surfaces, with an impulsive law; restitution plays no part
    - `passive`: names of the links whose joints have no motor. Links that hang on a free base never have one
    - `sticking`: names of the contacts that stick; the others slide
    - `gravity`: g [m/s^2] downwards, or a vector

    There must be as many unknown reactions (one per sliding, two per sticking contact) as equations without a torque
    (one per passive joint; three per free base with one link on it).

        tip = carom.Contact(arm.tip, carom.Plane(height=0.0), carom.Plastic(), carom.Coulomb(0.4))
        problem = carom.contact.ContactInverse(arm, tip, passive=["link4"])
        q, v, a = problem.close(angles, rates, accelerations)
        torques, normal, *_ = problem.solve(q, v, a)
    """

    def __init__(
        self,
        mechanism: MechanismLike,
        contacts: ContactsLike,
        passive: Names = (),
        sticking: Names = (),
        gravity: Gravity = STANDARD_GRAVITY,
    ) -> None:
        self.mechanism = rigid_of(mechanism)
        self.contacts = contacts_of(self.mechanism, contacts)
        self.gravity = gravity_vector(gravity)
        self.passive = tuple(sorted({mechanism.topology.link(name) for name in names_of("passive", passive)}))
        self.sticking = sticking_of(self.contacts, names_of("sticking", sticking))
        refuse_idle(self)
        refuse_count(self)

    def solve(
        self,
        q: Vector,
        v: Vector,
        a: Vector,
        senses: Given | None = None,
        t: Real = 0.0,
        *,
        throw: bool = True,
        formalism: str | None = None,
    ) -> ContactEfforts:
        """Torques and reactions of the motion (q, v, a).

        - `senses`: +1 or -1 for every contact, the sign of its sliding along (n_y, -n_x), rightwards on a floor; taken
          from the motion if left out, which at rest is not possible
        - `t` [s]: matters to surfaces that move
        - `throw`: refuse motions that leave a surface, senses that contradict them, and singular postures; without it
          look at `leverage`, `gap`, ... yourself
        """
        state = tuple(vector_of(self.mechanism, name, x) for name, x in (("q", q), ("v", v), ("a", a)))
        given = senses_of(self, senses)
        errors.number("motion", "t", t)
        chosen = formalism_of(formalism, self.mechanism.topology.links)
        out = _solve(chosen, self, state, jnp.asarray(t, dtype=float), given)
        return checked(self, state, given, out) if throw else out

    def efforts(
        self, q: Vector, v: Vector, a: Vector, senses: Vector | None, t: Real, chosen: AbstractFormalism | None = None
    ) -> ContactEfforts:
        """The same without any check, for compiled loops; `senses` None: as the motion slides."""
        return efforts_of(self, q, v, a, senses, t, chosen)

    def close(
        self,
        q: Vector,
        v: Vector | None = None,
        a: Vector | None = None,
        t: Real = 0.0,
        *,
        follow: Names | None = None,
        relative: bool = False,
        throw: bool = True,
    ) -> tuple[Any, Any, Any]:
        """The motion (q, v, a) in which some joints follow, so that every sliding contact stays on its surface.

        - `q`, `v`, `a`: all coordinates; of the joints that follow, q is the guess from which Newton's method starts,
          and what v and a say of them does not matter
        - `follow`: names of links, as many as contacts slide; the passive ones by default
        - `relative`: link angles are relative to the parent, in what is given; what comes back is absolute

        Newton's steps have exact derivatives, and so have their results, in both modes and up to the third order.
        """
        m = self.mechanism
        zero = np.zeros(m.dof)
        given = (("q", q), ("v", zero if v is None else v), ("a", zero if a is None else a))
        state = tuple(vector_of(m, name, x) for name, x in given)
        errors.number("motion", "t", t)
        links = self.passive if follow is None else tuple(m.topology.link(n) for n in names_of("follow", follow))
        refuse_follow(self, links)
        out, gap, leverage = _close(self, links, relative, state, jnp.asarray(t, dtype=float))
        return reached(self, links, out, gap, leverage) if throw else out

    def closed(
        self, links: tuple[int, ...], relative: bool, q: Vector, v: Vector, a: Vector, t: Real
    ) -> tuple[tuple[Any, Any, Any], Any, Any]:
        """The motion, the gaps that are left, and the leverage, without any check; for compiled loops."""
        return closed_motion(self, links, relative, q, v, a, t)


@kept
def _solve(
    chosen: AbstractFormalism | None,
    problem: ContactInverse,
    state: tuple[Vector, ...],
    t: Real,
    senses: Vector | None,
) -> ContactEfforts:
    q, v, a = state
    return problem.efforts(q, v, a, senses, t, chosen)


@kept
def _close(problem: ContactInverse, links: tuple[int, ...], relative: bool, state: tuple[Vector, ...], t: Real) -> Any:
    q, v, a = state
    return problem.closed(links, relative, q, v, a, t)
