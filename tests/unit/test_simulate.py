"""One run from outside: what it refuses, how it ends, what it keeps, and that its ledger closes."""

import dataclasses
import json
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import beta

import carom
from carom.contact import AbstractNormalLaw
from carom.control import AtHeight, OnStrike
from carom.simulate import read_chunk

G = 9.81
STIFFNESS = 1e7  # [N/m^1.5]
SPEED = 2.0  # [m/s]


def ball() -> carom.Mechanism:
    return carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())


def drop(law: Any, height: float = 0.01, speed: float = SPEED, gravity: float = 0.0, **more: Any) -> Any:
    """A ball that hits the floor with a given speed; without gravity the closed forms are exact."""
    body = ball()
    floor = carom.Contact(body.site("link1.tip"), carom.Plane(height=0.0), law, radius=0.1, name="floor")
    world = carom.World(body, contacts=floor, gravity=gravity)
    start = world.state(rates=more.pop("rates", None), base=(0.0, 0.1 + height), base_velocity=(0.0, -speed))
    fields = [field.name for field in dataclasses.fields(carom.Settings) if field.name in more]
    settings = carom.Settings(**{field: more.pop(field) for field in fields})
    return carom.simulate(world, start, settings=settings, **{"until": 0.02, **more})


def pendulum(**more: Any) -> carom.World:
    arm = carom.Arm([carom.Link(carom.Rod(1.0, 1.0), joint=carom.Joint(**more)) if more else carom.Rod(1.0, 1.0)])
    return carom.World(arm)


# -- refusals, before anything is compiled -----------------------------------------------------------------------------


@pytest.fixture
def nothing_compiles(monkeypatch: pytest.MonkeyPatch, unchecked: None) -> None:
    """The loop is what takes seconds to compile; the opening look at contacts and guards is a small program."""
    module = sys.modules["carom.simulate"]  # carom.simulate is the function
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


# -- outcomes ----------------------------------------------------------------------------------------------------------


def test_the_step_limit_is_raised_with_the_state_and_kept_in_the_result() -> None:
    with pytest.raises(carom.SimulationError, match=r"step limit reached.*at t = \S+ s, q = \[.*\], v = \[") as info:
        drop(carom.Hertz(STIFFNESS), max_steps=20)
    result = info.value.result
    assert not result.finished
    assert result.statistics.steps == 20
    assert 0.0 < result.t[-1] < 0.02


def test_throw_false_returns_instead() -> None:
    result = drop(carom.Hertz(STIFFNESS), max_steps=20, throw=False)
    assert result.outcome.startswith("step limit reached; raise max_steps")
    assert "step limit" in repr(result)


def test_a_force_that_is_not_finite_ends_the_run() -> None:
    """A law that is undefined beyond some depth: the steps shrink towards it, then the outcome says so."""

    class Brittle(AbstractNormalLaw):
        def force(self, phase, memory, d, rate):
            return jnp.where(d > 1e-4, jnp.nan, 1e4 * d)

    result = drop(Brittle(), throw=False, max_steps=5000)
    assert "not finite" in result.outcome
    assert np.all(np.isfinite(result.q))
    assert abs(result.q[-1][1] - (0.1 - 1e-4)) < 1e-12


# -- what a result holds -----------------------------------------------------------------------------------------------


def test_values_between_steps_are_as_exact_as_the_steps() -> None:
    """Free fall and one Hertz impact: before the touch a parabola, in closed form."""
    result = drop(carom.Hertz(STIFFNESS), gravity=G, until=0.004)
    t = np.linspace(0.0, 0.004, 1001)
    states = result.at(t)
    assert np.max(np.abs(states.q[:, 1] - (0.11 - SPEED * t - 0.5 * G * t * t))) < 1e-14
    assert np.max(np.abs(states.v[:, 1] + SPEED + G * t)) < 1e-13


def test_values_between_steps_follow_a_pendulum() -> None:
    """Small swings at a tight tolerance against the same run at a tighter one."""
    world = pendulum()
    coarse, fine = (
        carom.simulate(world, world.state(angles=[0.3]), until=5.0, settings=carom.Settings(rtol=r, atol=r))
        for r in (1e-8, 1e-12)
    )
    t = np.linspace(0.0, 5.0, 777)
    assert np.max(np.abs(coarse.at(t).q - fine.at(t).q)) < 2e-7
    assert np.max(np.abs(np.interp(t, coarse.t, coarse.q[:, 0]) - fine.at(t).q[:, 0])) > 1e-4  # a chord is not enough
    with pytest.raises(carom.CaromError, match="the result covers 0 to 5 s"):
        coarse.at([5.1])


