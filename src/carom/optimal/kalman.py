"""Kalman filters of worlds that strike: the mean goes through events as the world does, the covariance by saltation.

    before a reading    x' = f(x, u),                P' = A P A^T + B U B^T + W
    a reading z         K = P H^T (H P H^T + R)^-1,  x + K (z - h(x)),  (1 - K H) P (1 - K H)^T + K R K^T

A and B are the derivatives of a step of `carom.Stepping`, through every event inside of it. At a strike they have the
saltation matrix: an error in height becomes one in the instant of the blow, and so one in velocity. The plain extended
filter moves its mean by the same blows, but carries its covariance as if nothing had happened.

(N. J. Kong, J. J. Payne, G. Council and A. M. Johnson, The salted Kalman filter, Automatica 2021, 131, 109752.)
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import NoiseLike, SensorsLike, StateLike, TruthLike
from ..hybrid import outcome
from ..hybrid._carry import Carry
from ..hybrid.settings import Integration
from ..hybrid.world import World
from ..quantities import Matrix, Rows
from ._covariances import covariance_of
from ._onward import lifted, next_instant, onward
from ._plain_step import plain_steps
from ._sensors import read, sensors_of
from .estimates import Estimates, names_of
from .stepping import Rollout, Stepping
from .stepping import _put as x_put
from .stepping import _x as x_of


class _Held(NamedTuple):
    """What was found at one instant, of all runs."""

    predicted: Any
    spread: Any  # covariance of what was predicted
    x: Any
    covariance: Any
    innovation: Any
    expected: Any  # covariance of the innovation
    events: Any


class KalmanFilter:
    """Estimates the state of a world, step by step, from noisy readings of sensors.

    - `stepping`: the world, its time between readings and its inputs
    - `sensors`: signals by their texts, ['ball.tip.y', 'paddle.rate'], or a function of the state (`q`, `v`,
      `angle(link)`, `rate(link)`, `joint(link)`, `joint_rate(link)`) that returns a list of numbers
    - `noise` of the sensors: standard deviations, in their units, or a covariance matrix
    - `input_noise`: of the inputs, held over each step: it respects what contacts hold. `process`: of the state, added
      after each step. Both are standard deviations or covariance matrices; none if left out
    - `saltation`: False is the plain extended filter, whose covariance does not see the events

    The state is that of `Stepping`: coordinates, velocities, extra states.

        filter = carom.KalmanFilter(carom.Stepping(world, dt=0.02), ["ball.tip.y"], noise=[0.01])
        found = filter.run(world.state(slides=[0.5]), [0.05, 0.2], readings)
        found.x, found.covariance, found.band
    """

    def __init__(
        self,
        stepping: Stepping,
        sensors: SensorsLike,
        noise: NoiseLike,
        *,
        input_noise: NoiseLike = None,
        process: NoiseLike = None,
        saltation: bool = True,
    ) -> None:
        if not isinstance(stepping, Stepping):
            raise errors.CaromError(
                f"stepping of KalmanFilter is a {type(stepping).__name__}; it must be a carom.Stepping(world, ...)"
            )
        if not isinstance(saltation, bool):
            raise errors.CaromError(f"saltation of KalmanFilter is {saltation!r}; it must be True or False")
        self.stepping, self.saltation = stepping, saltation
        self._read, self.sensors = sensors_of(stepping, sensors)
        self.noise = covariance_of("noise", noise, len(self.sensors), definite=True)
        self.input_noise = covariance_of("input_noise", input_noise, stepping.inputs)
        self.process = covariance_of("process", process, stepping.size)

    def run(
        self,
        start: StateLike,
        covariance: NoiseLike,
        readings: Rows,
        inputs: Rows | None = None,
        truth: TruthLike = None,
    ) -> Estimates:
        """Estimates at the instants 0, dt, 2 dt, ... of the readings, from a guess `start` and its covariance.

        - `readings` (N + 1, sensors), the first at t = 0; or (runs, N + 1, sensors). NaN is a reading that is missing
        - `covariance` of the guess: standard deviations of coordinates, velocities and extra states, or a matrix
        - `inputs` (N, inputs), or (runs, N, inputs): what was held over the steps; nothing if left out
        - `truth`, where it is known: a `Rollout`, or a list of one for each run; or their states alone, (N + 1, size)
          or (runs, N + 1, size)
        """
        z, many = self._readings(readings)
        runs, count, _ = z.shape
        size = self.stepping.size
        u = _rows("inputs", inputs, (runs, count - 1, self.stepping.inputs))
        true, passed = _truth(truth, (runs, count, size))
        first = self.stepping.begin(start)
        carries = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf)[None], runs, axis=0), first)
        x = np.repeat(self.stepping.x(first)[None], runs, axis=0)
        spread = covariance_of("covariance", covariance, size)
        held = [self._corrected(carries, x, np.repeat(spread[None], runs, axis=0), z[:, 0])]
        for k in range(1, count):
            carries, x, spread = self._ahead(carries, held[-1], u[:, k - 1])
            held.append(self._corrected(carries, x, spread, z[:, k]))
        columns = [np.stack(each, axis=1) for each in zip(*held, strict=True)]
        if not many:
            columns = [each[0] for each in columns]
            true, passed = (None if each is None else each[0] for each in (true, passed))
        t = self.stepping.dt * np.arange(count)
        return Estimates(t, *columns, truth=true, true_events=passed, names=self.names, sensors=self.sensors)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the entries of the state."""
        return names_of(self.stepping.world, self.stepping.size)

    def _readings(self, given: Rows) -> tuple[np.ndarray, bool]:
        try:
            z = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise errors.CaromError("readings of KalmanFilter must be rows of numbers of one length") from None
        m = len(self.sensors)
        if z.ndim not in (2, 3) or z.shape[-1] != m or not z.size:
            raise errors.CaromError(
                f"readings of KalmanFilter have shape {z.shape}; they must have shape (N + 1, {m}) or (runs, N + 1, "
                f"{m}), one column for each sensor ({', '.join(self.sensors)})"
            )
        if np.any(np.isinf(z)):
            raise errors.CaromError("readings of KalmanFilter hold infinity; a reading that is missing is NaN")
        return (z, True) if z.ndim == 3 else (z[None], False)

    def _ahead(self, carries: Carry, held: _Held, u: np.ndarray) -> tuple[Carry, np.ndarray, np.ndarray]:
        """Mean and covariance one step later, before that reading."""
        s = self.stepping
        after, both = s._run(_steps, (s.dt, s.memories), s.world, s.integration, carries, held.x, u)
        codes, both = np.asarray(after.outcome), np.asarray(both)
        if np.any(codes != outcome.FINISHED):
            run = int(np.argmax(codes != outcome.FINISHED))
            raise errors.CaromError(
                f"the estimate of run {run + 1} cannot go on at t = {float(after.t[run]):g} s: "
                f"{outcome.describe(int(codes[run]))}; its state there is {held.x[run].tolist()}"
            )
        if not self.saltation:
            both = plain_steps(s, carries, held.x, u, after, both)
        a, b = both[:, :, : s.size], both[:, :, s.size :]
        spread = a @ held.covariance @ a.swapaxes(1, 2) + b @ self.input_noise @ b.swapaxes(1, 2) + self.process
        after = jax.tree.map(np.asarray, after)
        return after, np.asarray(s._run(_states, (s.memories,), s.world, s.integration, after)), spread

    def _corrected(self, carries: Carry, x: np.ndarray, spread: np.ndarray, z: np.ndarray) -> _Held:
        """By the readings at this instant; by none of those that are missing."""
        s = self.stepping
        found = s._run(_read, (self._read, s.memories), s.world, s.integration, carries, x)
        value, slope = (np.asarray(each) for each in found)
        if not (np.all(np.isfinite(value)) and np.all(np.isfinite(slope))):
            bad = self.sensors[int(np.argmax(~np.isfinite(value).all(axis=0)))]
            raise errors.CaromError(f"sensor '{bad}' of KalmanFilter, or its derivative, is not finite at an estimate")
        there = ~np.isnan(z)
        slope = slope * there[:, :, None]
        both = there[:, :, None] & there[:, None, :]
        noise = np.where(both, self.noise, np.eye(z.shape[1]))
        innovation = np.where(there, z - value, 0.0)
        expected = slope @ spread @ slope.swapaxes(1, 2) + noise
        gain = np.linalg.solve(expected, slope @ spread).swapaxes(1, 2)
        rest = np.eye(s.size) - gain @ slope
        after = rest @ spread @ rest.swapaxes(1, 2) + gain @ noise @ gain.swapaxes(1, 2)
        after = 0.5 * (after + after.swapaxes(1, 2))
        better = x + (gain @ innovation[:, :, None])[:, :, 0]
        told = np.where(there, innovation, np.nan)
        return _Held(x, spread, better, after, told, np.where(both, expected, np.nan), np.asarray(carries.events))


