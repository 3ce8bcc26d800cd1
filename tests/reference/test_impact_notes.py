"""Impact laws for any constraints (Johnson 2024, lecture notes): examples, practice problems; and textbook blows.

Expected numbers are computed here, in NumPy and SciPy: closed forms, own KKT systems, own event-driven simulations.
"""

import warnings
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

import carom
from carom.contact import blow, impact_blocks

G = 9.81


# -- the notes ---------------------------------------------------------------------------------------------------------


def kkt(mass: Any, rows: Any, v: Any, e: float) -> Any:
    """Velocity and impulses on the robot, all contacts held: the notes' block system with the other sign of P."""
    n, m = len(v), len(rows)
    whole = np.block([[mass, -rows.T], [rows, np.zeros((m, m))]])
    solved = np.linalg.solve(whole, np.concatenate([mass @ v, -e * (rows @ v)]))
    return solved[:n], solved[n:]


def arm_matrices(q: Any) -> Any:
    """Two uniform rods, 1 m, 2 kg and 0.8 m, 1.5 kg; absolute angles. Mass matrix, gradient of the tip's height."""
    (l1, l2), (m1, m2) = (1.0, 0.8), (2.0, 1.5)
    cross = m2 * l1 * l2 / 2 * np.cos(q[0] - q[1])
    mass = np.array([[m1 * l1**2 / 3 + m2 * l1**2, cross], [cross, m2 * l2**2 / 3]])
    return mass, np.array([[l1 * np.cos(q[0]), l2 * np.cos(q[1])]])


def test_problem_1_the_tip_of_an_arm_hits_the_ground():
    """By the engine, by `blow`, by the blocks, and by a KKT system and a closed form of its own."""
    arm = carom.Arm([carom.Rod(length=1.0, mass=2.0), carom.Rod(length=0.8, mass=1.5)])
    ground = carom.Contact(arm.tip, carom.Plane(height=-1.2), carom.Plastic(), name="ground")
    world = carom.World(arm, contacts=ground, gravity=G)
    run = carom.simulate(world, world.state(angles=[0.2, -0.5]), until=2.0, settings=carom.Settings(max_events=1))
    event = run.events[0]
    assert np.sin(event.q) @ [1.0, 0.8] == pytest.approx(-1.2, abs=1e-11)
    mass, rows = arm_matrices(event.q)
    before = rows @ event.v
    assert before[0] < -1.0
    v, p = kkt(mass, rows, event.v, 0.0)
    seen = rows @ np.linalg.solve(mass, rows.T)
    np.testing.assert_allclose(p, -before / seen[0], rtol=1e-12)
    np.testing.assert_allclose(event.v_after, v, atol=1e-11)
    assert event.memory["last impulse ground"] == pytest.approx(p[0], rel=1e-11)
    by_blow = blow(mass, rows, event.v)
    np.testing.assert_allclose(by_blow.velocity, v, atol=1e-12)
    np.testing.assert_allclose(by_blow.impulses, p, rtol=1e-12)
    blocks = impact_blocks(mass, rows)
    np.testing.assert_allclose(event.v - blocks.rows.T @ before, v, atol=1e-12)
    np.testing.assert_allclose(blocks.contact @ before, p, rtol=1e-12)  # the notes' P is minus this
    lost = -float((before / seen[0] * before / 2)[0])
    assert float(by_blow.energy_change) == pytest.approx(lost, rel=1e-12)
    assert float(np.asarray(run.final.y.work[0])) == pytest.approx(lost, rel=1e-10)
    assert event.phase_after == "closed: ground"


def test_problem_2_a_point_mass_in_a_corner():
    """It moves along y >= 0 and strikes 3 - x - y >= 0: it stops, P = m x'- (1, 1). Engine: test_bouncing_ball."""
    rows = np.array([[0.0, 1.0], [-1.0, -1.0]])
    found = blow(5.0 * np.eye(2), rows, [2.0, 0.0])
    np.testing.assert_allclose(found.velocity, 0.0, atol=1e-14)
    np.testing.assert_allclose(found.impulses, [10.0, 10.0], rtol=1e-13)
    # Without the contact that does not approach, it would be pushed through the floor.
    through = blow(5.0 * np.eye(2), rows[1:], [2.0, 0.0])
    np.testing.assert_allclose(through.velocity, [1.0, -1.0], atol=1e-14)


@pytest.fixture(scope="module")
def bounce() -> Any:
    """A ball of 2 kg above a plane of any slope with any restitution, one compilation for all."""
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=2.0)], base=carom.Free())

    def run(slope: float, e: float, height: float, **more: Any) -> Any:
        plane = carom.Plane(point=(0.0, 0.0), slope=slope)
        floor = carom.Contact(ball.tip, plane, e, radius=0.1, name="floor")
        world = carom.World(ball, contacts=floor, gravity=more.pop("g", 9.8))
        # The lowest point that touches is straight below only on a level floor.
        start = world.state(base=(0.0, height + 0.1 / np.cos(slope)))
        return carom.simulate(world, start, until=10.0, settings=carom.Settings(**more))

    return run


