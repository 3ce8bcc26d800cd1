"""Figures: what they draw, which units they name, when they refuse; and the table of a run as a file."""

from __future__ import annotations

import os
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import xarray
from matplotlib.colors import to_rgb

import carom
from carom.figures import FIGURES, compare, poincare
from carom.result import Result
from carom.result import _signals as signals
from carom.result._trajectory import trajectory

from .test_signals import GRAVITY, MASS, RADIUS, STIFFNESS, ball, drop, elastic_run, rigid_run, sliding_run, soft_run

RUNS = {"soft": soft_run, "rigid": rigid_run, "elastic": elastic_run, "sliding": sliding_run}
# What each world cannot show.
PLAIN = {"slides", "extra", "energy_by_link", "poincare"}  # of one link, the energies are one; few points are no map
MISSING = {
    "soft": {"modes", *PLAIN},
    "rigid": {"modes", "impact", "torques", *PLAIN},
    "elastic": {"impact", "reaction", "torques", "momentum", *PLAIN},  # it is pinned, and so is the next
    "sliding": {
        *{"modes", "impact", "reaction", "torques", "angles", "rates", "poincare", "momentum", "energy_by_link"}
    },
}
# Every figure on the run that gives it most to do.
SHOWN_BY = {entry.name: "soft" for entry in FIGURES} | {
    **{"modes": "elastic", "snapshots": "elastic", "reaction": "rigid"},
    **{"slides": "sliding", "extra": "sliding"},
}
TIMES = np.linspace(0.0, 0.01, 11)


def labels(axes) -> list[str]:
    depth = axes.get_zlabel() if hasattr(axes, "get_zlabel") else ""
    return [text for text in (axes.get_xlabel(), axes.get_ylabel(), depth) if text]


@pytest.mark.parametrize("name", list(RUNS))
def test_names_are_those_that_suit(name):
    asked = {"signals"}  # drawn for those who say of what
    assert set(RUNS[name]().plot.names()) == {entry.name for entry in FIGURES} - MISSING[name] - asked


@pytest.mark.parametrize("name", list(SHOWN_BY))
def test_every_axis_has_its_unit(name):
    figure = getattr(RUNS[SHOWN_BY[name]]().plot, name)()
    figure.draw_without_rendering()
    assert figure.axes
    for axes in figure.axes:
        assert axes.get_ylabel(), "a panel without a name"
        units = [text for text in labels(axes) if text != "entries"]  # which are words
        assert all(re.search(r"\[[^\]]+\]$", text) for text in units), labels(axes)
    assert any(axes.get_xlabel() for axes in figure.axes)


def test_a_run_of_many_swings_is_drawn_once_more_swing_by_swing(monkeypatch):
    monkeypatch.setattr("carom.figures.plots.BANDS", 50)
    pendulum = carom.World(carom.Arm([carom.Rod(1.0, 1.0)]), gravity=GRAVITY)
    run = carom.simulate(pendulum, pendulum.state(angles=[0.0]), until=60.0)
    whole, end = run.plot.rates().axes
    assert [part.get_suptitle() for part in whole.get_figure(root=True).subfigs] == ["the whole run", "the last swings"]
    assert whole.get_legend() is None and end.get_legend() is not None
    (first, *_), t = whole.get_lines(), end.get_lines()[0].get_xdata()
    assert first.get_xdata()[0] == run.t[0] < t[0] and t[-1] == first.get_xdata()[-1] == run.t[-1]
    assert end.get_lines()[0].get_linewidth() > 1.5 * first.get_linewidth()
    signs = np.sign(end.get_lines()[0].get_ydata())
    assert 10 < np.sum(signs[1:] != signs[:-1]) < 40
    assert len(run.plot.rates(times=TIMES).axes) == 1  # as it is asked for


def test_what_no_controller_drives_has_no_panel():
    """A cart that is pushed along its guide; the pole on it is on a free hinge."""
    cart = carom.Link(carom.Rod(0.5, 2.0), name="cart", joint=carom.Slider(axis=(1.0, 0.0)))
    pulled = carom.Mechanism([cart, carom.Link(carom.Rod(1.0, 1.0), name="pole", parent="cart")])
    push = carom.TorqueFunction(pulled, lambda t, state, phase: {"cart": 3.0})
    world = carom.World(pulled, control=push)
    run = carom.simulate(world, world.state(angles=[-1.5]), until=0.05)
    assert "torques" in run.plot.names()
    (axes,) = run.plot.torques().axes
    assert axes.get_ylabel() == "force [N]" and len(axes.get_lines()) == 1


