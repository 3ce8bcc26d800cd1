"""Impulsive laws on random systems: against all sets of contacts in NumPy, and what must hold for energy."""

from itertools import combinations
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carom
from carom import native
from carom.contact import blow
from carom.contact.impact._path import Weights, path
from carom.contact.impact._several import Problem, solve

DOF, ROWS, DRAWS = 8, 6, 500  # smaller systems are padded with unit masses and zero rows: one compilation for all


def compiled(function: Any) -> Any:
    return carom.jit(native.rows(function))


# -- without friction --------------------------------------------------------------------------------------------------


class System(NamedTuple):
    mass: np.ndarray
    rows: np.ndarray
    v: np.ndarray
    e: float
    count: int  # of contacts

    @property
    def seen(self) -> np.ndarray:
        """A M^-1 A^T."""
        return self.rows @ np.linalg.solve(self.mass, self.rows.T)


def random_system(rng: np.random.Generator) -> System:
    n, m = rng.integers(2, DOF + 1), rng.integers(1, ROWS + 1)
    mass, rows, v = np.eye(DOF), np.zeros((ROWS, DOF)), np.zeros(DOF)
    half = rng.normal(size=(n, n))
    mass[:n, :n] = half @ half.T + 0.1 * np.eye(n)
    rows[:m, :n] = rng.normal(size=(m, n))
    v[:n] = rng.normal(size=n)
    return System(mass, rows, v, rng.choice([0.0, 0.5, 1.0]), int(m))


def velocity_by_all_sets(s: System) -> np.ndarray:
    """Velocity after the blow: every set of pushing contacts is tried, and all that fit must agree."""
    w, b, found = s.seen, (1 + s.e) * (s.rows @ s.v), []
    for size in range(s.count + 1):
        for chosen in combinations(range(s.count), size):
            x, on = np.zeros(ROWS), list(chosen)
            x[on] = np.linalg.lstsq(w[np.ix_(on, on)], -b[on], rcond=1e-10)[0]
            u = b + w @ x
            if min(x.min(), u.min()) > -1e-9 and abs(x @ u) < 1e-9:
                found.append(s.v + np.linalg.solve(s.mass, s.rows.T @ x))
    assert found and np.ptp(found, axis=0).max() < 1e-7
    return found[0]


@pytest.fixture(scope="module")
def systems() -> list[System]:
    rng = np.random.default_rng(20)
    return [random_system(rng) for _ in range(DRAWS)]


@pytest.fixture(scope="module")
def expected(systems: list[System]) -> list[np.ndarray]:
    return [velocity_by_all_sets(s) for s in systems]


def column(systems: list[System], field: str) -> Any:
    return jnp.asarray(np.stack([getattr(s, field) for s in systems]))


def check_frictionless(s: System, after: np.ndarray, impulses: np.ndarray, exact: np.ndarray, label: str) -> None:
    np.testing.assert_allclose(s.mass @ (after - s.v), s.rows.T @ impulses, atol=1e-9, err_msg=label)
    np.testing.assert_allclose(after, exact, atol=1e-9, err_msg=label)
    rise = s.rows @ after + s.e * (s.rows @ s.v)
    assert impulses.min() >= -1e-10, label
    assert rise.min() >= -1e-10, label
    assert np.abs(impulses * rise).max() <= 1e-10, label
    change = (after @ s.mass @ after - s.v @ s.mass @ s.v) / 2
    assert change <= 1e-10, label
    if s.e == 1.0:
        assert change == pytest.approx(0.0, abs=1e-10 * (s.v @ s.mass @ s.v)), label


def test_blow_equals_the_search_through_all_sets(systems, expected):
    got = compiled(blow)(*(column(systems, f) for f in ("mass", "rows", "v", "e")))
    for k, s in enumerate(systems):
        check_frictionless(s, np.asarray(got.velocity[k]), np.asarray(got.impulses[k]), expected[k], f"system {k}")
        kinetic = [x @ s.mass @ x / 2 for x in (np.asarray(got.velocity[k]), s.v)]
        assert float(got.energy_change[k]) == pytest.approx(kinetic[0] - kinetic[1], abs=1e-10)


def listed(array: Any) -> Any:
    return [listed(a) for a in array] if array.ndim > 1 else list(array)


@compiled
def several_without_friction(w: Any, b: Any, part: Any) -> Any:
    none = [jnp.asarray(0.0)] * ROWS
    s = solve(Problem(listed(w), list(b), [], [], none, list(part), [], ()))
    return jnp.stack(s.normal), s.found


