"""Quantities that are signals: names and units are checked before the run, and values are in the unit asked for."""

import math

import pytest

from carom.experiment._scenario_check import check
from carom.experiment.experiment import perform
from carom.experiment.measures import measure
from carom.scenario import load
from carom.scenario.places import ScenarioError


@pytest.mark.parametrize(
    ("name", "unit", "said"),
    [
        ("most(ball.z)", "m", "there is no 'ball.z' here"),
        ("most(ball.y + ball.vy)", "m", "m and m/s cannot be added; units do not fit"),
        ("most(ball.y)", "s", r"the unit of most\(ball.y\) is m, and 's' is none of it; units do not fit"),
        ("integral(ball.y)", "m", "the unit of integral"),
        ("final(ball.angle)", "m", "is rad, and 'm' is none of it"),
        ("duty_factor.flor", "-", "did you mean 'contact.floor.closed'"),
        ("cost_of_transport.motor", "-", "there is no controller 'motor'"),
        ("most(ball.y", "m", "there is no measure"),
    ],
)
def test_what_does_not_fit_is_said_before_the_run(name, unit, said):
    drop = load("ball-drop").with_({"quantities": {"height": {"measure": name, "unit": unit}}})
    with pytest.raises(ScenarioError, match=said):
        check(drop)


def test_values_are_in_the_unit_asked_for():
    found = perform(load("ball-drop").with_({"run.until": 0.2, "start.rates": [1.0]}), progress=False)
    height = measure(found, "most(ball.y)", "m")
    assert height > 0.1
    assert measure(found, "most(ball.y)", "mm") == pytest.approx(1e3 * height)
    assert measure(found, "integral(ball.vx * 0 + 1 m)", "mm s") == pytest.approx(200.0)
    turned = measure(found, "final(ball.angle)", "rad")
    assert measure(found, "final(ball.angle)", "deg") == pytest.approx(math.degrees(turned)) and turned > 0.1
    assert measure(found, "duty_factor.floor", "%") == 0.0
