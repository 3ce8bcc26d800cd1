"""What a controller asks of a joint must lie within the joint's stops: it would press on them and never arrive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from .._arguments import TrajectoryLike
from ..hybrid.automaton import AbstractAutomaton
from ..mechanism import Mechanism
from .trajectory import AbstractTrajectory

AT_STOP = 1e-9  # [rad] a target at the stop itself is not beyond it
INSTANTS = 201  # of a motion that are looked at


def refuse_beyond(
    others: Sequence[AbstractAutomaton], aims: Callable[[int], np.ndarray | None], name_of: Callable[[int], str]
) -> None:
    """Refuse angles behind a stop. `aims(link)` are those asked for, relative to the parent [rad], or None."""
    for stop in _stops(others):
        asked, limit = aims(stop.link), errors.known(stop.angle)
        if asked is None or limit is None:
            continue
        beyond = stop.sign * (float(limit) - asked)
        i = int(np.argmax(beyond))
        if beyond[i] > AT_STOP:
            side = "lower" if stop.sign > 0.0 else "upper"
            raise errors.CaromError(
                f"{name_of(i)} asks link '{stop.link_name}' for {asked[i]:g} {stop.unit} relative to its parent, "
                f"beyond its {side} JointLimit, {float(limit):g} {stop.unit}; bring the target within the limit, or "
                "move the stop"
            )


def _stops(others: Sequence[AbstractAutomaton]) -> list[Any]:
    found = [contact.pair.stop for other in others for contact in other.report.contacts]
    return [stop for stop in found if stop is not None]


def refuse_motion_beyond(
    name: str,
    motion: TrajectoryLike | None,
    mechanism: Mechanism,
    others: Sequence[AbstractAutomaton],
    *,
    offset: int = 0,
    relative: bool = False,
    driven: Callable[[int], bool] = lambda link: True,
) -> None:
    """Refuse a motion that passes a stop. Its angles begin at `offset`; a link that is not `driven` goes its own way.

    A motion of the user's own, or one whose numbers are not known yet, is not looked at.
    """
    if not isinstance(motion, AbstractTrajectory) or not _stops(others):
        return
    duration = errors.known(motion.duration)
    times = np.linspace(0.0, 1.0 if duration is None else float(duration), INSTANTS)
    angles = errors.known(motion.over(times).q)

    def aims(link: int) -> np.ndarray | None:
        parent = -1 if relative else mechanism.topology.turned_by[link]
        if angles is None or not driven(link) or (parent >= 0 and not driven(parent)):
            return None
        return angles[:, offset + link] - (angles[:, offset + parent] if parent >= 0 else 0.0)

    refuse_beyond(others, aims, lambda i: f"the motion of '{name}' at t = {times[i]:.4g} s")
