"""Impulsive laws by themselves: a blow in matrices, the path of a blow with friction, several contacts, refusals."""

from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import carom
from carom.contact import blow, impact_blocks
from carom.contact.impact.path import Weights, path
from carom.contact.impact.several import Problem, solve

LAWS = {"newton": carom.Newton, "poisson": carom.Poisson, "stronge": carom.Stronge}


# -- the same blows, by other means ------------------------------------------------------------------------------------


def followed(w: Any, un: float, ut: float, mu: float, law: str, e: float, limit: float | None = None) -> Any:
    """A blow with friction followed piece by piece over its normal impulse; returns impulses and what it went through.

    Every piece has constant rates. It ends where sliding stops, where compression ends or where the law is satisfied.
    """
    (nn, nt), (_, tt) = np.asarray(w)
    limit = mu if limit is None else limit
    approach, normal, rubbed, work, goal, pieces = un, 0.0, 0.0, 0.0, None, []
    for _ in range(8):
        holds = ut == 0.0 and abs(nt) <= limit * tt
        ratio = -nt / tt if holds else -mu * np.sign(ut if ut != 0.0 else nt)
        rise, turn = nn + nt * ratio, 0.0 if holds else nt + tt * ratio
        pieces.append("sticks" if holds else "right" if ratio < 0 else "left")
        stop = -ut / turn if ut * turn < 0 else np.inf
        if goal is None:
            left = -un / rise if rise > 0 else np.inf
        elif law == "newton":
            left = (goal - un) / rise
        elif law == "poisson":
            left = goal - normal
        else:
            left = (np.sqrt(un**2 + 2 * rise * (goal - work)) - un) / rise
        step = min(stop, left)
        work += step * (un + rise * step / 2)
        normal, rubbed, un = normal + step, rubbed + ratio * step, un + rise * step
        ut = 0.0 if stop <= left else ut + turn * step
        if left <= stop and goal is not None:
            return normal, rubbed, pieces
        if left <= stop:
            goal = {"newton": -e * approach, "poisson": (1 + e) * normal, "stronge": -(e**2) * work}[law]
            un, work = 0.0, 0.0
    raise AssertionError("a blow has at most four pieces")


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


def by_all_sets(w: Any, b: Any) -> list[np.ndarray]:
    """Every x >= 0 with b + w x >= 0, complementary to it: all sets of pushing contacts tried."""
    out = []
    for count in range(len(b) + 1):
        for chosen in combinations(range(len(b)), count):
            x, on = np.zeros(len(b)), list(chosen)
            x[on] = np.linalg.lstsq(w[np.ix_(on, on)], -b[on], rcond=1e-11)[0]
            u = b + w @ x
            if min(x.min(), u.min()) > -1e-9 and np.abs(x * u).max() < 1e-9:
                out.append(x)
    return out


# -- blows in matrices -------------------------------------------------------------------------------------------------


def test_two_identical_constraints_share_alike():
    """The sum is that of one contact; each takes half; the velocity does not know how many there are."""
    mass, row, v = np.diag([2.0, 3.0]), np.array([0.6, 0.8]), np.array([-1.0, -2.0])
    alone = 1.5 * -(row @ v) / (row @ np.linalg.solve(mass, row))
    for count in (1, 2):
        found = blow(mass, np.tile(row, (count, 1)), v, 0.5)
        np.testing.assert_allclose(found.impulses, alone / count, rtol=1e-12)
        np.testing.assert_allclose(found.velocity, v + np.linalg.solve(mass, row * alone), atol=1e-13)


