"""Laws of mechanics on random trees of rigid and elastic links.

Without foreshortening everything is exact, however large the deflections. With it the closed form and the recursion
keep the kinetic energy to second order in deflections and their rates: they agree with each other and obey the laws
exactly, and meet the judge to that order.

Errors are measured against the terms that were summed, row by row, as in tree_facts.py.
"""

from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from .elastic_cases import LARGE, TREES, Case, drawn
from .elastic_facts import FORMALISMS, facts

CLOSE = 1e-10


def close(left: Any, right: Any, size: Any) -> bool:
    return bool(np.all(np.abs(np.asarray(left) - np.asarray(right)) <= CLOSE * np.asarray(size)))


class Size:
    """Sizes of what is summed: s_i = sqrt(M_ii) bounds all columns of all points by Cauchy and Schwarz."""

    def __init__(self, case: Case, found: dict[str, Any]) -> None:
        self.s = np.sqrt(np.diag(found["M"]["explicit"]))
        self.speed = np.sum(self.s * np.abs(case.v))
        self.mass = np.sum(found["here"]["mass"])
        self.far = 1.0 + np.max(np.abs(found["here"]["place"]))
        self.inertial = self.s * (1.0 + np.max(np.abs(case.v))) * (self.speed + np.sum(np.abs(case.v)))
        self.weight = self.s * np.sqrt(self.mass) * np.linalg.norm(case.gravity)
        self.rows = self.inertial + self.weight + 50.0 * (1.0 + np.abs(case.q).max() + np.abs(case.v).max()) * 10.0
        self.moved = self.rows + self.s * np.sum(self.s * np.abs(found["a"]["explicit"]))


def formalisms_agree(case: Case, found: dict[str, Any], size: Size) -> None:
    matrix = found["M"]["explicit"]
    for f in FORMALISMS[1:] if case.exact else ("gibbs_appell",):
        assert close(found["M"][f], matrix, np.outer(size.s, size.s)), f
        assert close(found["bias"][f], found["bias"]["explicit"], size.inertial), f
        assert close(found["weight"][f], found["weight"]["explicit"], size.weight), f
    assert close(matrix @ (found["a"]["gibbs_appell"] - found["a"]["explicit"]), 0.0, size.moved)
    assert close(found["need"]["gibbs_appell"], found["need"]["explicit"], size.moved.sum())


def mass_matrix_is_symmetric_and_positive_definite(case: Case, found: dict[str, Any], size: Size) -> None:
    matrix = found["M"]["explicit"]
    assert np.array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix / np.outer(size.s, size.s)).min() > 1e-10
    assert close(found["energies"][0], 0.5 * case.v @ matrix @ case.v, size.speed**2)
    if case.exact:
        assert close(found["energies"][0], found["own energies"][0], size.speed**2)


def energies_are_those_of_the_points(case: Case, found: dict[str, Any], size: Size) -> None:
    scale = size.mass * np.linalg.norm(case.gravity) * size.far + size.rows.sum() * np.abs(case.q).max()
    assert close(found["energies"][1], found["own energies"][1], scale)
    centre = found["here"]["mass"] @ found["here"]["place"] / size.mass
    assert close(found["centre"], centre, size.far)


def energy_rate_equals_power(case: Case, found: dict[str, Any], size: Size) -> None:
    """Torques work on the rates of joints, which count the parent's bending; joints and beams dissipate."""
    n, top = case.mechanism.numbers, case.mechanism.topology
    rates = found["rate"]["joints"]
    power = case.torques @ rates - n.damping @ rates**2 + case.force @ found["velocity"]
    power += case.base_force @ case.v[: top.base_dof]
    for k, flex in enumerate(n.flex):
        if flex is not None:
            w = case.v[np.asarray(top.mode_index(k))]
            power -= w @ flex.damping @ w
    assert close(found["energy rate"], power, np.abs(case.v) @ size.moved)


