"""Random blows on several contacts, solved one after the other by one compiled program."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import carom
from carom.contact.impact._course import Blows, impulses_along


def several(w: Any, u: Any, e: Any, mu: Any, limit: Any, newton: bool = False, ends: bool = False) -> Any:
    """Impulses of contacts that all have friction, solved as one group whether they are coupled or not."""
    n = len(e)
    rows = [list(row) for row in w]
    group = jnp.ones((n, n), dtype=bool)
    data = Blows(rows, w, u, 0.0 * u, e, mu, limit, jnp.ones(n, dtype=bool), group, tuple(range(n)), newton, ends)
    impulses, found = impulses_along(data)
    return jnp.stack(impulses), found


@cache
def each(newton: bool = False, ends: bool = False) -> Any:
    """One blow after the other, as compiled programs run them; XLA compiles once per number of contacts."""

    def all_of_them(*data: Any) -> Any:
        return jax.lax.map(lambda x: several(*x, newton=newton, ends=ends), data)

    return carom.jit(all_of_them)


def run(data: Any, **kind: bool) -> np.ndarray:
    impulses, found = each(**kind)(*(jnp.asarray(x) for x in data))
    assert np.all(found)
    return np.asarray(impulses)


def drawn(seed: int, count: int, contacts: int, dof: int | None = None) -> Any:
    """Random blows: inverse inertia, velocities, restitution, friction and stiction; and the energy before them."""
    rng, out = np.random.default_rng(seed), []
    for _ in range(count):
        size = dof or rng.integers(contacts, 7)
        rows, half = rng.normal(size=(2 * contacts, size)), rng.normal(size=(size, size))
        mass, v = half @ half.T + 0.1 * np.eye(size), rng.normal(size=size)
        mu = rng.choice([0.0, 0.3, 1.0, 3.0], size=contacts) * rng.random(contacts)
        limit = mu * rng.choice([1.0, 1.5], size=contacts)
        w = rows @ np.linalg.solve(mass, rows.T)
        u = rows @ v
        if u[:contacts].min() > 0.0:  # one closes at least
            u, v = -u, -v
        out.append((w, u, rng.random(contacts), mu, limit, v @ mass @ v / 2))
    *data, energy = (np.stack(x) for x in zip(*out, strict=True))
    return tuple(data), energy
