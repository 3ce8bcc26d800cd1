"""A drawing of a mechanism or a world as it stands, in SVG: it needs no script, and takes the colours of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape

import numpy as np

from ..contact.surfaces._outline import Box, box_around
from ..hybrid.world import World
from ..quantities import Vector
from ..result._drawing import Part, standing

WIDE, TALL = 460.0, 260.0  # [px] at most
LEAST = 40.0  # [px] of a side
FAR = 12.0  # sizes of what is drawn: surfaces that are farther away are not shown


def sketch(world: World, q: Vector | None = None) -> str:
    """The world with coordinates `q`; all zero if left out."""
    at = np.zeros(world.mechanism.dof) if q is None else np.asarray(q, dtype=float)
    drawn = standing(world, at)
    (part,), box = drawn.parts, _with_grounds(world, drawn.box)
    wide, tall = max(box.right - box.left, 1e-12), max(box.top - box.bottom, 1e-12)
    scale = min(WIDE / wide, TALL / tall)
    size = max(wide * scale, LEAST), max(tall * scale, LEAST)

    def pixels(points: np.ndarray) -> np.ndarray:
        flat = np.asarray(points, dtype=float).reshape(-1, 2)
        return np.stack([(flat[:, 0] - box.left) * scale, (box.top - flat[:, 1]) * scale], axis=1)

    shapes = "".join(_shapes(part, _grounds(world, box), pixels, scale))
    told = f"{len(world.mechanism.topology.names)} links, {len(world.contacts)} contacts"
    return (
        f'<svg class="carom-sketch" role="img" aria-label="{escape(told)}" width="{size[0]:.0f}" '
        f'height="{size[1]:.0f}" viewBox="0 0 {size[0]:.1f} {size[1]:.1f}" fill="none" stroke="currentColor" '
        f'stroke-linecap="round" stroke-linejoin="round">{shapes}</svg>'
    )


def _grounds(world: World, box: Box) -> list[np.ndarray]:
    """Surfaces as lines, as far as they are in the box."""
    grounds = [c.pair.ground for c in world.contacts if c.pair.ground is not None]
    lines = [line for ground in grounds for line in ground.outline(box, np.zeros(1))]
    return [line[0] if line.ndim == 3 else line for line in lines]


def _with_grounds(world: World, box: Box) -> Box:
    """A box with some air, in which the nearest point of every surface is seen, unless it is far away."""
    centre = np.array([0.5 * (box.left + box.right), 0.5 * (box.bottom + box.top)])
    corners = [np.array([box.left, box.bottom]), np.array([box.right, box.top])]
    for line in _grounds(world, box.grown(FAR * box.size)):
        share = np.linspace(0.0, len(line) - 1.0, 50 * len(line))
        points = np.stack([np.interp(share, np.arange(len(line)), line[:, k]) for k in (0, 1)], axis=1)
        corners.append(points[np.argmin(np.hypot(*(points - centre).T))])
    around = box_around(np.stack(corners))
    return around.grown(0.06 * around.size)


def _shapes(
    part: Part, surfaces: Iterable[np.ndarray], pixels: Callable[[np.ndarray], np.ndarray], scale: float
) -> Iterable[str]:
    for surface in surfaces:
        yield _line(pixels(surface), "#7d756a", 1.5)
    for x, y in pixels(part.bases):
        yield _line(np.array([[x - 8, y + 13], [x, y], [x + 8, y + 13], [x - 8, y + 13]]), "#7d756a", 1.5)
    for spring in part.springs:
        yield _line(pixels(spring[0]), "#7d756a", 1.2, dashes="3 3")
    for link in part.links:
        points = pixels(link.points[0])
        if link.radius > 0.0:
            yield _circle(points[0], link.radius * scale, "#46566a", 1.5)
        yield _line(points, "#46566a", {"beam": 3.0, "disk": 1.2, "point": 1.5}.get(link.kind, 5.0))
        if link.kind == "point":
            yield _circle(points[-1], 6.0, "#46566a", 1.5, "#46566a")
    for ball in part.rounds:
        points = pixels(ball.points[0])
        if ball.kind in ("bar", "outline"):
            yield _line(points, "#c2342b", 1.5)
        else:
            yield _circle(points[0], max(ball.radius * scale, 2.5), "#c2342b", 1.2)
    for pin in pixels(part.pins[0]) if part.pins.size else ():
        yield _circle(pin, 3.0, "#46566a", 1.5, "#ffffff")


def _line(points: np.ndarray, tone: str, width: float, dashes: str = "") -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{path}" stroke="{tone}" stroke-width="{width:g}"{dashed}/>'


def _circle(centre: np.ndarray, radius: float, tone: str, width: float, fill: str = "none") -> str:
    return (
        f'<circle cx="{centre[0]:.1f}" cy="{centre[1]:.1f}" r="{radius:.1f}" stroke="{tone}" '
        f'stroke-width="{width:g}" fill="{fill}"/>'
    )
