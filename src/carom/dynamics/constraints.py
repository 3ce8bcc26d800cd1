"""Bilateral constraints: pins, closed loops, points held on curves, and the KKT system that enforces them.

    [[M, A^T], [A, 0]] [v'; -lambda] = [Q + weight - bias; gamma],      A = d error / dq,   gamma = -(A)' v

lambda is the force along each row, acting on the mechanism: A^T lambda stands beside Q. The system is solved by the
pseudo-inverse of the scaled matrix, which needs neither an invertible M nor independent rows: v' is unique wherever the
whole determines it, redundant rows share their force with the least sum of squares, and rows that contradict each
other leave a residual, which is reported.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from .. import errors
from ..mechanism import Mechanism
from .energy import kinetic_energy
from .formalism import AbstractFormalism
from .forward_inverse import STANDARD_GRAVITY, efforts_of, formalism_of, generalized_force, gravity_vector, vector_of
from .kinematics import site_position

FAR_OFF = 1e-3  # [m or rad] a state this far from a constraint is not one that drifted a little
RANK_TOLERANCE = 1e-11  # singular values of the scaled system below this fraction of the largest count as zero


class AbstractConstraint(eqx.Module):
    """Something that stays zero. Derivatives are taken automatically."""

    @abc.abstractmethod
    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        """The quantities that must vanish [m or rad]."""

    @abc.abstractmethod
    def describe(self) -> str:
        """A few words for messages."""


def _site_name(owner: str, site: Any) -> str:
    name = getattr(site, "name", site)
    if not isinstance(name, str):
        raise errors.CaromError(f"site of {owner} is {site!r}; it must be a site of a mechanism, or its name")
    return name


class Pin(AbstractConstraint):
    """Two sites coincide (a closed loop), or a site stays at a point (x, y) [m] of the world."""

    site: str = eqx.field(static=True)
    other: Any

    def __init__(self, site: Any, other: Any) -> None:
        self.site = _site_name("Pin", site)
        self.other = other if isinstance(other, str) else getattr(other, "name", other)
        if not isinstance(self.other, str):
            errors.vector(f"Pin of '{self.site}'", "other", self.other, 2)
            self.other = jnp.asarray(self.other, dtype=float)

    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        target = site_position(mechanism, q, self.other) if isinstance(self.other, str) else self.other
        return site_position(mechanism, q, self.site) - target

    def describe(self) -> str:
        where = f"'{self.other}'" if isinstance(self.other, str) else "a fixed point"
        return f"Pin('{self.site}' to {where})"


class OnCurve(AbstractConstraint):
    """A site stays on the curve where `curve(x, y)` = 0, any smooth function; its gradient must not vanish there.

    A value in metres (a signed distance) makes the multiplier a force in newtons.
    """

    site: str = eqx.field(static=True)
    curve: Any

    def __init__(self, site: Any, curve: Any) -> None:
        self.site, self.curve = _site_name("OnCurve", site), curve
        if not callable(curve):
            raise errors.CaromError(
                f"curve of OnCurve of '{self.site}' is a {type(curve).__name__}; it must be a function of x and y, "
                "zero on the curve, such as lambda x, y: y"
            )

    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        x, y = site_position(mechanism, q, self.site)
        return jnp.stack([jnp.asarray(self.curve(x, y), dtype=float)])

    def describe(self) -> str:
        return f"OnCurve('{self.site}')"


class Locked(AbstractConstraint):
    """The angle of a link relative to another (or, with None, to the world) stays at `angle` [rad]."""

    link: str = eqx.field(static=True)
    other: str | None = eqx.field(static=True, default=None)
    angle: Any = 0.0

    def __check_init__(self) -> None:
        errors.number(f"Locked of '{self.link}'", "angle", self.angle)

    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        top = mechanism.topology
        turned = q[top.angle_index(top.link(self.link))] - self.angle
        if self.other is not None:
            turned = turned - q[top.angle_index(top.link(self.other))]
        return jnp.stack([turned])

    def describe(self) -> str:
        return f"Locked('{self.link}' to '{self.other or 'the world'}')"


Constraints = Sequence[AbstractConstraint]


class Constrained(eqx.Module):
    """What the KKT system answers."""

    acceleration: Float[Array, " dof"]
    multipliers: Float[Array, " rows"]  # force along each row, on the mechanism [N or N m]
    rank: Int[Array, ""]  # of the whole system; rows + dof less the redundant rows
    residual: Float[Array, ""]  # |A v' - gamma| relative to its terms; large where rows contradict each other
    conflict: Bool[Array, ""]


def constraint_error(mechanism: Mechanism, constraints: Constraints, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
    """All errors, one after the other."""
    return jnp.concatenate([c.error(mechanism, q) for c in constraints])


def constraint_rows(
    mechanism: Mechanism, constraints: Constraints, q: Float[Array, " dof"], v: Float[Array, " dof"]
) -> tuple[Float[Array, "rows dof"], Float[Array, " rows"]]:
    """A, and gamma = -A' v, by differentiating the errors."""

    def rate(q: Any) -> Array:
        return jax.jvp(lambda q: constraint_error(mechanism, constraints, q), (q,), (v,))[1]

    matrix = jax.jacfwd(lambda q: constraint_error(mechanism, constraints, q))(q)
    return matrix, -jax.jvp(rate, (q,), (v,))[1]


