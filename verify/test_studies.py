"""Studies that take minutes: a valve, chaos against a map made by hand, thousands of arms, four writing processes."""

import subprocess
import sys

import numpy as np
import pytest
from benchmarks.bifurcation import KEEP, KNOWN, diagram
from examples.impact_oscillator import DAMPING, oscillator
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq
from verify.test_sweep_cluster import COMMAND, PATIENCE

import carom


def test_turns_of_a_relief_valve_after_a_thousand_returns():
    """C. Hos and A. R. Champneys, Physica D 2012, 241, 2068-2076; 1,024 returns discarded, 32 kept, to nine digits."""
    highest, lowest, ends = diagram(np.array(list(KNOWN)))
    assert np.all(ends.returns["count"] == 2 * (1024 + KEEP))
    for flow, tops, low in zip(KNOWN, highest, lowest, strict=True):
        count = len(KNOWN[flow])
        for k in range(0, KEEP, count):
            np.testing.assert_allclose(np.sort(tops[k : k + count]), KNOWN[flow], rtol=1e-9)
        if flow < 6.0:
            np.testing.assert_allclose(low, 0.0, atol=1e-9)  # it strikes its seat in every turn
        else:  # it strikes in every second one, and turns just above the seat in between
            strikes, misses = np.sort(low)[: KEEP // 2], np.sort(low)[KEEP // 2 :]
            np.testing.assert_allclose(strikes, 0.0, atol=1e-9)
            np.testing.assert_allclose(misses, turned_above_the_seat(flow), rtol=1e-9)


def turned_above_the_seat(flow):
    """Where the disk turns without a blow, by SciPy's integration of the equations as they are printed."""

    def rates(t, y):
        return y[1], -1.25 * y[1] - (y[0] + 10.0) + y[2], 20.0 * (flow - y[0] * np.sqrt(y[2]))

    def strikes(t, y):
        return y[0]

    def turns(t, y):
        return y[1]

    strikes.terminal, strikes.direction = True, -1
    turns.terminal, turns.direction = False, 1
    t, y, found = 0.0, np.array([0.2, 0.0, 0.0]), []
    while t < 400.0:
        run = solve_ivp(rates, (t, 400.0), y, "DOP853", events=(strikes, turns), rtol=1e-12, atol=1e-13)
        t, y = run.t[-1], run.y[:, -1] * [0.0, -0.8, 1.0]
        found += [state[0] for state in run.y_events[1] if state[0] > 1e-6]
    return found[-1]


FREQUENCY, AMPLITUDE, RESTITUTION = 0.6, 4.0, 0.7
PERIOD = 2 * np.pi / FREQUENCY
OWN = np.sqrt(1.0 - DAMPING**2)
FLIGHT = np.array([[0.0, 1.0], [-1.0, -2 * DAMPING]])


def flown(t, x, v):
    """Place and speed after a flight from (t, x, v), in closed form: what is forced, and what dies out."""
    response = AMPLITUDE / (1.0 - FREQUENCY**2 + 2j * DAMPING * FREQUENCY)

    def forced(s):
        turning = response * np.exp(1j * FREQUENCY * s)
        return turning.real, (1j * FREQUENCY * turning).real

    a, b = x - forced(t)[0], v - forced(t)[1]
    b = (b + DAMPING * a) / OWN

    def at(s):
        fade, c, d = np.exp(-DAMPING * (s - t)), np.cos(OWN * (s - t)), np.sin(OWN * (s - t))
        free = fade * (a * c + b * d)
        return free + forced(s)[0], fade * (OWN * (b * c - a * d)) - DAMPING * free + forced(s)[1]

    return at


def passing(at, t):
    """Instants between which a stop is passed for the first time after `t`."""
    low = t
    while True:
        times = low + np.linspace(1e-9, 2.0, 2_001)
        beyond = np.flatnonzero(np.abs(at(times)[0]) > 1.0)
        if len(beyond):
            return times[beyond[0] - 1] if beyond[0] else low, times[beyond[0]]
        low = times[-1]


def exponent_by_hand(place, periods):
    """The largest exponent from flights in closed form and the matrices of flights and blows."""
    t, x, v, until = 0.0, place, 0.1, periods * PERIOD
    direction, grown, counted = np.array([0.6, 0.8]), 0.0, 0.0
    while t < until:
        at = flown(t, x, v)
        low, high = passing(at, t)
        hit = brentq(lambda s, at=at: np.abs(at(s)[0]) - 1.0, low, high, xtol=1e-13) if low > t else t
        place, before = at(hit)
        after = -RESTITUTION * before
        pull = AMPLITUDE * np.cos(FREQUENCY * hit) - place
        pulls = [pull - 2 * DAMPING * speed for speed in (before, after)]
        blow = np.array([[-RESTITUTION, 0.0], [(pulls[1] + RESTITUTION * pulls[0]) / before, -RESTITUTION]])
        direction = blow @ expm(FLIGHT * (hit - t)) @ direction
        size = np.linalg.norm(direction)
        direction /= size
        if hit > 50 * PERIOD:
            grown, counted = grown + np.log(size), counted + hit - t
        t, x, v = hit, np.sign(place), after
    return grown / counted


def test_chaos_between_two_stops():
    """The means of four starts, one beside the other: 1,500 periods of each tell an exponent to some 3 %."""
    world = oscillator(FREQUENCY, AMPLITUDE, RESTITUTION)
    largest, places = [], (0.2, 0.1, -0.3, 0.5)
    for place in places:
        start = world.state(slides=[place], slide_rates=[0.1])
        found = carom.lyapunov(world, start, until=1500 * PERIOD, every=PERIOD, discard=50 * PERIOD)
        largest.append(found.exponents[0])
        assert found.exponents[0] > 0.05 and abs(found.exponents[1]) < 1e-3 and 2.0 < found.dimension < 2.5
    by_hand = [exponent_by_hand(place, 1500) for place in places]
    assert np.mean(largest) == pytest.approx(np.mean(by_hand), rel=0.05)


def test_a_latin_hypercube_of_4096_arms(tmp_path):
    arm = carom.Scenario.load("arm-repeated-impact").with_({"run.until": 1.0})
    ranges = {"contacts.tip.friction.mu": (0.0, 0.5), "start.angles.0": (40.0, 80.0), "start.angles.1": (30.0, 60.0)}
    names = ["impact.1.restitution", "impact.1.max_normal_force", "impacts.count"]
    given = {"sample": 4096, "method": "latin-hypercube", "seed": 7, "progress": False}
    data = carom.sweep(arm, ranges, names, store=tmp_path / "arms.zarr", **given)
    assert data.sizes == {"point": 4096} and np.all(data["outcome"] == 1)
    for path, (low, high) in ranges.items():  # one in each of 4,096 equal parts
        assert len(np.unique(np.floor(4096 * (data[path].values - low) / (high - low)))) == 4096
    for point in (0, 1234, 4095):
        one = data.isel(point=point)
        alone = arm.with_({path: float(one[path]) for path in ranges}).simulate(progress=False)
        assert float(one["impacts.count"]) == len(alone.impacts)
        known = alone.impacts[0].restitution, alone.impacts[0].max_normal_force
        np.testing.assert_allclose([float(one[name]) for name in names[:2]], known, rtol=1e-9)


PLAIN = """
import sys
sys.modules["carom"] = None  # not to be had
import numpy as np, xarray
data = xarray.open_zarr(sys.argv[1], consolidated=False)
assert dict(data.sizes) == {"start.base.1": 40, "contacts.floor.normal.restitution": 20, "impact": 3}, data.sizes
fall = np.sqrt(2 * (data["start.base.1"] - 0.1) / 9.8)
first = data["impact.t_start"].sel(impact=1)
assert float(abs(first - fall).max()) < 1e-9 and data["impact.t_start"].attrs["units"] == "s"
"""


def test_what_four_processes_wrote_plain_xarray_reads(tmp_path):
    place = tmp_path / "study.zarr"
    subprocess.run([*COMMAND, str(place), "--cluster", "local:4"], check=True, timeout=PATIENCE)
    subprocess.run([sys.executable, "-c", PLAIN, str(place)], check=True, timeout=PATIENCE, cwd=tmp_path)
