"""An object is tapped, identified, and captured by what was found."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.captures import HoldPose
from carom.experiment._scenario_check import check
from carom.experiment.experiment import perform
from carom.experiment.measures import measure
from carom.scenario import Scenario, load
from carom.scenario.places import ScenarioError

MASS, INERTIA = (f"mechanisms.target.links.object.body.{field}" for field in ("mass", "inertia"))
UNKNOWN = {MASS: 20.0, INERTIA: 10.0}


@pytest.fixture(scope="module")
def found():
    return perform(load("identify-then-capture"), progress=False)


def test_what_was_tapped_is_identified(found):
    """By NumPy from the blow alone: the object's velocities jump by P / m and by the moment of P over I."""
    known = found.identified
    fit = known.found.fit
    for path, truth in {MASS: 15.0, INERTIA: 7.5, "contacts.hand.normal.restitution": 0.6}.items():
        assert known.truth[path] == truth
        assert abs(fit.estimate[path] - truth) < 4.0 * fit.standard_error[path]
        assert fit.standard_error[path] < 0.02 * truth
    assert fit.chance > 1e-3
    (tap,) = known.probe.impacts
    step = [
        known.probe.signal(f"target.object.{part}", [tap.t_start - 1e-9, tap.t_start + 1e-9]) for part in ("vx", "vy")
    ]
    jump = np.hypot(*(each[1] - each[0] for each in step))
    assert 15.0 * jump == pytest.approx(np.hypot(tap.normal_impulse, tap.tangential_impulse), rel=1e-6)
    turned = known.probe.signal("target.object.rate", [tap.t_start - 1e-9, tap.t_start + 1e-9])
    assert 7.5 * abs(turned[1] - turned[0]) == pytest.approx(abs(tap.tangential_impulse) * 1.0, rel=1e-6)


def test_the_capture_is_predicted_by_what_was_found_and_not_by_the_guess(found):
    error, guessed = (measure(found, f"capture.{of}_error") for of in ("prediction", "guess"))
    assert error < 0.1 * guessed
    both = carom.captures.capture  # the same velocities from the public function
    truth = found.captures["weld"]
    s = found.identified.believed
    m = s.world().mechanism
    mine = both(m, truth.hand, truth.grip, carom.State(truth.q, truth.before), kind="weld")
    assert np.max(np.abs(mine.after - truth.after)) == pytest.approx(error, rel=1e-12)
    assert measure(found, f"identified.{MASS}") == found.identified.found.fit.estimate[MASS]
    assert measure(found, f"identified_error_percent.{MASS}") == pytest.approx(
        100.0 * (found.identified.found.fit.estimate[MASS] / 15.0 - 1.0)
    )


def pair(mass=15.0):
    links = [
        carom.Link(carom.Disk(radius=1.0, mass=100.0), name="body"),
        carom.Link(carom.Rod(2.0, 10.0), name="upper"),
        carom.Link(carom.Rod(3.0, mass), name="fore"),
    ]
    return carom.Mechanism(links, base=carom.Free())


def test_a_controller_with_a_model_errs_as_its_model_does():
    """With the right one e'' + 2 e' + e = 0; a wrong one asks for torques that belong to another mass."""
    m, q = pair(), np.array([0.0, 0.0, 0.3, 0.9, 1.4])
    rates = jnp.asarray([0.1, -0.2, 0.3, 0.2, -0.4])
    start = carom.State(jnp.asarray(q), m.to_absolute(rates))
    times = np.linspace(0.0, 6.0, 25)
    settings = carom.Settings(rtol=1e-11, atol=1e-13)
    away = {}
    for name, model in {"none": None, "right": pair(), "wrong": pair(25.0)}.items():
        control = HoldPose(m, q, model=model)
        run = carom.simulate(carom.World(m, control=control, gravity=0.0), start, until=6.0, settings=settings)
        at = run.at(times).q
        expected = np.asarray(m.to_relative(jnp.asarray(q))) + times[:, None] * np.exp(-times)[:, None] * np.asarray(
            rates
        )
        away[name] = np.max(np.abs(np.stack([np.asarray(m.to_relative(jnp.asarray(x))) for x in at]) - expected))
    assert away["none"] < 1e-9 and away["right"] < 1e-9 and away["wrong"] > 1e-3


def test_a_model_is_of_the_same_links():
    with pytest.raises(carom.CaromError, match="model of 'hold' is of other links; it must be a Mechanism of the same"):
        HoldPose(pair(), np.zeros(5), model=carom.Arm([carom.Rod(1.0, 1.0)]))
    with pytest.raises(carom.CaromError, match="model of 'hold' is a float"):
        HoldPose(pair(), np.zeros(5), model=3.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"identify.unknown": {MASS + "es": 20.0}}, r"unknown of identify: .*masses"),
        ({"identify.unknown": {MASS: -3.0}}, r"first guesses of identify: .*mass of Body is -3"),
        (
            {"identify.signals": ["arm.link1.angel"]},
            r"identify.signals.0: .*there is no 'arm.link1.angel' here; did you",
        ),
        ({"identify.probe": {"contacts": {}}}, r"there is no entry of contacts 'hand'"),
        (
            {"identify.probe": {"contracts": {}}},
            r"the probing run: there is no field contracts; did you mean 'contacts'",
        ),
        ({"identify.noise": 0.0}, r"identify.noise is 0.0; it must be greater than 0"),
        ({"identify.believe": "guess"}, r"identify.believe is 'guess'; it must be one of 'estimates' or 'guesses'"),
    ],
)
def test_mistakes_are_said(change, words):
    with pytest.raises(ScenarioError, match=words):
        check(load("identify-then-capture").with_(change))


def test_it_stands_before_a_capture():
    text = load("identify-then-capture").toml().replace("[capture]", "[variants.other.capture]")
    with pytest.raises(
        ScenarioError, match=r"identify stands before a capture, and the file has none; add \[capture\]"
    ):
        check(Scenario.read(text))


@pytest.mark.slow
def test_a_probe_that_never_touches_identifies_nothing():
    s = load("identify-then-capture").with_({"identify.probe.start.base_velocity": [[0.0, 0.0], [0.0, 0.3]]})
    with pytest.raises(carom.CaromError, match=r"does not show .*mass.*; probe in another way, or record more signals"):
        perform(s, progress=False)
