"""Everything that has a name in files, commands and pages: one list for each kind, one line for each thing.

A line says where the thing stands in the package (`package.module.Name`), and what else its list needs to know.
Nothing is imported before it is asked for, so that a run of a ball loads no controller. Schema, reader, writer, help
and citations are made from these lists; docs/extending.md shows one of each kind.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple


class Line(NamedTuple):
    """Where a thing stands, and what else is said of it."""

    place: str
    more: tuple[Any, ...]

    def found(self) -> Any:
        """The thing at `package.module.Name`."""
        module, _, name = self.place.rpartition(".")
        return getattr(importlib.import_module(f"{__package__}.{module}"), name)

    def module(self) -> Any:
        """The module at `package.module`."""
        return importlib.import_module(f"{__package__}.{self.place}")


def at(place: str, *more: Any) -> Line:
    return Line(place, more)


# Laws: classes with a card; then the arguments of an example, where the name of a material stands for it.
NORMAL_LAWS = (
    at("contact.normal.hooke.Hooke", 1e6, 300.0),
    at("contact.normal.hertz.Hertz", 1e7),
    at("contact.normal.hunt_crossley.HuntCrossley", 1e7, 0.8),
    at("contact.normal.herbert_mcwhannell.HerbertMcWhannell", 1e7, 0.8),
    at("contact.normal.lee_wang.LeeWang", 1e7, 0.8),
    at("contact.normal.lankarani_nikravesh.LankaraniNikravesh", 1e7, 0.8),
    at("contact.normal.flores.Flores", 1e7, 0.8),
    at("contact.normal.gharib_hurmuzlu.GharibHurmuzlu", 1e7, 0.2),
    at("contact.normal.hu_guo.HuGuo", 1e7, 0.8),
    at("contact.normal.gonthier.Gonthier", 1e7, 0.8),
    at("contact.normal.carvalho_martins.CarvalhoMartins", 1e7, 0.8),
    at("contact.normal.jackson_green.JacksonGreen", "steel", "steel", 0.005),
)
FRICTION_LAWS = (
    at("contact.friction.friction_law.Frictionless"),
    at("contact.friction.coulomb.Coulomb", 0.3, 0.4),
    at("contact.friction.karnopp.Karnopp", 0.3, 0.4, 1e-3),
    at("contact.friction.stribeck.Stribeck", 0.3, 0.4, 0.01, 0.1),
    at("contact.friction.smooth_coulomb.SmoothCoulomb", 0.2, 0.02),
    at("contact.friction.ambrosio.Ambrosio", 0.1, 1e-4, 1e-3),
    at("contact.friction.bengisu_akay.BengisuAkay", 0.3, 0.4, 1e-3, 100.0),
    at("contact.friction.dahl.Dahl", 0.3, 1e4),
    at("contact.friction.lugre.LuGre", 0.3, 0.4, 0.01, 1e4),
)
IMPACT_LAWS = (
    at("contact.impact.newton.Newton", 0.5),
    at("contact.impact.poisson.Poisson", 0.5),
    at("contact.impact.stronge.Stronge", 0.5),
    at("contact.impact.plastic.Plastic"),
)
# Functions of speed that stand where an impulsive law takes a restitution.
RESTITUTIONS = (
    at("contact.impact.at_speed.linear_restitution.LinearRestitution", 0.05, 0.9),
    at("contact.impact.at_speed.power_restitution.PowerRestitution", 0.8, 0.25, 1.0),
    at("contact.impact.at_speed.thornton_restitution.ThorntonRestitution", 0.1),
    at("contact.impact.at_speed.viscoelastic_restitution.ViscoelasticRestitution", 0.2),
)

# What a world is made of: classes with a form (forms.py), or functions spelled out.
BODIES = (
    at("mechanism.bodies.Rod"),
    at("mechanism.bodies.Disk"),
    at("mechanism.bodies.PointMass"),
    at("mechanism.bodies.Body"),
)
SURFACES = (
    at("contact.surfaces.plane.Plane"),
    at("contact.surfaces.circle.Circle"),
    at("contact.surfaces.block.Block"),
    at("contact.surfaces.spline.Spline"),
)
SHAPES = (
    at("contact.shape.cornered.Round"),
    at("contact.shape.cornered.Capsule"),
    at("contact.shape.cornered.Polygon"),
    at("contact.shape.smooth.Ellipse"),
)
CONSTRAINTS = (
    at("dynamics.constraints.Pin"),
    at("dynamics.constraints.Locked"),
    at("contact.on_surface.OnSurface"),
)
ELEMENTS = (
    at("element.drag.Drag"),
    at("element.rolling_resistance.RollingResistance"),
)
CONTROLLERS = (
    at("control.posture.PostureControl"),
    at("control.computed_torque.ComputedTorque"),
    at("control.feedforward.FeedForward"),
    at("captures.hold.HoldPose"),
    at("control.machine.StateMachine"),
)
SWITCHES = (
    at("control.switch.OnStrike"),
    at("control.switch.AtHeight"),
    at("control.switch.AtTime"),
    at("control.switch.OnRelease"),
    at("control.switch.OnSlip"),
    at("control.switch.When"),
)
TRAJECTORIES = (
    at("control.trajectory.point_to_point.CUBIC"),
    at("control.trajectory.point_to_point.QUINTIC"),
    at("control.trajectory.point_to_point.MINIMUM_JERK"),
    at("control.trajectory.point_to_point.PARABOLIC_BLENDS"),
    at("control.trajectory.waypoints.WAYPOINTS"),
    at("control.trajectory.point_to_point.HOLD"),
    at("control.trajectory.polynomials.POLYNOMIALS"),
)

# How it is computed: objects with a name. Of a solver also when to choose it and where it was published, and, where the
# place is a class, its arguments.
FORMALISMS = (
    at("dynamics.explicit.Explicit"),
    at("dynamics.lagrange.Lagrange"),
    at("dynamics.homogeneous.Homogeneous"),
    at("dynamics.gibbs_appell.GibbsAppell"),
)
SOLVERS = (
    at(
        "hybrid.solvers.RungeKutta",
        "the default",
        "Tsitouras 2011, Computers and Mathematics with Applications 62, 770-775",
        *("tsit5", 5),
    ),
    at(
        "hybrid.solvers.RungeKutta",
        "tight tolerances",
        "Prince and Dormand 1981, Journal of Computational and Applied Mathematics 7, 67-75",
        *("dopri8", 8),
    ),
    at("hybrid._rosenbrock.RODAS5P", "stiff worlds", "Steinebach 2023, BIT Numerical Mathematics 63, 27"),
)

# What is seen of it. Figures: modules with `lacks` and `draw`, what they are called, what they show.
FIGURES = (
    at("figures.snapshots", "snapshots", "the mechanism at several instants"),
    at("figures.angles", "angles", "link angles over time"),
    at("figures.rates", "rates", "rates of the link angles over time"),
    at("figures.slides", "slides", "displacements of links on sliders over time"),
    at("figures.impact", "impact", "one impact: indentation, force and their loop"),
    at("figures.reaction_figure", "reaction", "contact forces over time"),
    at("figures.tip", "tip", "velocity of the tip by components"),
    at("figures.joints", "joints", "positions and velocities of the joints"),
    at("figures.modes_figure", "modes", "modal coordinates of the elastic links"),
    at("figures.extra_figure", "extra", "extra states over time"),
    at("figures.torques", "torques", "torques of the controllers over time"),
    at("figures.energy_figure", "energy", "the energy ledger: energies, works, error"),
    at("figures.energy_by_link", "energy_by_link", "kinetic energy of every link"),
    at("figures.momentum", "momentum", "linear and angular momentum of the whole system"),
    at("figures.phase", "phase", "phase portrait: two coordinates and a velocity"),
    at("figures.written", "signals", "signals as they are asked for"),
    at("figures.poincare", "poincare", "Poincare map where a velocity is zero"),
)
# Lists of measures, in the order in which their patterns are tried.
MEASURES = (
    at("experiment.measures.of_impacts.MEASURES"),
    at("experiment.measures.of_stances.MEASURES"),
    at("experiment.measures.over_time.MEASURES"),
    at("experiment.measures.balances.MEASURES"),
    at("experiment.measures.captures.MEASURES"),
    at("experiment.measures.crawling.MEASURES"),
    at("experiment.measures.of_signals.MEASURES"),
)
# The one reader of their names, also for what lanes of a batch record.
KIND_OF_MEASURE = at("experiment.measures.all_measures.kind_of")
# What a result offers although it stands on a higher floor: `result.plot`, and `result.converge()`.
PLOTS = at("figures.plots.Plots")
REPEAT = at("_simulation.repeat")
# What a notebook shows of things that have a `_repr_html_`.
HTML = at("report.notebook.as_html")
# Where compiled programs are found again, those of small functions included.
KEPT = at("hybrid._store.load_or_make")
# What ends a run that is not given a time alone.
UNTIL = at("control.until.ended_by")


def shown(thing: object) -> str:
    """The `_repr_html_` of classes that show themselves: a drawing, a table, or the player of a run."""
    return str(HTML.found()(thing))


# What a world makes by itself of joints that have it.
JOINT_FRICTION = at("element.joint_friction.joint_friction")

# Functions, and what the command is called.
COMMANDS = (
    at("cli.list_command.list_", "list"),
    at("cli.show_command.show", "show"),
    at("cli.new_command.new", "new"),
    at("cli.check_command.check", "check"),
    at("cli.run_command.run", "run"),
    at("cli.sweep_command.sweep", "sweep"),
    at("cli.compare_command.compare", "compare"),
    at("cli.studio_command.studio", "studio"),
    at("cli.fit_command.fit", "fit"),
    at("cli.reproduce_command.reproduce", "reproduce"),
    at("cli.validate_command.validate", "validate"),
    at("cli.equations_command.equations", "equations"),
    at("cli.laws_command.laws", "laws"),
    at("cli.restitution_command.restitution", "restitution"),
    at("cli.report_command.report", "report"),
    at("cli.schema_command.schema", "schema"),
)
