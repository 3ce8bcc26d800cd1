"""Numbers that a study gives, by name: `impact.1.duration`, `vx.fore.tip.most.after.1`, `energy.max_error_percent`.

A measure is a pattern, a meaning and a function; the first pattern that fits is the one.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..dynamics import site_position
from ..errors import CaromError, name_in
from ..hybrid.world import World
from ..mechanism import Site
from ..result.impacts import Impact
from ..result.result import Result, over_states
from ..result.signals import base_force_signals, contact_signals, times_of, torque_signals
from ..study.response import response
from ..study.section import poincare
from .study import Study

STATISTICS: dict[str, Callable[[np.ndarray], Any]] = {
    "least": np.min,
    "most": np.max,
    "size": lambda x: np.max(np.abs(x)),
    "final": lambda x: x[-1],
}
AFTER = r"(\.after\.(?P<after>\d{1,9}(\.\d{1,9})?))?"
STAT = rf"(?P<stat>least|most|size|final){AFTER}"
SAME_SPEED = 0.01  # share by which regular impacts may differ
SAME_POINT = 1e-3  # [rad] Poincare points nearer than this are one


class Measure(NamedTuple):
    """One kind of measure."""

    form: str  # as people read it
    meaning: str
    pattern: str
    function: Callable[[Study, dict[str, str]], float]


@dataclasses.dataclass(frozen=True)
class Measured:
    """A quantity of a study beside what is expected of it."""

    name: str
    value: float
    unit: str
    about: str
    expected: float | None
    allowed: float | None  # largest absolute difference that agrees
    source: str
    note: str
    missing: str = ""  # why there is no value

    @property
    def difference(self) -> float | None:
        return None if self.expected is None else self.value - self.expected

    @property
    def percent(self) -> float | None:
        """Difference in per cent of what is expected; None where that is zero or nothing."""
        return None if not self.expected else 100.0 * (self.value / self.expected - 1.0)

    @property
    def agrees(self) -> bool | None:
        """None where nothing is expected."""
        if self.expected is None or self.difference is None:
            return None
        return bool(abs(self.difference) <= (self.allowed or 0.0))

    @property
    def verdict(self) -> str:
        if self.missing:
            return f"not there: {self.missing}"
        if self.agrees is None:
            return ""
        if self.agrees:
            return "agrees"
        return f"differs: {self.note}" if self.note else "DIFFERS"


def measured(study: Study) -> list[Measured]:
    """All quantities of a study's scenario; one that this run does not have (a fifth impact of four) says why."""
    out = []
    for name, q in study.scenario.quantities.items():
        missing = ""
        try:
            value = measure(study, q.measure, q.unit)
        except CaromError as refusal:
            value, missing = float("nan"), str(refusal)
        relative = None if q.tolerance is None or q.expected is None else q.tolerance * abs(q.expected)
        allowed = max((a for a in (relative, q.within) if a is not None), default=None)
        out.append(Measured(name, value, q.unit, q.about, q.expected, allowed, q.source, q.note, missing))
    return out


def measure(study: Study, name: str, unit: str = "-") -> float:
    """The value of one measure; angles in degrees and shares in per cent if the unit says so."""
    for kind in MEASURES:
        found = re.fullmatch(kind.pattern, name)
        if found:
            value = kind.function(study, {k: v for k, v in found.groupdict().items() if v is not None})
            return _in_unit(value, name, unit)
    raise CaromError(f"there is no measure '{name[:80]}'; {nearest(name)}")


def nearest(name: str) -> str:
    """What to say about a measure that is not there."""
    near = get_close_matches(name, [m.form for m in MEASURES], n=1, cutoff=0.3)
    return f"the nearest form is {near[0]}" if near else "`carom show --measures` lists them"


def _in_unit(value: float, name: str, unit: str) -> float:
    if unit.startswith("deg"):
        return float(np.rad2deg(value))
    return 100.0 * float(value) if unit == "%" and "percent" not in name else float(value)


# -- impacts -----------------------------------------------------------------------------------------------------------