def momentum_changes_by_outer_forces_only(case: Case, found: dict[str, Any], size: Size) -> None:
    linear, angular = found["momenta"]
    own_linear, own_angular = found["own momenta"]
    scale = np.sqrt(size.mass) * size.speed
    assert close(linear, own_linear, scale)
    if case.exact:
        assert close(angular, own_angular, scale * size.far + size.speed)
    top, n = case.mechanism.topology, case.mechanism.numbers
    if not all(top.free):
        return
    weight = size.mass * np.asarray(case.gravity)
    push = weight + np.asarray(case.base_force).reshape(-1, 2).sum(axis=0) + case.force
    roots = np.asarray(top.parents) < 0
    joints, rates = found["here"]["joints"], found["rate"]["joints"]
    held = np.asarray(case.torques) - n.stiffness * (joints - n.rest) - n.damping * rates
    bases = np.asarray(case.q[: top.base_dof]).reshape(-1, 2)
    places = [(found["position"], case.force), (found["centre"], weight)]
    places += [*zip(bases, np.asarray(case.base_force).reshape(-1, 2), strict=True)]
    turn = np.sum(held[roots]) + sum(r[0] * f[1] - r[1] * f[0] for r, f in places)
    rate = found["momentum rates"]
    moved = size.moved.sum() * (1.0 + np.sqrt(size.mass)) + size.speed**2
    assert close(rate[0], push, moved)
    assert close(rate[1], turn, moved * size.far)


def sites_move_by_their_jacobians(case: Case, found: dict[str, Any], size: Size) -> None:
    m = case.mechanism
    index = m.site(case.tips[0]).index
    speed = np.sum(np.abs(case.v)) * size.far
    assert close(found["position"], found["here"]["sites"][index], size.far)
    assert close(found["jacobian"], found["own jacobian"], size.far)
    assert close(found["velocity"], found["jacobian"] @ case.v, speed)
    assert close(found["velocity"], found["rate"]["sites"][index], speed)
    assert close(found["site bias"], found["own site bias"], speed * np.sum(np.abs(case.v)))


def contacts_push_along_what_they_measure(case: Case, found: dict[str, Any], size: Size) -> None:
    speed = np.sum(np.abs(case.v)) * size.far
    for name, pair in found["pairs"].items():
        assert close(pair["rate"], pair["own rate"], 10 * speed), name
        assert close(pair["normal"] @ case.v, -pair["rate"], 10 * speed), name
        assert close(pair["tangent"] @ case.v, pair["sliding"], 10 * speed), name


def torques_work_on_relative_rates(case: Case, found: dict[str, Any], size: Size) -> None:
    n = np.sum(np.abs(case.v)) + np.sum(np.abs(case.q))
    assert close(found["relative rates"], found["rate"]["joints"], n)
    assert close(found["relative angles"], found["here"]["joints"], n)
    assert close(found["and back"], case.q, n)
    for k, each in enumerate(found["turned"]):
        assert close(each["rate"], found["rate"]["joints"][k], n)
        assert close(each["angle"], found["here"]["joints"][k], n)
        assert close(each["scene"], each["efforts"], 1.0)
        assert close(each["scene"] @ case.v, found["rate"]["joints"][k], n)


def inverse_dynamics_find_the_torques(case: Case, found: dict[str, Any], size: Size) -> None:
    top = case.mechanism.topology
    given = np.concatenate([case.base_force, case.torques])
    assert close(found["need"]["explicit"][: top.base_dof + top.links], given, size.moved.sum())


LAWS = (
    formalisms_agree,
    mass_matrix_is_symmetric_and_positive_definite,
    energies_are_those_of_the_points,
    energy_rate_equals_power,
    momentum_changes_by_outer_forces_only,
    sites_move_by_their_jacobians,
    contacts_push_along_what_they_measure,
    torques_work_on_relative_rates,
    inverse_dynamics_find_the_torques,
)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in TREES])
@settings(max_examples=settings.default.max_examples // 2, phases=[p for p in Phase if p is not Phase.shrink])
@given(data=st.data())
def test_the_laws_of_mechanics_hold(name: str, data: st.DataObject) -> None:
    case = drawn(data, TREES[name])
    with jax.numpy_rank_promotion("allow"):  # dynamics/lagrange.py multiplies (nodes, 1) by (2,)
        found = jax.tree.map(np.asarray, facts(case))
    size = Size(case, found)
    for law in LAWS:
        law(case, found, size)
