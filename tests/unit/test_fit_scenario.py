"""Numbers of a scenario from records: a bouncing ball in closed form, and every way to write its record down."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import carom
from carom.cli.app import app
from carom.experiment.measuring._fit_figures import channel_figure
from carom.experiment.measuring.fit_scenario import flat, predictor_of
from carom.study.fitting._fit_input import compared
from carom.study.fitting._solving import Effort, Guess
from carom.study.fitting.estimate import fitted

RADIUS, UNTIL = 0.1, 2.0
E, HEIGHT, G = 0.8, 1.1, 9.8
EH = ["contacts.floor.normal.restitution", "start.base.1"]
EHG = {EH[0]: 0.7, EH[1]: 1.2, "gravity": 9.6}
T = np.linspace(0.0, 1.9, 20)
ROWS = np.arange(1, 4)


def blows(e, height, g, count):
    """Instants of the impacts, and speeds after them."""
    t, speed, out = np.sqrt(2 * (height - RADIUS) / g), np.sqrt(2 * g * (height - RADIUS)), []
    for _ in range(count):
        speed *= e
        out.append((t, speed))
        t += 2 * speed / g
    return np.array(out).T


def heights(e, height, g, times=T):
    instants, speeds = blows(e, height, g, 8)
    k = np.searchsorted(instants, times, side="right") - 1
    since = times - np.where(k < 0, 0.0, instants[k])
    return np.where(k < 0, height, RADIUS) + np.where(k < 0, 0.0, speeds[k]) * since - g * since**2 / 2


def record(e=E, height=HEIGHT, g=G, rng=None, noise=(1e-3, 5e-3, 2e-3)):
    instants, speeds = blows(e, height, g, 3)
    y = heights(e, height, g)
    if rng is not None:
        instants, speeds, y = (
            x + s * rng.normal(size=x.shape) for x, s in zip((instants, speeds, y), noise, strict=True)
        )
    return {"impact": ROWS, "t_start": instants, "normal_velocity_after": speeds}, {"t": T, "y.ball.tip": y}


NOISE = {"t_start": 1e-3, "normal_velocity_after": 5e-3, "y.ball.tip": 2e-3}


@pytest.fixture(scope="module")
def ball():
    return carom.Scenario.load("ball-drop").with_({"run.until": UNTIL})


@pytest.fixture(scope="module")
def noisy(ball):
    return record(rng=np.random.default_rng(7))


@pytest.fixture(scope="module")
def found(ball, noisy):
    return carom.fit_scenario(ball, noisy, EHG, noise=NOISE)


def test_slopes_through_three_impacts_are_those_of_the_closed_form(ball):
    """Instants, velocities and heights by restitution, start and gravity."""
    predictor, first = predictor_of(ball, record(), EHG)
    values, slopes = predictor.linearised(first)
    exact = {"t_start": 0, "normal_velocity_after": 1}
    for k in range(3):
        step = 1e-6 * np.eye(3)[k]
        up, down = ((blows(*(first + s * step), 3), heights(*(first + s * step))) for s in (1.0, -1.0))
        for name, row in exact.items():
            np.testing.assert_allclose(values[name][0], blows(*first, 3)[row], rtol=1e-9)
            np.testing.assert_allclose(slopes[name][0, :, k], (up[0][row] - down[0][row]) / 2e-6, rtol=1e-6)
        np.testing.assert_allclose(slopes["y.ball.tip"][0, :, k], (up[1] - down[1]) / 2e-6, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(values["y.ball.tip"][0], heights(*first), atol=1e-9)


def test_estimates_are_near_the_truth_and_the_scenario_has_them(found):
    for name, true in zip(found.fit.names, (E, HEIGHT, G), strict=True):
        assert abs(found.fit.estimate[name] - true) < 4.0 * found.fit.standard_error[name]
    assert found.fit.converged and found.fit.chance > 1e-3 and found.fit.standard_error[EH[0]] < 3e-3
    assert found.scenario.contacts["floor"].normal.restitution == pytest.approx(found.fit.estimate[EH[0]])
    assert found.scenario.start.base[1] == pytest.approx(found.fit.estimate[EH[1]])
    r = np.concatenate([(found.measured[n] - found.predicted[n]).ravel() / NOISE[n] for n in NOISE])
    assert np.sqrt(r @ r / 23) == pytest.approx(found.fit.noise_level, rel=1e-6)  # 26 data, 3 parameters
    assert np.abs(found.fit.correlations).max() == pytest.approx(1.0)


def test_intervals_hold_the_truth(ball, found):
    """Thirty simulated copies, three numbers each: of 90 95 % intervals 1 to 11 miss (998 times in a thousand)."""
    rng, missed, truth = np.random.default_rng(1), 0, (E, HEIGHT, G)
    predictor, first = predictor_of(ball, record(), EHG)
    guess = Guess(
        first, found.fit.names, first, False, np.zeros(3, dtype=bool), (np.full(3, -np.inf), np.full(3, np.inf))
    )
    for _ in range(30):
        impacts, series = record(rng=rng)
        data = {name: {**impacts, **series}[name][None] for name in NOISE}
        copy = fitted(compared(data, data, NOISE), flat(predictor), guess, Effort(), True, 0.95, list, True)
        missed += 3 - sum(low <= x <= high for (low, high), x in zip(copy.intervals.values(), truth, strict=True))
    assert 1 <= missed <= 11


def test_order_units_and_names_change_nothing(ball, noisy, found):
    """Rows of impacts and columns turned round, millimetres and milliseconds, a name for the run, tables swapped."""
    impacts, series = noisy
    other = [
        {"record": ["a"] * 20, "y.ball.tip [mm]": 1e3 * series["y.ball.tip"], "t [ms]": 1e3 * T},
        {
            "normal_velocity_after": impacts["normal_velocity_after"][::-1],
            "t_start [ms]": 1e3 * impacts["t_start"][::-1],
            "impact": ROWS[::-1],
            "record": ["a"] * 3,
        },
    ]
    again = carom.fit_scenario(ball, other, EHG, noise=NOISE)
    for name in found.fit.names:
        assert again.fit.estimate[name] == pytest.approx(found.fit.estimate[name], rel=1e-7)
        assert again.fit.standard_error[name] == pytest.approx(found.fit.standard_error[name], rel=1e-5)


def test_gaps_are_left_out_and_told(ball, noisy):
    impacts, series = noisy
    holes = {**series, "y.ball.tip": np.where(np.arange(20) == 4, np.nan, series["y.ball.tip"])}
    wild = {**series, "y.ball.tip": np.where(np.arange(20) == 4, 99.0, series["y.ball.tip"])}
    loud = {**NOISE, "y.ball.tip": np.where(np.arange(20) == 4, 1e9, NOISE["y.ball.tip"])[None]}
    left_out, weighed_down = (
        carom.fit_scenario(ball, [impacts, table], EHG, noise=noise) for table, noise in ((holes, NOISE), (wild, loud))
    )
    assert left_out.fit.degrees == weighed_down.fit.degrees - 1
    for name in left_out.fit.names:
        assert left_out.fit.estimate[name] == pytest.approx(weighed_down.fit.estimate[name], rel=1e-8)
    assert "1 of 26 cells are gaps" in repr(left_out)


def test_noise_that_is_not_known_is_found_by_channel(ball):
    rng = np.random.default_rng(3)
    found = [carom.fit_scenario(ball, record(rng=rng), EHG).fit.noise_found for _ in range(2)]
    for name, (level, within) in {"y.ball.tip": (2e-3, 0.4), "t_start": (1e-3, 0.8)}.items():
        assert np.sqrt(np.mean([each[name] ** 2 for each in found])) == pytest.approx(level, rel=within)


def test_a_far_start_gets_there_by_several_starts(ball, noisy, found):
    """The first guess has a ball that never rebounds; other guesses do."""
    far = {EH[0]: 0.0, EH[1]: 1.9, "gravity": 5.0}
    with pytest.raises(carom.CaromError, match=r"impact 2 was measured .*; start nearer"):
        carom.fit_scenario(ball, noisy, far, noise=NOISE)
    limits = {EH[1]: (0.5, 2.0), "gravity": (5.0, 15.0)}
    again = carom.fit_scenario(ball, noisy, far, noise=NOISE, starts=6, bounds=limits)
    assert again.fit.estimate[EH[0]] == pytest.approx(found.fit.estimate[EH[0]], rel=1e-6)
    assert "of 6 starts ended here" in repr(again)


def test_a_restitution_that_the_data_pull_beyond_one_stays_there(ball):
    """Bounds are the law's own; the data are a ball that rebounds faster than it fell."""
    found = carom.fit_scenario(ball, record(e=1.01), {**EHG, EH[0]: 0.95}, noise=NOISE)
    low, high = found.fit.intervals[EH[0]]
    assert found.fit.estimate[EH[0]] == high == 1.0 and 0.99 < low < 1.0
    assert "restitution is on its largest value; the data would take it beyond" in repr(found)


