"""Mechanisms: forests of planar links with absolute angles as coordinates.

y                 theta_2                     theta_k: angle of link k's axis from the world's x axis,
|               /                                      counter-clockwise positive [rad]
|      o-------o  link 2                      o: revolute joints
|     / link 1
|    /  theta_1
+---o----------- x
   base
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import errors
from . import walk
from .bodies import AbstractBody
from .flexible import Flexible, Reach, centre_and_inertia, integrated, joined, node_of, offset
from .link import BASE, Fixed, Free, Link
from .recipe import Recipe, Tree, Weld
from .topology import Topology

if TYPE_CHECKING:
    Bends = tuple[Flexible | None, ...]
    Reaches = tuple[Reach | None, ...]
else:  # checkers that look at one item at random would disturb tests that draw random mechanisms
    Bends = Reaches = tuple


class Numbers(eqx.Module):
    """Every number of a mechanism: traced leaves, so that changing one never compiles again."""

    mass: Float[Array, " links"]
    com: Float[Array, "links 2"]
    inertia: Float[Array, " links"]
    hang: Float[Array, "links 2"]  # where the link hangs, in its parent's frame (or relative to the base point)
    tip: Float[Array, "links 2"]
    stiffness: Float[Array, " links"]
    rest: Float[Array, " links"]
    damping: Float[Array, " links"]
    site: Float[Array, "sites 2"]
    pivot: Float[Array, "trees 2"]  # of fixed trees; zero for free ones
    # What bends, one entry each; None where the link is rigid
    flex: Bends  # per link
    hang_reach: Reaches  # per link: of the parent, at the point where the link hangs
    site_reach: Reaches  # per site


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
    """

    numbers: Numbers
    topology: Topology = eqx.field(static=True)
    recipe: Recipe = eqx.field(static=True)

    def __init__(self, links: Any, base: Fixed | Free | None = None) -> None:
        require_float64()
        base = Fixed() if base is None else base
        placed = _named(links)
        self.topology = _topology(placed, base)
        self.numbers = _numbers(placed, base, self.topology)
        self.recipe = Recipe(Tree(tuple(placed), base))
        _refuse_idle_links(self)

    # -- reading ---------------------------------------------------------------------------------------------------

    @property
    def dof(self) -> int:
        """Number of generalized coordinates."""
        return self.topology.dof

    @property
    def tip(self) -> Site:
        """Tip of the last link."""
        return self.site(f"{self.topology.names[-1]}.tip")

    def site(self, name: Any) -> Site:
        """The site of that name ('<link>.tip', or one given with `Link(sites=...)`)."""
        if isinstance(name, Site):  # it may come from another mechanism
            name = name.name
        errors.name_in("site", name, self.topology.site_names)
        index = self.topology.site_names.index(name)
        return Site(name, self.topology.site_links[index], index)

    def angles(self, q: Float[Array, " dof"], relative: bool = False, degrees: bool = False) -> Float[Array, " links"]:
        """Link angles of a coordinate vector (or rates of a velocity): absolute, or relative to the parent."""
        errors.vector("mechanism", "q", q, self.dof)
        angles = jnp.asarray(q)[self.topology.angles]
        if relative:
            angles = self.to_relative(jnp.asarray(q))[self.topology.angles]
        return jnp.rad2deg(angles) if degrees else angles

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
        self, angles: Any, base: Any = None, relative: bool = False, degrees: bool = False, bending: Any = None
    ) -> Float[Array, " dof"]:
        """Coordinate vector from link angles; with rates and base velocities, a velocity vector.

        `base` is (x, y) of every free tree, zero by default. `relative` angles are measured from the parent link.
        `bending` are the modal coordinates [m] of all elastic links, one after the other, zero by default.
        """
        errors.vector("mechanism", "angles", angles, self.topology.links)
        angles = jnp.asarray(angles, dtype=float)
        base = jnp.zeros(self.topology.base_dof) if base is None else jnp.ravel(jnp.asarray(base, dtype=float))
        errors.vector("mechanism", "base", base, self.topology.base_dof)
        count = sum(self.topology.modes)
        bend = jnp.zeros(count) if bending is None else jnp.ravel(jnp.asarray(bending, dtype=float))
        errors.vector("mechanism", "bending", bend, count)
        q = jnp.concatenate([base, jnp.deg2rad(angles) if degrees else angles, bend])
        return self.to_absolute(q) if relative else q

    def to_relative(self, q: Float[Array, " dof"]) -> Float[Array, " dof"]:
        """Replace absolute angles (or rates) by those relative to the parent. A constant linear map.

        On an elastic parent the joint sits on a section that has turned with the bending.
        """
        errors.vector("mechanism", "q", q, self.dof)
        nb, parents = self.topology.base_dof, np.asarray(self.topology.parents)
        angles = q[self.topology.angles]
        relative = angles - jnp.where(parents >= 0, angles[np.maximum(parents, 0)], 0.0) - self._slopes(q)
        return jnp.concatenate([q[:nb], relative, q[nb + len(parents) :]])

    def _slopes(self, q: Any) -> Any:
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
        nb, children = self.topology.base_dof, self.topology.children
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

    def weld(self, link: str, body: AbstractBody, at: Any = None, angle: Any = 0.0) -> Mechanism:
        """A new mechanism in which `body` (a payload, a captured object) is rigidly fixed to a link.

        `at` [m] is where the body's origin sits in the link's frame (the link's tip by default), `angle` [rad] the
        body's orientation in it. Sites, tip and joints of the link stay where they are.
        """
        k = self.topology.link(link)
        if not isinstance(body, AbstractBody):
            raise errors.CaromError(f"body welded to '{link}' is a {type(body).__name__}; it must be a Rod, Disk, ...")
        errors.number(f"weld to '{link}'", "angle", angle)
        old, recipe = self.numbers, self.recipe.welded(Weld(link, body, at, angle))
        if at is not None:
            errors.vector(f"weld to '{link}'", "at", at, 2)
        origin = old.tip[k] if at is None else jnp.asarray(at, dtype=float)
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        if body.flexible() is not None:
            raise errors.CaromError(
                f"body welded to '{link}' is an elastic {type(body).__name__}; only rigid bodies are welded; hang it "
                "on a joint with a stiff spring instead"
            )
        cx, cy = body.centre()
        centre = origin + jnp.stack([cos * cx - sin * cy, sin * cx + cos * cy])
        if old.flex[k] is not None:
            return self._welded_to_elastic(k, body, origin, centre, recipe)
        mass, com, inertia = _joined(
            (old.mass[k], old.com[k], old.inertia[k]), (body.mass, centre, body.inertia_about_centre())
        )
        numbers = eqx.tree_at(
            lambda n: (n.mass, n.com, n.inertia),
            old,
            (old.mass.at[k].set(mass), old.com.at[k].set(com), old.inertia.at[k].set(inertia)),
        )
        shapes = tuple("body" if i == k else s for i, s in enumerate(self.topology.shapes))
        return _mechanism(numbers, dataclasses.replace(self.topology, shapes=shapes), recipe)

    def _welded_to_elastic(self, k: int, body: AbstractBody, origin: Any, centre: Any, recipe: Recipe) -> Mechanism:
        """A payload on a beam moves and turns with the section that it is welded to."""
        old, shape = self.numbers, self.topology.shapes
        flex, reach = old.flex[k], self._reach_at(k, origin)
        assert flex is not None
        at_centre = offset(reach, centre[0] - origin[0], centre[1] - origin[1])
        nodes = joined(flex.nodes, node_of((centre[0], centre[1]), body.mass, body.inertia_about_centre(), at_centre))
        mass, com, inertia = centre_and_inertia(nodes)
        new = integrated(nodes, flex.stiffness, flex.damping)
        numbers = eqx.tree_at(
            lambda n: (n.mass, n.com, n.inertia, n.flex[k]),
            old,
            (old.mass.at[k].set(mass), old.com.at[k].set(com), old.inertia.at[k].set(inertia), new),
        )
        return _mechanism(numbers, dataclasses.replace(self.topology, shapes=shape), recipe)

    def _reach_at(self, k: int, point: Any) -> Reach:
        """Shapes of an elastic link at a point of it that is known: its tip, a site, a hanging point."""
        n, top = self.numbers, self.topology
        known = [(n.site[i], n.site_reach[i]) for i, owner in enumerate(top.site_links) if owner == k]
        known += [(n.hang[c], n.hang_reach[c]) for c in top.children[k]]
        for place, reach in known:
            values = errors.known((place, point))
            if values is not None and reach is not None and np.allclose(values[0], values[1], rtol=0.0, atol=1e-12):
                return reach
        raise errors.CaromError(
            f"a body is welded to elastic link '{top.names[k]}' at {np.asarray(point).tolist()}, where it has no site; "
            "give the link a site there: Link(body, sites={'payload': (x, y)})"
        )

    def __repr__(self) -> str:
        return _table(self)


