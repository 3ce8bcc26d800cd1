"""Measures of captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ...dynamics import site_position
from ...errors import CaromError, name_in
from ..experiment import Experiment
from .kind import Measure

if TYPE_CHECKING:
    from .._identify import Identified


def _captured(experiment: Experiment) -> Any:
    asked = experiment.scenario.capture
    if asked is None:
        raise CaromError("the scenario has no capture")
    return experiment.captures[asked.kind]


def _capture_field(experiment: Experiment, p: dict[str, str]) -> float:
    own = _captured(experiment)
    if p["field"] == "momentum_error":
        return float(np.max(np.abs(own.momentum_error)))
    return float(getattr(own, p["field"]))


def _formula_error(experiment: Experiment, p: dict[str, str]) -> float:
    """Linear momentum that the pseudo-inverse formula creates or destroys, per cent of what there was."""
    _captured(experiment)
    if "pseudo-inverse formula" not in experiment.captures:
        raise CaromError("the pseudo-inverse formula is one for rigid links; the scenario has elastic ones")
    found = experiment.captures["pseudo-inverse formula"]
    before = np.hypot(*np.asarray(found.momentum_before.linear))
    return float(100.0 * np.max(np.abs(np.asarray(found.momentum_error)[:2])) / before)


def _capture_velocity(experiment: Experiment, p: dict[str, str]) -> float:
    _captured(experiment)
    found = experiment.captures[p["kind"]]
    m = found.mechanism
    k = m.topology.link(p["link"])
    if p["part"] == "rate":
        return float(found.after[m.topology.angle_index(k)])
    if p["part"] == "joint":
        return float(m.to_relative(found.after)[m.topology.angle_index(k)])
    moved = jax.jvp(lambda q: site_position(m, q, f"{m.topology.names[k]}.tip"), (found.q,), (found.after,))[1]
    return float(moved["xy".index(p["part"][-1])])


def _known(experiment: Experiment) -> Identified:
    if experiment.identified is None:
        raise CaromError("the scenario identifies nothing; [identify] says what")
    return experiment.identified


def _estimate(experiment: Experiment, p: dict[str, str]) -> float:
    """An estimate, or its difference from the truth in per cent of that."""
    known = _known(experiment)
    name_in("unknown of identify", p["path"], tuple(known.truth))
    found, truth = known.found.fit.estimate[p["path"]], known.truth[p["path"]]
    return found if p["part"] == "identified" else 100.0 * (found / truth - 1.0)


def _prediction_error(experiment: Experiment, p: dict[str, str]) -> float:
    return _known(experiment).prediction_error(experiment.scenario, p["of"] == "guess")


MEASURES: tuple[Measure, ...] = (
    Measure(
        "identified.PATH",
        "what a probing run says of a number of the scenario, in the unit of that; identified_error_percent.PATH: its "
        "difference from the truth [%]",
        r"(?P<part>identified|identified_error_percent)\.(?P<path>.+)",
        _estimate,
        percent=True,
    ),
    Measure(
        "capture.prediction_error",
        "largest difference of a velocity after the capture [m/s, rad/s], predicted with the identified object, from "
        "that with the true one; capture.guess_error: with the first guesses",
        r"capture\.(?P<of>prediction|guess)_error",
        _prediction_error,
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
        percent=True,
    ),
    Measure(
        "capture.KIND.LINK.PART",
        "velocity after a capture of that kind: vx, vy of the link's tip [m/s], rate, joint [rad/s]",
        r"capture\.(?P<kind>point|weld|point-then-weld)\.(?P<link>.+)\.(?P<part>vx|vy|rate|joint)",
        _capture_velocity,
    ),
)
