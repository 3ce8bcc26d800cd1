"""One motion after the other."""

from __future__ import annotations

import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ... import errors
from .polynomials import Polynomials

JOINED = 1e-9  # of the largest value: how well the pieces of a sequence must meet


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