def Arm(links: Any, base: Any = (0.0, 0.0)) -> Mechanism:
    """A mechanism on a fixed pivot at `base` = (x, y) [m]: `Mechanism(links, base=Fixed(x, y))`."""
    errors.vector("Arm", "base", base, 2)
    return Mechanism(links, base=Fixed(base[0], base[1]))


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
    )
    made_of = {name: part.recipe for name, part in parts}
    recipe = Recipe(made_of if all(isinstance(r.made_of, Tree) for r in made_of.values()) else None)
    return _mechanism(_side_by_side([part.numbers for _, part in parts]), topology, recipe)


def _side_by_side(parts: list[Numbers]) -> Numbers:
    """Columns one after the other; tuples of what bends likewise."""

    def together(name: str) -> Any:
        columns = [getattr(part, name) for part in parts]
        if isinstance(columns[0], tuple):
            return tuple(entry for column in columns for entry in column)
        return jnp.concatenate(columns)

    return Numbers(**{field.name: together(field.name) for field in dataclasses.fields(Numbers)})


def require_float64() -> None:
    """Contact stiffness times micrometres leaves nothing for float32 to hold."""
    if not jax.config.read("jax_enable_x64"):
        raise errors.CaromError(
            "JAX is set to 32-bit numbers, too coarse for impacts; "
            "remove jax_enable_x64=False, or call jax.config.update('jax_enable_x64', True)"
        )


