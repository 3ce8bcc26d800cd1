"""Runs beside each other: numbers that are known, whatever the runs are given as."""

import json

import numpy as np
import pytest

import carom
from carom.experiment.comparing._differences import ROUNDING

from .answers import refused


@pytest.fixture(scope="module")
def drops():
    """The same fall with two restitutions."""
    return carom.compare(
        "ball-drop",
        "ball-drop",
        changes=[{"run.until": 1.0}, {"run.until": 1.0, "contacts.floor.normal.restitution": 0.8}],
    )


def row(found, name):
    return next(d for d in found.differences if d.name == name)


def test_what_differs_and_what_does_not(drops):
    after = row(drops, "impact 1: normal velocity after")
    assert after.values[1] / after.values[0] == pytest.approx(0.8 / 0.5, rel=1e-9)
    assert after.percent == pytest.approx(60.0, rel=1e-9)
    assert row(drops, "impact 1: time").spread == 0.0
    # What a blow takes is (1 - e^2) of the kinetic energy, 2 g h m.
    lost = row(drops, "impact 1: energy lost")
    assert lost.values[1] / lost.values[0] == pytest.approx((1 - 0.64) / (1 - 0.25), rel=1e-9)
    assert row(drops, "site position ball.tip y, largest").spread == 0.0
    assert "ball-drop, until=1.0, restitution=0.8" in repr(drops) and "+60 %" in repr(drops)


def test_a_run_is_the_same_however_it_is_given(tmp_path, dropped):
    folder, _ = dropped
    found = carom.compare("ball-drop", folder, folder / "trajectory.nc", carom.Scenario.load("ball-drop").simulate())
    for d in found.differences:
        if d.kind == "signal":
            assert None not in d.values, d
            assert max(d.values) - min(d.values) <= max(ROUNDING, 1e-9 * max(map(abs, d.values))), d
        elif d.values[1] is not None:
            assert d.values[0] == pytest.approx(d.values[1], rel=1e-12, abs=1e-15)
    assert found.labels == ("ball-drop", "ball", "trajectory", "run")


def test_signals_are_called_by_what_they_are(drops):
    assert {"angle ball", "site velocity ball.tip y", "normal force floor", "kinetic energy ball"} <= set(drops.signals)
    side = drops.sides[0]
    assert side.signals["normal force floor"].unit == "N" and np.all(np.diff(side.times) > 0.0)


def test_a_page_of_two_runs(drops, tmp_path):
    page = drops.page(tmp_path / "both.html", ["site position ball.tip y"]).read_text()
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    told = json.loads(page.split('id="compared">')[1].split("</script>")[0])
    assert told["chosen"] == ["site position ball.tip y"] and len(told["sides"]) == 2
    with pytest.raises(carom.CaromError, match="there is no signal 'speed'"):
        drops.page(tmp_path / "both.html", ["speed"])


def test_the_command(run, tmp_path):
    page = tmp_path / "both.html"
    asked = ("compare", "ball-drop", "ball-drop", "--set", "run.until=0.7", "--set", "2:gravity=5.0", "--out", page)
    code, out, err = run(*asked)
    assert code == 0 and err == "" and "impact 1: time [s]" in out and page.exists(), err
    assert "is there already; give --replace" in refused(run(*asked))
    code, out, _ = run(*asked, "--replace", "--json")
    rows = {d["name"]: d["values"] for d in json.loads(out)["differences"]}
    assert rows["impact 1: time"] == pytest.approx([(2.0 / 9.8) ** 0.5, (2.0 / 5.0) ** 0.5], rel=1e-9)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("ball-drop",), "compare got 1 run; it compares 2 to 6"),
        (("ball-drop", "ball-dorp"), "did you mean 'ball-drop'?"),
        (("ball-drop", "ball-drop@mine"), "there is no variant 'mine'"),
        (("ball-drop", "gone.nc"), "there is no file gone.nc"),
        (("ball-drop", "."), "holds no scenario.toml"),
        (("ball-drop", "ball-drop", "--set", "3:gravity=1.0"), "is for run 3, and there are 2"),
        (("ball-drop", "ball-drop", "--set", "2:gravty=1.0"), "gravity"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(run, tmp_path, monkeypatch, args, words):
    monkeypatch.chdir(tmp_path)
    assert words in refused(run("compare", *args, "--out", tmp_path / "c.html"))
    assert not (tmp_path / "c.html").exists()


def test_what_has_run_cannot_be_changed(dropped):
    folder, _ = dropped
    with pytest.raises(carom.CaromError, match="'trajectory' has run already, so gravity cannot be changed in it"):
        carom.compare("ball-drop", folder / "trajectory.nc", changes=[{}, {"gravity": 1.0}])
    bad = folder.parent / "bad.nc"
    bad.write_text("nothing")
    with pytest.raises(carom.CaromError, match="is no NetCDF file that can be read"):
        carom.compare("ball-drop", bad)
