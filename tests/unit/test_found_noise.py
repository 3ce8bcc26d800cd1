"""Noise that is found from the residuals: what intervals have to add for it."""

import numpy as np
import pytest
from scipy import stats

import carom
from carom.study.fitting._found_noise import small_samples

NONE = np.zeros((0, 2))


def rows(*counts):
    return [np.repeat(np.arange(len(counts)), counts) == k for k in range(len(counts))]


def test_one_channel_is_students():
    J = np.random.default_rng(1).normal(size=(7, 2))
    covariance, quantile = small_samples(J, NONE, rows(7), 0.95)
    np.testing.assert_allclose(covariance, np.linalg.inv(J.T @ J), rtol=1e-12)
    np.testing.assert_allclose(quantile, stats.t.ppf(0.975, 5), rtol=1e-12)


def test_a_mean_of_two_instruments_has_meiers_variance():
    """Its first order in 1 / (n - 1): P. Meier, Biometrics 9 (1953) 59."""
    J = np.concatenate([np.full((400, 1), 1.0), np.full((500, 1), 0.7)])
    share = np.array([400.0, 500.0 * 0.49]) / (400.0 + 500.0 * 0.49)
    covariance, _ = small_samples(J, np.zeros((0, 1)), rows(400, 500), 0.95)
    grown = 1.0 + 4.0 * np.sum(share * (1.0 - share) / np.array([399.0, 499.0]))
    assert covariance[0, 0] * (400.0 + 500.0 * 0.49) == pytest.approx(grown, rel=1e-5)


def test_few_data_widen_and_many_do_not():
    rng = np.random.default_rng(2)
    J = rng.normal(size=(23, 2))
    few = small_samples(J, NONE, rows(3, 20), 0.95)[1]
    many = small_samples(np.repeat(J, 1000, axis=0), NONE, rows(3000, 20000), 0.95)[1]
    assert np.all(few > 2.05)
    np.testing.assert_allclose(many, stats.norm.ppf(0.975), rtol=1e-3)


def test_units_and_the_order_of_channels_do_not_matter():
    J, unit = np.random.default_rng(3).normal(size=(12, 2)), np.array([1e6, 1e-6])
    covariance, quantile = small_samples(J, NONE, rows(4, 8), 0.9)
    scaled, same = small_samples(J * unit, NONE, rows(4, 8), 0.9)
    np.testing.assert_allclose(scaled * np.outer(unit, unit), covariance, rtol=1e-8)
    np.testing.assert_allclose(same, quantile, rtol=1e-8)
    _, turned = small_samples(J, NONE, rows(4, 8)[::-1], 0.9)
    np.testing.assert_allclose(turned, quantile, rtol=0.05)  # other copies are drawn


def test_what_the_data_do_not_show_stays_out():
    J = np.random.default_rng(4).normal(size=(12, 1)) @ np.array([[1.0, 1.0]])
    hidden = np.array([[1.0, -1.0]]) / np.sqrt(2.0)
    covariance, quantile = small_samples(J, hidden, rows(4, 8), 0.95)
    alone, one = small_samples(J[:, :1] * np.sqrt(2.0), np.zeros((0, 1)), rows(4, 8), 0.95)
    np.testing.assert_allclose(covariance, alone[0, 0] / 2.0 * np.ones((2, 2)), rtol=1e-12)
    np.testing.assert_allclose(quantile, one[0], rtol=1e-6)


def test_a_known_channel_steadies_the_intervals():
    J = np.random.default_rng(5).normal(size=(40, 2))
    alone = small_samples(J[:4], NONE, rows(4), 0.95)[1]
    helped = small_samples(J, NONE, rows(4, 36)[:1], 0.95)[1]
    assert np.all(alone > 4.0) and np.all((helped > 1.9) & (helped < 2.3))


def test_in_a_fit():
    rng, t = np.random.default_rng(6), np.linspace(0.0, 1.0, 4)
    data = {"a": 2.0 * t + 0.1 * rng.normal(size=4), "b": 2.0 + 0.1 * rng.normal(size=3)}
    found = carom.fit(
        lambda p: {"a": p["s"] * t, "b": p["s"] * np.ones(3)}, data, {"s": 1.0}, noise=dict.fromkeys("ab")
    )
    low, high = found.intervals["s"]
    assert high - low > 2.0 * 2.3 * found.standard_error["s"]
