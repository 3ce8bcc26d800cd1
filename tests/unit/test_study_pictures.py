"""Pictures and pages of studies, of numbers that were made up."""

import json
import re

import numpy as np
import pytest
import xarray

import carom
from carom.experiment.sweeping import study_page
from carom.figures.study_map import period_of
from carom.hybrid import outcome
from carom.study import Section

MU, ANGLE = "contacts.tip.friction.mu", "start.angles.0"


def made(**more):
    """A study of 3 frictions and 4 angles, one of whose runs failed."""
    codes = np.full((3, 4), outcome.FINISHED, dtype=np.int8)
    codes[1, 2] = outcome.ZENO
    values = np.arange(12.0).reshape(3, 4)
    values[1, 2] = np.nan
    told = {"outcome": ((MU, ANGLE), codes), "impact.1.restitution": ((MU, ANGLE), values, {"units": "-"})}
    return xarray.Dataset(told | more, {MU: [0.0, 0.25, 0.5], ANGLE: [30.0, 40.0, 50.0, 60.0]})


def test_a_map_over_two_parameters_and_a_curve_over_one():
    drawn = carom.figures.study_map(made(), "impact.1.restitution").axes[0]
    mesh = drawn.collections[0]
    assert mesh.get_array().shape == (3, 4) and mesh.get_array().mask.sum() == 1
    assert drawn.get_xlabel() == ANGLE and drawn.get_ylabel() == MU
    assert len(drawn.collections) == 2, "a failed run is shaded"
    curve = carom.figures.study_map(made(), "impact.1.restitution", mu=0.24).axes[0]
    np.testing.assert_array_equal(curve.lines[0].get_ydata(), [4.0, 5.0, np.nan, 7.0])
    assert len(curve.patches) == 1 and "mu = 0.25" in curve.get_title()


@pytest.mark.parametrize(
    ("name", "at", "words"),
    [
        ("impact.1.restitutin", {}, "did you mean 'impact.1.restitution'"),
        ("impact.1.restitution", {"nu": 1.0}, "'nu' is none of the parameters"),
        ("impact.1.restitution", {"mu": 0.0, "start": 30.0}, "draws over one or two parameters"),
    ],
)
def test_maps_of_what_is_not_there_are_refused(name, at, words):
    with pytest.raises(carom.CaromError, match=words):
        carom.figures.study_map(made(), name, **at)


def section(*q):
    rows = np.array(q, dtype=float)[:, None]
    return Section(np.arange(len(q)), rows, rows, np.zeros(len(q), dtype=bool))


def test_periods_are_the_least_after_which_returns_repeat():
    orbits = [[1.0] * 8, [1.0, 2.0] * 4, [1.0, 2.0, 3.0] * 2, [1.0, 2.0, 1.0, 3.0] * 2, [1.0, 4.0, 2.0, 8.0, 5.0, 7.0]]
    assert [period_of(section(*q).q, 1e-6) for q in orbits] == [1, 2, 3, 4, 0]
    axes = carom.figures.bifurcation_diagram(np.arange(5), [section(*q) for q in orbits]).axes[0]
    assert [line.get_label() for line in axes.lines] == ["longer, or none", *(f"period {k}" for k in (1, 2, 3, 4))]
    assert sum(len(line.get_xdata()) for line in axes.lines) == sum(map(len, orbits))
    with pytest.raises(carom.CaromError, match="values are 2 and sections 1"):
        carom.figures.bifurcation_diagram([1.0, 2.0], [section(1.0)])


def test_a_page_holds_every_number(tmp_path):
    table = ((MU, ANGLE, "impact"), np.arange(24.0).reshape(3, 4, 2))
    data = made(**{"impact.restitution": table}).assign_coords(impact=[1, 2])
    text = study_page(data, tmp_path / "study.html", "</script>.zarr").read_text()
    told = json.loads(re.search(r'<script type="application/json" id="study">(.*?)</script>', text, re.S)[1])
    assert told["shape"] == [3, 4] and [axis["path"] for axis in told["axes"]] == [MU, ANGLE]
    assert told["store"] == "</script>.zarr" and text.count("</script>") == 2
    assert told["variables"]["impact.1.restitution"]["values"] == list(np.arange(24.0)[::2])
    assert told["outcome"].count(outcome.ZENO) == 1
    assert "://" not in re.sub(r"<script.*?</script>", "", text, flags=re.S), "nothing is loaded from elsewhere"
