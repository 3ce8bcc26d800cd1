"""MATLAB's files as arrays, with a sentence about what is missing in them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ...errors import CaromError


def mat_of(text: bytes, name: str) -> dict[str, Any]:
    """Variables of a MATLAB file by name; structures have their fields as attributes."""
    from scipy.io import loadmat  # here, because it loads slowly and few need it

    try:
        return dict(loadmat(io.BytesIO(text), squeeze_me=True, struct_as_record=False))
    except Exception as trouble:  # what SciPy raises for a broken file is of many kinds
        raise CaromError(f"{name} is not a MATLAB file that can be read: {trouble}") from None


def variable(found: dict[str, Any], name: str, wanted: str) -> Any:
    if wanted not in found:
        there = ", ".join(repr(key) for key in found if not key.startswith("__")) or "nothing"
        raise CaromError(f"{name} has no variable '{wanted}', only {there}; is it another data set?")
    return found[wanted]


def columns(owner: str, field: str, values: object, count: int, least: int) -> np.ndarray:
    """Rows of `count` finite numbers, at least `least` of them."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise CaromError(f"'{field}' of {owner} is not an array of numbers") from None
    if array.ndim != 2 or array.shape[1] != count:
        raise CaromError(f"'{field}' of {owner} has shape {array.shape}; it must have {count} columns")
    if len(array) < least:
        raise CaromError(f"'{field}' of {owner} has {len(array)} rows; at least {least} are needed")
    bad = np.flatnonzero(~np.all(np.isfinite(array), axis=1))
    if len(bad):
        raise CaromError(
            f"'{field}' of {owner} has {len(bad)} row(s) that are not numbers, the first is row {bad[0]}; leave them "
            "out"
        )
    return array