def _impact(study: Study, p: dict[str, str]) -> float:
    chosen = _nth(study, int(p["number"]))
    names = [f.name for f in dataclasses.fields(Impact)]
    names += ["duration", "restitution", "kinetic_energy_before", "kinetic_energy_after", "kinetic_energy_lost"]
    name_in("field of an impact", p["field"], tuple(names))
    if p["field"] == "kinetic_energy_lost":
        return chosen.kinetic_energy_before - chosen.kinetic_energy_after
    if p["field"].startswith("kinetic_energy_by_link") or p["field"] == "contact":
        raise CaromError(f"'{p['field']}' is no single number; ask for kinetic_energy_before.LINK")
    return float(getattr(chosen, p["field"]))


def _impact_energy(study: Study, p: dict[str, str]) -> float:
    links = study.result.world.mechanism.topology.names
    name_in("link", p["link"], links)
    each = getattr(_nth(study, int(p["number"])), f"kinetic_energy_by_link_{p['side']}")
    return float(each[links.index(p["link"])])


def _nth(study: Study, number: int) -> Impact:
    found = study.impacts
    if not 1 <= number <= len(found):
        raise CaromError(f"impact {number} was asked for; the run has {len(found)}")
    return found[number - 1]


def _count(study: Study, p: dict[str, str]) -> float:
    contact, end = p.get("contact"), float(p.get("before", "inf"))
    return float(sum(contact in (None, i.contact) and i.t_start < end for i in study.impacts))


def _regular(study: Study, p: dict[str, str]) -> float:
    """Number of the impact after which the striking velocity hardly changes; nan if it always does."""
    speeds = np.array([i.normal_velocity_before for i in study.impacts])
    small = np.abs(np.diff(speeds)) < SAME_SPEED * np.abs(speeds[:-1])
    rough = np.flatnonzero(~small)
    first = int(rough[-1]) + 2 if len(rough) else 1
    return float(first) if len(speeds) > first else float("nan")


def _ratio(study: Study, p: dict[str, str]) -> float:
    """Square root of kinetic energy after over before, of one link or of all."""
    if "link" not in p:
        i = _nth(study, int(p["number"]))
        return float(np.sqrt(i.kinetic_energy_after / i.kinetic_energy_before))
    before, after = (_impact_energy(study, p | {"side": side}) for side in ("before", "after"))
    return float(np.sqrt(after / before))


# -- motion ------------------------------------------------------------------------------------------------------------


def _statistic(p: dict[str, str], t: np.ndarray, values: np.ndarray) -> float:
    keep = t >= float(p.get("after", "-inf"))
    if not np.any(keep):
        raise CaromError(f"nothing happens after {p['after']} s; the run ends at {t[-1]:g} s")
    return float(STATISTICS[p["stat"]](values[keep]))


