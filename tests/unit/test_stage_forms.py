"""A step of an explicit solver is the same however its stages stand in the code."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from carom.hybrid.solvers import SOLVERS, RungeKutta

EXPLICIT = [name for name, solver in SOLVERS.items() if isinstance(solver, RungeKutta)]


def pendulum(t, y):
    return {"angle": y["speed"], "speed": jnp.stack([-jnp.sin(y["angle"][0]) + 0.1 * jnp.cos(3.0 * t)])}


@pytest.mark.parametrize("name", EXPLICIT)
def test_every_form_takes_the_same_step(name):
    y = {"angle": jnp.asarray([0.7]), "speed": jnp.asarray([-0.4])}
    plain = dataclasses.replace(SOLVERS[name], form="unrolled").step(pendulum, 0.2, y, pendulum(0.2, y), 0.31)
    assert float(jnp.abs(plain[1]["speed"][0])) > 0.0
    for form, heavy in (("rolled", False), ("short", True)):
        other = dataclasses.replace(SOLVERS[name], form=form).step(pendulum, 0.2, y, pendulum(0.2, y), 0.31, heavy)
        for mine, known in zip(other, plain, strict=True):
            for key in known:
                np.testing.assert_allclose(mine[key], known[key], rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("name", EXPLICIT)
def test_rolled_stages_compute_nothing_before_their_loop(name):
    """Products with the first derivative would be held in registers as long as another step may ask for them."""
    solver, y = dataclasses.replace(SOLVERS[name], form="rolled"), {"angle": jnp.ones(1), "speed": jnp.ones(1)}
    equations = jax.make_jaxpr(lambda k0: solver.step(pendulum, 0.2, y, k0, 0.31))(y).jaxpr.eqns
    names = [equation.primitive.name for equation in equations]
    assert "mul" not in names[: names.index("scan")]