def test_a_controller_that_never_acts_has_no_figure():
    rod = carom.Mechanism([carom.Rod(1.0, 1.0)])
    idle = carom.TorqueFunction(rod, lambda t, state, phase: {"link1": 0.0})
    world = carom.World(rod, control=idle)
    assert "torques" not in carom.simulate(world, world.state(angles=[-1.5]), until=0.05).plot.names()


def test_what_trembles_by_rounding_turns_nowhere(unchecked):
    run = rigid_run()
    q, v = run.q.copy(), run.v.copy()
    q[:, 0], v[:, 0] = 0.0, 1e-17 * (-1.0) ** np.arange(len(run.t))
    told = SimpleNamespace(world=run.world, t=run.t, events=[], q=q, v=v)
    assert poincare._turned(told, 0) == 0 < poincare._turned(told, 1)


def test_overview_holds_several_figures():
    figure = rigid_run().plot()
    assert [part.get_suptitle() for part in figure.subfigs][:2] == [
        "the mechanism at several instants",
        "link angles over time",
    ]


def test_curves_are_the_signals():
    run = soft_run()
    (axes,) = run.plot.angles(times=TIMES).axes
    wanted = np.rad2deg(signals.states(run, TIMES).q[:, 2])
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), wanted)
    np.testing.assert_allclose(axes.get_lines()[1].get_ydata(), np.rad2deg(0.5))  # the controller's target
    axes = rigid_run().plot.reaction().axes[0]
    assert axes.get_lines()[0].get_ydata()[-1] == pytest.approx(MASS * GRAVITY)


def test_impacts_are_marked():
    run = soft_run()
    (axes,) = run.plot.rates().axes
    marks = next(line for line in axes.get_lines() if line.get_label() == "impact")
    np.testing.assert_array_equal(marks.get_xdata(), [i.t_start for i in run.impacts])


def test_lines_differ_without_colour():
    (axes,) = elastic_run().plot.energy_by_link(times=TIMES).axes
    assert len(axes.get_lines()) == 1
    for axes in soft_run().plot.energy(times=TIMES).axes:
        looks = [
            (line.get_linestyle(), line._unscaled_dash_pattern)
            for line in axes.get_lines()
            if len(line.get_xdata()) > 2
        ]
        greys = [round(float(np.dot(to_rgb(line.get_color()), (0.3, 0.59, 0.11))), 1) for line in axes.get_lines()]
        assert len(set(zip(map(str, looks), greys, strict=False))) == len(looks)


def test_impact_shows_the_phases_of_the_law():
    run = soft_run()
    figure = run.plot.impact(number=1)
    bands = [text.get_text() for text in figure.legends[0].get_texts()]
    assert bands == ["closed"]  # of the law's phases, those that this impact goes through
    loop = figure.axes[1].get_lines()[0]
    np.testing.assert_allclose(loop.get_ydata(), STIFFNESS * 1e-3 * loop.get_xdata(), rtol=1e-6, atol=1e-3)  # N, mm
    with pytest.raises(carom.CaromError, match="number of figure 'impact' is 99; impacts that take time are number 1"):
        run.plot.impact(99)


def test_poincare_points_are_blows_and_turning_points():
    run = rigid_run()
    (axes,) = run.plot.poincare(section="y").axes  # of a ball that flies along: the place (x, y)
    strikes = [e for e in run.events if e.exit == "strike floor"]
    heights = []
    for e in strikes[:-1]:
        heights += [RADIUS, RADIUS + e.v_after[1] ** 2 / (2.0 * GRAVITY)]  # the blow, then the top of the flight
    assert len(heights) >= 4
    line, turned, thrown = axes.get_lines()
    np.testing.assert_allclose(line.get_ydata()[: len(heights)], heights, atol=1e-9)
    assert {round(y, 9) for y in thrown.get_ydata()} == {RADIUS} and min(turned.get_ydata()) > RADIUS
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x [m]", "y [m]")
    with pytest.raises(
        carom.CaromError, match="section of figure 'poincare' is 'x', whose velocity never passes through zero"
    ):
        run.plot.poincare(section="x")


def test_a_coordinate_is_not_drawn_over_itself():
    (axes,) = rigid_run().plot.poincare(section="y", y="x").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("y [m]", "x [m]")


REFUSED = [
    (rigid_run, "modes", "figure 'modes' cannot be drawn: all links of this world are rigid"),
    (rigid_run, "torques", "figure 'torques' cannot be drawn: this world has no controller"),
    (rigid_run, "impact", "figure 'impact' cannot be drawn: all impacts of this run are rigid and instantaneous"),
    (elastic_run, "reaction", "figure 'reaction' cannot be drawn: this world has no contact"),
]