def solve_kkt(
    matrix: Float[Array, "dof dof"],
    rows: Float[Array, "rows dof"],
    force: Float[Array, " dof"],
    gamma: Float[Array, " rows"],
) -> Constrained:
    """Solve M a - A^T lambda = force, A a = gamma, for singular M and dependent rows alike."""
    dof, count = matrix.shape[0], rows.shape[0]
    # Scale to comparable entries. A coordinate is as heavy as its inertia, or, where a light link has little, as the
    # rows that hold it; all rows get one number, so that least squares stays fair.
    fixed_rows, diagonal = jax.lax.stop_gradient((rows, jnp.diag(matrix)))
    held = jnp.sum(fixed_rows**2, axis=0)
    heaviest = jnp.where(jnp.max(diagonal) > 0.0, jnp.max(diagonal), 1.0)
    scale = 1.0 / jnp.sqrt(diagonal + heaviest * (held / (jnp.max(held) + jnp.finfo(float).tiny) + 1e-12))
    scaled = fixed_rows * scale[None, :]
    row_scale = 1.0 / (jnp.sqrt(jnp.max(jnp.sum(scaled**2, axis=1))) + jnp.finfo(float).tiny)
    a = rows * scale[None, :] * row_scale
    system = jnp.block([[matrix * jnp.outer(scale, scale), a.T], [a, jnp.zeros((count, count))]])
    right = jnp.concatenate([force * scale, gamma * row_scale])
    # One step of refinement brings the pseudo-inverse's answer to rounding.
    inverse = jnp.linalg.pinv(system, rtol=RANK_TOLERANCE, hermitian=True)
    answer = inverse @ right
    answer = answer + inverse @ (right - system @ answer)
    values = jnp.abs(jnp.linalg.eigvalsh(jax.lax.stop_gradient(system)))
    acceleration, multipliers = answer[:dof] * scale, -answer[dof:] * row_scale
    # What stands still is measured by the accelerations that its forces would cause without constraints.
    terms = jnp.abs(rows) @ (jnp.abs(acceleration) + jnp.abs(force) * scale**2) + jnp.abs(gamma)
    gap = jnp.max(jnp.abs(rows @ acceleration - gamma)) / (jnp.max(terms) + jnp.finfo(float).tiny)
    gap = jax.lax.stop_gradient(gap)
    return Constrained(
        acceleration=acceleration,
        multipliers=multipliers,
        rank=jnp.sum(values > RANK_TOLERANCE * jnp.max(values)),
        residual=gap,
        conflict=gap > 1e-6,
    )


@eqx.filter_jit
def _constrained(
    chosen: AbstractFormalism,
    mechanism: Mechanism,
    constraints: tuple[AbstractConstraint, ...],
    q: Any,
    v: Any,
    efforts: tuple[Any, Any, Any],
    gravity: Any,
    stabilise: Any,
) -> tuple[Constrained, Array]:
    force = generalized_force(mechanism, q, v, *efforts) + chosen.gravity(mechanism, q, gravity)
    rows, gamma = constraint_rows(mechanism, constraints, q, v)
    # Baumgarte: errors of position and velocity decay with the given rate instead of drifting.
    error = constraint_error(mechanism, constraints, q)
    gamma = gamma - 2.0 * stabilise * (rows @ v) - stabilise**2 * error
    solved = solve_kkt(chosen.mass_matrix(mechanism, q), rows, force - chosen.bias(mechanism, q, v), gamma)
    return solved, jnp.max(jnp.abs(error))


