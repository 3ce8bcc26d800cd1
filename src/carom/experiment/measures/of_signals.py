"""Statistics of any signal: `most(abs(tip.vx))`, `mean(control.hopper.power, after 2)`."""

from __future__ import annotations

import numpy as np

from ...errors import CaromError, name_in
from ...hybrid.world import World
from ...result._expressed import values_of
from ...result._signals import times_of
from ...result.result import Result
from ...signal import Signal
from ...signal._grammar import quoted
from ...signal._unit import Unit, unit_of
from ...study.recording import LaneMeasure, Mean, RunningTurns, Written
from ..experiment import Experiment
from .kind import Measure

NEARER, ROUNDS = 41, 3  # instants around the largest value, and how often they are drawn together
PIECES = 400  # of a run, at least, that an integral is summed over
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(5)


def _statistic(experiment: Experiment, p: dict[str, str]) -> float:
    result, text, stat = experiment.result, p["signal"], p["stat"]
    after = max(float(p.get("after", "-inf")), float(result.t[0]))
    if after > result.t[-1]:
        raise CaromError(f"nothing happens after {p['after']} s; the run ends at {result.t[-1]:g} s")
    if stat == "final":
        return float(result.signal(text, result.t[-1:])[0])
    if stat in ("mean", "integral"):
        whole, span = _integral(result, text, after), float(result.t[-1]) - after
        return whole if stat == "integral" else whole / span if span > 0.0 else float("nan")
    return _extreme(result, text, stat, after)


def _extreme(result: Result, text: str, stat: str, after: float) -> float:
    """The largest value (the least, the largest size): among samples, then more and more closely around it."""
    sign = {"most": np.positive, "least": np.negative, "size": np.abs}[stat]
    times = times_of(result)
    times = np.unique(np.concatenate([[after], times[times >= after]]))
    best = -np.inf
    for _ in range(ROUNDS + 1):
        values = sign(values_of(result, [text], times)[:, 0])
        if np.all(np.isnan(values)):
            return float("nan")
        k = int(np.nanargmax(values))
        best = max(best, float(values[k]))
        times = np.linspace(times[max(k - 1, 0)], times[min(k + 1, len(times) - 1)], NEARER)
    return -best if stat == "least" else best


def _integral(result: Result, text: str, after: float) -> float:
    """Gauss's rule within every step; long steps in pieces, as a signal may bend where the motion does not."""
    span = max(float(result.t[-1]) - after, 0.0) / PIECES
    inner = np.linspace(after, float(result.t[-1]), PIECES + 1) if span else np.zeros(0)
    ends = np.unique(np.concatenate([[after], result.t[result.t >= after], inner]))
    half, middle = 0.5 * np.diff(ends), 0.5 * (ends[1:] + ends[:-1])
    if not len(half):
        return 0.0
    times = (middle[:, None] + half[:, None] * POINTS).ravel()
    values = values_of(result, [text], times)[:, 0].reshape(-1, len(POINTS))
    return float(np.sum(half * (values @ WEIGHTS)))


def _in_lane(world: World, p: dict[str, str], ledger: bool) -> LaneMeasure:
    text, stat = p["signal"], p["stat"]
    unit = str(Signal(text).check(world.mechanism, world.automata))
    if stat in ("mean", "integral"):
        if "after" in p:
            raise CaromError(f"{stat}(..., after T) is not recorded in a lane; take it over the whole run")
        unit = unit if stat == "mean" else f"{unit} s"
        return LaneMeasure(Mean(Written(text), whole=stat == "integral"), lambda columns: columns["value"], unit)
    made = RunningTurns(Written(text), stat, float(p.get("after", "-inf")))
    return LaneMeasure(made, lambda columns: columns["value"], unit)


def _duty_factor(experiment: Experiment, p: dict[str, str]) -> float:
    result = experiment.result
    return _integral(result, f"contact.{quoted(p['contact'])}.closed", float(result.t[0])) / float(
        result.t[-1] - result.t[0]
    )


def _duty_factor_in_lane(world: World, p: dict[str, str], ledger: bool) -> LaneMeasure:
    text = f"contact.{quoted(p['contact'])}.closed"
    Signal(text).check(world.mechanism, world.automata)
    return LaneMeasure(Mean(Written(text)), lambda columns: columns["value"])


def _cost_of_transport(experiment: Experiment, p: dict[str, str]) -> float:
    """What the actuators exert, whichever way, over weight and distance."""
    result = experiment.result
    names, begin, end = result.world.mechanism.topology.names, result.t[0], result.t[-1]
    text = " + ".join(f"abs(control.{quoted(p['control'])}.{quoted(name)}.power)" for name in names)
    way = abs(float(np.diff(result.signal("com.x", [begin, end]))[0])) * float(result.signal("weight", [begin])[0])
    if way == 0.0:
        raise CaromError("cost_of_transport is over the distance and the weight; the run has none of them")
    return _integral(result, text, float(begin)) / way


def _unit(world: World, p: dict[str, str]) -> Unit:
    """Of a statistic; integrals are over time."""
    unit = Signal(p["signal"]).check(world.mechanism, world.automata)
    return unit.times(unit_of("s")[1]) if p["stat"] == "integral" else unit


def _unit_of_share(world: World, p: dict[str, str]) -> Unit:
    return Signal(f"contact.{quoted(p['contact'])}.closed").check(world.mechanism, world.automata)


def _unit_of_cost(world: World, p: dict[str, str]) -> Unit:
    drives = tuple(a.name for a in world.automata if a.report.drive is not None)
    name_in("controller", p["control"], drives)
    return unit_of("-")[1]


MEASURES: tuple[Measure, ...] = (
    Measure(
        "duty_factor.CONTACT",
        "share of the time in which a contact is closed",
        r"duty_factor\.(?P<contact>.+)",
        _duty_factor,
        lane=_duty_factor_in_lane,
        unit=_unit_of_share,
    ),
    Measure(
        "cost_of_transport.CONTROL",
        "work of a controller's actuators, positive and negative alike, over weight and distance along x",
        r"cost_of_transport\.(?P<control>.+)",
        _cost_of_transport,
        unit=_unit_of_cost,
    ),
    Measure(
        "STATISTIC(SIGNAL)",
        "least, most, size, final, mean or integral of any signal, as most(abs(tip.vx)); from T [s] on with "
        "most(tip.y, after T)",
        r"(?P<stat>least|most|size|final|mean|integral)\((?P<signal>.+?)(,\s*after\s+(?P<after>\d{1,9}(\.\d{1,9})?))?\)",
        _statistic,
        lane=_in_lane,
        unit=_unit,
    ),
)
