"""The laws of the catalogue by name, and what their tests share: a law that joins the catalogue is tested as is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import strategies as st

import carom
from carom.contact import catalogue
from carom.contact.catalogue import FRICTION_LAWS, IMPACT_LAWS, NORMAL_LAWS, LawEntry


def each(*kinds: tuple[LawEntry, ...]) -> Any:
    names = [entry.card.name for kind in kinds for entry in kind]
    return pytest.mark.parametrize("name", names)


every_normal, every_friction, every_impact = each(NORMAL_LAWS), each(FRICTION_LAWS), each(IMPACT_LAWS)
every_law = each(NORMAL_LAWS, FRICTION_LAWS, IMPACT_LAWS)


@functools.cache
def law_of(name: str) -> Any:
    return catalogue.find(name).example()


def says(name: str, words: str) -> bool:
    """Does the law's card say so?"""
    card = catalogue.find(name).card
    return words in f"{card.formula} {card.choose}".lower()


def compiled(function: Callable[..., Any]) -> Any:
    return carom.jit(function)


def decades(low: int, high: int) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda x: 10.0**x)


def both_ways(function: Callable[..., Any], *points: tuple[Any, ...]) -> None:
    """Forward and reverse mode of a function of pytrees of numbers: finite, and the same."""
    numbers = tuple(range(len(points[0])))
    ahead, behind = (compiled(mode(function, argnums=numbers)) for mode in (jax.jacfwd, jax.jacrev))
    for point in points:
        point = jax.tree.map(lambda x: jnp.asarray(x, dtype=float), point)
        there, back = jax.tree.leaves(ahead(*point)), jax.tree.leaves(behind(*point))
        assert all(np.isfinite(x) for x in (*there, *back))
        np.testing.assert_allclose(there, back, rtol=1e-10, atol=1e-14 * np.max(np.abs(there)))


def opened(name: str) -> tuple[Any, Callable[[Any], Any]]:
    """The numbers of a law, and the law from its numbers."""
    numbers, rest = eqx.partition(jax.tree.map(jnp.asarray, law_of(name)), eqx.is_inexact_array)
    return numbers, lambda n: eqx.combine(n, rest)
