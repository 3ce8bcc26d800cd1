"""The symbolic equations against the numerical ones, against the paper's formula and against Lagrange's equations."""

import dataclasses
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

import carom

LINKS = (
    carom.Link(carom.Rod(length=0.7, mass=1.3), joint=carom.Joint(stiffness=3.0, rest=0.4, damping=0.2)),
    carom.Link(carom.Rod(length=0.5, mass=0.9), joint=carom.Joint(damping=0.7)),
    carom.Link(carom.Rod(length=1.1, mass=0.4), joint=carom.Joint(stiffness=1.7)),
    carom.Link(carom.Rod(length=0.3, mass=2.1)),
)
HUB = carom.Link(carom.Disk(radius=0.35, mass=12.0), name="hub")
PLATE = carom.Body(mass=0.8, inertia=0.05, com=(0.31, -0.12), tip=(0.62, 0.2))
BEAM = carom.Body(mass=1.8, inertia=0.25, com=(0.4, 0.0), tip=(1.0, 0.0))


def arm(links: int, base: str) -> carom.Mechanism:
    if base == "fixed":
        return carom.Mechanism(LINKS[:links], base=carom.Fixed(0.3, -0.2))
    body = [HUB] if base == "free body" else []
    return carom.Mechanism([*body, *LINKS[:links]], base=carom.Free())


def tree() -> carom.Mechanism:
    """Every kind of body, three branches, joints at tips, at origins and elsewhere, one of them on the base itself."""
    spring = carom.Joint(stiffness=0.6, rest=-0.2, damping=0.3)
    return carom.Mechanism(
        [
            carom.Link(PLATE, name="plate", joint=spring),
            carom.Link(carom.PointMass(mass=0.4, length=0.8), name="bob", joint=spring),
            carom.Link(carom.Rod(length=0.5, mass=0.6), name="rod", parent="plate", at=(-0.1, 0.15), joint=spring),
            carom.Link(BEAM, name="beam", parent="rod"),
            carom.Link(carom.Disk(radius=0.2, mass=3.0), name="wheel", parent="beam"),
            carom.Link(carom.Rod(length=0.9, mass=1.1), name="side", parent="plate", at=(0.0, 0.0)),
            carom.Link(carom.Rod(length=0.4, mass=0.2), name="other", parent=carom.BASE),
        ],
        base=carom.Free(),
    )


def pair() -> carom.Mechanism:
    """Two free trees and a fixed one in between, side by side."""
    return carom.side_by_side(ship=arm(1, "free body"), arm=arm(2, "fixed"), target=arm(1, "free point"))


def close(found: np.ndarray, expected: np.ndarray) -> None:
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * max(1e-300, np.max(np.abs(expected))))


@eqx.filter_jit
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
@pytest.mark.parametrize("make", [tree, pair])
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


def test_the_arm_reads_as_on_paper() -> None:
    made = carom.equations(carom.Arm([carom.Rod(length=1.0, mass=2.0)] * 2), "relative")
    assert made.text("mass_matrix").splitlines() == [
        "M[q_1, q_1] = l_1^2*(m_1/3 + m_2) + l_1*l_2*m_2*cos(q_2) + l_2^2*m_2/3",
        "M[q_1, q_2] = l_1*l_2*m_2*cos(q_2)/2 + l_2^2*m_2/3",
        "M[q_2, q_2] = l_2^2*m_2/3",
    ]
    assert made.text("bias").splitlines() == [
        "bias[q_1] = -l_1*l_2*m_2*q_2'*(2*q_1' + q_2')*sin(q_2)/2",
        "bias[q_2] = l_1*l_2*m_2*q_1'^2*sin(q_2)/2",
    ]
    assert made.text("gravity").splitlines()[1] == "gravity[q_2] = -g*l_2*m_2*cos(q_1 + q_2)/2"
    lines = str(made).splitlines()
    assert lines[2] == (
        "  link2:  q_1''*(l_1*l_2*m_2*cos(q_2)/2 + l_2^2*m_2/3) + l_2^2*m_2*q_2''/3 "
        "+ l_1*l_2*m_2*q_1'^2*sin(q_2)/2 + g*l_2*m_2*cos(q_1 + q_2)/2 = tau_2"
    )
    assert lines[5].split("  ")[1:3] == [
        "q_2, q_2', q_2''",
        "angle of link2 from its parent, its rate and acceleration",
    ]
    assert lines[-1].split() == ["l_2", "length", "of", "link2", "[m]", "1"]


