"""The result of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from .. import errors
from ..dynamics.energy import kinetic_energy, momentum, potential_energy
from ..hybrid import outcome
from ..hybrid.flow import derivative
from ..hybrid.loop import Carry, Settings
from ..hybrid.run import EventRow, StepRow
from ..hybrid.scene import State, merge
from ..hybrid.world import World
from . import impacts as impacts_of
from .dense import chunked
from .ledger import Ledger

if TYPE_CHECKING:
    import xarray

    from ..figures import Plots
    from .converge import Convergence


@dataclasses.dataclass(frozen=True)
class Event:
    """Something discrete that happened."""

    t: float
    automaton: str
    exit: str
    phase_before: str
    phase_after: str
    memory: dict[str, float]
    q: np.ndarray  # just before
    v: np.ndarray
    q_after: np.ndarray
    v_after: np.ndarray


class States(NamedTuple):
    """Values at requested times; arrays over the times."""

    t: Any
    q: Any
    v: Any
    extra: Any
    work: Any
    phases: Any
    memory: Any


@dataclasses.dataclass(frozen=True)
class MomentumRecord:
    """Momentum of the whole: linear [kg m/s], angular about the world's origin [kg m^2/s]."""

    t: np.ndarray
    linear: np.ndarray
    angular: np.ndarray

    @property
    def linear_drift(self) -> float:
        """Largest change of the linear momentum since the start [kg m/s]."""
        return float(np.max(np.abs(self.linear - self.linear[0])))

    @property
    def angular_drift(self) -> float:
        """Largest change of the angular momentum since the start [kg m^2/s]."""
        return float(np.max(np.abs(self.angular - self.angular[0])))


class Statistics(NamedTuple):
    """What the run cost."""

    steps: int
    rejected: int
    events: int
    compile_seconds: float
    run_seconds: float


