"""Random trees of rigid and elastic links, their states and what pushes them.

Every number is random, also the shapes: an elastic link is a handful of mass points with arbitrary shapes, slopes and
foreshortening, which is more than a beam can be.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jaxtyping import Array

import carom
from carom.mechanism._bending import Nodes, Reach, integrated

from ..strategies import arrays

POINTS = 4  # of mass, in an elastic link
SECTION = carom.beam.Section(area=1e-4, second_moment=1e-9, mass_per_length=1.0, youngs_modulus=1e9)


def beam(modes: int) -> carom.Beam:
    return carom.Beam(1.0, SECTION, ("simple", "free"), modes, theory="euler-bernoulli")


ROD, DISK = carom.Rod(length=1.0, mass=1.0), carom.Disk(radius=0.1, mass=1.0)


def link(body: Any, name: str, parent: str = carom.BASE, **sites: tuple[float, float]) -> carom.Link:
    return carom.Link(body, name=name, parent=parent, sites=sites)


TREES = {
    "arm, elastic forearm with a load": carom.Arm([link(ROD, "a"), link(beam(2), "b", "a", side=(0.5, 0.1))]).weld(
        "b", DISK
    ),
    "free fork on an elastic trunk": carom.Mechanism(
        [link(beam(1), "a"), link(beam(2), "b", "a"), link(ROD, "c", "a", side=(0.5, 0.1))], base=carom.Free()
    ),
    "elastic arm and a free elastic target": carom.side_by_side(
        arm=carom.Arm([link(beam(3), "a", side=(0.5, 0.1))]), target=carom.Mechanism([beam(1)], base=carom.Free())
    ),
}
# Minutes to compile in three formalisms.
LARGE = ("free fork on an elastic trunk", "elastic arm and a free elastic target")


class Case(eqx.Module):
    mechanism: carom.Mechanism
    q: Array
    v: Array
    torques: Array
    force: Array
    base_force: Array
    gravity: Array
    radii: Array

    @property
    def exact(self) -> bool:
        return not any(np.any(f.nodes.short) for f in self.mechanism.numbers.flex if f is not None)

    @property
    def tips(self) -> tuple[str, str]:
        """Two sites of different links, at least one of which is elastic."""
        top = self.mechanism.topology
        side = next(i for i, name in enumerate(top.site_names) if name.endswith("side"))
        others = [i for i, owner in enumerate(top.site_links) if owner != top.site_links[side]]
        other = max(others, key=lambda i: top.modes[top.site_links[i]])
        return top.site_names[side], top.site_names[other]


def random_numbers(template: carom.Mechanism, seed: int, foreshortening: bool) -> Any:
    """Arbitrary elastic bodies on the template's topology."""
    rng, top = np.random.default_rng(seed), template.topology
    n = top.links

    def between(*shape: int, size: float = 1.0) -> np.ndarray:
        return rng.uniform(-size, size, shape)

    def positive(m: int, size: float) -> np.ndarray:
        half = between(m, m)
        return size * (half @ half.T + np.eye(m))

    def symmetric(*shape: int) -> np.ndarray:
        h = between(*shape) * foreshortening
        return (h + np.swapaxes(h, -1, -2)) / 2

    def reach(m: int) -> Reach | None:
        return Reach(*map(jnp.asarray, (between(m, 2), between(m), symmetric(m, m), 1.0))) if m else None

    mass, com, inertia = 10.0 ** between(n), between(n, 2), 10.0 ** between(n)
    flex: list[Any] = []
    for k, m in enumerate(top.modes):
        if not m:
            flex.append(None)
            continue
        weights, place, rotary = 10.0 ** between(POINTS), between(POINTS, 2), 0.1 * rng.uniform(0, 1, POINTS)
        mass[k], com[k] = weights.sum(), weights @ place / weights.sum()
        inertia[k] = weights @ np.sum((place - com[k]) ** 2, axis=1) + rotary.sum()
        shapes = (between(POINTS, m, 2), between(POINTS, m), symmetric(POINTS, m, m))
        nodes = Nodes(*map(jnp.asarray, (place, weights, rotary, *shapes)))
        flex.append(integrated(nodes, positive(m, 50.0), positive(m, 2.0)))
    rooted_free = np.array(
        [[0.0 if p < 0 and top.free[t] else 1.0] for p, t in zip(top.parents, top.trees, strict=True)]
    )
    return dataclasses.replace(
        template.numbers,
        **{
            name: jnp.asarray(x)
            for name, x in {
                "mass": mass,
                "com": com,
                "inertia": inertia,
                "hang": between(n, 2) * rooted_free,
                "stiffness": 50 * rng.uniform(0, 1, n),
                "rest": between(n),
                "damping": 5 * rng.uniform(0, 1, n),
                "site": between(len(top.site_names), 2),
                "pivot": between(len(top.free), 2),
            }.items()
        },
        flex=tuple(flex),
        hang_reach=tuple(None if p < 0 else reach(top.modes[p]) for p in top.parents),
        site_reach=tuple(reach(top.modes[owner]) for owner in top.site_links),
    )


def drawn(data: st.DataObject, template: carom.Mechanism) -> Case:
    """Built outside of strategies: what compiles may write files, whose names Python's `random` chooses."""
    top = template.topology
    seed, foreshortening = data.draw(st.tuples(st.integers(0, 2**32 - 1), st.booleans()))
    sizes = ((top.dof, 3), (top.dof, 5), (top.links, 20), (2, 20), (top.base_dof, 20), (2, 10))
    values = list(data.draw(st.tuples(*(arrays(size, -high, high) for size, high in sizes), arrays(2, 0.0, 0.5))))
    numbers = random_numbers(template, seed, foreshortening)
    if foreshortening:
        values[0][top.base_dof + top.links :] *= 0.05  # the truncated mass matrix is one for small deflections only
    return Case(eqx.tree_at(lambda m: m.numbers, template, numbers), *map(jnp.asarray, values))
