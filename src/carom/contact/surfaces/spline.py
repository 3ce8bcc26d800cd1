"""A smooth curve through points."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ... import errors, native
from ...forms import Form, Slot
from ...hybrid._in_words import told
from ...mechanism._recipe import Recipe
from ...quantities import Index, Library, Matrix, Points, Real, Vector
from . import _tridiagonal as tridiagonal
from ._outline import Box
from ._spline_refusals import refuse_coinciding, refuse_crossing
from .curve import BENT, AbstractCurve, settled
from .surface import Bound, bend_of, still

SAMPLES = 4  # per segment, among which the search for a foot begins
EVENLY = 256  # samples evenly along the curve, besides as many as all pieces have
LOOKS = 8  # per segment, at its curvature


def _told(spline: Spline) -> dict[str, Any] | None:
    """Points and tangents as they were given; None where their numbers are not known."""
    made_of = spline.recipe.made_of
    return None if made_of is None else {"closed": spline.closed} | made_of


class Spline(AbstractCurve):
    """Cubic spline through points [m]; its free side lies to the left of their direction.

    - `points`: (x, y) in order; at least 2, or 3 if `closed`
    - `closed=True`: periodic; the last point is joined to the first. Counter-clockwise, the free side is inside
    - `tangents`: directions (x, y) at the first and last point of an open curve (a clamped spline). Without them the
      ends are straight (a natural spline). Beyond its ends an open curve goes on as a straight line

    Between points the curve is a cubic in chord length, with continuous curvature (at the ends of a clamped spline the
    curvature jumps to that of the line). The gap is a true distance within its radius of curvature. A curve that
    crosses itself, or its straight ends, has no free side and is refused; points that are traced are not checked.
    """

    form: ClassVar[Form] = Form(
        "spline",
        "a smooth curve through points; its free side lies to the left",
        (
            Slot("points", "table", "(x, y) in order [m]"),
            Slot("closed", "flag", "is the last point joined to the first?", False),
            Slot("tangents", "table", "directions (x, y) at both ends of an open curve", None),
        ),
        _told,
    )
    pieces: Any  # (segments, 8): coefficients of x, then of y, in the segment's parameter 0 .. 1
    samples: Any  # (many, 3): x, y and parameter
    bend: Any  # [m] smallest radius of curvature
    closed: bool = eqx.field(static=True)
    recipe: Recipe = eqx.field(static=True)  # points and tangents as given

    def __init__(self, points: Points, closed: bool = False, tangents: Points | None = None) -> None:
        corners = _checked(points, closed)
        self.recipe = Recipe({"points": corners, "tangents": tangents})
        ways = None
        if tangents is not None:
            if closed:
                raise errors.CaromError("tangents were given to a closed Spline, which has no ends; leave them out")
            ways = _directions(tangents)
        lib = _library(corners, ways)
        ends = lib.concatenate([corners, corners[:1]]) if closed else corners
        steps = ends[1:] - ends[:-1]
        chords = lib.sqrt(steps[:, 0] ** 2 + steps[:, 1] ** 2)
        slopes = _slopes(lib, steps, chords, closed, ways)
        cubics = _cubics(lib, ends[:-1], steps, chords[:, None] * slopes[:-1], chords[:, None] * slopes[1:])
        self.closed = closed
        if not closed:
            first, last = chords[0] * slopes[0], chords[-1] * slopes[-1]
            before = _line(lib, corners[0] - first, first)
            cubics = lib.concatenate([before, cubics, _line(lib, corners[-1], last)])
        if lib is np:
            refuse_crossing(cubics, closed)
        self.pieces = jnp.asarray(cubics)
        self.samples = jnp.asarray(_sampled(lib, cubics, closed))
        self.bend = jnp.asarray(_sharpest(lib, cubics))

    @property
    def words(self) -> str:
        made_of = self.recipe.made_of
        points = None if made_of is None else np.asarray(made_of["points"], dtype=float)
        ends = () if points is None else (("first", points[0], "m"), ("last", points[-1], "m"))
        count = self.pieces.shape[0] - (0 if self.closed else 1)
        return told("Spline", ("points", count, ""), *ends, ("closed", True if self.closed else None, ""))

    def _shape(self, u: Real, piece: Index) -> tuple[Any, ...]:
        """Position, first and second derivative at parameter u, on the given piece."""
        c, w = self.pieces[piece], u - piece
        out: list[Any] = []
        for a0, a1, a2, a3 in (c[:4], c[4:]):
            out += [
                a0 + w * (a1 + w * (a2 + w * a3)),
                a1 + w * (2.0 * a2 + 3.0 * w * a3),
                2.0 * a2 + 6.0 * w * a3,
            ]
        return tuple(out)

    def _step(self, u: Real, piece: Index, x: Real, y: Real) -> Any:
        """Newton's step to the least distance; where the curve bends away from the point, as if it were straight."""
        px, dx, bx, py, dy, by = self._shape(u, piece)
        straight = dx * dx + dy * dy
        bend = straight + (px - x) * bx + (py - y) * by
        return u - ((px - x) * dx + (py - y) * dy) / jnp.where(bend > BENT * straight, bend, straight)

    def _piece(self, u: Real) -> Any:
        return jnp.clip(jnp.floor(u).astype(int), 0, self.pieces.shape[0] - 1)

    def foot(self, x: Real, y: Real) -> tuple[Any, Any, Any, Any]:
        still, sx, sy = jax.lax.stop_gradient((self, x, y))
        near = native.least(lambda s: (s[0] - sx) ** 2 + (s[1] - sy) ** 2, still.samples)
        count = float(self.pieces.shape[0])

        def search(u: Real) -> Any:
            u = still._step(u, still._piece(u), sx, sy)
            return u - count * jnp.floor(u / count) if self.closed else u

        # A foot on a knot belongs to either piece, so the last steps keep to one.
        chosen: list[Any] = []

        def newton(u: Real) -> Any:
            if not chosen:
                chosen.append(self._piece(u))
            return self._step(u, chosen[0], x, y)

        u = settled(search, newton, near[2])
        px, dx, _, py, dy, _ = self._shape(u, chosen[0])
        size = jnp.sqrt(dx * dx + dy * dy)
        return px, py, -dy / size, dx / size

    def outline(self, box: Box, times: np.ndarray) -> list[np.ndarray]:
        every = np.asarray(self.pieces)
        pieces = every if self.closed else every[1:-1]  # without the straight lines beyond the ends
        powers = np.linspace(0.0, 1.0, 13)[:, None] ** np.arange(4)
        parts = [np.stack([powers @ p[:4], powers @ p[4:]], axis=1) for p in pieces]
        line = np.concatenate([parts[0][:1], *(p[1:] for p in parts)])
        if self.closed:
            return [line]
        reach = box.size + float(np.hypot(*(np.asarray(box.centre) - line[0])))
        first, last = -every[0][[1, 5]], every[-1][[1, 5]]
        ends = line[0] + reach * first / np.hypot(*first), line[-1] + reach * last / np.hypot(*last)
        return [np.concatenate([ends[0][None], line, ends[1][None]])]

    def bound(self) -> Bound:
        return still(self.bend)


