"""What a run refuses, nearly all of it before anything is compiled; limits that it takes."""

import sys
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import carom

from .dropped_ball import STIFFNESS, drop, pendulum

# -- refusals, before anything is compiled -----------------------------------------------------------------------------


@pytest.fixture
def nothing_compiles(monkeypatch: pytest.MonkeyPatch, unchecked: None) -> None:
    """The loop is what takes seconds to compile; the opening look at contacts and guards is a small program."""
    module = sys.modules["carom._simulation"]  # carom.simulate is the function
    compile_ = module.executable

    def refuse_loop(function: Any, *args: Any) -> Any:
        assert function is not module.chunk, "compiled before the input was looked at"
        return compile_(function, *args)

    monkeypatch.setattr(module, "executable", refuse_loop)


@pytest.mark.usefixtures("nothing_compiles")
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"height": -1e-6},
            r"contact 'floor' starts 1e-06 m inside its surface; a run starts outside; move one of them",
        ),
        ({"until": -1.0}, r"until of run is -1; it must be greater than 0"),
        ({"until": 0.0}, r"until of run is 0; it must be greater than 0"),
        ({"until": np.nan}, r"until of run is nan; it must be a finite number"),
        ({"rtol": 1e-15}, r"rtol of Settings is 1e-15; float64 carries 16 digits; it must be at least 1e-14"),
        ({"rtol": 0.0}, r"rtol of Settings is 0; it must be greater than 0"),
        ({"atol": -1e-9}, r"atol of Settings is -1e-09; it must be greater than 0"),
        ({"rates": [0.0, 0.0]}, r"has shape \(2,\); it must be 1 number, shape \(1,\)"),
        ({"rates": [np.inf]}, r"is \[inf\]; every entry must be a finite number"),
        ({"solver": "tsit"}, r"there is no solver 'tsit'; known: 'tsit5'.*did you mean 'tsit5'\?"),
    ],
)
def test_bad_input_is_answered_by_a_sentence(change: dict, sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        drop(carom.Hertz(STIFFNESS), **change)


@pytest.mark.usefixtures("nothing_compiles")
def test_states_of_the_wrong_length_are_refused() -> None:
    world = pendulum()
    with pytest.raises(carom.CaromError, match=r"angles of state has shape \(2,\); it must be 1 number"):
        carom.simulate(world, world.state(angles=[0.0, 0.0]), until=1.0)
    with pytest.raises(carom.CaromError, match=r"base of state has shape \(2,\); it must be 0 numbers"):
        carom.simulate(world, world.state(base=(0.0, 0.0)), until=1.0)


@pytest.mark.usefixtures("nothing_compiles")
def test_a_guard_that_is_nan_is_named() -> None:
    class Lost(carom.control.AbstractSwitch):
        def guard(self, scene):
            return scene.t + jnp.nan

    arm = carom.Arm([carom.Rod(1.0, 1.0)])
    control = carom.PostureControl(arm, [[0.0]], [1.0], [1.0], schedule=[Lost()])
    with pytest.raises(carom.CaromError, match="guard 'end of posture 1' of 'control' is nan at the start"):
        world = carom.World(arm, control=control)
        carom.simulate(world, world.state(), until=1.0)


@pytest.mark.usefixtures("nothing_compiles")
def test_a_folder_that_holds_a_run_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "chunk-000001.npz").touch()
    with pytest.raises(carom.CaromError, match="already holds a run; choose another, or empty it"):
        drop(carom.Hertz(STIFFNESS), stream=tmp_path)


# -- limits ------------------------------------------------------------------------------------------------------------


def test_limits_may_be_infinite_and_must_be_counts(unchecked) -> None:
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    world, endless = carom.World(ball), carom.Settings(max_steps=float("inf"), max_events=np.inf)
    assert carom.simulate(world, world.state(), until=0.1, settings=endless).finished
    with pytest.raises(carom.CaromError, match="max_events of Settings is 0; it must be at least 1"):
        carom.Settings(max_events=0)
    with pytest.raises(carom.CaromError, match="max_steps of Settings is nan; it must be a finite number"):
        carom.Settings(max_steps=np.nan)
    with pytest.raises(carom.CaromError, match=r"simulate got a Mechanism; it must be a carom\.World"):
        carom.simulate(ball, ball.state(), until=0.1)  # type: ignore[arg-type]
