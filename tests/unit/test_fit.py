"""Identification: estimates, intervals and refusals, on a bouncing ball, closed forms and captured objects."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from examples.identify_target import UNKNOWN, central_case, identify, random_case

import carom
from carom.study.fitting import _search

RADIUS = 0.1
PLAIN = carom.Settings(ledger=False)
T = np.linspace(0.0, 1.6, 41)


def ball(restitution, gravity):
    disk = carom.Mechanism([carom.Disk(radius=RADIUS, mass=2.0)], base=carom.Free())
    floor = carom.Contact(disk.tip, carom.Plane(height=0.0), restitution, radius=RADIUS, name="floor")
    return carom.World(disk, contacts=floor, gravity=gravity)


def heights(p):
    """Of a ball that bounces three times."""
    q, _ = carom.states_at(ball(p["e"], p["g"]), carom.State([0.0, 1.0 + RADIUS, 0.0], jnp.zeros(3)), T, settings=PLAIN)
    return q[:, 1]


def closed_form(e, g):
    """Heights of the same ball, bounce by bounce."""
    first = np.sqrt(2 / g)
    out = []
    for t in T:
        since, speed = t - first, e * g * first
        while since > 2 * speed / g:
            since, speed = since - 2 * speed / g, e * speed
        out.append(1.0 - g * t**2 / 2 if since < 0 else speed * since - g * since**2 / 2)
    return np.array(out) + RADIUS


@pytest.mark.slow
def test_restitution_and_gravity_from_the_heights_of_a_bouncing_ball():
    """Through three impacts; data from the closed form."""
    exact = carom.fit(heights, closed_form(0.7, 9.81), {"e": 0.6, "g": 9.0}, times=T)
    assert exact.estimate["e"] == pytest.approx(0.7, abs=1e-10)
    assert exact.estimate["g"] == pytest.approx(9.81, abs=1e-9)
    noisy = closed_form(0.7, 9.81) + 0.01 * np.random.default_rng(5).normal(size=len(T))
    found = carom.fit(heights, noisy, {"e": 0.6, "g": 9.0}, noise=0.01, times=T)
    for name, true in (("e", 0.7), ("g", 9.81)):
        assert found.intervals[name][0] < true < found.intervals[name][1]
    assert found.standard_error["e"] < 5e-3 and found.determined and found.chance > 1e-3


def line(p):
    return {"a": p["slope"] * jnp.asarray([0.0, 1.0, 2.0]) + p["offset"], "b": p["offset"] * jnp.ones(2)}


def test_a_straight_line_is_the_textbook_regression():
    """Weights, covariance and Student's intervals against the closed form."""
    data = {"a": [0.1, 1.3, 1.9], "b": [0.2, -0.1]}
    found = carom.fit(line, data, {"slope": 0.0, "offset": 0.0}, noise={"a": 0.1, "b": 0.2})
    A = np.array([[1, 0], [1, 1], [1, 2], [1, 0], [1, 0]])  # offset, slope
    y, w = np.array([0.1, 1.3, 1.9, 0.2, -0.1]), 1 / np.array([0.1, 0.1, 0.1, 0.2, 0.2])
    covariance = np.linalg.inv((A * w[:, None]).T @ (A * w[:, None]))
    best = covariance @ ((A * w[:, None]).T @ (y * w))
    assert found.names == ("offset", "slope")
    np.testing.assert_allclose([found.estimate["offset"], found.estimate["slope"]], best, rtol=1e-9)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-9)
    np.testing.assert_allclose(found.residuals["b"], y[3:] - best[0], atol=1e-9)
    low, high = found.intervals["slope"]
    assert high - low == pytest.approx(2 * 1.959964 * np.sqrt(covariance[1, 1]), rel=1e-6)
    free = carom.fit(line, data, {"slope": 0.0, "offset": 0.0})  # noise from 3 degrees of freedom
    flat = np.linalg.inv(A.T @ A)
    rest = y - A @ flat @ A.T @ y
    assert free.standard_error["slope"] == pytest.approx(np.sqrt(flat[1, 1] * rest @ rest / 3), rel=1e-9)
    low, high = free.intervals["slope"]
    assert (high - low) / free.standard_error["slope"] == pytest.approx(2 * 3.182446, rel=1e-6)


