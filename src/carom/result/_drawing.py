"""The geometry of a run: what films and the report's viewer draw, as plain arrays over time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._arguments import ClipsLike
from ..contact.surfaces._outline import Box, box_around
from ..hybrid.reporting import ContactReport, Line
from ..hybrid.world import World
from ..mechanism import Mechanism
from ..quantities import Times
from ._clip import Carried, Clip, clips_of
from ._dense import states
from ._signals import ContactSignals, contact_signals
from ._skeleton import Skeleton


@dataclasses.dataclass(frozen=True)
class LinkLine:
    """A link: its polyline, (times, points, 2) [m].

    `kind` is 'rod', 'beam', 'point', 'body' or 'disk'; a disk has a radius [m] and its line is a spoke, from the centre
    to the rim; a body of no extent has its radius of gyration.
    """

    name: str
    kind: str
    radius: float
    points: np.ndarray


@dataclasses.dataclass(frozen=True)
class Round:
    """What touches: a round tip of a radius [m] (zero: a point) at one place, a bar between two, a ring's inside."""

    name: str
    kind: str  # 'tip', 'bar', 'ring', 'outline'
    radius: float
    points: np.ndarray  # (times, 1 or 2, 2), or all points of an outline


@dataclasses.dataclass(frozen=True)
class SurfaceLine:
    """A surface, free side to the left: (points, 2), or (times, points, 2) if it moves [m]."""

    name: str
    points: np.ndarray

    def at(self, frame: int) -> np.ndarray:
        return self.points[frame] if self.points.ndim == 3 else self.points


@dataclasses.dataclass(frozen=True)
class ContactForce:
    """A contact: its point (times, 2) [m], the force on the mechanism (times, 2) [N], and all its signals."""

    name: str
    point: np.ndarray
    force: np.ndarray
    signals: ContactSignals


@dataclasses.dataclass(frozen=True)
class Part:
    """Everything to be drawn of one clip, over its share of the times."""

    clip: Clip
    t: np.ndarray  # [s], common time
    links: list[LinkLine]
    pins: np.ndarray  # joints (times, pins, 2)
    bases: np.ndarray  # fixed pivots (bases, 2)
    rounds: list[Round]
    springs: list[np.ndarray]  # (times, 2, 2)
    tips: list[np.ndarray]  # ends of the trees, whose traces are of interest (times, 2)
    contacts: list[ContactForce]
    surfaces: list[SurfaceLine]


@dataclasses.dataclass(frozen=True)
class Drawing:
    """All parts, and a box around everything that moves."""

    box: Box
    parts: list[Part]

    @cached_property
    def largest_force(self) -> float:
        """[N], of all contacts."""
        sizes = [float(np.max(np.hypot(*c.force.T))) for part in self.parts for c in part.contacts]
        return max(sizes, default=0.0)

    @property
    def t(self) -> np.ndarray:
        return np.concatenate([part.t for part in self.parts])


def drawing(clips: ClipsLike, times: Times, forces: bool = True) -> Drawing:
    """Geometry at common times [s]; where two clips meet the time belongs to the later one.

    `forces=False` leaves out contact forces, which cost more than all the rest.
    """
    clips, times = clips_of(clips), np.atleast_1d(np.asarray(times, dtype=float))
    begins = np.array([clip.begin for clip in clips])
    owner = np.clip(np.searchsorted(begins, times, side="right") - 1, 0, len(clips) - 1)
    shares = [(clip, times[owner == k]) for k, clip in enumerate(clips)]
    return drawing_of([share for share in shares if len(share[1])], forces)


def drawing_of(shares: Sequence[tuple[Clip, np.ndarray]], forces: bool = True) -> Drawing:
    """Geometry of clips, each at its own times [s]."""
    parts = [_part(clip, times, forces) for clip, times in shares]
    box = _view(parts)
    return Drawing(box, [dataclasses.replace(part, surfaces=_surfaces(part, box)) for part in parts])


def standing(world: World, q: np.ndarray) -> Drawing:
    """Geometry of a world that stands still at coordinates `q`."""
    clip, at = Clip(SimpleNamespace(world=world, t=np.zeros(2))), np.zeros(1)
    part = _placed(clip, at, q[None], [])
    return Drawing(_view([part]), [part])


