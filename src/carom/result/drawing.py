"""The geometry of a run: what films and the report's viewer draw, as plain arrays over time.

    clips = [Clip(first), Clip(second, t0=2.0, mirrored=True, shift=(0.5, 0.0))]

A clip is one simulated stretch in a time and a frame of the ground that several stretches share: a crawler's steps,
each with another foot held, or the motion before and after a capture.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..contact import AbstractPair
from ..contact.pairs.disk_on_disk import DiskOnDisk
from ..contact.pairs.site_on_segment import SiteOnSegment
from ..contact.pairs.site_on_surface import SiteOnSurface
from ..element import Spring
from ..mechanism import Mechanism
from .dense import states
from .outline import Box, box_around, outline
from .signals import ContactSignals, contact_signals

BENDS = 13  # points of an elastic link's axis


class Carried(NamedTuple):
    """A disk of a radius [m] that is welded to a link, its centre at (x, y) [m] in the link's frame."""

    link: str
    x: float
    y: float
    radius: float


@dataclasses.dataclass(frozen=True)
class Clip:
    """One run, placed.

    - `t0` [s]: when it begins; `shift` (x, y) [m]: where its origin lies
    - `mirrored`: its x axis points to the left
    - `carried`: round bodies that belong to a link and are to be seen
    """

    result: Any
    t0: float = 0.0
    mirrored: bool = False
    shift: tuple[float, float] = (0.0, 0.0)
    carried: tuple[Carried, ...] = ()

    def __post_init__(self) -> None:
        errors.number("Clip", "t0", self.t0)
        errors.vector("Clip", "shift", self.shift, 2)

    @property
    def begin(self) -> float:
        return self.t0

    @property
    def end(self) -> float:
        return self.t0 + float(self.result.t[-1]) - float(self.result.t[0])

    def local(self, times: Any) -> np.ndarray:
        """The run's own time [s]."""
        first, last = float(self.result.t[0]), float(self.result.t[-1])
        return np.clip(np.asarray(times, dtype=float) - self.t0 + first, first, last)

    def place(self, points: np.ndarray) -> np.ndarray:
        """Points (.., 2) of the run in the common frame."""
        return self.turn(points) + np.asarray(self.shift, dtype=float)

    def turn(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors (.., 2) of the run in the common frame."""
        return vectors * np.array([-1.0 if self.mirrored else 1.0, 1.0])


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
    kind: str  # 'tip', 'bar', 'ring'
    radius: float
    points: np.ndarray  # (times, 1 or 2, 2)


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


def clips_of(given: Any) -> tuple[Clip, ...]:
    """Clips from a result, a clip, or several of either; in the order of time."""
    items = given if isinstance(given, Sequence) else (given,)
    clips = tuple(item if isinstance(item, Clip) else Clip(item) for item in items)
    if not clips:
        raise errors.CaromError("there is nothing to draw: clips is empty; give a result, or a Clip of one")
    for clip in clips:
        if not hasattr(clip.result, "world"):
            raise errors.CaromError(
                f"a clip holds a {type(clip.result).__name__}; it must hold what carom.simulate returned"
            )
    return tuple(sorted(clips, key=lambda clip: clip.t0))


def drawing(clips: Any, times: Any, forces: bool = True) -> Drawing:
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


def _part(clip: Clip, times: np.ndarray, forces: bool) -> Part:
    result, m = clip.result, clip.result.world.mechanism
    body = Skeleton(m, states(result, clip.local(times)).q)
    top = m.topology
    joints = [k for k in range(top.links) if top.parents[k] >= 0 or not top.free[top.trees[k]]]
    fixed = [k for k in joints if top.parents[k] < 0]
    place = clip.place
    return Part(
        clip=clip,
        t=times,
        links=[link_line(clip, body, k) for k in range(top.links)] + [_carried(clip, body, c) for c in clip.carried],
        pins=place(_stacked([body.origin[k] for k in joints], len(times))),
        bases=place(np.stack([body.origin[k][0] for k in fixed])) if fixed else np.zeros((0, 2)),
        rounds=[r for name, pair in pairs(result.world) for r in _rounds(clip, body, name, pair)],
        springs=[_spring(clip, body, a) for a in result.world.automata if isinstance(a, Spring)],
        tips=[place(body.site(_last_tip(m, tree))) for tree in range(len(top.free))],
        contacts=_contacts(clip, times) if forces else [],
        surfaces=[],
    )


def pairs(world: Any) -> list[tuple[str, AbstractPair]]:
    """Every contact of a world: its name and its pair."""
    return [pair for automaton in world.automata for pair in automaton.pairs]


# -- links -------------------------------------------------------------------------------------------------------------


class Skeleton:
    """Where the links of a mechanism are, for coordinates (times, dof): plain NumPy, nothing to compile."""

    def __init__(self, mechanism: Mechanism, q: np.ndarray) -> None:
        n, top = mechanism.numbers, mechanism.topology
        self.mechanism, self.q = mechanism, q
        angle = q[:, top.angles]
        self.cos, self.sin = np.cos(angle), np.sin(angle)
        self.origin: list[Any] = [None] * top.links
        for k in top.order:
            parent, at = top.parents[k], top.base_index(top.trees[k])
            hang = np.asarray(n.hang[k])
            if parent >= 0:
                self.origin[k] = self.point(parent, hang, n.hang_reach[k])
            elif at is None:
                self.origin[k] = np.broadcast_to(np.asarray(n.pivot[top.trees[k]]) + hang, (len(q), 2))
            else:
                self.origin[k] = q[:, at : at + 2] + hang

    def point(self, link: int, at: Any, reach: Any = None) -> np.ndarray:
        """A point (x, y) of the straight link, where the bent one has it: (times, 2)."""
        own = np.broadcast_to(np.asarray(at, dtype=float), (len(self.q), 2))
        if reach is not None:
            own = own + self._bent(link, np.asarray(reach.shape), np.asarray(reach.short))
        return self.turned(link, own)

    def turned(self, link: int, own: np.ndarray) -> np.ndarray:
        cos, sin = self.cos[:, link], self.sin[:, link]
        x, y = own[..., 0], own[..., 1]
        return self.origin[link] + np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)

    def _bent(self, link: int, shape: np.ndarray, short: np.ndarray) -> np.ndarray:
        """Displacement of a point by the bending: sum d_j u_j, and back along the axis by d^T H d / 2."""
        d = self.q[:, list(self.mechanism.topology.mode_index(link))]
        moved = d @ shape
        moved[:, 0] -= 0.5 * np.einsum("ti,ij,tj->t", d, short, d)
        return moved

    def site(self, index: int) -> np.ndarray:
        n, top = self.mechanism.numbers, self.mechanism.topology
        return self.point(top.site_links[index], n.site[index], n.site_reach[index])

    def axis(self, link: int) -> np.ndarray:
        """The bent axis of an elastic link: (times, points, 2)."""
        n = self.mechanism.numbers
        flex = n.flex[link]
        assert flex is not None
        nodes = flex.nodes
        place = np.asarray(nodes.place)
        # The quadrature's nodes on the axis, not those that fill it up nor what is welded to it.
        real = np.flatnonzero((np.asarray(nodes.mass) > 0.0) & (place[:, 1] == 0.0))
        real = real[np.argsort(place[real, 0])]
        real = real[np.unique(np.linspace(0, len(real) - 1, BENDS - 2).round().astype(int))]
        shape, short = np.asarray(nodes.shape), np.asarray(nodes.short)
        inner = [self.turned(link, place[g] + self._bent(link, shape[g], short[g])) for g in real]
        tip = self.mechanism.topology.site_names.index(f"{self.mechanism.topology.names[link]}.tip")
        return np.stack([self.origin[link], *inner, self.site(tip)], axis=1)


def _stacked(columns: list[np.ndarray], count: int) -> np.ndarray:
    """(times, columns, 2), also of no columns."""
    return np.stack(columns, axis=1) if columns else np.zeros((count, 0, 2))


def _last_tip(mechanism: Mechanism, tree: int) -> int:
    """The site at the tip of a tree's last link."""
    top = mechanism.topology
    last = max(k for k in range(top.links) if top.trees[k] == tree)
    return top.site_names.index(f"{top.names[last]}.tip")


def link_line(clip: Clip, body: Skeleton, k: int) -> LinkLine:
    m = body.mechanism
    n, top = m.numbers, m.topology
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


def _spring(clip: Clip, body: Skeleton, spring: Spring) -> np.ndarray:
    near = body.site(spring.site.index)
    fixed = np.asarray([float(x) for x in spring.point])
    far = np.broadcast_to(fixed, near.shape) if spring.other is None else body.site(spring.other.index)
    return clip.place(np.stack([near, far], axis=1))


# -- contacts ----------------------------------------------------------------------------------------------------------


def _rounds(clip: Clip, body: Skeleton, name: str, pair: AbstractPair) -> list[Round]:
    def at(*sites: Any) -> np.ndarray:
        return clip.place(np.stack([body.site(s.index) for s in sites], axis=1))

    if isinstance(pair, SiteOnSurface):
        return [Round(name, "tip", float(pair.radius), at(pair.site))]
    if isinstance(pair, DiskOnDisk):
        other = "ring" if pair.inside else "tip"
        return [
            Round(name, "tip", float(pair.first_radius), at(pair.first)),
            Round(name, other, float(pair.second_radius), at(pair.second)),
        ]
    if isinstance(pair, SiteOnSegment):
        bar = pair.segment
        return [
            Round(name, "tip", float(pair.radius), at(pair.site)),
            Round(name, "bar", float(bar.radius), at(bar.start, bar.end)),
        ]
    return []  # a joint's stop has no shape


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
    for name, pair in pairs(clip.result.world):
        if isinstance(pair, SiteOnSurface):
            for line in outline(pair.surface, own, clip.local(part.t)):
                # Mirroring exchanges left and right: the line is walked the other way.
                placed = clip.place(line)[..., :: -1 if clip.mirrored else 1, :]
                if not any(np.array_equal(placed, other.points) for other in out):
                    out.append(SurfaceLine(name, placed))
    return out
