"""A blow with friction followed piece by piece over its normal impulse, in NumPy."""

from typing import Any

import numpy as np


def followed(w: Any, un: float, ut: float, mu: float, law: str, e: float, limit: float | None = None) -> Any:
    """A blow with friction followed piece by piece over its normal impulse; returns impulses and what it went through.

    Every piece has constant rates. It ends where sliding stops, where compression ends or where the law is satisfied.
    """
    (nn, nt), (_, tt) = np.asarray(w)
    limit = mu if limit is None else limit
    approach, normal, rubbed, work, goal, pieces = un, 0.0, 0.0, 0.0, None, []
    for _ in range(8):
        holds = ut == 0.0 and abs(nt) <= limit * tt
        ratio = -nt / tt if holds else -mu * np.sign(ut if ut != 0.0 else nt)
        rise, turn = nn + nt * ratio, 0.0 if holds else nt + tt * ratio
        pieces.append("sticks" if holds else "right" if ratio < 0 else "left")
        stop = -ut / turn if ut * turn < 0 else np.inf
        if goal is None:
            left = -un / rise if rise > 0 else np.inf
        elif law == "newton":
            left = (goal - un) / rise
        elif law == "poisson":
            left = goal - normal
        else:
            left = (np.sqrt(un**2 + 2 * rise * (goal - work)) - un) / rise
        step = min(stop, left)
        work += step * (un + rise * step / 2)
        normal, rubbed, un = normal + step, rubbed + ratio * step, un + rise * step
        ut = 0.0 if stop <= left else ut + turn * step
        if left <= stop and goal is not None:
            return normal, rubbed, pieces
        if left <= stop:
            goal = {"newton": -e * approach, "poisson": (1 + e) * normal, "stronge": -(e**2) * work}[law]
            un, work = 0.0, 0.0
    raise AssertionError("a blow has at most four pieces")