def _rows(field: str, given: Rows | None, shape: tuple[int, ...]) -> np.ndarray:
    """One table for all runs, or one for each."""
    if given is None:
        return np.zeros(shape)
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise errors.CaromError(f"{field} of KalmanFilter must be rows of numbers of one length") from None
    if found.shape not in (shape, shape[1:]):
        raise errors.CaromError(
            f"{field} of KalmanFilter have shape {found.shape}; they must have shape {shape[1:]}, or {shape}, for "
            f"{shape[0]} runs"
        )
    if not np.all(np.isfinite(found)):
        raise errors.CaromError(f"{field} of KalmanFilter hold a number that is not finite")
    return np.broadcast_to(found, shape)


def _truth(given: TruthLike, shape: tuple[int, ...]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """States, and how many events they have gone through where that is known."""
    if given is None:
        return None, None
    rolled: Any = [given] if isinstance(given, Rollout) else given
    if isinstance(rolled, list | tuple) and all(isinstance(each, Rollout) for each in rolled):
        states = _rows("states of truth", [each.x for each in rolled], shape)
        return states, np.stack([each.events for each in rolled])
    return _rows("states of truth", rolled, shape), None


def _read(how: Any, memories: bool, world: World, integration: Integration, carries: Carry, x: Matrix) -> Any:
    return read(how, memories, world, carries, x)


def _states(memories: bool, world: World, integration: Integration, carries: Carry) -> Any:
    return jax.lax.map(lambda carry: x_of(carry, memories), carries)


def _steps(
    dt: float, memories: bool, world: World, integration: Integration, carries: Carry, x: Matrix, u: Matrix
) -> tuple[Carry, Any]:
    """One step of every run, with A and B side by side."""

    def one(each: tuple[Carry, Any, Any]) -> tuple[Carry, Any]:
        carry, x, u = each
        until, n = next_instant(dt, carry), x.shape[0]

        def moved(both: Any) -> tuple[Any, Carry]:
            begun, out = lifted(world, x_put(carry, both[:n], memories), until)
            gone = onward(world, dataclasses.replace(integration, until=until), begun, both[n:])
            stays = begun._replace(t=jnp.asarray(until), outcome=jnp.asarray(outcome.FINISHED))
            after = jax.tree.map(lambda a, b: jnp.where(out, a, b), stays, gone)
            return x_of(after, memories), after

        at = jnp.concatenate([x, u])
        columns, after = jax.lax.map(lambda d: jax.jvp(moved, (at,), (d,), has_aux=True)[1:], jnp.eye(at.shape[0]))
        return jax.tree.map(lambda leaf: leaf[0], after), columns.T

    return jax.lax.map(one, (carries, x, u))
