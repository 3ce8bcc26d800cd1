"""Restitution that depends on speed, or air: what the sounds of bouncing balls speak for.

With T the time between two bounces, v the speed after the first of them, k the drag over the mass [1/m] and
x = v sqrt(k / g), a flight in air takes

    T = (atan x + asinh x) / sqrt(g k),   and ends with the speed  v / sqrt(1 + x^2)

(the check is a simulation with carom.Drag). A row is the ratio of an interval to the one before, predicted from that
one: what scatters from bounce to bounce (a rough floor, spin) is then independent from row to row, which the residuals
confirm. One drop is one group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ...contact.impact import PowerRestitution, ViscoelasticRestitution
from ...quantities import Real
from ...study.fitting import Comparison, Fit, Model, Observations, compare_laws
from .bouncing_balls import BounceRecord

G = 9.81
NONE = 1e-9  # [1/m] drag of nothing; zero would divide by itself
TYPICAL = 0.1  # [1/m], where the search for drag begins
NEWTON_STEPS = 6  # from the speed in vacuum; the error squares at each
LEAST = 20  # rows, below which laws are not compared
# A regulation ball of table tennis: 2.7 g, 40 mm; air of 1.2 kg/m^3, drag coefficient of a sphere 0.47.
KNOWN_DRAG = 0.5 * 1.2 * 0.47 * np.pi * 0.02**2 / 0.0027

Form = Callable[[Any, Any], Any]


class BounceStudy(NamedTuple):
    """Numbers of the chapter: by ball."""

    records: dict[str, int]
    rows: dict[str, tuple[np.ndarray, np.ndarray]]  # intervals, and ratios of the next to them
    compared: dict[str, Comparison]
    echo: dict[str, float]  # correlation of residuals of neighbouring rows
    apart: dict[str, float]  # correlation of the estimates of slope of e and drag, fitted together


def flight(speed: Real, drag: Real) -> Any:
    """Time of a flight that begins with this speed upwards."""
    x = speed * jnp.sqrt(drag / G)
    return (jnp.arctan(x) + jnp.arcsinh(x)) / jnp.sqrt(G * drag)


def speed_of(interval: Real, drag: Real) -> Any:
    """The speed with which a flight of that time begins."""
    v = 0.5 * G * interval
    for _ in range(NEWTON_STEPS):
        square = v * v * drag / G
        slope = (1.0 / (1.0 + square) + 1.0 / jnp.sqrt(1.0 + square)) / G
        v = v - (flight(v, drag) - interval) / slope
    return v


def ratio(form: Form, airy: bool, p: PyTree, interval: Real) -> Any:
    """The next interval over this one."""
    drag = p["drag"] + NONE if airy else NONE
    v = speed_of(interval, drag)
    coming = v / jnp.sqrt(1.0 + v * v * drag / G)
    return flight(form(p, coming) * coming, drag) / interval


def constant(p: PyTree, speed: Real) -> Any:
    return p["e"]


def linear(p: PyTree, speed: Real) -> Any:
    return p["e"] - p["a"] * speed


def power(p: PyTree, speed: Real) -> Any:
    return PowerRestitution(p["e"], p["p"]).formula(speed)


def viscoelastic(p: PyTree, speed: Real) -> Any:
    return ViscoelasticRestitution(p["b"]).formula(speed)


FORMS: dict[str, tuple[Form, dict[str, float]]] = {
    "constant": (constant, {"e": 0.9}),
    "linear": (linear, {"e": 0.9, "a": 0.01}),
    "power": (power, {"e": 0.9, "p": 0.02}),
    "viscoelastic": (viscoelastic, {"b": 0.1}),
}
WITH_AIR = ("constant", "linear", "power")


def laws() -> dict[str, Model]:
    """Models for `compare_laws`: every form in vacuum, some in air."""
    found = {f"{name} e": Model(partial(ratio, form, False), start) for name, (form, start) in FORMS.items()}
    for name in WITH_AIR:
        form, start = FORMS[name]
        found[f"{name} e, drag"] = Model(partial(ratio, form, True), start | {"drag": TYPICAL}, ("drag",))
    return found


def rows_of(records: Sequence[BounceRecord]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Intervals, ratios of the next ones to them, and the record of each."""
    parts = [(r.leading, f"{r.file} {i}") for i, r in enumerate(records)]
    before = np.concatenate([x[:-1] for x, _ in parts])
    ratios = np.concatenate([x[1:] / x[:-1] for x, _ in parts])
    return before, ratios, [name for x, name in parts for _ in x[1:]]


def bounce_study(records: Sequence[BounceRecord]) -> BounceStudy:
    """All numbers of the chapter."""
    balls = sorted({r.ball for r in records}, key=lambda ball: -sum(r.ball == ball for r in records))
    counts, rows, compared, echo, apart = {}, {}, {}, {}, {}
    for ball in balls:
        mine = [r for r in records if r.ball == ball]
        before, ratios, groups = rows_of(mine)
        counts[ball], rows[ball] = len(mine), (before, ratios)
        if len(ratios) < LEAST:
            continue
        found = compare_laws(Observations(ratios, before, groups=groups), laws(), resamples=500)
        compared[ball] = found
        fit = found.laws["linear e, drag"].fit
        if fit is not None:
            echo[ball] = echo_of(np.asarray(fit.residuals), groups)
            apart[ball] = _correlation(fit, "a", "drag")
    return BounceStudy(counts, rows, compared, echo, apart)


def echo_of(residuals: np.ndarray, groups: list[str]) -> float:
    """Correlation of neighbours within a record: -1/2 for errors of the instants, 0 for scatter of the bounces."""
    same = np.asarray(groups[1:]) == np.asarray(groups[:-1])
    return float(np.sum(residuals[1:][same] * residuals[:-1][same]) / np.sum(residuals**2))


def _correlation(fit: Fit, first: str, second: str) -> float:
    i, j = fit.names.index(first), fit.names.index(second)
    c = fit.covariance
    return float(c[i, j] / np.sqrt(c[i, i] * c[j, j])) if np.all(np.isfinite(c[np.ix_((i, j), (i, j))])) else np.nan