@pytest.mark.parametrize(("make", "name", "said"), REFUSED, ids=[name for _, name, _ in REFUSED])
def test_figures_that_do_not_suit_say_why(make, name, said):
    with pytest.raises(carom.CaromError, match=said):
        getattr(make().plot, name)()


def test_a_run_without_ledger():
    run = drop(carom.World(ball(), gravity=GRAVITY), ledger=False, until=0.01)
    assert "energy" not in run.plot.names() and "poincare" not in run.plot.names()
    found = signals.energy_signals(run, [0.0, 0.01])
    assert found.works == {} and found.error is None
    with pytest.raises(carom.CaromError, match="made with ledger=False; run it again with ledger=True"):
        run.plot.energy()


def test_unknown_names_are_answered():
    plot = soft_run().plot
    with pytest.raises(carom.CaromError, match=r"there is no figure 'angels'; .* did you mean 'angles'"):
        plot.draw("angels")
    with pytest.raises(carom.CaromError, match=r"there is no coordinate .x of the figure. 'z'"):
        plot.phase(x="z")
    with pytest.raises(carom.CaromError, match="there is no site 'elbow'"):
        plot.tip("elbow")


def test_comparison_of_controllers():
    run = soft_run()
    (axes,) = compare({"one": run, "two": run}).axes
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["one", "target", "two"]
    (axes,) = compare({"one": run}, error=True).axes
    assert axes.get_lines()[0].get_ydata()[0] == pytest.approx(-np.rad2deg(0.5))
    with pytest.raises(carom.CaromError, match=r"results of compare is \{\}; it must be a dict"):
        compare({})
    with pytest.raises(
        carom.CaromError, match=r"run 'two' of compare has links .*; compare runs of the same mechanism"
    ):
        compare({"one": run, "two": elastic_run()})


# -- the table of a run --------------------------------------------------------------------------------------------


def test_dataset_has_names_and_units():
    run = soft_run()
    data = run.trajectory
    assert all(v.attrs["units"] and v.attrs["long_name"] for v in data.data_vars.values())
    assert data.time.attrs["units"] == "s" and data.attrs["outcome"] == run.outcome
    force = data["normal_force"].sel(contact="floor")
    depth = data["indentation"].sel(contact="floor")
    closed = data["phase"].sel(contact="floor") != "open"
    np.testing.assert_allclose(force, np.where(closed, 1e5 * depth, 0.0), atol=1e-6)
    np.testing.assert_allclose(data["base_position"].sel(base="base", axis="y"), signals.states(run, data.time).q[:, 1])
    assert data["torque"].dims == ("time", "controller", "link")
    assert list(data["controller"].values) == ["pd", "digital", "plan", "hold"]
    assert float(np.abs(data["ledger_error"]).max()) < 1e-7
    bent = trajectory(elastic_run(), TIMES)
    np.testing.assert_allclose(bent["bending"][:, 0], elastic_run().at(TIMES).q[:, 1], atol=1e-15)
    assert "normal_force" not in bent and "torque" not in bent


def test_file_comes_back_as_it_was(tmp_path):
    run = rigid_run()
    path = run.save(tmp_path / "run.nc")
    with xarray.open_dataset(path) as read:
        xarray.testing.assert_equal(read.load().drop_dims("carried"), run.trajectory)
        assert float(read["end"].sel(carried=".t")) == run.t[-1]  # what a run goes on from
        assert read["site_velocity"].attrs == {"units": "m/s", "long_name": "velocity of the site"}
    assert os.listdir(tmp_path) == ["run.nc"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    run, path = rigid_run(), tmp_path / "run.nc"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(carom.CaromError, match=r"run.nc cannot be written: no space left on device; make room"):
        run.save(path)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["run.nc"]


@pytest.mark.parametrize(
    ("name", "said"), [("run.csv", "must end in .nc"), ("none/run.nc", "none', which is not a folder; give a file")]
)
def test_paths_that_cannot_be_written(tmp_path, name, said):
    with pytest.raises(carom.CaromError, match=said):
        rigid_run().save(tmp_path / name)


def test_missing_libraries_are_named(monkeypatch):
    run: Result = rigid_run()
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(carom.CaromError, match=r"trajectory needs xarray.*pip install 'carom\[results\]'"):
        trajectory(run)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(carom.CaromError, match=r"figures need matplotlib.*pip install 'carom\[figures\]'"):
        run.plot.angles()