def _all_states(result: Result) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Accepted steps and the states just before every event, in order; the end stays at the end."""
    marks = result.marks
    t = np.concatenate([result.t[:-1], marks.t])
    order = np.argsort(t, kind="stable")
    q, v = (
        np.concatenate([now[:-1], _table(before)])[order]
        for now, before in ((result.q, marks.before.q), (result.v, marks.before.v))
    )
    return np.append(t[order], result.t[-1]), np.concatenate([q, result.q[-1:]]), np.concatenate([v, result.v[-1:]])


def _table(columns: Any) -> np.ndarray:
    """Small mechanisms keep their coordinates as a tuple of columns."""
    return np.stack(columns, axis=1) if isinstance(columns, tuple) else np.asarray(columns)


def _angle(study: Study, p: dict[str, str]) -> float:
    top = study.result.world.mechanism.topology
    t, q, v = _all_states(study.result)
    index = top.angle_index(top.link(p["link"]))
    return _statistic(p, t, (q if p["kind"] == "angle" else v)[:, index])


def _site(study: Study, p: dict[str, str]) -> float:
    m = study.result.world.mechanism
    site = m.site(p["site"])
    t, q, v = _all_states(study.result)

    found = over_states(_moving, study.result.world, q, v, site)
    row = 1 if p["axis"].startswith("v") else 0
    return _statistic(p, t, found[:, row, "xy".index(p["axis"][-1])])


def _moving(site: Site, world: World, q: Any, v: Any) -> Any:
    """Position and velocity of a site over many states."""

    def one(q: Any, v: Any) -> Any:
        return jnp.stack(jax.jvp(lambda q: site_position(world.mechanism, q, site), (q,), (v,)))

    return jax.vmap(one)(q, v)


def _bend(study: Study, p: dict[str, str]) -> float:
    top = study.result.world.mechanism.topology
    index = top.mode_index(top.link(p["link"]))
    mode = int(p["mode"])
    if not 1 <= mode <= len(index):
        raise CaromError(f"mode {mode} of '{p['link']}' was asked for; it has {len(index)}")
    t, q, _ = _all_states(study.result)
    return _statistic(p, t, q[:, index[mode - 1]])


def _wave_number(study: Study, p: dict[str, str]) -> float:
    from ..mechanism import Beam
    from .build import body_of

    whole = study.result.world.mechanism.topology
    name_in("link", p["link"], whole.names)
    bodies = {
        link if len(study.scenario.mechanisms) == 1 else f"{name}.{link}": made.body
        for name, m in study.scenario.mechanisms.items()
        for link, made in m.links.items()
    }
    made = body_of(bodies[p["link"]])
    if not isinstance(made, Beam):
        raise CaromError(f"link '{p['link']}' is rigid; only elastic links have wave numbers")
    numbers = made.data.shapes.wave_number
    mode = int(p["mode"])
    if not 1 <= mode <= len(numbers):
        raise CaromError(f"mode {mode} of '{p['link']}' was asked for; it has {len(numbers)}")
    return float(numbers[mode - 1])


def _force(study: Study, p: dict[str, str]) -> float:
    times = times_of(study.result)
    signals = contact_signals(study.result, times)
    name_in("contact", p["contact"], tuple(signals))
    return _statistic(p, times, np.asarray(getattr(signals[p["contact"]], p["kind"])))


def _effort(study: Study, p: dict[str, str]) -> float:
    """A torque of a joint, or a force on a base, of a controller."""
    times = times_of(study.result)
    torques, pushes = torque_signals(study.result, times), base_force_signals(study.result, times)
    name_in("controller", p["control"], tuple(torques))
    links = study.result.world.mechanism.topology.names
    columns = dict(zip(links, torques[p["control"]].T, strict=True))
    for name, force in pushes.items():
        if name.startswith(f"{p['control']} on "):
            columns |= {"x": force[:, 0], "y": force[:, 1]}
    name_in("effort", p["part"], tuple(columns))
    return _statistic(p, times, columns[p["part"]])


def _asymmetry(study: Study, p: dict[str, str]) -> float:
    """Largest distance [m] of a site from the mirror image (about x = 0) of its counterpart."""
    m = study.result.world.mechanism
    left, right = ([m.site(s) for s in p[side].split(",")] for side in ("left", "right"))
    if len(left) != len(right):
        raise CaromError(f"asymmetry compares {len(left)} with {len(right)} sites; every site needs its counterpart")
    q = study.result.at(np.linspace(0.0, float(study.result.t[-1]), 601)).q
    where = jax.jit(jax.vmap(lambda q: jnp.stack([site_position(m, q, s) for s in (*left, *right)])))
    places = np.asarray(where(q))
    a, b = places[:, : len(left)], places[:, len(left) :] * np.array([-1.0, 1.0])
    return float(np.max(np.abs(a - b)))


def _poincare(study: Study, p: dict[str, str]) -> float:
    """Distinct points of the section where a link's rate is zero, with all angles."""
    result = study.result
    top = result.world.mechanism.topology
    index = top.angle_index(top.link(p["link"]))
    section = poincare(result, lambda t, q, v: v[index])
    points: list[np.ndarray] = []
    for point in section.q[section.t >= float(p.get("after", "-inf"))][:, top.angles]:
        if all(np.max(np.abs(point - other)) > SAME_POINT for other in points):
            points.append(point)
    return float(len(points))


def _response(study: Study, p: dict[str, str]) -> float:
    """How a link reaches the target of the first posture controller."""
    from ..control import PostureControl

    world = study.result.world
    drive = next((a for a in world.automata if isinstance(a, PostureControl)), None)
    if drive is None:
        raise CaromError("a response is that to a posture controller; the scenario has none")
    k = world.mechanism.topology.link(p["link"])
    found = response(study.result, p["link"], float(drive.targets[0][k]), relative=drive.relative)
    return float(getattr(found, p["field"]))


