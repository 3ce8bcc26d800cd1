"""Contacts of shapes: one line that becomes as many contacts as the shapes have places to touch."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import numpy as np

from .. import errors
from .._arguments import AgainstLike, DuringLike, FrictionLike, NormalLike, OutlinesLike, SurfacesLike, TouchingLike
from ..hybrid._member import AbstractUnplaced
from ..mechanism import Mechanism
from ..quantities import Real, Reals
from .contact import Contact, compliant
from .during import during_of
from .normal import AbstractNormalLaw
from .pairs._expansion import pairs_between
from .shape import AbstractShape, Capsule, Round
from .surfaces import AbstractSurface


class ShapeContact(AbstractUnplaced, Contact):
    """A shape against a surface or another shape; `carom.Contact` makes it, and the world its single contacts."""

    shape: AbstractShape
    against: Any
    normal: Any
    friction: Any
    name: str = eqx.field(static=True)
    during: Any = eqx.field(static=True)

    def __init__(self, shape: AbstractShape, against: AgainstLike, *rest: Any, during: DuringLike = None) -> None:
        self.shape, self.against = shape, against
        self.normal, self.friction, self.name = rest
        self.during = during_of(self.name, during)

    def placed(self, mechanism: Mechanism) -> tuple[Any, ...]:
        from .impact import RigidContact  # which is a contact

        shape = self.shape.placed(mechanism)
        against = self.against.placed(mechanism) if isinstance(self.against, AbstractShape) else self.against
        rigid = not isinstance(self.normal, AbstractNormalLaw)
        pairs = [
            (f"{self.name} {words}".strip(), pair) for words, pair in pairs_between(self.name, shape, against, rigid)
        ]
        laws = (None, self.normal, self.friction)
        if rigid:
            return tuple(RigidContact(pair, *laws, name=name, during=self.during) for name, pair in pairs)
        return tuple(compliant(pair, *laws, 0.0, 0.0, name, self.during) for name, pair in pairs)


def shape_contact(
    shape: TouchingLike,
    against: AgainstLike,
    normal: NormalLike,
    friction: FrictionLike,
    radii: Reals,
    name: str | None,
    during: DuringLike = None,
) -> ShapeContact:
    """What `carom.Contact` makes of shapes; a site opposite to a shape is a point there."""
    word = name or " on ".join(_word(x) for x in (shape, against) if not isinstance(x, AbstractSurface))
    if any(errors.known(r) is None or errors.known(r) != 0.0 for r in radii):
        raise errors.CaromError(f"contact '{word}' has a shape and a radius; shapes have their own size; leave it out")
    if not isinstance(shape, AbstractShape):
        shape = Round(shape)
    if not isinstance(against, AbstractShape | AbstractSurface):
        against = Round(against)
    return ShapeContact(shape, against, normal, friction, word, during=during)


def _word(thing: Any) -> str:
    site = thing.site if isinstance(thing, AbstractShape) else thing
    return str(getattr(site, "name", site))


def _named_links(mechanism: Mechanism, owner: str, names: Sequence[str]) -> set[int]:
    if isinstance(names, str):
        names = (names,)
    for name in names:
        errors.name_in(f"link that {owner} excludes", name, mechanism.topology.names)
    return {mechanism.topology.names.index(name) for name in names}


class Ground(AbstractUnplaced):
    """Whole-body contact: every link of a world's mechanism against one surface or several, by one law.

    - `surface`: a surface, or a list of them
    - `normal`, `friction`: laws, as of `carom.Contact`
    - `shapes`: a list of shapes, of any links. Links without one have their own: a rod its ends, a disk its rim, a
      point mass its place; any other body must be given one
    - `radius` [m]: half the thickness of rods
    - `exclude`: names of links that do not touch

        carom.World(robot, ground=carom.Ground(carom.Plane(height=0.0), carom.Newton(0.2), carom.Coulomb(0.5)))
    """

    def __init__(
        self,
        surface: SurfacesLike,
        normal: NormalLike,
        friction: FrictionLike = None,
        *,
        shapes: OutlinesLike = (),
        radius: Real = 0.0,
        exclude: Sequence[str] = (),
        name: str = "ground",
    ) -> None:
        self.surfaces = tuple(surface) if isinstance(surface, list | tuple) else (surface,)
        for each in self.surfaces:
            if not isinstance(each, AbstractSurface):
                raise errors.CaromError(
                    f"surface of Ground is a {type(each).__name__}; it must be one such as carom.Plane(height=0.0)"
                )
        errors.number("Ground", "radius", radius, least=0.0)
        self.shapes = _shapes("Ground", shapes)
        self.normal, self.friction, self.radius = normal, friction, radius
        self.exclude, self.name = exclude, name

    def placed(self, mechanism: Mechanism) -> tuple[Any, ...]:
        top, left_out = mechanism.topology, _named_links(mechanism, "Ground", self.exclude)
        shapes = [shape.placed(mechanism) for shape in self.shapes]
        own = {shape.site.link for shape in shapes}
        for k in range(top.links):
            if k not in own and k not in left_out:
                shapes += _own_shapes(mechanism, k, self.radius)
        shapes = [shape for shape in shapes if shape.site.link not in left_out]
        many, out = len(self.surfaces) > 1, list[Any]()
        for i, surface in enumerate(self.surfaces):
            place = f"{self.name} {i + 1}" if many else self.name
            for shape, word in zip(shapes, _words(top.names, shapes), strict=True):
                made = ShapeContact(shape, surface, self.normal, self.friction, f"{place} {word}")
                out += made.placed(mechanism)
        return tuple(out)


def _words(names: tuple[str, ...], shapes: list[AbstractShape]) -> list[str]:
    """The link of every shape, counted where it has several."""
    links = [shape.site.link for shape in shapes]
    return [names[k] if links.count(k) == 1 else f"{names[k]}.{links[: i + 1].count(k)}" for i, k in enumerate(links)]


def _own_shapes(mechanism: Mechanism, k: int, radius: Real) -> list[AbstractShape]:
    """What a link without a shape touches with. A joint on another link belongs to that one, a fixed pivot to none."""
    top, n = mechanism.topology, mechanism.numbers
    tip = mechanism.site(f"{top.names[k]}.tip")
    if top.shapes[k] == "disk":
        return [Round(tip, np.sqrt(2.0) * (n.inertia[k] / n.mass[k]) ** 0.5)]
    if top.shapes[k] == "point":
        return [Round(tip, radius)]
    if top.shapes[k] not in ("rod", "beam"):
        raise errors.CaromError(
            f"Ground has no shape for link '{top.names[k]}', of which only mass and inertia are known; give it one, "
            f"shapes=[carom.Polygon('{tip.name}', ...)], or exclude=['{top.names[k]}']"
        )
    loose = k in top.loose and not top.modes[k]
    return [Capsule(tip, -n.tip[k], (0.0, 0.0), radius)] if loose else [Round(tip, radius)]


def _shapes(owner: str, shapes: Any) -> tuple[AbstractShape, ...]:
    if isinstance(shapes, AbstractShape):
        shapes = (shapes,)
    if isinstance(shapes, Mapping):
        shapes = tuple(shapes.values())
    for shape in shapes:
        if not isinstance(shape, AbstractShape):
            raise errors.CaromError(
                f"shapes of {owner} holds a {type(shape).__name__}; it must hold shapes, such as "
                "carom.Round('link.tip', 0.1)"
            )
    return tuple(shapes)


class Among(AbstractUnplaced):
    """Contacts between all shapes of a list that belong to different links, but not to a link and its parent.

    - `exclude`: pairs of link names that do not touch, [("left", "right")]

        contacts=carom.Among([carom.Round("a.tip", 0.1), carom.Round("b.tip", 0.1)], carom.Newton(0.8))
    """

    def __init__(
        self,
        shapes: OutlinesLike,
        normal: NormalLike,
        friction: FrictionLike = None,
        *,
        exclude: Sequence[tuple[str, str]] = (),
        name: str = "among",
    ) -> None:
        self.shapes = _shapes("Among", shapes)
        self.normal, self.friction, self.exclude, self.name = normal, friction, exclude, name
        for pair in exclude:
            if isinstance(pair, str) or len(pair) != 2:
                raise errors.CaromError(f"exclude of Among holds {pair!r}; it must hold pairs of links, ('a', 'b')")

    def placed(self, mechanism: Mechanism) -> tuple[Any, ...]:
        top, out = mechanism.topology, list[Any]()
        apart = [_named_links(mechanism, "Among", pair) for pair in self.exclude]
        shapes = [shape.placed(mechanism) for shape in self.shapes]
        words = _words(top.names, shapes)
        for (a, first), (b, second) in itertools.combinations(zip(shapes, words, strict=True), 2):
            i, j = a.site.link, b.site.link
            if i != j and i != top.parents[j] and j != top.parents[i] and {i, j} not in apart:
                name = f"{self.name} {first} - {second}"
                out += ShapeContact(a, b, self.normal, self.friction, name).placed(mechanism)
        return tuple(out)