def test_what_only_acts_together_is_named_and_gets_no_number():
    t = np.linspace(0.0, 1.0, 20)

    def decay(p):  # stiffness and mass act only by their ratio
        return p["size"] * jnp.cos(jnp.sqrt(p["stiffness"] / p["mass"]) * t)

    data = 2.0 * np.cos(3.0 * t)
    found = carom.fit(
        decay,
        data,
        {
            "stiffness": 10.0,
            "mass": 1.5,
            "size": 1.0,
        },
        noise=1e-3,
        positive=("mass",),
    )
    assert not found.determined and len(found.undetermined) == 1
    assert "mass by" in found.undetermined[0] and "stiffness by" in found.undetermined[0]
    assert np.isnan(found.estimate["mass"]) and np.isnan(found.estimate["stiffness"])
    assert found.intervals["mass"] == (-np.inf, np.inf)
    assert found.estimate["size"] == pytest.approx(2.0, abs=1e-6) and found.standard_error["size"] < 1e-3
    mass, stiffness = found.parameters["mass"], found.parameters["stiffness"]
    assert float(stiffness / mass) == pytest.approx(9.0, rel=1e-6)
    # The direction is that of a constant ratio.
    d = dict(zip(found.names, found.directions[0], strict=True))
    assert d["stiffness"] / d["mass"] == pytest.approx(9.0, rel=1e-5)
    assert "not determined" in repr(found)


def test_a_parameter_without_effect_is_named():
    found = carom.fit(lambda p: p[0] * jnp.ones(4) + 0.0 * p[1], np.ones(4), [0.5, 3.0], noise=0.1)
    assert found.undetermined[0].startswith("the data do not determine p[1]: a change of 3 moves them not at all")
    assert found.estimate["p[0]"] == pytest.approx(1.0)


def test_what_drowns_in_the_noise_is_named():
    """Visible in principle: a change of b by its own size is 4e-3 standard deviations, or 400 with less noise."""
    t = np.linspace(0.0, 1.0, 50)

    def predict(p):
        return p["a"] + 1e-4 * p["b"] * t

    loud, quiet = (carom.fit(predict, 2.0 + 3e-4 * t, {"a": 1.0, "b": 1.0}, noise=n) for n in (0.1, 1e-6))
    assert np.isnan(loud.estimate["b"]) and loud.undetermined[0].startswith(
        "the data do not determine b: a change of 3"
    )
    assert loud.estimate["a"] == pytest.approx(2.0, abs=0.05)
    assert quiet.determined and quiet.estimate["b"] == pytest.approx(3.0, abs=0.05)


def test_a_model_that_does_not_explain_the_data_is_told():
    found = carom.fit(lambda p: p["a"] * jnp.ones(30), np.linspace(0.0, 1.0, 30), {"a": 0.1}, noise=0.01)
    assert "the model does not explain the data" in repr(found)


@pytest.mark.slow
def test_objects_are_known_again_by_the_motion_after_their_capture():
    """A few of the hundred of verify/test_identification.py."""
    rng = np.random.default_rng(11)
    ratios = []
    for _ in range(8):
        truth, sight = random_case(rng)
        found = identify(truth, sight, rng)
        ratios += [(found.estimate[n] - truth[n]) / found.standard_error[n] for n in UNKNOWN if found.determined]
    assert len(ratios) >= 30
    assert np.max(np.abs(ratios)) < 4.0 and 0.6 < np.std(ratios) < 1.4


@pytest.mark.slow
def test_a_central_blow_leaves_mass_and_inertia_invisible():
    truth, sight = central_case()
    found = identify(truth, sight, np.random.default_rng(3))
    assert {n for n in UNKNOWN if np.isnan(found.estimate[n])} == {"mass", "velocity_y", "inertia"}
    # Along it the momentum that arm and object share stays: m v / (m + 120).
    p, d = found.parameters, None
    for row in found.directions:
        named = dict(zip(found.names, row, strict=True))
        d = named if abs(named["velocity_y"]) > 1e-3 else d
    share = d["mass"] * 120.0 * float(p["velocity_y"]) + d["velocity_y"] * float(p["mass"]) * (float(p["mass"]) + 120.0)
    assert abs(share) < 1e-4 * abs(d["mass"] * 120.0)


