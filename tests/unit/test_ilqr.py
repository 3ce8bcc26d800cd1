"""iLQR: Riccati's recursion where the motion is linear, differences across strikes, limits, and its sentences."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.optimal._box import least_in_box
from carom.optimal._edges import _shares

G, E, DT, SEED = 9.81, 0.7, 0.05, 2
QUICK = carom.Settings(rtol=1e-8, atol=1e-10)


def ball(height=0.0, mass=1.0, limit=None):
    """A ball on a vertical guide above a floor, with a force on it."""
    guide = carom.Slider((0.0, 1.0)) if limit is None else carom.Slider((0.0, 1.0), effort_limit=limit)
    made = carom.Mechanism([carom.Link(carom.PointMass(mass), name="ball", joint=guide)])
    floor = carom.Contact("ball.tip", carom.Plane(height), carom.Newton(E), name="floor")
    return carom.World(made, contacts=floor, gravity=G)


@pytest.fixture(scope="module")
def stepping():
    return carom.Stepping(ball(), "ball", DT, settings=QUICK)


START = ball().state(slides=[0.5])
EFFORT = carom.QuadraticCost(u=[0.01])


def reach(height):
    return carom.QuadraticCost(x=[200.0, 2.0], target=[height, 0.0])


def whole_cost(stepping, state, u, running, terminal):
    rolled = stepping.rollout(stepping.begin(state), u)
    return sum(float(running(a, b)) for a, b in zip(rolled.x[:-1], rolled.u, strict=True)) * stepping.dt + float(
        terminal(rolled.x[-1])
    )


def test_where_nothing_strikes_it_is_riccati_s_recursion():
    cart = carom.Mechanism([carom.Link(carom.PointMass(2.0), name="cart", joint=carom.Slider((1.0, 0.0)))])
    world, dt, n = carom.World(cart, gravity=0.0), 0.1, 20
    stepping = carom.Stepping(world, "cart", dt)
    Q, R, P = np.diag([3.0, 0.5]), np.array([[0.2]]), np.diag([50.0, 5.0])
    path = carom.ilqr(
        stepping,
        world.state(slides=[1.0], slide_rates=[-0.3]),
        carom.QuadraticCost(x=Q, u=R),
        carom.QuadraticCost(x=P),
        steps=n,
    )
    A, B = np.array([[1.0, dt], [0.0, 1.0]]), np.array([[dt**2 / 4.0], [dt / 2.0]])
    gains = []
    for _ in range(n):
        K = -np.linalg.solve(R * dt + B.T @ P @ B, B.T @ P @ A)
        P = Q * dt + K.T @ R @ K * dt + (A + B @ K).T @ P @ (A + B @ K)
        gains.append(K)
    x = np.array([1.0, -0.3])
    assert path.converged and path.iterations <= 4
    np.testing.assert_allclose(path.cost, 0.5 * x @ P @ x, rtol=1e-9)
    for k, K in enumerate(reversed(gains)):
        np.testing.assert_allclose(path.gains[k], K, rtol=1e-5)
        np.testing.assert_allclose(path.u[k], K @ x, atol=1e-5)
        x = A @ x + B @ path.u[k]


def test_the_gradient_through_strikes_is_that_of_differences(stepping):
    u = 2.0 * np.sin(np.arange(16.0))[:, None]
    path = carom.ilqr(stepping, START, EFFORT, reach(0.6), steps=16, guesses=u, iterations=1)
    size, found = 1e-5, []
    for k in range(16):
        d = np.zeros_like(u)
        d[k] = size
        up, down = (whole_cost(stepping, START, path.u + s * d, EFFORT, reach(0.6)) for s in (1.0, -1.0))
        found.append((up - down) / (2.0 * size))
    assert path.events >= 1
    np.testing.assert_allclose(path.gradient[:, 0], found, atol=2e-4 * np.max(np.abs(found)))


@pytest.fixture(scope="module")
def reached(stepping):
    return carom.ilqr(
        stepping, START, EFFORT, reach(0.6), horizon=1.0, limits=(-8.0, 8.0), guesses=3, iterations=40, seed=SEED
    )


def test_a_ball_reaches_a_height_with_bounces_that_nobody_gave(stepping, reached):
    path = reached
    assert path.events >= 1 and len(path.ends) == 3 and path.cost == min(path.ends)
    assert np.all(np.diff(path.history) < 0.0)
    assert np.all(np.abs(path.u) <= 8.0)
    assert abs(path.x[-1, 0] - 0.6) < 0.03 and abs(path.x[-1, 1]) < 0.5
    again = whole_cost(stepping, START, path.u, EFFORT, reach(0.6))
    np.testing.assert_allclose(path.cost, again, rtol=1e-12)
    assert f"{path.events} event" in repr(path) and "guesses   ended at" in repr(path)


def test_gains_bring_a_path_back_that_was_pushed(stepping, reached):
    path = reached
    costs = []
    for gains, about in ((path.gains, path.rollout), (None, None)):
        pushed = stepping.at(stepping.begin(START), path.x[0] + [2e-3, 0.0])
        rolled = stepping.rollout(pushed, path.u, gains, about)
        running = sum(float(EFFORT(x, u)) for x, u in zip(rolled.x[:-1], rolled.u, strict=True)) * stepping.dt
        costs.append(running + float(reach(0.6)(rolled.x[-1])))
    assert costs[0] < costs[1]


@pytest.mark.parametrize(("height", "mass"), [(1000.0, 1.0), (0.0, 1e-3), (0.0, 1e3)])
def test_a_kilometre_up_or_another_mass_is_the_same_task(stepping, height, mass):
    found = []
    for h, m in ((0.0, 1.0), (height, mass)):
        world = ball(h, m)
        each = stepping if (h, m) == (0.0, 1.0) else carom.Stepping(world, "ball", DT, settings=QUICK)
        effort = carom.QuadraticCost(u=[0.01 / m**2])
        start, target = world.state(slides=[h + 0.5]), carom.QuadraticCost(x=[200.0, 2.0], target=[h + 0.6, 0.0])
        path = carom.ilqr(each, start, effort, target, steps=14, limits=(-8.0 * m, 8.0 * m), iterations=12)
        found.append((path.cost, path.u / m))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-4)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=2e-2)


def test_limits_so_small_that_nothing_is_reached_are_kept(stepping):
    path = carom.ilqr(stepping, START, EFFORT, reach(0.6), steps=10, limits=(-1e-3, 2e-3))
    assert np.all(path.u >= -1e-3) and np.all(path.u <= 2e-3)
    assert path.converged and path.on_limits == 10 and path.cost < path.history[0]
    joints = carom.Stepping(ball(limit=1e-3), "ball", DT, settings=QUICK)
    assert np.all(np.abs(carom.ilqr(joints, START, EFFORT, reach(0.6), steps=10).u) <= 1e-3)


def test_a_horizon_that_ends_exactly_at_a_strike(stepping):
    fall = float(np.sqrt(2.0 * 0.5 / G))
    stepping = carom.Stepping(ball(), "ball", fall / 8, settings=QUICK)
    path = carom.ilqr(stepping, START, EFFORT, reach(0.3), steps=8)
    assert path.cost < path.history[0] and np.isfinite(path.gradient_norm)


def test_a_cost_that_ignores_the_inputs_ends_at_once(stepping):
    path = carom.ilqr(stepping, START, lambda x, u: jnp.asarray(2.0), steps=5)
    assert path.converged and path.iterations == 0 and path.gradient_norm == 0.0
    assert path.reason == "no input changes the cost, within its limits"
    np.testing.assert_allclose(path.cost, 2.0 * 5 * DT)


def test_what_is_interrupted_gives_the_best_so_far(stepping, monkeypatch):
    whole, seen = carom.ilqr(stepping, START, EFFORT, reach(0.6), steps=12), []
    real = type(stepping).linear_along

    def linear_along(self, rolled):
        seen.append(1)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return real(self, rolled)

    monkeypatch.setattr(type(stepping), "linear_along", linear_along)
    path = carom.ilqr(stepping, START, EFFORT, reach(0.6), steps=12)
    assert path.history == whole.history[:3] and not path.converged
    assert path.reason == "it was interrupted; this is the best so far"
    out_of_time = carom.ilqr(stepping, START, EFFORT, reach(0.6), steps=12, time=1e-9)
    assert "time" in out_of_time.reason and out_of_time.iterations == 0


def root(x, u):
    return jnp.sqrt(jnp.sum(u))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "ilqr has neither a running nor a terminal cost"),
        ({"running": 3.0}, "running of ilqr is a float; it must be a function of x, u"),
        ({"terminal": lambda x: x}, r"terminal of ilqr returns float64 of shape \(2,\); it must return one number"),
        ({"terminal": lambda x: np.asarray(x)[0]}, "terminal of ilqr cannot be evaluated: .* made of jax.numpy"),
        ({"terminal": lambda x: x[5]}, "terminal of ilqr cannot be evaluated: index 5 is out of bounds"),
        ({"running": lambda x, u: x[0] > 0.0}, "running of ilqr returns bool .* it must return one number"),
        ({"terminal": lambda x: x[0] / 0.0}, "terminal of ilqr is inf at the end of the first path, x = "),
        ({"running": lambda x, u: jnp.log(x[0] - 9.0)}, "running of ilqr is nan at step 0 of the first path"),
        ({"running": root}, "derivatives of the cost are not finite on the path from the first guess"),
        ({"terminal": carom.QuadraticCost(x=[1.0])}, "QuadraticCost has 1 weights for 2 states"),
        ({"running": EFFORT, "steps": None}, "either steps, a whole number of them, or horizon"),
        ({"running": EFFORT, "steps": 2.5}, "steps of ilqr is 2.5; it must be a whole number"),
        ({"running": EFFORT, "steps": None, "horizon": 0.12}, "it must be a multiple of the step's length, 0.05 s"),
        ({"running": EFFORT, "limits": (1.0, -1.0)}, "limits of ilqr leave 'ball' inputs from 1 to -1"),
        ({"running": EFFORT, "limits": (np.nan, 1.0)}, "the least inputs in limits of ilqr are"),
        ({"running": EFFORT, "limits": 3.0}, "limits of ilqr are 3.0; give the least and the largest"),
        ({"running": EFFORT, "guesses": [[1.0]]}, r"guesses of ilqr have shape \(1, 1\); one has shape \(5, 1\)"),
        ({"running": EFFORT, "guesses": 3}, "an input has no limit to draw between"),
        ({"running": EFFORT, "guesses": 0}, "guesses of ilqr is 0; it must be a whole number from 1"),
        ({"running": EFFORT, "iterations": 0}, "iterations of ilqr is 0"),
        ({"running": EFFORT, "tolerance": -1.0}, "tolerance of ilqr is -1"),
        ({"running": EFFORT, "guesses": np.full((5, 1), 1e300)}, "guess of ilqr: the motion ends in step"),
    ],
)
def test_bad_input_gets_a_sentence(stepping, given, words):
    with pytest.raises(carom.CaromError, match=words):
        carom.ilqr(stepping, START, **({"steps": 5} | given))


@pytest.mark.parametrize("running", [lambda x, u: 3, lambda x, u: 3.0, lambda x, u: x.at[0].set(3.0)[0]])
def test_a_constant_cost_is_one_whole_or_not(stepping, running):
    path = carom.ilqr(stepping, START, running, steps=4)
    assert path.cost == pytest.approx(3.0 * 4 * DT) and "no input changes the cost" in path.reason


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "QuadraticCost has neither x nor u"),
        ({"x": "much"}, "x of QuadraticCost is 'much'"),
        ({"x": [[1.0, 2.0]]}, r"x of QuadraticCost has shape \(1, 2\)"),
        ({"x": [1.0, -2.0]}, "x of QuadraticCost has the eigenvalue -2; weights must not be negative"),
        ({"x": [1.0], "target": [1.0, 2.0]}, "target of QuadraticCost has shape"),
        ({"x": [1.0], "effort": [1.0]}, "effort of QuadraticCost is given, but no weights u"),
    ],
)
def test_weights_that_make_no_sense_are_refused(given, words):
    with pytest.raises(carom.CaromError, match=words):
        carom.QuadraticCost(**given)


def test_what_is_no_stepping_is_refused():
    with pytest.raises(carom.CaromError, match="stepping of ilqr is a World; give carom"):
        carom.ilqr(ball(), START, EFFORT, steps=5)
    with pytest.raises(carom.CaromError, match="has no joint with an input"):
        carom.ilqr(carom.Stepping(ball(), [], DT), START, EFFORT, steps=5)


def test_the_least_of_a_form_in_a_box_is_that_of_a_fine_grid():
    rng = np.random.default_rng(3)
    for _ in range(5):
        root, g = rng.normal(size=(2, 2)), 3.0 * rng.normal(size=2)
        H, low, high = root @ root.T + 0.1 * np.eye(2), np.array([-0.5, -1.0]), np.array([0.7, 0.3])
        x, free = least_in_box(H, g, low, high)
        grid = np.stack(np.meshgrid(*(np.linspace(a, b, 241) for a, b in zip(low, high, strict=True))), -1)
        values = 0.5 * np.einsum("...i,ij,...j->...", grid, H, grid) + grid @ g
        assert 0.5 * x @ H @ x + g @ x <= np.min(values) + 1e-12
        assert np.all((x > low) & (x < high) == free)


def test_the_shortest_combination_of_two_sides_lies_along_their_edge():
    shares = _shares(np.array([[1.0, -3.0], [2.0, 2.0]]))  # slopes across and along an edge, a column for each side
    np.testing.assert_allclose(shares, [0.75, 0.25], atol=1e-6)
    np.testing.assert_allclose(_shares(np.array([[1.0, 3.0], [0.0, 0.0]])), [1.0, 0.0], atol=1e-6)
