"""Loaders of public records, on small files in their formats; and what the studies find in data of known laws."""

import numpy as np
import pytest

import carom
from carom.experiment.validation import bouncing_balls, pendulum_swings, planar_impacts, validate
from carom.experiment.validation._bounce_study import flight, laws, rows_of, speed_of
from carom.experiment.validation._ellipse_study import (
    effective_restitution,
    held_out_errors,
    inertia_of,
    least_mean_error,
    mean_errors,
)
from carom.experiment.validation._pendulum_study import predicted, rates_found
from carom.experiment.validation._spreadsheets import sheets_of
from carom.experiment.validation.planar_impacts import traps_of

from .record_files import (
    E_TRUE,
    MU_TRUE,
    ellipse_rows,
    new_sheet,
    old_sheet,
    write_balls,
    write_ellipse,
    write_pendulum,
)


@pytest.fixture(scope="module")
def rows():
    return ellipse_rows()


# -- the ellipse -------------------------------------------------------------------------------------------------------


def test_an_ellipse_gives_back_the_law_that_made_it(rows, tmp_path):
    impacts = planar_impacts(write_ellipse(tmp_path, rows), check=False)
    traps = traps_of(impacts)
    assert traps.height == pytest.approx(2.0, rel=1e-9) and traps.lever == pytest.approx(1.0, rel=1e-9)
    assert traps.floor["vx reversed"] < 1e-9 < 0.02 < traps.floor["as stored"]
    mean = mean_errors(impacts, carom.Poisson, inertia_of(impacts))
    e, mu, error = least_mean_error(mean, np.ones(len(impacts.before)))
    assert (e, mu) == pytest.approx((E_TRUE, MU_TRUE), abs=2e-4) and error < 1e-3
    assert np.all(held_out_errors(mean, len(impacts.before), 30) < 2e-3)
    sliding, restitution = effective_restitution(impacts)
    assert np.all(sliding >= 0.0) and np.all(restitution < 1.0)


def test_a_blow_in_matrices_is_the_blow_of_a_simulation():
    body = carom.Body(mass=1.0, inertia=0.02, com=(0.0, 0.0))
    rod = carom.Mechanism([carom.Link(body, sites={"foot": (0.3, 0.0)})], base=carom.Free())
    law, friction = carom.Poisson(carom.PowerRestitution(0.8)), carom.Coulomb(0.3, 0.4)
    floor = carom.Contact(rod.site("foot"), carom.Plane(height=0.0), law, friction, name="floor")
    world = carom.World(rod, contacts=floor, gravity=0.0)
    start = world.state(angles=[-1.0], rates=[-2.0], base=(0.0, 0.3), base_velocity=(0.3, -1.0))
    result = carom.simulate(world, start, until=0.2)
    hit = result.events[0]
    lever = result.at([hit.t]).q[0, 2]
    n = (0.0, 1.0, 0.3 * np.cos(lever))
    d = (1.0, 0.0, -0.3 * np.sin(lever))
    blow = carom.contact.rubbing_blow(np.diag([1.0, 1.0, 0.02]), n, d, (0.3, -1.0, -2.0), law, friction)
    np.testing.assert_allclose(blow.velocity, result.v[-1], rtol=1e-9, atol=1e-12)
    assert float(blow.energy_change) < 0.0
    away = carom.contact.rubbing_blow(np.diag([1.0, 1.0, 0.02]), n, d, (0.3, 5.0, 0.0), law, friction)
    np.testing.assert_array_equal(away.velocity, [0.3, 5.0, 0.0])
    assert float(away.normal) == 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r | {"n": r["n"][:, :2]}, r"'n' of data_ellipse.mat has shape \(60, 2\); it must have 3 columns"),
        (lambda r: {k: x for k, x in r.items() if k != "d"}, "data_ellipse.mat has no field 'd'"),
        (lambda r: {k: x[:9] for k, x in r.items()}, "has 9 rows; at least 20 are needed"),
        (lambda r: r | {"states_f": np.where(np.arange(60)[:, None] == 7, np.nan, r["states_f"])}, "first is row 7"),
        (lambda r: r | {"n": r["n"][:40]}, "rows; there must be one for each blow in all"),
    ],
)
def test_an_ellipse_that_cannot_be_right_is_refused(rows, tmp_path, change, words):
    with pytest.raises(carom.CaromError, match=words):
        planar_impacts(write_ellipse(tmp_path, change(rows)), check=False)