@dataclasses.dataclass(frozen=True)
class Result:
    """Trajectory, events, impacts, energy ledger and statistics of one run."""

    world: World
    settings: Settings
    final: Carry
    recorded: Callable[[], tuple[StepRow, EventRow]]  # from memory or from files, when first asked for
    statistics: Statistics
    start: tuple[Any, Any]  # coordinates and velocities that the run was given

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
        return outcome.describe(int(self.final.outcome))

    @property
    def finished(self) -> bool:
        return int(self.final.outcome) in (outcome.FINISHED, outcome.EVENT_LIMIT)

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
        return _with_end(self.steps.y.q, self.final.y.q)

    @cached_property
    def v(self) -> np.ndarray:
        """Velocities at `t`."""
        return _with_end(self.steps.y.v, self.final.y.v)

    def at(self, times: Any) -> States:
        """The state at any times of the run, exact to the tolerance: one shorter step of the same solver each.

        At an event it is the state after it, also at the very end.
        """
        times = np.atleast_1d(np.asarray(times, dtype=float))
        if not times.size:
            return jax.tree.map(lambda column: column[:0], self.at(self.t[0]))
        last = float(self.t[-1])
        times = np.where((times > last) & (times <= last + 1e-12), last, times)  # an event at the end, rounding above
        if np.min(times) < self.t[0] or np.max(times) > self.t[-1]:
            raise errors.CaromError(
                f"times run from {np.min(times):g} to {np.max(times):g} s; the result covers {self.t[0]:g} to "
                f"{self.t[-1]:g} s"
            )
        steps = self.steps if len(self.steps.t) else _standing(self.final)
        row = np.clip(np.searchsorted(steps.t, times, side="right") - 1, 0, len(steps.t) - 1)
        begin = jax.tree.map(lambda column: column[row], steps)
        found = chunked(_dense, (), (self.settings, self.world), (begin, times))
        return _ended(found, self.final, times >= last)

    # -- events --------------------------------------------------------------------------------------------------------

    @cached_property
    def events(self) -> list[Event]:
        """Every event, in order; exits that fired together stand one after the other."""
        rows = range(len(self.marks.t))
        exits = list(enumerate(self.world.events))
        return [self.event(r, i, e) for r in rows for g, (i, e) in exits if self.marks.fired[g][r]]

    def event(self, r: int, i: int, e: int) -> Event:
        """Row `r` of the marks as automaton `i` saw it through its exit `e`."""
        automaton, row = self.world.automata[i], _row(self.marks, r)
        return Event(
            t=float(row.t),
            automaton=automaton.name,
            exit=automaton.exits[e],
            phase_before=automaton.phases[int(row.phases_before[i])],
            phase_after=automaton.phases[int(row.phases_after[i])],
            memory={n: float(m) for n, m in zip(automaton.memory, row.memory_after[i], strict=True)},
            q=_vector(row.before.q),
            v=_vector(row.before.v),
            q_after=_vector(row.after.q),
            v_after=_vector(row.after.v),
        )

    @cached_property
    def impacts(self) -> list[impacts_of.Impact]:
        """Every impact: of compliant contacts from touch to release, of rigid ones at an instant.

        Rigid contacts that were closed, and took a share of another one's blow, are among them, as not `struck`.
        """
        return impacts_of.find(self)

    # -- energy --------------------------------------------------------------------------------------------------------

    @cached_property
    def energy(self) -> Ledger:
        """The energy ledger over the accepted steps."""
        if not self.final.y.work:
            raise errors.CaromError("this run was made with ledger=False; run it again with ledger=True")
        kinetic, potential = chunked(_energies, (), (self.world,), (self.q, self.v))
        works = [
            np.append(column, np.asarray(end)) for column, end in zip(self.steps.y.work, self.final.y.work, strict=True)
        ]
        named = dict(zip(self.world.channels, works, strict=True))
        return Ledger(self.t, kinetic, potential, named)

    @cached_property
    def warnings(self) -> list[str]:
        """What a user should know about this run: blows that created energy, links that bent too far, laws too."""
        out = _bent_too_far(self.world, self.q) + impacts_of.beyond_their_laws(self.world, self.marks)
        if not self.final.y.work:
            return out
        channel = 0
        for automaton in self.world.automata:
            if automaton.impulsive and len(self.marks.t):
                gain = np.asarray(self.marks.after.work[channel]) - np.asarray(self.marks.before.work[channel])
                worst = int(np.argmax(gain))
                created = gain > 1e-9 * self.energy.in_play
                if created[worst]:
                    out.append(
                        f"a blow of '{automaton.name}' at t = {float(self.marks.t[worst]):.9g} s created "
                        f"{gain[worst]:.3g} J ({int(np.sum(created))} such blows); Newton's law "
                        "with friction, or different restitutions at one instant, can do that; use Stronge or Poisson"
                    )
            channel += len(automaton.channels)
        return out

    @cached_property
    def momentum(self) -> MomentumRecord:
        """Linear and angular momentum over the accepted steps; conserved where nothing outside acts."""
        linear, angular = chunked(_momenta, (), (self.world,), (self.q, self.v))
        return MomentumRecord(self.t, linear, angular)

    def converge(self, progress: bool | None = None) -> Convergence:
        """Repeat the run at a tenth of its tolerance; `print` shows how many digits of each number hold."""
        from .converge import converge

        return converge(self, progress)

    # -- shown and kept ------------------------------------------------------------------------------------------------

    @cached_property
    def trajectory(self) -> xarray.Dataset:
        """Motion, forces, torques and energies over time, with names and units: an xarray Dataset."""
        from .trajectory import trajectory

        return trajectory(self)

    def save(self, path: str | Path, samples: int | None = None) -> Path:
        """Write the trajectory to a NetCDF file (*.nc), which `xarray.open_dataset` opens; `samples` even instants."""
        from .trajectory import save

        return save(self, path, samples)

    @property
    def plot(self) -> Plots:
        """Figures of this run: `result.plot()` is an overview, `result.plot.names()` lists the others."""
        from ..figures import Plots

        return Plots(self)

    def animate(self, path: str | Path, **options: Any) -> Path:
        """Write a film (*.mp4, *.gif) or a strip of pictures (*.png); options as of `carom.result.film.animate`."""
        from .film import animate

        return animate(self, path, **options)

    def __repr__(self) -> str:
        s = self.statistics
        return (
            f"<Result: {self.outcome}; t = {float(self.final.t):g} s, {s.events} events, {s.steps} steps "
            f"({s.rejected} rejected), compiled in {s.compile_seconds:.2f} s, ran in {s.run_seconds:.3f} s>"
        )