def test_latex() -> None:
    mechanism = carom.Arm([LINKS[0], LINKS[1]])
    made = carom.equations(mechanism, symbols={"link2.angle": r"\varphi"})
    text = made.latex()
    assert text.startswith("\\begin{aligned}\n") and text.endswith("\n\\end{aligned}")
    for piece in (
        r"l_{1}^{2} \ddot{\theta}_{1} \left(\frac{m_{1}}{3} + m_{2}\right)",
        r"+ \frac{l_{1} l_{2} m_{2} \dot{\theta}_{1}^{2} \sin{\left(\varphi - \theta_{1} \right)}}{2}",
        r"\frac{\ddot{\varphi} l_{2}^{2} m_{2}}{3}",
        r"k_{1} \left(- \beta_{1} + \theta_{1}\right)",
        r"&= \tau_{1} - \tau_{2} \\",
    ):
        assert piece in text
    assert made.latex("mass_matrix").startswith(r"M = \left[\begin{matrix}l_{1}^{2}")
    assert made._repr_latex_() == f"$\\displaystyle {text}$"


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


def test_shapes_give_the_fewest_symbols() -> None:
    keys = set(carom.equations(tree(), gravity=0.0).symbols)
    parameters = {
        key for key in keys if key.split(".")[-1] in ("length", "radius", "inertia", "com_x", "com_y", "at_x")
    }
    assert parameters == {
        *("plate.inertia", "plate.com_x", "plate.com_y", "bob.at_x", "bob.length", "rod.at_x", "rod.length"),
        *("beam.length", "beam.inertia", "beam.com_x", "wheel.radius", "side.length", "other.length"),
    }
    assert "gravity" not in keys and "side.at_y" not in keys and "beam.stiffness" not in keys
    assert carom.equations(tree()).numbers[sympy.Symbol("r_5")] == 0.2


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


def test_what_is_zero_does_not_appear() -> None:
    crane = carom.Arm([carom.Rod(length=2.0, mass=0.0), carom.Rod(length=1.0, mass=1.0)])
    made = carom.equations(crane, gravity=(0.0, 0.0))
    assert set(made.numbers) == set(sympy.symbols("l_1 m_2 l_2"))
    assert made.gravity == sympy.zeros(2, 1) and made.springs == sympy.zeros(2, 1)
    assert set(carom.equations(crane, gravity=(0.0, -1.6)).numbers) - set(made.numbers) == {sympy.Symbol("g_y")}


def test_equations_cannot_be_changed() -> None:
    made = carom.equations(arm(2, "fixed"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.coordinates = "relative"
    with pytest.raises(TypeError):
        made.mass_matrix[0, 0] = 0
    made.symbols.clear()
    assert made.symbols


def test_mistakes_are_answered_by_a_sentence() -> None:
    mechanism = arm(2, "free body")
    cases = [
        ({"symbols": {"link2.mas": "m"}}, "there is no symbol 'link2.mas'; .* did you mean 'link2.mass'"),
        ({"symbols": {"hub.mass": 3}}, r"symbols\['hub.mass'\] is 3; it must be a name"),
        ({"symbols": {"hub.mass": " "}}, "must be a name"),
        ({"symbols": {"hub.mass": "m_2"}}, "symbol 'm_2' stands for the mass of hub and for the mass of link2"),
        ({"symbols": {"link2.angle": "x"}}, "symbol 'x' stands for the x of the free base 'base' and"),
        ({"coordinates": "relativ"}, "there is no kind of coordinates 'relativ'; .* did you mean 'relative'"),
        ({"gravity": (1.0, 2.0, 3.0)}, r"gravity of equations has shape \(3,\)"),
        ({"gravity": float("nan")}, "gravity of equations is nan"),
    ]
    for arguments, message in cases:
        with pytest.raises(carom.CaromError, match=message):
            carom.equations(mechanism, **arguments)
    made = carom.equations(mechanism)
    for wrong, message in (
        (lambda: made.latex("mass"), "there is no part of the equations 'mass'; .* 'mass_matrix'"),
        (lambda: made.text("forces"), "there is no part of the equations 'forces'"),
        (lambda: made.evaluate([1.0], [0.0] * 5), r"q of equations has shape \(1,\)"),
        (lambda: made.evaluate([0.0] * 5, [0.0] * 4), r"v of equations has shape \(4,\)"),
    ):
        with pytest.raises(carom.CaromError, match=message):
            wrong()


def test_traced_and_batched_mechanisms_are_refused() -> None:
    def number_of_equations(mass):
        return len(carom.equations(carom.Arm([carom.Rod(length=1.0, mass=mass)])).torques)

    with pytest.raises(
        carom.CaromError, match=r"mechanism of equations is traced by JAX; call carom\.equations outside"
    ):
        jax.jit(number_of_equations)(1.0)
    with pytest.raises(carom.CaromError, match="gravity of equations is traced"):
        jax.jit(lambda g: carom.equations(arm(1, "fixed"), gravity=g).numbers)(1.0)
    batch = eqx.filter_vmap(lambda mass: carom.Arm([carom.Rod(length=1.0, mass=mass)]))(jnp.ones(5))
    with pytest.raises(carom.CaromError, match=r"mechanism of equations is a batch of shape \(5,\)"):
        carom.equations(batch)


def test_sympy_is_loaded_only_when_asked_for_and_its_absence_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    probe = "import sys, carom; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(carom.CaromError, match=r"pip install 'carom\[equations\]'"):
        carom.equations(arm(1, "fixed"))