def test_the_engines_solver_equals_the_search_through_all_sets(systems, expected):
    """Systems whose pushing rows nearly depend on each other are left out: their impulses lose digits."""
    seen = [s.seen for s in systems]
    part = np.stack([np.arange(ROWS) < s.count for s in systems])
    w = np.stack([np.where(np.outer(p, p), x, np.eye(ROWS)) for x, p in zip(seen, part, strict=True)])
    b = np.stack([np.where(p, (1 + s.e) * (s.rows @ s.v), 1.0) for s, p in zip(systems, part, strict=True)])
    got, found = several_without_friction(jnp.asarray(w), jnp.asarray(b), jnp.asarray(part))
    assert np.all(found)
    checked = 0
    for k, s in enumerate(systems):
        x = np.where(part[k], got[k], 0.0)
        if not np.any(x > 0.0) or np.linalg.cond(seen[k][np.ix_(x > 0.0, x > 0.0)]) < 1e4:
            check_frictionless(s, s.v + np.linalg.solve(s.mass, s.rows.T @ x), x, expected[k], f"system {k}")
            checked += 1
    assert checked > 0.95 * DRAWS


# -- several contacts with friction ------------------------------------------------------------------------------------

RUBBING = 3


class Rubbing(NamedTuple):
    w: np.ndarray
    b: np.ndarray
    mu: np.ndarray
    limit: np.ndarray
    offset: np.ndarray
    part: np.ndarray


def random_rubbing(rng: np.random.Generator) -> Rubbing:
    """Up to three contacts; friction from none to five, static friction up to half as much again."""
    n, m = rng.integers(2, DOF + 1), rng.integers(1, RUBBING + 1)
    part = np.arange(RUBBING) < m
    half = rng.normal(size=(n, n))
    rows = np.where(np.tile(part, 2)[:, None], rng.normal(size=(2 * RUBBING, n)), 0.0)
    w = rows @ np.linalg.solve(half @ half.T + 0.1 * np.eye(n), rows.T) + np.diag(np.where(np.tile(part, 2), 0.0, 1.0))
    b = np.where(np.tile(part, 2), rows @ rng.normal(size=n), [1.0] * RUBBING + [0.0] * RUBBING)
    mu = rng.choice([0.0, 0.3, 1.0, 5.0], size=RUBBING) * rng.random(RUBBING)
    stiction = rng.choice([1.0, 1.5], size=RUBBING)
    offset = np.where(part, rng.random(RUBBING), 0.0) * rng.choice([0.0, 1.0])
    return Rubbing(w, b, mu, stiction * mu, offset, part)


@compiled
def several_with_friction(r: Rubbing) -> Any:
    free = [jnp.asarray(0.0)] * RUBBING
    rubs = tuple(range(RUBBING))
    problem = Problem(listed(r.w), list(r.b), list(r.mu), list(r.limit), list(r.offset), list(r.part), free, rubs)
    s = solve(problem)
    return jnp.stack(s.normal), jnp.stack(s.tangential), s.found


def broken(r: Rubbing, x: np.ndarray, p: np.ndarray) -> float:
    """By how much the conditions of _several.py are broken."""
    on, push = r.part, x + r.offset
    u = r.b + r.w @ np.where(np.tile(on, 2), np.concatenate([push, p]), 0.0)
    un, ut = u[:RUBBING], u[RUBBING:]
    sliding = np.where(np.abs(ut) > 1e-9, p + r.mu * push * np.sign(ut), np.maximum(np.abs(p) - r.limit * push, 0.0))
    worst = [-x, -un, np.abs(x * un), np.abs(sliding)]
    return float(max(np.where(on, each, 0.0).max() for each in worst))


def test_several_contacts_with_friction_are_always_solved():
    """At the level of velocities there is a solution for any friction; it must be found, and fulfil all conditions."""
    rng = np.random.default_rng(6)
    draws = [random_rubbing(rng) for _ in range(DRAWS)]
    together = Rubbing(*(jnp.asarray(np.stack(field)) for field in zip(*draws, strict=True)))
    x, p, found = (np.asarray(a) for a in several_with_friction(together))
    assert np.all(found), f"{np.mean(found):.1%} found"
    for k, r in enumerate(draws):
        assert broken(r, x[k], p[k]) < 1e-9, f"problem {k}"


# -- energy ------------------------------------------------------------------------------------------------------------


