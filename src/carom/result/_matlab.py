"""A run's table as a file of MATLAB (version 5, which Octave and SciPy read too): a matrix for each variable."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._trajectory import Table


def matlab(table: Table) -> bytes:
    """The file's content: `time`, variables (a row for each instant), `names` along their columns, `units`, `about`."""
    from scipy.io import savemat

    columns = {name: np.asarray(values) for name, (_, values, _) in table.variables.items()}
    words = {name: values.astype(object) for name, values in columns.items() if values.dtype.kind == "U"}
    content = {
        "time": table.times[:, None],
        **columns,
        **words,
        "names": {name: np.asarray(each, dtype=object) for name, each in table.names.items()},
        "units": {"time": "s"} | {name: said["units"] for name, (_, _, said) in table.variables.items()},
        "about": table.attributes,
    }
    buffer = io.BytesIO()
    savemat(buffer, content, long_field_names=True, do_compression=True)
    return buffer.getvalue()
