"""Plain numbers: a beam's modes are computed once, in NumPy, before anything is compiled."""

from __future__ import annotations

from .. import errors
from ..quantities import Given, Real


def plain(
    owner: str, field: str, value: Real | Given | None, *, above: float | None = None, least: float | None = None
) -> float:
    """The value as a float; refused if it is no number, out of range, or known to a compiler only."""
    errors.number(owner, field, value, above=above, least=least)
    known = errors.known(value)
    if known is None:
        raise errors.CaromError(
            f"{field} of {owner} is traced by JAX; the modes of a beam are computed once, outside of jit, grad and "
            "vmap; give a number"
        )
    return float(known)
