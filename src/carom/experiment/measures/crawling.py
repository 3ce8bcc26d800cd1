"""Measures of gaits."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ...errors import CaromError
from ..experiment import Experiment
from .kind import STAT, Measure, statistic


def _gait(experiment: Experiment) -> Any:
    if experiment.gait is None:
        raise CaromError("the scenario has no crawl")
    return experiment.gait


def _crawl_field(experiment: Experiment, p: dict[str, str]) -> float:
    gait = _gait(experiment)
    if p["field"] == "speed":
        return float(gait.distance / gait.period)
    return float(getattr(gait, p["field"]))


def _deviation(experiment: Experiment, p: dict[str, str]) -> float:
    """Largest distance [rad] of the simulated angles from the planned ones, over all steps."""
    worst = 0.0
    for step, clip in zip(_gait(experiment).steps, experiment.clips, strict=False):
        times = np.linspace(0.0, float(step.duration), 201)
        motion, _ = step.plan.over(jnp.asarray(times))
        worst = max(worst, float(np.max(np.abs(np.asarray(clip.result.at(times).q) - np.asarray(motion.q)))))
    return worst


def _step(experiment: Experiment, p: dict[str, str]) -> float:
    """A planned torque or reaction of one step."""
    steps, number = _gait(experiment).steps, int(p["step"])
    if not 1 <= number <= len(steps):
        raise CaromError(f"step {number} was asked for; the gait has {len(steps)}")
    times = np.linspace(0.0, float(steps[number - 1].duration), 401)
    _, efforts = steps[number - 1].plan.over(jnp.asarray(times))
    part = p.get("part")
    if part == "reaction":
        values = np.asarray(efforts.normal).reshape(len(times), -1)[:, 0]
    elif part == "tip":
        values = np.asarray(efforts.sliding).reshape(len(times), -1)[:, 0]
    else:
        torques, joint = np.asarray(efforts.torques), int(p["joint"])
        if not 1 <= joint <= torques.shape[1]:
            raise CaromError(f"torque {joint} was asked for; the crawler has {torques.shape[1]}")
        values = torques[:, joint - 1]
    return statistic(p, times, values)


MEASURES: tuple[Measure, ...] = (
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
        rf"crawl\.step(?P<step>\d{{1,3}})\.(torque(?P<joint>\d)|(?P<part>reaction|tip))\.{STAT}",
        _step,
    ),
)
