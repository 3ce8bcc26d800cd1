"""What an automaton tells about itself: results, tables, figures, ledger, pages and citations read this, no class.

Whoever writes an automaton of their own fills in what applies; the rest has defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from ..mechanism import Site
from ..quantities import Real
from .scene import Load, Own, Scene

Tone = Literal["open", "closed", "elastic", "plastic", "restitution", "stick", "slide", "lost"]
Kind = Literal["conservative", "dissipative", "driven"]


class Channel(NamedTuple):
    """An entry of the energy ledger [J].

    - `kind`: *conservative* gives back what it takes, *dissipative* does not (a contact's normal force counts here:
      what it gives back, it took in the same impact), *driven* is work of motors and of surfaces that are moved
    - `contact`: whose impacts it belongs to, if it serves only one
    """

    name: str
    kind: Kind
    contact: str = ""


class Quantity(NamedTuple):
    """A state that users know by its name, which occurs once in a world, and its unit."""

    name: str
    unit: str


class Phase(NamedTuple):
    """A phase of a contact: its word, the tone in which it is drawn, and what friction does in it, if that is apart."""

    word: str
    tone: Tone
    mode: str = ""

    @property
    def text(self) -> str:
        return f"{self.word}, {self.mode}" if self.mode else self.word


class Touching(NamedTuple):
    """Kinematics of a pair at one instant."""

    indentation: Any  # [m], negative while apart
    rate: Any  # of the indentation [m/s]
    sliding: Any  # velocity of the first body over the second, along (n_y, -n_x) [m/s]
    x: Any  # contact point
    y: Any
    normal: tuple[Any, Any]  # from the second body into the first

    @property
    def tangent(self) -> tuple[Any, Any]:
        return self.normal[1], -self.normal[0]


class Shape(NamedTuple):
    """What is seen of a contact: a round tip at a site, a bar between two, the inside of a ring, any outline."""

    kind: Literal["tip", "bar", "ring", "outline"]
    radius: Any  # [m]
    sites: tuple[Site, ...]
    outline: Callable[[], Any] | None = None  # points (n, 2) [m] of an outline, from its site along the link's axes


@runtime_checkable
class Pair(Protocol):
    """Who meets whom."""

    @property
    def length_unit(self) -> str: ...

    @property
    def shapes(self) -> tuple[Shape, ...]: ...

    @property
    def ground(self) -> Any:
        """A surface to be drawn, or None."""

    @property
    def stop(self) -> Any:
        """A joint's stop: link, link_name, angle, sign; None for anything else."""

    def touching(self, scene: Scene) -> Touching: ...

    def push(self, scene: Scene, load: Load, k: Touching, normal: Real, drag: Real) -> None: ...


class ContactReport(NamedTuple):
    """A contact that an automaton holds. What has some is drawn, tabled and looked at closely.

    - `phases`: as `Report.modes` counts them; the tone of those in which the two are apart is "open"
    - `begins`: the exit by which it closes
    - `rigid`: its blows are instantaneous, and `Report.blows` tells their impulses
    - `laws`: of the normal direction and of friction, if it is made of them
    - `during`: name of an automaton, and the phases of it in which the contact is there; None: always
    """

    name: str
    pair: Pair
    phases: tuple[Phase, ...]
    begins: str
    rigid: bool = False
    laws: tuple[Any, ...] = ()
    during: tuple[str, tuple[str, ...]] | None = None


class Touch(NamedTuple):
    """A contact at an instant: kinematics, normal and friction force [N], both on the first body."""

    motion: Touching
    normal: Any
    friction: Any


class Blow(NamedTuple):
    """The last instantaneous blow of a contact: when [s] (-1: never), and its impulses [N s]."""

    time: Any
    normal: Any
    friction: Any


class Efforts(NamedTuple):
    """What a controller exerts: torques [N m] of the parent on every link, forces (x, y) [N] on some bases."""

    torques: Any
    pushes: tuple[tuple[Any, Any], ...] = ()


class Drive(NamedTuple):
    """A controller.

    - `efforts`: now, as limited and held
    - `bases`: names of the trees whose bases it pushes
    - `wanted`: link angles [rad] that it drives to, absolute, or relative to the parents; None if it has none
    """

    efforts: Callable[[Scene, Own], Efforts]
    bases: tuple[str, ...] = ()
    wanted: Callable[[Scene, Own], Any] | None = None
    relative: bool = False


class Line(NamedTuple):
    """What is drawn between two ends, each a site or a point (x, y) [m] of the world: a spring, a rope."""

    kind: Literal["spring"]
    ends: tuple[Site | tuple[Any, Any], Site | tuple[Any, Any]]


def _none(*_: Any) -> list[Any]:
    return []


def _no_blows(_: Own) -> dict[str, Blow]:
    return {}


class Report(NamedTuple):
    """All of it.

    - `words`: (name, what it is), a line each, for `print(world)`; `cited`: references of its laws and methods
    - `told(own)`: its phase in words, if a name of the phase is not enough
    - `contacts`, and of each: `touches(scene, own)`, its `modes(own)`, its `blows(own)` by name if it is rigid
    - `drive` of a controller; `lines` that are drawn
    - `extra`: its states, one by one, if they are of interest to users: `world.state(extra=...)`, `result.extra(times)`
    - `remarks(memory)`: sentences about what it remembers (arrays over the events of a run), such as a law that was
      asked for more than it was made for
    - `gains`: how its blows can create energy, for the warning where one did
    """

    words: tuple[tuple[str, str], ...]
    cited: tuple[str, ...] = ()
    told: Callable[[Own], str] | None = None
    contacts: tuple[ContactReport, ...] = ()
    touches: Callable[[Scene, Own], list[Touch]] = _none
    modes: Callable[[Own], list[Any]] = _none
    blows: Callable[[Own], dict[str, Blow]] = _no_blows
    drive: Drive | None = None
    lines: tuple[Line, ...] = ()
    extra: tuple[Quantity, ...] = ()
    remarks: Callable[[tuple[Any, ...]], list[str]] = _none
    gains: str = ""
