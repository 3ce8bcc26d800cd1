"""Before a capture: a probing run, and what it says of the object that is to be captured."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..captures import Capture, after_capture, capture
from ..errors import CaromError
from ..mechanism import Mechanism
from ..result.result import Result
from ..scenario import model
from ..scenario._build import mechanism_of, simulate, state_of, world_of
from ..scenario._change import changed, merged
from ..scenario.places import ScenarioError, at
from ..signal import Signal
from .measuring._varied import guesses_of
from .measuring.fit_scenario import ScenarioFit, fit_scenario

APPLIED = ("mechanisms", "materials")  # tables whose numbers a probing run and the capture share


@dataclasses.dataclass(frozen=True)
class Identified:
    """A probing run with noise, the fit to it, and the object as it is then believed to be.

    - `truth`: what the file says, by path; `first`: the guesses from which the search began
    - `believed`: the scenario with the estimates; `guessed`: with the guesses
    """

    probe: Result
    found: ScenarioFit
    truth: dict[str, float]
    first: dict[str, float]
    believed: model.Scenario
    guessed: model.Scenario

    def prediction_error(self, scenario: model.Scenario, guessed: bool = False) -> float:
        """Largest difference [m/s, rad/s] of a velocity after the capture, from that with the true object."""
        true, other = (_after(s) for s in (scenario, self.guessed if guessed else self.believed))
        return float(np.max(np.abs(true - other)))

    def record(self) -> dict[str, Any]:
        """By path: estimate with its interval, truth, first guess."""
        fit = self.found.fit
        return {
            path: {
                "estimate": fit.estimate[path],
                "interval": list(fit.intervals[path]),
                "truth": self.truth[path],
                "guess": self.first[path],
            }
            for path in fit.names
        }

    def joined(self) -> Mechanism:
        """Arm and object as one, as controllers take them after a plastic capture."""
        asked = self.believed.identify
        assert asked is not None
        return after_capture(_blow(self.believed if asked.believe == "estimates" else self.guessed)).mechanism


def probe_of(scenario: model.Scenario) -> model.Scenario:
    """The probing run as a scenario: mechanisms, surfaces and gravity of the file, and what the probe says."""
    asked = scenario.identify
    assert asked is not None
    bare: dict[str, Any] = {"control": {}, "quantities": {}, "variants": {}, "contacts": {}, "compare": []}
    bare |= {"capture": None, "identify": None, "study": None, "ground": None, "output": model.Output()}
    with at("identify", "probe", words="the probing run"):
        return merged(scenario.model_copy(update=bare), asked.probe, f"{scenario.name}-probe", "the probing run")


def identified(scenario: model.Scenario, progress: bool | None) -> Identified:
    """Run the probe with the true object, add noise to what is recorded, and find the numbers again."""
    asked = scenario.identify
    assert asked is not None
    probe = probe_of(scenario)
    truth = true_values(probe, asked)
    with at("identify", words="the probing run"):
        result = simulate(probe, progress=progress)
        times = np.linspace(0.0, float(result.t[-1]), asked.samples + 1)[1:]
        rng = np.random.default_rng(asked.seed)
        data, noise = {"t": times}, {}
        for name in asked.signals:
            clean = np.asarray(result.signal(name, times))
            noise[name] = asked.noise * max(float(np.ptp(clean)), FLAT * max(1.0, float(np.max(np.abs(clean)))))
            data[name] = clean + noise[name] * rng.normal(size=clean.shape)
        found = fit_scenario(probe, data, dict(asked.unknown), noise=noise, progress=progress)
    guesses = {path: float(value) for path, value in asked.unknown.items()}
    values = {path: found.fit.estimate[path] for path in asked.unknown}
    lost = [path for path, value in values.items() if not np.isfinite(value)]
    if lost:
        why = " ".join(found.fit.undetermined)
        raise CaromError(
            f"the probing run of '{scenario.name}' does not show {', '.join(lost)}: {why}; probe in another way, or "
            "record more signals"
        )
    return Identified(result, found, truth, guesses, _with(scenario, values), _with(scenario, guesses))


FLAT = 1e-9  # of a signal: the least range that its noise is a share of


def check_identify(scenario: model.Scenario) -> model.Scenario:
    """Refuse unknown numbers and signals that the probing run does not have; that run as a scenario."""
    asked = scenario.identify
    assert asked is not None
    if scenario.capture is None:
        raise ScenarioError("identify stands before a capture, and the file has none; add [capture]", ("identify",))
    probe = probe_of(scenario)
    with at("identify", "probe", words="the probing run"):
        world = world_of(probe)
    for k, text in enumerate(asked.signals):
        with at("identify", "signals", k):
            Signal(text).check(world.mechanism, world.automata)
    true_values(probe, asked)
    with at("identify", "unknown", words="unknown of identify"):
        first = guesses_of(probe, dict(asked.unknown), "unknown")
    try:
        world_of(changed(probe, first))
    except ScenarioError as refusal:
        raise ScenarioError(f"first guesses of identify: {refusal}", ("identify", "unknown")) from None
    return probe


def true_values(probe: model.Scenario, asked: model.Identify) -> dict[str, float]:
    """What the file says of the unknown numbers; every path must lead to one."""
    with at("identify", "unknown", words="unknown of identify"):
        return {path: float(value) for path, value in guesses_of(probe, tuple(asked.unknown), "unknown").items()}


def _with(scenario: model.Scenario, values: dict[str, float]) -> model.Scenario:
    """The scenario with other numbers, of those that it shares with the probing run."""
    return changed(scenario, {p: x for p, x in values.items() if p.partition(".")[0] in APPLIED})


def _blow(scenario: model.Scenario) -> Capture:
    """The capture of a scenario's object."""
    c, both = scenario.capture, mechanism_of(scenario)
    assert c is not None
    found = capture(both, c.hand, c.grip, state_of(scenario, both), c.kind, c.restitution, c.base)
    return found


def _after(scenario: model.Scenario) -> np.ndarray:
    return np.asarray(_blow(scenario).after)