def test_at_an_event_the_state_is_the_one_after_it() -> None:
    result = drop(carom.Hertz(STIFFNESS))
    touch = result.events[0].t
    assert result.at([touch]).phases[0][0] == 1
    assert result.at([np.nextafter(touch, 0.0)]).phases[0][0] == 0


def test_at_an_event_at_the_horizon_the_state_is_the_one_after_it() -> None:
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), normal=0.5, radius=0.1, name="floor")
    world = carom.World(ball, contacts=floor, gravity=0.0)
    # Half a metre at 1 m/s: every number is exact in binary, so the blow is at the horizon itself.
    result = carom.simulate(world, world.state(base=(0.0, 0.6), base_velocity=(0.0, -1.0)), until=0.5)
    assert [e.t for e in result.events] == [pytest.approx(0.5, abs=1e-12)] and result.v[-1, 1] == 0.5
    sides = result.at([np.nextafter(0.5, 0.0), 0.5])
    np.testing.assert_allclose(sides.v[:, 1], [-1.0, 0.5], rtol=1e-12)
    np.testing.assert_array_equal(result.at(0.5).q[0], result.q[-1])


def test_statistics_add_up() -> None:
    result = drop(carom.Hertz(STIFFNESS))
    s = result.statistics
    assert s.events == len(result.events) == 2
    # Every attempt is a kept step, a rejected one, or the look around that follows the start and every event.
    assert s.steps == len(result.steps.t) + s.rejected + 1 + s.events
    assert s.run_seconds > 0.0
    assert np.allclose(np.diff(result.t), result.steps.span, rtol=0.0, atol=1e-13)


# -- compliant impacts against the integral of their own law -----------------------------------------------------------


def test_hertz_contact_time_and_rebound() -> None:
    """m d'' = -K d^1.5: d_m = (5 m v^2 / (4 K))^(2/5), duration 2 d_m / v times B(2/5, 1/2) / (5/2)."""
    result = drop(carom.Hertz(STIFFNESS))
    (impact,) = result.impacts
    deepest = (1.25 * SPEED**2 / STIFFNESS) ** 0.4
    duration = 2.0 * deepest / SPEED * beta(0.4, 0.5) / 2.5
    assert abs(impact.duration / duration - 1.0) < 1e-8
    assert abs(impact.max_indentation / deepest - 1.0) < 1e-6  # the vertex of a parabola through samples
    assert abs(impact.max_normal_force / (STIFFNESS * deepest**1.5) - 1.0) < 1e-6
    assert abs(impact.restitution - 1.0) < 1e-8
    assert abs(impact.normal_impulse - 2.0 * SPEED) < 1e-6 * SPEED


@pytest.mark.parametrize("restitution", [0.9, 0.5])
def test_hunt_crossley_rebound_and_duration(restitution: float) -> None:
    """With F = K d^1.5 (1 + f d'/v0): u du/(1 + f u/v0) = -K/m d^1.5 dd, so the rebound solves an equation without K.

    The closed form holds while the force pushes, f u/v0 > -1, as it does for these.
    """
    result = drop(carom.HuntCrossley(STIFFNESS, restitution))
    (impact,) = result.impacts
    f = 1.5 * (1.0 - restitution)

    def energy(x: float) -> float:  # integral of x / (1 + f x)
        return x / f - np.log1p(f * x) / f**2

    rebound = brentq(lambda e: energy(1.0) - energy(-e), 1e-6, 1.0)
    assert abs(impact.restitution - rebound) < 1e-7  # ten times rtol: d^1.5 is not smooth where the contact begins

    def depth(x: float) -> float:
        return (2.5 * SPEED**2 / STIFFNESS * (energy(1.0) - energy(x))) ** 0.4

    # dt = du / u' with u' = -K d^1.5 (1 + f u/v0); the ends are singular like y^-0.6, which u = end +- y^2.5 removes.
    def half(end: float, way: float) -> float:
        def integrand(y: float) -> float:
            x = end + way * y**2.5
            return SPEED * 2.5 * y**1.5 / (STIFFNESS * depth(x) ** 1.5 * (1.0 + f * x))

        return quad(integrand, 0.0, abs(end) ** 0.4, epsabs=1e-13, epsrel=1e-9)[0]

    assert abs(impact.duration / (half(1.0, -1.0) + half(-rebound, 1.0)) - 1.0) < 1e-6


def test_a_ball_put_down_at_the_surface_is_held_by_it() -> None:
    """A gap of zero at the start is no event, so the contact has to begin closed, or the ball would fall through."""
    for gap in (0.0, 1e-13):
        moving = drop(carom.Hertz(STIFFNESS), height=gap, until=0.01)
        assert moving.v[-1][1] == pytest.approx(SPEED, rel=1e-7)
        resting = drop(carom.Hertz(STIFFNESS), height=gap, speed=0.0, gravity=G, until=0.01)
        assert np.min(resting.q[:, 1]) > 0.1 - 2.0 * (1.25 * 2 * G / STIFFNESS) ** (2 / 3)
    leaving = drop(carom.Hertz(STIFFNESS), height=0.0, speed=-1.0, gravity=G, until=0.25)
    assert [e.exit for e in leaving.events] == ["touch", "release"]
    assert abs(leaving.events[0].t - 2.0 / G) < 1e-12


