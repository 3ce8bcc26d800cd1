"""What is computed about a random tree of rigid and elastic links: one compiled function per topology."""

from typing import Any

import jax
import jax.numpy as jnp

import carom
from carom import dynamics
from carom.contact.pairs import pair_of
from carom.hybrid.scene import Load, Scene, split

from .elastic_cases import Case
from .elastic_judge import kinetic, material, momenta, moving, potential

FORMALISMS = ("explicit", "lagrange", "gibbs_appell")
RECURSION = ("explicit", "gibbs_appell")  # they solve in ways of their own


@carom.jit
def facts(case: Case) -> dict[str, Any]:
    m, q, v, g = case.mechanism, case.q, case.v, case.gravity
    site, _ = case.tips
    pushes = {"torques": case.torques, "forces": {site: case.force}, "base_force": case.base_force, "gravity": g}
    a = {f: dynamics.forward_dynamics(m, q, v, **pushes, formalism=f) for f in RECURSION}
    need = {
        f: dynamics.inverse_dynamics(m, q, v, a["explicit"], forces=pushes["forces"], gravity=g, formalism=f)
        for f in RECURSION
    }
    here, rate = moving(m, q, v)
    return {
        "M": {f: dynamics.mass_matrix(m, q, f) for f in FORMALISMS},
        "bias": {f: dynamics.bias(m, q, v, f) for f in FORMALISMS},
        "weight": {f: dynamics.gravity_force(m, q, g, f) for f in FORMALISMS},
        "a": a,
        "need": need,
        "energies": (dynamics.kinetic_energy(m, q, v), dynamics.potential_energy(m, q, g)),
        "own energies": (kinetic(m, q, v), potential(m, q, g)),
        "energy rate": jax.jvp(
            lambda q, v: dynamics.kinetic_energy(m, q, v) + potential(m, q, g), (q, v), (v, a["explicit"])
        )[1],
        "momenta": tuple(dynamics.momentum(m, q, v)),
        "own momenta": momenta(m, q, v),
        "momentum rates": jax.jvp(lambda q, v: tuple(dynamics.momentum(m, q, v)), (q, v), (v, a["explicit"]))[1],
        "centre": dynamics.centre_of_mass(m, q),
        "here": here,
        "rate": rate,
        "relative rates": m.angles(v, relative=True),
        "relative angles": m.angles(q, relative=True),
        "and back": m.to_absolute(m.to_relative(q)),
        "position": dynamics.site_position(m, q, site),
        "velocity": dynamics.site_velocity(m, q, v, site),
        "jacobian": dynamics.site_jacobian(m, q, site),
        "own jacobian": jax.jacfwd(lambda q: material(m, q)["sites"][m.site(site).index])(q),
        "site bias": dynamics.site_bias(m, q, v, site),
        "own site bias": jax.jvp(lambda q: moving(m, q, v)[1]["sites"][m.site(site).index], (q,), (v,))[1],
        "pairs": {name: met(case, name) for name in ("slope", "drum", "disks")},
        "turned": [turned(case, k) for k in range(m.topology.links)],
    }


SURFACES = {
    "slope": carom.Plane(point=(0.4, -0.3), slope=0.3),
    "drum": carom.Circle((0.3, 0.2), 30.0, inside=True),
}


def scene(case: Case, q: Any) -> Scene:
    m = case.mechanism
    return Scene(m, jnp.asarray(0.0), split(m, q), split(m, case.v))


def met(case: Case, name: str) -> dict[str, Any]:
    """A round tip on something; how far in, its rate, and the generalized forces of unit forces there."""
    m, q, v = case.mechanism, case.q, case.v
    site, other = (m.site(name) for name in case.tips)
    if name == "disks":
        pair = pair_of("test", site, other, case.radii[0], case.radii[1])
    else:
        pair = pair_of("test", site, SURFACES[name], case.radii[0])
    now = scene(case, q)
    k = pair.touching(now)
    loads = [Load(m), Load(m)]
    pair.push(now, loads[0], k, 1.0, 0.0)
    pair.push(now, loads[1], k, 0.0, 1.0)

    def depth(q: Any) -> Any:
        return pair.touching(scene(case, q)).indentation

    return {
        "rate": k.rate,
        "sliding": k.sliding,
        "own rate": jax.jvp(depth, (q,), (v,))[1],
        "normal": loads[0].vector(),
        "tangent": loads[1].vector(),
    }


def turned(case: Case, k: int) -> dict[str, Any]:
    """The generalized force of a unit torque in joint k, in both ways that there are, and the rate it works on."""
    m, now = case.mechanism, scene(case, case.q)
    load = Load(m)
    now.turn(load, k, 1.0)
    unit = jnp.zeros(m.dof).at[m.topology.angle_index(k)].set(1.0)
    return {
        "scene": load.vector(),
        "efforts": m.efforts_to_absolute(unit),
        "rate": jnp.asarray(now.relative_rate(k)),
        "angle": jnp.asarray(now.relative_angle(k)),
    }
