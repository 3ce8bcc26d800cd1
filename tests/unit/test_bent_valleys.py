"""Searches along a hyperbola, at whose bottom straight steps leave the valley after a thousandth of its length."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom


def valley(p):
    return jnp.array([1e5 * p["a"] * p["b"], jnp.tanh(p["a"] / 20.0), 0.1 * p["b"]])


@pytest.mark.parametrize("start", [(1.0, 1.0), (0.1, 10.0), (0.01, 100.0), (1.0, 50.0)])
def test_the_bottom_of_a_bent_valley_is_followed_to_its_end(start):
    data = np.asarray(valley({"a": 20.0, "b": 0.05}))
    found = carom.fit(valley, data, dict(zip("ab", start, strict=True)), noise=[1.0, 0.01, 0.01])
    assert found.converged and found.evaluations < 400
    np.testing.assert_allclose([found.estimate["a"], found.estimate["b"]], [20.0, 0.05], rtol=1e-9)


def test_a_positive_number_that_the_data_show_to_be_none_has_an_interval_from_zero():
    """Searched as a logarithm it runs away; how large it might be is known all the same."""
    x = np.linspace(0.0, 1.0, 20)

    def line(p):
        return p["b"] * x + p["c"]

    data = 1.0 - 0.02 * x  # b would be below zero
    found = carom.fit(line, data, {"b": 0.5, "c": 1.0}, noise=0.05, positive=("b",))
    assert found.determined and found.estimate["b"] < 1e-9
    assert found.intervals["b"][0] == pytest.approx(0.0, abs=1e-9) and 0.02 < found.intervals["b"][1] < 0.2