# -- the ledger --------------------------------------------------------------------------------------------------------


def arm_with_everything() -> carom.World:
    """Two links with springs and dampers, a sampled controller with torque limits, a floor with friction."""
    rod = carom.Rod(0.5, 1.0)
    joint = carom.Joint(stiffness=3.0, damping=0.2)
    arm = carom.Arm([carom.Link(rod, joint=joint), carom.Link(rod, joint=joint)])
    control = carom.PostureControl(arm, [[-1.4, -1.4]], [20.0, 10.0], [1.0, 0.5], rate=200.0, limit=[6.0, 3.0])
    law = carom.HuntCrossley(1e7, 0.6)
    floor = carom.Contact(arm.tip, carom.Plane(height=-0.8), law, carom.SmoothCoulomb(0.3, 0.1), name="floor")
    return carom.World(arm, contacts=floor, control=control)


def test_the_ledger_closes_and_shrinks_with_the_tolerance() -> None:
    world = arm_with_everything()
    left = {}
    for rtol in (1e-6, 1e-8, 1e-10):
        result = carom.simulate(
            world, world.state(angles=[0.3, 0.0]), until=0.5, settings=carom.Settings(rtol=rtol, atol=1e-2 * rtol)
        )
        ledger = result.energy
        assert np.allclose(ledger.total[0] + sum(w[-1] for w in ledger.works.values()), ledger.total[-1], atol=1e-4)
        left[rtol] = ledger.max_error_percent
    assert len(result.impacts) >= 1
    works = {name: w[-1] for name, w in ledger.works.items()}
    assert works["floor: normal force"] < -0.01
    assert works["floor: friction"] < -0.01
    assert works["joint dampers"] < -0.01
    assert abs(works["control: actuators"]) > 0.1
    torques = np.array([[e.memory["torque 1"], e.memory["torque 2"]] for e in result.events if e.exit == "sample"])
    assert np.max(np.abs(torques[:, 0])) == 6.0  # the limit is reached, and kept
    assert np.max(np.abs(torques[:, 1])) <= 3.0
    assert left[1e-8] < 1e-6
    assert left[1e-8] < 0.1 * left[1e-6]
    assert left[1e-10] < 0.1 * left[1e-8]


LAWS = {"hertz": carom.Hertz(STIFFNESS), "hunt-crossley": carom.HuntCrossley(STIFFNESS, 0.8)}


# Measured: 1.4e-6 and 1.1e-6 %. With the works in the error norm 3.7e-7 and 2.1e-7, for a tenth to a third more steps.
@pytest.mark.parametrize(
    ("law", "solver"),
    [
        ("hertz", "tsit5"),
        ("hunt-crossley", "tsit5"),
        ("hunt-crossley", "dopri8"),
    ],
)
def test_the_ledger_of_a_bouncing_ball_closes_at_the_default_tolerance(law: str, solver: str) -> None:
    result = drop(LAWS[law], gravity=G, until=1.0, solver=solver)
    assert len(result.impacts) >= 3
    assert result.energy.max_error_percent < 1e-6


def test_the_ledger_of_a_bouncing_ball_shrinks_with_the_tolerance() -> None:
    left = [
        drop(LAWS["hunt-crossley"], gravity=G, until=1.0, rtol=r, atol=1e-2 * r).energy.max_error_percent
        for r in (1e-6, 1e-8, 1e-10)
    ]
    assert left[1] < 0.02 * left[0]
    assert left[2] < 0.02 * left[1]


def test_without_a_ledger_nothing_is_invented() -> None:
    result = drop(carom.Hertz(STIFFNESS), ledger=False)
    with pytest.raises(carom.CaromError, match="ledger=False"):
        _ = result.energy


# -- streaming ---------------------------------------------------------------------------------------------------------


def test_a_streamed_run_is_the_same_run(tmp_path: Path) -> None:
    world = pendulum()
    plain = carom.simulate(world, world.state(angles=[0.3]), until=200.0)
    streamed = carom.simulate(world, world.state(angles=[0.3]), until=200.0, stream=tmp_path)
    assert len(list(tmp_path.glob("chunk-*.npz"))) >= 3
    assert "_rows" not in vars(streamed)  # nothing is in memory before it is asked for
    assert np.array_equal(plain.q, streamed.q)
    assert np.array_equal(plain.t, streamed.t)
    columns = json.loads((tmp_path / "columns.json").read_text())
    steps, events = read_chunk(tmp_path / "chunk-000001.npz")
    assert columns["steps"][:4] == [".t", ".span", ".y.q[0]", ".y.v[0]"]
    assert steps.shape[1] == len(columns["steps"])
    assert events.shape[1] == len(columns["events"])


