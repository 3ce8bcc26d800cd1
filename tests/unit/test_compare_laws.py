"""Laws side by side: the one that made the data wins, folds are honest, gaps and records are kept together."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

import carom
from carom.cli.app import app

V = np.random.default_rng(0).uniform(0.5, 4.0, 60)  # [m/s] speeds before 60 blows
NOISE = 0.02
AFTER = 0.8 * V**0.9 + NOISE * np.random.default_rng(1).normal(size=60)
CONSTANT = carom.Model(lambda p, v: p["e"] * v, {"e": 0.5})
POWER = carom.Model(lambda p, v: p["e"] * v ** (1 - p["n"]), {"e": 0.5, "n": 0.05})
PUBLISHED = carom.Model(lambda p, v: 0.7 * v, {})
DATA = carom.Observations(AFTER, V, noise=NOISE)


@pytest.fixture(scope="module")
def found():
    return carom.compare_laws(DATA, {"constant": CONSTANT, "power": POWER, "published": PUBLISHED})


def test_the_law_that_made_the_data_wins_with_an_error_of_the_noise(found):
    assert found.best == "power" and found.laws["power"].wins > 0.95
    assert 0.8 < found.laws["power"].error < 1.2  # in units of the noise
    assert found.laws["constant"].behind[1] > 0.5  # its distance to the best is not chance
    assert [law.parameters for law in found.laws.values()] == [2, 1, 0]
    assert "power is the best of them" in repr(found)


def test_held_out_predictions_are_those_of_fits_that_have_not_seen_them(found):
    """Five lines through the origin, by hand: the slope without the fold, times the fold's speeds."""
    parts = np.array_split(np.random.default_rng(0).permutation(60), 5)
    by_hand = np.empty(60)
    for part in parts:
        rest = np.setdiff1d(np.arange(60), part)
        by_hand[part] = (V[rest] @ AFTER[rest]) / (V[rest] @ V[rest]) * V[part]
    law = found.laws["constant"]
    np.testing.assert_allclose(law.predicted, by_hand, rtol=1e-9)
    assert law.error == pytest.approx(np.sqrt(np.mean(((AFTER - by_hand) / NOISE) ** 2)), rel=1e-9)


def test_criteria_are_those_of_the_textbook(found):
    def likelihood(e, n):
        r = (AFTER - e * V ** (1 - n)) / NOISE
        return r @ r

    law = found.laws["power"]
    chi = likelihood(law.fit.estimate["e"], law.fit.estimate["n"])
    assert law.aic == pytest.approx(chi + 4) and law.bic == pytest.approx(chi + 2 * np.log(60))
    free = carom.compare_laws(carom.Observations(AFTER, V), {"published": PUBLISHED, "constant": CONSTANT})
    r = AFTER - 0.7 * V  # the noise is a parameter now
    assert free.laws["published"].aic == pytest.approx(60 * np.log(r @ r / 60) + 2)


def test_order_of_laws_and_rows_changes_nothing_that_matters(found):
    turned = carom.compare_laws(DATA, {"power": POWER, "published": PUBLISHED, "constant": CONSTANT})
    assert list(turned.laws) == list(found.laws)
    for name, law in found.laws.items():
        assert turned.laws[name].error == law.error and turned.laws[name].wins == law.wins


def test_rows_of_a_record_are_judged_together_and_gaps_count_nowhere():
    records = np.arange(60) // 6
    holes = np.where(V < 1.0, np.nan, AFTER)
    data = carom.Observations({"after": holes}, V, noise={"after": NOISE}, groups=records)
    model = carom.Model(lambda p, v: {"after": p["e"] * v}, {"e": 0.5})
    found = carom.compare_laws(data, {"constant": model}, train=4)
    held = np.isfinite(found.laws["constant"].predicted["after"])
    assert all(len(set(held[records == k])) == 1 for k in range(10)) and held.sum() == 36
    assert found.data == np.isfinite(holes).sum() and found.records == 10 and found.held_out == 36


def test_a_law_that_fails_is_last_and_says_why():
    broken = carom.Model(lambda p, v: jnp.log(-p["e"]) * v, {"e": 1.0})
    beyond = carom.Model(lambda p, v: jnp.where(v < 2.0, p["e"] * v, jnp.nan), {"e": 1.0})
    found = carom.compare_laws(DATA, {"broken": broken, "beyond": beyond, "constant": CONSTANT})
    assert found.best == "constant" and found.laws["constant"].wins == 1.0
    assert "not finite at the start" in found.laws["broken"].trouble and "failed" in repr(found)


def test_an_error_of_ones_own_judges():
    share = carom.compare_laws(DATA, {"constant": CONSTANT}, error=lambda m, p, v: abs(m - p) / v)
    law = share.laws["constant"]
    assert law.error == pytest.approx(np.mean(abs(AFTER - law.predicted) / V))