def test_example_a_ball_dropped_from_one_metre(bounce):
    run = bounce(0.0, 0.5, 1.0, max_events=1)
    assert run.events[0].t == pytest.approx(np.sqrt(2 / 9.8), abs=1e-12)
    assert round(run.events[0].t, 5) == 0.45175


@pytest.mark.parametrize("e", (0.0, 0.6, 1.0))
def test_problem_3_a_ball_on_a_slope(bounce, e):
    angle, height = 0.4, 0.7
    event = bounce(-angle, e, height, max_events=1).events[0]
    s, c, z = np.sin(angle), np.cos(angle), -np.sqrt(2 * 9.8 * height)
    assert event.v[1] == pytest.approx(z, rel=1e-11)
    np.testing.assert_allclose(event.v_after, [-(1 + e) * s * c * z, (s**2 - e * c**2) * z, 0.0], atol=1e-10)
    assert event.memory["last impulse floor"] == pytest.approx((1 + e) * 2.0 * c * abs(z), rel=1e-10)
    by_blow = blow(2.0 * np.eye(2), [[s, c]], [0.0, z], e)
    np.testing.assert_allclose(by_blow.velocity, event.v_after[:2], atol=1e-10)


@pytest.mark.parametrize("e", (1.0, 0.8))
def test_problem_4_energy_is_kept_or_falls(bounce, e):
    """Elastic: nothing is lost in any bounce. Else each bounce takes (1 - e^2) of the energy of the normal motion."""
    run = bounce(0.0, e, 1.0, max_events=8)
    blows = np.array([event.v_after @ event.v_after - event.v @ event.v for event in run.events])
    falls = 2 * 9.8 * e ** (2 * np.arange(8))
    np.testing.assert_allclose(blows, -(1 - e**2) * falls, rtol=1e-9, atol=1e-9)
    assert run.energy.max_error_percent < 1e-8


# -- two ends at one instant -------------------------------------------------------------------------------------------


def plank(law: Any, friction: Any) -> carom.World:
    body = carom.Link(carom.Body(mass=1.0, inertia=1 / 12), sites={"left": (-0.5, 0.0), "right": (0.5, 0.0)})
    free = carom.Mechanism([body], base=carom.Free())
    floor = carom.Plane(height=0.0)
    ends = [carom.Contact(free.site(s), floor, law, friction, name=s) for s in ("left", "right")]
    return carom.World(free, contacts=[*ends], gravity=G)


def poisson_plank(p: Any) -> carom.World:
    return plank(carom.Poisson(p[1]), carom.Coulomb(p[0]))


def plastic_plank(p: Any) -> carom.World:
    return plank(carom.Plastic(), None)


def dropped(make: Any, parameters: Any, tilt: Any, vx: Any, until: float, **more: Any) -> Any:
    n = len(tilt)
    start = make(parameters[0]).state(
        angles=np.asarray(tilt)[:, None], base=(0.0, 0.5), base_velocity=np.stack([vx, np.zeros(n)], axis=1)
    )
    return carom.batch(make, jnp.asarray(parameters), start, until=until, settings=carom.Settings(**more))


SPEED = np.sqrt(2 * G * 0.5)


@pytest.mark.slow
def test_a_plank_falls_flat_and_rebounds_flat():
    """Poisson with friction: both ends alike; sliding loses mu (1 + e) times the speed of the fall, or stops."""
    mu, e, vx = 0.3, np.array([0.0, 0.5, 0.5, 0.5]), np.array([0.4, 0.4, 3.0, -3.0])
    out = dropped(poisson_plank, np.stack([np.full(4, mu), e], axis=1), np.zeros(4), vx, until=0.5, max_events=1)
    assert out.t == pytest.approx(SPEED / G, abs=1e-12)
    slowed = np.maximum(np.abs(vx) - mu * (1 + e) * SPEED, 0.0) * np.sign(vx)
    np.testing.assert_allclose(out.v, np.stack([slowed, e * SPEED, np.zeros(4)], axis=1), atol=1e-10)
    left, right, *rubbed = (np.asarray(m) for m in out.memory[0])
    np.testing.assert_allclose([left, right], np.tile((1 + e) * SPEED / 2, (2, 1)), rtol=1e-7)
    np.testing.assert_allclose(rubbed[:2], np.tile((slowed - vx) / 2, (2, 1)), atol=1e-7)


@pytest.mark.slow
def test_a_tilted_plank_and_its_mirror_image():
    """One end, then the other, with friction: ten or more events, mirrored to the last."""
    tilt, vx = np.array([0.2, 0.05]), np.array([0.5, -0.3])
    parameters = np.tile([0.3, 0.4], (4, 1))
    out = dropped(poisson_plank, parameters, [*tilt, *-tilt], [*vx, *-vx], until=0.6)
    assert np.all(np.asarray(out.events) >= 3)
    np.testing.assert_array_equal(out.events[2:], out.events[:2])
    for got in (np.asarray(out.q), np.asarray(out.v)):
        np.testing.assert_allclose(got[2:] * [-1.0, 1.0, -1.0], got[:2], atol=1e-6)


