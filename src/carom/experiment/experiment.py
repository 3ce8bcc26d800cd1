"""Running a scenario: a simulation, a capture and what follows it, or the steps of a crawler."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arguments import FileLike, UntilLike
from .._simulation import simulate
from ..captures import Capture, after_capture, capture, capture_by_pseudo_inverse
from ..dynamics import kinetic_energy_by_link, site_position
from ..errors import CaromError
from ..hybrid.outcome import NOT_FINITE, RUNNING
from ..hybrid.world import World
from ..mechanism import Mechanism, State
from ..report import Seam
from ..result._clip import Carried, Clip
from ..result.impacts import Impact
from ..result.result import Result
from ..result.stances import Stance
from ..scenario import model
from ..scenario._build import assembled, beginning, mechanism_of, settings_of, state_of, world_of
from ..scenario.places import at

if TYPE_CHECKING:
    from ._identify import Identified

Say = Callable[[str], None]


ZERO = 1e-12  # of a velocity or an impulse: what is smaller is zero


@dataclasses.dataclass(frozen=True)
class Experiment:
    """What a scenario gave: stretches of motion one after the other, and what belongs to them."""

    scenario: model.Scenario
    clips: tuple[Clip, ...]  # in order; a plain run has one
    others: dict[str, Experiment] = dataclasses.field(default_factory=dict)  # variants beside it
    captures: dict[str, Any] = dataclasses.field(default_factory=dict)  # by kind; the scenario's own among them
    seam: Seam | None = None  # the capture
    gait: Any = None
    identified: Identified | None = None  # what was found out of the object before its capture

    @property
    def result(self) -> Result:
        """The run that the scenario is about: the only one, or what follows a capture, or the last step."""
        return self.clips[-1].result

    @property
    def results(self) -> tuple[Result, ...]:
        """Runs that belong to its account of energy and events: not the approach before a capture."""
        return tuple(clip.result for clip in self.clips if clip.t0 >= 0.0)

    @property
    def blow(self) -> Impact | None:
        """The capture as an impact."""
        return None if self.seam is None else self.seam.impact

    @property
    def impacts(self) -> list[Impact]:
        """Every impact, with times of the whole experiment; shares of closed contacts in a blow beside what struck."""
        found = [] if self.blow is None else [self.blow]
        for clip in self.clips:
            moved = (dataclasses.replace(i, t_start=i.t_start + clip.t0, t_end=i.t_end + clip.t0) for i in _of(clip))
            found += moved
        return sorted(found, key=lambda impact: (impact.t_start, not impact.struck))

    @property
    def stances(self) -> list[Stance]:
        """Every stance, with times of the whole experiment."""
        found = [(stance, clip.t0) for clip in self.clips if clip.t0 >= 0.0 for stance in clip.result.stances]
        moved = [dataclasses.replace(s, t_start=s.t_start + t0, t_end=s.t_end + t0) for s, t0 in found]
        return sorted(moved, key=lambda stance: stance.t_start)

    @property
    def strikes(self) -> list[Impact]:
        """Impacts as people count them: without the shares of contacts that were closed."""
        return [impact for impact in self.impacts if impact.struck]

    @property
    def finished(self) -> bool:
        return all(result.finished for result in self.results) and all(s.finished for s in self.others.values())

    @property
    def outcome(self) -> str:
        """How the first run that did not finish ended, of the experiment itself or of a variant beside it."""
        own = next((r.outcome for r in self.results if not r.finished), None)
        other = next((f"variant '{name}': {s.outcome}" for name, s in self.others.items() if not s.finished), None)
        return own or other or self.results[-1].outcome

    @property
    def interrupted(self) -> bool:
        """Was it stopped by Ctrl-C?"""
        own = any(int(r.final.outcome) == RUNNING for r in self.results)
        return own or any(s.interrupted for s in self.others.values())


def _of(clip: Clip) -> list[Impact]:
    return clip.result.impacts if clip.t0 >= 0.0 else []


def perform(
    scenario: model.Scenario,
    say: Say = lambda words: None,
    progress: bool | None = None,
    before: FileLike | None = None,
) -> Experiment:
    """Run a scenario and the variants that it compares itself with; a run that fails is kept with its outcome.

    `before`: the folder or file of a run, from whose end this one goes on, alone.
    """
    if before is not None:
        if scenario.crawl is not None or scenario.capture is not None:
            raise CaromError(f"'{scenario.name}' is a capture or a crawl; only a plain simulation goes on from another")
        return Experiment(scenario, (Clip(_run(scenario, world_of(scenario), before, progress)),))
    beside = {name: scenario.variant(name) for name in scenario.compare}  # a mistake there is found before the work
    found = _one(scenario, say, progress)
    others: dict[str, Experiment] = {}
    for name, other in beside.items():
        if not found.finished or any(s.interrupted for s in others.values()):
            break
        say(f"variant '{name}'")
        others[name] = _one(other, say, progress)
    return dataclasses.replace(found, others=others)


def _one(scenario: model.Scenario, say: Say, progress: bool | None) -> Experiment:
    if scenario.crawl is not None:
        return _crawl(scenario, say, progress)
    if scenario.capture is not None:
        return _capture(scenario, progress)
    world = world_of(scenario)
    return Experiment(scenario, (Clip(_run(scenario, world, beginning(scenario, world), progress)),))


def _run(
    scenario: model.Scenario, world: World, start: State | FileLike, progress: bool | None, until: UntilLike = None
) -> Result:
    end = scenario.run.until if until is None else until
    with at("run", words="the run"):
        result = simulate(world, start, until=end, settings=settings_of(scenario), progress=progress, throw=False)
        if len(result.steps.t):
            return result
        if int(result.final.outcome) == RUNNING:
            raise KeyboardInterrupt  # there is nothing to keep
        if int(result.final.outcome) == NOT_FINITE and "controller" not in result.outcome:
            raise CaromError("the accelerations at the start are not finite; is a mass, an inertia or a length zero?")
        raise CaromError(f"it ended before its first step: {result.outcome}")


# -- captures ----------------------------------------------------------------------------------------------------------


def _capture(scenario: model.Scenario, progress: bool | None) -> Experiment:
    """The blow, the motion that led to it, and the motion after it."""
    asked = scenario.capture
    assert asked is not None
    known = _known(scenario, progress)
    both = mechanism_of(scenario)
    start = state_of(scenario, both)
    with at("capture"):
        given = (both, asked.hand, asked.grip, start)
        own = capture(*given, kind=asked.kind, restitution=asked.restitution, base=asked.base)
        kinds = ("point", "weld", "point-then-weld")
        found = {k: own if k == asked.kind else capture(*given, kind=k, base=asked.base) for k in kinds}
        if not both.topology.elastic:
            found["pseudo-inverse formula"] = capture_by_pseudo_inverse(*given)
    clips = _approach(scenario, both, start, asked.approach)
    carried: tuple[Carried, ...] = ()
    if asked.restitution > 0.0:
        world = assembled(scenario, both, start.q)
        after = State(own.q, own.after)
    else:
        joined = after_capture(own)
        believed = None if known is None else known.joined()
        world = assembled(scenario, joined.mechanism, joined.q, believed)
        after, carried = joined.state, _carried(own)
    clips += [Clip(_run(scenario, world, after, progress), carried=carried)]
    return Experiment(scenario, tuple(clips), captures=found, seam=_blow_of(own), identified=known)


def _known(scenario: model.Scenario, progress: bool | None) -> Identified | None:
    """What a probing run says of the object, where there is one."""
    if scenario.identify is None:
        return None
    from ._identify import identified  # it brings the fit along, which few need

    return identified(scenario, progress)


def _approach(scenario: model.Scenario, both: Mechanism, start: State, time: float) -> list[Clip]:
    """What led to the capture. Nothing is lost before it, so running backwards finds the beginning."""
    if time == 0.0:
        return []
    world = World(both, gravity=scenario.gravity)
    back = _run(scenario, world, State(start.q, -start.v), False, until=time)
    first = _run(scenario, world, State(back.q[-1], -back.v[-1]), False, until=time)
    return [Clip(first, t0=-time)]


def _carried(own: Capture) -> tuple[Carried, ...]:
    """After a weld the object has no link of its own any more, but its disks should be seen."""
    if own.kind == "point":
        return ()
    m, n, top = own.mechanism, own.mechanism.numbers, own.mechanism.topology
    hand, grip = m.site(own.hand), m.site(own.grip)
    angle = float(own.q[top.angle_index(hand.link)])
    turned = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    held = np.asarray(site_position(m, own.q, own.hand))
    out = []
    for k, shape in enumerate(top.shapes):
        if top.trees[k] == top.trees[grip.link] and shape == "disk":
            centre = np.asarray(site_position(m, own.q, f"{top.names[k]}.tip"))
            x, y = np.asarray(n.site[hand.index]) + turned @ (centre - held)
            radius = float(np.sqrt(2.0 * n.inertia[k] / n.mass[k]))
            out.append(Carried(top.names[hand.link], float(x), float(y), radius))
    return tuple(out)


def _blow_of(own: Capture) -> Seam:
    """A capture as an instantaneous impact: its normal is against the relative velocity of the two sites."""
    before, after = np.asarray(own.relative_before)[:2], np.asarray(own.relative_after)[:2]
    speed = float(np.hypot(*before))
    normal = -before / speed if speed > 0.0 else np.array([1.0, 0.0])
    tangent = np.array([normal[1], -normal[0]])
    push = np.asarray(own.impulse)
    after = np.where(np.abs(after) < ZERO * speed, 0.0, after)
    push = np.where(np.abs(push) < ZERO * np.hypot(*push), 0.0, push)
    had, left = (tuple(map(float, kinetic_energy_by_link(own.mechanism, own.q, v))) for v in (own.before, own.after))
    impact = Impact(
        contact=f"{own.hand} takes {own.grip}",
        t_start=0.0,
        t_end=0.0,
        normal_velocity_before=-speed,
        normal_velocity_after=float(after @ normal) + 0.0,  # no -0.0
        tangential_velocity_before=0.0,
        tangential_velocity_after=float(after @ tangent) + 0.0,
        max_indentation=0.0,
        residual_indentation=0.0,
        max_normal_force=float("inf"),
        normal_impulse=float(push @ normal),
        tangential_impulse=float(push @ tangent),
        energy_lost=sum(had) - sum(left),
        kinetic_energy_by_link_before=had,
        kinetic_energy_by_link_after=left,
    )
    x, y = np.asarray(site_position(own.mechanism, own.q, own.hand)).tolist()
    return Seam(impact, (x, y), (float(normal[0]), float(normal[1])))


# -- crawlers ----------------------------------------------------------------------------------------------------------


def _crawl(scenario: model.Scenario, say: Say, progress: bool | None) -> Experiment:
    """Every step planned by inverse dynamics, then simulated under the planned torques."""
    c = scenario.crawl
    assert c is not None
    from ..scenario._crawlers import gait_of  # few crawl

    gait = gait_of(scenario)
    clips: list[Clip] = []
    for k, (step, asked) in enumerate(zip(gait.steps, c.steps, strict=True)):
        say(f"step {k + 1} of {len(gait.steps)}")
        with at("crawl", "steps", k):
            world = step.world(kp=asked.kp, kd=asked.kd)
        start = world.state(angles=step.first)
        result = _run(scenario, world, start, progress, until=float(step.duration))
        begin, mirrored, shift = gait.placed(k)
        clips.append(Clip(result, begin, mirrored, shift))
        if not result.finished:
            break
    return Experiment(scenario, tuple(clips), gait=gait)