# -- building ------------------------------------------------------------------------------------------------------


def _mechanism(numbers: Numbers, topology: Topology, recipe: Recipe | None = None) -> Mechanism:
    """A mechanism from its two halves, past the constructor that takes links."""
    made = object.__new__(Mechanism)
    object.__setattr__(made, "recipe", recipe or Recipe())
    object.__setattr__(made, "numbers", numbers)
    object.__setattr__(made, "topology", topology)
    return made


def _named(links: Any) -> list[Link]:
    """Give every link a name and refuse names that could not be told apart."""
    if isinstance(links, AbstractBody | Link):
        links = [links]
    if not isinstance(links, Sequence) or isinstance(links, str):
        raise errors.CaromError(f"links is a {type(links).__name__}; it must be a list of bodies or carom.Links")
    if len(links) == 0:
        raise errors.CaromError("links is empty; a mechanism needs at least one, such as [carom.Rod(1.0, 1.0)]")
    placed = []
    for i, item in enumerate(links):
        link = Link(item) if isinstance(item, AbstractBody) else item
        if not isinstance(link, Link):
            raise errors.CaromError(f"links[{i}] is a {type(item).__name__}; it must be a body or a carom.Link")
        name = link.name or f"link{i + 1}"
        placed.append(dataclasses.replace(link, name=name))
    for link in placed:
        if link.name == BASE or "." in str(link.name):
            raise errors.CaromError(f"a link is called '{link.name}'; '{BASE}' and names with a dot are reserved")
    _refuse_twice("link", [str(link.name) for link in placed])
    return placed


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise errors.CaromError(f"{names.count(name)} {what}s are called '{name}'; names must differ; rename one")


def _topology(placed: list[Link], base: Fixed | Free) -> Topology:
    names = tuple(str(link.name) for link in placed)
    parents = []
    for i, link in enumerate(placed):
        if link.parent is None:
            parents.append(i - 1)  # the one before; -1 is the base
        elif link.parent == BASE:
            parents.append(-1)
        else:
            errors.name_in(f"link (named as parent of '{link.name}')", link.parent, names)
            parents.append(names.index(link.parent))
    sites = [(f"{name}.tip", i) for i, name in enumerate(names)]
    sites += [(site, i) for i, link in enumerate(placed) for site in link.sites]
    _refuse_twice("site", [s for s, _ in sites])
    if not isinstance(base, Fixed | Free):
        raise errors.CaromError(f"base is a {type(base).__name__}; it must be carom.Fixed(x, y) or carom.Free()")
    if isinstance(base, Free):
        _refuse_offsets(placed, parents)
    topology = Topology(
        names=names,
        shapes=tuple(link.body.shape for link in placed),
        parents=tuple(parents),
        trees=(0,) * len(placed),
        free=(isinstance(base, Free),),
        tree_names=(BASE,),
        site_names=tuple(s for s, _ in sites),
        site_links=tuple(i for _, i in sites),
        modes=tuple(0 if (f := link.body.flexible()) is None else len(f.along) for link in placed),
    )
    _ = topology.order  # refuses circles
    return topology


def _refuse_offsets(placed: list[Link], parents: list[int]) -> None:
    """A free point has no orientation, so nothing can hang beside it."""
    for link, parent in zip(placed, parents, strict=True):
        at = None if link.at is None else errors.known(link.at)
        if parent < 0 and at is not None and np.any(at != 0.0):
            raise errors.CaromError(
                f"link '{link.name}' hangs at ({at[0]:g}, {at[1]:g}) of a free base, which is a point with nothing "
                "beside it; hang it at (0, 0), or make the first link a Body and hang the others on that"
            )