def _library(*values: Any) -> Any:
    """numpy for plain numbers, which is quick; jax.numpy if one of them is traced."""
    traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values))
    return jnp if traced else np


def _checked(points: Points, closed: bool) -> Any:
    least = 3 if closed else 2
    shape = None if isinstance(points, list | tuple) else tuple(getattr(points, "shape", ()))
    if shape is None:
        points = _stacked(points)
        shape = (len(points), 2)
    if len(shape) != 2 or shape[1] != 2:
        raise errors.CaromError(f"points of Spline has shape {shape}; it must be a list of points (x, y), shape (n, 2)")
    if shape[0] < least:
        raise errors.CaromError(
            f"points of Spline holds {shape[0]}; {'a closed' if closed else 'an open'} curve needs at least {least}"
        )
    given = errors.known(points)
    if given is None:
        return points
    if not np.all(np.isfinite(given)):
        raise errors.CaromError("points of Spline holds a number that is not finite; check how they were computed")
    refuse_coinciding(given, closed)
    return given


def _stacked(points: Points) -> Any:
    """A list of points as one array; the first that is no pair of numbers is refused by its place."""
    if _library(points) is np and len(points) > 0:
        try:  # at once, which is quick: long lists are right as a rule
            together = np.asarray(points, dtype=float)
            if together.ndim == 2 and together.shape[1] == 2 and np.all(np.isfinite(together)):
                return together
        except (TypeError, ValueError):
            pass
    for i, point in enumerate(points):
        errors.vector("Spline", f"points[{i}]", point, 2)
    if len(points) == 0:
        return points
    lib = _library(points)
    return lib.stack([lib.stack([lib.asarray(c, dtype=float) for c in p]) for p in points])


def _directions(tangents: Points) -> Any:
    """Unit vectors of two directions."""
    if not isinstance(tangents, list | tuple) or len(tangents) != 2:
        raise errors.CaromError(
            f"tangents of Spline is {tangents!r}; it must be two directions, at the first and at the last point, such "
            "as ((1, 0), (1, 0))"
        )
    for i, tangent in enumerate(tangents):
        errors.vector("Spline", f"tangents[{i}]", tangent, 2)
        given = errors.known(tangent)
        if given is not None and not np.any(given):
            raise errors.CaromError(f"tangents[{i}] of Spline is (0, 0); it must be a direction, such as (1, 0)")
    lib = _library(tangents)
    two = lib.stack([lib.stack([lib.asarray(c, dtype=float) for c in t]) for t in tangents])
    return two / lib.sqrt(lib.sum(two**2, axis=1))[:, None]


