"""What a user brings in a file of their own is run, drawn, tabled, ledgered, cited and reported like carom's own."""

import json
import re
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact import AbstractNormalLaw
from carom.contact.pairs import pair_of
from carom.contact.surfaces import AbstractSurface, Bound
from carom.control import AbstractActuator
from carom.experiment import perform
from carom.experiment.measures import MEASURES, Measure, measure
from carom.figures import FIGURES, Entry
from carom.hybrid import AbstractAutomaton, Channel, ContactReport, Drive, Flow, Landing, Own, Phase, Report, Touch
from carom.hybrid.condition import rising, unless
from carom.report import report
from carom.result._drawing import drawing
from carom.result._signals import contact_signals, effort_signals

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
RADIUS, STIFFNESS = 0.1, 4e4


class Foam(AbstractNormalLaw):
    """F = K d (1 + b d')."""

    stiffness: Any
    loss: Any

    def force(self, phase, memory, d, rate):
        return self.stiffness * jnp.maximum(d, 0.0) * (1.0 + self.loss * rate)


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
    limit: Any = None
    rate: Any = None
    links: int = eqx.field(static=True, default=1)
    schedule: tuple = ()
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
    def phases(self):
        return ("away", "pressed")

    @property
    def exits(self):
        return ("down", "up")

    @property
    def channels(self):
        return (Channel("pad", "dissipative", self.name),)

    @property
    def report(self):
        return Report(
            words=((self.name, "a pad of our own"),),
            cited=("pads: Anybody 2002",),
            contacts=(
                ContactReport(self.name, self.pair, (Phase("away", "open"), Phase("pressed", "closed")), "down"),
            ),
            touches=self._touches,
            modes=lambda phase: [phase],
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


@pytest.fixture(scope="module")
def run():
    contact = carom.Contact(BALL.tip, Valley(), Foam(4e4, 0.2), radius=RADIUS, name="valley")
    pad = Pad("pad", pair_of("Pad", BALL.tip, carom.Wall(1.0, "left"), RADIUS))
    world = carom.World(BALL, contacts=[contact, pad], control=Spinner())
    return carom.simulate(world, world.state(base=(0.5, 0.5), base_velocity=(2.0, 0.0)), until=1.2)


def test_it_runs_and_its_ledger_closes(run):
    assert {i.contact for i in run.impacts} == {"valley", "pad"}
    assert run.energy.max_error_percent < 1e-6
    assert {"valley: normal force", "pad: pad", "spinner: actuators"} <= set(run.energy.works)


def test_losses_are_what_the_channels_took(run):
    taken = sum(i.energy_lost for i in run.impacts) + sum(s.energy_lost for s in run.stances)
    works = {name: float(work[-1]) for name, work in run.energy.works.items()}
    assert taken == pytest.approx(
        -works["valley: normal force"] - works["valley: friction"] - works["pad: pad"], rel=1e-9
    )
    assert all(i.energy_lost > 0.0 for i in run.impacts)


def test_signals_of_its_contact_and_of_its_controller(run):
    hit = next(i for i in run.impacts if i.contact == "pad")
    times = np.linspace(hit.t_start, hit.t_end, 9)[1:-1]
    s = contact_signals(run, times)["pad"]
    assert set(s.phase) == {"pressed"}
    np.testing.assert_allclose(s.normal, STIFFNESS * s.indentation + 20.0 * s.rate)
    found = effort_signals(run, [0.0])["spinner"]
    assert found.torques[0, 0] == pytest.approx(0.1) and found.wanted is None


def test_it_is_drawn(run):
    (part,) = drawing(run, [0.0, 0.5]).parts
    assert [r.name for r in part.rounds] == ["valley", "pad"] and len(part.surfaces) == 2
    line = next(s.points for s in part.surfaces if s.name == "valley")
    np.testing.assert_allclose(line[:, 1], 0.3 * np.hypot(line[:, 0], 0.2), atol=2e-4)
    rightwards = np.diff(line[:, 0])
    assert np.all(rightwards > 0.0)  # the free side lies to the left


def test_it_is_cited_and_printed(run):
    text = carom.cite(run.world)
    assert "spinning: Somebody 2001" in text and "pads: Anybody 2002" in text
    assert "a pad of our own" in repr(run.world) and "Foam(stiffness=40000, loss=0.2)" in repr(run.world)


def test_it_is_in_the_page_and_the_viewer(run):
    page = report(run, title="ours")
    data = json.loads(re.search(r'<script type="application/json" id="carom-data">(.*?)</script>', page, re.S).group(1))
    contacts = {c["name"]: c for c in data["clips"][0]["contacts"]}
    told = {(p["word"], p["tone"]) for p in contacts["pad"]["phases"]}
    assert ("away", "open") in told and told & {("compressing", "elastic"), ("parting", "restitution")}
    assert "&#x27;valley&#x27;" in page and '<td class="word">pad</td>' in page


def test_a_figure_of_ones_own_is_found_by_its_name(run):
    def draw(figure, result, times, site="disk1.tip"):
        """How high it is."""
        axes = figure.subplots()
        axes.plot(times, result.at(times).q[:, 1])
        axes.set_ylabel("height [m]")

    FIGURES.append(Entry("heights", "how high it is", lambda result: None, draw))
    try:
        assert run.plot.heights().axes[0].get_ylabel() == "height [m]"
        assert "heights" in run.plot.names() and "heights" in dir(run.plot)
        assert run.plot.heights.__doc__ == "How high it is."
    finally:
        FIGURES.pop()
    with pytest.raises(AttributeError, match="there is no figure 'heights'"):
        run.plot.heights()


def test_a_measure_of_ones_own_is_asked_for_in_a_scenario():
    def hops(experiment, found):
        return float(sum(i.normal_velocity_after > float(found["least"]) for i in experiment.strikes))

    MEASURES.append(Measure("hops.LEAST", "rebounds faster than LEAST [m/s]", r"hops\.(?P<least>[0-9.]+)", hops))
    try:
        scenario = carom.Scenario.load("ball-drop").with_({"run.until": 0.6})
        found = perform(scenario, progress=False)
        assert measure(found, "hops.0.1") == len(found.strikes) > 0 and measure(found, "hops.99.0") == 0.0
    finally:
        MEASURES.pop()


def test_what_a_controller_wants_is_its_drive():
    hold = carom.HoldPose(BALL, jnp.asarray([0.1, 0.2, 0.3]))
    drive = hold.report.drive
    assert isinstance(drive, Drive) and drive.bases == ("base",) and drive.wanted is not None
