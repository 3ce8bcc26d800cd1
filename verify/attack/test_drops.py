"""A thousand balls dropped from a micrometre to a thousand kilometres, at places as small and as far from the origin.

Rigid balls against the closed form of their bounces, down to rest; Hertzian ones against a quadrature of their blows.
Bounds come from the spacing of floats at the place: a gap is not known better than that.
"""

import numpy as np
import pytest

import carom

from .tally import Tally, count_of, log_uniform, run, signs, ulp

G, SLOW = 9.81, 1e-5  # [m/s] SLOW: ten times the speed below which a rebound counts as none
FINE = {1e-11: 2e-10, 1e-9: 1e-8}  # tolerances of Hertzian balls, and what share of their dents floats must tell
GROUP = 50  # lanes that share a horizon


def make_rigid(p):
    ball = carom.Mechanism([carom.Disk(radius=p["radius"], mass=1.0)], base=carom.Free())
    floor = carom.Contact(
        ball.tip, carom.Plane(height=p["floor"]), carom.Newton(p["e"]), radius=p["radius"], name="floor"
    )
    return carom.World(ball, contacts=floor, gravity=G)


def make_hertz(p):
    ball = carom.Mechanism([carom.Disk(radius=p["radius"], mass=1.0)], base=carom.Free())
    law = carom.Hertz(p["stiffness"])
    floor = carom.Contact(ball.tip, carom.Plane(height=p["floor"]), law, radius=p["radius"], name="floor")
    return carom.World(ball, contacts=floor, gravity=G)


def places(rng, size, high=1e6):
    """Either side of the origin, every tenth at it."""
    return signs(rng, size) * log_uniform(rng, 1e-6, high, size) * (rng.uniform(size=size) > 0.1)


def dropped(rng, horizon, lanes):
    """Numbers of balls whose first fall takes a thirtieth to three times the horizon."""
    height = 0.5 * G * (horizon / log_uniform(rng, 0.35, 30.0, lanes)) ** 2
    return {"height": np.clip(height, 1e-6, 1e6), "radius": np.clip(0.1 * height, 1e-6, 0.1), "x": places(rng, lanes)}


def horizons(rng, groups):
    """So that heights of all scales occur, in an order that does not depend on the share that is run."""
    return log_uniform(rng, 3 * np.sqrt(2e-6 / G), 3 * np.sqrt(2e6 / G), groups)


def fall(p):
    """The height that the floats really have, and the spacing of floats there."""
    start = p["floor"] + p["radius"] + p["height"]
    exact = (np.longdouble(start) - p["floor"] - p["radius"]).astype(float)
    return start, exact, ulp(start, p["floor"], p["radius"])


