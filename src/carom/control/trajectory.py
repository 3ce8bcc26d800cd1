"""Motions over time: position, velocity and acceleration of any vector (joint angles, coordinates) at every instant.

     q |        ______  hold           ParabolicBlends   acceleration constant, zero, constant
       |      /                        Cubic             given end velocities
       |    /                          Quintic           given end velocities and accelerations
       |___/                           MinimumJerk       the quintic from rest to rest
     0 +---|------|---- t              Waypoints         through points, acceleration continuous
       knots[0]  knots[-1]             Hold, Sequence    stand still; one after the other
                                       Fitted            any function of time

All of them are smooth between *knots*, the instants at which an acceleration (or a higher derivative) may jump. An
integrator must not step across a jump, so a piece can be asked for by its number: `piece(i, t)` is the formula of piece
i, continued beyond its ends. Before its first and after its last knot a motion stands still.
"""

from __future__ import annotations

import abc
import itertools
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import errors

JOINED = 1e-9  # of the largest value: how well the pieces of a sequence must meet


class Motion(NamedTuple):
    """Position, velocity and acceleration at one instant; any of the three is a vector."""

    q: Any
    v: Any
    a: Any


class AbstractTrajectory(eqx.Module):
    """A vector as a function of time."""

    @property
    @abc.abstractmethod
    def knots(self) -> Any:
        """Instants [s] that bound the pieces, rising from 0; one more than there are pieces."""

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """Length of the vector."""

    @abc.abstractmethod
    def smooth(self, i: Any, t: Any) -> Motion:
        """The formula of piece i at any t; i counts from 0 and may be traced."""

    @property
    def pieces(self) -> int:
        return int(self.knots.shape[0]) - 1

    @property
    def duration(self) -> Any:
        """[s]"""
        return self.knots[-1]

    def piece(self, i: Any, t: Any) -> Motion:
        """Piece i at t; -1 stands still where the motion begins, the number of pieces where it ends."""
        last = self.pieces - 1
        inside = (i >= 0) & (i <= last)
        held = jnp.where(i < 0, self.knots[0], self.knots[-1])
        q, v, a = self.smooth(jnp.clip(i, 0, last), jnp.where(inside, t, held))
        return Motion(q, jnp.where(inside, v, 0.0), jnp.where(inside, a, 0.0))

    def index(self, t: Any) -> Any:
        """Number of the piece at t: -1 before the motion, the number of pieces after it; a knot begins a piece."""
        knots, count = self.knots, self.pieces
        i = sum((jnp.where(t >= knots[k], 1, 0) for k in range(count)), start=jnp.asarray(-1))
        return jnp.where(t > knots[count], count, i)

    def at(self, t: Any) -> Motion:
        """Position, velocity and acceleration at t [s]."""
        return self.piece(self.index(t), jnp.asarray(t, dtype=float))

    def over(self, times: Any) -> Motion:
        """The same at many instants, as arrays over them; compiled."""
        return _over(self, jnp.asarray(times, dtype=float))


@eqx.filter_jit
def _over(trajectory: AbstractTrajectory, times: Any) -> Motion:
    return jax.vmap(trajectory.at)(times)


class Polynomials(AbstractTrajectory):
    """Polynomials in the time since the knot at which they begin; rows of `coefficients[i]` rise in power."""

    bounds: Any  # (pieces + 1,)
    coefficients: Any  # (pieces, powers, size)

    @property
    def knots(self) -> Any:
        return self.bounds

    @property
    def size(self) -> int:
        return int(self.coefficients.shape[2])

    def smooth(self, i: Any, t: Any) -> Motion:
        c, s = self.coefficients[i], t - self.bounds[i]
        powers = self.coefficients.shape[1]
        q = v = a = jnp.zeros_like(c[0])
        for k in reversed(range(powers)):  # Horner, for the value and two derivatives at once
            a = a * s + 2.0 * v
            v = v * s + q
            q = q * s + c[k]
        return Motion(q, v, a)


