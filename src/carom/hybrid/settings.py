"""How to integrate: one object, with one set of defaults, for everything that runs a world."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import equinox as eqx
import jax
import numpy as np

from .. import errors
from .._arguments import SettingsLike
from ..quantities import Real
from .solvers import Solver, solver_of

FINEST = 1e-14  # float64 carries 16 digits
NO_LIMIT = 2**62
PLAIN = (int, float, type(None))  # what settings are that nobody traces


@dataclasses.dataclass(frozen=True)
class Settings:
    """How to integrate.

    - `solver`: 'tsit5', 'dopri8' (order 8, for tight tolerances) or 'rodas5p' (for stiff worlds)
    - `rtol`, `atol`: tolerances of the integration
    - `max_steps`: give up after so many attempted steps
    - `max_events`: stop after so many events; None is no limit
    - `ledger`: integrate the work of every force (costs a few per cent of the time)

        carom.simulate(world, start, until=6.0, settings=carom.Settings(rtol=1e-10))
    """

    solver: str = "tsit5"
    rtol: Any = 1e-8
    atol: Any = 1e-10
    max_steps: Any = 10_000_000
    max_events: Any = None
    ledger: bool = True

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):  # plain numbers, so that settings can be compared and hashed
            value = getattr(self, each.name)
            known = isinstance(value, np.generic | np.ndarray | jax.Array) and not isinstance(value, jax.core.Tracer)
            if known and np.ndim(value) == 0:
                object.__setattr__(self, each.name, value.item())
        solver_of(self.solver)
        errors.number("Settings", "rtol", self.rtol, above=0.0)
        errors.number("Settings", "atol", self.atol, above=0.0)
        errors.refuse_if(
            self.rtol < FINEST,
            lambda: (
                f"rtol of Settings is {float(self.rtol):g}; float64 carries 16 digits; it must be at least {FINEST:g}"
            ),
            field="rtol",
        )
        for field in ("max_steps", "max_events"):
            value = getattr(self, field)
            if value is not None and not (isinstance(value, float) and value == np.inf):
                errors.number("Settings", field, value, least=1.0)
                errors.refuse_if(
                    value % 1 != 0,
                    lambda: f"{field} of Settings is {float(value):g}; it must be a whole number",  # noqa: B023
                    field=field,
                )
        if not isinstance(self.ledger, bool):
            raise errors.CaromError(f"ledger of Settings is {self.ledger!r}; it must be True or False", field="ledger")

    def integration(self, until: Real) -> Integration:
        """As the engine takes them, for a run until a time [s]."""
        given = until, self.rtol, self.atol, self.max_steps, self.max_events
        plain = all(isinstance(x, PLAIN) for x in given)
        return _known_integration(self, until) if plain else self._integration(until)

    def _integration(self, until: Real) -> Integration:
        errors.number("run", "until", until, above=0.0)
        return Integration(
            solver_of(self.solver),
            _number(self.rtol),
            _number(self.atol),
            _number(until),
            _limit(self.max_steps),
            _limit(self.max_events),
        )


@functools.lru_cache
def _known_integration(settings: Settings, until: float) -> Integration:
    """Made once: runs that are alike are many."""
    return settings._integration(until)


DEFAULT = Settings()


def settings_or_default(settings: SettingsLike) -> Settings:
    """Settings as they were given, or the default ones."""
    if settings is None:
        return DEFAULT
    if not isinstance(settings, Settings):
        raise errors.CaromError(
            f"settings are a {type(settings).__name__}; they must be carom.Settings(...), such as "
            "carom.Settings(rtol=1e-10)"
        )
    return settings


class Integration(eqx.Module):
    """Settings, horizon and end of one run. Tolerances and limits are traced; the solver is not."""

    solver: Solver = eqx.field(static=True)
    rtol: Any
    atol: Any
    until: Any
    max_steps: Any
    max_events: Any
    stop_at: Any = -1  # the run ends when this guard (counted through the world's events) fires; -1: none
    probed: bool = eqx.field(static=True, default=False)  # are steps short enough for derivatives, too?


def _number(value: Real) -> Any:
    """NumPy's where it can be: JAX takes a tenth of a millisecond for each, which short runs feel."""
    return value.astype(float) if isinstance(value, jax.Array) else np.asarray(value, dtype=float)


def _limit(value: Real) -> Any:
    """A count; None and infinity are no limit."""
    if isinstance(value, jax.Array):
        return value.astype(int)
    if value is None or value == np.inf:
        return np.asarray(NO_LIMIT)
    return np.asarray(int(np.ceil(min(value, float(NO_LIMIT)))))
