"""A motion in which some joints follow from the contact of others' tips with surfaces."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import Names, TrajectoryLike
from ..contact.inverse import NO_LEVER, OFF, ContactInverse, refuse_follow
from ..control.trajectory import AbstractTrajectory, Motion
from ..hybrid.compiling import kept
from ..quantities import Given, Index, Matrix, Real, Reals, Vector

SAMPLES = 32  # per piece, of the path of the joints that follow: near enough for Newton's method to keep its branch


class ClosedMotion(AbstractTrajectory):
    """All coordinates of a mechanism over time, from those that are led.

    - `problem`: the mechanism and its contacts
    - `led`: trajectory of all coordinates but those of the joints that follow, in their order
    - `guess` [rad]: angles of the joints that follow at the start, roughly; which of two solutions is meant
    - `follow`: names of links, one for each contact that slides; the passive ones by default
    - `relative`: link angles of `led`, and the guess, are relative to the parent
    """

    problem: ContactInverse
    led: AbstractTrajectory
    path: Any  # (samples, followers): angles at equal steps of time, where Newton's method starts
    follow: tuple[int, ...] = eqx.field(static=True)
    relative: bool = eqx.field(static=True)

    def __init__(
        self,
        problem: ContactInverse,
        led: TrajectoryLike,
        guess: Reals,
        *,
        follow: Names | None = None,
        relative: bool = False,
    ) -> None:
        top = problem.mechanism.topology
        names = [top.names[k] for k in problem.passive] if follow is None else follow
        self.problem, self.relative = problem, relative
        self.follow = tuple(top.link(name) for name in ([names] if isinstance(names, str) else names))
        refuse_follow(problem, self.follow)
        self.led = _led_of(led, top.dof - len(self.follow))
        errors.vector("ClosedMotion", "guess", guess, len(self.follow))
        start = jnp.asarray(guess, dtype=float)
        times = jnp.linspace(0.0, self.led.duration, 1 + SAMPLES * self.led.pieces)
        self.path = start[None]
        self.path, gaps, leverage = _followed(self, start, times)
        _refuse_lost(self, times, gaps, leverage)

    @property
    def knots(self) -> Any:
        return self.led.knots

    @property
    def size(self) -> int:
        return self.problem.mechanism.dof

    def _spread(self, led: Motion, guess: Given) -> tuple[Any, Any, Any]:
        """All coordinates from those that are led, with a guess for the others."""
        top = self.problem.mechanism.topology
        at = np.asarray([top.angle_index(k) for k in self.follow], dtype=int)
        rest = np.setdiff1d(np.arange(top.dof), at)
        zero = jnp.zeros(top.dof)
        return zero.at[rest].set(led.q).at[at].set(guess), zero.at[rest].set(led.v), zero.at[rest].set(led.a)

    def smooth(self, i: Index, t: Real) -> Motion:
        share = t / self.led.duration * (self.path.shape[0] - 1)
        row = jnp.clip(jnp.floor(share).astype(int), 0, self.path.shape[0] - 2)
        part = jnp.clip(share - row, 0.0, 1.0)
        guess = jax.lax.stop_gradient((1.0 - part) * self.path[row] + part * self.path[row + 1])
        found, _, _ = self.problem.closed(self.follow, self.relative, *self._spread(self.led.smooth(i, t), guess), t)
        return Motion(*found)


@kept
def _followed(motion: ClosedMotion, start: Vector, times: Vector) -> tuple[Any, Any, Any]:
    """Angles of the followers at every time, each found from the one before; gaps and leverages that are left."""
    m = motion.problem.mechanism
    at = np.asarray([m.topology.angle_index(k) for k in motion.follow], dtype=int)

    def one(guess: Given, t: Real) -> Any:
        state = motion._spread(motion.led.at(t), guess)
        (q, _, _), gap, leverage = motion.problem.closed(motion.follow, motion.relative, *state, t)
        found = (m.to_relative(q) if motion.relative else q)[at]
        return found, (found, gap, leverage)

    return jax.lax.scan(one, start, times)[1]


def _led_of(led: TrajectoryLike, count: int) -> AbstractTrajectory:
    if not isinstance(led, AbstractTrajectory):
        raise errors.CaromError(
            f"led of ClosedMotion is a {type(led).__name__}; it must be a trajectory, such as carom.control.Cubic(...)"
        )
    if led.size != count:
        raise errors.CaromError(
            f"led of ClosedMotion moves {led.size} numbers; it must move the {count} coordinates that do not follow"
        )
    return led


def _refuse_lost(motion: ClosedMotion, t: Vector, gap: Matrix, lever: Vector) -> None:
    times, gaps, leverage = (errors.known(x) for x in (t, gap, lever))
    if times is None or gaps is None or leverage is None:
        return
    names = " and ".join(f"'{motion.problem.mechanism.topology.names[k]}'" for k in motion.follow)
    off = np.flatnonzero(~(np.max(np.abs(gaps), axis=1) < OFF))
    if off.size:
        raise errors.CaromError(
            f"from t = {times[off[0]]:.4g} s on, joint {names} cannot keep its tip on the surface (a gap of "
            f"{np.max(np.abs(gaps[off[0]])):.3g} m is left); the others ask for more than the links can reach; change "
            "their motion"
        )
    stiff = np.flatnonzero(~(leverage > NO_LEVER))
    if stiff.size:
        raise errors.CaromError(
            f"at t = {times[stiff[0]]:.4g} s joint {names} moves its tip only along the surface (leverage "
            f"{leverage[stiff[0]]:.1e} of 1), so that its rate has no solution; change the motion of the others"
        )
