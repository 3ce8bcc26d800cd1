"""Points through which no curve with a free side leads."""

from __future__ import annotations

import numpy as np

from ... import errors
from ._crossing import crossing


def refuse_coinciding(points: np.ndarray, closed: bool) -> None:
    after = np.roll(points, -1, axis=0) if closed else points[1:]
    apart = np.hypot(*(after - points[: len(after)]).T)
    close = np.flatnonzero(apart <= 1e-9 * np.max(np.ptp(points, axis=0)))
    if close.size:
        i, j = int(close[0]), int(close[0] + 1) % len(points)
        cure = "a closed curve returns to its first point by itself; leave the last one out" if j == 0 else "remove one"
        raise errors.CaromError(f"points[{i}] and points[{j}] of Spline coincide; no curve leads between them; {cure}")


def refuse_crossing(pieces: np.ndarray, closed: bool) -> None:
    found = crossing(pieces, closed)
    if found is None:
        return
    count = len(pieces) if closed else len(pieces) - 1  # points

    def stretch(u: float) -> str:
        k = int(np.floor(u)) - (0 if closed else 1)
        if not closed and (k < 0 or k >= count - 1):
            return f"in its straight end beyond points[{0 if k < 0 else count - 1}]"
        return f"between points[{k % count}] and points[{(k + 1) % count}]"

    raise errors.CaromError(
        f"Spline crosses itself at ({found.x:.4g}, {found.y:.4g}): {stretch(found.first)}, and "
        f"{stretch(found.second)}; a curve that crosses itself has no free side; move points, put more of them where "
        "it swings out, or give tangents= that lead its ends apart"
    )
