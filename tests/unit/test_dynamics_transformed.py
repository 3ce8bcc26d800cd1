"""Equations of motion through every transformation, and what makes them compile again."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics
from carom.dynamics.explicit import Explicit

from .varied_chains import ROD, G, close, random_state, varied

# -- transformations ---------------------------------------------------------------------------------------------------


def by_formalism(m: carom.Mechanism, q: jax.Array, v: jax.Array, formalism: str) -> list[jax.Array]:
    out = [
        dynamics.mass_matrix(m, q, formalism),
        dynamics.bias(m, q, v, formalism),
        dynamics.gravity_force(m, q, q[:2], formalism),
    ]
    if formalism in ("explicit", "gibbs_appell"):  # the others have no solver of their own
        out.append(dynamics.forward_dynamics(m, q, v, torques=jnp.cos(v[-2:]), formalism=formalism))
    return out


GROUPS: dict[str, Callable[..., list[jax.Array]]] = {
    **{name: lambda m, q, v, name=name: by_formalism(m, q, v, name) for name in dynamics.FORMALISMS},
    "inverse": lambda m, q, v: [
        dynamics.inverse_dynamics(m, q, v, jnp.sin(v), forces={"link1.tip": v[:2]}),
        dynamics.generalized_force(m, q, v, forces={"link2.tip": v[:2]}),
    ],
    "energies": lambda m, q, v: [
        dynamics.kinetic_energy(m, q, v),
        dynamics.potential_energy(m, q),
        dynamics.momentum(m, q, v).angular,
        dynamics.centre_of_mass(m, q),
    ],
    "sites": lambda m, q, v: [
        dynamics.site_position(m, q, "link2.tip"),
        dynamics.site_velocity(m, q, v, "link2.tip"),
        dynamics.site_jacobian(m, q, "link2.tip"),
        dynamics.site_bias(m, q, v, "link2.tip"),
    ],
    "coordinates": lambda m, q, v: [
        m.angles(q, relative=True),
        m.to_absolute(q),
        m.coordinates(jnp.sin(q[2:]), q[:2], relative=True, degrees=True),
    ],
}


@pytest.mark.parametrize("group", GROUPS)
def test_every_transformation_goes_through(group: str) -> None:
    """jit, vmap, forward and reverse derivatives, with respect to the mechanism's own numbers and to the state."""
    tree = varied(2, None if group in dynamics.FORMALISMS else carom.Free())
    numbers, rest = eqx.partition(tree, eqx.is_array)
    rng = np.random.default_rng(0)
    point = (numbers, *random_state(tree)[:2])
    step = jax.tree.map(lambda x: jnp.asarray(rng.normal(size=x.shape)), point)

    def of(numbers: Any, q: jax.Array, v: jax.Array) -> jax.Array:
        """All quantities of the group in one vector."""
        return jnp.concatenate([jnp.ravel(x) for x in GROUPS[group](eqx.combine(numbers, rest), q, v)])

    @jax.jit
    @jax.vmap
    def all_ways(point: Any) -> tuple[jax.Array, ...]:
        value, forward = jax.jvp(of, point, step)
        _, backward = jax.vjp(of, *point)
        return value, forward, backward(jnp.cos(value))

    # Three lanes of one batch: here, a little ahead, a little behind.
    h = 1e-5
    batch = all_ways(jax.tree.map(lambda x, d: jnp.stack([x, x + h * d, x - h * d]), point, step))
    value, forward, backward = jax.tree.map(lambda x: x[0], batch)
    assert close(of(*point), value)
    # Central differences err by h^2 times a third derivative (some hundred) and by 1e-16 / h.
    assert close(forward, (batch[0][1] - batch[0][2]) / (2 * h), 1e-6)
    # Reverse mode is the transpose of forward mode, to rounding.
    along = sum(jnp.vdot(b, d) for b, d in zip(jax.tree.leaves(backward), jax.tree.leaves(step), strict=True))
    assert close(along, jnp.cos(value) @ forward, 1e-11)


def test_a_batch_of_mechanisms_is_a_mechanism() -> None:
    masses = jnp.array([1.0, 2.0, 5.0])
    arms = jax.vmap(lambda mass: carom.Arm([carom.Rod(length=1.0, mass=mass), ROD]))(masses)
    q, v, _ = random_state(carom.Arm([ROD, ROD]))
    found = jax.vmap(lambda arm: dynamics.forward_dynamics(arm, q, v))(arms)
    for lane, mass in enumerate(masses):
        alone = carom.Arm([carom.Rod(length=1.0, mass=mass), ROD])
        assert close(found[lane], dynamics.forward_dynamics(alone, q, v))


# -- compiling ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows whenever the equations are traced, which is when something compiles."""
    seen: list[str] = []
    original = Explicit.accelerations

    def counted(self: Explicit, *args: Any) -> Any:
        seen.append("traced")
        return original(self, *args)

    monkeypatch.setattr(Explicit, "accelerations", counted)
    return seen


def arm_with(mass: float, name: str) -> carom.Mechanism:
    """Every test names its own arm: what another one compiled must not answer."""
    joint = carom.Joint(stiffness=mass, damping=mass)
    first = carom.Link(carom.Rod(length=mass, mass=mass), name=name, joint=joint)
    return carom.Mechanism([first, ROD], base=carom.Fixed(mass))


def test_changing_a_number_of_the_mechanism_or_the_state_does_not_compile_again(traces: list[str]) -> None:
    for mass in (1.0, 2.0, 3.0):
        dynamics.forward_dynamics(arm_with(mass, "numbers"), mass * jnp.ones(2), mass * jnp.ones(2))
    assert len(traces) == 1
    for mass in (1.0, 2.0):
        arm = arm_with(mass, "numbers").weld("link2", carom.PointMass(mass=mass))
        dynamics.forward_dynamics(arm, jnp.ones(2), jnp.ones(2))
    assert len(traces) == 2  # once more for a rod that became a general body


def test_changing_the_topology_compiles_again(traces: list[str]) -> None:
    for name in ("these", "are", "different"):
        dynamics.forward_dynamics(arm_with(1.0, name), jnp.ones(2), jnp.ones(2))
    assert len(traces) == 3


@pytest.mark.parametrize("what", ["arrays", "torques", "gravity", "slope", "forces"])
def test_changing_an_effort_does_not_compile_again(what: str, traces: list[str]) -> None:
    for x in (1.0, 2.0, 3.0):
        efforts = {
            "torques": {"torques": [x, 0.0]},
            "gravity": {"gravity": x},
            "slope": {"gravity": (0.0, x)},
            "forces": {"forces": {"link2.tip": (x, 0.0)}},
            "arrays": {"torques": jnp.array([x, 0.0]), "gravity": jnp.array([0.0, x])},
        }[what]
        dynamics.forward_dynamics(arm_with(1.0, what), jnp.ones(2), jnp.ones(2), **efforts)
    assert len(traces) == 1


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("kind", ["list", "tuple", "numpy", "32 bits"])
def test_states_may_be_any_numbers_and_are_computed_with_64_bits(kind: str) -> None:
    kinds = {"list": list, "tuple": tuple, "numpy": np.array, "32 bits": lambda x: jnp.array(x, dtype=jnp.float32)}
    given = kinds[kind]
    found = dynamics.forward_dynamics(carom.Arm([ROD]), given([0.5]), given([1.0]))  # exact in 32 bits
    assert close(found, [-1.5 * G * np.cos(0.5) / 2.0])
