"""Types of arguments as users give them, for readers and type checkers.

While a program runs nothing is checked by them: bad input gets a sentence (errors.py), not a complaint about types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from .beam.cross_section import Section
    from .beam.shapes import AbstractShapes
    from .captures.record import Capture
    from .contact.contact import Contact
    from .contact.friction import AbstractFriction
    from .contact.impact import AbstractImpactLaw
    from .contact.material import Material
    from .contact.normal import AbstractNormalLaw
    from .contact.pairs import AbstractPair, Ring, Segment
    from .contact.shape import AbstractShape
    from .contact.surfaces import AbstractSurface
    from .control.planned_torques import AbstractTorques
    from .control.trajectory import AbstractTrajectory
    from .dynamics.constraints import AbstractConstraint
    from .hybrid._member import AbstractMember, AbstractUnplaced
    from .hybrid.automaton import AbstractAutomaton
    from .hybrid.settings import Settings
    from .hybrid.world import World
    from .mechanism import AbstractBody, Link, Mechanism, Site, State
    from .quantities import Given, Point, Real
    from .result._clip import Clip
    from .result.result import Result
    from .scenario.model import Scenario

    Name: TypeAlias = str
    Names: TypeAlias = str | Sequence[str]
    DriftsLike: TypeAlias = str | Sequence[str] | Mapping[str, float | None]  # names, or by how much each shifts
    NamesInOrder: TypeAlias = tuple[str, ...]
    ExitsInOrder: TypeAlias = tuple[str | tuple[str, ...], ...]  # one by one, or families
    Count: TypeAlias = int
    SiteLike: TypeAlias = Site | str  # a site, or its name
    LinksLike: TypeAlias = AbstractBody | Link | Sequence[AbstractBody | Link]
    MechanismLike: TypeAlias = Mechanism
    StateLike: TypeAlias = State
    SettingsLike: TypeAlias = Settings | None
    SectionLike: TypeAlias = Section
    ShapesLike: TypeAlias = AbstractShapes
    ShapeLike: TypeAlias = Callable[[Any], Any] | Given  # a function of the place along the beam, or coefficients
    ShapeListLike: TypeAlias = Sequence[ShapeLike]
    EndsLike: TypeAlias = Sequence[str]  # of a beam: left and right
    MaterialLike: TypeAlias = Material
    CompliantLike: TypeAlias = AbstractNormalLaw
    NormalLike: TypeAlias = AbstractNormalLaw | AbstractImpactLaw | Real | None  # a number e stands for Newton(e)
    FrictionLike: TypeAlias = AbstractFriction | None
    SurfaceLike: TypeAlias = AbstractSurface
    SurfacesLike: TypeAlias = AbstractSurface | Sequence[AbstractSurface]
    OutlinesLike: TypeAlias = AbstractShape | Sequence[AbstractShape]
    HeldLike: TypeAlias = AbstractConstraint | Sequence[AbstractConstraint]
    ConstraintsLike: TypeAlias = Sequence[AbstractConstraint]
    Part: TypeAlias = AbstractAutomaton | AbstractMember | AbstractUnplaced | Contact  # what a world takes
    PartsLike: TypeAlias = Part | Sequence[Part]
    TouchingLike: TypeAlias = Site | str | AbstractPair | AbstractShape  # a site, its name, a joint's stop, a shape
    AgainstLike: TypeAlias = AbstractSurface | Site | Segment | Ring | AbstractShape | str | None
    DuringLike: TypeAlias = tuple[str, str | Sequence[str]] | Sequence[Any] | None  # an automaton and its phases
    ContactLike: TypeAlias = Part | str  # a contact, or its name
    ContactsLike: TypeAlias = Contact | Sequence[Contact]
    AutomatonLike: TypeAlias = AbstractAutomaton
    TrajectoryLike: TypeAlias = AbstractTrajectory
    TorquesLike: TypeAlias = AbstractTorques | AbstractTrajectory
    GainsLike: TypeAlias = Real | Given | None  # one for each joint; where that is allowed, one for all
    ResultLike: TypeAlias = Result
    ResultsLike: TypeAlias = Mapping[str, Result]
    WorldLike: TypeAlias = World
    CaptureLike: TypeAlias = Capture
    ClipsLike: TypeAlias = Result | Clip | Sequence[Result | Clip]
    JointValues: TypeAlias = Mapping[str, Any]  # by the names of joints' links: numbers, or signals as texts
    ModesLike: TypeAlias = Mapping[str, Any]  # states of a machine by name
    WaysLike: TypeAlias = Mapping[str, Any]  # conditions by the names of the states that they lead to
    UntilLike: TypeAlias = Any  # a time [s], a condition as a text, impacts, a switch, or several in a list
    StartLike: TypeAlias = State | Callable[[Any], State]  # of a batch: a state, or a function of the parameters
    PassageLike: TypeAlias = tuple[str, str] | Callable[..., Any]  # an event, or a function of (t, q, v)
    NoiseLike: TypeAlias = Real | Given | Mapping[str, Real | Given] | None
    SensorsLike: TypeAlias = str | Sequence[str] | Callable[..., Any]  # signals, or a function of the state
    CostLike: TypeAlias = Any  # one number, numbers, or a matrix
    MotionLike: TypeAlias = Any  # an Orbit, a ReturnMap, or a Rollout
    SteppedLike: TypeAlias = Any  # a World, or a Stepping
    AgainLike: TypeAlias = Any  # a condition as a text, a switch, or a period [s]
    TruthLike: TypeAlias = Any  # rollouts of Stepping, or rows of states
    FileLike: TypeAlias = str | Path
    ScenarioLike: TypeAlias = Scenario | str | Path  # a scenario, the name of a shipped one, or a file
    DataLike: TypeAlias = str | Path | Mapping[str, Any] | Sequence[Any]  # files, columns, or several of them
    ComparedLike: TypeAlias = Result | Scenario | str | Path | Any  # a run, however it is given; or an Experiment
    StudyLike: TypeAlias = Any  # an xarray Dataset
    ClusterLike: TypeAlias = Any  # 'local:8', an address, or a Client of dask
    PlaceLike: TypeAlias = Site | Point  # a point of a link, or of the world
else:
    Name = Names = DriftsLike = NamesInOrder = ExitsInOrder = Count = SiteLike = LinksLike = MechanismLike = (
        StateLike
    ) = SettingsLike = SectionLike = Any
    ShapesLike = ShapeLike = ShapeListLike = ResultsLike = WorldLike = CaptureLike = EndsLike = MaterialLike = (
        NormalLike
    ) = FrictionLike = SurfaceLike = Any
    SurfacesLike = OutlinesLike = DuringLike = Any
    CompliantLike = HeldLike = ConstraintsLike = PartsLike = PlaceLike = TouchingLike = AgainstLike = ContactLike = (
        ContactsLike
    ) = AutomatonLike = Any
    JointValues = ModesLike = WaysLike = UntilLike = ComparedLike = ScenarioLike = DataLike = StudyLike = Any
    ClusterLike = PassageLike = Any
    TrajectoryLike = TorquesLike = GainsLike = ResultLike = ClipsLike = StartLike = NoiseLike = SensorsLike = (
        TruthLike
    ) = AgainLike = CostLike = MotionLike = SteppedLike = FileLike = Any
