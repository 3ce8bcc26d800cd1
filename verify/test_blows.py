"""A million blows on one contact and a million on two to four: none creates energy, none is without a number."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.impact._course import Blows, impulses_along
from carom.contact.impact._path import Weights, path

DOF = 6  # smaller systems have rows that end in zeros


def drawn(rng: np.random.Generator, count: int, contacts: int) -> Any:
    """Inverse inertia, velocities, restitution, friction, stiction, energy before; 1 to 6 degrees of freedom."""
    dof = rng.integers(1, DOF + 1, size=count)
    on = (np.arange(DOF) < dof[:, None]).astype(float)
    half = rng.normal(size=(count, DOF, DOF)) * on[:, :, None] * on[:, None, :]
    mass = half @ np.swapaxes(half, 1, 2) + 0.1 * np.eye(DOF)
    rows = rng.normal(size=(count, 2 * contacts, DOF)) * on[:, None, :]
    v = rng.normal(size=(count, DOF)) * on
    u = np.einsum("nij,nj->ni", rows, v)
    turned = np.where(u[:, :contacts].min(axis=1) > 0.0, -1.0, 1.0)  # one closes at least
    u, v = u * turned[:, None], v * turned[:, None]
    w = rows @ np.linalg.solve(mass, np.swapaxes(rows, 1, 2))
    mu = rng.choice([0.0, 0.3, 1.0, 3.0], size=(count, contacts)) * rng.random((count, contacts))
    limit = mu * rng.choice([1.0, 1.5], size=(count, contacts))
    e = np.where(rng.random((count, contacts)) < 0.1, 1.0, rng.random((count, contacts)))
    return (w, u, e, mu, limit), np.einsum("ni,nij,nj->n", v, mass, v) / 2


def gain(w: Any, u: Any, p: Any, energy: Any) -> Any:
    """Energy that impulses add, relative to that before and to what the impulses did to it."""
    w, u, p = (x.astype(np.longdouble) for x in (w, u, p))
    added = np.einsum("ni,ni->n", u, p) + np.einsum("ni,nij,nj->n", p, w, p) / 2
    return (added / (energy + np.abs(u * p).sum(axis=1))).astype(float)


@pytest.mark.slow
def test_a_million_blows_on_one_contact():
    rng = np.random.default_rng(1)

    @jax.jit
    @jax.vmap
    def struck(w: Any, u: Any, e: Any, mu: Any, limit: Any) -> Any:
        way = path(Weights(w[0, 0], w[0, 1], w[1, 1]), u[0], u[1], mu[0], limit[0])
        normal = [law(e[0]).end(way, e[0]) for law in (carom.Poisson, carom.Stronge)]
        return jnp.stack([jnp.stack([p, way.friction(p)]) for p in normal]), way.found

    worst = np.full(2, -np.inf)
    for _ in range(10):
        data, energy = drawn(rng, 100_000, 1)
        p, found = (np.asarray(x) for x in struck(*data))
        assert np.all(np.isfinite(p)) and np.all(found)
        worst = np.maximum(worst, [gain(data[0], data[1], p[:, k], energy).max() for k in (0, 1)])
    print(f"one contact, 1,000,000 blows: largest relative gain {worst[0]:.1e} (Poisson), {worst[1]:.1e} (Stronge)")
    assert worst.max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("contacts, count", ((2, 700_000), (3, 200_000), (4, 100_000)))
def test_a_million_blows_on_several_contacts(contacts, count):
    """Poisson with friction. Where rows depend on each other badly, a few have no answer: those are counted."""
    group, everybody = jnp.ones((contacts, contacts), dtype=bool), jnp.ones(contacts, dtype=bool)

    def one(data: Any) -> Any:
        w, u, e, mu, limit = data
        rows = [list(row) for row in w]
        rubs = tuple(range(contacts))
        impulses, found = impulses_along(Blows(rows, w, u, 0.0 * u, e, mu, limit, everybody, group, rubs, False, False))
        return jnp.stack(impulses), found

    chunk = 10_000
    one_by_one = carom.jit(lambda *data: jax.lax.map(one, data))

    def some(seed: int) -> Any:
        data, energy = drawn(np.random.default_rng(seed), chunk, contacts)
        p, found = (np.asarray(x) for x in one_by_one(*data))
        assert np.all(np.isfinite(p))
        w, u = data[0], data[1]
        after = u + np.einsum("nij,nj->ni", w, p)
        enters = (after[:, :contacts] / np.abs(u).max(axis=1, keepdims=True)).min(axis=1)
        return gain(w, u, p, energy)[found].max(), enters[found].min(), np.mean(~found)

    some(0)
    with ThreadPoolExecutor(2) as pool:
        out = np.array(list(pool.map(some, range(1, count // chunk + 1))))
    worst, enters, lost = out[:, 0].max(), out[:, 1].min(), out[:, 2].mean()
    print(f"{contacts} contacts, {count:,} blows: largest relative gain {worst:.1e}, {enters:.1e} u_n, {lost:.1e} lost")
    assert worst < 1e-12 and enters > -1e-7 and lost < 1e-3