def test_mistakes_get_a_sentence(unchecked):
    def refused(words, make):
        with pytest.raises(carom.CaromError, match=words):
            make()

    refused("one of the arrays has shape .3,.", lambda: carom.Observations(AFTER, V[:3]))
    refused("is 1 row to compare laws on", lambda: carom.Observations([1.0], [1.0]))
    refused("are to be weighed against each other", lambda: carom.Observations({"a": V, "b": V}))
    refused("groups of the observations has shape .2,. for 60 rows", lambda: carom.Observations(V, groups=[1, 2]))
    refused("give carom.Observations", lambda: carom.compare_laws(AFTER, {"constant": CONSTANT}))
    refused("must be a dictionary", lambda: carom.compare_laws(DATA, [CONSTANT]))
    refused("law 'e' is a int", lambda: carom.compare_laws(DATA, {"e": 3}))
    refused("folds of compare_laws is 61", lambda: carom.compare_laws(DATA, {"c": CONSTANT}, folds=61))
    refused("train of compare_laws is 60", lambda: carom.compare_laws(DATA, {"c": CONSTANT}, train=60))
    refused(
        "returns shape .2,. for 60 rows",
        lambda: carom.compare_laws(DATA, {"c": PUBLISHED}, error=lambda *_: [0.0, 1.0]),
    )


# -- scenarios ---------------------------------------------------------------------------------------------------------

E = "contacts.floor.normal.restitution"


def drops():
    """Six drops from known heights, three impacts each, 1 ms."""
    rng, rows = np.random.default_rng(5), []
    for drop, height in enumerate(np.linspace(0.5, 1.5, 6)):
        t, speed = np.sqrt(2 * (height - 0.1) / 9.8), np.sqrt(2 * 9.8 * (height - 0.1))
        for k in range(3):
            rows.append((f"drop{drop}", k + 1, t + 1e-3 * rng.normal(), height))
            speed *= 0.7
            t += 2 * speed / 9.8
    names = ("record", "impact", "t_start", "start.base.1")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def test_scenarios_are_laws_that_are_judged_on_runs_they_have_not_seen(tmp_path):
    """The scenario that made the data against one in a weaker gravity."""
    ball = carom.Scenario.load("ball-drop")
    laws = {"weak": ball.with_({"gravity": 8.0}), "right": ball}
    found = carom.compare_laws(drops(), laws, vary=E, folds=3)
    assert list(found.laws) == ["right", "weak"] and found.laws["right"].wins == 1.0
    assert found.records == 6 and found.data == 18 and found.laws["right"].parameters == 1
    assert 0.7 < found.laws["right"].error < 1.3  # in units of the noise, which the best law's residuals say
    assert all(fit.estimate[E] == pytest.approx(0.7, abs=0.01) for fit in found.laws["right"].folds)
    data = drops()
    rows = [",".join(map(str, row)) for row in zip(*data.values(), strict=True)]
    (tmp_path / "drops.csv").write_text("\n".join([",".join(data), *rows]))
    command = ["fit", "ball-drop", "-d", str(tmp_path / "drops.csv"), "--vary", E, "--laws", "gravity=8.0,9.8"]
    told = CliRunner().invoke(app, [*command, "--folds", "3", "--json"])
    assert told.exit_code == 0, told.output
    numbers = json.loads(told.stdout)
    assert numbers["best"] == "9.8" and numbers["laws"]["9.8"]["error"] == pytest.approx(found.laws["right"].error)


def test_one_run_cannot_judge_what_it_was_fitted_to():
    with pytest.raises(carom.CaromError, match=r"the data are one run.*record several"):
        carom.compare_laws({"impact": [1, 2], "t_start": [0.4, 1.0]}, ["ball-drop"], vary=E)
    with pytest.raises(carom.CaromError, match=r"the laws are models; give carom.Observations"):
        carom.compare_laws({"impact": [1]}, {"constant": CONSTANT}, vary=E)


def test_the_figure_shows_every_law_that_could_be_judged(found):
    figure = carom.figures.laws_compared(found, DATA, V, labels=("speed [m/s]", "restitution"), ratio=True)
    upper, lower = figure.axes
    assert [t.get_text().split(":")[0] for t in upper.get_legend().get_texts()] == ["data", "power", "constant"]
    lines = {line.get_label().split(":")[0]: line for line in upper.get_lines()}
    e = found.laws["constant"].fit.estimate["e"]
    np.testing.assert_allclose(lines["constant"].get_ydata(), e)
    assert lower.get_xlabel() == "speed [m/s]"
    with pytest.raises(carom.CaromError, match="along has shape"):
        carom.figures.laws_compared(found, DATA, V[:3])