def bounces(e, ratio):
    """Number of bounces before `ratio` times the first fall; infinite after the limit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        left = 1.0 - (ratio - 1.0) * (1.0 - e) / (2.0 * e)
        count = 1.0 + np.floor(np.log(left) / np.log(e))
    count = np.where((left <= 0.0) | (e == 0.0), np.inf, count)
    return np.where(ratio < 1.0, 0.0, count)


def judge_rigid(ends, p, horizon):
    """(right, judged) of every lane."""
    start, h, spacing = fall(p)
    e, rest = p["e"], p["floor"] + p["radius"]
    first = np.sqrt(2.0 * h / G)
    n = bounces(e, horizon / first)
    finite = np.where(np.isfinite(n), n, 0.0)
    speed = G * first * e**finite  # after the last bounce
    since = horizon - first * (1.0 + 2.0 * e * (1.0 - e ** np.maximum(finite - 1.0, 0.0)) / (1.0 - e))
    y = np.where(n == 0, start - 0.5 * G * horizon**2, rest + speed * since - 0.5 * G * since**2)
    v = np.where(n == 0, -G * horizon, speed - G * since)
    near = 64.0 * spacing * (finite + 2.0) / (1.0 - e) + 1e-11 * h
    late = near / np.maximum(speed, 1e-300)  # by how much instants may be off
    flying = (np.abs(ends.q[:, 1] - y) < near) & (np.abs(ends.v[:, 1] - v) < 8.0 * G * late + 1e-9 * G * first)
    flying &= ends.events == finite
    slow = np.maximum(SLOW, np.sqrt(2.0 * G * near))
    low = np.abs(ends.q[:, 1] - rest) < slow**2 / G  # rounding decides which of the last hops this is
    lying = (np.abs(ends.q[:, 1] - rest) <= 64.0 * spacing) & (ends.v[:, 1] == 0.0)
    limit = first * (1.0 + e) / (1.0 - e)
    still = horizon > limit + 20.0 * slow / (G * (1.0 - e))
    hops = ~still & (~np.isfinite(n) | (speed < slow))
    right = np.where(still, lying, np.where(hops, low, flying))
    until_next = np.where(n == 0, first - horizon, 2.0 * speed / G - since)
    close = np.minimum(np.where(n == 0, np.inf, since), until_next) < 4.0 * late  # a bounce at the horizon itself
    right &= (ends.q[:, 0] == p["x"]) & (np.abs(ends.q[:, 1] - start) < 2.0 * h + spacing)
    return right, still | hops | ~close


@pytest.mark.slow
def test_rigid_balls_of_all_sizes_in_all_places():
    rng, tally = np.random.default_rng(1), Tally("drops, rigid")
    for horizon in horizons(rng, 13)[: count_of(13, 2)]:
        p = dropped(rng, horizon, GROUP)
        p |= {"floor": places(rng, GROUP), "e": rng.choice([0.0, 0.5, 0.99, *rng.uniform(0.0, 0.99, 9)], GROUP)}
        _drop(tally, p, horizon)
    tally.close()


@pytest.mark.slow
def test_the_readmes_ball_at_other_heights():
    """Floors at 1, 0.5, 0.3, -1.2, ... m, and ten kilometres up."""
    tally = Tally("drops, README's ball")
    floors = np.array([1.0, 0.5, 0.3, -1.2, 1e4, -1e4, 0.1, 0.7, 2.0, 1e2, 1e3, 1e5, 1e6, -0.3, 1e-3, 0.0])
    floors = np.resize(floors, GROUP) + 0.01 * (np.arange(GROUP) // 16)
    p = {"height": np.ones(GROUP), "radius": np.full(GROUP, 0.1), "x": np.zeros(GROUP)}
    _drop(tally, p | {"floor": floors, "e": np.full(GROUP, 0.5)}, 3.0)
    tally.close()


def _drop(tally, p, horizon):
    """One group through the simulator and the closed form."""
    start = fall(p)[0]
    ends = run(make_rigid, p, np.zeros((GROUP, 1)), horizon, base=np.stack([p["x"], start], axis=1), max_steps=50_000)
    right, judged = judge_rigid(ends, p, horizon)
    sane = ends.q[:, 1] - p["floor"] - p["radius"] > -64.0 * fall(p)[2]

    def note(lane):
        numbers = ", ".join(f"{k} {float(x[lane]):.6g}" for k, x in p.items())
        above = ends.q[lane, 1] - p["floor"][lane] - p["radius"][lane]
        return f"{numbers}, horizon {horizon:.6g}: {ends.events[lane]} bounces, {above:.3g} m above"

    tally.add(ends, right, sane, note, judged)


# -- a compliant law ---------------------------------------------------------------------------------------------------


def blow(speed, stiffness):
    """Duration of a blow of Hertz's law on a ball of 1 kg under its weight: d'^2 = v^2 + 2 g d - 4/5 K d^2.5."""
    low, high = (speed**2 / (0.8 * stiffness)) ** 0.4, 4.0 * (speed**2 / (0.8 * stiffness)) ** 0.4
    for _ in range(200):  # the depth at which it turns
        middle = 0.5 * (low + high)
        inside = speed**2 + 2.0 * G * middle - 0.8 * stiffness * middle**2.5 > 0.0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    nodes, weights = np.polynomial.legendre.leggauss(400)
    s = 0.5 * (1.0 + nodes)[:, None]
    # d = turn (1 - s^2) takes away the root at the turning point; differences are formed without cancellation.
    turn, square = low, s * s
    fallen = -np.expm1(2.5 * np.log1p(-square))
    rate = 0.8 * stiffness * turn**2.5 * fallen - 2.0 * G * turn * square
    return 2.0 * np.sum(0.5 * weights[:, None] * 2.0 * turn * s / np.sqrt(rate), axis=0)


def judge_hertz(ends, p, horizon, rtol):
    _, h, spacing = fall(p)
    first, rest = np.sqrt(2.0 * h / G), p["floor"] + p["radius"]
    speed = G * first
    lasts = blow(speed, p["stiffness"])
    period = 2.0 * first + lasts
    n = np.floor((horizon + first) / period)
    since = horizon + first - n * period  # since the last release, the fall counted as half a flight
    flying = since < 2.0 * first
    y = rest + speed * since - 0.5 * G * since**2
    # Of the energy of a blow: by the tolerance, which is relative to the world's length, and by the floats there.
    blurred = (rtol * np.maximum(h, p["radius"]) + spacing) / p["depth"]
    near = (1e-6 + 100.0 * blurred) * h * (n + 1.0) + 1e4 * spacing * (n + 1.0)
    margin = np.minimum(np.abs(since - 2.0 * first), since) > 4.0 * near / speed
    right = (np.abs(ends.q[:, 1] - y) < near) & (ends.events == 2 * n)
    return right, flying & (margin | (n == 0))


@pytest.mark.slow
@pytest.mark.parametrize("rtol", FINE)
def test_hertzian_balls_of_all_sizes_wherever_floats_tell_their_dents(rtol):
    """A dent is smaller than its place by far: what is asked for must be more than rounding leaves of it there."""
    rng, tally = np.random.default_rng(2), Tally(f"drops, Hertz, {rtol:g}")
    for horizon in horizons(rng, 9)[: count_of(9, 1)]:
        p = dropped(rng, horizon, GROUP)
        depth = p["height"] * log_uniform(rng, 1e-4, 3e-2, GROUP)
        p["stiffness"] = 2.5 * G * p["height"] / depth**2.5
        p["floor"] = places(rng, GROUP, np.clip(FINE[rtol] * depth / np.finfo(float).eps, 2e-6, 1e6))
        p["depth"] = depth
        start = fall(p)[0]
        ends = run(
            make_hertz,
            p,
            np.zeros((GROUP, 1)),
            horizon,
            base=np.stack([p["x"], start], axis=1),
            rtol=rtol,
            atol=1e-12 * float(np.min(depth)),
            solver="dopri8",
        )
        right, judged = judge_hertz(ends, p, horizon, rtol)

        def note(lane, p=p, ends=ends, horizon=horizon):
            numbers = ", ".join(f"{k} {float(x[lane]):.6g}" for k, x in p.items())
            return f"{numbers}, horizon {horizon:.6g}: {ends.events[lane]} events, y {ends.q[lane, 1]:.12g}"

        tally.add(ends, right, np.isfinite(ends.q[:, 1]), note, judged)
    tally.close()
