"""Sobol indices against those that are known: of Ishigami's function, of Sobol's g, of a ball that strikes a floor."""

import numpy as np
import pytest
import xarray

import carom
from carom.experiment.sweeping.indices import saltelli

COUNT = 1024


def study(values, points, **attributes):
    """A study of made-up numbers."""
    codes = np.ones(len(points), dtype=np.int8)
    coords = {f"x{k}": ("point", column) for k, column in enumerate(points.T)}
    told = {"drawn": f"saltelli, {COUNT} points, seed 0", **attributes}
    return xarray.Dataset({"outcome": ("point", codes), "y": ("point", values)}, coords, told)


def agree(found, first, total):
    """Within the intervals; and those are narrow."""
    for kind, known in (("first", first), ("total", total)):
        near = found[f"{kind}_confidence"].values
        assert np.all(np.abs(found[kind].values - known) <= near) and np.all(near < 0.12), kind


def test_ishigami():
    points = saltelli(3, COUNT, 0)
    x = np.pi * (2.0 * points - 1.0)
    values = np.sin(x[:, 0]) + 7.0 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
    a, b = 7.0, 0.1
    both = b**2 * np.pi**8 * (1 / 18 - 1 / 50)
    alone = 0.5 * (1 + b * np.pi**4 / 5) ** 2
    variance = alone + a**2 / 8 + both
    first = np.array([alone, a**2 / 8, 0.0]) / variance
    found = carom.sobol_indices(study(values, points), "y")
    agree(found, first, first + np.array([both, 0.0, both]) / variance)
    assert found["parameter"].values.tolist() == ["x0", "x1", "x2"] and found.attrs["left_out"] == 0


def products(ratios):
    """Indices of a product of independent factors, from the variance of each over the square of its mean."""
    r = np.array(ratios)
    whole = np.prod(1 + r) - 1
    return r / whole, r * np.prod(1 + r) / (1 + r) / whole


def test_sobols_g():
    a = np.array([0.0, 1.0, 4.5, 9.0])
    points = saltelli(4, COUNT, 3)
    values = np.prod((np.abs(4 * points - 2) + a) / (1 + a), axis=1)
    agree(carom.sobol_indices(study(values, points), "y"), *products(1 / (3 * (1 + a) ** 2)))


def test_speed_after_the_first_blow_of_a_ball():
    """v = e sqrt(2 g h): a product, whose indices are known."""
    ball = carom.Scenario.load("ball-drop").with_({"run.until": 1.0})
    over = {"start.base.1": (0.3, 1.0), "gravity": (5.0, 15.0), "contacts.floor.normal.restitution": (0.2, 0.8)}
    name = "impact.1.normal_velocity_after"
    data = carom.sweep(ball, over, [name], sample=128, method="saltelli", seed=1, progress=False)
    assert data.sizes == {"point": 128 * 5} and data.attrs["drawn"] == "saltelli, 128 points, seed 1"

    def root(low, high):
        """Of sqrt(x), x even between these: variance over mean squared."""
        mean, square = 2 / 3 * (high**1.5 - low**1.5) / (high - low), 0.5 * (high + low)
        return square / mean**2 - 1

    fallen = (0.2, 0.9)  # [m] less the radius
    first, total = products([root(*fallen), root(5.0, 15.0), 0.6**2 / 12 / 0.5**2])
    found = carom.sobol_indices(data, name)
    for kind, known in (("first", first), ("total", total)):
        assert np.all(np.abs(found[kind].values - known) <= found[f"{kind}_confidence"].values + 0.02)
    known = data["contacts.floor.normal.restitution"] * np.sqrt(2 * data["gravity"] * (data["start.base.1"] - 0.1))
    np.testing.assert_allclose(data[name], known, rtol=1e-9)


def test_runs_without_the_number_are_left_out_with_those_that_belong_to_them():
    points = saltelli(2, COUNT, 0)
    values = points[:, 0] + 2.0 * points[:, 1]
    values[[5, 6, 400]] = np.nan
    found = carom.sobol_indices(study(values, points), "y")
    assert found.attrs["left_out"] == 2
    agree(found, [0.2, 0.8], [0.2, 0.8])


@pytest.mark.parametrize(
    ("values", "name", "told", "words"),
    [
        (lambda x: x[:, 0], "z", {}, "there is no variable of the study 'z'"),
        (lambda x: x[:, 0], "y", {"drawn": "sobol, 1024 points, seed 0"}, "give sample=1024 and method='saltelli'"),
        (lambda x: np.ones(len(x)), "y", {}, "it is the same everywhere"),
        (lambda x: np.where(x[:, 0] > 0.2, np.nan, x[:, 0]), "y", {}, "too many runs do not have it"),
    ],
)
def test_what_has_no_indices_is_said(values, name, told, words):
    points = saltelli(2, COUNT, 0)
    with pytest.raises(carom.CaromError, match=words):
        carom.sobol_indices(study(values(points), points, **told), name)


def test_a_sample_that_is_no_power_of_two_is_refused():
    with pytest.raises(carom.CaromError, match="it must be a power of two, such as 1024"):
        carom.sweep("ball-drop", {"gravity": (5.0, 15.0)}, sample=1000, method="saltelli")


def test_pictures():
    points = saltelli(2, 32, 0)
    values = points[:, 0] + 2.0 * points[:, 1]
    values[7] = np.nan
    data = study(values, points)
    drawn = carom.figures.parallel(data, ["y"]).axes[0]
    dashed, plain = (collection.get_segments() for collection in drawn.collections)
    assert len(dashed) == 1 and len(plain) == len(points) - 1
    assert [label.get_text() for label in drawn.get_xticklabels()] == ["x0", "x1", "y"]
    np.testing.assert_allclose(plain[0][:2, 1], (points[0] - points.min(0)) / np.ptp(points, axis=0), atol=1e-12)
    bars = carom.figures.sobol_bars(carom.sobol_indices(data, "y")).axes[0]
    assert len(bars.patches) == 4 and bars.get_xlabel() == "share of the variance of y"
    with pytest.raises(carom.CaromError, match="must be a list of names"):
        carom.figures.parallel(data, "y")
