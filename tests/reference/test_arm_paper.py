"""First impact of the planar arm that strikes repeatedly: Akhan et al., Machines 2023, 11, 773.

Provenance: numbers as reported in the paper's text and tables for its first impact, transcribed in
arm_paper.json; equations, gains and material as printed there, with the friction law's surplus sign dropped. All of
them come out of the printed equations to better than 0.7 %, so 1 % is the tolerance: three printed digits, and the
paper's own integration.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import carom
from carom.control import AtHeight, OnStrike
from carom.result import Impact, Result

PAPER = json.loads((Path(__file__).parent / "arm_paper.json").read_text())


@pytest.fixture(scope="module")
def result() -> Result:
    rod = carom.Rod(length=1.0, mass=1.0)
    arm = carom.Arm([rod, rod])
    steel = carom.Material(210e9, 0.29, 1.12e9)
    law = carom.JacksonGreen(steel, steel, 0.005)
    contact = carom.Contact(arm.tip, carom.Plane(height=-1.0), law, carom.SmoothCoulomb(0.2, 0.02), name="tip")
    control = carom.PostureControl(
        arm,
        np.deg2rad([[-80, -70], [80, 70]]),
        kp=[600.0, 300.0],
        kd=[100.0, 100.0],
        compensate_weight=True,
        schedule=[OnStrike("tip"), AtHeight(arm.tip, 1.0)],
    )
    world = carom.World(arm, contacts=contact, control=control, pause_in_impact=True)
    return carom.simulate(world, world.state(angles=[60, 45], degrees=True), until=1.0)


def measured(impact: Impact) -> dict[str, float]:
    before, after = impact.kinetic_energy_by_link_before, impact.kinetic_energy_by_link_after
    return {
        "duration": impact.duration,
        "largest indentation": impact.max_indentation,
        "residual indentation": impact.residual_indentation,
        "largest normal force": impact.max_normal_force,
        "tangential velocity before": impact.tangential_velocity_before,
        "tangential velocity after": impact.tangential_velocity_after,
        "normal velocity before": impact.normal_velocity_before,
        "normal velocity after": impact.normal_velocity_after,
        "restitution": impact.restitution,
        "kinetic energy of link 1 before": before[0],
        "kinetic energy of link 1 after": after[0],
        "kinetic energy of link 2 before": before[1],
        "kinetic energy of link 2 after": after[1],
        "total kinetic energy before": sum(before),
        "total kinetic energy after": sum(after),
    }


@pytest.mark.parametrize("quantity", PAPER["first impact"])
def test_first_impact(result: Result, quantity: str) -> None:
    paper = PAPER["first impact"][quantity]
    assert measured(result.impacts[0])[quantity] == pytest.approx(paper, rel=PAPER["tolerance"])


def test_the_phases_of_an_impact_come_in_order(result: Result) -> None:
    """The strike ends the first posture at the same instant, and the height of 1 m the second one."""
    names = [(e.automaton, e.exit) for e in result.events[:6]]
    assert names == [
        ("tip", "touch"),
        ("control", "end of posture 1"),
        ("tip", "yield"),
        ("tip", "peak"),
        ("tip", "release"),
        ("control", "end of posture 2"),
    ]
    assert result.events[0].t == result.events[1].t
    assert result.energy.max_error_percent < 1e-6
