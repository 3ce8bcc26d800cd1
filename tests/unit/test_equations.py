"""The symbolic equations against the numerical ones, against the paper's formula and against Lagrange's equations."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

import carom

from .arms_and_trees import BEAM, arm, gantry, pair, tree


def close(found: np.ndarray, expected: np.ndarray) -> None:
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * max(1e-300, np.max(np.abs(expected))))


@carom.jit
def numerical(mechanism: carom.Mechanism, q, v, a, gravity):
    """Mass matrix, bias, weight, the efforts that the motion needs, and the map to absolute angles."""
    explicit = carom.dynamics.FORMALISMS["explicit"]
    weight = explicit.gravity(mechanism, q, carom.dynamics.gravity_vector(gravity))
    need = carom.dynamics.inverse_dynamics(mechanism, q, v, a, gravity=gravity)
    to_absolute = jax.vmap(mechanism.to_absolute)(jnp.eye(mechanism.dof)).T
    return explicit.mass_matrix(mechanism, q), explicit.bias(mechanism, q, v), weight, need, to_absolute


def agree(mechanism: carom.Mechanism, made: carom.Equations, gravity: object = 9.81) -> None:
    """All terms, and the two sides of every torque equation, at a random state."""
    q, v, a = np.random.default_rng(7).uniform(-2.0, 2.0, (3, mechanism.dof))
    *terms, need, to_absolute = map(np.asarray, numerical(mechanism, *map(jnp.asarray, (q, v, a)), gravity))
    if made.coordinates == "relative":
        terms = [to_absolute.T @ terms[0] @ to_absolute, *(to_absolute.T @ term for term in terms[1:])]
        q, v, a = (np.linalg.solve(to_absolute, x) for x in (q, v, a))
    for found, expected in zip(made.evaluate(q, v), terms, strict=True):
        assert found.shape == expected.shape
        close(found, expected)
    roles = ("coordinate", "rate", "acceleration", "effort")
    state = [[entry.symbol for entry in made.legend if entry.role == role] for role in roles]
    sides = [[equation.lhs for equation in made.torques], [equation.rhs for equation in made.torques]]
    both = sympy.lambdify([*state, list(made.numbers)], sides)
    left, right = both(q, v, a, need, list(made.numbers.values()))
    close(left, right)


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
@pytest.mark.parametrize("base", ["fixed", "free point", "free body"])
@pytest.mark.parametrize("links", [1, 2, 3, 4])
def test_symbolic_and_numerical_equations_of_an_arm_agree(links: int, base: str, coordinates: str) -> None:
    mechanism = arm(links, base)
    agree(mechanism, carom.equations(mechanism, coordinates))


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
@pytest.mark.parametrize("make", [tree, pair, gantry])
def test_trees_agree_in_symbols_and_with_values_under_any_gravity(make, coordinates: str) -> None:
    mechanism, slope = make(), (1.5, -9.0)
    agree(mechanism, carom.equations(mechanism, coordinates, gravity=slope), slope)
    filled = carom.equations(mechanism, coordinates, gravity=slope, values=True)
    moving = {entry.symbol for entry in filled.legend if entry.number is None}
    assert set().union(*(equation.free_symbols for equation in filled.torques)) <= moving
    agree(mechanism, filled, slope)


def test_the_formula_of_the_manipulator_paper() -> None:
    n = 3
    made = carom.equations(carom.Arm([BEAM] * n))
    t, w, m, inertia = ([sympy.Symbol(f"{name}_{i + 1}") for i in range(n)] for name in ("theta", "thetadot", "m", "I"))
    g, c = sympy.Symbol("g"), [sympy.Symbol(f"c_{i + 1}") for i in range(n)]
    length = [sympy.Symbol("l_1"), sympy.Symbol("l_2"), 0]  # nothing hangs on the last tip
    below = [sum(m[i + 1 :]) for i in range(n)]
    b = [m[i] * c[i] + below[i] * length[i] for i in range(n)]
    for i in range(n):
        a = [b[max(i, j)] * length[min(i, j)] for j in range(n)]
        a[i] = inertia[i] + m[i] * c[i] ** 2 + below[i] * length[i] ** 2
        for j in range(n):
            assert sympy.expand(made.mass_matrix[i, j] - a[j] * sympy.cos(t[i] - t[j])) == 0
        squares = sum(a[j] * sympy.sin(t[i] - t[j]) * w[j] ** 2 for j in range(n))
        assert sympy.expand(made.bias[i] - squares) == 0
        assert sympy.expand(made.gravity[i] + g * b[i] * sympy.cos(t[i])) == 0


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_two_links_from_their_energies_alone(coordinates: str) -> None:
    """Lagrange's equations, derived here from nothing but positions and energies."""
    time = sympy.Symbol("t")
    m1, m2, l1, l2, g = sympy.symbols("m_1 m_2 l_1 l_2 g")
    letter = "theta" if coordinates == "absolute" else "q"
    q = [sympy.Function(f"f{i}")(time) for i in (1, 2)]
    angles = [q[0], q[1]] if coordinates == "absolute" else [q[0], q[0] + q[1]]

    def along(angle, distance):
        return sympy.Matrix([sympy.cos(angle), sympy.sin(angle)]) * distance

    kinetic, potential, start = 0, 0, sympy.zeros(2, 1)
    for m, length, angle in ((m1, l1, angles[0]), (m2, l2, angles[1])):
        centre = start + along(angle, length / 2)
        speed = centre.diff(time)
        kinetic += m * speed.dot(speed) / 2 + m * length**2 / 12 * angle.diff(time) ** 2 / 2
        potential += m * g * centre[1]
        start += along(angle, length)
    made = carom.equations(carom.Arm([carom.Rod(length=1.0, mass=1.0)] * 2), coordinates)
    plain = {}
    for i in (1, 2):
        for order, dots in ((2, "ddot"), (1, "dot"), (0, "")):
            plain[q[i - 1].diff(time, order)] = sympy.Symbol(f"{letter}{dots}_{i}")
    torques = sympy.symbols("tau_1 tau_2")
    efforts = torques if coordinates == "relative" else (torques[0] - torques[1], torques[1])
    for i, equation in enumerate(made.torques):
        rate = q[i].diff(time)
        left = kinetic.diff(rate).diff(time) - kinetic.diff(q[i]) + potential.diff(q[i])
        assert sympy.simplify(sympy.expand(left.subs(plain) - equation.lhs)) == 0
        assert equation.rhs == efforts[i]


