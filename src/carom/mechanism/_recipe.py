"""What a mechanism was made of, kept beside its numbers so that it can be written to a file."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
from jaxtyping import PyTree


class Weld(NamedTuple):
    """A payload, as it was given to `Mechanism.weld`."""

    link: str
    body: Any
    at: Any
    angle: Any


class Tree(NamedTuple):
    """Links, base and payloads of one mechanism."""

    links: tuple[Any, ...]
    base: Any
    welds: tuple[Weld, ...] = ()


class Recipe:
    """A `Tree`, mechanisms side by side by name, a beam's arguments, or None where they are not known.

    All recipes are equal: two mechanisms that differ in numbers only must share one compiled program, and the recipe is
    no part of it.
    """

    __slots__ = ("made_of",)

    def __init__(self, made_of: PyTree = None) -> None:
        traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(made_of))
        self.made_of = None if traced else made_of  # a traced number has no value to write down

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "Recipe"

    def welded(self, weld: Weld) -> Recipe:
        """With one payload more."""
        tree = self.made_of
        if not isinstance(tree, Tree):
            return Recipe()
        return Recipe(tree._replace(welds=(*tree.welds, weld)))
