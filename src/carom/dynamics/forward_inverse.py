"""Forward and inverse dynamics, and the generalized forces that go into them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import errors, native, registry
from ..mechanism import Mechanism, Topology
from ..mechanism import _walk as walk
from ..quantities import Forces, Given, Gravity, Vector
from . import _elastic_energy as elastic_energy
from .formalism import AbstractFormalism
from .kinematics import site_jacobian, small

FORMALISMS: dict[str, AbstractFormalism] = {f.name: f for f in (line.found()() for line in registry.FORMALISMS)}

STANDARD_GRAVITY = 9.81  # [m/s^2], the value that the sources use


# Up to here the closed form with unrolled elimination beats the recursion (benchmarks/forward_dynamics.py).
EXPLICIT_UP_TO = 4


def formalism_of(name: str | None, links: int = 1) -> AbstractFormalism:
    """The formalism of that name. None: whichever computes accelerations faster for that many links."""
    if name is None:
        return FORMALISMS["explicit" if links <= EXPLICIT_UP_TO else "gibbs_appell"]
    errors.name_in("formalism", name, tuple(FORMALISMS))
    return FORMALISMS[name]


def gravity_vector(gravity: Gravity) -> Float[Array, "2"]:
    """A number g means (0, -g); a vector (slopes, none) stands as it is [m/s^2]."""
    if not isinstance(gravity, list | tuple) and np.shape(gravity) == ():
        errors.number("world", "gravity", gravity)
        of = errors.library_for(gravity)
        return errors.array(of.stack([of.zeros(()), -of.asarray(gravity, dtype=float)]))
    errors.vector("world", "gravity", gravity, 2)
    return errors.array(gravity)


def joint_efforts(mechanism: Mechanism, q: Vector, v: Vector) -> Float[Array, " links"]:
    """Torques of the hinges' springs and dampers, forces of the sliders'."""
    n = mechanism.numbers
    return -n.stiffness * (mechanism.joints(q) - n.rest) - n.damping * mechanism.joints(v)


def generalized_force(
    mechanism: Mechanism,
    q: Float[Array, " dof"],
    v: Float[Array, " dof"],
    torques: Vector | None = None,
    forces: Mapping[Any, Any] | None = None,
    base_force: Given | None = None,
) -> Float[Array, " dof"]:
    """Generalized force Q of springs, dampers, joint torques, forces at sites and forces on free bases.

    - `torques` [N m], one per link: of the parent on the link; of the surroundings on a link that hangs on the base.
      For a link on a slider, the force [N] along its axis
    - `forces` [N]: {site or its name: (f_x, f_y)} in world axes
    - `base_force` [N]: (f_x, f_y) for every free tree
    """
    top = mechanism.topology
    turn = joint_efforts(mechanism, q, v)
    if torques is not None:
        errors.vector("mechanism", "torques", torques, top.links)
        turn = turn + jnp.asarray(torques, dtype=float)
    push = jnp.zeros(top.base_dof)
    if base_force is not None:
        push = jnp.ravel(jnp.asarray(base_force, dtype=float))
        errors.vector("mechanism", "base_force", push, top.base_dof)
    total = mechanism.efforts_to_absolute(jnp.concatenate([push, turn, jnp.zeros(sum(top.modes))]))
    for index, force in elastic_energy.bending(mechanism, q, v)[0]:
        total = total.at[index].add(force)
    for site, force in (forces or {}).items():
        errors.vector(f"forces['{site}']", "force", force, 2)
        total = total + site_jacobian(mechanism, q, site).T @ jnp.asarray(force, dtype=float)
    return total


@native.quick(small)
@eqx.filter_jit
def _forward(
    chosen: AbstractFormalism,
    mechanism: Mechanism,
    q: Vector,
    v: Vector,
    torques: Vector | None,
    forces: Forces | None,
    base: Vector | None,
    gravity: Vector,
) -> Array:
    return chosen.accelerations(
        mechanism, q, v, generalized_force(mechanism, q, v, torques, forces, base), gravity_vector(gravity)
    )


def forward_dynamics(
    mechanism: Mechanism,
    q: Given,
    v: Given,
    *,
    torques: Given | None = None,
    forces: Forces | None = None,
    base_force: Given | None = None,
    gravity: Gravity = STANDARD_GRAVITY,
    formalism: str | None = None,
) -> Float[Array, " dof"]:
    """Generalized accelerations under torques, forces at sites, springs, dampers and weight.

    Arguments as in `generalized_force`; `gravity` is a number g (downwards) or a vector [m/s^2].
    """
    q, v = vector_of(mechanism, "q", q), vector_of(mechanism, "v", v)
    _refuse_idle(mechanism)
    if torques is not None:
        errors.vector("mechanism", "torques", torques, mechanism.topology.links)
    chosen = formalism_of(formalism, mechanism.topology.links)
    out = _forward(chosen, mechanism, q, v, *efforts_of(torques, forces, base_force), gravity_vector(gravity))
    if not isinstance(out, jax.core.Tracer) and not np.all(np.isfinite(out)):
        raise errors.CaromError(
            f"the accelerations at q = {np.asarray(q).tolist()} are not finite; the mass matrix is singular there (a "
            "massless link in line with what it carries?) or a force is; give every link a mass, or check the forces"
        )
    return out


def inverse_dynamics(
    mechanism: Mechanism,
    q: Given,
    v: Given,
    a: Given,
    *,
    forces: Forces | None = None,
    gravity: Gravity = STANDARD_GRAVITY,
    formalism: str | None = None,
) -> Float[Array, " dof"]:
    """Efforts that produce the accelerations `a`: (force on every free base ..., joint torque of every link ...).

    The torques are those of the parent on the link, as `forward_dynamics` takes them; springs, dampers, weight and the
    given forces at sites do their share first.
    """
    q, v, a = (vector_of(mechanism, name, x) for name, x in (("q", q), ("v", v), ("a", a)))
    chosen = formalism_of(formalism, mechanism.topology.links)
    return _inverse(chosen, mechanism, q, v, a, efforts_of(None, forces, None)[1], gravity_vector(gravity))


@native.quick(small)
@eqx.filter_jit
def _inverse(
    chosen: AbstractFormalism,
    mechanism: Mechanism,
    q: Vector,
    v: Vector,
    a: Vector,
    forces: Forces | None,
    gravity: Vector,
) -> Array:
    need = chosen.inverse(mechanism, q, v, a, gravity_vector(gravity))
    return efforts(mechanism, need - generalized_force(mechanism, q, v, forces=forces))


def efforts(mechanism: Mechanism, force: Float[Array, " dof"]) -> Float[Array, " dof"]:
    """Base forces and joint torques that make up a generalized force: inverse of `efforts_to_absolute`.

    The torque of a joint carries everything that its subtree needs, so the sum runs inward.
    """
    top = mechanism.topology
    if top.sliding:
        return _slid_efforts(top, force)
    summed, _ = walk.inward(
        top, lambda own, carried: ((own[0] + carried[0],),) * 2, 1, walk.per_link(top, force[top.angles])
    )
    whole = jnp.concatenate([force[: top.base_dof], *walk.columns(top, summed), force[top.base_dof + top.links :]])
    for k, reach in enumerate(mechanism.numbers.hang_reach):  # the torque's reaction also bends an elastic parent
        if reach is not None:
            at = np.asarray(top.mode_index(top.parents[k]), dtype=int)
            whole = whole.at[at].add(whole[top.angle_index(k)] * reach.slope)
    return whole


def _slid_efforts(top: Topology, force: Vector) -> Array:
    """The same where links slide: a slider's force is its own, and torques are handed on to what turns it."""
    own = list(force[top.angles])
    for k in reversed(top.order):
        if top.turned_by[k] >= 0:
            own[top.turned_by[k]] = own[top.turned_by[k]] + own[k]
    return jnp.concatenate([force[: top.base_dof], jnp.stack(own)])


