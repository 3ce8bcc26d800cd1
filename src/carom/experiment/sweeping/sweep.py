"""Studies: many runs of a scenario, recorded in a Dataset, done task by task."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._arguments import ClusterLike, Count, FileLike, Name, NamesInOrder, ScenarioLike
from ...scenario.library import load
from ._needed import needed
from ._study import run_study, study_of
from ._study_formats import refuse_format
from ._workers import Workers

if TYPE_CHECKING:
    import xarray

TOLD = 10  # failed runs that are told by name


def sweep(
    scenario: ScenarioLike,
    over: Mapping[str, Any] | None = None,
    measures: NamesInOrder | None = None,
    *,
    impacts: Count | None = None,
    sample: Count | None = None,
    method: Name | None = None,
    seed: Count | None = None,
    points: FileLike | None = None,
    chunk: Count | None = None,
    store: FileLike | None = None,
    cluster: ClusterLike = None,
    progress: bool | None = None,
) -> xarray.Dataset:
    """Run a scenario for many values of its numbers; an xarray Dataset whose coordinates are the parameters.

    - `over`: paths and their values: an array, a list, 'a:b:n' (n values from a to b), words for what is a category
      (a law, a count, which is compiled for each value); with `sample` ranges (a, b), from which so many points are
      drawn by `method` ('sobol', 'halton', 'latin-hypercube', 'random'; 'saltelli' for `carom.sobol_indices`, which
      draws d + 2 times as many for d ranges) and `seed`
    - `points`: a CSV file of points instead, whose first line has the paths
    - `measures`, `impacts`: what is recorded of every run, as in `carom.batch`; what a run does not have is nan
    - `store`: a file to keep it in: *.zarr, which can be interrupted and gone on with, or *.nc, *.csv, *.parquet
    - `chunk`: how many runs are one task
    - `cluster`: 'local:8' (processes), the address of a Dask scheduler, or a `dask.distributed.Client`

    What is left out is read from the scenario's [study].

        data = carom.sweep("ball-drop", {"start.base.1": np.linspace(0.5, 1.0, 11)}, ["impact.1.restitution"])
    """
    needed("xarray", "zarr", "dask")
    study = study_of(load(scenario) if isinstance(scenario, str | Path) else scenario, {
        "over": over, "measures": measures, "impacts": impacts, "sample": sample, "method": method, "seed": seed,
        "points": points, "chunk": chunk,
    })  # fmt: skip
    place = None if store is None else Path(store)
    refuse_format(place)
    with Workers(cluster) as workers:
        return run_study(study, place, workers, progress)[0]
