"""How many digits of a run hold, by its repetition at a tenth of the tolerance."""

import math

import numpy as np
import pytest

import carom
from carom.hybrid import outcome
from carom.result import _chunks
from carom.result.convergence import compared, digits_of, number


def bouncing(until: float = 1.0, throw: bool = True, **options):
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), normal=0.5, radius=0.1, name="floor")
    world = carom.World(ball, contacts=floor, gravity=9.81)
    settings = carom.Settings(**options)
    return carom.simulate(world, world.state(base=(0.0, 1.1)), until=until, settings=settings, throw=throw)


def pendulum(until: float, floor: bool = False, **options):
    """A double pendulum that starts high up, where it amplifies errors; above a floor that throws it back."""
    arm = carom.Arm([carom.Rod(1.0, 1.0), carom.Rod(1.0, 1.0)])
    hard = carom.Contact(arm.tip, carom.Plane(height=-1.2), normal=1.0, name="floor")
    world = carom.World(arm, contacts=hard if floor else (), gravity=9.81)
    return carom.simulate(world, world.state([1.5, 2.5]), until=until, settings=carom.Settings(**options))


@pytest.mark.parametrize(
    ("a", "b", "scale", "digits"),
    [
        (1.0, 1.0, 0.0, 12),
        (0.0, 0.0, 0.0, 12),
        (1.0, 1.0 + 2e-7, 0.0, 6),
        (5.0, -5.0, 0.0, 0),
        (0.0, 1e-9, 0.0, 0),
        (0.0, 1e-9, 1.0, 9),
        (1e-12, 2e-12, 1e-3, 9),
        (1.0, 1.0 + 2.3e-16, 0.0, 12),
    ],
)
def test_digits_that_two_numbers_share(a, b, scale, digits):
    assert digits_of(a, b, scale) == digits_of(b, a, scale) == digits


def test_what_is_no_number_has_no_row():
    assert number("force", "N", math.inf, math.inf) is None and number("e", "-", math.nan, 1.0) is None


def test_a_ball_holds_all_its_digits():
    result = bouncing()
    found = result.converge()
    assert found.rtol == pytest.approx(1e-9) and found.atol == pytest.approx(1e-11) and not found.differs
    rows = {row.name: row for row in found.rows}
    assert {"end", "events", "y", "velocity of y", "work of rigid contacts: blows"} <= set(rows)
    strike = rows["impact 1 (floor): time"]
    assert (strike.unit, strike.value) == ("s", result.impacts[0].t_start) and strike.digits >= 9
    assert "impact 1 (floor): largest force" not in rows  # a blow has none
    # Gravity alone is integrated exactly: nothing but rounding is left.
    assert found.digits >= 9 and found.sentence == f"every number holds to at least {found.digits} digits"
    lines = str(found).splitlines()
    assert lines[0].split()[0] == "number" and lines[-1] == found.sentence
    shown = [int(line.split()[-1]) for line in lines[1:21]]
    assert shown == sorted(shown)


def test_digits_are_those_of_the_answer():
    loose, exact = pendulum(2.0, rtol=1e-6, atol=1e-8), pendulum(2.0, rtol=1e-12, atol=1e-14, solver="dopri8")
    found = loose.converge()
    assert 3 <= found.digits <= 7
    rows = {row.name: row for row in found.rows}
    for k, label in enumerate(loose.world.mechanism.topology.labels):
        true = digits_of(float(loose.q[-1, k]), float(exact.q[-1, k]), 1e-3 * float(np.max(np.abs(loose.q))))
        assert abs(rows[label].digits - true) <= 1


def test_motion_that_amplifies_errors_is_said_to_differ():
    result = pendulum(30.0, floor=True, rtol=1e-6, atol=1e-8)
    found = result.converge()
    assert found.differs.startswith("from impact ")
    assert "amplifies errors (or an event was gained or lost)" in str(found)
    first = int(found.differs.split()[2])
    assert 3 < first <= len(result.impacts) + 1
    assert all(row.digits > 0 for row in found.rows if row.name.startswith("impact 1 "))


def test_a_run_that_was_stopped_is_compared_up_to_there():
    stopped = bouncing(max_steps=9, throw=False)
    assert int(stopped.final.outcome) == outcome.STEP_LIMIT
    found = stopped.converge()
    assert not found.differs and found.digits >= 9 and found.rows[0].value == float(stopped.final.t)


def test_a_run_that_ends_otherwise_is_named():
    result, other = bouncing(), bouncing(max_steps=5, throw=False)
    assert compared(result, other).differs.startswith("the first run: finished; the second: step limit reached")


def test_limits_of_events_and_tolerances_are_kept():
    result = bouncing(max_events=2, rtol=1e-14, atol=1e-14)
    found = result.converge()
    assert found.rtol == found.atol == 1e-14 and {r.digits for r in found.rows} == {12}
    assert next(row for row in found.rows if row.name == "events").other == 2.0


def test_ctrl_c_during_the_repetition_leaves_the_result(monkeypatch):
    result = bouncing()
    at_rest = result.q[-1].copy()

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_chunks.Chunks, "add", stopped)
    with pytest.raises(KeyboardInterrupt):
        result.converge(progress=False)
    np.testing.assert_array_equal(result.q[-1], at_rest)
