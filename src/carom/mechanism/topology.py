"""Who hangs on whom: the part of a mechanism that is fixed at compile time."""

from __future__ import annotations

import dataclasses
from functools import cached_property

from .. import errors
from .._arguments import Name


@dataclasses.dataclass(frozen=True)
class Topology:
    """Hashable structure of a forest of links; every tuple runs over links unless it says otherwise.

    The generalized coordinates are (x, y of every free tree's base ..., one of every link ..., modal coordinates of
    every elastic link ...). A link on a hinge has its absolute angle [rad]; one on a slider has its displacement [m]
    along its parent, and turns with its parent.
    """

    names: tuple[str, ...]
    shapes: tuple[str, ...]
    parents: tuple[int, ...]  # -1: hangs on the base of its tree
    trees: tuple[int, ...]  # which tree the link belongs to
    free: tuple[bool, ...]  # per tree: does its base move?
    tree_names: tuple[str, ...]  # per tree
    site_names: tuple[str, ...]  # per site
    site_links: tuple[int, ...]  # per site
    modes: tuple[int, ...]  # per link: modal coordinates, none for a rigid link
    slides: tuple[bool, ...]  # per link: does it slide along its parent, instead of turning?
    rotors: tuple[bool, ...]  # per link: does a motor's rotor turn with its joint?
    rubs: tuple[bool, ...]  # per link: has its joint dry friction?
    limited: tuple[bool, ...]  # per link: is the effort of its joint's actuator limited?

    @property
    def links(self) -> int:
        return len(self.names)

    @cached_property
    def base_dof(self) -> int:
        return 2 * sum(self.free)

    @property
    def dof(self) -> int:
        return self.base_dof + self.links + sum(self.modes)

    @property
    def elastic(self) -> bool:
        """Does any link bend?"""
        return any(self.modes)

    @cached_property
    def sliding(self) -> bool:
        """Does any link slide?"""
        return any(self.slides)

    @cached_property
    def jointed(self) -> bool:
        """Has a joint more than a plain hinge: does it slide, or turn a rotor?"""
        return self.sliding or any(self.rotors)

    @cached_property
    def rubbing(self) -> tuple[int, ...]:
        """Links whose joints have dry friction."""
        return tuple(k for k, rubs in enumerate(self.rubs) if rubs)

    @property
    def angles(self) -> slice:
        """Where the links' own coordinates stand in q: angles on hinges, displacements on sliders."""
        return slice(self.base_dof, self.base_dof + self.links)

    @cached_property
    def carriers(self) -> tuple[int, ...]:
        """The link whose angle is that of the link: itself on a hinge; -1 where all slides on the world."""
        found: dict[int, int] = {-1: -1}
        for k in self.order:
            found[k] = found[self.parents[k]] if self.slides[k] else k
        return tuple(found[k] for k in range(self.links))

    @cached_property
    def turned_by(self) -> tuple[int, ...]:
        """The link whose angle a joint's own is measured from; -1: from the x axis, or nothing, as on a slider."""
        return tuple(
            -1 if slides or p < 0 else self.carriers[p] for p, slides in zip(self.parents, self.slides, strict=True)
        )

    @cached_property
    def hinged(self) -> tuple[int, ...]:
        """Links that turn."""
        return tuple(k for k, slides in enumerate(self.slides) if not slides)

    @cached_property
    def slid(self) -> tuple[int, ...]:
        """Links that slide."""
        return tuple(k for k, slides in enumerate(self.slides) if slides)

    @property
    def loose(self) -> tuple[int, ...]:
        """Links that are the bodies of free bases: they hang on nothing, and have no joint."""
        return tuple(k for k in range(self.links) if self.parents[k] < 0 and self.free[self.trees[k]])

    def mode_index(self, link: int) -> tuple[int, ...]:
        """Where the modal coordinates of a link stand in q."""
        first = self.base_dof + self.links + sum(self.modes[:link])
        return tuple(range(first, first + self.modes[link]))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Link indices with every parent before its children. Circular parents are refused here."""
        done = [k for k, p in enumerate(self.parents) if p < 0]
        for k in done:  # grows while it is read: breadth first
            done += self.children[k]
        lost = sorted(set(range(self.links)) - set(done))
        if lost:
            k = next(k for k in lost if self._carries(k, self.parents[k]))  # not one that merely hangs below the circle
            raise errors.CaromError(
                f"parent of link '{self.names[k]}' is '{self.names[self.parents[k]]}', which hangs on it in turn; "
                "a tree has no cycle; close loops with a constraint such as carom.Pin"
            )
        return tuple(done)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.names]
        for child, parent in enumerate(self.parents):
            if parent >= 0:
                found[parent].append(child)
        return tuple(map(tuple, found))

    @cached_property
    def turned(self) -> tuple[tuple[int, ...], ...]:
        """For every link those whose joints' angles are measured from it: its children, but for sliders."""
        return tuple(tuple(c for c, above in enumerate(self.turned_by) if above == k) for k in range(self.links))

    @cached_property
    def paths(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For link k the pairs (ancestor i, child s of i on the way to k), from the root down."""
        found: dict[int, tuple[tuple[int, int], ...]] = {}
        for k in self.order:
            p = self.parents[k]
            found[k] = () if p < 0 else (*found[p], (p, k))
        return tuple(found[k] for k in range(self.links))

    def _carries(self, k: int, other: int) -> bool:
        """Does `other` hang, over however many links, on k?"""
        for _ in self.names:
            if other == k:
                return True
            other = self.parents[other]
        return False

    def base_index(self, tree: int) -> int | None:
        """Where the x coordinate of a free tree's base stands in q; y follows. None for a fixed tree."""
        return 2 * sum(self.free[:tree]) if self.free[tree] else None

    def angle_index(self, link: int) -> int:
        """Where the own coordinate of a link stands in q: its angle, or, on a slider, its displacement."""
        return self.base_dof + link

    def turn_index(self, link: int) -> int | None:
        """Where the angle of a link stands in q; None if it never turns, as it slides on the world."""
        carrier = self.carriers[link]
        return None if carrier < 0 else self.base_dof + carrier

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A name for every coordinate, in order."""
        several = len(self.free) > 1
        bases = [
            f"{name}.{axis}" if several else axis
            for name, free in zip(self.tree_names, self.free, strict=True)
            if free
            for axis in ("x", "y")
        ]
        bends = [
            f"{name}.mode{j + 1}" for name, count in zip(self.names, self.modes, strict=True) for j in range(count)
        ]
        return (*bases, *self.names, *bends)

    def link(self, name: Name) -> int:
        errors.name_in("link", name, self.names)
        return self.names.index(name)