def _slopes(lib: Library, steps: Matrix, chords: Vector, closed: bool, tangents: Matrix | None) -> Any:
    """Derivatives with respect to chord length at all points (twice the first, if closed) that make curvature agree.

    With h_i the chords and P_i' the unknowns, continuity of the second derivative at point i reads
    P'_{i-1} / h_{i-1} + 2 (1 / h_{i-1} + 1 / h_i) P'_i + P'_{i+1} / h_i = 3 (step_{i-1} / h_{i-1}^2 + step_i / h_i^2),
    and at an end, with the terms of the missing side left out, that the second derivative is zero.
    """
    inverse = 1.0 / chords
    pull = 3.0 * steps * (inverse**2)[:, None]
    if closed:
        left = lib.roll(inverse, 1)
        right = pull + lib.roll(pull, 1, axis=0)
        found = tridiagonal.solve_periodic(lib, left, 2.0 * (inverse + left), inverse, right)
        return lib.concatenate([found, found[:1]])
    none, nothing = np.zeros(1), np.zeros((1, 2))
    before, after = lib.concatenate([none, inverse]), lib.concatenate([inverse, none])
    middle, right = 2.0 * (before + after), lib.concatenate([pull, nothing]) + lib.concatenate([nothing, pull])
    if tangents is not None:  # the slopes at the ends are given
        inner = (np.arange(len(steps) + 1) % len(steps)) != 0
        before, middle, after = inner * before, lib.where(inner, middle, 1.0), inner * after
        right = lib.concatenate([tangents[:1], right[1:-1], tangents[1:]])
    return tridiagonal.solve(lib, before, middle, after, right)


def _cubics(lib: Library, start: Matrix, step: Matrix, leave: Matrix, arrive: Matrix) -> Any:
    """Coefficients of Hermite's cubics."""
    parts = (start, leave, 3.0 * step - 2.0 * leave - arrive, leave + arrive - 2.0 * step)
    return lib.concatenate([lib.stack([p[:, axis] for p in parts], axis=1) for axis in (0, 1)], axis=1)


def _line(lib: Library, start: Matrix, step: Matrix) -> Any:
    zero = 0.0 * start[0]
    return lib.stack([start[0], step[0], zero, zero, start[1], step[1], zero, zero])[None, :]


def _sampled(lib: Library, pieces: Matrix, closed: bool) -> Any:
    """Points along the curve and their parameters; the straight ends need none beyond their beginnings.

    Some of every piece, and as many again evenly along the curve: a long piece has samples as near to each other as
    those of short ones opposite to it.
    """
    count = pieces.shape[0]
    first, last = (0.0, float(count)) if closed else (1.0, float(count - 1))
    u = np.linspace(first, last, round(SAMPLES * (last - first)) + 1)
    x, y = _points(lib, pieces, lib.asarray(u))
    way = lib.concatenate([lib.zeros(1), lib.cumsum(lib.sqrt(lib.diff(x) ** 2 + lib.diff(y) ** 2))])
    even = lib.interp(lib.linspace(0.0, way[-1], len(u) + EVENLY), way, lib.asarray(u))
    ex, ey = _points(lib, pieces, even)
    return lib.stack([lib.concatenate(both) for both in ((x, ex), (y, ey), (lib.asarray(u), even))], axis=1)


def _points(lib: Library, pieces: Matrix, u: Real) -> tuple[Any, Any]:
    """Places of the curve by parameter."""
    piece = lib.minimum(lib.floor(u).astype(int), pieces.shape[0] - 1)
    w = u - piece
    powers = lib.stack([lib.ones_like(w), w, w * w, w * w * w], axis=1)
    chosen = pieces[piece]
    return lib.sum(chosen[:, :4] * powers, axis=1), lib.sum(chosen[:, 4:] * powers, axis=1)


def _sharpest(lib: Library, pieces: Matrix) -> Any:
    """Smallest radius of curvature; it is looked at in so many places of every piece."""
    w = np.linspace(0.0, 1.0, LOOKS + 1)
    zero, one = np.zeros_like(w), np.ones_like(w)
    first, second = np.stack([zero, one, 2.0 * w, 3.0 * w * w]), np.stack([zero, zero, 2.0 * one, 6.0 * w])
    x, y = pieces[:, :4], pieces[:, 4:]
    return bend_of((x @ first, y @ first), (x @ second, y @ second))