class Fitted(AbstractTrajectory):
    """Any motion, smooth between its knots, as Chebyshev series: quick where its formula is long.

    - `function`: (i, t) -> vector, of piece i at t, written with jax.numpy
    - `knots` [s]: rising from 0
    - `parts` of equal length into which every piece is cut, with a series each; `nodes`: how many values of every part
      are taken, exponentially more exact with each
    - `tolerance`: share of the largest value that the last coefficients may have left over
    """

    bounds: Any  # (pieces + 1,)
    # of value, velocity and acceleration, in the time of a part scaled to [-1, 1]: (pieces, parts, nodes, size) each
    series: tuple[Any, Any, Any]

    def __init__(self, function: Any, knots: Any, nodes: int = 16, parts: int = 8, tolerance: float = 1e-9) -> None:
        if not callable(function):
            raise errors.CaromError(
                f"function of Fitted is a {type(function).__name__}; it must be a function (i, t) -> vector"
            )
        if not isinstance(nodes, int) or nodes < 4:
            raise errors.CaromError(f"nodes of Fitted is {nodes!r}; it must be a whole number of at least 4")
        if not isinstance(parts, int) or parts < 1:
            raise errors.CaromError(f"parts of Fitted is {parts!r}; it must be a whole number of at least 1")
        _length("Fitted", "knots", knots)
        _refuse_times("knots of Fitted", errors.known(knots))
        self.bounds = jnp.asarray(knots, dtype=float)
        grid = np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes)
        within = (np.arange(parts)[:, None] + 0.5 * (1.0 + grid)) / parts  # shares of a piece
        values = jnp.einsum("jk,pqkn->pqjn", _to_series(nodes), _on_grid(function, self.bounds, jnp.asarray(within)))
        _refuse_rough(values, tolerance)
        slope = jnp.asarray(_slope_of_series(nodes))
        first = jnp.einsum("jk,pqkn->pqjn", slope, values)
        self.series = (values, first, jnp.einsum("jk,pqkn->pqjn", slope, first))

    @property
    def knots(self) -> Any:
        return self.bounds

    @property
    def size(self) -> int:
        return int(self.series[0].shape[3])

    def smooth(self, i: Any, t: Any) -> Motion:
        parts = self.series[0].shape[1]
        half = 0.5 * (self.bounds[i + 1] - self.bounds[i]) / parts
        along = (t - self.bounds[i]) / half
        part = jnp.clip(jnp.floor(0.5 * along), 0, parts - 1)
        q, v, a = (_clenshaw(c[i, part.astype(int)], along - 2.0 * part - 1.0) for c in self.series)
        return Motion(q, v / half, a / half**2)


# -- kinds ---------------------------------------------------------------------------------------------------------


def ParabolicBlends(start: Any, end: Any, duration: Any, blend: Any = None, most: Any = None) -> Polynomials:
    """From rest to rest: constant acceleration for `blend` [s], constant velocity, constant deceleration.

    - `blend`: a tenth of the duration if left out, as the n-R manipulator paper has it; at most half of the duration
    - `most`: largest acceleration that is allowed [1/s^2 times the unit of the vector]; none by default

    The velocity between the blends is (end - start) / (duration - blend). The acceleration jumps at all four knots,
    and so do torques that follow it.
    """
    owner = "ParabolicBlends"
    q0, q1, total = _ends(owner, start, end, duration)
    blend = 0.1 * total if blend is None else blend
    errors.number(owner, "blend", blend, above=0.0)
    ramp = jnp.asarray(blend, dtype=float)
    _refuse_long_blend(ramp, total)
    speed = (q1 - q0) / (total - ramp)
    if most is not None:
        _refuse_short_blend(speed, ramp, total, most)
    rest, none = jnp.zeros_like(q0), jnp.zeros_like(q0)
    half = 0.5 * speed / ramp
    begun, ending = q0 + half * ramp**2, q1 - half * ramp**2
    rows = [(q0, rest, half), (begun, speed, none), (ending, speed, -half)]
    # Blends of half the duration leave nothing between them: a piece without length would be a knot too many.
    lengths = errors.known((ramp, total))
    if lengths is not None and 2.0 * lengths[0] >= lengths[1]:
        return _polynomials([0.0 * total, ramp, total], [rows[0], rows[2]])
    return _polynomials([0.0 * total, ramp, total - ramp, total], rows)


def Cubic(start: Any, end: Any, duration: Any, start_velocity: Any = None, end_velocity: Any = None) -> Polynomials:
    """Third order: positions and velocities at both ends; velocities are zero if left out."""
    owner = "Cubic"
    q0, q1, total = _ends(owner, start, end, duration)
    v0 = _like(owner, "start_velocity", start_velocity, q0)
    v1 = _like(owner, "end_velocity", end_velocity, q0)
    return _polynomials([0.0 * total, total], [_hermite(q0, q1, v0, v1, total)])


