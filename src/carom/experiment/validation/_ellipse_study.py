"""Which law of impact the drops of an ellipse speak for."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ...contact.impact import AbstractImpactLaw, Newton, Poisson, PowerRestitution, Stronge, rubbing_blow
from ...quantities import Matrix, Real, Vector
from ...study.fitting import Comparison, Model, Observations, compare_laws
from .planar_impacts import MIRROR, PlanarImpacts, Traps, floor_of, traps_of

TRAIN = 200
SPLITS = 20
START = {"e": 0.6, "mu": 0.2}
FIRST = {"Newton": Newton, "Poisson": Poisson, "Stronge": Stronge}


class EllipseStudy(NamedTuple):
    """Numbers and rows of the chapter."""

    impacts: PlanarImpacts
    traps: Traps
    published: dict[str, tuple[float, float]]  # mean error as stored, and with the tangential part mirrored
    best: dict[str, tuple[float, float, float]]  # e, mu and the least mean error of the laws
    held_out: dict[str, np.ndarray]  # the same fit on 200 rows, its mean error on the others, for several random splits
    floor: float
    split: Comparison  # fitted on 200 rows, judged on the others
    folds: Comparison
    measured: tuple[np.ndarray, np.ndarray]  # sliding speed before, restitution measured
    speed: tuple[float, int]  # blows per second of processor time, and how many blows


def inertia_of(impacts: PlanarImpacts) -> jax.Array:
    return jnp.asarray(impacts.inertia)


def errors_of(impacts: PlanarImpacts, change: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Of every blow: error of the change of velocity over that change, in the norm of energy."""
    weight = impacts.inertia
    return np.asarray(np.sqrt(((change - measured) ** 2 * weight).sum(1) / (measured**2 * weight).sum(1)))


def published_errors(impacts: PlanarImpacts) -> dict[str, tuple[float, float]]:
    """Mean errors of the predictions that come with the record."""
    before, change = impacts.before * MIRROR, (impacts.after - impacts.before) * MIRROR  # as stored
    out = {}
    for name, after in impacts.models.items():
        told = after - before
        pair = (errors_of(impacts, x, change).mean() for x in (told, told * MIRROR))
        out[name] = tuple(map(float, pair))
    return out  # type: ignore[return-value]


# -- predictions -------------------------------------------------------------------------------------------------------

Law = Callable[[Any, Any, Any], tuple[AbstractImpactLaw, Any]]


def plain(kind: type, p: PyTree, approach: Real, sliding: Real) -> tuple[Any, Any]:
    return kind(p["e"]), p["mu"]


def by_approach(p: PyTree, approach: Real, sliding: Real) -> tuple[Any, Any]:
    """e falls with the speed of approach; 2.6 m/s is a typical one here."""
    return Poisson(PowerRestitution(p["e"], p["p"], 2.6)), p["mu"]


def by_sliding(p: PyTree, approach: Real, sliding: Real) -> tuple[Any, Any]:
    """e falls with the square of the sliding speed."""
    return Poisson(p["e"] - p["c"] * sliding**2), p["mu"]


def by_both(p: PyTree, approach: Real, sliding: Real) -> tuple[Any, Any]:
    e = PowerRestitution(p["e"], p["p"], 2.6).formula(-approach)
    return Poisson(e - p["c"] * sliding**2), p["mu"]


def sliding_friction(p: PyTree, approach: Real, sliding: Real) -> tuple[Any, Any]:
    return Poisson(p["e"]), p["mu"] + p["b"] * jnp.abs(sliding)


def changes(law: Law, weight: Vector, p: PyTree, rows: PyTree) -> Any:
    """Change of velocity of every blow, times the root of the inertia, over the size of the measured one."""

    def one(n: Vector, d: Vector, v: Vector, size: Real) -> Any:
        turn = jnp.array([0.0, 0.0, 1.0])
        n = n + turn * (p.get("arm", 0.0) * jnp.tanh(d @ v / 0.05))  # the pressure leads or trails
        impact, mu = law(p, n @ v, d @ v)
        struck = rubbing_blow(jnp.diag(weight), n, d, v, impact, mu)
        back = p.get("beta", 0.0) * struck.tangential  # restitution along the floor, where it sticks
        stuck = jnp.abs(struck.tangential) < mu * struck.normal * (1.0 - 1e-9)
        most = mu * struck.normal
        more = jnp.where(stuck, jnp.clip(struck.tangential + back, -most, most) - struck.tangential, 0.0)
        return jnp.sqrt(weight) * (struck.velocity - v + more * d / weight) / size

    return jax.vmap(one)(rows["n"], rows["d"], rows["v"], rows["size"])