# -- balances ----------------------------------------------------------------------------------------------------------


def _energy(study: Study, p: dict[str, str]) -> float:
    return max(float(getattr(result.energy, p["field"])) for result in study.results)


def _momentum(study: Study, p: dict[str, str]) -> float:
    return float(getattr(study.result.momentum, p["field"]))


# -- captures ----------------------------------------------------------------------------------------------------------


def _captured(study: Study) -> Any:
    asked = study.scenario.capture
    if asked is None:
        raise CaromError("the scenario has no capture")
    return study.captures[asked.kind]


def _capture_field(study: Study, p: dict[str, str]) -> float:
    own = _captured(study)
    if p["field"] == "momentum_error":
        return float(np.max(np.abs(own.momentum_error)))
    return float(getattr(own, p["field"]))


def _formula_error(study: Study, p: dict[str, str]) -> float:
    """Linear momentum that the pseudo-inverse formula creates or destroys, per cent of what there was."""
    _captured(study)
    if "pseudo-inverse formula" not in study.captures:
        raise CaromError("the pseudo-inverse formula is one for rigid links; the scenario has elastic ones")
    found = study.captures["pseudo-inverse formula"]
    before = np.hypot(*np.asarray(found.momentum_before.linear))
    return float(100.0 * np.max(np.abs(np.asarray(found.momentum_error)[:2])) / before)


def _capture_velocity(study: Study, p: dict[str, str]) -> float:
    _captured(study)
    found = study.captures[p["kind"]]
    m = found.mechanism
    k = m.topology.link(p["link"])
    if p["part"] == "rate":
        return float(found.after[m.topology.angle_index(k)])
    if p["part"] == "joint":
        return float(m.to_relative(found.after)[m.topology.angle_index(k)])
    moved = jax.jvp(lambda q: site_position(m, q, f"{m.topology.names[k]}.tip"), (found.q,), (found.after,))[1]
    return float(moved["xy".index(p["part"][-1])])


# -- crawlers ----------------------------------------------------------------------------------------------------------


def _gait(study: Study) -> Any:
    if study.gait is None:
        raise CaromError("the scenario has no crawl")
    return study.gait


def _crawl_field(study: Study, p: dict[str, str]) -> float:
    gait = _gait(study)
    if p["field"] == "speed":
        return float(gait.distance / gait.period)
    return float(getattr(gait, p["field"]))


def _deviation(study: Study, p: dict[str, str]) -> float:
    """Largest distance [rad] of the simulated angles from the planned ones, over all steps."""
    worst = 0.0
    for step, clip in zip(_gait(study).steps, study.clips, strict=False):
        times = np.linspace(0.0, float(step.duration), 201)
        motion, _ = step.plan.over(jnp.asarray(times))
        worst = max(worst, float(np.max(np.abs(np.asarray(clip.result.at(times).q) - np.asarray(motion.q)))))
    return worst


def _step(study: Study, p: dict[str, str]) -> float:
    """A planned torque or reaction of one step."""
    steps, number = _gait(study).steps, int(p["step"])
    if not 1 <= number <= len(steps):
        raise CaromError(f"step {number} was asked for; the gait has {len(steps)}")
    times = np.linspace(0.0, float(steps[number - 1].duration), 401)
    _, efforts = steps[number - 1].plan.over(jnp.asarray(times))
    if p["part"] == "reaction":
        values = np.asarray(efforts.normal).reshape(len(times), -1)[:, 0]
    elif p["part"] == "tip":
        values = np.asarray(efforts.sliding).reshape(len(times), -1)[:, 0]
    else:
        torques, joint = np.asarray(efforts.torques), int(p["part"].removeprefix("torque"))
        if not 1 <= joint <= torques.shape[1]:
            raise CaromError(f"torque {joint} was asked for; the crawler has {torques.shape[1]}")
        values = torques[:, joint - 1]
    return _statistic(p, times, values)


