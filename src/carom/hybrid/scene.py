"""What an automaton sees while it acts: time, coordinates, velocities, and where the sites are; scalar by scalar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp

from .. import errors
from ..dynamics import _elastic_links as elastic_links
from ..dynamics import _sliding_trees as sliding_trees
from ..dynamics.kinematics import LinkMotion as Frame
from ..dynamics.kinematics import frames, link_motion
from ..mechanism import Mechanism, Site
from ..mechanism import _walk as walk
from ..mechanism._length import length_of as length_of
from ..quantities import Coordinates, Given, Real, Vector
from ._sweeps import Sweeps


class Continuous(NamedTuple):
    """The continuous state: coordinates, velocities, the automata's own states, works of the ledger.

    `q` and `v` are tuples of scalars for small mechanisms and arrays for large ones; both are indexed alike.
    """

    q: Any
    v: Any
    extra: tuple[tuple[Any, ...], ...]  # one tuple per automaton
    work: tuple[Any, ...]  # one scalar per channel of the ledger


class Own(NamedTuple):
    """What belongs to one automaton at one instant."""

    phase: Any
    memory: tuple[Any, ...]
    states: tuple[Any, ...]


class Load:
    """Generalized force under construction. Local to one evaluation; never escapes it."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.entries: list[Any] = [0] * mechanism.dof  # nothing yet: not a term, as 0.0 would be
        self.array: Any = None  # what comes for all coordinates at once

    def add(self, index: int, value: Real) -> None:
        self.entries[index] = self.entries[index] + value

    def add_array(self, values: Vector) -> None:
        self.array = values if self.array is None else self.array + values

    def add_all(self, other: Load, factor: Real) -> None:
        self.entries = [a + factor * b for a, b in zip(self.entries, other.entries, strict=True)]
        if other.array is not None:
            self.add_array(factor * other.array)

    def add_each(self, numbers: list[Any]) -> None:
        self.entries = [a + b for a, b in zip(self.entries, numbers, strict=True)]

    def numbers(self, none: float = 0.0) -> list[Any]:
        """One for each coordinate; minus zero is one that changes nothing when it is added."""
        return [none if isinstance(x, int) else x for x in self.entries]

    def vector(self) -> Any:
        if all(isinstance(x, int) for x in self.entries) and self.array is not None:
            return self.array
        one_by_one = jnp.stack([jnp.asarray(x, dtype=float) for x in self.entries])
        return one_by_one if self.array is None else one_by_one + self.array


