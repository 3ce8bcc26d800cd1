"""Mechanisms: forests of planar links with absolute angles as coordinates.

y                 theta_2                     theta_k: angle of link k's axis from the world's x axis,
|               /                                      counter-clockwise positive [rad]
|      o-------o  link 2                      o: hinges; on a slider a link has a displacement instead
|     / link 1
|    /  theta_1
+---o----------- x
   base
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import errors, registry
from .._arguments import LinksLike, SiteLike
from ..quantities import Given, Point, Real, Rows, Vector
from . import _walk as walk
from ._assembly import named, numbers_of, refuse_idle_links, topology_of
from ._printed_tree import table
from ._recipe import Recipe, Tree, Weld
from ._sliding import joint_values, slid_to_absolute
from ._weld import welded
from .bodies import AbstractBody
from .link import Fixed, Free
from .numbers import Numbers
from .state import State, state_of, with_extra
from .topology import Topology


@dataclasses.dataclass(frozen=True)
class Site:
    """A named point of a link; ask a mechanism for one: `arm.site('gripper')`, `arm.tip`."""

    name: str
    link: int
    index: int


class Mechanism(eqx.Module):
    """A tree of rigid and elastic links on one base. Immutable; its numbers are traced, its topology is static.

    - `links`: bodies or `carom.Link`s; a bare body hangs on the tip of the one before it
    - `base`: `carom.Fixed(x, y)` (default: the origin) or `carom.Free()`

    Every link has the site '<link name>.tip'; the last link's is also `mechanism.tip`.

    >>> import carom
    >>> arm = carom.Mechanism([carom.Rod(length=1.0, mass=2.0), carom.Rod(length=0.5, mass=1.0)])
    >>> arm.dof, arm.tip.name
    (2, 'link2.tip')
    """

    numbers: Numbers
    topology: Topology = eqx.field(static=True)
    recipe: Recipe = eqx.field(static=True)

    def __init__(self, links: LinksLike, base: Fixed | Free | None = None) -> None:
        require_float64()
        base = Fixed() if base is None else base
        placed = named(links)
        self.topology = topology_of(placed, base)
        self.numbers = numbers_of(placed, base, self.topology)
        self.recipe = Recipe(Tree(tuple(placed), base))
        refuse_idle_links(self.numbers, self.topology)

    # -- reading ---------------------------------------------------------------------------------------------------

    @property
    def dof(self) -> int:
        """Number of generalized coordinates."""
        return self.topology.dof

    @property
    def tip(self) -> Site:
        """Tip of the last link."""
        return self.site(f"{self.topology.names[-1]}.tip")

    def site(self, name: SiteLike) -> Site:
        """The site of that name ('<link>.tip', or one given with `Link(sites=...)`)."""
        if isinstance(name, Site):  # it may come from another mechanism
            name = name.name
        errors.name_in("site", name, self.topology.site_names)
        index = self.topology.site_names.index(name)
        return Site(name, self.topology.site_links[index], index)

    def angles(self, q: Float[Array, " dof"], relative: bool = False, degrees: bool = False) -> Float[Array, " links"]:
        """Link angles of a coordinate vector (or rates of a velocity): absolute, or relative to the parent.

        A link on a slider has the angle of its parent, and none relative to it.
        """
        top = self.topology
        errors.vector("mechanism", "q", q, self.dof)
        angles = self.joints(q) if relative else jnp.asarray(q)[top.angles]
        if top.sliding:
            known = np.asarray(top.slides) if relative else np.asarray(top.carriers) < 0
            angles = jnp.where(known, 0.0, angles if relative else angles[np.maximum(top.carriers, 0)])
        return jnp.rad2deg(angles) if degrees else angles

    def joints(self, q: Float[Array, " dof"]) -> Float[Array, " links"]:
        """Joint coordinates (or their rates): angle to the parent [rad] on a hinge, displacement [m] on a slider."""
        return self.to_relative(jnp.asarray(q))[self.topology.angles]

    def slides(self, q: Float[Array, " dof"]) -> Float[Array, " sliders"]:
        """Displacements [m] of the links on sliders (or their rates), in the order of the links."""
        errors.vector("mechanism", "q", q, self.dof)
        return jnp.asarray(q)[self.topology.angles][np.asarray(self.topology.slid, dtype=int)]

    def base(self, q: Float[Array, " dof"]) -> Float[Array, "free 2"]:
        """Base positions of the free trees in a coordinate vector (or velocities of a velocity)."""
        errors.vector("mechanism", "q", q, self.dof)
        return jnp.asarray(q)[: self.topology.base_dof].reshape(-1, 2)

    # -- coordinates -----------------------------------------------------------------------------------------------

    def bending(self, q: Float[Array, " dof"], link: str) -> Float[Array, " modes"]:
        """Modal coordinates [m] of an elastic link in a coordinate vector (or rates in a velocity)."""
        errors.vector("mechanism", "q", q, self.dof)
        return jnp.asarray(q)[np.asarray(self.topology.mode_index(self.topology.link(link)), dtype=int)]

    def coordinates(
        self,
        angles: Given,
        base: Given | None = None,
        relative: bool = False,
        degrees: bool = False,
        bending: Given | None = None,
        slides: Given | None = None,
    ) -> Float[Array, " dof"]:
        """Coordinate vector from the angles of the links on hinges; with rates and velocities, a velocity vector.

        `base` is (x, y) of every free tree, zero by default. `relative` angles are measured from the parent link.
        `bending` are the modal coordinates [m] of all elastic links, one after the other, zero by default.
        `slides` are the displacements [m] of the links on sliders, zero by default.
        """
        own = joint_values(self.topology, angles, slides, degrees)
        of = errors.library_for(own, base, bending)
        base = of.zeros(self.topology.base_dof) if base is None else of.ravel(of.asarray(base, dtype=float))
        errors.vector("mechanism", "base", base, self.topology.base_dof)
        count = sum(self.topology.modes)
        bend = of.zeros(count) if bending is None else of.ravel(of.asarray(bending, dtype=float))
        errors.vector("mechanism", "bending", bend, count)
        q = errors.array(of.concatenate([base, own, bend]))
        return self.to_absolute(q) if relative else q

    def state(
        self,
        angles: Rows | None = None,
        rates: Rows | None = None,
        *,
        base: Rows | None = None,
        base_velocity: Rows | None = None,
        bending: Rows | None = None,
        bending_rates: Rows | None = None,
        slides: Rows | None = None,
        slide_rates: Rows | None = None,
        relative: bool = False,
        degrees: bool = False,
        extra: Mapping[str, Any] | None = None,
        **unknown: Any,
    ) -> State:
        """A state to start from; what is left out is zero.

        - `angles`, `rates`: of the links on hinges, absolute or `relative` to the parent, in radians or `degrees`
        - `slides` [m], `slide_rates` [m/s]: of the links on sliders
        - `base`, `base_velocity`: (x, y) of every free tree
        - `bending`, `bending_rates`: modal coordinates [m] of the elastic links
        - `extra`: values by name, of extra states that a world has (`carom.ExtraStates`)

        Arrays with one more axis in front hold a row per lane of a batch.
        """
        given = {
            "angles": angles,
            "rates": rates,
            "base": base,
            "base_velocity": base_velocity,
            "bending": bending,
            "bending_rates": bending_rates,
            "slides": slides,
            "slide_rates": slide_rates,
        }
        how = {"relative": relative, "degrees": degrees}
        for name in unknown:
            errors.name_in("argument of state", name, (*given, *how, "extra"))
        return with_extra(state_of(self, how, given), extra)

    def to_relative(self, q: Float[Array, " dof"]) -> Float[Array, " dof"]:
        """Replace absolute angles (or rates) by those relative to the parent. A constant linear map.

        On an elastic parent the joint sits on a section that has turned with the bending. Displacements stay.
        """
        errors.vector("mechanism", "q", q, self.dof)
        nb, above = self.topology.base_dof, np.asarray(self.topology.turned_by)
        lib = np if self.topology.elastic is False and not errors.traced(q) else jnp
        q = lib.asarray(q, dtype=float)
        angles = q[self.topology.angles]
        relative = angles - lib.where(above >= 0, angles[np.maximum(above, 0)], 0.0) - self._slopes(q)
        return jnp.asarray(lib.concatenate([q[:nb], relative, q[nb + len(above) :]]))

    def _slopes(self, q: Vector) -> Any:
        """By how much the section that carries each joint has turned against its link [rad]."""
        top = self.topology
        if not top.elastic:
            return 0.0
        slopes = []
        for k, parent in enumerate(top.parents):
            reach = self.numbers.hang_reach[k]
            if reach is None:
                slopes.append(jnp.asarray(0.0))
            else:
                slopes.append(reach.slope @ q[np.asarray(top.mode_index(parent), dtype=int)])
        return jnp.stack(slopes)

    def to_absolute(self, q: Float[Array, " dof"]) -> Float[Array, " dof"]:
        """The inverse of `to_relative`."""
        errors.vector("mechanism", "q", q, self.dof)
        nb, topology = self.topology.base_dof, self.topology
        if topology.sliding:
            return slid_to_absolute(topology, q)
        summed = walk.outward(
            topology,
            lambda own, parent: (own[0] + parent[0],),
            [(0.0,)] * len(topology.free),
            walk.per_link(topology, q[topology.angles] + self._slopes(q)),
        )
        return jnp.concatenate([q[:nb], *walk.columns(topology, summed), q[nb + topology.links :]])

    def efforts_to_absolute(self, efforts: Float[Array, " dof"]) -> Float[Array, " dof"]:
        """Generalized forces on the absolute angles from those on the relative ones (joint torques).

        A joint's torque turns its link and reacts on the parent: the transpose of `to_relative`.
        """
        nb, children = self.topology.base_dof, self.topology.turned
        torques = efforts[self.topology.angles]
        # A chain needs no scatter, which is slow in batches: one child is read, only further ones are added up.
        first = np.asarray([c[0] if c else -1 for c in children])
        total = torques - jnp.where(first >= 0, torques[np.maximum(first, 0)], 0.0)
        more = [(k, c) for k, others in enumerate(children) for c in others[1:]]
        if more:
            k, c = np.asarray(more).T
            total = total.at[k].add(-torques[c])
        whole = jnp.concatenate([efforts[:nb], total, efforts[nb + self.topology.links :]])
        for k, reach in enumerate(self.numbers.hang_reach):  # the reaction also bends an elastic parent
            if reach is not None:
                at = np.asarray(self.topology.mode_index(self.topology.parents[k]), dtype=int)
                whole = whole.at[at].add(-torques[k] * reach.slope)
        return whole

    # -- new mechanisms --------------------------------------------------------------------------------------------

    def weld(self, link: str, body: AbstractBody, at: Point | None = None, angle: Real = 0.0) -> Mechanism:
        """A new mechanism in which `body` (a payload, a captured object) is rigidly fixed to a link.

        `at` [m] is where the body's origin sits in the link's frame (the link's tip by default), `angle` [rad] the
        body's orientation in it. Sites, tip and joints of the link stay where they are.
        """
        numbers, topology = welded(self.numbers, self.topology, link, body, at, angle)
        return mechanism_of(numbers, topology, self.recipe.welded(Weld(link, body, at, angle)))

    _repr_html_ = registry.shown

    def __repr__(self) -> str:
        return table(self.numbers, self.topology)


def Arm(links: LinksLike, base: Given = (0.0, 0.0)) -> Mechanism:
    """A mechanism on a fixed pivot at `base` = (x, y) [m]: `Mechanism(links, base=Fixed(x, y))`."""
    errors.vector("Arm", "base", base, 2)
    return Mechanism(links, base=Fixed(base[0], base[1]))


def mechanism_of(numbers: Numbers, topology: Topology, recipe: Recipe | None = None) -> Mechanism:
    """A mechanism from its two halves, past the constructor that takes links."""
    made = object.__new__(Mechanism)
    object.__setattr__(made, "recipe", recipe or Recipe())
    object.__setattr__(made, "numbers", numbers)
    object.__setattr__(made, "topology", topology)
    return made


def require_float64() -> None:
    """Contact stiffness times micrometres leaves nothing for float32 to hold."""
    if not jax.config.read("jax_enable_x64"):
        raise errors.CaromError(
            "JAX is set to 32-bit numbers, too coarse for impacts; "
            "remove jax_enable_x64=False, or call jax.config.update('jax_enable_x64', True)"
        )