LINK, SITE = r"(?P<link>.+?)", r"(?P<site>.+?)"
MEASURES: tuple[Measure, ...] = (
    Measure(
        "impacts.count",
        "how many impacts; of one contact with .CONTACT, before T [s] with .before.T",
        r"impacts\.count(\.(?!before\.)(?P<contact>.+?))?(\.before\.(?P<before>[0-9.]+))?",
        _count,
    ),
    Measure(
        "impacts.regular_after",
        "number of the impact after which the striking velocity changes by less than 1 %",
        r"impacts\.regular_after",
        _regular,
    ),
    Measure(
        "impact.N.kinetic_energy_ratio",
        "square root of kinetic energy after over before; of one link with .LINK",
        r"impact\.(?P<number>\d{1,6})\.kinetic_energy_ratio(\.(?P<link>.+))?",
        _ratio,
    ),
    Measure(
        "wave_number.LINK.MODE",
        "dimensionless wave number of a mode of an elastic link",
        r"wave_number\.(?P<link>.+)\.(?P<mode>\d{1,3})",
        _wave_number,
    ),
    Measure(
        "impact.N.kinetic_energy_before.LINK",
        "kinetic energy of one link before (after) impact N [J]",
        r"impact\.(?P<number>\d{1,6})\.kinetic_energy_(?P<side>before|after)\.(?P<link>.+)",
        _impact_energy,
    ),
    Measure(
        "impact.N.FIELD",
        "a column of impacts.csv for impact N",
        r"impact\.(?P<number>\d{1,6})\.(?P<field>\w+)",
        _impact,
    ),
    Measure(
        "angle.LINK.STATISTIC",
        "angle [rad] (rate [rad/s]) of a link: least, most, size, final; .after.T counts from T [s] on",
        rf"(?P<kind>angle|rate)\.{LINK}\.{STAT}",
        _angle,
    ),
    Measure(
        "vx.SITE.STATISTIC",
        "x, y [m], vx, vy [m/s] of a site",
        rf"(?P<axis>x|y|vx|vy)\.{SITE}\.{STAT}",
        _site,
    ),
    Measure("bend.LINK.MODE.STATISTIC", "modal coordinate [m]", rf"bend\.{LINK}\.(?P<mode>\d{{1,3}})\.{STAT}", _bend),
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
    Measure(
        "energy.FIELD",
        "max_error_percent or mean_error_percent of the ledger",
        r"energy\.(?P<field>max_error_percent|mean_error_percent)",
        _energy,
    ),
    Measure(
        "momentum.FIELD",
        "linear_drift [kg m/s] or angular_drift [kg m^2/s] of the run",
        r"momentum\.(?P<field>linear_drift|angular_drift)",
        _momentum,
    ),
    Measure(
        "capture.FIELD",
        "energy_before, energy_after, energy_lost [J], momentum_error [kg m/s] of a capture",
        r"capture\.(?P<field>energy_before|energy_after|energy_lost|momentum_error)",
        _capture_field,
    ),
    Measure(
        "capture.formula_momentum_error_percent",
        "momentum that the pseudo-inverse formula creates or destroys [%]",
        r"capture\.formula_momentum_error_percent",
        _formula_error,
    ),
    Measure(
        "capture.KIND.LINK.PART",
        "velocity after a capture of that kind: vx, vy of the link's tip [m/s], rate, joint [rad/s]",
        r"capture\.(?P<kind>point|weld|point-then-weld)\.(?P<link>.+)\.(?P<part>vx|vy|rate|joint)",
        _capture_velocity,
    ),
    Measure(
        "crawl.FIELD", "distance [m] or speed [m/s] of a gait", r"crawl\.(?P<field>distance|speed|period)", _crawl_field
    ),
    Measure(
        "crawl.largest_deviation",
        "simulated from planned angles [rad]",
        r"crawl\.largest_deviation",
        _deviation,
    ),
    Measure(
        "crawl.stepN.torqueK.STATISTIC",
        "planned torque [N m], reaction [N] or tip velocity [m/s] in step N",
        rf"crawl\.step(?P<step>\d{{1,3}})\.(?P<part>torque\d|reaction|tip)\.{STAT}",
        _step,
    ),
)