def _row(columns: Any, r: int) -> Any:
    return jax.tree.map(lambda column: column[r], columns)


def _vector(values: Any) -> np.ndarray:
    return np.stack([np.asarray(x) for x in values]) if isinstance(values, tuple) else np.asarray(values)


def _with_end(columns: Any, end: Any) -> np.ndarray:
    if isinstance(columns, tuple):
        return np.stack([np.append(c, np.asarray(e)) for c, e in zip(columns, end, strict=True)], axis=1)
    return np.concatenate([columns, np.asarray(end)[None]])


def _standing(end: Carry) -> StepRow:
    """A run that made no step, as one of no length."""
    row = StepRow(end.t, np.zeros(()), end.y, end.phases, end.memory)
    return jax.tree.map(lambda x: np.asarray(x)[None], row)


def _ended(found: States, end: Carry, ended: np.ndarray) -> States:
    """The end of the run is what its last event left behind, which begins no step."""
    if not np.any(ended):
        return found
    last = States(end.t, merge(end.y.q), merge(end.y.v), end.y.extra, end.y.work, end.phases, end.memory)

    def choose(column: Any, value: Any) -> Any:
        mask = ended.reshape(-1, *(1,) * (np.ndim(column) - 1))
        return np.where(mask, np.asarray(value)[None], column).astype(column.dtype)

    return jax.tree.map(choose, found, last)


def _momenta(world: World, q: Any, v: Any) -> tuple[Any, Any]:
    return tuple(jax.vmap(lambda q, v: momentum(world.mechanism, q, v))(q, v))  # type: ignore[return-value]


SMALL = 0.1  # of a link's length: deflections beyond it are not small


def _bent_too_far(world: World, q: np.ndarray) -> list[str]:
    """Assumed modes are for deflections that are small relative to the length."""
    out = []
    top = world.mechanism.topology
    for k, flex in enumerate(world.mechanism.numbers.flex):
        if flex is not None:
            shape, place = np.asarray(flex.nodes.shape), np.asarray(flex.nodes.place)
            bent = np.linalg.norm(np.einsum("tj,gjd->tgd", q[:, list(top.mode_index(k))], shape), axis=2)
            largest, length = float(np.max(bent)), float(np.max(place[:, 0]))
            if largest > SMALL * length:
                out.append(
                    f"link '{top.names[k]}' bends by up to {largest:.3g} m, {100 * largest / length:.0f} % of its "
                    "length; assumed modes hold for small deflections (below 10 %); make it stiffer, or split it"
                )
    return out


def _energies(world: World, q: Any, v: Any) -> tuple[Any, Any]:
    kinetic = jax.vmap(lambda q, v: kinetic_energy(world.mechanism, q, v))(q, v)
    potential = jax.vmap(lambda q: potential_energy(world.mechanism, q, world.gravity))(q)
    return kinetic, potential


def _dense(settings: Settings, world: World, begin: StepRow, times: Any) -> States:
    def one(row: StepRow, t: Any) -> States:
        phases = tuple(p.astype(int) for p in row.phases)

        def rhs(t: Any, y: State) -> State:
            return derivative(world, t, y, phases, row.memory)

        y = settings.solver.step(rhs, row.t, row.y, rhs(row.t, row.y), t - row.t, world.heavy)[0]
        return States(t, merge(y.q), merge(y.v), y.extra, y.work, phases, row.memory)

    return jax.vmap(one)(begin, times)