def test_another_version_and_a_missing_record_are_said(rows, tmp_path):
    write_ellipse(tmp_path / "planar-impact-dataset", rows)
    with pytest.raises(carom.CaromError, match=r"is another version than the one that was studied.*git clone"):
        planar_impacts(tmp_path)
    with pytest.raises(carom.CaromError, match=r"has no 'Coefficient_of_restitution.*git clone"):
        bouncing_balls(tmp_path)
    with pytest.raises(carom.CaromError, match="none of the records was found"):
        validate(tmp_path, tmp_path / "page", progress=False)
    assert not (tmp_path / "page").exists()
    (tmp_path / "planar-impact-dataset" / "processed_data" / "v_models.mat").write_text("no matrix")
    with pytest.raises(carom.CaromError, match=r"v_models.mat is not a MATLAB file"):
        planar_impacts(tmp_path, check=False)


# -- balls -------------------------------------------------------------------------------------------------------------


def bounces(e, drag, first, count, rng=None, spread=0.0):
    """Instants of a ball that leaves the floor with speed `first`."""
    t, v = [0.5], first
    for _ in range(count):
        t.append(t[-1] + float(flight(v, drag)))
        coming = v / np.sqrt(1.0 + v * v * drag / 9.81)
        v = e * coming * (1.0 if rng is None else 1.0 + spread * rng.standard_normal())
    return np.asarray(t)


def test_both_kinds_of_spreadsheets_are_read():
    instants = [0.5, 1.25, 1.93, 2.515625, 3.0, 3.41]
    for text in (old_sheet(instants), new_sheet([instants])):
        cells = next(iter(sheets_of(text, "some.xls").values()))
        assert [v for _, v in sorted(cells.items()) if isinstance(v, float)] == instants
    with pytest.raises(carom.CaromError, match=r"some.xls is not a spreadsheet that can be read"):
        sheets_of(b"no spreadsheet", "some.xls")


def test_records_are_found_and_cut_where_a_bounce_was_missed(tmp_path):
    clean = bounces(0.9, 1e-9, 2.0, 8)
    missed = np.delete(clean, 5)
    files = {
        "pingpong_ball/Lancio1,10cm.xlsx": new_sheet([clean.tolist(), missed.tolist()]),
        "tennis_ball/Lancio 1.xls": old_sheet(clean[:4].tolist()),
    }
    found = bouncing_balls(write_balls(tmp_path, files), check=False)
    assert [r.ball for r in found] == ["table tennis", "table tennis", "tennis"]
    np.testing.assert_allclose(found[0].leading, np.diff(clean), rtol=1e-12)
    np.testing.assert_allclose(found[1].leading, np.diff(clean)[:4], rtol=1e-12)
    assert len(found[2].leading) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (new_sheet([[0.5, 1.0]]), "has 2 instants; at least 3 are needed"),
        (new_sheet([[0.5, 1.4, 1.2, 1.9]]), "is out of order: 1.2 s follows 1.4 s"),
        (new_sheet([[0.5, 1.0, 1.4]], title="Loudness"), "no sheet 'All' and no column 'Event time"),
    ],
)
def test_sounds_that_cannot_be_right_are_refused(tmp_path, text, words):
    with pytest.raises(carom.CaromError, match=words):
        bouncing_balls(write_balls(tmp_path, {"golf_ball/a.xlsx": text}), check=False)


def test_speed_and_flight_are_inverse_with_any_drag():
    for drag in (1e-9, 0.13, 3.0):
        for v in (0.1, 2.0, 4.0):
            assert float(speed_of(flight(v, drag), drag)) == pytest.approx(v, rel=1e-10)
    assert float(flight(2.0, 1e-9)) == pytest.approx(4.0 / 9.81, rel=1e-8)


def test_air_is_told_from_restitution_where_the_record_shows_it(tmp_path):
    """Drops that bounce with constant e in air: drag is found, and constant e in vacuum is refuted."""
    rng = np.random.default_rng(1)
    files = {
        f"pingpong_ball/{k}.xlsx": new_sheet([bounces(0.95, 0.13, 1.2 + 0.25 * k, 12, rng, 0.002).tolist()])
        for k in range(5)
    }
    records = bouncing_balls(write_balls(tmp_path, files), check=False)
    before, ratios, groups = rows_of(records)
    assert len(before) == 55
    two = {name: laws()[name] for name in ("constant e", "constant e, drag")}
    found = carom.compare_laws(carom.Observations(ratios, before, groups=groups), two, folds=2, resamples=50).laws
    fit = found["constant e, drag"].fit
    assert abs(fit.estimate["drag"] - 0.13) < 3.0 * fit.standard_error["drag"] < 0.1
    assert abs(fit.estimate["e"] - 0.95) < 3.0 * fit.standard_error["e"]
    assert found["constant e"].error > 1.5 * found["constant e, drag"].error
    assert found["constant e"].behind[1] > 0.0


