"""One of each kind that a user can write: laws, friction, surface, controller, contact, figure, measure."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

import carom
from carom.contact import AbstractNormalLaw
from carom.contact.card import Card
from carom.contact.friction import AbstractFriction
from carom.contact.impact import AbstractImpactLaw
from carom.contact.surfaces import AbstractSurface, Bound
from carom.control import AbstractActuator
from carom.experiment.measures import Measure
from carom.figures import Entry
from carom.hybrid import AbstractAutomaton, Anatomy, Channel, ContactReport, Flow, Landing, Own, Phase, Report, Touch
from carom.hybrid.condition import rising, unless

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
RADIUS, STIFFNESS = 0.1, 4e4


class Foam(AbstractNormalLaw):
    """F = K d (1 + b d')."""

    stiffness: Any
    loss: Any

    def force(self, phase, memory, d, rate):
        return self.stiffness * jnp.maximum(d, 0.0) * (1.0 + self.loss * rate)


class Wax(AbstractFriction):
    """F_t = -c F_n v."""

    drag: Any

    def force(self, normal, sliding):
        return -self.drag * normal * sliding


class Cushion(AbstractImpactLaw):
    """Gives back less the harder it is struck: e = 1 / (1 + |u_n| / s), whatever was asked for."""

    speed: Any
    card = Card("cushion", "u_n+ = -u_n- / (1 + |u_n-| / s)", (("speed", "s [m/s] > 0"),), "Nobody 2003", "an example")

    @property
    def asked(self):
        return 1.0

    def end(self, path, restitution):
        return path.impulse(-restitution * path.approach / (1.0 - path.approach / self.speed))


class Valley(AbstractSurface):
    """Two slopes that meet at x = 0, rounded: y = s sqrt(x^2 + r^2)."""

    slope: float = 0.3
    round: float = 0.2

    def _height(self, x):
        return self.slope * jnp.sqrt(x * x + self.round**2)

    def normal(self, x, y, t):
        rise = self.slope * x / jnp.sqrt(x * x + self.round**2)
        size = jnp.sqrt(1.0 + rise * rise)
        return -rise / size, 1.0 / size

    def gap(self, x, y, t):
        return (y - self._height(x)) * self.normal(x, y, t)[1]

    def bound(self):
        return Bound(bend=jnp.asarray(self.round / self.slope))


class Spinner(AbstractActuator):
    """Turns the first link towards a rate."""

    name: str = eqx.field(static=True, default="spinner")
    gain: Any = 0.02
    wanted: Any = 5.0
    links: int = eqx.field(static=True, default=1)
    anchored: tuple = eqx.field(static=True, default=("link1",))  # the ball hangs on nothing: a hand turns it

    @property
    def sources(self):
        return ("spinning: Somebody 2001",)

    def asked(self, scene, own):
        return [self.gain * (self.wanted - scene.rate(0))]


class Pad(AbstractAutomaton):
    """A contact written from nothing: a linear spring with a damper, while they push."""

    name: str = eqx.field(static=True)
    pair: Any
    damping: Any = 20.0

    @property
    def anatomy(self):
        pushes = (Channel("pad", "dissipative", self.name),)
        return Anatomy(phases=("away", "pressed"), exits=("down", "up"), channels=pushes)

    @property
    def report(self):
        return Report(
            words=((self.name, "a pad of our own"),),
            cited=("pads: Anybody 2002",),
            contacts=(
                ContactReport(self.name, self.pair, (Phase("away", "open"), Phase("pressed", "closed")), "down"),
            ),
            touches=self._touches,
            modes=lambda own: [own.phase],
        )

    def _touches(self, scene, own):
        k = self.pair.touching(scene)
        push = jnp.where(own.phase == 1, STIFFNESS * k.indentation + self.damping * k.rate, 0.0)
        return [Touch(k, push, jnp.zeros_like(push))]

    def start(self, scene):
        return Own(jnp.asarray(0), (), ())

    def force(self, scene, own, load):
        ((k, push, drag),) = self._touches(scene, own)
        self.pair.push(scene, load, k, push, drag)
        return Flow(powers=(-push * k.rate,))

    def guard(self, scene, own):
        d = self.pair.touching(scene).indentation
        return unless(own.phase == 1, rising(d)), unless(own.phase == 0, rising(-d))

    def jump(self, scene, own, fired):
        return Landing(jnp.where(fired[0], 1, 0), (), ())


def draw(figure, result, times, site="disk1.tip"):
    """How high it is."""
    axes = figure.subplots()
    axes.plot(times, result.at(times).q[:, 1])
    axes.set_ylabel("height [m]")


def hops(experiment, found):
    return float(sum(i.normal_velocity_after > float(found["least"]) for i in experiment.strikes))


HEIGHTS = Entry("heights", "how high it is", lambda result: None, draw)
HOPS = Measure("hops.LEAST", "rebounds faster than LEAST [m/s]", r"hops\.(?P<least>[0-9.]+)", hops)
ASKED = """
format = 2
name = "ours"
run = { until = 1.2 }
output = { figures = ["reaction", "torques", "heights"], samples = 20 }
quantities.rebounds = { measure = "hops.0.1" }
quantities.turned = { measure = "effort.spinner.link1.most", unit = "N m" }
"""