def vector_of(mechanism: Mechanism, field: str, values: Given) -> Array:
    """A state as 64-bit numbers, whatever it was given as; refused if it has another length."""
    errors.vector("mechanism", field, values, mechanism.dof)
    return jnp.asarray(values, dtype=float)


def efforts_of(torques: Given | None, forces: Forces | None, base_force: Given | None) -> tuple[Any, Any, Any]:
    """Efforts as arrays, forces by the names of their sites: so that new numbers do not compile anything again."""
    if forces is not None and not isinstance(forces, Mapping):
        raise errors.CaromError(
            f"forces is a {type(forces).__name__}; it must map sites to forces, such as {{'link2.tip': (0.0, 1.0)}}"
        )
    named = {getattr(site, "name", site): _array(f"force at '{site}'", f) for site, f in (forces or {}).items()}
    return _array("torques of mechanism", torques), named or None, _array("base_force of mechanism", base_force)


def _array(what: str, values: Given | None) -> Any:
    if values is None:
        return None
    try:
        return jnp.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise errors.CaromError(f"{what} is {values!r}; every entry must be a number") from None


def _refuse_idle(mechanism: Mechanism) -> None:
    """A link that has no inertia about its joint, with all it carries, has no unique acceleration."""
    n, top = mechanism.numbers, mechanism.topology
    parts = [errors.known(x) for x in (n.mass, n.com, n.inertia, n.hang, n.rotor * n.gear**2)]
    if any(p is None or p.shape[:1] != (top.links,) for p in parts):
        return  # traced, or a batch
    mass, com, inertia, hang, rotor = (p for p in parts if p is not None)
    if np.all(inertia > 0.0) and not top.sliding:
        return
    below = mass.copy()
    about_joint = inertia + mass * np.sum(com**2, axis=-1)
    for k in reversed(top.order):
        if (below[k] if top.slides[k] else about_joint[k]) + rotor[k] == 0.0:
            raise errors.CaromError(
                f"link '{top.names[k]}' with all it carries has no inertia about its joint; forces do not determine "
                "its acceleration; give it a mass, or hold it by constraints: carom.dynamics.constrained_dynamics"
            )
        if top.parents[k] >= 0:
            below[top.parents[k]] += below[k]
            moved = about_joint[k] + below[k] if top.slides[k] else 0.0  # how far out, its displacement decides
            about_joint[top.parents[k]] += below[k] * np.sum(hang[k] ** 2) + moved
