"""The path of one blow with friction: against direct integration, energy, derivatives."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import carom
from carom.contact.impact._path import Weights, path

from .followed_blow import followed

LAWS = {"newton": carom.Newton, "poisson": carom.Poisson, "stronge": carom.Stronge}


# -- the same blows, by other means ------------------------------------------------------------------------------------


def integrated(w: Any, un: float, ut: float, mu: float, law: str, e: float) -> Any:
    """The same by an ODE solver with events: velocities, work and friction impulse over the normal impulse."""
    (nn, nt), (_, tt) = np.asarray(w)
    turn = spent = None  # impulse and work at the end of compression

    def rates(_: float, y: Any, way: Any) -> list[float]:
        ratio = -nt / tt if way == 0 else -mu * way
        return [nn + nt * ratio, nt + tt * ratio, y[0], ratio]

    def over(p: float, y: Any, way: Any) -> Any:
        if turn is None:
            return y[0]
        return {"newton": y[0] + e * un, "poisson": p - (1 + e) * turn, "stronge": y[2] - (1 - e**2) * spent}[law]

    def stops(p: float, y: Any, way: Any) -> Any:
        return -way * y[1] if way else -1.0

    for event in (over, stops):
        event.terminal, event.direction = True, 1  # type: ignore[attr-defined]
    p, y, way = 0.0, np.array([un, ut, 0.0, 0.0]), np.sign(ut)
    for _ in range(8):
        out = solve_ivp(
            rates, (p, p + 50.0), y, args=(way,), events=[over, stops], rtol=1e-12, atol=1e-13, max_step=0.05
        )
        p, y = out.t[-1], out.y[:, -1]
        if len(out.t_events[1]):
            holds = abs(nt) <= mu * tt
            way, y[1] = (0, 0.0) if holds else (np.sign(nt), 1e-15 * np.sign(nt))
        elif turn is None:
            turn, spent, y[0] = p, y[2], 0.0
        else:
            return p, y[3]
    raise AssertionError("a blow has at most four pieces")


# -- the path of one blow with friction --------------------------------------------------------------------------------

ROD = {
    angle: np.array([[1 + 3 * c * c, -3 * s * c], [-3 * s * c, 1 + 3 * s * s]])
    for angle in (-1.0, -0.3, -2.3)
    for c, s in [(np.cos(angle), np.sin(angle))]
}

CASES = {  # weights, u_n, u_t, mu; what it must go through
    "slides throughout": (ROD[-1.0], -1.0, 4.0, 0.1, ["right", "right"]),
    "stops in compression and sticks": (ROD[-1.0], -1.0, -0.3, 0.9, ["left", "sticks", "sticks"]),
    "stops in restitution and sticks": (
        np.array([[1.0, 0.1], [0.1, 1.0]]),
        -1.0,
        0.5,
        0.5,
        ["right", "right", "sticks"],
    ),
    "turns round in compression": (ROD[-1.0], -1.0, -0.3, 0.2, ["left", "right", "right"]),
    "turns round in restitution": (ROD[-1.0], -1.0, -1.0, 0.2, ["left", "left", "right"]),
    "jams: compression grows at first": (ROD[-1.0], -0.5, 2.0, 2.0, ["right", "sticks", "sticks"]),
    "no sliding, sticks": (ROD[-0.3], -1.0, 0.0, 0.8, ["sticks", "sticks"]),
    "no sliding, is driven": (ROD[-0.3], -1.0, 0.0, 0.3, ["right", "right"]),
    "mirrored": (ROD[-2.3], -1.0, 0.3, 0.2, ["right", "left", "left"]),
}


def carom_path(w: Any, un: Any, ut: Any, mu: Any, law: Any, e: Any, limit: Any = None) -> Any:
    way = path(Weights(w[0][0], w[0][1], w[1][1]), un, ut, mu, mu if limit is None else limit)
    normal = law(e).end(way, e)
    return way, normal, way.friction(normal)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", CASES)
def test_the_path_equals_a_direct_integration(case, law):
    w, un, ut, mu, pieces = CASES[case]
    for e in (0.0, 0.4, 1.0):
        way, normal, rubbed = carom_path(w, un, ut, mu, LAWS[law], e)
        exact = followed(w, un, ut, mu, law, e)
        if e == 0.4:
            assert exact[2] == pieces or (law, case) == ("newton", "stops in restitution and sticks")
        np.testing.assert_allclose([normal, rubbed], exact[:2], rtol=1e-12, atol=1e-14)
        assert abs(rubbed) <= mu * normal + 1e-14
        np.testing.assert_allclose(way.speed(normal), un + w[0] @ [normal, rubbed], atol=1e-13)
    if "jams" in case:
        assert float(way.first) < 0 < float(way.second)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", CASES)
def test_the_path_equals_an_ode_solver(case, law):
    w, un, ut, mu, _ = CASES[case]
    if ut == 0.0:
        ut = 1e-13  # the solver needs a side to start from
    _, normal, rubbed = carom_path(w, un, ut, mu, LAWS[law], 0.6)
    np.testing.assert_allclose([normal, rubbed], integrated(w, un, ut, mu, law, 0.6), atol=1e-8)


def test_static_friction_holds_what_sliding_friction_would_not():
    """|w_nt / w_tt| between mu and mu_s: it sticks when it has stopped, by more than mu."""
    w = ROD[-1.0]
    needed = abs(w[0, 1] / w[1, 1])
    _, normal, rubbed = carom_path(w, -1.0, -0.3, 0.7 * needed, carom.Poisson, 0.5, limit=1.1 * needed)
    np.testing.assert_allclose(
        [normal, rubbed], followed(w, -1.0, -0.3, 0.7 * needed, "poisson", 0.5, 1.1 * needed)[:2]
    )
    assert float(w[1] @ [normal, rubbed]) == pytest.approx(0.3, abs=1e-13), "no sliding is left"
    _, normal, rubbed = carom_path(w, -1.0, -0.3, 0.7 * needed, carom.Poisson, 0.5)
    assert float(w[1] @ [normal, rubbed]) - 0.3 > 0.1


def gain(w: Any, u: Any, p: Any) -> Any:
    """Kinetic energy that impulses p add."""
    return u @ p + p @ np.asarray(w) @ p / 2


def test_newtons_law_creates_energy_where_sliding_turns_round_and_the_others_do_not():
    """A rod at 66 degrees, e = 1, mu = 0.3: Newton asks for the old normal speed after friction has helped."""
    angle = -1.1559563371860795
    c, s = np.cos(angle), np.sin(angle)
    w = np.array([[1 + 3 * c * c, -3 * s * c], [-3 * s * c, 1 + 3 * s * s]])
    got = {
        name: gain(w, np.array([-1.0, -0.75]), np.stack(carom_path(w, -1.0, -0.75, 0.3, law, 1.0)[1:]))
        for name, law in LAWS.items()
    }
    assert got["newton"] == pytest.approx(0.0863394524655, rel=1e-9)
    assert got["poisson"] < -1e-3 and got["stronge"] < -1e-3


def test_derivatives_of_a_path_that_never_stops_are_finite_for_light_bodies():
    """Reverse mode also goes through the branch that is not taken: there nothing may overflow."""

    def impulses(x):
        way = path(Weights(x[0] * 1e9, x[1] * 1e9, x[2] * 1e9), x[3], x[4], x[5], x[5])
        normal = carom.Stronge(0.5).end(way, x[6])
        return normal + way.friction(normal)

    x = jnp.array([2.0, 0.3, 1.5, -1.0, 5.0, 0.1, 0.5])
    got = jax.grad(impulses)(x)
    np.testing.assert_allclose(got, jax.jacfwd(impulses)(x), rtol=1e-12)
    h = 1e-5
    differences = [(impulses(x + d) - impulses(x - d)) / (2 * h) for d in h * np.eye(7)]
    np.testing.assert_allclose(got, differences, rtol=1e-6, atol=1e-16)