def laws(weight: Vector) -> dict[str, Model]:
    """Models for `compare_laws`."""
    tried: dict[str, tuple[Law, dict[str, float]]] = {
        **{name: (partial(plain, kind), {}) for name, kind in FIRST.items()},
        "e(approach)": (by_approach, {"p": 0.1}),
        "e(sliding)": (by_sliding, {"c": 0.1}),
        "e(approach, sliding)": (by_both, {"p": 0.1, "c": 0.1}),
        "mu(sliding)": (sliding_friction, {"b": 0.0}),
        "tangential restitution": (partial(plain, Poisson), {"beta": 0.1}),
        "arm of contact": (partial(plain, Poisson), {"arm": 1e-4}),
    }
    return {name: Model(partial(changes, law, weight), START | more) for name, (law, more) in tried.items()}


def observed(impacts: PlanarImpacts) -> Observations:
    """Changes of velocity as the models predict them: then least squares are those of the relative error."""
    root, change = np.sqrt(impacts.inertia), impacts.after - impacts.before
    size = np.linalg.norm(change * root, axis=1)
    rows = {"n": impacts.normal, "d": impacts.tangent, "v": impacts.before, "size": size}
    return Observations(change * root / size[:, None], rows)


def relative_error(measured: Matrix, predicted: Matrix, rows: PyTree) -> Any:
    return jnp.linalg.norm(measured - predicted, axis=1)


# -- the study ---------------------------------------------------------------------------------------------------------


def mean_errors(impacts: PlanarImpacts, kind: type, weight: Vector) -> Callable[[np.ndarray, np.ndarray], float]:
    """Mean error of e and mu over the rows that a mask keeps."""
    data = observed(impacts)
    measured = jnp.asarray(data.measured)

    @jax.jit
    def mean(x: Vector, mask: Vector) -> Real:
        told = changes(partial(plain, kind), weight, {"e": x[0], "mu": x[1]}, data.inputs)
        return jnp.sum(mask * relative_error(measured, told, data.inputs)) / jnp.sum(mask)

    return lambda x, mask: float(mean(jnp.asarray(x), jnp.asarray(mask)))


def least_mean_error(mean: Callable[[np.ndarray, np.ndarray], float], mask: np.ndarray) -> tuple[float, float, float]:
    """e and mu with the least mean error over those rows, which is not what least squares give."""
    from scipy.optimize import minimize

    def bounded(x: np.ndarray) -> float:
        return mean(x, mask) if 0.0 <= x[0] <= 1.0 and x[1] >= 0.0 else 10.0

    found = minimize(bounded, [0.6, 0.2], method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-8})
    return float(found.x[0]), float(found.x[1]), float(found.fun)


def held_out_errors(mean: Callable[[np.ndarray, np.ndarray], float], rows: int, train: int) -> np.ndarray:
    """Mean errors on the rows that were not fitted. Random splits of fixed seeds: one split may be lucky."""
    out = []
    for seed in range(SPLITS):
        kept = np.zeros(rows)
        kept[np.random.default_rng(seed).permutation(rows)[:train]] = 1.0
        e, mu, _ = least_mean_error(mean, kept)
        out.append(mean(np.array([e, mu]), 1.0 - kept))
    return np.array(out)


def effective_restitution(impacts: PlanarImpacts) -> tuple[np.ndarray, np.ndarray]:
    """Sliding speed before every blow [m/s], and the ratio of normal speeds of the contact point."""
    before, after = ((impacts.normal * v).sum(1) for v in (impacts.before, impacts.after))
    return np.abs((impacts.tangent * impacts.before).sum(1)), -after / before


def batch_speed(impacts: PlanarImpacts, weight: Vector, times: int = 50) -> tuple[float, int]:
    """Blows per second of processor time, all of the record as one batch, repeated."""
    rows = observed(impacts).inputs
    predict = jax.jit(partial(changes, partial(plain, Poisson), weight))
    predict(START, rows).block_until_ready()
    begin = time.process_time()
    for _ in range(times):
        predict(START, rows).block_until_ready()
    spent = max(time.process_time() - begin, 1e-9)
    return times * len(impacts.before) / spent, len(impacts.before)


def ellipse_study(impacts: PlanarImpacts) -> EllipseStudy:
    """All numbers of the chapter."""
    weight, data = inertia_of(impacts), observed(impacts)
    compared = partial(compare_laws, data, laws(weight), error=relative_error, resamples=500)
    rows = len(impacts.before)
    train = min(TRAIN, rows // 2)
    means = {name: mean_errors(impacts, kind, weight) for name, kind in FIRST.items()}
    return EllipseStudy(
        impacts=impacts,
        traps=traps_of(impacts),
        published=published_errors(impacts),
        best={name: least_mean_error(mean, np.ones(rows)) for name, mean in means.items()},
        held_out={name: held_out_errors(mean, rows, train) for name, mean in means.items()},
        floor=floor_of(impacts, impacts.after - impacts.before),
        split=compared(train=train),
        folds=compared(folds=5),
        measured=effective_restitution(impacts),
        speed=batch_speed(impacts, weight),
    )