LONG = """
    import pathlib, signal, sys
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell would ignore it
    import numpy as np
    import carom
    def peak():  # [kB]; getrusage would begin with the peak of the process that started this one
        status = pathlib.Path("/proc/self/status")
        return int(status.read_text().split("VmHWM:")[1].split()[0]) if status.exists() else 0
    arm = carom.Arm([carom.Rod(1.0, 1.0)])
    world = carom.World(arm)
    start = world.state([0.3])
    short = carom.simulate(world, start, until=50.0, stream=sys.argv[1] + "/short")  # compiled, all buffers made
    before = peak()
    print("running", flush=True)
    result = carom.simulate(world, start, until=float(sys.argv[2]), stream=sys.argv[1] + "/long", progress=False)
    after = peak()
    print(result.outcome)
    print(result.statistics.steps, after - before)
    print(float(result.final.t), result.t[-1], bool(np.all(np.diff(result.t) > 0)), len(result.t))
"""


def long_run(folder: Path, until: float) -> subprocess.Popen:
    code = textwrap.dedent(LONG)
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder), str(until)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    return process


def wait_for_chunks(folder: Path, count: int) -> None:
    for _ in range(600):
        if len(list((folder / "long").glob("chunk-*.npz"))) >= count:
            return
        time.sleep(0.05)
    raise AssertionError("no chunks were written")


def test_a_killed_run_leaves_its_chunks_readable(tmp_path: Path) -> None:
    process = long_run(tmp_path, 1e7)
    wait_for_chunks(tmp_path, 5)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    pieces = [read_chunk(p)[0] for p in sorted((tmp_path / "long").glob("chunk-*.npz"))]
    steps = np.concatenate(pieces)
    t, span = steps[:, 0], steps[:, 1]
    assert len(steps) == 1024 * len(pieces)
    assert np.allclose(t[1:], t[:-1] + span[:-1], rtol=1e-14, atol=0.0)  # not a step is missing


def test_ctrl_c_returns_what_there_is(tmp_path: Path) -> None:
    process = long_run(tmp_path, 1e7)
    wait_for_chunks(tmp_path, 5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "stopped at t = " in err
    lines = out.splitlines()
    assert lines[0] == "stopped before the end; what was computed so far is kept"
    final, last, increasing, count = lines[2].split()
    assert final == last
    assert increasing == "True"
    assert int(count) > 5 * 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory from Linux's /proc")
def test_streaming_does_not_grow(tmp_path: Path) -> None:
    """Thirty megabytes go to disk; the memory of the process stays (read back they are fifty)."""
    process = long_run(tmp_path, 20000.0)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    outcome, cost, _ = out.splitlines()
    steps, grown = (int(x) for x in cost.split())
    written = sum(p.stat().st_size for p in (tmp_path / "long").glob("chunk-*.npz"))
    assert outcome == "finished"
    assert steps > 500_000
    assert grown * 1024 < 0.3 * written, (grown, written)


def test_a_schedule_switches_on_the_blow_of_a_rigid_contact():
    """A rigid contact that rebounds is open before and after its blow; the schedule must not miss it."""
    arm = carom.Arm([carom.Rod(length=1.0, mass=1.0)])
    floor = carom.Contact(arm.tip, carom.Plane(height=-0.5), 0.5, name="floor")
    hammer = carom.PostureControl(
        arm,
        targets=[[-1.0], [1.0]],
        kp=[50.0],
        kd=[10.0],
        schedule=[OnStrike(floor), AtHeight(arm.tip, 0.5)],
        compensate_weight=True,
    )
    world = carom.World(arm, contacts=floor, control=hammer)
    result = carom.simulate(world, world.state(), until=3.0)
    blows = [e.t for e in result.events if e.exit == "strike floor"]
    turns = [e.t for e in result.events if e.exit == "end of posture 1"]
    assert len(blows) >= 2
    assert turns == blows


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


def test_a_run_without_a_step_has_its_start() -> None:
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    world = carom.World(ball)
    run = carom.simulate(
        world, world.state(base=(0.0, 0.2)), until=0.1, throw=False, settings=carom.Settings(max_steps=1)
    )
    assert len(run.steps.t) == 0 and run.at([]).q.shape == (0, 3)
    np.testing.assert_array_equal(run.at(0.0).q, [[0.0, 0.2, 0.0]])
