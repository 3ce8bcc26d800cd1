"""The result of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import jax
import numpy as np
from jaxtyping import PyTree

from .. import errors, native, registry
from ..dynamics.energy import kinetic_energy, momentum, potential_energy
from ..hybrid import outcome
from ..hybrid._carry import Carry
from ..hybrid._flow import derivative
from ..hybrid._run import EventRow, StepRow
from ..hybrid.automaton import Anatomy
from ..hybrid.scene import Continuous, Own, merge
from ..hybrid.settings import Integration
from ..hybrid.world import World
from ..mechanism import State
from ..quantities import Real, Times, Vector
from . import impacts as impacts_of
from ._columns import IMPACTS, STANCES
from ._dense import chunked, ended, standing, vector_of, with_end
from ._expressed import Expressed, Rows
from ._records import Event as Event
from ._records import Made as Made
from ._records import MomentumRecord as MomentumRecord
from ._records import States as States
from ._records import Statistics as Statistics
from ._records import made_by
from .ledger import Ledger
from .stances import Stance, stances_of

if TYPE_CHECKING:
    import xarray

    from ..figures import Plots
    from .convergence import Convergence


@dataclasses.dataclass(frozen=True)
class Result(Expressed):
    """Trajectory, events, impacts, energy ledger and statistics of one run."""

    world: World
    integration: Integration
    final: Carry
    recorded: Callable[[], tuple[StepRow, EventRow]]  # from memory or from files, when first asked for
    statistics: Statistics
    start: State  # that the run was given
    before: Carry | None = None  # what the run brought along, if it went on from another one

    @cached_property
    def _rows(self) -> tuple[StepRow, EventRow]:
        return self.recorded()

    @property
    def steps(self) -> StepRow:
        """Beginnings of the accepted steps, as arrays."""
        return self._rows[0]

    @property
    def marks(self) -> EventRow:
        """Events, as arrays."""
        return self._rows[1]

    # -- outcome -------------------------------------------------------------------------------------------------------

    @property
    def outcome(self) -> str:
        """How the run ended, in words."""
        words = outcome.describe(int(self.final.outcome))
        from ._cautions import deepest, ended_as

        return f"{deepest(self)}: {words}" if int(self.final.outcome) == outcome.INSIDE else ended_as(self, words)

    @property
    def made(self) -> Made:
        """Version of carom, back end and settings that computed it."""
        return made_by(self.statistics.back_end, self.integration)

    @property
    def finished(self) -> bool:
        return int(self.final.outcome) in outcome.GOOD

    @property
    def penetration(self) -> float:
        """How far [m, rad] a rigid contact, open or closed, was ever inside its surface where a step ended."""
        return max(float(self.final.depth), 0.0)

    # -- trajectory ----------------------------------------------------------------------------------------------------

    @cached_property
    def t(self) -> np.ndarray:
        """Instants [s] of the accepted steps, the end included."""
        return np.append(self.steps.t, np.asarray(self.final.t))

    @cached_property
    def q(self) -> np.ndarray:
        """Coordinates at `t`."""
        return with_end(self.steps.y.q, self.final.y.q)

    @cached_property
    def v(self) -> np.ndarray:
        """Velocities at `t`."""
        return with_end(self.steps.y.v, self.final.y.v)

    def at(self, times: Times) -> States:
        """The state at any times of the run, exact to the tolerance: one shorter step of the same solver each.

        At an event it is the state after it, also at the very end.
        """
        times = np.atleast_1d(np.asarray(times, dtype=float))
        if not times.size:
            return jax.tree.map(lambda column: column[:0], self.at(self.t[0]))
        last = float(self.t[-1])
        times = np.where(
            (times > last) & (times <= last * (1.0 + 1e-12)), last, times
        )  # an event at the end, rounding above
        if np.min(times) < self.t[0] or np.max(times) > self.t[-1]:
            raise errors.CaromError(
                f"times run from {np.min(times):g} to {np.max(times):g} s; the result covers {self.t[0]:g} to "
                f"{self.t[-1]:g} s"
            )
        steps = self.steps if len(self.steps.t) else standing(self.final)
        row = np.clip(np.searchsorted(steps.t, times, side="right") - 1, 0, len(steps.t) - 1)
        begin = jax.tree.map(lambda column: column[row], steps)
        found = chunked(_dense, (), (self.integration, self.world), (begin, times))
        return ended(found, self.final, times >= last)

    # -- events --------------------------------------------------------------------------------------------------------

    @cached_property
    def events(self) -> list[Event]:
        """Every event, in order; exits that fired together stand one after the other."""
        rows = range(len(self.marks.t))
        exits = list(enumerate(self.world.events))
        return [self.event(r, i, e) for r in rows for g, (i, e) in exits if self.marks.fired[g][r]]

    @cached_property
    def _told(self) -> list[tuple[Anatomy, Callable[[Own], str] | None]]:
        """Of every automaton: what it has, and how it tells its phase."""
        return [(a.anatomy, a.report.told) for a in self.world.automata]

    def event(self, r: int, i: int, e: int) -> Event:
        """Row `r` of the marks as automaton `i` saw it through its exit `e`."""
        automaton, row = self.world.automata[i], _row(self.marks, r)
        has, told = self._told[i]
        return Event(
            t=float(row.t),
            automaton=automaton.name,
            exit=has.exit_names[e],
            phase_before=_in_words(has, told, Own(row.phases_before[i], row.memory_before[i], ())),
            phase_after=_in_words(has, told, Own(row.phases_after[i], row.memory_after[i], ())),
            memory=dict(zip(has.memory, _numbers(row.memory_after[i]), strict=True)),
            q=vector_of(row.before.q),
            v=vector_of(row.before.v),
            q_after=vector_of(row.after.q),
            v_after=vector_of(row.after.v),
        )

    @cached_property
    def impacts(self) -> Rows[impacts_of.Impact]:
        """Every impact: of compliant contacts from touch to release, of rigid ones at an instant.

        Rigid contacts that were closed, and took a share of another one's blow, are among them, as not `struck`. What
        a contact carries for longer is among the `stances`.
        """
        return Rows(impacts_of.find(self), IMPACTS)

    @cached_property
    def stances(self) -> Rows[Stance]:
        """Every stretch of time in which a contact carries weight, motors or springs: see `carom.Stance`."""
        return Rows(stances_of(self), STANCES)

    def constraint_forces(self, times: Times) -> dict[str, np.ndarray]:
        """Forces of the world's constraints on the mechanism [N, N m], by constraint: a row per time."""
        from ._signals import constraint_signals

        return constraint_signals(self, np.atleast_1d(np.asarray(times, dtype=float)))

    def extra(self, times: Times) -> dict[str, np.ndarray]:
        """Values of extra states (`carom.ExtraStates`) at any times of the run, by name."""
        return self.world.extra_of(self.at(times))

    # -- energy --------------------------------------------------------------------------------------------------------

    @cached_property
    def energy(self) -> Ledger:
        """The energy ledger over the accepted steps."""
        if not self.final.y.work:
            raise errors.CaromError("this run was made with ledger=False; run it again with ledger=True")
        given = np.asarray(self.start.q)[None], np.asarray(self.start.v)[None]
        states = np.concatenate([given[0], self.q]), np.concatenate([given[1], self.v])
        kinetic, potential = chunked(_energies, (), (self.world,), states)
        works = [
            np.append(column, np.asarray(end)) for column, end in zip(self.steps.y.work, self.final.y.work, strict=True)
        ]
        named = {channel.name: work for channel, work in zip(self.world.channels, works, strict=True)}
        return Ledger(self.t, kinetic[1:], potential[1:], named, float(kinetic[0] + potential[0]))

    @cached_property
    def warnings(self) -> list[str]:
        """What a user should know about this run.

        Blows that created energy, links that bent too far, laws beyond their range, a ledger that does not close,
        rigid contacts inside their surfaces, contacts that pull.
        """
        from ._cautions import all_of

        return all_of(self)

    @cached_property
    def momentum(self) -> MomentumRecord:
        """Linear and angular momentum over the accepted steps; conserved where nothing outside acts."""
        linear, angular = chunked(_momenta, (), (self.world,), (self.q, self.v))
        return MomentumRecord(self.t, linear, angular)

    def converge(self, progress: bool | None = None) -> Convergence:
        """Repeat the run at a tenth of its tolerance; `print` shows how many digits of each number hold."""
        from .convergence import converge

        return converge(self, progress)

    # -- shown and kept ------------------------------------------------------------------------------------------------

    @cached_property
    def trajectory(self) -> xarray.Dataset:
        """Motion, forces, torques and energies over time, with names and units: an xarray Dataset."""
        from ._trajectory import trajectory

        return trajectory(self)

    def save(self, path: str | Path, samples: int | None = None) -> Path:
        """Write the trajectory, at `samples` even steps: NetCDF (*.nc), which xarray opens, or *.mat for MATLAB."""
        from ._trajectory import save

        return save(self, path, samples)

    @property
    def plot(self) -> Plots:
        """Figures of this run: `result.plot()` is an overview, `result.plot.names()` lists the others."""
        return cast("Plots", registry.PLOTS.found()(self))

    def animate(self, path: str | Path, **options: Any) -> Path:
        """Write a film (*.mp4, *.gif) or a strip of pictures (*.png); options as of `carom.result.film.animate`."""
        from ._film import animate

        return animate(self, path, **options)

    _repr_html_ = registry.shown

    def __repr__(self) -> str:
        s = self.statistics
        counted = f"{s.events} events, {s.steps} steps ({s.rejected} rejected)"
        waited = f"compiled in {s.compile_seconds:.2f} s, ran in {s.run_seconds:.3f} s"
        return f"<Result: {self.outcome}; t = {float(self.final.t):g} s, {counted}, {waited}; {self.made}>"