def test_several_runs_with_starts_of_their_own(ball):
    """One restitution, and a height for each drop; gravity was written down."""
    heights_ = {"low": 0.6, "high": 1.3}
    rows = [(name, k + 1, t) for name, h in heights_.items() for k, t in enumerate(np.diff(blows(0.85, h, 9.81, 5)[0]))]
    data = {
        "record": [r[0] for r in rows], "impact": [r[1] for r in rows], "interval": [r[2] for r in rows],
        "gravity": [9.81] * len(rows),
    }  # fmt: skip
    found = carom.fit_scenario(ball.with_({"run.until": 4.0}), data, EH[0], each={EH[1]: 0.9}, noise=1e-4)
    assert found.fit.names == (EH[0], "start.base.1[low]", "start.base.1[high]")
    truth = (0.85, 0.6, 1.3)
    np.testing.assert_allclose(list(found.fit.estimate.values()), truth, rtol=1e-7)


@pytest.mark.slow
def test_what_intervals_cannot_tell_is_told_with_what_would(ball):
    """Intervals alone scale with sqrt(height / gravity): a record from which the two cannot be told apart."""
    data = {"impact": [1, 2, 3], "interval": np.diff(blows(E, HEIGHT, G, 4)[0])}
    found = carom.fit_scenario(ball.with_({"run.until": 4.0}), data, EHG, noise=1e-3)
    assert np.isnan(found.fit.estimate["gravity"]) and np.isnan(found.fit.estimate[EH[1]])
    assert found.fit.estimate[EH[0]] == pytest.approx(E, rel=1e-6)
    assert found.fit.undetermined[0].startswith("the data cannot tell these apart: changing start.base.1 by")
    d = dict(zip(found.fit.names, found.fit.directions[0], strict=True))
    used = found.fit.parameters
    assert d[EH[1]] / (used[EH[1]] - RADIUS) == pytest.approx(d["gravity"] / used["gravity"], rel=1e-4)
    assert found.advice[0].startswith("to tell start.base.1 and gravity, record ")


