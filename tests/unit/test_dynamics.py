"""Equations of motion against closed forms, through every transformation, in every path of the code."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics
from carom.dynamics import linear
from carom.dynamics.explicit import Explicit
from carom.mechanism import walk

from ..strategies import TREES

G = 9.81
ROD = carom.Rod(length=2.0, mass=3.0)
TIGHT = 1e-12  # well-conditioned, some hundred operations


def close(left: Any, right: Any, tolerance: float = TIGHT) -> bool:
    """Relative to the largest entry."""
    left, right = np.asarray(left), np.asarray(right)
    return left.shape == right.shape and bool(
        np.max(np.abs(left - right)) <= tolerance * (np.max(np.abs(right)) + 1e-9)
    )


def random_state(mechanism: carom.Mechanism, seed: int = 0) -> tuple[jax.Array, jax.Array, jax.Array]:
    """q, v and another vector of that size."""
    return tuple(jnp.asarray(np.random.default_rng(seed).normal(size=(3, mechanism.dof))))


def varied(links: int, base: carom.Fixed | carom.Free | None = None) -> carom.Mechanism:
    """A chain in which no two links are alike, with springs, dampers and centres of mass off the axes."""
    return carom.Mechanism(
        [
            carom.Link(
                carom.Body(
                    mass=1.0 + 0.3 * np.sin(k), inertia=0.1, com=(0.5, 0.2 * np.cos(k)), tip=(1.0, 0.1 * np.sin(2 * k))
                ),
                joint=carom.Joint(stiffness=2.0, rest=0.1 * k, damping=0.3),
            )
            for k in range(links)
        ],
        base=base,
    )


# -- closed forms --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formalism", [None, *dynamics.FORMALISMS])
def test_a_rod_falls_as_a_physical_pendulum(formalism: str | None) -> None:
    q, v = jnp.array([0.7]), jnp.array([1.3])
    a = dynamics.forward_dynamics(carom.Arm([ROD]), q, v, formalism=formalism)
    assert close(a, [-1.5 * G * np.cos(0.7) / 2.0])


@pytest.mark.parametrize("formalism", dynamics.FORMALISMS)
def test_the_double_pendulum_of_the_textbook(formalism: str) -> None:
    """Two point masses; angles from the vertical in the textbook, from the x axis here."""
    (m1, m2), (l1, l2), (t1, t2), (w1, w2) = (2.0, 3.0), (1.5, 0.7), (0.4, -1.1), (1.2, -2.3)
    d, common = t1 - t2, 2 * m1 + m2 - m2 * np.cos(2 * (t1 - t2))
    first = -G * (2 * m1 + m2) * np.sin(t1) - m2 * G * np.sin(t1 - 2 * t2)
    first -= 2 * np.sin(d) * m2 * (w2**2 * l2 + w1**2 * l1 * np.cos(d))
    second = 2 * np.sin(d) * (w1**2 * l1 * (m1 + m2) + G * (m1 + m2) * np.cos(t1) + w2**2 * l2 * m2 * np.cos(d))
    expected = [first / (l1 * common), second / (l2 * common)]
    arm = carom.Arm([carom.PointMass(mass=m1, length=l1), carom.PointMass(mass=m2, length=l2)])
    q, v = jnp.array([t1, t2]) - np.pi / 2, jnp.array([w1, w2])
    assert close(dynamics.forward_dynamics(arm, q, v, formalism=formalism), expected)


def test_a_free_body_flies_and_spins() -> None:
    disk = carom.Mechanism([carom.Disk(radius=1.0, mass=2.0)], base=carom.Free())
    q, v = jnp.array([1.0, 2.0, 0.3]), jnp.array([4.0, 5.0, 6.0])
    assert close(dynamics.forward_dynamics(disk, q, v), [0.0, -G, 0.0])
    pushed = dynamics.forward_dynamics(disk, q, v, base_force=(3.0, 4.0), torques=[5.0], gravity=0.0)
    assert close(pushed, [1.5, 2.0, 5.0])


def test_springs_pull_to_rest_and_dampers_brake_relative_to_the_parent() -> None:
    joint = carom.Joint(stiffness=7.0, rest=0.2, damping=0.5)
    arm = carom.Arm([ROD, carom.Link(ROD, joint=joint)])
    torque = -7.0 * ((0.9 - 0.4) - 0.2) - 0.5 * (2.0 - 1.0)
    force = dynamics.generalized_force(arm, jnp.array([0.4, 0.9]), jnp.array([1.0, 2.0]))
    assert close(force, [-torque, torque])


def test_torques_turn_the_link_and_react_on_its_parent() -> None:
    fork = TREES["fork of 3, free"]
    still = jnp.zeros(fork.dof)
    force = dynamics.generalized_force(fork, still, still, torques=[1.0, 10.0, 100.0])
    assert close(force, [0.0, 0.0, 1.0 - 10.0 - 100.0, 10.0, 100.0])


def test_a_force_at_a_site_acts_through_its_lever() -> None:
    arm = carom.Arm([ROD, ROD])
    q, still = jnp.array([0.3, 1.1]), jnp.zeros(2)
    levers = [np.array([np.cos(t), np.sin(t)]) * 2.0 for t in (0.3, 1.1)]
    expected = [r[0] * 5.0 - r[1] * 4.0 for r in levers]
    by_name = dynamics.generalized_force(arm, q, still, forces={"link2.tip": (4.0, 5.0)})
    by_site = dynamics.generalized_force(arm, q, still, forces={arm.tip: (4.0, 5.0)})
    assert close(by_name, expected) and close(by_site, expected)


@pytest.mark.parametrize("keys", ["sites", "both kinds"])
def test_several_forces_may_be_given_by_site(keys: str) -> None:
    arm, (q, v, _) = carom.Arm([ROD, ROD]), random_state(carom.Arm([ROD, ROD]))
    first = arm.site("link1.tip") if keys == "sites" else "link1.tip"
    found = dynamics.forward_dynamics(arm, q, v, forces={arm.tip: (1.0, 2.0), first: (3.0, 4.0)})
    assert close(found, dynamics.forward_dynamics(arm, q, v, forces={"link2.tip": (1.0, 2.0), "link1.tip": (3.0, 4.0)}))


def test_gravity_is_a_number_downwards_or_a_vector() -> None:
    arm, (q, v, _) = varied(2), random_state(varied(2))

    def fall(gravity: Any) -> jax.Array:
        return dynamics.forward_dynamics(arm, q, v, gravity=gravity)

    assert close(fall(G), fall((0.0, -G))) and close(dynamics.forward_dynamics(arm, q, v), fall(G))
    assert close(fall(0.0), fall((0.0, 0.0)))
    # On a slope the arm moves as it would, tilted, on level ground.
    slope = jnp.array([-G * np.sin(0.3), -G * np.cos(0.3)])
    tilted = eqx.tree_at(lambda m: m.numbers.rest, arm, arm.numbers.rest + jnp.array([0.3, 0.0]))
    assert close(dynamics.forward_dynamics(tilted, q + 0.3, v), fall(slope))


def test_gravity_may_be_a_tuple_of_numpy_numbers() -> None:
    arm, (q, v, _) = varied(2), random_state(varied(2))
    slope = (-G * np.sin(0.3), -G * np.cos(0.3))
    found = dynamics.forward_dynamics(arm, q, v, gravity=slope)
    assert close(found, dynamics.forward_dynamics(arm, q, v, gravity=jnp.array(slope)))


def test_energies_of_a_rod() -> None:
    joint = carom.Joint(stiffness=7.0, rest=0.2)
    arm = carom.Mechanism([carom.Link(ROD, joint=joint)], base=carom.Fixed(5.0, 6.0))
    q, v = jnp.array([0.7]), jnp.array([1.3])
    assert dynamics.kinetic_energy(arm, q, v) == pytest.approx(0.5 * (3.0 * 4.0 / 3) * 1.3**2, rel=TIGHT)
    height, spring = 6.0 + np.sin(0.7), 0.5 * 7.0 * 0.5**2
    assert dynamics.potential_energy(arm, q) == pytest.approx(3.0 * G * height + spring, rel=TIGHT)
    assert dynamics.potential_energy(arm, q, (1.0, 0.0)) == pytest.approx(
        -3.0 * (5.0 + np.cos(0.7)) + spring, rel=TIGHT
    )


def test_energies_by_link_add_up_and_know_their_link() -> None:
    arm, (q, v, _) = carom.Arm([ROD, ROD]), (jnp.array([0.3, 1.1]), jnp.array([0.0, 2.0]), None)
    kinetic, potential = dynamics.kinetic_energy_by_link(arm, q, v), dynamics.potential_energy_by_link(arm, q)
    assert close(kinetic, [0.0, 0.5 * (3.0 * 4.0 / 3) * 2.0**2])
    assert close(potential, [3.0 * G * np.sin(0.3), 3.0 * G * (2.0 * np.sin(0.3) + np.sin(1.1))])
    assert dynamics.kinetic_energy(arm, q, v) == pytest.approx(float(kinetic.sum()), rel=TIGHT)


@pytest.mark.parametrize("name", ["bush of 6, children listed first", "arm and two targets, 7"])
def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(name: str) -> None:
    tree = TREES[name]
    q, v, _ = random_state(tree)
    assert dynamics.kinetic_energy(tree, q, v) == pytest.approx(
        float(v @ dynamics.mass_matrix(tree, q) @ v / 2), rel=TIGHT
    )


def test_momentum_moves_the_centre_of_mass_and_depends_on_the_point() -> None:
    tree = varied(3, carom.Free())
    q, v, _ = random_state(tree)
    mass = np.sum(tree.numbers.mass)
    velocity = jax.jvp(lambda q: dynamics.centre_of_mass(tree, q), (q,), (v,))[1]
    here, there = dynamics.momentum(tree, q, v), dynamics.momentum(tree, q, v, about=(2.0, -3.0))
    assert close(here.linear, mass * velocity) and close(there.linear, here.linear)
    moved = here.angular - (2.0 * here.linear[1] + 3.0 * here.linear[0])
    assert there.angular == pytest.approx(float(moved), rel=TIGHT)


def test_angular_momentum_of_a_turning_rod() -> None:
    found = dynamics.momentum(carom.Arm([ROD]), jnp.array([0.7]), jnp.array([1.3]))
    assert found.angular == pytest.approx(3.0 * 4.0 / 3 * 1.3, rel=TIGHT)
    assert close(found.linear, 3.0 * 1.3 * np.array([-np.sin(0.7), np.cos(0.7)]))


# -- sites ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two roots of 5, free", "bush of 6, children listed first", "arm and two targets, 7"])
def test_site_kinematics_are_derivatives_of_the_position(name: str) -> None:
    tree = TREES[name]
    q, v, _ = random_state(tree)

    @jax.jit
    def derivatives(q: jax.Array, v: jax.Array) -> list[tuple[jax.Array, ...]]:
        out = []
        for site in tree.topology.site_names:
            place = lambda q, site=site: dynamics.site_position(tree, q, site)  # noqa: E731
            velocity = lambda q, place=place: jax.jvp(place, (q,), (v,))[1]  # noqa: E731
            expected = velocity(q), jax.jacfwd(place)(q), jax.jvp(velocity, (q,), (v,))[1]
            given = (
                dynamics.site_velocity(tree, q, v, site),
                dynamics.site_jacobian(tree, q, site),
                dynamics.site_bias(tree, q, v, site),
            )
            out += list(zip(given, expected, strict=True))
        return out

    assert all(close(given, expected) for given, expected in derivatives(q, v))


# -- formalisms by name --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formalism", dynamics.FORMALISMS)
def test_every_formalism_moves_and_undoes(formalism: str) -> None:
    tree = varied(3, carom.Free())
    q, v, a = random_state(tree)
    hand = {"link3.tip": (1.0, -2.0)}
    need = dynamics.inverse_dynamics(tree, q, v, a, forces=hand, formalism=formalism)
    assert close(need, dynamics.inverse_dynamics(tree, q, v, a, forces=hand))
    back = dynamics.forward_dynamics(
        tree, q, v, torques=need[2:], base_force=need[:2], forces=hand, formalism=formalism
    )
    assert close(back, a, 1e-11)  # the condition number of M is about 50


def test_the_default_formalism_is_explicit_for_few_links_and_recursive_for_many() -> None:
    chosen = [dynamics.formalism_of(None, links).name for links in (1, 4, 5, 100)]
    assert chosen == ["explicit", "explicit", "gibbs_appell", "gibbs_appell"]
    assert [f.name for f in dynamics.FORMALISMS.values()] == list(dynamics.FORMALISMS)


# -- paths of the code: few links, many links ----------------------------------------------------------------------


def quantities(tree: carom.Mechanism, formalisms: tuple[str, ...]) -> dict[str, jax.Array]:
    q, v, a = random_state(tree)

    @jax.jit
    def compute(tree: carom.Mechanism) -> dict[str, jax.Array]:
        out = {"energy": dynamics.kinetic_energy_by_link(tree, q, v)}
        for name in formalisms:
            out |= {
                f"M, {name}": dynamics.mass_matrix(tree, q, name),
                f"bias, {name}": dynamics.bias(tree, q, v, name),
                f"weight, {name}": dynamics.gravity_force(tree, q, (1.0, -G), name),
            }
        torques = a[-tree.topology.links :]
        for name in set(formalisms) & {"explicit", "gibbs_appell"}:  # the others have no solver of their own
            out[f"moved, {name}"] = dynamics.forward_dynamics(tree, q, v, torques=torques, formalism=name)
        return out

    return compute(tree)


@pytest.mark.parametrize("name", ["bush of 6, children listed first", "arm and two targets, 7"])
def test_the_path_for_many_links_equals_the_one_for_few(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    formalisms = ("explicit", "gibbs_appell")
    few = quantities(TREES[name], formalisms)
    monkeypatch.setattr(walk, "UNROLL", 0)
    monkeypatch.setattr(linear, "UNROLL", 0)
    # Under other names, so that what was compiled for few links does not answer.
    many = quantities(carom.side_by_side(scanned=TREES[name]), formalisms)
    for key, value in few.items():
        assert close(many[key], value, 1e-11), key


def test_formalisms_agree_on_more_links_than_are_unrolled() -> None:
    chain = varied(walk.UNROLL + 1, carom.Free())
    found = quantities(chain, tuple(dynamics.FORMALISMS))
    for key, value in found.items():
        if key != "energy":
            quantity = key.split(", ")[0]
            assert close(value, found[f"{quantity}, explicit"], 1e-11), key


def test_a_long_chain_undoes_itself() -> None:
    chain = varied(300)
    q, v, a = random_state(chain)
    need = dynamics.inverse_dynamics(chain, q, v, a)
    assert close(dynamics.forward_dynamics(chain, q, v, torques=need), a, 1e-8)  # condition number about 1e6


@pytest.mark.parametrize("size", [1, 2, 5, 8, 9, 12])
def test_symmetric_systems_are_solved(size: int) -> None:
    rng = np.random.default_rng(size)
    half, right = rng.normal(size=(size, size)), rng.normal(size=size)
    matrix = half @ half.T + np.eye(size)
    assert close(linear.solve(jnp.asarray(matrix), jnp.asarray(right)), np.linalg.solve(matrix, right))


# -- transformations -----------------------------------------------------------------------------------------------


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


# -- compiling -----------------------------------------------------------------------------------------------------


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