class Scene(Sweeps):
    """Kinematics of one instant, computed once and shared by all automata."""

    def __init__(
        self,
        mechanism: Mechanism,
        t: Real,
        q: Coordinates,
        v: Coordinates,
        phases: tuple[Any, ...] = (),
        names: tuple[str, ...] = (),
    ) -> None:
        self.mechanism, self.t, self.q, self.v = mechanism, t, q, v
        self.phases = dict(zip(names, phases, strict=True))  # of all automata, by name
        self.top = mechanism.topology
        self.kept: dict[str, Any] = {}  # what was computed for all that ask
        self.motion: Any = None  # velocities -> the motion without reactions
        self.reactions: Any = None  # (automaton, own) -> its reactions if it were so
        self.coupled: Any = None  # (automaton, own) -> the rows of the whole world if it were so (_coupled.py)
        self.bounded: Callable[[Scene], list[Any]] = lambda scene: []  # rows that hold up to a limit, of all automata
        self.acceleration: Any = None  # of the motion that a jump ends, reactions included
        self.still: Any = None  # () -> the same scene for decisions, which have no derivatives
        self.extra: Mapping[str, Any] = {}  # at the start: values that were given for extra states, by name
        self.touch: Any = None  # name of a contact -> its Touch, if its force is none of the reactions
        self.struck: Callable[[], dict[str, Any]] = dict  # see `strikes`
        self.automata: tuple[Any, ...] = ()  # of the world
        self.owns: tuple[Own, ...] = ()  # what belongs to each of them; nothing before a run begins
        self.acting: Any = 1.0  # 0 while an impact lasts in a world that neglects its controllers meanwhile
        self.work: tuple[Any, ...] = ()  # of the ledger, where it is looked at afterwards
        self.fastest: Any = None  # largest speed of every coordinate in a step, where somebody asks how far it sweeps
        self.span: Any = 0.0  # length of that step [s]
        self.wanted: Any = None  # flags of a family of exits that are looked at closely, where not all are
        self.asking: tuple[str, ...] = ()  # whose efforts are being computed, by name
        self._length: Any = None
        self._gravity: Any = None
        self._frames: list[Frame] | None = None
        self._bent: Any = None  # of elastic mechanisms: all links at this instant

    @property
    def length(self) -> Any:
        """Of the largest link [m]: what rounding of places is measured by at least."""
        return length_of(self.mechanism) if self._length is None else self._length

    @length.setter
    def length(self, value: Real) -> None:
        self._length = value

    @property
    def strikes(self) -> dict[str, Any]:
        """Instants of the last blows of all rigid contacts, by name."""
        return self.struck()

    @property
    def gravity(self) -> Any:
        """Of the world [m/s^2], along x and y."""
        if self._gravity is None:
            raise errors.CaromError("this scene has no gravity: it was made without a world; set scene.gravity")
        return self._gravity

    @gravity.setter
    def gravity(self, value: Vector) -> None:
        self._gravity = value

    def angle(self, link: int) -> Any:
        """Absolute angle of a link [rad]; one that slides has that of its parent."""
        index = self.top.turn_index(link)
        return 0.0 if index is None else self.q[index]

    def rate(self, link: int) -> Any:
        index = self.top.turn_index(link)
        return 0.0 if index is None else self.v[index]

    def coordinate(self, link: int) -> Any:
        """The own coordinate of a link: its absolute angle [rad], or, on a slider, its displacement [m]."""
        return self.q[self.top.angle_index(link)]

    def speed(self, link: int) -> Any:
        return self.v[self.top.angle_index(link)]

    def frame(self, link: int) -> Frame:
        """Frame of a link; all frames are computed on the first request."""
        if self._frames is None:
            self._frames = self._outward()
        return self._frames[link]

    def _outward(self) -> list[Frame]:
        top = self.top
        if top.elastic:
            self._bent = elastic_links.whole(self.mechanism, self.q, self.v)
            origins = elastic_links.origins(self.mechanism, self._bent, self.q, self.v)
            pairs = zip(origins, self._bent.states, strict=True)
            return [Frame(*o.place, *o.velocity, s.turn.cos, s.turn.sin, s.rate) for o, s in pairs]
        if walk.small(top):
            return list(frames(self.mechanism, self.q, self.v))
        columns = link_motion(self.mechanism, merge(self.q), merge(self.v))
        return [Frame(*(column[k] for column in columns)) for k in range(top.links)]

    def point(self, link: int, px: Real, py: Real) -> tuple[Any, Any, Any, Any]:
        """World position and velocity (x, y, vx, vy) of the point (px, py) of a link."""
        f = self.frame(link)
        rx, ry = f.cos * px - f.sin * py, f.sin * px + f.cos * py
        return f.x + rx, f.y + ry, f.vx - f.rate * ry, f.vy + f.rate * rx

    def site(self, site: Site) -> tuple[Any, Any, Any, Any]:
        """World position and velocity (x, y, vx, vy) of a site."""
        place = self.mechanism.numbers.site[site.index]
        if not self.top.elastic:
            return self.point(site.link, place[0], place[1])
        f = self.frame(site.link)
        b, turn = self.bent(site), self._bent.states[site.link].turn
        rx, ry = turn(b.place)
        ux, uy = turn(b.rate)
        return f.x + rx, f.y + ry, f.vx - f.rate * ry + ux, f.vy + f.rate * rx + uy

    def pose(self, site: Site) -> tuple[Any, Any, Any, Any]:
        """Place (x, y) of a site, and cosine and sine of the section's angle there: what is fixed to it turns so."""
        x, y, _, _ = self.site(site)
        f = self.frame(site.link)
        if not self.top.modes[site.link]:
            return x, y, f.cos, f.sin
        angle = self.angle(site.link) + self._slope(site, self._bent.states[site.link].bend)
        return x, y, jnp.cos(angle), jnp.sin(angle)

    def bent(self, site: Site) -> Any:
        """A site of an elastic mechanism in its link's frame."""
        self.frame(site.link)
        n = self.mechanism.numbers
        return elastic_links.bent(n.site[site.index], n.site_reach[site.index], self._bent.states[site.link])

    def velocity(self, site: Site, x: Real, y: Real) -> tuple[Any, Any]:
        """Velocity of what is fixed to a site and now at (x, y): it turns with the site's section."""
        f = self.frame(site.link)
        if not self.top.elastic:
            return f.vx - f.rate * (y - f.y), f.vy + f.rate * (x - f.x)
        sx, sy, vx, vy = self.site(site)
        rate = f.rate + self._slope(site, self._bent.states[site.link].bend_rate)
        return vx - rate * (y - sy), vy + rate * (x - sx)

    def _slope(self, site: Site, bend: list[Any]) -> Any:
        reach = self.mechanism.numbers.site_reach[site.index]
        return 0.0 if reach is None else sum(reach.slope[j] * d for j, d in enumerate(bend))

    def jacobian(self, link: int, x: Real, y: Real, site: Site | None = None) -> list[tuple[int, Any, Any]]:
        """Nonzero columns (index, d x/dq, d y/dq) of the material point of `link` now at (x, y).

        On an elastic link the point is fixed to the section of a `site`.
        """
        columns: list[tuple[int, Any, Any]] = []
        base = self.top.base_index(self.top.trees[link])
        if base is not None:
            columns += [(base, 1.0, 0.0), (base + 1, 0.0, 1.0)]
        if self.top.sliding:
            return columns + sliding_trees.columns_at(self.mechanism, self.frame, link, x, y)
        for i, s in self.top.paths[link]:  # an ancestor moves the point as it moves its own child's joint
            f, child = self.frame(i), self.frame(s)
            columns.append((self.top.angle_index(i), -(child.y - f.y), child.x - f.x))
        own = self.frame(link)
        columns.append((self.top.angle_index(link), -(y - own.y), x - own.x))
        if self.top.elastic:
            columns += self._bending_columns(link, x, y, site)
        return columns

    def _bending_columns(self, link: int, x: Real, y: Real, site: Site | None) -> list[tuple[int, Any, Any]]:
        """Columns of the modal coordinates on the way to a point."""
        columns: list[tuple[int, Any, Any]] = []
        for i, s in self.top.paths[link]:
            turn, shapes = self._bent.states[i].turn, self._bent.hangs[s].columns[1:]
            columns += [(j, *turn(u)) for j, u in zip(self.top.mode_index(i), shapes, strict=True)]
        if self.top.modes[link]:
            if site is None:
                raise errors.CaromError(
                    f"a force acts on elastic link '{self.top.names[link]}' at a point that is not a site; give it one"
                )
            sx, sy, _, _ = self.site(site)
            reach, turn = self.mechanism.numbers.site_reach[site.index], self._bent.states[link].turn
            assert reach is not None
            for j, (index, u) in enumerate(zip(self.top.mode_index(link), self.bent(site).columns[1:], strict=True)):
                ux, uy = turn(u)
                columns.append((index, ux - reach.slope[j] * (y - sy), uy + reach.slope[j] * (x - sx)))
        return columns

    def push(self, load: Load, link: int, x: Real, y: Real, fx: Real, fy: Real, site: Site | None = None) -> None:
        """Apply the force (fx, fy) to the point of `link` now at (x, y), which is fixed to a site if the link bends."""
        for index, jx, jy in self.jacobian(link, x, y, site):
            load.add(index, jx * fx + jy * fy)

    def turn(self, load: Load, link: int, torque: Real) -> None:
        """Apply the torque of the parent on a link (on a slider the force along it), and its reaction on the parent."""
        load.add(self.top.angle_index(link), torque)
        above = self.top.turned_by[link]
        if above >= 0:
            load.add(self.top.angle_index(above), -torque)
            for index, slope in self.joint_slopes(link):
                load.add(index, -torque * slope)

    def joint_slopes(self, link: int) -> list[tuple[int, Any]]:
        """By how much the parent's section at a joint turns with each of the parent's modal coordinates."""
        reach, parent = self.mechanism.numbers.hang_reach[link], self.top.parents[link]
        if reach is None:
            return []
        return [(index, reach.slope[j]) for j, index in enumerate(self.top.mode_index(parent))]

    def relative_rate(self, link: int) -> Any:
        """Rate of a joint: of its angle [rad/s], or of its displacement [m/s]."""
        return self._relative(link, self.v)

    def relative_angle(self, link: int) -> Any:
        """Coordinate of a joint: angle to the parent [rad], or, on a slider, displacement [m]."""
        return self._relative(link, self.q)

    def _relative(self, link: int, values: Coordinates) -> Any:
        above = self.top.turned_by[link]
        bend = sum(slope * values[index] for index, slope in self.joint_slopes(link))
        return values[self.top.angle_index(link)] - (values[self.top.angle_index(above)] if above >= 0 else 0.0) - bend


def split(mechanism: Mechanism, vector: Given) -> Any:
    """Coordinate vector as the engine carries it: scalars for small mechanisms, the array itself for large ones."""
    if walk.small(mechanism.topology):
        return tuple(vector[i] for i in range(mechanism.dof))
    return jnp.asarray(vector)


def merge(values: Coordinates) -> Any:
    """The inverse of `split`."""
    return jnp.stack([jnp.asarray(x, dtype=float) for x in values]) if isinstance(values, tuple) else values