@compiled
def struck(w: Any, u: Any, mu: Any, stiction: Any, e: Any) -> Any:
    """Impulses of the three laws."""
    way = path(Weights(w[0, 0], w[0, 1], w[1, 1]), u[0], u[1], mu, stiction * mu)
    normal = [law(e).end(way, e) for law in (carom.Newton, carom.Poisson, carom.Stronge)]
    return jnp.stack([jnp.stack([p, way.friction(p)]) for p in normal])


@pytest.fixture(scope="module")
def blows() -> Any:
    """100,000 blows: any inverse inertia, approach and sliding, friction up to 3, restitution over [0, 1]."""
    rng, n = np.random.default_rng(8), 100_000
    rows = rng.normal(size=(n, 2, 3))
    w = rows @ np.swapaxes(rows, 1, 2)
    u = np.stack([-rng.exponential(size=n), rng.normal(size=n) * rng.choice([0.0, 0.1, 1.0, 10.0], size=n)], axis=1)
    mu, stiction, e = 3 * rng.random(n) ** 2, rng.choice([1.0, 1.3], size=n), rng.random(n)
    e[:1000] = 1.0
    impulses = np.asarray(struck(*(jnp.asarray(a) for a in (w, u, mu, stiction, e))))
    gain = np.einsum("ni,nki->nk", u, impulses) + np.einsum("nki,nij,nkj->nk", impulses, w, impulses) / 2
    scale = np.abs(np.einsum("ni,nij,nj->n", u, np.linalg.inv(w), u)) + 1e-12
    return w, u, mu * stiction, e, impulses, gain / scale[:, None]


def test_newtons_law_can_create_energy_and_the_others_never_do(blows):
    gain = blows[-1]
    assert np.mean(gain[:, 0] > 1e-6) > 0.01  # Newton
    assert gain[:, 1].max() < 1e-10  # Poisson
    assert gain[:, 2].max() < 1e-10  # Stronge


def test_impulses_lie_in_the_cone_and_push(blows):
    w, u, limit, _, impulses, _ = blows
    scale = np.abs(u).sum(axis=1) / np.minimum(w[:, 0, 0], w[:, 1, 1])
    assert np.all(impulses[..., 0] >= 0.0)
    excess = np.abs(impulses[..., 1]) - limit[:, None] * impulses[..., 0]
    assert np.max(excess / (scale[:, None] + np.abs(impulses[..., 0]))) < 1e-12


def test_each_law_keeps_its_promise(blows):
    """Newton: the ratio of normal speeds. All three: nobody goes in; without friction they are one law."""
    w, u, _, e, impulses, _ = blows
    after = u[:, None, :] + np.einsum("nij,nkj->nki", w, impulses)
    scale = np.abs(u).sum(axis=1) + np.einsum("nij,nkj->nki", np.abs(w), np.abs(impulses)).max(axis=(1, 2))
    assert np.max(np.abs(after[:, 0, 0] + e * u[:, 0]) / scale) < 1e-11
    assert np.min(after[..., 0] / scale[:, None]) > -1e-11
    n = 1000
    bare = np.asarray(struck(*(jnp.asarray(a[:n]) for a in (w, u, np.zeros(n), np.ones(n), e))))
    plain = -(1 + e[:n]) * u[:n, 0] / w[:n, 0, 0]
    np.testing.assert_allclose(bare[..., 0], np.tile(plain[:, None], 3), rtol=1e-10)
    np.testing.assert_array_equal(bare[..., 1], 0.0)


number = st.floats(-3.0, 3.0, allow_subnormal=False)


@given(
    rows=st.lists(number, min_size=6, max_size=6),
    approach=st.floats(-5.0, -0.01),
    sliding=st.sampled_from([0.0, 1e-9, 0.3, 5.0]),
    mu=st.floats(0.0, 4.0),
    e=st.floats(0.0, 1.0),
)
def test_energy_does_not_grow_in_the_worst_case_that_can_be_found(rows, approach, sliding, mu, e):
    """Poisson and Stronge once more, with Hypothesis looking for corners instead of random draws."""
    g = np.reshape(rows, (2, 3))
    w = g @ g.T + 0.01 * np.eye(2)
    u = np.array([approach, sliding])
    impulses = np.asarray(struck(*(jnp.asarray(a)[None] for a in (w, u, mu, 1.0, e))))[0]
    scale = u @ np.linalg.inv(w) @ u
    for p in impulses[1:]:
        assert u @ p + p @ w @ p / 2 <= 1e-10 * scale
