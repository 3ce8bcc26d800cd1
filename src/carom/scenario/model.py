"""A scenario: everything that a run needs, as data. TOML files and Python spell the same thing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from .._arguments import FileLike, UntilLike
from ..hybrid.settings import DEFAULT
from ..hybrid.solvers import METHODS
from .constraint_tables import Constraint
from .contact_tables import Contact, Material
from .control_tables import Control
from .element_tables import Element
from .fields import Number, Numbers, Part, Point, Table, Text, Word, says
from .ground_table import GroundTable
from .study_table import Study
from .surface_tables import Surface
from .world_tables import Mechanism, Spring

if TYPE_CHECKING:
    from typing import TypeAlias

    from ..hybrid.settings import Settings
    from ..hybrid.world import World
    from ..mechanism import State

    SolverName: TypeAlias = str
else:
    SolverName = Literal[tuple(method.solver.name for method in METHODS)]

FORMAT = 2
Until = Annotated[Number, Field(gt=0.0)] | Word  # a time, or what happens then


class Start(Part):
    """The state in which a run begins."""

    angles: Numbers = says("of all links on hinges [rad, or degrees]")
    rates: Numbers | None = says("of all links on hinges [rad/s, or degrees/s]; at rest if left out", None)
    slides: Numbers | None = says("of all links on sliders [m]; 0 if left out", None)
    slide_rates: Numbers | None = says("of all links on sliders [m/s]; at rest if left out", None)
    base: Numbers | Table | None = says("(x, y) of every free base [m]; the origin if left out", None)
    base_velocity: Numbers | Table | None = says("(x, y) of every free base [m/s]", None)
    bending: Numbers | None = says("modal coordinates of the elastic links [m]", None)
    bending_rates: Numbers | None = says("[m/s]", None)
    relative: bool = says("angles relative to the parent link?", False)
    degrees: bool = says("angles in degrees?", False)
    assemble: bool = says("bring it to the nearest state that meets the constraints?", False)


class Run(Part):
    """Duration, solver and tolerances."""

    until: Until | list[Until] = says(
        "end of the run [s]; or until 'hip.y < 0.4', '9 impacts', 'release hand', several"
    )
    solver: SolverName = says(", ".join(f"{m.solver.name} ({m.choose})" for m in METHODS), DEFAULT.solver)
    rtol: Annotated[Number, Field(gt=0.0, lt=1.0)] = says("relative tolerance of the integration", DEFAULT.rtol)
    atol: Annotated[Number, Field(gt=0.0)] = says("absolute tolerance, in the unit of each coordinate", DEFAULT.atol)
    max_steps: Annotated[int, Field(ge=1, le=100_000_000)] = says("give up after so many steps", DEFAULT.max_steps)
    max_events: Annotated[int, Field(ge=1)] | None = says("stop after so many events", DEFAULT.max_events)
    ledger: bool = says("integrate the work of every force", DEFAULT.ledger)

    @property
    def end(self) -> str:
        """When it ends, in words."""
        each = self.until if isinstance(self.until, list) else [self.until]
        return " or ".join(one if isinstance(one, str) else f"{one:g} s" for one in each)


class Capture(Part):
    """An arm takes hold of an object at the start; the run shows what follows."""

    hand: Word = says("site of the arm")
    grip: Word = says("site of the object")
    kind: Literal["point", "weld", "point-then-weld"] = says("what is held", "weld")
    restitution: Number = says("0 is plastic; otherwise nothing is held afterwards", 0.0)
    base: Word = says("free-floating, attitude-held or free-flying during the blow", "free-floating")
    approach: Annotated[Number, Field(ge=0.0)] = says("time before the capture to be shown [s]", 1.0)


class Identify(Part):
    """Numbers of the object that a robot finds from a probing run, before it captures the object."""

    unknown: Annotated[dict[Word, Number], Field(min_length=1, max_length=16)] = says(
        "first guesses by path, such as 'mechanisms.target.links.object.body.mass'; the file itself has the truth"
    )
    signals: Annotated[list[Text], Field(min_length=1, max_length=32)] = says(
        "what is recorded in the probing run, such as 'arm.link1.angle'"
    )
    probe: dict[str, Any] = says("the probing run: its contacts, control, start and run, as tables of this file")
    samples: Annotated[int, Field(ge=2, le=10_000)] = says("how often each signal is recorded, evenly", 50)
    noise: Annotated[Number, Field(gt=0.0)] = says("standard deviation of a signal, as a share of its range", 0.01)
    seed: Annotated[int, Field(ge=0)] = says("of the noise", 0)
    believe: Literal["estimates", "guesses"] = says("what controllers then take the object for", "estimates")


class Stride(Part):
    """One step of a crawler."""

    holds: Literal["front", "rear"] = says("the foot that holds")
    angles: Numbers = says("led angles at the end, from the foot that holds [rad, or degrees]")
    duration: Annotated[Number, Field(gt=0.0)] = says("[s]")
    kp: Numbers | None = says("correction about the motion in the simulation, one per joint [N m/rad]", None)
    kd: Numbers | None = says("one per joint [N m s/rad]", None)


class Crawl(Part):
    """An inchworm that passes a wave through its body, step by step."""

    length: Number | Numbers = says("of a link [m] > 0; or of each, from the rear to the front")
    mass: Number | Numbers = says("of a link [kg] > 0; or of each, from the rear to the front")
    links: Annotated[int, Field(ge=2, le=8)] = says("how many links", 4)
    friction: Number = says("coefficient of a foot that slides", 0.4)
    gravity: Number = says("[m/s^2]", 9.81)
    slope: Number = says("of the ground, positive uphill [rad]", 0.0)
    surface: Word | None = says("name of the surface on which it crawls; level ground if left out", None)
    foot: Point = says("near (x, y) the foot stands that holds first, on a surface [m]", [0.0, 0.0])
    start: Numbers = says("led angles of the first posture [rad, or degrees]")
    degrees: bool = says("angles in degrees?", False)
    blend: Number | None = says("of the parabolic blends [s]; a tenth of the duration if left out", None)
    steps: Annotated[list[Stride], Field(min_length=1, max_length=32)] = says("of one cycle")


class Quantity(Part):
    """A number that the scenario is about, and what it should be."""

    measure: Word = says("what is measured; `carom show --measures` lists them")
    unit: Word = says("unit of the value; - for a pure number", "-")
    about: Text = says("what it means", "")
    expected: Number | None = says("what the source reports", None)
    tolerance: Annotated[Number, Field(ge=0.0)] | None = says("largest relative difference that agrees", None)
    within: Annotated[Number, Field(ge=0.0)] | None = says("largest absolute difference that agrees", None)
    source: Text = says("who reports the expected value, and where", "")
    note: Text = says("why it differs, where it does", "")


class Output(Part):
    """What is written."""

    figures: list[Word] | None = says("which figures; all that suit if left out", None)
    signals: Annotated[list[Text], Field(max_length=12)] = says("curves to draw, such as 'com.y'; in a figure", [])
    report: bool = says("write report.html", True)
    samples: Annotated[int, Field(ge=2, le=1_000_000)] = says("number of evenly spaced instants in trajectory.nc", 2000)


class Scenario(Part):
    """Mechanisms, surfaces, contacts, control, start, run and output.

    >>> import carom
    >>> carom.Scenario.load("ball-drop").with_({"run.until": 1.0}).run.until
    1.0

    scenario = carom.Scenario.load("ball-drop")
    result = scenario.simulate()
    carom.Scenario.of(world, world.state(angles=[0.3]), until=1.0).save("mine.toml")
    """

    format: Literal[2] = says("version of this format", FORMAT)
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,79}$")] = says("short name: a-z, 0-9 and -")
    title: Text = says("one line", "")
    about: Text = says("what happens, and why it is of interest", "")
    source: Text = says("where it comes from", "")
    gravity: Number | Numbers = says("g [m/s^2] downwards, or a vector", 9.81)
    pause_in_impact: bool = says("neglect control and weight while a compliant impact lasts", False)
    settle_speed: Number = says("a rigid rebound slower than this becomes maintained contact [m/s] >= 0", 0.0)
    friction_rule: Literal["path", "end velocity"] = says(
        "friction in rigid blows: along their path, or by the velocities at the end", "path"
    )
    materials: dict[Word, Material] = says("by name", {})
    mechanisms: dict[Word, Mechanism] = says("by name; with several, sites are called mechanism.link.tip", {})
    surfaces: dict[Word, Surface] = says("by name", {})
    contacts: dict[Word, Contact] = says("by name", {})
    ground: GroundTable | None = says("whole-body contact; written as contacts", None)
    springs: dict[Word, Spring] = says("by name", {})
    elements: dict[Word, Element] = says("drag and rolling resistance, by name", {})
    constraints: dict[Word, Constraint] = says("what closes loops, by name", {})
    control: dict[Word, Control] = says("controllers by name", {})
    start: Start | None = says("the state in which the run begins", None)
    run: Run = says("duration, solver and tolerances")
    capture: Capture | None = says("an arm takes hold of an object at the start", None)
    identify: Identify | None = says("what the robot finds out of the object before it captures it", None)
    crawl: Crawl | None = says("an inchworm's gait, instead of mechanisms and start", None)
    quantities: dict[Word, Quantity] = says("numbers that the scenario is about", {})
    variants: dict[Word, dict[str, Any]] = says("changes by name: tables that are merged over this file", {})
    compare: list[Word] = says("variants that are run beside it, for comparison", [])
    output: Output = says("what is written", Output())
    study: Study | None = says("many runs of it: `carom sweep`", None)

    def _repr_html_(self) -> str:
        """In a notebook: a drawing of its world, and its text."""
        from ..report._sketch import sketch
        from ..report.notebook import preformatted
        from ._build import beginning

        picture = ""
        if self.crawl is None and self.start is not None:
            world = self.world()
            picture = sketch(world, beginning(self, world).q)
        return f"{picture}<details><summary>{self.name}.toml</summary>{preformatted(self.toml())}</details>"

    # -- between files and Python --------------------------------------------------------------------------------------

    @staticmethod
    def load(name: FileLike) -> Scenario:
        """A shipped scenario by its name, or a file by its path."""
        from .library import load

        return load(name)

    @staticmethod
    def read(text: str, where: str = "scenario") -> Scenario:
        """A scenario from the text of a TOML file."""
        from ._text import read

        return read(text, where)

    @staticmethod
    def of(
        world: World,
        start: State,
        *,
        until: UntilLike,
        name: str = "world",
        settings: Settings | None = None,
        **words: Any,
    ) -> Scenario:
        """The scenario that a world and its start are; words: `title`, `about`, `source`."""
        from ._from_world import scenario_of

        return scenario_of(world, start, until=until, name=name, settings=settings, **words)

    def toml(self) -> str:
        """Its text as a TOML file; reading it gives an equal scenario."""
        from ._text import write

        return write(self)

    def save(self, path: str | Path) -> None:
        """Write it to a file, which appears complete or not at all."""
        from ..result._files import write_text

        write_text(Path(path), self.toml())

    # -- changes -------------------------------------------------------------------------------------------------------

    def with_(self, changes: dict[str, Any]) -> Scenario:
        """A copy with other values: {"contacts.tip.friction.mu": 0.3}."""
        from ._change import changed

        return changed(self, changes)

    def variant(self, name: str) -> Scenario:
        """A copy with the changes of that name."""
        from ._change import variant

        return variant(self, name)

    # -- doing it ------------------------------------------------------------------------------------------------------

    def world(self) -> World:
        """The world that it describes (for a capture: arm and object before it)."""
        from ._build import world_of

        return world_of(self)

    def simulate(self, **options: Any) -> Any:
        """Run it; options are those of `carom.simulate`, such as progress=False."""
        from ._build import simulate

        return simulate(self, **options)