def _part(clip: Clip, times: np.ndarray, forces: bool) -> Part:
    return _placed(clip, times, states(clip.result, clip.local(times)).q, _contacts(clip, times) if forces else [])


def _placed(clip: Clip, times: np.ndarray, q: np.ndarray, contacts: list[ContactForce]) -> Part:
    result, m = clip.result, clip.result.world.mechanism
    body, top = Skeleton(m, q), m.topology
    joints = [k for k in top.hinged if top.parents[k] >= 0 or not top.free[top.trees[k]]]
    fixed = [k for k in joints if top.parents[k] < 0]
    place, held = clip.place, result.world.constraints
    pivots = [body.origin[k][0] for k in fixed]
    seen = [shape for contact in result.world.contacts for shape in contact.pair.shapes]
    shaped = {site.link for shape in seen if shape.outline is not None for site in shape.sites}
    pivots += [np.asarray(c.pivot, dtype=float) for c in held if c.pivot is not None]
    return Part(
        clip=clip,
        t=times,
        links=[link_line(clip, body, k, k in shaped) for k in range(top.links)]
        + [_carried(clip, body, c) for c in clip.carried],
        pins=place(_stacked([*(body.origin[k] for k in joints), *_pinned(m, body, held)], len(times))),
        bases=place(np.stack(pivots)) if pivots else np.zeros((0, 2)),
        rounds=_once(r for contact in result.world.contacts for r in _rounds(clip, body, contact)),
        springs=[_line(clip, body, line) for a in result.world.automata for line in a.report.lines],
        tips=[place(body.site(_last_tip(m, tree))) for tree in range(len(top.free))],
        contacts=contacts,
        surfaces=[],
    )


def _pinned(m: Mechanism, body: Skeleton, held: Sequence[Any]) -> list[np.ndarray]:
    """Where constraints hold sites."""
    return [body.site(m.topology.site_names.index(name)) for constraint in held for name in constraint.sites]


# -- links -------------------------------------------------------------------------------------------------------------


def _stacked(columns: list[np.ndarray], count: int) -> np.ndarray:
    """(times, columns, 2), also of no columns."""
    return np.stack(columns, axis=1) if columns else np.zeros((count, 0, 2))


def _last_tip(mechanism: Mechanism, tree: int) -> int:
    """The site at the tip of a tree's last link."""
    top = mechanism.topology
    last = max(k for k in range(top.links) if top.trees[k] == tree)
    return top.site_names.index(f"{top.names[last]}.tip")


def link_line(clip: Clip, body: Skeleton, k: int, shaped: bool = False) -> LinkLine:
    """A link; one without extent that is `shaped`, by the outline of a contact, is a dot."""
    m = body.mechanism
    n, top = body.numbers, m.topology
    name, kind = top.names[k], top.shapes[k]
    com, mass, inertia = np.asarray(n.com[k]), float(n.mass[k]), float(n.inertia[k])
    gyration = float(np.sqrt(inertia / mass)) if mass > 0.0 else 0.0
    if kind == "disk":
        radius = float(np.sqrt(2.0)) * gyration  # of I = m r^2 / 2
        spoke = [body.point(k, com), body.point(k, com + np.array([radius, 0.0]))]
        return LinkLine(name, kind, radius, clip.place(np.stack(spoke, axis=1)))
    if top.modes[k]:
        return LinkLine(name, "beam", 0.0, clip.place(body.axis(k)))
    stops = [np.zeros(2), *(np.asarray(n.hang[c]) for c in top.children[k]), np.asarray(n.tip[k])]
    line = _through(stops)
    extent = max(float(np.hypot(*p)) for p in line)
    compact = extent < gyration  # a body that is more than its joints show
    if compact:
        gyration = 0.0 if shaped else gyration
        line = [com, com + np.array([gyration, 0.0])]
    points = clip.place(np.stack([body.point(k, p) for p in line], axis=1))
    return LinkLine(name, kind, gyration if compact else 0.0, points)


