"""Sobol indices: how much of a number's variance each parameter accounts for, alone and with the others.

    S_k = Var(E(y | x_k)) / Var(y),     T_k = 1 - Var(E(y | all but x_k)) / Var(y)

(I. M. Sobol, Mathematics and Computers in Simulation 2001, 55, 271-280; the points are those of A. Saltelli and others,
Computer Physics Communications 2010, 181, 259-270.) Points and estimates are SALib's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._arguments import Count, Name, StudyLike
from ...errors import CaromError, name_in
from ._needed import needed

if TYPE_CHECKING:
    import xarray

SALTELLI = "saltelli"  # the method of `carom.sweep` that draws the points
RESAMPLES = 200  # for the confidence intervals


def saltelli(parameters: Count, count: Count, seed: Count) -> np.ndarray:
    """Points in the unit cube: for each of `count`, two independent ones, and one with each parameter exchanged."""
    needed("SALib")
    from SALib.sample.sobol import sample

    if count & (count - 1) or count < 2:
        raise CaromError(
            f"sample of a study is {count}; with method {SALTELLI} it must be a power of two, such as "
            f"{1 << max(round(np.log2(count)), 1)}: other counts lose the balance of the sequence"
        )
    problem = {
        "num_vars": parameters,
        "names": [str(k) for k in range(parameters)],
        "bounds": [[0.0, 1.0]] * parameters,
    }
    return np.asarray(sample(problem, count, calc_second_order=False, seed=seed))


def sobol_indices(data: StudyLike, name: Name, *, seed: Count = 0) -> xarray.Dataset:
    """First and total Sobol indices of a number of a study over its parameters, with 95 % confidence intervals.

    The study has been drawn for it: `carom.sweep(..., sample=1024, method="saltelli")`. Where a run does not have the
    number, the runs that belong to it are left out, too: `attrs["left_out"]` of the drawn points.

        data = carom.sweep("ball-drop", {"start.base.1": (0.5, 1.0), "gravity": (5.0, 15.0)}, ["impact.1.t_start"],
                           sample=256, method="saltelli")
        carom.sobol_indices(data, "impact.1.t_start")["total"].to_series()
    """
    needed("SALib", "xarray")
    import xarray
    from SALib.analyze.sobol import analyze

    name_in("variable of the study", name, [str(n) for n in data.data_vars])
    if SALTELLI not in str(data.attrs.get("drawn", "")) or data[name].dims != ("point",):
        raise CaromError(
            f"sobol_indices needs one number of every run of a study that was drawn for it: give sample=1024 and "
            f"method='{SALTELLI}' to carom.sweep"
        )
    paths = [str(path) for path, column in data.coords.items() if column.dims == ("point",) and path != "point"]
    groups = np.asarray(data[name].values, dtype=float).reshape(-1, len(paths) + 2)
    whole = np.all(np.isfinite(groups), axis=1)
    values = groups[whole]
    if len(values) < max(len(groups) // 2, 8) or not np.ptp(values) > 0.0:
        why = "it is the same everywhere" if len(values) and np.ptp(values) == 0.0 else "too many runs do not have it"
        raise CaromError(
            f"there are no indices of '{name}': {why} ({len(groups) - len(values)} of {len(groups)} points have none)"
        )
    problem = {"num_vars": len(paths), "names": paths, "bounds": [[0.0, 1.0]] * len(paths)}
    found = analyze(problem, values.ravel(), calc_second_order=False, num_resamples=RESAMPLES, seed=seed)
    columns = {"first": "S1", "first_confidence": "S1_conf", "total": "ST", "total_confidence": "ST_conf"}
    return xarray.Dataset(
        {mine: ("parameter", np.asarray(found[theirs])) for mine, theirs in columns.items()},
        {"parameter": paths},
        {"measure": name, "left_out": int(np.sum(~whole)), "points": len(groups)},
    )