def test_a_plank_falls_flat_and_stays():
    """Plastic, without friction: both ends close, with half the impulse each; it glides on."""
    out = dropped(plastic_plank, np.zeros((2, 1)), np.zeros(2), np.array([0.4, -0.4]), until=1.0)
    glides = np.array([0.4, -0.4])
    np.testing.assert_allclose(out.v, np.stack([glides, np.zeros(2), np.zeros(2)], axis=1), atol=1e-12)
    np.testing.assert_allclose(out.q, np.stack([glides, np.zeros(2), np.zeros(2)], axis=1), atol=1e-12)
    np.testing.assert_allclose(np.asarray(out.memory[0])[:2], SPEED / 2, rtol=1e-7)  # the last impulses
    assert np.all(np.asarray(out.events) == 1) and np.all(np.asarray(out.phases[0]) == 3)


# -- a table that shakes -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shaken() -> Any:
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=2.0)], base=carom.Free())

    def run(amplitude: float, frequency: float, height: float, velocity: float, until: float) -> Any:
        table = carom.Moving(carom.Plane(height=0.0), amplitude=(0.0, amplitude), frequency=frequency)
        contact = carom.Contact(ball.tip, table, carom.Newton(0.5), radius=0.1, name="table")
        world = carom.World(ball, contacts=contact, gravity=G)
        start = world.state(base=(0.0, height + 0.1), base_velocity=(0.0, velocity))
        with warnings.catch_warnings():  # looked at by a test of its own
            warnings.simplefilter("ignore", carom.CaromWarning)
            return carom.simulate(world, start, until=until)

    return run


def bounces(amplitude: float, frequency: float, y: float, e: float, count: int) -> list[tuple[float, float]]:
    """Instants and velocities after them of a ball let go above a table at amplitude sin(w t)."""
    w, t, v, out = 2 * np.pi * frequency, 0.0, 0.0, []
    for _ in range(count):

        def gap(s: Any, t: float = t, y: float = y, v: float = v) -> Any:
            return y + v * s - G * s**2 / 2 - amplitude * np.sin(w * (t + s))

        steps = np.linspace(1e-5, 1.0, 20001)
        k = np.flatnonzero(gap(steps) < 0.0)[0]
        s = brentq(gap, steps[k - 1], steps[k], xtol=1e-15)
        t, up = t + s, amplitude * w * np.cos(w * (t + s))
        v, y = up - e * (v - G * s - up), amplitude * np.sin(w * t)
        out.append((t, v))
    return out


def test_a_ball_bounces_on_a_shaking_table_until_it_rides(shaken):
    """A table of 0.02 m at 3 Hz never falls away (7.1 m/s^2): after its bounces the ball rides."""
    run = shaken(0.02, 3.0, 0.05, 0.0, 2.0)
    expected = bounces(0.02, 3.0, 0.05, 0.5, 6)
    got = [(event.t, event.v_after[1]) for event in run.events[:6]]
    np.testing.assert_allclose(got, expected, atol=1e-7)
    assert run.events[-1].phase_after == "closed: table"
    w = 6 * np.pi
    riding = run.t > run.events[-1].t + 0.1
    np.testing.assert_allclose(run.q[riding, 1], 0.1 + 0.02 * np.sin(w * run.t[riding]), atol=1e-7)
    assert run.energy.max_error_percent < 1e-5
    # While it rides, the table does all the work there is.
    works = run.energy.works
    k = np.flatnonzero(riding)[[0, -1]]
    assert np.ptp(works["rigid contacts: blows"][k]) == 0.0
    assert np.diff(works["rigid contacts: surface motion"][k])[0] == pytest.approx(
        np.diff(run.energy.total[k])[0], abs=1e-6
    )


def test_a_moving_surface_is_not_accused_of_creating_energy(shaken):
    """A table on its way up gives energy to what it hits: that is its work, not a fault of Newton's law."""
    run = shaken(0.02, 3.0, 0.05, 0.0, 0.3)
    assert any(event.v_after[1] ** 2 > event.v[1] ** 2 for event in run.events)
    assert run.warnings == []


def test_a_ball_leaves_a_table_that_falls_away_faster_than_it_can(shaken):
    """It rides from the start; the force is zero where A w^2 sin(w t) = g."""
    amplitude, frequency = 0.02, 5.0
    w = 2 * np.pi * frequency
    run = shaken(amplitude, frequency, 0.0, amplitude * w, 0.05)
    lift = np.arcsin(G / (amplitude * w**2)) / w
    assert (run.events[0].exit, run.events[0].phase_after) == ("lift table", "open")
    assert run.events[0].t == pytest.approx(lift, abs=1e-8)