# -- pendulums ---------------------------------------------------------------------------------------------------------


def test_pieces_of_a_swing_are_turned_as_carom_counts(tmp_path):
    rng = np.random.default_rng(2)
    pieces = [rng.normal(size=(12, 4)) for _ in range(4)]
    swings = pendulum_swings(write_pendulum(tmp_path, pieces), 2, check=False)
    assert len(swings.fitting) == len(swings.validating) == 2 and swings.step == 0.001
    np.testing.assert_allclose(swings.fitting[1][0], 0.5 * np.pi - pieces[1][:, :2], rtol=1e-14)
    np.testing.assert_allclose(swings.fitting[1][1], -pieces[1][:, 2:], rtol=1e-14)
    assert swings.published["L1"] == 0.1727 and swings.joined()[0].shape == (48, 2)
    with pytest.raises(carom.CaromError, match="arms of pendulum_swings is 4; there are records of 2 and of 3"):
        pendulum_swings(tmp_path, 4)


def test_the_pendulum_obeys_the_published_equations(tmp_path):
    """Angles from upright, m1 a1 + m2 L1 above the pivot pull it down: the same motion by another integration."""
    from scipy.integrate import solve_ivp

    pieces = [np.tile([2.6, 2.2, 0.5, -1.0], (12, 1)) for _ in range(4)]
    swings = pendulum_swings(write_pendulum(tmp_path, pieces), 2, check=False)
    m1, m2, a1, a2, l1, i1, i2, k1, k2, g = swings.published.values()

    def rate(t, y):
        c, s = m2 * a2 * l1 * np.cos(y[0] - y[1]), m2 * a2 * l1 * np.sin(y[0] - y[1])
        mass = np.array([[i1 + m1 * a1**2 + m2 * l1**2, c], [c, i2 + m2 * a2**2]])
        brake = k2 * (y[3] - y[2])
        pull = [
            (m1 * a1 + m2 * l1) * g * np.sin(y[0]) - s * y[3] ** 2 - k1 * y[2] + brake,
            m2 * a2 * g * np.sin(y[1]) + s * y[2] ** 2 - brake,
        ]
        return [y[2], y[3], *np.linalg.solve(mass, pull)]

    times = np.array([0.0, 0.3, 0.6])
    found = solve_ivp(rate, (0.0, 0.6), pieces[0][0], t_eval=times, rtol=1e-11, atol=1e-12).y[:2].T
    start = tuple(np.asarray(x[:1]) for x in swings.fitting[0])
    mine = predicted(swings, [{}], start, times)[0, 0]
    np.testing.assert_allclose(0.5 * np.pi - mine, found, atol=1e-7)


def test_parameters_that_are_missing_are_counted(tmp_path):
    pieces = [np.ones((12, 4))] * 4
    with pytest.raises(carom.CaromError, match=r"'EstimatedParameters' of .* has 3 numbers; it must have 10"):
        pendulum_swings(write_pendulum(tmp_path, pieces, (1.0, 2.0, 3.0)), 2, check=False)
    with pytest.raises(carom.CaromError, match=r"'Y_id' of .* has 5 rows; at least 10 are needed"):
        pendulum_swings(write_pendulum(tmp_path, [x[:5] for x in pieces]), 2, check=False)


def test_first_angles_say_the_rates_that_smoothing_moved(tmp_path):
    swings = pendulum_swings(write_pendulum(tmp_path, [np.zeros((12, 4))] * 4), 2, check=False)
    q, v = np.array([[-0.4, 0.2], [0.3, -0.9]]), np.array([[1.5, -2.0], [0.0, 3.0]])
    angles = predicted(swings, [{}], (q, v), 0.001 * np.arange(120))[0]
    off = v + np.array([[0.1, -0.08], [-0.02, 0.1]])
    pieces = [(a, np.tile(r, (120, 1))) for a, r in zip(angles, off, strict=True)]
    found = rates_found(swings, pieces, {})
    np.testing.assert_allclose(found[0], q, atol=1e-12)
    np.testing.assert_allclose(found[1], v, atol=1e-6)
