"""Five hundred noisy runs of each of three: errors as large as the covariance says; the plain filter has larger ones.

Numbers of the table in docs/estimation.md.
"""

import numpy as np
import pytest
from examples.bounced_estimates import bouncing_ball, noisy_runs, swinging_rod

import carom

RUNS = 500


def height(x):
    return x[:, :1]


def tip(x):
    return np.sin(x[:, :1])


@pytest.mark.parametrize(
    ("world", "start", "sensor", "reads", "noise", "guess", "push", "dt", "steps", "plain", "ratio"),
    [
        (bouncing_ball(), [0.5], "ball.tip.y", height, 0.05, [0.02, 0.1], 0.1, 0.02, 60, 15.0, 1.2),
        (bouncing_ball(), [0.5], "ball.tip.y", height, 0.05, [0.01, 0.05], 0.05, 0.02, 60, 25.0, 1.35),
        (swinging_rod(), [-2.8], "rod.tip.y", tip, 0.1, [0.03, 0.2], 0.02, 0.03, 50, 5.0, 1.15),
    ],
)
def test_the_filter_knows_its_errors(world, start, sensor, reads, noise, guess, push, dt, steps, plain, ratio):
    stepping, begun = carom.Stepping(world, dt=dt), carom.State(start, [0.0])
    true, rng = noisy_runs(stepping, begun, guess, push, steps, RUNS)
    z = np.stack([reads(run.x) for run in true])
    z = z + noise * rng.normal(size=z.shape)
    found = []
    for salted in (True, False):
        filter = carom.KalmanFilter(stepping, [sensor], [noise], input_noise=[push], saltation=salted)
        found.append(filter.run(begun, guess, z, truth=true))
        print(salted, 2.0 * found[-1].consistent[0], found[-1].rms, np.mean(~found[-1].alike))
    print(found[1].rms / found[0].rms)
    assert abs(found[0].consistent[0] - 1.0) < 0.1
    assert 2.0 * found[1].consistent[0] > plain
    assert np.all(found[1].rms > ratio * found[0].rms)
    assert np.mean(~found[0].alike) < 0.025
    assert abs(np.nanmean(found[0].nis) - 1.0) < 0.1
