"""One word for one thing in all signatures: `start`, `settings`; what `state` takes is spelled out."""

import inspect

import pytest

import carom
from carom.hybrid import settings as settings_module
from carom.study import orbit

FINE = carom.Settings("dopri8", rtol=1e-10)


class Reached(Exception):
    """What was given has arrived."""


@pytest.mark.parametrize(
    "function",
    [
        carom.simulate,
        carom.batch,
        carom.final_state,
        carom.find_orbit,
        carom.bifurcation,
        carom.capture,
        carom.capture_by_pseudo_inverse,
        carom.Scenario.of,
    ],
)
def test_what_a_run_begins_with_is_called_start(function):
    names = inspect.signature(function).parameters
    assert "start" in names and "state" not in names


def test_world_and_mechanism_take_the_same_state():
    of_world, of_mechanism = (inspect.signature(owner.state) for owner in (carom.World, carom.Mechanism))
    assert of_world == of_mechanism
    assert {"base", "base_velocity", "bending", "bending_rates", "relative", "degrees"} <= set(of_world.parameters)


def test_an_unknown_argument_of_state_is_answered_with_the_nearest(unchecked):
    arm = carom.Arm([carom.Rod(1.0, 1.0)])
    for owner in (arm, carom.World(arm)):
        for wrong, near in {"angle": "angles", "degree": "degrees", "base_velocty": "base_velocity"}.items():
            with pytest.raises(carom.CaromError, match=f"no argument of state '{wrong}'; .*did you mean '{near}"):
                owner.state(**{wrong: [0.1]})


def test_settings_of_an_orbit_reach_the_guess_and_the_map(monkeypatch, unchecked):
    seen = []
    monkeypatch.setattr(orbit, "simulate", lambda world, start, *, until, settings: seen.append(settings))

    def map_of(result, automaton, exit, *, settings=None, **more):
        seen.append(settings)
        raise Reached

    monkeypatch.setattr(orbit, "ReturnMap", map_of)
    with pytest.raises(Reached):
        orbit.find_orbit(None, ("hand", "touch"), None, until=1.0, settings=FINE)
    assert seen == [FINE, FINE]


def test_settings_of_a_simulated_blow_reach_its_run(monkeypatch):
    def run(world, start, *, settings, **_):
        raise Reached(settings)

    monkeypatch.setattr("carom.study.free_strike.simulate", run)
    with pytest.raises(Reached) as given:
        carom.simulated_restitution(carom.Hertz(1e6), settings=FINE)
    assert given.value.args == (FINE,)


def test_citations_have_the_solver_of_the_defaults(monkeypatch):
    world = carom.World(carom.Arm([carom.Rod(1.0, 1.0)]))
    before = carom.cite(world)
    assert before == carom.cite(world, solver=carom.Settings().solver)
    monkeypatch.setattr(settings_module, "DEFAULT", FINE)
    assert carom.cite(world) == carom.cite(world, solver="dopri8") != before
