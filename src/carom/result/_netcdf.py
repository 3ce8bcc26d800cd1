"""A run's table as a NetCDF file, written by h5netcdf itself: xarray and pandas take as long to import as JAX."""

from __future__ import annotations

import importlib.util
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors

if TYPE_CHECKING:
    from ._trajectory import Table


def netcdf(table: Table) -> bytes:
    """The file's content. In memory: on a full disk HDF5 itself would leave open files and messages behind."""
    try:
        import h5netcdf
    except ImportError:
        if all(importlib.util.find_spec(name) for name in ("h5netcdf", "h5py")):
            raise
        raise errors.CaromError(
            "save needs h5netcdf and h5py, which are not installed; pip install 'carom[results]'"
        ) from None
    buffer = io.BytesIO()
    with h5netcdf.File(buffer, "w") as file:
        file.attrs.update(table.attributes)
        file.dimensions = {"time": len(table.times), **{name: len(words) for name, words in table.names.items()}}
        columns = {"time": (("time",), table.times, {"units": "s", "long_name": "time"}), **table.variables}
        for name, (over, values, said) in columns.items():
            _write(file, name, over, np.asarray(values)).attrs.update(said)
        for name, words in table.names.items():
            _write(file, name, (name,), np.asarray(words))
    return buffer.getvalue()


def _write(file: Any, name: str, over: tuple[str, ...], values: np.ndarray) -> Any:
    """A variable. Numbers are packed, unless there are none; words have any length."""
    if values.dtype.kind == "U":
        import h5py

        return file.create_variable(name, over, h5py.string_dtype(), data=values.astype(object))
    packed = {"compression": "gzip", "compression_opts": 1, "fillvalue": np.nan}
    more = packed if values.dtype.kind == "f" and values.size else {}
    return file.create_variable(name, over, values.dtype, data=values, **more)
