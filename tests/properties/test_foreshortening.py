"""Foreshortening of elastic links: the kinetic energy keeps it to second order."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from carom import dynamics

from .elastic_cases import TREES, Case, random_numbers
from .elastic_judge import kinetic


@eqx.filter_jit
def missing(case: Case, sizes: Any) -> Any:
    """Kinetic energy less the judge's, for deflections and rates made smaller and smaller."""
    first = case.mechanism.topology.base_dof + case.mechanism.topology.links

    def at(size: Any) -> Any:
        q, v = (x.at[first:].multiply(size) for x in (case.q, case.v))
        return dynamics.kinetic_energy(case.mechanism, q, v) - kinetic(case.mechanism, q, v)

    return jax.lax.map(at, sizes)


@pytest.mark.parametrize("name", TREES)
def test_foreshortening_is_kept_to_second_order(name: str) -> None:
    """Joints and loads beside the axis included: what is left out falls with the third power."""
    template = TREES[name]
    rng, sizes = np.random.default_rng(5), np.array([1e-1, 1e-2, 1e-3])
    state = [jnp.asarray(rng.uniform(-1, 1, size)) for size in (template.dof,) * 2]
    rest = [jnp.zeros(size) for size in (template.topology.links, 2, template.topology.base_dof, 2, 2)]
    numbers = random_numbers(template, 3, True)
    case = Case(eqx.tree_at(lambda m: m.numbers, template, numbers), *state, *rest)
    gap = np.abs(np.asarray(missing(case, jnp.asarray(sizes))))
    slopes = np.diff(np.log(gap)) / np.diff(np.log(sizes))
    assert np.all(slopes > 2.8), gap
    assert gap[0] > 1e-8
