"""The solver for many contacts, certified: against all decisions tried in turn, and against its own conditions."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.impact import _several, _several_arrays
from carom.contact.impact._lemke import lemke
from carom.contact.impact._several import Problem, solve

DRAWS = 400


def solver(rubs, patience, monkeypatch):
    """The array form; Lemke's method after so many rounds."""
    for module in (_several, _several_arrays):
        monkeypatch.setattr(module, "PATIENCE", patience)

    @carom.jit
    def run(w, b, mu, limit, offset, part, fixed):
        found = solve(Problem(w, b, mu, limit, offset, part, fixed, rubs))
        return found.normal, found.tangential, found.after, found.found

    return run


def drawn(rng, n, m, dof):
    """A random problem: velocities of n contacts, m of them with friction, of a body with `dof` coordinates."""
    rows = rng.normal(size=(n + m, dof))
    mu = rng.uniform(0.05, 1.0, size=m)
    limit = mu * np.where(rng.random(m) < 0.5, 1.0, 1.3)
    offset = np.where(rng.random(n) < 0.2, rng.random(n), 0.0)
    part = rng.random(n) < 0.9
    fixed = np.where(rng.random(m) < 0.15, rng.choice([-1.0, 1.0], size=m), 0.0)
    return rows @ rows.T, rows @ rng.normal(size=dof), mu, limit, offset, part, fixed


def held(w, b, mu, limit, offset, part, fixed, x, p, u):
    """Do impulses and velocities obey every condition?"""
    n, m, tiny = len(offset), len(mu), 1e-7 * (np.sum(np.abs(b)) + np.sum(offset))
    push = x + offset
    normal = np.where(part, np.minimum(x, u[:n]), 0.0)
    if np.max(np.abs(normal), initial=0.0) > tiny:  # both non-negative, one of them zero
        return False
    at = np.flatnonzero(part[:m] & (fixed == 0.0))
    still = np.abs(u[n + at]) <= tiny
    sticks = np.abs(p[at]) <= limit[at] * push[at] + tiny
    slides = np.abs(p[at] + mu[at] * push[at] * np.sign(u[n + at])) <= tiny
    return bool(np.all(np.where(still, sticks, slides)))


def by_enumeration(w, b, mu, limit, offset, part, fixed):
    """Velocities of every solution, all decisions tried in turn with plain linear algebra."""
    n, m, found = len(offset), len(mu), []
    senses = [(0.0, 1.0, -1.0) if part[k] and fixed[k] == 0.0 else (fixed[k],) for k in range(m)]
    for pushes in itertools.product(*[(0, 1) if on else (0,) for on in part]):
        for sense in itertools.product(*senses):
            slip = -np.array(sense) * mu
            right = b + w @ np.concatenate([offset, slip * offset[:m]])
            columns = w.copy()
            columns[:, :m] += slip * w[:, n:]
            active = [i for i in range(n) if pushes[i]] + [n + k for k in range(m) if part[k] and sense[k] == 0.0]
            x = np.zeros(n + m)
            if active:
                x[active] = np.linalg.lstsq(columns[np.ix_(active, active)], -right[active], rcond=1e-11)[0]
            u = right + columns @ x
            p = np.where(np.array(sense) == 0.0, x[n:], slip * (x[:n] + offset)[:m])
            if np.max(np.abs(u[active]), initial=0.0) < 1e-8 and held(
                w, b, mu, limit, offset, part, fixed, x[:n], p, u
            ):
                found.append(u)
    return found


@pytest.mark.parametrize("n, m, dof, patience", [(3, 3, 8, 1), (4, 2, 4, 12), (6, 0, 5, 1)])
def test_what_enumeration_finds_is_found_and_nothing_else(n, m, dof, patience, monkeypatch):
    rng, run = np.random.default_rng(n), solver(tuple(range(m)), patience, monkeypatch)
    missed, invented, none = 0, 0, 0
    for _ in range(DRAWS):
        problem = drawn(rng, n, m, dof)
        x, p, u, found = (np.asarray(y) for y in run(*map(jnp.asarray, problem)))
        if found:
            assert held(*problem, x, p, u)
        answers = by_enumeration(*problem) if not found or rng.random() < 0.1 else [u]
        missed += bool(answers) and not found
        invented += bool(found) and not answers
        none += not answers
    assert (missed, invented) == (0, 0)
    assert none < DRAWS // 10


def degenerate(rng, n, m, dof):
    """Whole numbers: rows that repeat or depend on each other, velocities that are zero, ties everywhere."""
    rows = rng.integers(-1, 2, size=(n + m, dof)).astype(float)
    mu = rng.choice([0.25, 0.5, 1.0], size=m)
    offset = rng.choice([0.0, 0.0, 1.0], size=n)
    b = rows @ rng.integers(-1, 2, size=dof)
    return rows @ rows.T + 1e-3 * np.eye(n + m), b, mu, mu, offset, np.ones(n, dtype=bool), np.zeros(m)


@pytest.mark.slow
@pytest.mark.parametrize("make", [drawn, degenerate])
@pytest.mark.parametrize("n, m, dof", [(2, 2, 5), (3, 3, 8), (4, 2, 4), (5, 1, 6), (7, 0, 6)])
def test_thousands_of_problems_against_enumeration(make, n, m, dof, monkeypatch):
    """Of 10,000 problems every one that has an answer is answered, and every answer obeys all conditions."""
    rng, run = np.random.default_rng(100 * n + m), solver(tuple(range(m)), 12, monkeypatch)
    for _ in range(1000):
        problem = make(rng, n, m, dof)
        x, p, u, found = (np.asarray(y) for y in run(*map(jnp.asarray, problem)))
        if found:
            assert held(*problem, x, p, u)
        else:
            assert not by_enumeration(*problem)


def test_forty_contacts_with_friction_and_a_hundred_and_thirty_without(monkeypatch):
    for n, m, dof in ((40, 40, 66), (130, 0, 150)):
        rng, run = np.random.default_rng(0), solver(tuple(range(m)), 12, monkeypatch)
        for _ in range(10):
            w, b, mu, limit, offset, part, _ = drawn(rng, n, m, dof)
            problem = (w, b, mu, limit, offset, part, np.zeros(m))
            x, p, u, found = (np.asarray(y) for y in run(*map(jnp.asarray, problem)))
            assert found and held(*problem, x, p, u)


def test_lemke_says_so_where_there_is_no_solution():
    z, found = lemke(jnp.asarray([[-1.0, 0.0], [0.0, 1.0]]), jnp.asarray([-1.0, -1.0]))  # w = -1 - z < 0
    assert not found
    z, found = lemke(jnp.asarray([[2.0, 1.0], [1.0, 2.0]]), jnp.asarray([-5.0, -6.0]))  # Cottle, Pang and Stone, 1.1
    assert found
    np.testing.assert_allclose(z, [4.0 / 3.0, 7.0 / 3.0], rtol=1e-12)
