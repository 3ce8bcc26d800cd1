"""A study as a file of another kind, written when it is complete."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import CaromError
from ...result._files import refuse_unwritable, written
from ._needed import needed
from ._study_store import IMPACT, filed

if TYPE_CHECKING:
    import xarray

KINDS = (".zarr", ".nc", ".csv", ".parquet")


def refuse_format(place: Path | None) -> None:
    """Before the work is done, not after it."""
    if place is None:
        return
    if place.suffix not in KINDS:
        raise CaromError(f"{place} has no known ending; a study is kept in {', '.join('*' + kind for kind in KINDS)}")
    if place.suffix != ".zarr":
        refuse_unwritable(place)
    elif not place.parent.is_dir():
        raise CaromError(f"{place} cannot be written: there is no folder {place.parent}; make it first")
    if place.suffix == ".parquet":
        needed("pandas", "pyarrow")
    if place.suffix == ".nc":
        needed("h5netcdf")


def write_file(data: xarray.Dataset, place: Path) -> None:
    """Complete or not at all."""
    with written(place) as half:
        if place.suffix == ".nc":
            filed(data).to_netcdf(half, engine="h5netcdf")
            return
        table = flat(data).to_dataframe().reset_index()
        if place.suffix == ".csv":
            table.to_csv(half, index=False)
        else:
            table.to_parquet(half, index=False)


def flat(data: xarray.Dataset) -> xarray.Dataset:
    """A row for each run: tables of impacts become columns, one for each impact."""
    if IMPACT not in data.dims:
        return data
    out = data.drop_dims(IMPACT)
    for name, column in data.data_vars.items():
        if IMPACT in column.dims:
            field = str(name).partition(".")[2]
            for k in data[IMPACT].values:
                out[f"impact.{k}.{field}"] = column.sel({IMPACT: k}, drop=True)
    return out
