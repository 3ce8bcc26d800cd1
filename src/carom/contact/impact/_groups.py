"""Which contacts a blow reaches: those that close, and all that an impulse at them moves, from contact to contact.

Two contacts are linked where the inverse inertia between them is not exactly zero; of mechanisms that only stand side
by side it is. A blow falls apart into groups of linked contacts, and each group is solved without the others. What no
closing contact is linked to is left as it is, to the last bit. No smallness decides: the rule for several contacts
tends to that for each alone as their coupling vanishes (_course.py).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ...quantities import Matrix


def linked_of(w: list[list[Any]], part: list[Any], rubs: tuple[int, ...]) -> Any:
    """(contacts, contacts): which of those that take part belong to one group; each belongs to its own."""
    n = len(part)
    rows = [[i, *(n + k for k, owner in enumerate(rubs) if owner == i)] for i in range(n)]

    def coupled(i: int, j: int) -> Any:
        if i == j:
            return jnp.asarray(True)
        return jnp.any(jnp.stack([jnp.asarray((w[r][s] != 0.0) | (w[s][r] != 0.0)) for r in rows[i] for s in rows[j]]))

    on = jnp.stack([jnp.asarray(p) for p in part])
    linked = jnp.stack([jnp.stack([coupled(min(i, j), max(i, j)) for j in range(n)]) for i in range(n)])
    linked = (linked & on[:, None] & on[None, :]) | jnp.eye(n, dtype=bool)
    for _ in range((n - 1).bit_length()):  # every turn doubles the length of the chains that are seen
        linked = jnp.any(linked[:, :, None] & linked[None, :, :], axis=1)
    return linked


def linked_in(w: Float[Array, "rows rows"], part: Bool[Array, " n"], rubs: tuple[int, ...]) -> Bool[Array, "n n"]:
    """The same for many contacts, whose rows are counted as in _several.py."""
    n = len(part)
    owner = np.zeros((n + len(rubs), n))
    owner[np.arange(n), np.arange(n)] = 1.0
    owner[n + np.arange(len(rubs)), np.asarray(rubs, dtype=int)] = 1.0
    coupled = owner.T @ jnp.where((w != 0.0) | (w.T != 0.0), 1.0, 0.0) @ owner > 0.0
    linked: Any = (coupled & part[:, None] & part[None, :]) | jnp.eye(n, dtype=bool)

    def wider(s: Any) -> Any:
        near = s[0].astype(float)
        return near @ near > 0.0, s[0]

    # Every turn doubles the length of the chains that are seen; most groups are small.
    return jax.lax.while_loop(lambda s: jnp.any(s[0] != s[1]), wider, (linked, jnp.zeros_like(linked)))[0]


def reached(linked: Matrix, part: list[Any], closing: list[Any]) -> Any:
    """Contacts that take part in the blow: linked to one that closes."""
    on = jnp.stack([jnp.asarray(p) for p in part])
    begins = on & (jnp.stack(closing) < 0.0)
    return on & jnp.any(linked & begins[None, :], axis=1)
