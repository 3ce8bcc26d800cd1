"""Measures of motion and forces over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import native
from ...dynamics import site_position
from ...errors import CaromError, name_in
from ...hybrid.world import World
from ...mechanism import Site
from ...quantities import Vector
from ...result._dense import chunked
from ...result._signals import contact_signals, effort_signals, times_of
from ...result.result import Result
from ...study.poincare_section import poincare
from ...study.recording import Coordinate, LaneMeasure, Mean, Running, RunningTurns, Signal, SitePart
from ...study.responses import response
from ..experiment import Experiment
from ._turning import average, extremes, last_states, table
from .kind import AFTER, LINK, SITE, STAT, STAT_OR_MEAN, Measure, statistic

SAME_POINT = 1e-3  # [rad] Poincare points nearer than this are one


def _all_states(result: Result) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Accepted steps and the states just before every event, in order; the end stays at the end."""
    marks = result.marks
    t = np.concatenate([result.t[:-1], marks.t])
    order = np.argsort(t, kind="stable")
    q, v = (
        np.concatenate([now[:-1], table(before)])[order]
        for now, before in ((result.q, marks.before.q), (result.v, marks.before.v))
    )
    return np.append(t[order], result.t[-1]), np.concatenate([q, result.q[-1:]]), np.concatenate([v, result.v[-1:]])


SLIDING = ("slide", "slide_rate")  # measures of links that slide, where others have angles and rates


def _angle(experiment: Experiment, p: dict[str, str]) -> float:
    index = _angle_index(experiment.result.world, p)
    if "mean" in p:
        return _mean(experiment.result, lambda q, v: (q[:, index], v[:, index]), p["kind"] in ("rate", "slide_rate"))
    if p["kind"] in ("angle", "slide"):
        return statistic(p, *extremes(experiment.result, index))
    t, _, v = _all_states(experiment.result)
    return statistic(p, t, v[:, index])


def _angle_index(world: World, p: dict[str, str]) -> int:
    top = world.mechanism.topology
    k = top.link(p["link"])
    if top.slides[k] != (p["kind"] in SLIDING):
        here = "slide" if top.slides[k] else "angle"
        raise CaromError(f"measure '{p['kind']}' of link '{p['link']}': it has none; ask for {here}.{p['link']}")
    return top.angle_index(k)


def _site(experiment: Experiment, p: dict[str, str]) -> float:
    m = experiment.result.world.mechanism
    site = m.site(p["site"])
    axis = "xy".index(p["axis"])

    def found(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        both = chunked(_moving, (site,), (experiment.result.world,), (q, v))
        return both[:, 0, axis], both[:, 1, axis]

    if "mean" in p:
        return _mean(experiment.result, found, bool(p["rate"]))
    t, q, v = _all_states(experiment.result)
    return statistic(p, t, found(q, v)[1 if p["rate"] else 0])


def _mean(
    result: Result, moving: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]], rate: bool
) -> float:
    """Mean over time of what moves like this: of its place, or of its rate, which is how far it came."""
    begin, end = moving(result.q[:-1], result.v[:-1]), moving(*last_states(result))
    if rate:
        return float(np.sum(end[0] - begin[0]) / (result.t[-1] - result.t[0]))
    return average(result.t, begin, end)


def _moving(site: Site, world: World, q: Vector, v: Vector) -> Any:
    """Position and velocity of a site over many states."""

    def one(q: Vector, v: Vector) -> Any:
        return jnp.stack(jax.jvp(lambda q: site_position(world.mechanism, q, site), (q,), (v,)))

    return native.rows(one)(q, v)


def _bend(experiment: Experiment, p: dict[str, str]) -> float:
    index = _mode_index(experiment.result.world, p)
    if "mean" in p:
        return _mean(experiment.result, lambda q, v: (q[:, index], v[:, index]), False)
    return statistic(p, *extremes(experiment.result, index))


