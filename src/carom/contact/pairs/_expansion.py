"""Which pairs stand for two shapes, or for a shape and a surface.

A smooth curve has one nearest point. Shapes with corners are met at each of them: a box lands on two at once. Where
both sides have edges, or a surface may bulge into one, corners of both are looked at, and edges; a corner that meets a
corner is then there twice. Rigid contacts share what they hold together, but a compliant law would act twice.
"""

from __future__ import annotations

from typing import Any

from ... import errors
from ..shape import AbstractCornered, AbstractShape
from ..surfaces import AbstractSurface
from .pair import AbstractPair
from .shape_on_block import BlockCornerOnShape, SmoothOnBlock
from .shape_on_shape import CornerOnShape, SmoothOnShape
from .shape_on_surface import CornerOnSurface, EdgesOnSurface, SmoothOnSurface


def pairs_between(name: str, first: AbstractShape, against: Any, rigid: bool) -> list[tuple[str, AbstractPair]]:
    """Every pair, with the words that tell it from the others of the same contact."""
    if isinstance(against, AbstractSurface):
        return _on_surface(name, first, against, rigid)
    if not isinstance(against, AbstractShape):
        raise errors.CaromError(
            f"contact '{name}' is against a {type(against).__name__}; a shape meets a surface such as "
            "carom.Plane(height=0.0), or another shape such as carom.Ellipse(...)"
        )
    if first.site.link == against.site.link:
        raise errors.CaromError(
            f"contact '{name}' is between two shapes of one link; they cannot meet; take one of another link"
        )
    return _on_shape(name, first, against, rigid)


def _on_surface(name: str, shape: Any, surface: AbstractSurface, rigid: bool) -> list[tuple[str, AbstractPair]]:
    if surface.hull is not None:
        return _on_block(name, shape, surface, rigid)
    if shape.edges == 0:
        return [("", SmoothOnSurface(shape, surface, name))]
    if shape.edges > 1 and surface.relief == "round":
        return [("", EdgesOnSurface(shape, surface, None, name))]
    out = _numbered("corner", [CornerOnSurface(shape, surface, i, name) for i in range(shape.edges)])
    if shape.edges == 1 or surface.relief != "any":
        return out
    if not rigid:
        raise errors.CaromError(
            f"contact '{name}' has a compliant law, a shape with edges, and a {type(surface).__name__} that may bulge "
            "into them; where it meets a corner the force would count twice; use an impulsive law, or carom.Round "
            "shapes"
        )
    sides = range(1 if shape.edges == 2 else shape.edges)
    return out + _numbered("edge", [EdgesOnSurface(shape, surface, i, name) for i in sides])


def _on_block(name: str, shape: Any, surface: AbstractSurface, rigid: bool) -> list[tuple[str, AbstractPair]]:
    if shape.edges == 0:
        return [("", SmoothOnBlock(shape, surface, name))]
    own = _numbered("corner", [CornerOnSurface(shape, surface, i, name) for i in range(shape.edges)])
    if shape.edges == 1:
        return own
    _refuse_compliant(name, rigid)
    hull = surface.hull
    assert hull is not None
    errors.refuse_if(
        (shape.edges == 2) & (shape.radius + hull.radius <= 0.0),
        lambda: (
            f"contact '{name}' is between a bar without thickness and a Block with sharp corners; the distance of a "
            "corner from a line has no sign; give the bar a radius > 0, or the Block a rounding"
        ),
    )
    return own + _numbered("block's corner", [BlockCornerOnShape(shape, surface, i, name) for i in range(hull.edges)])


def _on_shape(name: str, first: Any, second: Any, rigid: bool) -> list[tuple[str, AbstractPair]]:
    if first.edges == 0:
        return [("", SmoothOnShape(first=first, second=second, group=name))]
    if second.edges == 0:
        return [("", SmoothOnShape(first=second, second=first, group=name, turned=True))]
    _refuse_thin(name, first, second)
    if second.edges == 1 < first.edges:
        return [("", CornerOnShape(second, first, 0, name, turned=True))]
    own = [CornerOnShape(first, second, i, name) for i in range(first.edges)]
    if first.edges == 1:
        return _numbered("corner", own)
    _refuse_compliant(name, rigid)
    other = [CornerOnShape(second, first, i, name, turned=True) for i in range(second.edges)]
    return [*_numbered("corner", own), *_numbered("other's corner", other)]


def _refuse_compliant(name: str, rigid: bool) -> None:
    if not rigid:
        raise errors.CaromError(
            f"contact '{name}' has a compliant law between two shapes with edges; where a corner meets a corner the "
            "force would count twice; use an impulsive law, or make one of them a carom.Round or carom.Ellipse"
        )


def _numbered(word: str, pairs: list[Any]) -> list[tuple[str, AbstractPair]]:
    return [("" if len(pairs) == 1 and word == "corner" else f"{word} {i + 1}", p) for i, p in enumerate(pairs)]


def _refuse_thin(name: str, first: AbstractCornered, second: AbstractCornered) -> None:
    """A line has two sides, and a point none: what meets them without thickness is never inside."""
    fewest = min(first.edges, second.edges)
    if fewest > 2 or (fewest == 1 and max(first.edges, second.edges) > 2):
        return
    errors.refuse_if(
        first.radius + second.radius <= 0.0,
        lambda: (
            f"contact '{name}' is between shapes without thickness, a bar or a point one of them; the distance of a "
            "corner from a line or point has no sign; give one of them a radius > 0"
        ),
    )
