"""Do intervals of fits to scenarios hold the truth as often as they say? Two hundred simulated copies of each record.

Of 200 honest 95 % intervals 181 to 198 hold the truth (997 times in a thousand). Records: a ball that bounces
(instants, velocities, heights) with noise that is known, and with noise that is found by channel; five intervals and
nothing known of their noise, where Student's distribution with three degrees of freedom has to come in; an arm whose
compliant blows are seen through its angles.
"""

import dataclasses

import numpy as np
import pytest

import carom
from carom.experiment.measuring.fit_scenario import flat, predictor_of
from carom.study.fitting._fit_input import compared
from carom.study.fitting._solving import Effort, Guess
from carom.study.fitting.estimate import fitted

COPIES, LEAST, MOST = 200, 181, 198
T = np.linspace(0.0, 1.9, 20)
HEIGHT = {"contacts.floor.normal.restitution": 0.8, "start.base.1": 1.1}
BALL = ("ball-drop", 2.0, HEIGHT | {"gravity": 9.8}, [
    {"impact": [1, 2, 3], "t_start": [1.0] * 3, "normal_velocity_after": [1.0] * 3},
    {"t": T, "y.ball.tip": np.ones(20)},
], {"t_start": 1e-3, "normal_velocity_after": 5e-3, "y.ball.tip": 2e-3})  # fmt: skip
INTERVALS = ("ball-drop", 4.0, HEIGHT, [{"impact": [1, 2, 3, 4, 5], "interval": [1.0] * 5}], {"interval": 2e-3})
ARM = ("arm-repeated-impact", 0.9, {"contacts.tip.friction.mu": 0.2, "start.angles.0": 60.0}, [
    {"t": np.linspace(0.0, 0.9, 61), "angle.upper": np.ones(61), "rate.fore": np.ones(61)},
], {"angle.upper": 1e-3, "rate.fore": 0.02})  # fmt: skip


@pytest.mark.parametrize(
    ("record", "known"), [(BALL, True), (BALL, False), (INTERVALS, True), (INTERVALS, False), (ARM, True), (ARM, False)]
)
def test_intervals_hold_the_truth(record, known):
    name, until, truth, data, noise = record
    scenario = carom.Scenario.load(name).with_({"run.until": until})
    predictor, first = predictor_of(scenario, data, truth)
    predictor = dataclasses.replace(
        predictor, scenario=scenario.model_copy(update={"quantities": {}, "variants": {}, "compare": []})
    )
    clean = predictor.values(first)
    guess = Guess(
        1.02 * first, tuple(truth), first, False, np.zeros(len(first), dtype=bool),
        (np.full(len(first), -np.inf), np.full(len(first), np.inf)),
    )  # fmt: skip
    rng, held = np.random.default_rng(20), dict.fromkeys(truth, 0)
    for _ in range(COPIES):
        copy = {n: x + noise[n] * rng.normal(size=x.shape) for n, x in clean.items()}
        problem = compared(copy, copy, noise if known else dict.fromkeys(noise), gaps=True)
        found = fitted(problem, flat(predictor), guess, Effort(), True, 0.95, list, False)
        assert found.converged
        for path, (low, high) in found.intervals.items():
            held[path] += low <= truth[path] <= high
    print(f"{name}, noise {'known' if known else 'found'}: {held} of {COPIES}")
    assert all(LEAST <= count <= MOST for count in held.values()), held