def _in_words(has: Anatomy, told: Callable[[Own], str] | None, own: Own) -> str:
    return has.phases[int(own.phase)] if told is None else told(own)


def _row(columns: PyTree, r: int) -> Any:
    return jax.tree.map(lambda column: column[r], columns)


def _numbers(values: tuple[Any, ...]) -> list[float]:
    """Numbers of a memory, those of arrays one by one."""
    return [float(x) for value in values for x in np.ravel(value)]


def _momenta(world: World, q: Vector, v: Vector) -> tuple[Any, Any]:
    return tuple(native.rows(lambda q, v: momentum(world.mechanism, q, v))(q, v))


def _energies(world: World, q: Vector, v: Vector) -> tuple[Any, Any]:
    kinetic = native.rows(lambda q, v: kinetic_energy(world.mechanism, q, v))(q, v)
    potential = native.rows(lambda q: potential_energy(world.mechanism, q, world.gravity))(q)
    return kinetic, potential


def _dense(integration: Integration, world: World, begin: StepRow, times: Times) -> States:
    def one(row: StepRow, t: Times) -> States:
        phases = tuple(p.astype(int) for p in row.phases)

        def rhs(t: Real, y: Continuous) -> Continuous:
            return derivative(world, t, y, phases, row.memory)

        y = integration.solver.step(rhs, row.t, row.y, rhs(row.t, row.y), t - row.t, world.heavy)[0]
        return States(t, merge(y.q), merge(y.v), y.extra, y.work, phases, row.memory)

    return native.rows(one)(begin, times)
