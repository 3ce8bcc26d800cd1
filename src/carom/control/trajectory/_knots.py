"""What all motions are given, checked: vectors of one length, instants that rise from 0."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ... import errors
from ...quantities import Given, Real, Vector


def length_of(owner: str, field: str, value: Any) -> int:
    """Length of a vector; what is none is refused."""
    try:
        count = len(value)
    except TypeError:
        raise errors.CaromError(
            f"{field} of {owner} is {value!r}; it must be a list of numbers, one per joint, such as [0.5, 0.2]"
        ) from None
    if count == 0:
        raise errors.CaromError(f"{field} of {owner} is empty; it must hold at least one number")
    errors.vector(owner, field, value, count)
    return count


def like(owner: str, field: str, value: Real | Given | None, model: Vector) -> Any:
    """A vector as long as the model; zeros if left out."""
    if value is None:
        return jnp.zeros_like(model)
    errors.vector(owner, field, value, model.shape[0])
    return jnp.asarray(value, dtype=float)


def refuse_times(what: str, times: np.ndarray | None) -> None:
    if times is None:
        return
    if times[0] != 0.0:
        raise errors.CaromError(
            f"the first of {what} is {times[0]:g} s; a motion begins at 0; subtract it, and put a Hold before"
        )
    back = np.flatnonzero(np.diff(times) <= 0.0)
    if back.size:
        i = int(back[0])
        raise errors.CaromError(
            f"number {i + 2} of {what} is {times[i + 1]:g} s, not later than number {i + 1}, {times[i]:g} s; they must "
            "increase"
        )
