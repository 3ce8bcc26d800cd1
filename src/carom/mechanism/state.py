"""Where a mechanism is and how it moves: one object, for everything that starts from a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import errors, registry
from .._arguments import StateLike
from ..quantities import Real, Rows, Vector
from ._sliding import refuse_counts

if TYPE_CHECKING:
    from .tree import Mechanism


class State(eqx.Module):
    """Coordinates and velocities. `world.state(...)` makes one from angles, rates and bases.

    With rows, one per lane, it is the start of a batch. `extra`: values of extra states of a world, by name, where they
    are other than those that the world has.
    """

    q: Float[Array, "*lanes dof"]
    v: Float[Array, "*lanes dof"]
    extra: dict[str, Float[Array, "*lanes"]]

    def __init__(self, q: Vector, v: Vector, extra: Mapping[str, Any] | None = None) -> None:
        self.q, self.v = _array("q", q), _array("v", v)
        if self.q.shape != self.v.shape or self.q.ndim not in (1, 2):
            raise errors.CaromError(
                f"q and v of State have shapes {self.q.shape} and {self.v.shape}; both must be (dof,), or (lanes, dof)"
            )
        self.extra = {name: _array(f"'{name}'", value) for name, value in (extra or {}).items()}
        for name, value in self.extra.items():
            if value.shape != self.q.shape[:-1]:
                raise errors.CaromError(
                    f"'{name}' of State has shape {value.shape}, its q {self.q.shape}; give one number for each state"
                )

    def __repr__(self) -> str:
        if any(isinstance(x, jax.core.Tracer) for x in (self.q, self.v)) or self.q.ndim != 1:
            return f"State of shape {self.q.shape}"
        q, v = (", ".join(f"{x:.6g}" for x in numbers) for numbers in (self.q, self.v))
        more = "".join(f", {name}={x:.6g}" for name, x in self.extra.items())
        return f"State(q=[{q}], v=[{v}]{more})"

    _repr_html_ = registry.shown

    @property
    def lanes(self) -> int | None:
        """How many rows there are; None for a single state."""
        return None if self.q.ndim == 1 else self.q.shape[0]


def refuse_state(given: StateLike, mechanism: Mechanism, rows: bool = False) -> State:
    """The state, unless it is none of this mechanism; only a batch takes rows."""
    if not isinstance(given, State):
        raise errors.CaromError(
            f"the start is a {type(given).__name__}; it must be a state: world.state(angles=[...], rates=[...])"
        )
    if given.q.shape[-1] != mechanism.dof:
        raise errors.CaromError(
            f"the start has {given.q.shape[-1]} coordinates; the mechanism has {mechanism.dof}; make it with "
            "world.state(...)"
        )
    if given.lanes is not None and not rows:
        raise errors.CaromError(f"the start has {given.lanes} rows; only carom.batch takes several states at once")
    if not rows:
        errors.vector("start", "q", given.q, mechanism.dof)
        errors.vector("start", "v", given.v, mechanism.dof)
        for name, value in given.extra.items():
            errors.number("start", f"'{name}'", value)
    return given


def state_of(mechanism: Mechanism, how: dict[str, bool], given: dict[str, Any]) -> State:
    """A state, or rows of them where one of the arrays has a row per lane."""
    arrays = {field: None if x is None else _array(field, x) for field, x in given.items()}
    rows = {field: x is not None and _has_rows(mechanism, field, x) for field, x in arrays.items()}
    lanes = sorted({x.shape[0] for field, x in arrays.items() if x is not None and rows[field]})
    if not lanes:
        return _single(mechanism, how, arrays)
    if len(lanes) > 1:
        raise errors.CaromError(f"arrays of state have {lanes} rows; each must have one per lane, or be one for all")
    each = {field: 0 if many else None for field, many in rows.items()}
    return jax.vmap(lambda one: _single(mechanism, how, one), in_axes=(each,))(arrays)


def with_extra(state: State, extra: Mapping[str, Any] | None) -> State:
    """The state with values of extra states; those with a number per lane make rows of it, one for all is repeated."""
    if not isinstance(extra, Mapping | None):
        raise errors.CaromError(f"extra of state is {extra!r}; it must hold names and values, {{'pressure': 2.0}}")
    values = {name: _array(f"'{name}'", value) for name, value in (extra or {}).items()}
    lanes = {state.lanes, *(x.shape[0] for x in values.values() if x.ndim == 1)} - {None}
    if any(x.ndim > 1 for x in values.values()) or len(lanes) > 1:
        shapes = {name: x.shape for name, x in values.items()}
        raise errors.CaromError(
            f"extra of state has shapes {shapes}, and the rest {state.q.shape[:-1]}; each must be a number, or one "
            "per lane"
        )
    rows = tuple(lanes)
    q, v = (jnp.broadcast_to(x, (*rows, x.shape[-1])) for x in (state.q, state.v))
    return State(q, v, {name: jnp.broadcast_to(x, rows) for name, x in values.items()})


def _array(field: str, value: Rows | Real | None) -> Any:
    try:
        if value is None:
            raise TypeError
        return errors.array(value)
    except (TypeError, ValueError):
        raise errors.CaromError(f"{field} of state is {value!r}; every entry must be a number") from None


def _has_rows(mechanism: Mechanism, field: str, array: Vector) -> bool:
    """Has it a row per lane? Bases of several free trees may be given as (x, y) each, which is no lane."""
    if not field.startswith("base"):
        return bool(array.ndim == 2)
    bases = mechanism.topology.base_dof
    return bool(array.ndim == 3 or (array.ndim == 2 and array.shape[1] == bases and array.shape != (bases // 2, 2)))


def _single(mechanism: Mechanism, how: dict[str, bool], given: dict[str, Any]) -> State:
    top = mechanism.topology
    sizes = {"bending": sum(top.modes), "bending_rates": sum(top.modes)}
    for fields in (("angles", "slides"), ("rates", "slide_rates")):
        refuse_counts("state", top, given[fields[0]], given[fields[1]], fields)
    for field, value in given.items():
        if value is not None and (field in sizes or field.startswith("base")):
            size = sizes.get(field, top.base_dof)
            flat = errors.library_for(value).ravel
            errors.vector("state", field, flat(value) if field.startswith("base") else value, size)
    still = np.zeros(len(top.hinged))
    angles, rates = (still if given[name] is None else given[name] for name in ("angles", "rates"))
    place: dict[str, Any] = {"base": given["base"], "bending": given["bending"], "slides": given["slides"], **how}
    speed: dict[str, Any] = {"base": given["base_velocity"], "bending": given["bending_rates"], **how}
    speed["slides"] = given["slide_rates"]
    return State(mechanism.coordinates(angles, **place), mechanism.coordinates(rates, **speed))
