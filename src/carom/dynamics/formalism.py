"""What every formalism offers: the same equations of motion, derived another way.

    M(q) v' + bias(q, v) = Q(q, v) + gravity(q)

in absolute coordinates q, with Q the generalized forces of actuators, springs, dampers and contacts.
"""

from __future__ import annotations

import abc

import equinox as eqx
from jaxtyping import Array, Float

from ..mechanism import Mechanism
from . import _linear as linear


class AbstractFormalism(eqx.Module):
    """One way to derive the equations of motion. Stateless; pure functions of mechanism, q and v."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The word that selects it."""

    @abc.abstractmethod
    def mass_matrix(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, "dof dof"]:
        """M, symmetric; positive definite unless a link is massless."""

    @abc.abstractmethod
    def bias(self, mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"]) -> Float[Array, " dof"]:
        """The inertial forces at zero acceleration: centrifugal terms."""

    @abc.abstractmethod
    def gravity(
        self, mechanism: Mechanism, q: Float[Array, " dof"], gravity: Float[Array, "2"]
    ) -> Float[Array, " dof"]:
        """Generalized force of weight."""

    def inverse(
        self,
        mechanism: Mechanism,
        q: Float[Array, " dof"],
        v: Float[Array, " dof"],
        a: Float[Array, " dof"],
        gravity: Float[Array, "2"],
    ) -> Float[Array, " dof"]:
        """The generalized force Q that the motion (q, v, a) needs besides weight."""
        return self.mass_matrix(mechanism, q) @ a + self.bias(mechanism, q, v) - self.gravity(mechanism, q, gravity)

    def accelerations(
        self,
        mechanism: Mechanism,
        q: Float[Array, " dof"],
        v: Float[Array, " dof"],
        force: Float[Array, " dof"],
        gravity: Float[Array, "2"],
    ) -> Float[Array, " dof"]:
        """v' under the generalized force Q and weight."""
        right = force + self.gravity(mechanism, q, gravity) - self.bias(mechanism, q, v)
        return linear.solve(self.mass_matrix(mechanism, q), right)
