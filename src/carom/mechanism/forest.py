"""Several mechanisms as one: a forest."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import errors
from ._recipe import Recipe, Tree
from .numbers import Numbers
from .topology import Topology
from .tree import Mechanism, mechanism_of


def side_by_side(**mechanisms: Mechanism) -> Mechanism:
    """Several mechanisms as one: `side_by_side(arm=arm, target=satellite)`.

    Links and sites are called '<mechanism>.<name>'. Coordinates: all free bases first, then all link angles, in order.
    """
    if not mechanisms:
        raise errors.CaromError("side_by_side got no mechanism; give at least one, such as side_by_side(arm=arm)")
    parts = list(mechanisms.items())
    for name, part in parts:
        if not isinstance(part, Mechanism):
            raise errors.CaromError(f"'{name}' in side_by_side is a {type(part).__name__}; it must be a Mechanism")
    tops = [part.topology for _, part in parts]
    links = np.cumsum([0] + [t.links for t in tops])
    trees = np.cumsum([0] + [len(t.free) for t in tops])
    topology = Topology(
        names=tuple(f"{name}.{link}" for name, p in parts for link in p.topology.names),
        shapes=tuple(s for t in tops for s in t.shapes),
        parents=tuple(int(p + d) if p >= 0 else -1 for t, d in zip(tops, links, strict=False) for p in t.parents),
        trees=tuple(int(i + d) for t, d in zip(tops, trees, strict=False) for i in t.trees),
        free=tuple(f for t in tops for f in t.free),
        tree_names=tuple(
            name if len(p.topology.free) == 1 else f"{name}.{tree}"
            for name, p in parts
            for tree in p.topology.tree_names
        ),
        site_names=tuple(f"{name}.{site}" for name, p in parts for site in p.topology.site_names),
        site_links=tuple(int(i + d) for t, d in zip(tops, links, strict=False) for i in t.site_links),
        modes=tuple(m for t in tops for m in t.modes),
        slides=tuple(s for t in tops for s in t.slides),
        rotors=tuple(r for t in tops for r in t.rotors),
        rubs=tuple(r for t in tops for r in t.rubs),
        limited=tuple(e for t in tops for e in t.limited),
    )
    made_of = {name: part.recipe for name, part in parts}
    recipe = Recipe(made_of if all(isinstance(r.made_of, Tree) for r in made_of.values()) else None)
    return mechanism_of(_columns([part.numbers for _, part in parts]), topology, recipe)


def _columns(parts: list[Numbers]) -> Numbers:
    """Columns one after the other; tuples of what bends likewise."""

    def together(name: str) -> Any:
        columns = [getattr(part, name) for part in parts]
        if isinstance(columns[0], tuple):
            return tuple(entry for column in columns for entry in column)
        return jnp.concatenate(columns)

    return Numbers(**{field.name: together(field.name) for field in dataclasses.fields(Numbers)})
