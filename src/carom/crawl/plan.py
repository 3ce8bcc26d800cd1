"""Torques that carry a mechanism through a motion along surfaces."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import errors, native
from .._arguments import TrajectoryLike
from ..contact.inverse import NO_LEVER, SLOW, ContactEfforts, ContactInverse
from ..control.planned_torques import AbstractTorques
from ..control.trajectory import AbstractTrajectory, Fitted, Motion
from ..hybrid.compiling import kept
from ..hybrid.scene import length_of
from ..quantities import Given, Index, Real, Times, Vector

SAMPLES = 33  # per piece, at which a plan is looked at before it is used


class SlidingPlan(AbstractTorques):
    """Torques of a motion in contact, computed from it at every instant.

    - `problem`: mechanism, contacts, passive joints
    - `motion`: trajectory of all coordinates, such as a `ClosedMotion`
    - `senses`: which way each contact slides, +1 or -1 along (n_y, -n_x); read from the motion if left out. It holds
      for the whole plan, its ends at rest included: where a tip turns round, end one plan and begin another
    - `pull`: allow reactions that pull, as for a tip in a slot

    The plan is looked at when it is made: a reaction that pulls, a tip that turns round or a singular posture is
    refused with its instant.
    """

    problem: ContactInverse
    motion: AbstractTrajectory
    senses: Any

    def __init__(
        self, problem: ContactInverse, motion: TrajectoryLike, senses: Given | None = None, *, pull: bool = False
    ) -> None:
        if not isinstance(motion, AbstractTrajectory) or motion.size != problem.mechanism.dof:
            what = f"{motion.size} numbers" if isinstance(motion, AbstractTrajectory) else f"a {type(motion).__name__}"
            raise errors.CaromError(
                f"motion of SlidingPlan is {what}; it must be a trajectory of all {problem.mechanism.dof} coordinates, "
                "such as carom.crawl.ClosedMotion(...)"
            )
        self.problem, self.motion = problem, motion
        count = len(problem.contacts)
        if senses is None:
            self.senses = jnp.zeros(count)
            senses = _senses(self)
        errors.vector("SlidingPlan", "senses", senses, count)
        self.senses = jnp.asarray(senses, dtype=float)
        _look(self, pull)

    @property
    def knots(self) -> Any:
        return self.motion.knots

    @property
    def links(self) -> int:
        return self.problem.mechanism.topology.links

    @property
    def duration(self) -> Any:
        return self.motion.duration

    def torques(self, i: Index, t: Real) -> Any:
        return self.piece(i, t)[1].torques

    def piece(self, i: Index, t: Real) -> tuple[Motion, ContactEfforts]:
        motion = self.motion.piece(i, t)
        return motion, self.problem.efforts(*motion, self.senses, t)

    def at(self, t: Real) -> tuple[Motion, ContactEfforts]:
        """The motion and what it needs at t [s]."""
        return self.piece(self.motion.index(t), jnp.asarray(t, dtype=float))

    def over(self, times: Times) -> tuple[Motion, ContactEfforts]:
        """The same at many instants, as arrays over them; compiled."""
        return _over(self, jnp.asarray(times, dtype=float))

    def table(self, nodes: int = 16, parts: int = 8, tolerance: float = 1e-9) -> Table:
        """The same torques as series in time: compiles in a tenth of the time, and runs faster, than the plan."""
        rest = self.over(errors.array(self.duration)[None])[1].torques[0]
        return Table(Fitted(self.torques, self.knots, nodes, parts, tolerance), rest)


class Table(AbstractTorques):
    """Torques as series between knots, and those that hold the posture afterwards."""

    series: Fitted
    rest: Any

    @property
    def knots(self) -> Any:
        return self.series.knots

    @property
    def links(self) -> int:
        return self.series.size

    def torques(self, i: Index, t: Real) -> Any:
        return jnp.where(i >= self.series.pieces, self.rest, self.series.piece(i, t).q)


@kept
def _over(plan: SlidingPlan, times: Vector) -> tuple[Motion, ContactEfforts]:
    found: tuple[Motion, ContactEfforts] = native.rows(plan.at)(times)
    return found


@kept
def _sampled(plan: SlidingPlan) -> tuple[Any, tuple[Motion, ContactEfforts]]:
    """Instants and values over every piece, its ends included from inside."""
    knots, count = plan.knots, plan.motion.pieces
    part = jnp.linspace(0.0, 1.0, SAMPLES)
    times = jnp.concatenate([knots[i] + part * (knots[i + 1] - knots[i]) for i in range(count)])
    pieces = jnp.repeat(jnp.arange(count), SAMPLES)
    return times, native.rows(plan.piece)(pieces, times)


def _senses(plan: SlidingPlan) -> list[Any]:
    """The sense in which every contact slides fastest."""
    _, (_, found) = _sampled(plan)
    sliding = errors.known(found.sliding)
    if sliding is None:
        fastest = jnp.argmax(jnp.abs(found.sliding), axis=0)
        return [jnp.sign(found.sliding[fastest[i], i]) for i in range(len(plan.problem.contacts))]
    fastest = np.argmax(np.abs(sliding), axis=0)
    return [float(np.sign(sliding[row, i])) for i, row in enumerate(fastest)]


def _look(plan: SlidingPlan, pull: bool) -> None:
    times, (_, found) = _sampled(plan)
    values = [errors.known(x) for x in (times, found.sliding, found.leverage, found.normal, plan.senses)]
    known = [x for x in values if x is not None]
    if len(known) < len(values):
        return
    times, sliding, leverage, normal, senses = known
    for i, contact in enumerate(plan.problem.contacts):
        if contact.friction is not None and i not in plan.problem.sticking:
            slow = SLOW * float(length_of(plan.problem.mechanism))
            _refuse_turn(contact.name, times, sliding[:, i] * senses[i], slow)
    stiff = np.flatnonzero(~(leverage > NO_LEVER))
    if stiff.size:
        top = plan.problem.mechanism.topology
        names = " and ".join(f"'{top.names[k]}'" for k in plan.problem.passive) or "the free base"
        raise errors.CaromError(
            f"at t = {times[stiff[0]]:.4g} s the reactions cannot move {names}, without torque (leverage "
            f"{leverage[stiff[0]]:.1e} of 1): with friction their line passes through it; change the motion, or the "
            "passive joint"
        )
    if not pull:
        _refuse_pull(plan, times, normal)


def _refuse_turn(name: str, times: np.ndarray, along: np.ndarray, slow: float) -> None:
    back = np.flatnonzero(along < -slow)
    if back.size:
        raise errors.CaromError(
            f"'{name}' slides against its sense at t = {times[back[0]]:.4g} s, at {-along[back[0]]:.3g} m/s; a plan "
            "has one sense; end it where the tip turns round, and begin another"
        )
    if not np.any(along > slow):
        raise errors.CaromError(
            f"'{name}' does not slide in this motion; if it is to stick, say so: sticking=['{name}']"
        )


def _refuse_pull(plan: SlidingPlan, times: np.ndarray, normal: np.ndarray) -> None:
    pulls = np.argwhere(~(normal > 0.0))
    if pulls.size:
        row, i = pulls[0]
        raise errors.CaromError(
            f"the reaction of '{plan.problem.contacts[i].name}' is {normal[row, i]:.4g} N at t = {times[row]:.4g} s; a "
            "surface only pushes, so the tip would leave it; move more slowly, or say pull=True for a slot"
        )
