"""Symbolic equations as they are read: text, LaTeX, symbols, what is left out; and what is refused."""

import dataclasses
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
import sympy

import carom

from .arms_and_trees import LINKS, arm, tree


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