# -- mistakes ----------------------------------------------------------------------------------------------------------

IMPACTS = {"impact": [1, 2], "t_start": [0.45, 1.2]}
REFUSED = {
    r"no number of an impact of this world; did you mean 't_start'": ({"impact": [1], "t_strat": [0.4]}, EH),
    r"no signal over time of this world; did you mean 'y.ball.tip'": ({"t": [0.0, 0.1], "y.bal.tip": [1.0, 1.0]}, EH),
    r"times are out of order: 0.1 s \(line 3\) follows 0.2 s": ({"t": [0, 0.2, 0.1], "y.ball.tip": [1, 1, 1]}, EH),
    r"line 2: t is missing": ({"t": [0.0, np.nan], "y.ball.tip": [1.0, 1.0]}, EH),
    r"t is -0.1 s, before the run begins": ({"t": [-0.1, 0.0], "y.ball.tip": [1.0, 1.0]}, EH),
    r"t of the data goes up to 2000 s.*call the column 't \[ms\]'": ({"t": [0, 2000], "y.ball.tip": [1, 1]}, EH),
    r"column 't_start' has no number, only gaps": ({"impact": [1, 2], "t_start": [np.nan, np.nan]}, EH),
    r"impact is 1.5; impacts of a run are numbered": ({"impact": [1.5], "t_start": [0.4]}, EH),
    r"impact 1 is there twice": ({"impact": [1, 1], "t_start": [0.4, 0.4]}, EH),
    r"there are 2 data for 3 parameters": (IMPACTS, EHG),
    r"gravity of the data is 981, which is the Earth's in cm/s\^2.*give 9.81": (IMPACTS | {"gravity": [981, 981]}, EH),
    r"gravity of the scenario is 32.2, .* ft/s\^2": (IMPACTS, {"gravity": 32.2}),
    r"vary contacts.flor.normal.restitution: .*did you mean 'floor'": (IMPACTS, "contacts.flor.normal.restitution"),
    r"vary run.until: it does not change the motion": (IMPACTS, "run.until"),
    r"vary gravity stands there twice": (IMPACTS, ["gravity", "gravity"]),
    r"vary contacts.floor.normal.law: it is 'newton', a word": (IMPACTS, "contacts.floor.normal.law"),
    r"nothing is varied": (IMPACTS, ()),
    r"gravity: the data say what it is in every run": (IMPACTS | {"gravity": [9.8, 9.8]}, "gravity"),
    r"gravity is 9.7, and 9.8 before; it is one number": (IMPACTS | {"gravity": [9.8, 9.7]}, EH),
    r"no column that was measured": ({"t": [0.0, 1.0]}, EH),
    r"different lengths: 'impact' 2, 't_start' 1": ({"impact": [1, 2], "t_start": [0.4]}, EH),
    r"column 'y.ball.tip' of the data is in s, and .* measured in m": ({"t": [0, 1], "y.ball.tip [s]": [1, 1]}, EH),
    r"unit of column 't_start' of the data, 'secs'": ({"impact": [1, 2], "t_start [secs]": [0.4, 1.2]}, EH),
    r"column 'heigth' of the data: there is no measure 'heigth'.*need a column t": ({"heigth": [1.0, 2.0]}, EH),
    r"has no derivatives": ({"impacts.count": [3.0]}, EH),
}