def _through(stops: list[np.ndarray]) -> list[np.ndarray]:
    """A line that visits all stops: along the axis where they lie on it, else out and back from the origin."""
    different = {tuple(np.round(p, 12)): p for p in stops}
    ways = list(different.values())
    if all(p[1] == 0.0 for p in ways):
        return sorted(ways, key=lambda p: float(p[0]))
    line = [np.zeros(2)]
    for p in ways:
        if np.any(p != 0.0):
            line += [p, np.zeros(2)]
    return line[:-1] if len(line) > 2 else line


def _carried(clip: Clip, body: Skeleton, c: Carried) -> LinkLine:
    k = body.mechanism.topology.link(c.link)
    spoke = [body.point(k, (c.x, c.y)), body.point(k, (c.x + c.radius, c.y))]
    return LinkLine(f"carried by {c.link}", "disk", float(c.radius), clip.place(np.stack(spoke, axis=1)))


def _line(clip: Clip, body: Skeleton, line: Line) -> np.ndarray:
    """Both ends, each a site or a point of the world: (times, 2, 2)."""
    ends = [np.broadcast_to(body.end(end), (len(body.q), 2)) for end in line.ends]
    return clip.place(np.stack(ends, axis=1))


# -- contacts ----------------------------------------------------------------------------------------------------------


def _once(rounds: Iterable[Round]) -> list[Round]:
    """Outlines once, though a shape may have a contact for each of its corners."""
    out = list[Round]()
    for r in rounds:
        if r.kind != "outline" or not any(np.array_equal(r.points, other.points) for other in out):
            out.append(r)
    return out


def _rounds(clip: Clip, body: Skeleton, contact: ContactReport) -> list[Round]:
    out = []
    for shape in contact.pair.shapes:
        if shape.outline is None:
            points = clip.place(np.stack([body.end(site) for site in shape.sites], axis=1))
        else:
            points = clip.place(body.fixed(shape.sites[0], shape.outline()))
        out.append(Round(contact.name, shape.kind, float(shape.radius), points))
    return out


def _contacts(clip: Clip, times: np.ndarray) -> list[ContactForce]:
    out = []
    for name, s in contact_signals(clip.result, clip.local(times)).items():
        fx, fy = s.normal * s.nx + s.friction * s.ny, s.normal * s.ny - s.friction * s.nx
        point, force = clip.place(np.stack([s.x, s.y], axis=1)), clip.turn(np.stack([fx, fy], axis=1))
        out.append(ContactForce(name, point, force, s))
    return out


def _view(parts: list[Part]) -> Box:
    """A box around everything that moves, with some air."""
    low_high: list[np.ndarray] = []
    for part in parts:
        for line in part.links:
            reach = line.radius if line.kind in ("disk", "body") else 0.0
            centre = line.points[:, :1] if reach else line.points
            low_high += [_corners(centre, reach)]
        low_high += [_corners(r.points, r.radius) for r in part.rounds]
        low_high += [_corners(s, 0.0) for s in part.springs]
    box = box_around(np.concatenate(low_high))
    air = 0.06 * max(box.right - box.left, box.top - box.bottom, 1e-9)
    return box.grown(air)


def _corners(points: np.ndarray, reach: float) -> np.ndarray:
    flat = points.reshape(-1, 2)
    return np.stack([np.min(flat, axis=0) - reach, np.max(flat, axis=0) + reach])


def _surfaces(part: Part, box: Box) -> list[SurfaceLine]:
    """Every surface once, though several sites may touch it."""
    clip, out = part.clip, list[SurfaceLine]()
    corners = np.array([[box.left, box.bottom], [box.right, box.top]]) - np.asarray(clip.shift)
    own = box_around(clip.turn(corners)).grown(0.5 * box.size)  # pictures are wider or higher than what moves
    world = clip.result.world
    grounds = [(contact.name, contact.pair.ground) for contact in world.contacts]
    grounds += [(constraint.describe(), constraint.ground) for constraint in world.constraints]
    for name, ground in grounds:
        for line in [] if ground is None else ground.outline(own, clip.local(part.t)):
            # Mirroring exchanges left and right: the line is walked the other way.
            placed = clip.place(line)[..., :: -1 if clip.mirrored else 1, :]
            if not any(np.array_equal(placed, other.points) for other in out):
                out.append(SurfaceLine(name, placed))
    return out