def constrained_dynamics(
    mechanism: Mechanism,
    constraints: Any,
    q: Any,
    v: Any,
    *,
    torques: Any = None,
    forces: Any = None,
    base_force: Any = None,
    gravity: Any = STANDARD_GRAVITY,
    formalism: Any = "explicit",
    stabilise: Any = 0.0,
    throw: bool = True,
) -> Constrained:
    """Accelerations and constraint forces of a mechanism held by bilateral constraints.

    Massless links and redundant constraints are welcome. Constraints that contradict each other raise an error, or set
    `conflict` with `throw=False`. `stabilise` [1/s] pulls drifting errors back (Baumgarte); 0 leaves them alone.
    """
    q, v = vector_of(mechanism, "q", q), vector_of(mechanism, "v", v)
    held = _checked(constraints)
    efforts = efforts_of(torques, forces, base_force)
    out, off = _constrained(
        formalism_of(formalism), mechanism, held, q, v, efforts, gravity_vector(gravity), jnp.asarray(stabilise, float)
    )
    if throw:
        listed = ", ".join(c.describe() for c in constraints)
        message = f"the constraints {listed} contradict each other at this state; no acceleration meets all; remove one"
        out = _raise_if(out, out.conflict, message)
        message = f"the constraints {listed} are not met at this q: they contradict each other, or it needs assemble()"
        out = _raise_if(out, (off > FAR_OFF) & (jnp.asarray(stabilise) == 0.0), message)
    return out


def _checked(constraints: Any) -> tuple[AbstractConstraint, ...]:
    if isinstance(constraints, AbstractConstraint):
        raise errors.CaromError(
            f"constraints is a {type(constraints).__name__}; it must be a list of constraints, such as [carom.Pin(...)]"
        )
    if len(constraints) == 0:
        raise errors.CaromError("constraints is empty; give at least one, or use carom.dynamics.forward_dynamics")
    for i, item in enumerate(constraints):
        if not isinstance(item, AbstractConstraint):
            raise errors.CaromError(
                f"constraints[{i}] is a {type(item).__name__}; it must be a carom.Pin, OnCurve, ..."
            )
    return tuple(constraints)


def _raise_if(out: Any, wrong: Any, message: str) -> Any:
    """Raise `message` where `wrong` holds: a plain sentence outside jit, equinox's runtime error inside."""
    if isinstance(wrong, jax.core.Tracer):
        return eqx.error_if(out, wrong, message)
    if bool(np.any(np.asarray(wrong))):
        raise errors.CaromError(message)
    return out


def assemble(
    mechanism: Mechanism,
    constraints: Any,
    q: Any,
    v: Any = None,
    steps: int = 50,
) -> tuple[Float[Array, " dof"], Float[Array, " dof"]]:
    """The nearest state that satisfies the constraints: close a loop from a rough guess of q (and v).

    Newton's method with least-norm steps on the positions; the velocity is projected with the mass matrix as metric,
    as a plastic impact would do it.
    """
    constraints = _checked(constraints)
    q = vector_of(mechanism, "q", q)
    v = jnp.zeros_like(q) if v is None else vector_of(mechanism, "v", v)
    found, moving = _assemble(mechanism, tuple(constraints), q, v, steps)
    gap = constraint_error(mechanism, constraints, found)
    listed = ", ".join(c.describe() for c in constraints)
    size = jnp.max(jnp.abs(gap))
    message = f"the constraints {listed} cannot all be met near this q; start nearer, or check the link lengths"
    return _raise_if((found, moving), ~(size < 1e-9), message)


@eqx.filter_jit
def _assemble(
    mechanism: Mechanism, constraints: tuple[AbstractConstraint, ...], q: Any, v: Any, steps: int
) -> tuple[Array, Array]:
    def improve(_: Any, q: Any) -> Any:
        rows = jax.jacfwd(lambda q: constraint_error(mechanism, constraints, q))(q)
        return q - jnp.linalg.pinv(rows, rtol=1e-9) @ constraint_error(mechanism, constraints, q)

    q = jax.lax.fori_loop(0, steps, improve, q)
    matrix = jax.hessian(lambda v: kinetic_energy(mechanism, q, v))(jnp.zeros_like(q))
    rows, _ = constraint_rows(mechanism, constraints, q, v)
    return q, solve_kkt(matrix, rows, matrix @ v, jnp.zeros(rows.shape[0])).acceleration
