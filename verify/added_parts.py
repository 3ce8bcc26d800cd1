"""One of each kind that joins a copy of carom: its file and its line; and a scenario that names them."""

LAW = '''
from typing import Any, ClassVar
import jax.numpy as jnp
from ..card import Card
from .normal_law import AbstractNormalLaw

class Foam(AbstractNormalLaw):
    """F = K d (1 + b d')."""

    card: ClassVar[Card] = Card(
        name="foam",
        formula="F = K d (1 + b d')",
        parameters=(("stiffness", "K [N/m] > 0"), ("loss", "b [s/m] >= 0")),
        source="nobody",
        choose="an example",
    )
    stiffness: Any
    loss: Any

    def force(self, phase, memory, d, rate):
        return self.stiffness * jnp.maximum(d, 0.0) * (1.0 + self.loss * rate)
'''
FRICTION = '''
from typing import Any, ClassVar
from ..card import Card
from .friction_law import AbstractFriction

class Wax(AbstractFriction):
    """F_t = -c F_n v."""

    card: ClassVar[Card] = Card("wax", "F_t = -c F_n v", (("drag", "c [s/m] >= 0"),), "nobody", "an example")
    drag: Any

    def force(self, normal, sliding):
        return -self.drag * normal * sliding
'''
IMPACT = '''
from typing import Any, ClassVar
from ..card import Card
from .impact_law import AbstractImpactLaw

class Cushion(AbstractImpactLaw):
    """e = 1 / (1 + |u_n-| / s)."""

    card: ClassVar[Card] = Card("cushion", "e = 1/(1 + |u_n|/s)", (("speed", "s [m/s] > 0"),), "nobody", "an example")
    speed: Any

    @property
    def asked(self):
        return 1.0

    def end(self, path, restitution):
        return path.impulse(-restitution * path.approach / (1.0 - path.approach / self.speed))
'''
BODY = '''
from typing import Any, ClassVar
from ..forms import Form, Slot
from .bodies import AbstractBody

class Hoop(AbstractBody):
    """A thin ring, hung by its centre."""

    form: ClassVar[Form] = Form(
        "hoop", "a thin ring", (Slot("radius", "number", "[m] > 0"), Slot("mass", "number", "[kg] > 0"))
    )
    radius: Any
    mass: Any

    def centre(self):
        return 0.0, 0.0

    def inertia_about_centre(self):
        return self.mass * self.radius**2

    def end(self):
        return 0.0, 0.0
'''
SWITCH = '''
from typing import Any, ClassVar
from ..forms import Form, Slot
from .switch import AbstractSwitch

class Spun(AbstractSwitch):
    """The first link has reached a rate."""

    form: ClassVar[Form] = Form("spun", "the first link is fast", (Slot("speed", "number", "[rad/s]"),))
    speed: Any

    def guard(self, scene):
        return scene.rate(0) - self.speed
'''
TRAJECTORY = '''
from typing import Any, ClassVar
import jax.numpy as jnp
from ...forms import Form, Slot
from .pieces import AbstractTrajectory, Motion

class Ramp(AbstractTrajectory):
    """q = height t / span."""

    form: ClassVar[Form] = Form(
        "ramp", "a straight line", (Slot("height", "number", ""), Slot("span", "number", "[s] > 0"))
    )
    height: Any
    span: Any

    @property
    def knots(self):
        return jnp.stack([jnp.asarray(0.0), jnp.asarray(self.span)])

    @property
    def size(self):
        return 1

    def smooth(self, i, t):
        rate = jnp.atleast_1d(self.height / self.span)
        return Motion(rate * t, rate, 0.0 * rate)
'''
SURFACE = '''
from typing import Any, ClassVar
import jax.numpy as jnp
from ...forms import Form, Slot
from .surface import AbstractSurface, Bound

class Valley(AbstractSurface):
    """Two slopes that meet at x = 0, rounded: y = s sqrt(x^2 + r^2)."""

    form: ClassVar[Form] = Form(
        "valley", "two slopes", (Slot("slope", "number", "> 0"), Slot("round", "number", "[m] > 0"))
    )
    slope: Any
    round: Any

    def normal(self, x, y, t):
        rise = self.slope * x / jnp.sqrt(x * x + self.round**2)
        size = jnp.sqrt(1.0 + rise * rise)
        return -rise / size, 1.0 / size

    def gap(self, x, y, t):
        return (y - self.slope * jnp.sqrt(x * x + self.round**2)) * self.normal(x, y, t)[1]

    def bound(self):
        return Bound(bend=jnp.asarray(self.round / self.slope))
'''
CONTROLLER = '''
from typing import Any, ClassVar
import equinox as eqx
import jax.numpy as jnp
from ..forms import Form, Slot
from .actuator import AbstractActuator

class Spinner(AbstractActuator):
    """Turns the first link towards a rate, and the other way in its second phase."""

    form: ClassVar[Form] = Form(
        "spinner",
        "a wheel that wants a rate",
        (
            Slot("wanted", "number", "[rad/s]"),
            Slot("schedule", "switches", "what ends each phase", ()),
            Slot("anchored", "words", "links of free bases that something outside of the robot turns", ()),
        ),
    )
    wanted: Any
    links: int = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __init__(self, mechanism, wanted, schedule=(), anchored=(), name="spinner"):
        self.name, self.wanted, self.links = name, wanted, mechanism.topology.links
        self.schedule, self.anchored = tuple(schedule), tuple(anchored)

    @property
    def sources(self):
        return ("spinning: somebody",)

    def asked(self, scene, own):
        return [0.02 * (jnp.where(own.phase == 0, self.wanted, -self.wanted) - scene.rate(0))]
'''
FIGURE = """


def lacks(result):
    return None

def draw(figure, result, times):
    axes = figure.subplots()
    axes.plot(times, result.at(times).q[:, 1])
"""
MEASURE = """
from .kind import Measure

def hops(experiment, found):
    return float(len(experiment.result.impacts))

MEASURES = (Measure("hops", "how many rebounds", "hops", hops),)
"""
# new file and its text; list of registry.py, and the line
KINDS = {
    "law": (
        ("contact/normal/foam.py", LAW),
        ("NORMAL_LAWS", 'at("contact.normal.foam.Foam", 1e6, 0.2),'),
    ),
    "friction law": (
        ("contact/friction/wax.py", FRICTION),
        ("FRICTION_LAWS", 'at("contact.friction.wax.Wax", 0.1),'),
    ),
    "impulsive law": (
        ("contact/impact/cushion.py", IMPACT),
        ("IMPACT_LAWS", 'at("contact.impact.cushion.Cushion", 2.0),'),
    ),
    "body": (
        ("mechanism/hoop.py", BODY),
        ("BODIES", 'at("mechanism.hoop.Hoop"),'),
    ),
    "switch": (
        ("control/spun.py", SWITCH),
        ("SWITCHES", 'at("control.spun.Spun"),'),
    ),
    "trajectory": (
        ("control/trajectory/ramp.py", TRAJECTORY),
        ("TRAJECTORIES", 'at("control.trajectory.ramp.Ramp"),'),
    ),
    "surface": (
        ("contact/surfaces/valley.py", SURFACE),
        ("SURFACES", 'at("contact.surfaces.valley.Valley"),'),
    ),
    "controller": (
        ("control/spinner.py", CONTROLLER),
        ("CONTROLLERS", 'at("control.spinner.Spinner"),'),
    ),
    "figure": (
        ("figures/heights.py", FIGURE),
        ("FIGURES", 'at("figures.heights", "heights", "how high it is"),'),
    ),
    "measure": (
        ("experiment/measures/hops.py", MEASURE),
        ("MEASURES", 'at("experiment.measures.hops.MEASURES"),'),
    ),
    "solver": (
        (None, ""),
        ("SOLVERS", 'at("hybrid.solvers.RungeKutta", "an old friend", "Dormand, Prince 1980", "dopri5", 5),'),
    ),
}
FILE = """
format = 2
name = "hopper"

[mechanisms.hopper]
base = "free"

[mechanisms.hopper.links.ball]
body = { kind = "hoop", radius = 0.1, mass = 1.0 }

[surfaces.ground]
kind = "valley"
slope = 0.3
round = 0.2

[contacts.foot]
site = "ball.tip"
radius = 0.1
against = "ground"
normal = { law = "foam", stiffness = 4e4, loss = 0.2 }
friction = { law = "wax", drag = 0.02 }

[control.wheel]
kind = "spinner"
wanted = 50.0
schedule = [{ until = "spun", speed = 3.0 }, { until = "time", time = 9.0 }]
anchored = ["ball"]

[control.plan]
kind = "feed-forward"
torques = { kind = "ramp", height = 0.001, span = 1.0 }
anchored = ["ball"]

[start]
angles = [0.0]
base = [0.3, 0.6]

[run]
until = 1.0
solver = "dopri5"
rtol = 1e-10

[output]
figures = ["heights", "torques", "reaction"]
samples = 50

[quantities.hops]
measure = "hops"

[quantities.fastest]
measure = "rate.ball.most"

[quantities.planned]
measure = "effort.plan.ball.most"
"""