def test_a_foot_without_mass_is_stopped_by_the_ground():
    """M is singular. Base (x, y) of mass 3, massless foot hung from it at an angle: the foot's own speed is free to
    change, so a ground that it may slide on takes no impulse. In a corner it stops the base along the leg.
    """
    angle, length = -0.9, 0.7
    mass = np.diag([3.0, 3.0, 0.0])
    down = np.array([0.0, 1.0, length * np.cos(angle)])
    across = np.array([1.0, 0.0, -length * np.sin(angle)])
    v = np.array([0.3, -2.0, 0.1])
    slides = blow(mass, down[None], v)
    np.testing.assert_allclose(slides.impulses, 0.0, atol=1e-12)
    np.testing.assert_allclose(slides.velocity[:2], v[:2], atol=1e-12)
    assert float(down @ slides.velocity) == pytest.approx(0.0, abs=1e-12)
    held = blow(mass, np.stack([down, -across]), v)
    leg = np.array([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(held.velocity[:2], v[:2] - (v[:2] @ leg) * leg, atol=1e-12)
    np.testing.assert_allclose(3.0 * (held.velocity[:2] - v[:2]), [-held.impulses[1], held.impulses[0]], atol=1e-12)


W3 = np.array([[1.0, -0.8, -0.4], [-0.8, 1.0, 0.8], [-0.4, 0.8, 1.0]])
B3 = np.array([-0.2, -0.2, -1.0])


def test_dropping_all_pulling_contacts_at_once_is_wrong():
    """All held, the impulses are (-1, -3, 3). Without the first two, the first is driven in; it must go on pushing."""
    mass = np.eye(3)
    rows = np.linalg.cholesky(W3)  # A M^-1 A^T = W3
    v = np.linalg.solve(rows, B3)
    all_held = np.linalg.solve(W3, -B3)
    np.testing.assert_allclose(all_held, [-1.0, -3.0, 3.0], atol=1e-13)
    pulls = all_held < 0
    shortcut = np.zeros(3)
    shortcut[~pulls] = np.linalg.solve(W3[np.ix_(~pulls, ~pulls)], -B3[~pulls])
    assert (B3 + W3 @ shortcut).min() < -0.5, "the short-cut leaves a contact moving into its surface"
    (exact,) = by_all_sets(W3, B3)
    found = blow(mass, rows, v)
    np.testing.assert_allclose(found.impulses, exact, atol=1e-12)
    np.testing.assert_array_equal(found.pushing, exact > 0)
    none = jnp.asarray(0.0)
    engine = solve(Problem(W3.tolist(), list(B3), [], [], [none] * 3, [jnp.asarray(True)] * 3, [], ()))
    assert bool(engine.found)
    np.testing.assert_allclose(np.stack(engine.normal), exact, atol=1e-12)


def test_blocks_are_those_of_the_inverse():
    rng = np.random.default_rng(1)
    half, rows = rng.normal(size=(5, 5)), rng.normal(size=(2, 5))
    mass = half @ half.T
    got = impact_blocks(mass, rows)
    seen = np.linalg.inv(rows @ np.linalg.solve(mass, rows.T))
    np.testing.assert_allclose(got.contact, -seen, rtol=1e-9)
    np.testing.assert_allclose(got.rows, seen @ rows @ np.linalg.inv(mass), rtol=1e-9, atol=1e-12)
    v = rng.normal(size=5)
    # Held both ways, whether it pushes or pulls.
    np.testing.assert_allclose(rows @ (v - got.rows.T @ (rows @ v)), 0.0, atol=1e-12)


def test_derivatives_of_a_blow_are_those_of_the_contacts_that_push():
    mass, rows = np.diag([1.0, 2.0]), np.array([[0.0, 1.0], [-0.6, 0.8]])
    v = jnp.array([1.0, -1.0])
    after = jax.jit(lambda v: blow(mass, rows, v, 0.3).velocity)
    h = 1e-6
    differences = np.stack([(after(v + d) - after(v - d)) / (2 * h) for d in h * np.eye(2)], axis=1)
    for change in (jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(jax.jit(change(after))(v), differences, atol=1e-8)


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


# -- several contacts --------------------------------------------------------------------------------------------------


def block(push: float, mu: float, limit: float, fixed: float = 0.0, feet: int = 2) -> Problem:
    """A block of mass 1 on `feet` alike, pressed by 1 N and pushed along; rows repeat each other."""
    n, zero = feet, jnp.asarray(0.0)
    w = np.kron(np.eye(2), np.ones((n, n)))
    b = [-1.0] * n + [push] * n
    return Problem(
        w.tolist(),
        b,
        [mu] * n,
        [limit] * n,
        [zero] * n,
        [jnp.asarray(True)] * n,
        [jnp.asarray(fixed)] * n,
        tuple(range(n)),
    )


@pytest.mark.parametrize("feet", (1, 2))
def test_a_block_at_rest_holds_by_static_friction(feet):
    """0.4 N along 1 N of weight: mu = 0.3 would let it slide on, mu_s = 0.5 holds it, and all feet share alike."""
    held = solve(block(0.4, 0.3, 0.5, feet=feet))
    assert bool(held.found)
    np.testing.assert_allclose(np.stack(held.after), 0.0, atol=1e-13)
    np.testing.assert_allclose(np.stack(held.normal), 1.0 / feet, rtol=1e-7)
    np.testing.assert_allclose(np.stack(held.tangential), -0.4 / feet, rtol=1e-7)
    gone = solve(block(0.6, 0.3, 0.5, feet=feet))
    np.testing.assert_allclose(np.stack(gone.after)[feet:], 0.6 - 0.3, rtol=1e-7)


def test_a_sliding_contact_that_friction_pulls_in_has_no_answer():
    """Painleve: w_nn - mu w_nt < 0 while it is pressed; no force keeps it from going in, and it says so."""
    c, s = np.cos(-1.1), np.sin(-1.1)
    w = [[1 + 3 * c * c, -3 * s * c], [-3 * s * c, 1 + 3 * s * s]]
    zero, on = jnp.asarray(0.0), jnp.asarray(True)
    lost = solve(Problem(w, [-9.81, 0.0], [2.0], [2.0], [zero], [on], [jnp.asarray(1.0)], (0,)))
    assert w[0][0] - 2.0 * w[0][1] < 0 and not bool(lost.found)
    free = solve(Problem(w, [-9.81, 0.0], [2.0], [2.0], [zero], [on], [jnp.asarray(-1.0)], (0,)))
    assert bool(free.found)


# -- refusals ----------------------------------------------------------------------------------------------------------

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
FLOOR = carom.Plane(height=0.0)


def rigid(law: Any = 0.0, friction: Any = None, name: str = "foot") -> Any:
    return carom.Contact(BALL.tip, FLOOR, law, friction, name=name)


def world(*contacts: Any, **options: Any) -> carom.World:
    return carom.World(BALL, contacts=contacts, **options)


def several_of(count: int, law: Any = 0.0, friction: Any = None) -> Any:
    return world(*(rigid(law, friction, name=f"foot {i}") for i in range(count)))


REFUSED = {
    "Newton above 1": (
        lambda: carom.Newton(1.2),
        r"restitution of Newton is 1.2; it must lie in \[0, 1\]; 0 is plastic",
    ),
    "Poisson below 0": (lambda: carom.Poisson(-0.1), r"restitution of Poisson is -0.1; it must be at least 0"),
    "Stronge is nan": (
        lambda: carom.Stronge(float("nan")),
        r"restitution of Stronge is nan; it must be a finite number",
    ),
    "a number above 1": (lambda: rigid(1.01), r"restitution of Newton is 1.01; it must lie in \[0, 1\]"),
    "two restitutions": (
        lambda: rigid([0.1, 0.2]),
        r"restitution of Newton has shape \(2,\); it must be a single number",
    ),
    "no restitution": (
        lambda: carom.Contact(BALL.tip, FLOOR),
        r"normal of contact .* is None; it must be a compliant law .*Newton\(0.5\)",
    ),
    "a word": (
        lambda: rigid("plastic"),
        r"normal of contact 'foot' is 'plastic'; it must be a compliant law .* or an impulsive one",
    ),
    "negative mu": (lambda: carom.Coulomb(-0.1), r"mu of Coulomb is -0.1; it must be at least 0"),
    "static below mu": (
        lambda: carom.Coulomb(0.4, static=0.3),
        r"static of Coulomb is 0.3, less than mu, 0.4; it must be at least mu; leave it out for equal ones",
    ),
    "negative drag": (lambda: carom.Coulomb(0.4, viscous=-1.0), r"viscous of Coulomb is -1; it must be at least 0"),
    "smooth friction": (
        lambda: rigid(0.0, carom.SmoothCoulomb(0.3, 1e-3)),
        r"friction of rigid contact 'foot' is SmoothCoulomb; .* sticks exactly: carom.Coulomb.* go with compliant ones",
    ),
    "bristles": (
        lambda: rigid(0.0, carom.LuGre(mu=0.3, static=0.4, speed=0.01, stiffness=1e5)),
        r"friction of rigid contact 'foot' is LuGre; .* sticks exactly: carom.Coulomb",
    ),
    "a number for friction": (lambda: rigid(0.0, 0.3), r"friction of rigid contact 'foot' is float; .* carom.Coulomb"),
    "Stronge twice": (
        lambda: several_of(2, carom.Stronge(0.5)),
        r"restitution of contact 'foot 0' is Stronge, which is defined for one contact; there are 2 .* use Poisson",
    ),
    "mixed laws": (
        lambda: world(rigid(carom.Newton(0.5)), rigid(carom.Poisson(0.5), name="hand")),
        r"rigid contacts mix the laws Newton and Poisson; .* need one law \(Plastic goes with each\)",
    ),
    "13 contacts": (lambda: several_of(13), r"13 rigid contacts have 8192 combinations .* at most 4096 are served"),
    "7 with friction": (lambda: several_of(7, 0.0, carom.Coulomb(0.3)), r"7 rigid contacts have 16384 combinations"),
    "not a contact": (lambda: world(FLOOR), r"contacts of World holds a Plane; it must hold contacts"),
    "one name twice": (
        lambda: world(rigid(), rigid()),
        r"2 rigid contacts are called 'foot'; names must differ; give each",
    ),
    "settles at no speed": (
        lambda: world(rigid(), settle_speed=-1.0),
        r"settle_speed of rigid contacts is -1; it must be at least 0",
    ),
    "blow above 1": (
        lambda: blow(np.eye(2), np.eye(2), [0.0, -1.0], 1.5),
        r"restitution of blow is 1.5; .* in \[0, 1\]",
    ),
    "blow with three": (
        lambda: blow(np.eye(2), np.eye(2), [0.0, -1.0], [0.1, 0.2, 0.3]),
        r"restitution of blow is \[0.1, 0.2, 0.3\]; .* one for each of 2 rows",
    ),
    "blow on a flat mass": (
        lambda: blow(np.ones(2), np.eye(2), [0.0, -1.0]),
        r"mass of a blow has shape \(2,\); .* squ",
    ),
    "blow with long rows": (
        lambda: blow(np.eye(2), np.eye(3), [0.0, -1.0]),
        r"rows of a blow have shape \(3, 3\); .* 2 n",
    ),
    "blow with a long velocity": (lambda: blow(np.eye(2), np.eye(2), np.ones(3)), r"velocity of blow has shape \(3,\)"),
}


@pytest.mark.parametrize("mistake", REFUSED)
@pytest.mark.usefixtures("unchecked")
def test_mistakes_are_refused_with_a_sentence(mistake):
    make, sentence = REFUSED[mistake]
    with pytest.raises(carom.CaromError, match=sentence):
        make()


def test_plastic_goes_with_every_law():
    for law in (carom.Newton(0.5), carom.Poisson(0.5)):
        world(rigid(law), rigid(carom.Plastic(), name="hand"))
    world(rigid(carom.Stronge(0.5)))  # alone
    several_of(12)
    several_of(6, 0.0, carom.Coulomb(0.3))
