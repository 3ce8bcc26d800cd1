"""The formalisms by name, and the paths of the code for few links and for many."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics
from carom.dynamics import _linear as linear
from carom.mechanism import _walk as walk

from ..strategies import TREES
from .varied_chains import G, close, random_state, varied

# -- formalisms by name ------------------------------------------------------------------------------------------------


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


# -- paths of the code: few links, many links --------------------------------------------------------------------------


def quantities(tree: carom.Mechanism, formalisms: tuple[str, ...]) -> dict[str, jax.Array]:
    q, v, a = random_state(tree)

    @carom.jit
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