def test_symbols_are_the_users_own() -> None:
    mechanism, alpha = carom.Arm([carom.Rod(length=0.7, mass=2.0)] * 2), sympy.Symbol("alpha", real=True)
    shared = {f"link{k}.{field}": symbol for k in (1, 2) for field, symbol in (("mass", "m"), ("length", "l"))}
    names = {**shared, "link1.angle": alpha, "link2.rate": "Omega", "gravity": "G", "link2.torque": "T"}
    made = carom.equations(mechanism, symbols=names)
    assert made.symbols["link1.angle"] is alpha
    assert {"link1.mass", "link2.length", "link1.rate", "link2.acceleration", "link1.torque"} <= set(made.symbols)
    m, length = sympy.symbols("m l")
    assert made.numbers == {m: 2.0, length: 0.7, sympy.Symbol("G"): 9.81}
    assert made.mass_matrix[0, 0] == 4 * m * length**2 / 3
    assert made.text().splitlines()[0] == (
        "link1:  4*alpha''*l^2*m/3 + l^2*m*theta_2''*cos(alpha - theta_2)/2 + Omega^2*l^2*m*sin(alpha - theta_2)/2 "
        "+ 3*G*l*m*cos(alpha)/2 = -T + tau_1"
    )
    agree(mechanism, made)


@pytest.mark.parametrize(
    "body", [carom.Rod(length=0.7, mass=1.3), carom.Disk(radius=0.7, mass=1.3), carom.PointMass(mass=1.3, length=0.7)]
)
def test_numbers_that_are_not_those_of_the_shape_get_their_own_symbols(body: carom.mechanism.AbstractBody) -> None:
    """Someone fits numbers of a rod to an experiment: the closed form of a uniform rod must not be printed for it."""
    mechanism = carom.Arm([body, carom.Rod(length=0.4, mass=0.3)])
    fitted = eqx.tree_at(lambda it: it.numbers.com, mechanism, mechanism.numbers.com.at[0, 0].add(0.01))
    made = carom.equations(fitted)
    assert "link1.com_x" in made.symbols and "link1.com_x" not in carom.equations(mechanism).symbols
    agree(fitted, made)
    loaded = mechanism.weld("link1", carom.PointMass(mass=0.5))
    agree(loaded, carom.equations(loaded))