def Quintic(
    start: Any,
    end: Any,
    duration: Any,
    start_velocity: Any = None,
    end_velocity: Any = None,
    start_acceleration: Any = None,
    end_acceleration: Any = None,
) -> Polynomials:
    """Fifth order: positions, velocities and accelerations at both ends; zero where left out."""
    owner = "Quintic"
    q0, q1, total = _ends(owner, start, end, duration)
    v0 = _like(owner, "start_velocity", start_velocity, q0)
    v1 = _like(owner, "end_velocity", end_velocity, q0)
    a0 = _like(owner, "start_acceleration", start_acceleration, q0)
    a1 = _like(owner, "end_acceleration", end_acceleration, q0)
    # What the first three terms leave to do at the end, scaled to a duration of one.
    way = q1 - q0 - v0 * total - 0.5 * a0 * total**2
    speed = (v1 - v0 - a0 * total) * total
    bend = (a1 - a0) * total**2
    row = (
        q0,
        v0,
        0.5 * a0,
        (10.0 * way - 4.0 * speed + 0.5 * bend) / total**3,
        (-15.0 * way + 7.0 * speed - bend) / total**4,
        (6.0 * way - 3.0 * speed + 0.5 * bend) / total**5,
    )
    return _polynomials([0.0 * total, total], [row])


def MinimumJerk(start: Any, end: Any, duration: Any) -> Polynomials:
    """The motion from rest to rest with the least integral of squared jerk (Flash and Hogan 1985): a quintic."""
    _ends("MinimumJerk", start, end, duration)
    return Quintic(start, end, duration)


def Waypoints(times: Any, points: Any, start_velocity: Any = None, end_velocity: Any = None) -> Polynomials:
    """Cubics through points[i] at times[i] whose velocities and accelerations agree at every inner point.

    - `times` [s]: rising, the first is 0; `points`: one vector for each
    - `start_velocity`, `end_velocity`: zero if left out
    """
    at, via = _via(times, points)
    v0 = _like("Waypoints", "start_velocity", start_velocity, via[0])
    v1 = _like("Waypoints", "end_velocity", end_velocity, via[0])
    h = at[1:] - at[:-1]
    speeds = _speeds(h, via, v0, v1)
    rows = [_hermite(via[i], via[i + 1], speeds[i], speeds[i + 1], h[i]) for i in range(via.shape[0] - 1)]
    return _polynomials([at[i] for i in range(via.shape[0])], rows)


def Hold(value: Any, duration: Any) -> Polynomials:
    """Stand still for a while."""
    q, _, total = _ends("Hold", value, value, duration)
    return _polynomials([0.0 * total, total], [(q,)])


def Sequence(*pieces: Any) -> Polynomials:
    """One motion after the other; each must begin where, and as fast as, the one before ends.

    A schedule that repeats is written as `Sequence(*(cycle * 3))`.
    """
    _refuse_strangers(pieces)
    powers = max(p.coefficients.shape[1] for p in pieces)
    knots, rows, begin = [pieces[0].bounds[:1]], [], jnp.asarray(0.0)
    for p in pieces:
        knots.append(begin + p.bounds[1:])
        begin = begin + p.duration
        missing = powers - p.coefficients.shape[1]
        rows.append(jnp.pad(p.coefficients, ((0, 0), (0, missing), (0, 0))))
    for i, (one, two) in enumerate(itertools.pairwise(pieces)):
        _refuse_jump(i, one, two)
    return Polynomials(jnp.concatenate(knots), jnp.concatenate(rows))


# -- parts ---------------------------------------------------------------------------------------------------------


def _polynomials(knots: list[Any], rows: list[tuple[Any, ...]]) -> Polynomials:
    return Polynomials(jnp.stack([jnp.asarray(k, dtype=float) for k in knots]), jnp.stack([jnp.stack(r) for r in rows]))


def _hermite(q0: Any, q1: Any, v0: Any, v1: Any, h: Any) -> tuple[Any, ...]:
    """Coefficients of the cubic with these positions and velocities at its ends."""
    mean = (q1 - q0) / h
    return q0, v0, (3.0 * mean - 2.0 * v0 - v1) / h, (v0 + v1 - 2.0 * mean) / h**2


