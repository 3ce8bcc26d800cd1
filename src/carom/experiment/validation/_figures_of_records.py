"""Figures of the page of the records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from ...figures import style
from ...quantities import Function
from ...result._files import written
from ._bounce_study import BounceStudy, laws
from ._ellipse_study import EllipseStudy
from ._pendulum_study import PendulumStudy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 12


def saved(path: Path, height: float, draw: Function, *found: object) -> None:
    """A figure as PNG, complete or not at all."""
    with style.page(figsize=(style.width(), height)) as figure:
        draw(figure, *found)
        with written(path) as half:
            figure.savefig(half, format="png")


def binned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means of y in groups of equal size along x, and their standard errors."""
    groups = np.array_split(np.argsort(x), BINS)
    parts = [(x[g].mean(), y[g].mean(), y[g].std() / np.sqrt(len(g))) for g in groups]
    middles, means, errors = np.asarray(parts).T
    return middles, means, errors


def ellipse(figure: Figure, study: EllipseStudy) -> None:
    """Restitution against sliding, and mean errors as bars."""
    left, right = figure.subplots(1, 2, width_ratios=(1.1, 1.0))
    sliding, restitution = study.measured
    left.plot(sliding, restitution, ".", color="0.7", markersize=2.5, label="each blow")
    middles, means, spread = binned(sliding, restitution)
    left.errorbar(middles, means, 2.0 * spread, fmt="o", color="black", markersize=3.5, label="means, 2 std errors")
    fit = study.folds.laws["e(sliding)"].fit
    if fit is not None:
        p, x = fit.estimate, np.linspace(0.0, sliding.max(), 50)
        name = f"{p['e']:.3f} - {p['c']:.3f} v²"
        left.plot(x, p["e"] - p["c"] * x**2, **style.line(1), label=f"Poisson with e = {name}")
    left.set(xlabel="sliding speed before the blow [m/s]", ylabel="restitution [-]", ylim=(0.28, 0.8))
    left.legend(loc="lower left")
    bars = {f"{name}, as published": stored for name, (stored, _) in study.published.items()}
    bars |= {f"{name}, mirrored": mirrored for name, (_, mirrored) in study.published.items()}
    bars |= {f"{name}, held out": law.error for name, law in study.split.laws.items()}
    bars["any impulse through the point"] = study.floor
    names = sorted(bars, key=lambda name: bars[name])
    ours = ["#1d6fb8" if "published" not in name and "mirrored" not in name else "0.6" for name in names]
    right.barh(range(len(names)), [100.0 * bars[name] for name in names], color=ours)
    right.set_yticks(range(len(names)), names, fontsize=6.0)
    right.set_xlabel("error of the change of velocity [%]")


def bounces(figure: Figure, study: BounceStudy) -> None:
    """Ratios of intervals against the interval, by ball."""
    balls = list(study.compared)
    models = laws()
    for axes, ball in zip(figure.subplots(1, len(balls), squeeze=False)[0], balls, strict=True):
        before, ratios = study.rows[ball]
        axes.plot(before, ratios, ".", color="0.75", markersize=2.0, label="each pair of intervals")
        middles, means, spread = binned(before, ratios)
        axes.errorbar(middles, means, 2.0 * spread, fmt="o", color="black", markersize=3.0, label="means, 2 std errors")
        x = np.linspace(before.min(), before.max(), 60)
        for k, name in enumerate(("constant e", "power e", "constant e, drag")):
            fit = study.compared[ball].laws[name].fit
            if fit is not None:
                values = models[name].predict(fit.parameters, jnp.asarray(x))
                axes.plot(x, np.broadcast_to(np.asarray(values), x.shape), **style.line(k), label=name)
        axes.set(title=ball, xlabel="interval [s]")
        low, high = np.percentile(ratios, [3.0, 97.0])
        axes.set_ylim(low - 0.01, high + 0.01)
    first = figure.axes[0]
    first.set_ylabel("next interval / interval [-]")
    handles, names = first.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3)


def pendulum(figure: Figure, study: PendulumStudy) -> None:
    """A held-out piece and the errors of its predictions; how long predictions last."""
    upper, lower, right = figure.subplot_mosaic([["angles", "lasts"], ["errors", "lasts"]]).values()
    upper, right, lower = upper, lower, right
    times, angles, errors = study.example
    for k in range(angles.shape[1]):
        upper.plot(times, angles[:, k], **style.line(k), label=f"arm {k + 1}")
    upper.set(ylabel="angle [rad]", title="the first piece that was held out")
    upper.legend(loc="upper right")
    for k, (name, error) in enumerate(errors.items()):
        lower.semilogy(times, np.maximum(error, 1e-6), **style.line(k), label=name)
    lower.set(xlabel="time [s]", ylabel="largest error [rad]")
    lower.legend(loc="lower right")
    for k, (name, lasts) in enumerate((study.lasts | {"triple, published": study.triple_lasts}).items()):
        right.step(np.sort(lasts), np.linspace(1.0, 0.0, len(lasts)), **style.line(k), label=name)
    right.set(xlabel="time until 0.1 rad, followed for 7.5 s [s]", ylabel="share of predictions that last longer")
    right.legend(loc="lower left")
