"""The judge of elastic trees: positions of all points by walking outward, all else by differentiating them."""

from typing import Any

import jax
import jax.numpy as jnp

import carom
from carom.mechanism._bending import Reach

from .elastic_cases import POINTS


def material(m: carom.Mechanism, q: Any) -> dict[str, Any]:
    """Where all mass is and how it is turned; joints and sites likewise: positions only."""
    n, top = m.numbers, m.topology
    origin: dict[int, Any] = {}

    def bend(k: int) -> Any:
        return q[jnp.asarray(top.mode_index(k), dtype=int)]

    def at(k: int, point: Any, reach: Any) -> Any:
        if reach is not None:
            d = bend(k)
            point = point + d @ reach.shape - jnp.stack([0.5 * d @ reach.short @ d, 0.0])
        angle = q[top.base_dof + k]
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        return origin[k] + jnp.stack([cos * point[0] - sin * point[1], sin * point[0] + cos * point[1]])

    def base(k: int) -> Any:
        tree = top.trees[k]
        if not top.free[tree]:
            return n.pivot[tree] + n.hang[k]
        first = 2 * sum(top.free[:tree])
        return q[first : first + 2]

    pending = list(range(top.links))
    while pending:
        k = pending.pop(0)
        p = top.parents[k]
        if p >= 0 and p not in origin:
            pending.append(k)
        else:
            origin[k] = base(k) if p < 0 else at(p, n.hang[k], n.hang_reach[k])
    mass, rotary, place, angle = [], [], [], []
    for k, flex in enumerate(n.flex):
        turned = q[top.base_dof + k]
        if flex is None:
            points = [(n.mass[k], n.inertia[k], at(k, n.com[k], None), turned)]
        else:
            x = flex.nodes
            reaches = [Reach(x.shape[g], x.slope[g], x.short[g], jnp.asarray(1.0)) for g in range(POINTS)]
            points = [
                (x.mass[g], x.rotary[g], at(k, x.place[g], r), turned + r.slope @ bend(k))
                for g, r in enumerate(reaches)
            ]
        for each, value in zip((mass, rotary, place, angle), zip(*points, strict=True), strict=True):
            each += value
    slopes = [jnp.asarray(0.0) if r is None else r.slope @ bend(top.parents[k]) for k, r in enumerate(n.hang_reach)]
    angles = [q[top.base_dof + k] for k in range(top.links)]
    joints = [a - s - (angles[p] if p >= 0 else 0.0) for a, s, p in zip(angles, slopes, top.parents, strict=True)]
    return {
        "mass": jnp.stack(mass),
        "rotary": jnp.stack(rotary),
        "place": jnp.stack(place),
        "angle": jnp.stack(angle),
        "joints": jnp.stack(joints),
        "sites": jnp.stack([at(k, n.site[i], n.site_reach[i]) for i, k in enumerate(top.site_links)]),
    }


def moving(m: carom.Mechanism, q: Any, v: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return jax.jvp(lambda q: material(m, q), (q,), (v,))


def kinetic(m: carom.Mechanism, q: Any, v: Any) -> Any:
    here, rate = moving(m, q, v)
    return 0.5 * (here["mass"] @ jnp.sum(rate["place"] ** 2, axis=1) + here["rotary"] @ rate["angle"] ** 2)


def momenta(m: carom.Mechanism, q: Any, v: Any) -> tuple[Any, Any]:
    here, rate = moving(m, q, v)
    (x, y), (vx, vy) = here["place"].T, rate["place"].T
    return here["mass"] @ rate["place"], here["mass"] @ (x * vy - y * vx) + here["rotary"] @ rate["angle"]


def potential(m: carom.Mechanism, q: Any, gravity: Any) -> Any:
    here, n, top = material(m, q), m.numbers, m.topology
    stored = 0.5 * n.stiffness @ (here["joints"] - n.rest) ** 2 - here["mass"] @ (here["place"] @ gravity)
    for k, flex in enumerate(n.flex):
        if flex is not None:
            d = q[jnp.asarray(top.mode_index(k), dtype=int)]
            stored = stored + 0.5 * d @ flex.stiffness @ d
    return stored
