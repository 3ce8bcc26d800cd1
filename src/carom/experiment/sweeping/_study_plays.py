"""Runs of a study that its page can play: each as a report of its own, run again with the study's scenario."""

from __future__ import annotations

import json

import numpy as np
from scipy.stats import qmc

from ..._arguments import Count, StudyLike
from ...errors import CaromError
from ...report import report
from ...scenario._change import changed
from ...scenario._text import read
from ..experiment import perform
from ._study_plan import said_of
from ._study_point import use_back_end
from ._study_store import MARK

MOST = 200  # runs that a page plays; each takes some hundred kilobytes


def plays_of(data: StudyLike, count: Count) -> dict[int, str]:
    """Reports of so many runs, well spread over the study, by the number of the run."""
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= MOST:
        raise CaromError(f"plays of study_page is {count!r}; it must be a whole number from 0 to {MOST}")
    if not count:
        return {}
    if MARK not in data.attrs:
        raise CaromError("the study does not say what was run; only a whole study of carom.sweep can play its runs")
    known = json.loads(data.attrs[MARK])
    axes, points = known["axes"], known["points"]
    shape = (len(axes[0][1]),) if points else tuple(len(values) for _, values in axes)
    if shape != np.shape(data["outcome"].values):
        raise CaromError("the data are a part of their study; only a whole study can play its runs")
    use_back_end(known)
    scenario, out = read(known["scenario"]), {}
    for run in spread(shape, count):
        at = (run,) * len(axes) if points else [int(k) for k in np.unravel_index(run, shape)]
        values = {path: among[k] for (path, among), k in zip(axes, at, strict=True)}
        try:
            found = perform(changed(scenario, values), progress=False)
        except CaromError:  # an impossible run: its outcome says why
            continue
        words = ", ".join(said_of(path, value) for path, value in values.items())
        out[run] = report(found.clips, title=scenario.title or scenario.name, about=words)
    return out


def spread(shape: tuple[int, ...], count: Count) -> list[int]:
    """Numbers of so many runs, far from each other on every axis; the middle one first."""
    most = int(np.prod(shape))
    if count >= most:
        return list(range(most))
    unit = (qmc.Halton(len(shape), scramble=False).random(20 * count + 1) + 0.5) % 1.0
    found = np.ravel_multi_index(tuple((unit * shape).astype(int).T), shape)
    return list(dict.fromkeys(found.tolist()))[:count]