def _mode_index(world: World, p: dict[str, str]) -> int:
    top = world.mechanism.topology
    index = top.mode_index(top.link(p["link"]))
    mode = int(p["mode"])
    if not 1 <= mode <= len(index):
        raise CaromError(f"mode {mode} of '{p['link']}' was asked for; it has {len(index)}")
    return index[mode - 1]


def _wave_number(experiment: Experiment, p: dict[str, str]) -> float:
    whole = experiment.result.world.mechanism.topology
    name_in("link", p["link"], whole.names)
    bodies = {
        link if len(experiment.scenario.mechanisms) == 1 else f"{name}.{link}": made.body
        for name, m in experiment.scenario.mechanisms.items()
        for link, made in m.links.items()
    }
    numbers = bodies[p["link"]].made().wave_numbers()
    if len(numbers) == 0:
        raise CaromError(f"link '{p['link']}' is rigid; only elastic links have wave numbers")
    mode = int(p["mode"])
    if not 1 <= mode <= len(numbers):
        raise CaromError(f"mode {mode} of '{p['link']}' was asked for; it has {len(numbers)}")
    return float(numbers[mode - 1])


def _force(experiment: Experiment, p: dict[str, str]) -> float:
    times = times_of(experiment.result)
    signals = contact_signals(experiment.result, times)
    name_in("contact", p["contact"], tuple(signals))
    return statistic(p, times, np.asarray(getattr(signals[p["contact"]], p["kind"])))


def _effort(experiment: Experiment, p: dict[str, str]) -> float:
    """A torque of a joint, or a force on a base, of a controller."""
    times = times_of(experiment.result)
    found = effort_signals(experiment.result, times)
    name_in("controller", p["control"], tuple(found))
    links, efforts = experiment.result.world.mechanism.topology.names, found[p["control"]]
    columns = dict(zip(links, efforts.torques.T, strict=True))
    for force in efforts.pushes.values():
        columns |= {"x": force[:, 0], "y": force[:, 1]}
    name_in("effort", p["part"], tuple(columns))
    return statistic(p, times, columns[p["part"]])


def _asymmetry(experiment: Experiment, p: dict[str, str]) -> float:
    """Largest distance [m] of a site from the mirror image (about x = 0) of its counterpart."""
    m = experiment.result.world.mechanism
    left, right = ([m.site(s) for s in p[side].split(",")] for side in ("left", "right"))
    if len(left) != len(right):
        raise CaromError(f"asymmetry compares {len(left)} with {len(right)} sites; every site needs its counterpart")
    q = experiment.result.at(np.linspace(0.0, float(experiment.result.t[-1]), 601)).q
    where = jax.jit(jax.vmap(lambda q: jnp.stack([site_position(m, q, s) for s in (*left, *right)])))
    places = np.asarray(where(q))
    a, b = places[:, : len(left)], places[:, len(left) :] * np.array([-1.0, 1.0])
    return float(np.max(np.abs(a - b)))


def _poincare(experiment: Experiment, p: dict[str, str]) -> float:
    """Distinct points of the section where a link's rate is zero, with all angles."""
    result = experiment.result
    top = result.world.mechanism.topology
    index = top.angle_index(top.link(p["link"]))
    section = poincare(result, lambda t, q, v: v[index])
    points: list[np.ndarray] = []
    for point in section.q[section.t >= float(p.get("after", "-inf"))][:, top.angles]:
        if all(np.max(np.abs(point - other)) > SAME_POINT for other in points):
            points.append(point)
    return float(len(points))


def _response(experiment: Experiment, p: dict[str, str]) -> float:
    """How a link reaches the first target of the first controller that has one."""
    driven = effort_signals(experiment.result, experiment.result.t[:1]).values()
    drive = next((e for e in driven if e.wanted is not None), None)
    if drive is None or drive.wanted is None:
        raise CaromError("a response is that to a controller with targets; the scenario has none")
    k = experiment.result.world.mechanism.topology.link(p["link"])
    found = response(experiment.result, p["link"], float(drive.wanted[0, k]), relative=drive.relative)
    return float(getattr(found, p["field"]))


