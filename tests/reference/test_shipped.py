"""Every shipped scenario runs and gives the numbers that its source reports, or says why not."""

import pytest

from carom.experiment.experiment import perform
from carom.experiment.measures import measured
from carom.scenario import load, names

QUICK = ("arm-repeated-impact", "ball-drop", "ball-on-slope", "capture-head-on", "corner")
CASES = [(name, None) for name in names()] + [(name, v) for name in names() for v in load(name).variants]
# What differs for a stated reason; a name that leaves or joins this list is a finding.
DIFFER = {
    "arm-repeated-impact": {
        "upper_angle_least",
        "upper_angle_most_later",
        "fore_angle_least",
        "fore_angle_most_later",
        "tip_vx_most",
        "tip_vx_least_later",
        "tip_vy_most",
    },
    "elastic-chain-rigid": {"asymmetry"},
}


@pytest.mark.parametrize(
    ("name", "variant"),
    [pytest.param(n, v, marks=() if n in QUICK and v is None else pytest.mark.slow) for n, v in CASES],
)
def test_a_shipped_scenario_gives_its_numbers(name: str, variant: str | None) -> None:
    scenario = load(name) if variant is None else load(name).variant(variant)
    found = perform(scenario.model_copy(update={"compare": []}))
    assert found.finished
    results = measured(found)
    assert len(results) == len(scenario.quantities)
    differ = {m.name for m in results if m.agrees is False}
    assert differ == DIFFER.get(name, set())
    assert all(m.note for m in results if m.agrees is False)
