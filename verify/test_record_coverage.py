"""Two hundred copies of each record, made by a law with the noise that was left: do 95 % intervals hold the truth?

The designs are those of the records (how many blows, at which speeds, how many bounces and how they scatter), so that
no file is needed. Of 200 honest intervals, 182 to 197 hold the truth (98 % of all such counts).
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.record_files import PENDULUM, ellipse_rows

import carom
from carom.experiment.validation import _bounce_study as bouncing
from carom.experiment.validation import _ellipse_study as ellipse
from carom.experiment.validation import _pendulum_study as pendulum
from carom.experiment.validation.pendulum_swings import Swings

COPIES, LEAST, MOST = 200, 182, 197


def held(truth, fits):
    """How many intervals hold each number."""
    return {n: sum(f.intervals[n][0] <= x <= f.intervals[n][1] for f in fits) for n, x in truth.items()}


def test_two_and_three_numbers_of_the_ellipse():
    """200 of its blows, with 6 % of noise in the change of velocity."""
    rows = ellipse_rows(200)
    mirror = np.array([-1.0, 1.0, 1.0])
    v = rows["states_i"][:, 3:] * mirror
    weight = 0.0364 * jnp.array([1.0, 1.0, 0.0192**2])
    size = np.linalg.norm((rows["states_f"][:, 3:] * mirror - v) * np.sqrt(np.asarray(weight)), axis=1)
    known = {"n": jnp.asarray(rows["n"]), "d": jnp.asarray(rows["d"]), "v": jnp.asarray(v), "size": jnp.asarray(size)}
    for law, truth in (
        (partial(ellipse.plain, carom.Poisson), {"e": 0.59, "mu": 0.18}),
        (ellipse.by_sliding, {"e": 0.62, "mu": 0.18, "c": 0.08}),
    ):
        predict = partial(ellipse.changes, law, weight)
        clean, rng = np.asarray(predict(truth, known)), np.random.default_rng(20)
        fits = [
            carom.fit(predict, clean + 0.035 * rng.standard_normal(clean.shape), truth, args=known)
            for _ in range(COPIES)
        ]
        found = held(truth, fits)
        print(found)
        assert all(LEAST <= n <= MOST for n in found.values()), found


def test_restitution_and_drag_of_bouncing_balls():
    """30 drops of 13 bounces; what scatters is each bounce, by 0.7 %."""
    truth, rng = {"e": 0.954, "drag": 0.135}, np.random.default_rng(21)
    predict = partial(bouncing.ratio, bouncing.constant, True)
    step = jax.jit(partial(predict, truth))

    def copy():
        interval = rng.uniform(0.25, 0.46, 30)
        before, ratios = [], []
        for _ in range(12):
            ratio = np.asarray(step(interval)) * (1.0 + 0.007 * rng.standard_normal(30))
            before.append(interval)
            ratios.append(ratio)
            interval = interval * ratio
        return np.concatenate(before), np.concatenate(ratios)

    fits = []
    for _ in range(COPIES):
        before, ratios = copy()
        fits.append(carom.fit(predict, ratios, truth, args=jnp.asarray(before), positive=("drag",)))
    found = held(truth, fits)
    print(found)
    assert all(LEAST <= n <= MOST for n in found.values()), found


def test_restitution_and_drag_that_no_record_tells_apart():
    """Drops from one low height: a slope of e and drag are the same to the data, and the fit says so."""
    rng = np.random.default_rng(22)
    before = rng.uniform(0.10, 0.12, 40)
    truth = {"e": 0.95, "a": 0.01, "drag": 0.13}
    predict = partial(bouncing.ratio, bouncing.linear, True)
    ratios = np.asarray(predict(truth, before)) + 0.007 * rng.standard_normal(40)
    fit = carom.fit(predict, ratios, truth, args=jnp.asarray(before), positive=("drag",), throw=False)
    assert not fit.determined
    assert any("tell" in words or "determine" in words for words in fit.undetermined)


@pytest.mark.slow
def test_dry_and_viscous_joints_of_the_pendulum():
    """Six pieces of 2.7 s with 8 mrad of noise; the linearised fit of `fitted`, whose tangent is at the truth."""
    published = dict(zip(["m1", "m2", "a1", "a2", "L1", "I1", "I2", "k1", "k2", "g"], PENDULUM, strict=True))
    rng = np.random.default_rng(23)
    starts = rng.uniform(-np.pi, 0.0, (6, 2)), rng.normal(0.0, 3.0, (6, 2))
    swings = Swings(2, 0.001, (), (), published)
    times = 0.02 * np.arange(130)
    names = ("I1", "I2", "a1", "c1", "c2", "k1", "k2")
    truth = {n: published.get(n, 0.0) for n in names} | {"c1": 5e-4, "c2": 1e-4}
    steps = {n: 1e-4 * x for n, x in truth.items()}
    sets = [truth | {n: truth[n] + s * steps[n]} for s in (1.0, -1.0) for n in sorted(names)]
    runs = pendulum.predicted(swings, [truth, *sets], starts, times).reshape(1 + len(sets), -1)
    count = len(names)
    sizes = np.array([2.0 * steps[n] for n in sorted(names)])
    known = {"values": runs[0], "slopes": ((runs[1 : 1 + count] - runs[1 + count :]) / sizes[:, None]).T, "at": truth}
    fits = [
        carom.fit(pendulum.line, runs[0] + 0.008 * rng.standard_normal(runs[0].shape), truth, args=known)
        for _ in range(COPIES)
    ]
    found = held(truth, fits)
    print(found)
    assert all(LEAST <= n <= MOST for n in found.values()), found