def _speeds(h: Any, via: Any, v0: Any, v1: Any) -> Any:
    """Velocities at all points such that the accelerations agree: one tridiagonal equation for every inner point."""
    count = via.shape[0]
    if count == 2:
        return jnp.stack([v0, v1])
    inverse = 1.0 / h
    pull = 3.0 * (via[1:] - via[:-1]) * (inverse**2)[:, None]
    inner = np.arange(count - 2)
    matrix = jnp.zeros((count, count)).at[0, 0].set(1.0).at[count - 1, count - 1].set(1.0)
    matrix = matrix.at[inner + 1, inner].set(inverse[:-1]).at[inner + 1, inner + 2].set(inverse[1:])
    matrix = matrix.at[inner + 1, inner + 1].set(2.0 * (inverse[:-1] + inverse[1:]))
    right = jnp.concatenate([v0[None], pull[:-1] + pull[1:], v1[None]])
    return jnp.linalg.solve(matrix, right)


def _on_grid(function: Any, bounds: Any, within: Any) -> Any:
    """Values (pieces, parts, nodes, size) of a function of (piece, time), at shares of every piece."""

    def one(i: Any, share: Any) -> Any:
        value = jnp.asarray(function(i, bounds[i] + share * (bounds[i + 1] - bounds[i])), dtype=float)
        if value.ndim != 1:
            raise errors.CaromError(f"function of Fitted returns shape {value.shape}; it must be a vector")
        return value

    pieces = jnp.arange(bounds.shape[0] - 1)
    return jax.vmap(lambda i: jax.vmap(jax.vmap(lambda x: one(i, x)))(within))(pieces)


def _to_series(nodes: int) -> np.ndarray:
    """Chebyshev coefficients from values at the nodes: a discrete cosine transform."""
    j, k = np.arange(nodes)[:, None], np.arange(nodes)[None, :]
    matrix = 2.0 / nodes * np.cos(j * np.pi * (k + 0.5) / nodes)
    matrix[0] *= 0.5
    return matrix


def _slope_of_series(nodes: int) -> np.ndarray:
    """Coefficients of the derivative from those of a series: c'_j = 2 / (1 + [j = 0]) sum_{k = j+1, j+3, ..} k c_k."""
    j, k = np.arange(nodes)[:, None], np.arange(nodes)[None, :]
    matrix = np.where((k > j) & ((k - j) % 2 == 1), 2.0 * k, 0.0)
    matrix[0] *= 0.5
    return matrix


def _clenshaw(series: Any, x: Any) -> Any:
    """Sum of a Chebyshev series."""
    one = two = jnp.zeros_like(series[0])
    for k in reversed(range(1, series.shape[0])):
        one, two = series[k] + 2.0 * x * one - two, one
    return series[0] + x * one - two


# -- refusals ------------------------------------------------------------------------------------------------------


def _length(owner: str, field: str, value: Any) -> int:
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


def _ends(owner: str, start: Any, end: Any, duration: Any) -> tuple[Any, Any, Any]:
    size, other = _length(owner, "start", start), _length(owner, "end", end)
    if size != other:
        raise errors.CaromError(
            f"start of {owner} holds {size} numbers and end {other}; both must have one number for every joint"
        )
    _refuse_duration(owner, duration)
    q0, q1, total = (jnp.asarray(x, dtype=float) for x in (start, end, duration))
    return q0, q1, total


def _refuse_duration(owner: str, duration: Any) -> None:
    errors.number(owner, "duration", duration)
    given = errors.known(duration)
    if given is not None and not given > 0.0:
        raise errors.CaromError(
            f"duration of {owner} is {float(given):g} s; a motion takes time; it must be greater than 0"
        )


def _like(owner: str, field: str, value: Any, model: Any) -> Any:
    if value is None:
        return jnp.zeros_like(model)
    errors.vector(owner, field, value, model.shape[0])
    return jnp.asarray(value, dtype=float)


def _refuse_long_blend(blend: Any, total: Any) -> None:
    given = errors.known((blend, total))
    if given is not None and given[0] > 0.5 * given[1] * (1.0 + 1e-12):
        raise errors.CaromError(
            f"blend of ParabolicBlends is {given[0]:g} s, more than half of the duration, {given[1]:g} s; two blends "
            "must fit; make it shorter"
        )