def _numbers(placed: list[Link], base: Fixed | Free, topology: Topology) -> Numbers:
    def stack(values: Sequence[Any]) -> Array:
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values)):
            return jnp.stack(
                [
                    jnp.stack([jnp.asarray(x, float) for x in v]) if isinstance(v, tuple) else jnp.asarray(v, float)
                    for v in values
                ]
            )
        return jnp.asarray(np.asarray(values, dtype=float))  # one transfer instead of one per link

    def hang(link: Link, parent: int) -> tuple[Any, Any]:
        if link.at is not None:
            return link.at[0], link.at[1]
        return placed[parent].body.end() if parent >= 0 else (0.0, 0.0)

    sites = [link.body.end() for link in placed]
    sites += [(point[0], point[1]) for link in placed for point in link.sites.values()]
    hangs = [hang(link, p) for link, p in zip(placed, topology.parents, strict=True)]
    owners = [placed[i].body for i in topology.site_links]
    above = [None if p < 0 else placed[p].body for p in topology.parents]
    pivot = (base.x, base.y) if isinstance(base, Fixed) else (0.0, 0.0)
    return Numbers(
        mass=stack([link.body.mass for link in placed]),
        com=stack([link.body.centre() for link in placed]),
        inertia=stack([link.body.inertia_about_centre() for link in placed]),
        hang=stack(hangs),
        tip=stack([link.body.end() for link in placed]),
        stiffness=stack([link.joint.stiffness for link in placed]),
        rest=stack([link.joint.rest for link in placed]),
        damping=stack([link.joint.damping for link in placed]),
        site=stack(sites),
        pivot=stack([pivot]),
        flex=tuple(link.body.flexible() for link in placed),
        hang_reach=tuple(None if b is None else b.reach(*at) for b, at in zip(above, hangs, strict=True)),
        site_reach=tuple(b.reach(*at) for b, at in zip(owners, sites, strict=True)),
    )


def _refuse_idle_links(mechanism: Mechanism) -> None:
    """A link whose turning moves nothing (no extent, no inertia, everything at its origin) has no equation."""
    numbers, topology = mechanism.numbers, mechanism.topology
    parts = [errors.known(x) for x in (numbers.mass, numbers.com, numbers.inertia, numbers.hang, numbers.site)]
    if any(p is None for p in parts):
        return
    mass, com, inertia, hang, site = (p for p in parts if p is not None)
    for k, name in enumerate(topology.names):
        points = [hang[c] for c in topology.children[k]]
        points += [site[i] for i, owner in enumerate(topology.site_links) if owner == k]
        moves_a_point = any(np.any(p != 0) for p in points)
        if inertia[k] == 0 and not np.any(mass[k] * com[k]) and not moves_a_point:
            raise errors.CaromError(
                f"link '{name}' has zero length and no moment of inertia; turning it moves nothing, so its angle has "
                "no equation; give it a length or an inertia, or weld it to another link with mechanism.weld"
            )


def _joined(a: tuple[Any, Any, Any], b: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Mass, centre and central inertia of two bodies (mass, centre, central inertia) fixed to each other."""
    mass = a[0] + b[0]
    share = b[0] / jnp.where(mass == 0, 1.0, mass)
    apart = b[1] - a[1]
    return mass, a[1] + share * apart, a[2] + b[2] + a[0] * share * (apart[0] ** 2 + apart[1] ** 2)


# -- printing ------------------------------------------------------------------------------------------------------


def _table(mechanism: Mechanism) -> str:
    top = mechanism.topology
    plural = lambda n, word: f"{n} {word}{'s' if n != 1 else ''}"  # noqa: E731
    head = f"Mechanism: {plural(top.links, 'link')}, {plural(top.dof, 'degree')} of freedom"
    try:
        numbers = jax.tree.map(np.asarray, mechanism.numbers)
    except Exception:  # traced or batched numbers have no printable value
        return f"<{head}: {', '.join(top.names)}; numbers are traced>"
    if numbers.mass.ndim != 1:
        return f"<{head}: {', '.join(top.names)}; a batch of {numbers.mass.shape[:-1]}>"
    lines = [head]
    for tree, free in enumerate(top.free):
        where = "free" if free else "fixed at ({:g}, {:g}) m".format(*numbers.pivot[tree])
        lines.append(f"  {top.tree_names[tree]}: {where}")
    lines.append(
        f"  {'link':12} {'shape':6} {'hangs on':12} {'at [m]':>16} {'mass [kg]':>10} {'com [m]':>16} "
        f"{'inertia [kg m^2]':>17}"
    )
    for k in range(min(top.links, 20)):
        parent = top.names[top.parents[k]] if top.parents[k] >= 0 else top.tree_names[top.trees[k]]
        at = "({:g}, {:g})".format(*numbers.hang[k])
        com = "({:g}, {:g})".format(*numbers.com[k])
        lines.append(
            f"  {top.names[k]:12} {top.shapes[k]:6} {parent:12} {at:>16} {numbers.mass[k]:10g} {com:>16} "
            f"{numbers.inertia[k]:17g}"
        )
    if top.links > 20:
        lines.append(f"  ... and {top.links - 20} more")
    return "\n".join(lines)
