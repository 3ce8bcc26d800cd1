"""Least and largest inputs: those of the joints, and narrower ones that are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from .._arguments import Name

Limits = tuple[np.ndarray, np.ndarray]


def narrowed(owner: Name, joints: tuple[str, ...], own: Limits, given: Any, shape: tuple[int, ...]) -> Limits:
    """Both in this shape, whose last axis is the joints; refused where nothing lies between them."""
    least, most = (np.broadcast_to(bound, shape) for bound in own)
    if given is not None:
        low, high = _pair(owner, joints, given, shape)
        least, most = np.maximum(least, low), np.minimum(most, high)
    shut = ~(least <= most) | (np.isinf(least) & (least > 0)) | (np.isinf(most) & (most < 0))
    if np.any(shut):
        at = tuple(int(k) for k in np.argwhere(shut)[0])
        raise errors.CaromError(
            f"limits of {owner} leave '{joints[at[-1]]}' inputs from {least[at]:g} to {most[at]:g}; the smaller one "
            "comes first"
        )
    return least, most


def _pair(owner: Name, joints: tuple[str, ...], given: Any, shape: tuple[int, ...]) -> Limits:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise errors.CaromError(f"limits of {owner} are {given!r}; give the least and the largest inputs, ([..], [..])")
    pair = []
    for word, bound in zip(("least", "largest"), given, strict=True):
        try:
            found = np.broadcast_to(np.asarray(bound, dtype=float), shape)
        except (TypeError, ValueError):
            raise errors.CaromError(
                f"the {word} inputs in limits of {owner} are {bound!r}; give one number for each of {', '.join(joints)}"
            ) from None
        if np.any(np.isnan(found)):
            raise errors.CaromError(f"the {word} inputs in limits of {owner} are {bound!r}; none may be nan")
        pair.append(found)
    return pair[0], pair[1]
