"""Blows on several contacts: each alone, what a blow reaches, and the rule of friction."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import native
from carom.contact.impact._impulses import END, PATH, blow_of, impulses_of, weighed
from carom.contact.impact._path import Weights, path
from carom.contact.impact._system import system_of
from carom.hybrid._flow import scene_with_motion
from carom.hybrid.scene import Continuous

from .random_blows import drawn, run

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
FLOOR = carom.Plane(height=0.0)


def separate(seed: int, count: int) -> Any:
    """Two contacts without coupling: those of bodies of their own, both closing."""
    data, _ = drawn(seed, count, 2, 4)
    w, u, *rest = data
    keep = np.array([[i % 2 == j % 2 for j in range(4)] for i in range(4)])
    u = u.copy()
    u[:, :2] = -np.abs(u[:, :2])
    return (np.where(keep, w, 0.0), u, *rest), np.where(keep, 0.0, w)


@carom.jit
@native.rows
def routh(w: Any, u: Any, e: Any, mu: Any, limit: Any) -> Any:
    """Each of two contacts along its own path; Poisson, Newton."""
    out = []
    for law in (carom.Poisson, carom.Newton):
        ways = [path(Weights(w[i, i], w[i, 2 + i], w[2 + i, 2 + i]), u[i], u[2 + i], mu[i], limit[i]) for i in (0, 1)]
        normal = [law(e[i]).end(way, e[i]) for i, way in enumerate(ways)]
        out.append(jnp.stack([*normal, *(way.friction(p) for way, p in zip(ways, normal, strict=True))]))
    return jnp.stack(out)


# -- several contacts and each alone -----------------------------------------------------------------------------------


@pytest.mark.parametrize("newton", (False, True))
def test_contacts_without_coupling_follow_their_own_paths(newton):
    """Also those that friction drives in at first, while the other one slides, stops, sticks or turns round."""
    data, _ = separate(1, 400)
    got, exact = run(data, newton=newton), np.asarray(routh(*data))[:, int(newton)]
    w, mu, u = data[0], data[3], data[1]
    jams = w[:, 0, 0] < np.sign(u[:, 2]) * mu[:, 0] * w[:, 0, 2]
    assert 0.02 < np.mean(jams) < 0.5
    scale = np.abs(exact).max(axis=1, keepdims=True)
    assert np.max(np.abs(got - exact) / scale) < 1e-13  # jammed ones lose a digit; the median is exact
    assert np.median(np.abs(got - exact) / scale) < 1e-15


def test_coupling_that_vanishes_leaves_each_its_own_path():
    """Linearly: ten times less coupling, ten times less difference; no smallness at which something switches."""
    data, coupling = separate(2, 60)
    exact = np.asarray(routh(*data))[:, 0]
    scale = np.abs(exact).max(axis=1)
    apart = []
    for power in range(2, 9):
        w = data[0] + 10.0**-power * coupling
        apart.append(np.abs(run((w, *data[1:])) - exact).max(axis=1) / scale)
    rates = np.array(apart) * 10.0 ** np.arange(2, 9)[:, None]
    assert np.median(rates[2:]) > 0.1
    # The slope of the difference is the same from 1e-4 to 1e-7, so it is linear.
    np.testing.assert_allclose(rates[3:6], np.broadcast_to(rates[2], (3, 60)), rtol=0.05, atol=1e-3)


def stick_and_ball(with_ball: bool) -> Any:
    """A stick that lands on one end, alone or beside a ball at rest 10 m away; velocity after, impulses."""
    stick = carom.Mechanism([carom.Body(mass=1.0, inertia=1 / 12, tip=(0.5, 0.0))], base=carom.Free())
    whole = carom.side_by_side(stick=stick, ball=BALL) if with_ball else stick
    law, rubs = carom.Poisson(0.5), carom.Coulomb(0.3)
    foot = carom.Contact(whole.site("stick.link1.tip") if with_ball else stick.tip, FLOOR, law, rubs, name="foot")
    made = [foot]
    if with_ball:
        made.append(carom.Contact(whole.site("ball.link1.tip"), FLOOR, law, rubs, name="ball"))
    world = carom.World(whole, contacts=made, gravity=9.81)
    n = len(made)

    def after(q: Any, v: Any) -> Any:
        y = Continuous(tuple(q), tuple(v), tuple(() for _ in world.automata), ())
        memory = tuple(tuple(jnp.asarray(0.0) for _ in a.anatomy.memory) for a in world.automata)
        scene = scene_with_motion(world, jnp.asarray(0.0), y, tuple(jnp.asarray(0) for _ in world.automata), memory)
        asked = [jnp.asarray(0.5), jnp.asarray(0.0)][:n]
        r = system_of(tuple(made), scene)
        impulses, velocity, found = blow_of(
            tuple(made), scene, r, weighed(scene, r), [jnp.asarray(True)] * n, asked, [jnp.zeros(())] * len(r.row)
        )
        return jnp.stack(velocity), jnp.stack(impulses), found

    angle = -1.0
    base, rest = [0.0, 0.5 * np.sin(1.0)], [10.0, 0.0]
    q = [*base, *rest, angle, 0.0] if with_ball else [*base, angle]
    v = [-0.3, -1.0, 0.0, 0.0, 0.0, 0.0] if with_ball else [-0.3, -1.0, 0.0]
    return carom.jit(after)(jnp.asarray(q), jnp.asarray(v))


def test_a_ball_that_rests_elsewhere_is_no_part_of_a_blow():
    alone, impulses, _ = stick_and_ball(False)
    both, shared, found = stick_and_ball(True)
    assert bool(found)
    np.testing.assert_allclose(np.asarray(both)[[0, 1, 4]], alone, rtol=1e-15, atol=1e-16)
    np.testing.assert_allclose(np.asarray(shared)[[0, 2]], impulses, rtol=1e-15)
    np.testing.assert_array_equal(np.asarray(both)[[2, 3, 5]], 0.0)
    np.testing.assert_array_equal(np.asarray(shared)[[1, 3]], 0.0)


def by_matrix(w: Any, u: Any, rule: str = PATH, laws: Any = None, mu: float = 0.3) -> Any:
    n = len(u) // 2
    laws = laws or [carom.Poisson(0.5)] * n
    contacts = tuple(carom.Contact(BALL.tip, FLOOR, law, carom.Coulomb(mu), name=f"{i}") for i, law in enumerate(laws))
    rows = [[jnp.asarray(x) for x in row] for row in np.asarray(w)]
    asked = [jnp.asarray(law.asked) for law in laws]
    impulses, found = impulses_of(contacts, rows, [jnp.asarray(x) for x in u], [jnp.asarray(True)] * n, asked, rule)
    return np.stack(impulses), bool(found)


def test_a_blow_goes_from_contact_to_contact_and_no_further():
    """0 closes; 1 is linked to it, 2 to 1 but not to 0; 3 to none of them, and opens: only 3 is left out."""
    rng = np.random.default_rng(4)
    chain = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    half = 0.2 * rng.normal(size=(8, 8))
    w = np.where(np.tile(chain, (2, 2)), np.eye(8) + half + half.T, 0.0)
    impulses, found = by_matrix(w, np.array([-1.0, 0.0, 0.0, 0.5, 0.2, 0.0, 0.0, -0.7]))
    assert found and impulses[0] > 0.5
    assert np.all(impulses[[3, 7]] == 0.0)
    none, _ = by_matrix(w, np.array([0.0, 0.0, 0.0, 0.5, 0.2, 0.0, 0.0, -0.7]))
    np.testing.assert_array_equal(none, 0.0)


# -- the rule of friction ----------------------------------------------------------------------------------------------


def test_end_velocities_decide_where_that_is_asked_for():
    """A rod whose sliding turns round: along the path friction acts both ways, by end velocities only one way."""
    c, s = np.cos(-1.0), np.sin(-1.0)
    w = np.array([[1 + 3 * c * c, -3 * s * c], [-3 * s * c, 1 + 3 * s * s]])
    u = np.array([-1.0, -0.3])
    along, _ = by_matrix(w, u, PATH, [carom.Plastic()], 0.2)
    at_end, found = by_matrix(w, u, END, [carom.Plastic()], 0.2)
    after = u + w @ at_end
    assert found and after[0] == pytest.approx(0.0, abs=1e-14)
    assert at_end[1] == pytest.approx(-0.2 * np.sign(after[1]) * at_end[0], rel=1e-12)
    assert abs(along[1]) < 0.15 * along[0]  # both ways
    np.testing.assert_allclose(at_end[0], 1.0 / (w[0, 0] - 0.2 * w[0, 1]), rtol=1e-12)


def test_the_rule_of_friction_is_named():
    foot = carom.Contact(BALL.tip, FLOOR, 0.5, carom.Coulomb(0.3))
    for rule in ("path", "end velocity"):
        assert carom.World(BALL, contacts=foot, friction_rule=rule).automata[0].friction_rule == rule
    assert carom.World(BALL, contacts=foot).automata[0].friction_rule == "path"
    with pytest.raises(carom.CaromError, match=r"friction_rule of rigid contacts is 'moreau'; .*'path' or 'end vel"):
        carom.World(BALL, contacts=foot, friction_rule="moreau")
    hard = carom.Contact(BALL.tip, FLOOR, carom.Stronge(0.5), carom.Coulomb(0.3), name="foot")
    with pytest.raises(carom.CaromError, match=r"contact 'foot' is Stronge, whose work is counted along the path"):
        carom.World(BALL, contacts=hard, friction_rule="end velocity")
    carom.World(BALL, contacts=carom.Contact(BALL.tip, FLOOR, carom.Stronge(0.5)), friction_rule="end velocity")


def test_the_rule_of_friction_is_kept_in_files():
    for rule in (PATH, END):
        foot = carom.Contact(BALL.tip, FLOOR, 0.5, carom.Coulomb(0.3), name="foot")
        world = carom.World(BALL, contacts=foot, gravity=9.81, friction_rule=rule)
        scenario = carom.Scenario.of(world, world.state(base=[0.0, 1.0]), until=1.0)
        assert scenario.friction_rule == rule


def test_newtons_blow_in_a_corner_makes_no_energy_where_a_wall_is_left_behind():
    """A ball just left one wall of a sharp corner when it meets the other, which throws it back: 12 % more energy."""
    walls = [carom.Contact(BALL.tip, FLOOR, carom.Newton(0.83), radius=0.1, name=k) for k in ("one", "other")]
    contacts = tuple(walls)
    across = np.cos(2.6456)
    w, u = np.array([[1.0, across], [across, 1.0]]), np.array([-1.355, 0.4315])
    on = [jnp.asarray(True)] * 2
    rows, speed = [[jnp.asarray(x) for x in row] for row in w], [jnp.asarray(x) for x in u]
    impulses, found = impulses_of(contacts, rows, speed, on, [jnp.asarray(0.83), jnp.asarray(0.0)])
    p = np.stack(impulses)
    assert found and np.all(p >= 0.0) and np.all(u + w @ p > -1e-12)
    assert abs(p @ (u + 0.5 * w @ p)) < 1e-12
    # Where both close, nothing has to be held back.
    both = [jnp.asarray(-0.5), jnp.asarray(-0.4)]
    impulses, _ = impulses_of(contacts, rows, both, on, [jnp.asarray(0.83)] * 2)
    np.testing.assert_allclose(np.array([-0.5, -0.4]) + w @ np.stack(impulses), 0.83 * np.array([0.5, 0.4]), rtol=1e-12)


@pytest.mark.parametrize("law", [carom.Newton(0.5), carom.Poisson(0.5)])
def test_a_ball_that_fits_between_floor_and_ceiling_stays(law):
    """Newton's rebound from one of them leads into the other: it said that no motion is possible."""
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    planes = {"floor": carom.Plane(height=0.0), "ceiling": carom.Plane(point=(0.0, 0.2), normal=(0.0, -1.0))}
    contacts = [carom.Contact(ball.tip, plane, law, radius=0.1, name=name) for name, plane in planes.items()]
    world = carom.World(ball, contacts=contacts, gravity=0.0)
    run = carom.simulate(world, world.state(base=(0.0, 0.1), base_velocity=(1.0, -1e-3)), until=1.0)
    np.testing.assert_allclose(run.q[-1], [1.0, 0.1, 0.0], atol=1e-12)
    np.testing.assert_allclose(run.v[-1], [1.0, 0.0, 0.0], atol=1e-15)
