"""Measures of captures."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ...dynamics import site_position
from ...errors import CaromError
from ..experiment import Experiment
from .kind import Measure


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


MEASURES: tuple[Measure, ...] = (
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
