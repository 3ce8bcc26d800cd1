"""Laws side by side: the one that made the data wins, folds are honest, gaps and records are kept together."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom

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