@pytest.mark.parametrize("words", REFUSED)
def test_mistakes_get_a_sentence(ball, unchecked, words):
    data, vary = REFUSED[words]
    with pytest.raises(carom.CaromError, match=words):
        carom.fit_scenario(ball, data, vary)


@pytest.mark.parametrize("factor", [1000.0, 100.0])
def test_a_column_in_another_unit_is_seen_by_its_size(ball, factor):
    impacts, series = record()
    series["y.ball.tip"] = factor * series["y.ball.tip"]
    with pytest.raises(carom.CaromError, match=r"column 'y.ball.tip' is .* times .*write the unit in its name"):
        carom.fit_scenario(ball, [impacts, series], EHG)


# -- files and commands ------------------------------------------------------------------------------------------------


def csv_of(path, table, second=""):
    names = list(table)
    rows = [
        ",".join(repr(float(x)) if np.isfinite(x) else "" for x in row) for row in zip(*table.values(), strict=True)
    ]
    path.write_text("\n".join([",".join(names), *([second] if second else []), *rows]) + "\n")
    return str(path)


def test_the_command_writes_a_folder_whole_or_not_at_all(tmp_path, ball, noisy, found):
    impacts = csv_of(tmp_path / "impacts.csv", noisy[0], ",+-0.001,+-0.005")
    series = csv_of(tmp_path / "series.csv", noisy[1], ",+- 0.002")
    out = tmp_path / "fitted"
    command = ["fit", "ball-drop", "--set", f"run.until={UNTIL}", "-d", impacts, "-d", series, "--out", str(out)]
    command += [f"--vary={path}={value}" for path, value in EHG.items()]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0, run.output
    told = json.loads((out / "fit.json").read_text())
    for name in found.fit.names:
        assert told["parameters"][name]["estimate"] == pytest.approx(found.fit.estimate[name], rel=1e-8)
    assert carom.Scenario.load(out / "scenario.toml").gravity == pytest.approx(found.fit.estimate["gravity"])
    assert len((out / "residuals.csv").read_text().splitlines()) == 27 and len(list((out / "figures").iterdir())) == 3
    assert "<h2>Correlations" in (out / "fit.html").read_text()
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 2 and "exists already" in again.output
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t,y.ball.tip\n0,1.1\n0.1\n", "line 3 has 1 cells, and its first line names 2 columns"),
        ("t,y.ball.tip\n0,high\n", "line 2: column 'y.ball.tip' holds 'high', which is no number"),
        ("t;y.ball.tip\n0;1,1\n", "holds '1,1', which is no number; numbers have a point"),
        ("t,y.ball.tip,y.ball.tip\n0,1,1\n", "has 2 columns 'y.ball.tip'"),
        ("t,y.ball.tip\n", "has no rows"),
        ("t,y.ball.tip\n0,inf\n", "column 'y.ball.tip' is infinite"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(tmp_path, ball, text, words):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(carom.CaromError, match=words):
        carom.fit_scenario(ball, tmp_path / "r.csv", EH)


def test_rounding_of_a_channel_is_drawn_as_a_level_line():
    """The angle of a ball that does not turn, recorded with the noise of a double."""
    t = np.linspace(0.0, 0.3, 7)
    still = {"t": t, "y.ball.tip": 0.6 - 0.5 * 9.7 * t**2, "x.ball.tip": 1.0 + 1e-12 * np.sin(40 * t)}
    vary = {"gravity": 9.8, "start.base.0": 0.9, "start.base.1": 0.7}
    found = carom.fit_scenario("ball-drop", still, vary, noise={"y.ball.tip": 1e-3, "x.ball.tip": 1e-12})
    upper, lower = channel_figure(found, "x.ball.tip").axes
    assert np.diff(upper.get_ylim()) > 0.1 and upper.get_ylabel() == "x.ball.tip [m]"
    assert lower.get_ylabel() == "residual / noise [-]"