def test_a_parameter_on_its_bound_leaves_the_others_free():
    """A line whose offset is at most 1 where the data say 1.1: the slope is that of lines through (0, 1)."""
    t = np.linspace(0.0, 1.0, 30)
    data = 1.1 + 0.5 * t + 0.01 * np.random.default_rng(2).normal(size=30)
    both = lambda p: p["offset"] + p["slope"] * t  # noqa: E731
    found = carom.fit(both, data, {"offset": 0.5, "slope": 0.0}, noise=0.05, bounds={"offset": (0.0, 1.0)}, starts=3)
    assert found.estimate["offset"] == 1.0 and found.on_bounds == {"offset": "largest"}
    assert found.estimate["slope"] == pytest.approx(t @ (data - 1.0) / (t @ t), rel=1e-9)
    assert found.standard_error["slope"] == pytest.approx(0.05 / np.sqrt(t @ t), rel=1e-9)
    # Below the bound the sum of squares, the slope adapted, grows by 1.96^2 at the end of the interval.
    low, high = found.intervals["offset"]

    def squares(offset):
        r = (data - offset - t * (t @ (data - offset)) / (t @ t)) / 0.05
        return r @ r

    assert high == 1.0 and squares(low) - squares(1.0) == pytest.approx(1.959964**2, rel=1e-6)
    assert found.ends == pytest.approx([squares(1.0)] * 3)
    inside = carom.fit(both, data, {"offset": 0.5, "slope": 0.0}, noise=0.05, bounds={"offset": (0.0, 2.0)})
    free = carom.fit(both, data, {"offset": 0.5, "slope": 0.0}, noise=0.05)
    assert inside.estimate["offset"] == pytest.approx(free.estimate["offset"], rel=1e-9) and not inside.on_bounds


@pytest.mark.parametrize("bounds", [None, {"a": (-5.0, 5.0)}])
def test_what_has_no_value_on_the_way_does_not_end_the_search(bounds):
    """Beyond a = 1.15, where steps from the start lead, the model has no value."""
    t = np.linspace(0.0, 1.0, 20)
    seen = []

    def predict(p):
        jax.debug.callback(lambda a: seen.append(float(a)), p["a"])
        return jnp.where(p["a"] < 1.15, 1.0, jnp.nan) * p["a"] ** 3 * (1 + t)

    found = carom.fit(predict, 1.1**3 * (1 + t), {"a": 0.3}, bounds=bounds)
    assert found.estimate["a"] == pytest.approx(1.1, abs=1e-6) and max(seen) > 1.15


def test_a_search_that_is_interrupted_or_out_of_time_gives_the_best_so_far():
    t, calls = np.linspace(0.0, 1.0, 20), []

    def decay(p):
        jax.debug.callback(interrupt, p["k"])
        return jnp.exp(-p["k"] * t)

    def interrupt(k):
        calls.append(float(k))

    data = np.exp(-3.0 * t)
    short = carom.fit(decay, data, {"k": 0.1}, time=1e-9)
    assert "the time that it was allowed was over; this is the best so far" in repr(short) and not short.converged
    stops = _search._Known.__call__

    def pressed(self, p):
        if self.evaluations >= 4:
            raise KeyboardInterrupt
        return stops(self, p)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_search._Known, "__call__", pressed)
        early = carom.fit(decay, data, {"k": 0.1})
    whole = carom.fit(decay, data, {"k": 0.1})
    assert early.stopped == "it was interrupted" and whole.estimate["k"] == pytest.approx(3.0, rel=1e-6)
    assert abs(early.estimate["k"] - 3.0) < abs(0.1 - 3.0) and np.sum(early.residuals**2) < np.sum(short.residuals**2)


