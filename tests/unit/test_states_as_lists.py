"""Functions of a mechanism's state take lists as well as arrays, and refuse what no state is, whatever they compute."""

import jax
import numpy as np
import pytest

import carom
from carom import dynamics

ARM = carom.Arm([carom.Rod(length=1.0, mass=1.0), carom.Rod(length=0.5, mass=2.0)])
OF_Q = [dynamics.potential_energy, dynamics.potential_energy_by_link, dynamics.centre_of_mass]
OF_Q += [dynamics.elastic_energy_by_link, dynamics.mass_matrix, dynamics.gravity_force]
OF_QV = [dynamics.kinetic_energy, dynamics.kinetic_energy_by_link, dynamics.momentum, dynamics.vibration_energy]
OF_QV += [dynamics.bias, dynamics.forward_dynamics]
Q, V = [0.3, -0.2], [1.0, 0.5]


def site(function):
    return lambda mechanism, q, v=V: (
        function(mechanism, q, v, "link2.tip") if function in MOVING else function(mechanism, q, "link2.tip")
    )


MOVING = (dynamics.site_velocity, dynamics.site_bias)
OF_Q += [site(dynamics.site_position), site(dynamics.site_jacobian)]
OF_QV += [site(function) for function in MOVING]


@pytest.mark.parametrize("function", OF_Q + OF_QV)
def test_a_list_is_an_array(function, unchecked):
    more = [V] if function in OF_QV else []
    found, wanted = function(ARM, Q, *more), function(ARM, np.asarray(Q), *map(np.asarray, more))
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("function", OF_Q + OF_QV)
@pytest.mark.parametrize("q", [[0.3], np.zeros(3), [0.3, np.nan], [0.3, "a"], np.array([np.inf, 0.0])])
def test_what_is_no_state_gets_a_sentence(function, q, unchecked):
    more = [V] if function in OF_QV else []
    with pytest.raises(carom.CaromError, match="q of mechanism"):
        function(ARM, q, *more)


@pytest.mark.parametrize("function", OF_QV)
def test_so_do_rates(function, unchecked):
    with pytest.raises(carom.CaromError, match="v of mechanism"):
        function(ARM, Q, [1.0])