# -- in a lane of a batch ----------------------------------------------------------------------------------------------


UNITS = {"angle": "rad", "rate": "rad/s", "slide": "m", "slide_rate": "m/s"}


def _running(recorder: type[Running], signal: Signal, p: dict[str, str], unit: str) -> LaneMeasure:
    made = Mean(signal) if "mean" in p else recorder(signal, p["stat"], float(p.get("after", "-inf")))
    return LaneMeasure(made, lambda columns: columns["value"], unit)


def _angle_in_lane(world: World, p: dict[str, str], ledger: bool) -> LaneMeasure:
    index = _angle_index(world, p)
    if p["kind"] in ("angle", "slide"):
        return _running(RunningTurns, Coordinate(index), p, UNITS[p["kind"]])
    return _running(Running, Coordinate(index, rate=True), p, UNITS[p["kind"]])


def _site_in_lane(world: World, p: dict[str, str], ledger: bool) -> LaneMeasure:
    site = world.mechanism.site(p["site"]).name
    return _running(Running, SitePart(site, "xy".index(p["axis"]), bool(p["rate"])), p, "m/s" if p["rate"] else "m")


def _bend_in_lane(world: World, p: dict[str, str], ledger: bool) -> LaneMeasure:
    return _running(RunningTurns, Coordinate(_mode_index(world, p)), p, "m")


MEASURES: tuple[Measure, ...] = (
    Measure(
        "wave_number.LINK.MODE",
        "dimensionless wave number of a mode of an elastic link",
        r"wave_number\.(?P<link>.+)\.(?P<mode>\d{1,3})",
        _wave_number,
    ),
    Measure(
        "angle.LINK.STATISTIC",
        "angle [rad] (rate [rad/s]) of a link: least, most, size, final (.after.T: from T [s] on) or mean; of a link "
        "on a slider, slide [m] (slide_rate [m/s])",
        rf"(?P<kind>angle|rate|slide|slide_rate)\.{LINK}\.{STAT_OR_MEAN}",
        _angle,
        lane=_angle_in_lane,
    ),
    Measure(
        "vx.SITE.STATISTIC",
        "x, y [m], vx, vy [m/s] of a site",
        rf"(?P<rate>v?)(?P<axis>x|y)\.{SITE}\.{STAT_OR_MEAN}",
        _site,
        lane=_site_in_lane,
    ),
    Measure(
        "bend.LINK.MODE.STATISTIC",
        "modal coordinate [m]",
        rf"bend\.{LINK}\.(?P<mode>\d{{1,3}})\.{STAT_OR_MEAN}",
        _bend,
        lane=_bend_in_lane,
    ),
    Measure(
        "normal.CONTACT.STATISTIC",
        "normal or friction force [N], indentation [m] of a contact",
        rf"(?P<kind>normal|friction|indentation)\.(?P<contact>.+?)\.{STAT}",
        _force,
    ),
    Measure(
        "effort.CONTROL.PART.STATISTIC",
        "torque [N m] of a joint (its link's name), or force [N] on a base (x, y), of a controller",
        rf"effort\.(?P<control>[^.]+)\.(?P<part>.+?)\.{STAT}",
        _effort,
    ),
    Measure(
        "asymmetry.SITES|SITES",
        "largest distance [m] of sites from the mirror images of their counterparts; two lists with commas",
        r"asymmetry\.(?P<left>[^|]+)\|(?P<right>[^|]+)",
        _asymmetry,
    ),
    Measure(
        "poincare.LINK.points",
        "distinct points of the section where a link's rate is zero",
        rf"poincare\.{LINK}\.points{AFTER}",
        _poincare,
    ),
    Measure(
        "response.LINK.FIELD",
        "rise_time [s], overshoot, settling_time [s] or final_error [rad] under a posture controller",
        r"response\.(?P<link>.+)\.(?P<field>rise_time|overshoot|settling_time|final_error)",
        _response,
    ),
)