def test_gaps_and_noise_by_channel():
    t, rng = np.linspace(0.0, 1.0, 200), np.random.default_rng(8)
    data = {"a": 2.0 * t + 0.3 * rng.normal(size=200), "b": 2.0 + 0.01 * rng.normal(size=200)}
    data["b"][50:] = np.nan
    model = lambda p: {"a": p["s"] * t, "b": p["s"] * jnp.ones(200)}  # noqa: E731
    with pytest.raises(carom.CaromError, match=r"holds 150 value.s. that are not numbers.*say gaps=True"):
        carom.fit(model, data, {"s": 1.0})
    found = carom.fit(model, data, {"s": 1.0}, gaps=True, noise={"a": None, "b": None})
    assert found.degrees == 249 and np.isnan(found.residuals["b"][50:]).all()
    assert found.noise_found["a"] == pytest.approx(np.std(data["a"] - 2.0 * t), rel=0.02)
    assert found.noise_found["b"] == pytest.approx(np.std(data["b"][:50], ddof=1), rel=0.01)
    weights = np.array([t @ t / found.noise_found["a"] ** 2, 50 / found.noise_found["b"] ** 2])
    share = weights / weights.sum()
    grown = 1.0 + 4.0 * np.sum(share * (1.0 - share) / np.array([199.0, 49.0]))  # P. Meier, Biometrics 9 (1953) 59
    assert found.standard_error["s"] == pytest.approx(np.sqrt(grown / weights.sum()), rel=1e-6)
    assert float(found.band["a"][-1]) == pytest.approx(found.standard_error["s"], rel=1e-6)


def test_mistakes_get_a_sentence(unchecked):
    def refused(words, predict=lambda p: p["a"] * jnp.ones(3), data=(1.0, 2.0, 3.0), start=None, **options):
        with pytest.raises(carom.CaromError, match=words):
            carom.fit(predict, data, {"a": 1.0} if start is None else start, **options)

    both = lambda p: {"x": p["a"] * jnp.ones(2), "y": p["a"] * jnp.ones(2)}  # noqa: E731
    refused("times of fit are out of order: 0.5 s follows 1 s at index 2", times=[0.0, 1.0, 0.5])
    refused("shape .3,. for 2 times", times=[0.0, 1.0])
    refused("channel 'y' is predicted but missing from the data, which have 'x'", both, {"x": [1.0, 2.0]})
    refused("there is no predicted channel 'z'.*", both, {"x": [1.0, 1.0], "y": [1.0, 1.0], "z": [1.0, 1.0]})
    refused("data is a list but predict returns a dict", both, [1.0])
    refused("holds 1 value.s. that are not numbers, the first at .1.", data=[1.0, np.nan, 2.0])
    refused(r"data of fit has shape \(2,\), predict returns \(3,\)", data=[1.0, 2.0])
    refused("there are 3 data for 4 parameters", lambda p: p["a"][:3], start={"a": np.ones(4)})
    refused("noise of data of fit is 0.0; a standard deviation", noise=0.0)
    refused("there is no channel of noise 'y'", both, {"x": [1.0, 1.0], "y": [1.0, 1.0]}, noise={"x": 0.1})
    refused("noise of fit has shape", noise=[0.1, 0.2])
    refused("start of fit is", start={"a": "one"})
    refused("start of fit is empty", start={})
    refused("start of fit is .nan.", start={"a": np.nan})
    refused("predict of fit is a int", predict=3)
    refused("not finite at the start", predict=lambda p: jnp.log(-p["a"]) * jnp.ones(3))
    refused("sizes of fit is", sizes={"a": -1.0})
    refused("start of 'a' is -1; a parameter declared positive must start above 0", start={"a": -1.0}, positive=("a",))
    refused("there is no parameter of fit .named as positive. 'b'", positive=("b",))
    refused("confidence of fit is 1.5", confidence=1.5)
    refused("no parameter of fit .named in bounds. 'b'", bounds={"b": (0, 1)})
    refused("bounds of 'a' are 2 and 1; the smaller one comes first", bounds={"a": (2, 1)})
    refused("start of 'a' is 1, outside of its bounds 2 and 3", bounds={"a": (2, 3)})
    refused("bounds of 'a' are 3; they must be two numbers", bounds={"a": 3})
    refused("starts of fit is 0", starts=0)
    refused("time of fit is 0; it must be greater than 0", time=0.0)
    refused(
        "did not converge in 5 evaluations",
        lambda p: jnp.exp(p["a"] * jnp.arange(3.0)),
        data=(1.0, 20.0, 500.0),
        max_evaluations=5,
    )
    with pytest.raises(carom.CaromError, match="must be in order, none before 0"):
        carom.states_at(ball(0.5, 9.81), carom.State(jnp.zeros(3), jnp.zeros(3)), [0.0, 2.0, 1.0])