def _refuse_short_blend(speed: Any, blend: Any, total: Any, most: Any) -> None:
    """The distance asks for an acceleration; shorter blends ask for more, down to half the duration for the least."""
    errors.number("ParabolicBlends", "most", most, above=0.0)
    given = errors.known((jnp.max(jnp.abs(speed)), blend, total, most))
    if given is None or given[0] <= given[3] * given[1]:
        return
    fastest, ramp, time, limit = (float(x) for x in given)
    distance = fastest * (time - ramp)
    rest = time**2 - 4.0 * distance / limit
    cure = f"make the duration at least {2.0 * np.sqrt(distance / limit):.4g} s"
    if rest >= 0.0:
        cure = f"make it at least {0.5 * (time - np.sqrt(rest)):.4g} s"
    raise errors.CaromError(
        f"blend of ParabolicBlends is {ramp:g} s, too short for the distance {distance:g}: it takes an acceleration of "
        f"{fastest / ramp:g}, more than `most`, {limit:g}; {cure}"
    )


def _via(times: Any, points: Any) -> tuple[Any, Any]:
    count = _length("Waypoints", "times", times)
    if np.ndim(points[0] if isinstance(points, list | tuple) and points else points) == 0:
        raise errors.CaromError("points of Waypoints must be one vector for every time, such as [[0, 0], [0.5, 0.2]]")
    if len(points) != count:
        raise errors.CaromError(
            f"times of Waypoints holds {count} instants and points {len(points)} vectors; each point needs its instant"
        )
    if count < 2:
        raise errors.CaromError("times of Waypoints holds 1 instant; a motion needs at least two; use Hold to stand")
    size = _length("Waypoints", "points[0]", points[0])
    for i in range(1, count):
        errors.vector("Waypoints", f"points[{i}]", points[i], size)
    _refuse_times("times of Waypoints", errors.known(times))
    return jnp.asarray(times, dtype=float), jnp.stack([jnp.asarray(p, dtype=float) for p in points])


def _refuse_times(what: str, times: Any) -> None:
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
            "rise"
        )


def _refuse_rough(series: Any, tolerance: float) -> None:
    """A series whose last terms are not small has not converged: something breaks within a piece."""
    given = errors.known(series)
    if given is None:
        return
    tail, most = np.max(np.abs(given[:, :, -2:]), axis=(1, 2, 3)), np.max(np.abs(given))
    rough = np.flatnonzero(~(tail <= tolerance * most))
    if rough.size:
        i = int(rough[0])
        raise errors.CaromError(
            f"function of Fitted is not smooth enough in piece {i + 1}: its series ends with {tail[i] / most:.1e} of "
            f"its largest value, more than the tolerance {tolerance:g}; put a knot where it breaks, or take more parts"
        )


def _refuse_strangers(pieces: tuple[Any, ...]) -> None:
    if not pieces:
        raise errors.CaromError("Sequence got no motion; give at least one, such as Sequence(Cubic(...), Hold(...))")
    for i, p in enumerate(pieces):
        if not isinstance(p, Polynomials):
            raise errors.CaromError(
                f"piece {i + 1} of Sequence is a {type(p).__name__}; it must be made by Cubic, Quintic, Waypoints, ..."
            )
        if p.size != pieces[0].size:
            raise errors.CaromError(
                f"piece {i + 1} of Sequence moves {p.size} numbers and the first {pieces[0].size}; all must move the "
                "same joints"
            )


def _refuse_jump(i: int, one: Polynomials, two: Polynomials) -> None:
    """A jump of position cannot be followed, a jump of velocity only by a blow."""
    before, after = one.smooth(one.pieces - 1, one.duration), two.smooth(0, two.knots[0])
    for word, x, y in (("position", before.q, after.q), ("velocity", before.v, after.v)):
        given = errors.known((x, y))
        if given is None:
            continue
        apart = np.abs(given[0] - given[1])
        if np.max(apart) > JOINED * max(1.0, float(np.max(np.abs(given)))):
            k = int(np.argmax(apart))
            raise errors.CaromError(
                f"{word} {k + 1} of Sequence jumps from {given[0][k]:g} to {given[1][k]:g} between pieces {i + 1} and "
                f"{i + 2}; each piece must begin where, and as fast as, the one before ends"
            )
