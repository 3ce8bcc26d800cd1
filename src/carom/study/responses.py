"""How well a controller reaches its target: rise time, overshoot, settling time, final error."""

from __future__ import annotations

import dataclasses

import numpy as np

from .. import errors
from .._arguments import Name
from ..quantities import Real
from ..result.result import Result

SAMPLES = 20001


@dataclasses.dataclass(frozen=True)
class Response:
    """A link on its way from its first angle to a target."""

    rise_time: float  # [s] from 10 % to 90 % of the way; nan if it never gets there
    overshoot: float  # largest angle beyond the target, as a fraction of the way
    settling_time: float  # [s] after which it stays within 2 % of the way; nan if it does not
    final_error: float  # [rad] angle less target at the end

    def __str__(self) -> str:
        rise = "never at 90 %" if np.isnan(self.rise_time) else f"rise {self.rise_time:.4g} s"
        settled = "not settled" if np.isnan(self.settling_time) else f"settled after {self.settling_time:.4g} s"
        return f"{rise}, overshoot {100 * self.overshoot:.2f} %, {settled}, final error {self.final_error:+.3e} rad"


def response(result: Result, link: Name, target: Real, relative: bool = False) -> Response:
    """Response of a link's angle [rad] to a target that it is driven to from the start of a run."""
    top = result.world.mechanism.topology
    k = top.link(link)
    errors.number("response", "target", target)
    times = np.linspace(result.t[0], result.t[-1], SAMPLES)
    q = np.asarray(result.at(times).q)
    angle = q[:, top.angle_index(k)]
    if relative and top.turned_by[k] >= 0:
        angle = angle - q[:, top.angle_index(top.turned_by[k])]
    way = float(target) - angle[0]
    if way == 0.0:
        raise errors.CaromError(
            f"target of response is {float(target):g} {'m' if top.slides[k] else 'rad'}, where '{link}' starts; there "
            "is no step to respond to"
        )
    done = (angle - angle[0]) / way
    return Response(
        rise_time=_first(times, done >= 0.9) - _first(times, done >= 0.1),
        overshoot=float(max(np.max(done) - 1.0, 0.0)),
        settling_time=_after(times, np.abs(done - 1.0) > 0.02),
        final_error=float(angle[-1] - float(target)),
    )


def _first(times: np.ndarray, reached: np.ndarray) -> float:
    return float(times[np.argmax(reached)]) if np.any(reached) else float("nan")


def _after(times: np.ndarray, outside: np.ndarray) -> float:
    """The instant from which nothing is outside any more."""
    if outside[-1]:
        return float("nan")
    last = np.flatnonzero(outside)
    return float(times[last[-1] + 1] if len(last) else times[0])
