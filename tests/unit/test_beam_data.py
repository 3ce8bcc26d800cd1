"""Beams as a mechanism needs them: modal integrals, shapes that the user gives, sections, refusals."""

import dataclasses

import jax
import numpy as np
import pytest
from scipy.linalg import eigh

from carom.beam import Section, given_shapes, modal_data, modes
from carom.errors import CaromError

from .beam_sections import PAIRS, PAPER, STUBBY, E, gauss

HANGING = [pair for pair in PAIRS if pair[0] in ("simple", "clamped")]


# --- modal integrals --------------------------------------------------------------------------------------------------


def test_integrals_of_a_simply_supported_beam_are_the_closed_forms():
    mass, length, n = 2.0, 1.6, np.arange(1, 6)
    section = Section(area=1e-4, second_moment=1e-9, mass_per_length=mass / length, youngs_modulus=E)
    data = modal_data(
        modes(section, length, ("simple", "simple"), 5, "euler-bernoulli"),
        air_damping=0.3,
        material_damping=7e6,
        rotary_inertia=1e-3,
    )
    k = n * np.pi / length
    assert (data.mass, data.length, data.rotary) == (pytest.approx(mass), length, pytest.approx(1e-3 * length))
    odd = n % 2
    np.testing.assert_allclose(data.mass_W, mass / length * 2 * odd / k, atol=1e-14)
    np.testing.assert_allclose(data.mass_eta_W, -mass * (-1.0) ** n / k, rtol=1e-13)
    np.testing.assert_allclose(data.mass_WW, mass / 2 * np.eye(5), atol=1e-14)
    np.testing.assert_allclose(data.rotary_Theta, 0, atol=1e-15)
    np.testing.assert_allclose(data.rotary_ThetaTheta, np.diag(1e-3 * k**2 * length / 2), atol=1e-14)
    np.testing.assert_allclose(
        data.stiffness, np.diag(E * 1e-9 * k**4 * length / 2), atol=1e-12 * E * 1e-9 * k[-1] ** 4
    )
    expected = 0.3 * length / 2 + 7e6 * 1e-9 * k**4 * length / 2
    np.testing.assert_allclose(data.damping, np.diag(expected), atol=1e-12 * expected[-1])
    # Foreshortening of the first: integral of k^2 cos^2 = k^2 eta / 2 + k sin(2 k eta) / 4.
    eta, k1 = data.nodes, k[0]
    H = k1**2 * eta / 2 + k1 * np.sin(2 * k1 * eta) / 4
    np.testing.assert_allclose(data.H[:, 0, 0], H, rtol=1e-12)
    np.testing.assert_allclose(data.mass_H[0, 0], mass / length * k1**2 * length**2 / 4, rtol=1e-13)
    np.testing.assert_allclose(data.mass_eta_H[0, 0], mass * (k1 * length) ** 2 / 6 - mass / 8, rtol=1e-13)
    np.testing.assert_allclose(data.weights @ data.W, data.mass_W, atol=1e-15)
    assert data.weights.sum() == pytest.approx(mass, rel=1e-14)


@pytest.mark.parametrize("ends", HANGING)
def test_foreshortening_integrals_by_parts(ends):
    data = modal_data(modes(STUBBY, 1.2, ends, 6))
    x, w = gauss()
    slope, eta, mu = data.shapes.slope(1.2 * x), 1.2 * x, STUBBY.mass_per_length
    by_parts = mu * (slope.T * (1.2 * w * (1.2 - eta))) @ slope
    moment = mu * (slope.T * (1.2 * w * (1.2**2 - eta**2) / 2)) @ slope
    scale = np.max(np.abs(by_parts))
    np.testing.assert_allclose(data.mass_H, by_parts, atol=1e-13 * scale)
    np.testing.assert_allclose(data.mass_eta_H, moment, atol=1e-13 * scale)
    assert np.max(np.abs(data.shapes.foreshortening(0.0))) < 1e-14 * scale
    np.testing.assert_allclose(data.shapes.foreshortening(data.nodes[3]), data.H[3], atol=1e-14 * scale)


@pytest.mark.parametrize("count", [1, 10, 60])
def test_quadrature_is_exact_to_rounding_whatever_the_number_of_modes(count):
    found = modes(PAPER, 1.0, ("clamped", "free"), count, "euler-bernoulli")
    data = modal_data(found)
    finer = modal_data(found, nodes=min(2 * len(data.nodes), 256))
    for name in ("mass_W", "mass_eta_W", "mass_WW", "mass_H", "mass_eta_H", "stiffness"):
        one, other = getattr(data, name), getattr(finer, name)
        np.testing.assert_allclose(one, other, atol=3e-12 * np.max(np.abs(other)), err_msg=name)
    np.testing.assert_allclose(data.mass_WW, np.eye(count) / 4, atol=1e-13)  # exact for a cantilever of unit mass


def test_damping_ratio_of_each_vibration():
    found = modes(STUBBY, 1.0, ("clamped", "free"), 4)
    plain = modal_data(found, damping_ratio=0.02)
    np.testing.assert_allclose(
        np.diag(plain.damping), 2 * 0.02 * found.frequency * np.diag(plain.modal_mass), rtol=1e-12
    )
    size = np.sqrt(np.diag(plain.damping))
    np.testing.assert_allclose(plain.damping / np.outer(size, size), np.eye(4), atol=1e-11)
    # Shapes that are not the modes: the ratio still belongs to the vibrations.
    mixed = given_shapes(STUBBY, 1.0, [[0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0, 1]])
    data = modal_data(mixed, damping_ratio=[0.01, 0.02, 0.03])
    squares, vibrations = eigh(data.stiffness, data.modal_mass)
    D = vibrations.T @ data.damping @ vibrations
    np.testing.assert_allclose(np.diag(D), 2 * np.array([0.01, 0.02, 0.03]) * np.sqrt(squares), rtol=1e-10)
    assert np.max(np.abs(D - np.diag(np.diag(D)))) < 1e-9 * np.max(D)


def test_data_are_read_only():
    data = modal_data(modes(PAPER, 1.0, ("simple", "simple"), 2))
    with pytest.raises(ValueError, match="read-only"):
        data.W[0, 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.mass = 2.0
    with pytest.raises(ValueError, match="read-only"):
        data.shapes.frequency[0] = 1.0


# --- shapes that the user gives ---------------------------------------------------------------------------------------


def test_functions_polynomials_and_modes_give_the_same_integrals():
    length = 1.4
    exact = modes(STUBBY, length, ("simple", "simple"), 2)
    a = exact.rotation(0.0)
    given = given_shapes(
        STUBBY,
        length,
        [lambda eta: np.sin(np.pi * eta / length), lambda eta: np.sin(2 * np.pi * eta / length)],
        [lambda eta: a[0] * np.cos(np.pi * eta / length), lambda eta: a[1] * np.cos(2 * np.pi * eta / length)],
        theory="timoshenko",
    )
    one, other = modal_data(exact, material_damping=1.0), modal_data(given, material_damping=1.0)
    for name in (
        "mass_W",
        "mass_eta_W",
        "mass_WW",
        "rotary_Theta",
        "rotary_ThetaTheta",
        "stiffness",
        "damping",
        "mass_H",
    ):
        f, g = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(f, g, atol=1e-11 * max(np.max(np.abs(f)), 1e-3), err_msg=name)
    polynomial = given_shapes(STUBBY, length, [[0, 0, 3, -1]])
    function = given_shapes(STUBBY, length, [lambda eta: 3 * (eta / length) ** 2 - (eta / length) ** 3])
    eta = np.linspace(0, length, 5)
    for name in ("deflection", "slope", "curvature", "rotation", "bending"):
        np.testing.assert_allclose(getattr(polynomial, name)(eta), getattr(function, name)(eta), atol=1e-12)
    np.testing.assert_allclose(polynomial.rotation(eta)[:, 0], (6 * eta - 3 * eta**2 / length) / length**2, atol=1e-14)
    # One static shape carries a force at the tip exactly.
    data = modal_data(polynomial)
    tip = polynomial.deflection(length)
    deflection = tip @ np.linalg.solve(data.stiffness, tip)
    assert deflection == pytest.approx(length**3 / (3 * STUBBY.bending_stiffness), rel=1e-13)


# --- sections ---------------------------------------------------------------------------------------------------------


def test_sections_from_geometry():
    data = {"youngs_modulus": 2.6, "poisson_ratio": 0.3, "density": 3.0}
    for section, area, moment, factor in (
        (Section.rectangle(width=2.0, depth=3.0, **data), 6.0, 4.5, 13 / 15.3),
        (Section.circle(radius=2.0, **data), 4 * np.pi, 4 * np.pi, 7.8 / 8.8),
        (Section.tube(outer_radius=2.0, inner_radius=1.0, **data), 3 * np.pi, 3.75 * np.pi, 12.1875 / 19.65),
    ):
        assert (section.area, section.second_moment) == (pytest.approx(area), pytest.approx(moment))
        assert section.shear_factor == pytest.approx(factor, rel=1e-12)
        assert section.shear_modulus == pytest.approx(1.0)
        assert section.mass_per_length == pytest.approx(3 * area)
        assert section.rotary_inertia == pytest.approx(3 * moment)
    # A tube without a hole is a circle; a thin one has 2 (1 + nu) / (4 + 3 nu).
    assert Section.tube(outer_radius=1.0, inner_radius=1e-9, **data).shear_factor == pytest.approx(7.8 / 8.8)
    assert Section.tube(outer_radius=1.0, inner_radius=1 - 1e-9, **data).shear_factor == pytest.approx(2.6 / 4.9)
    assert Section.circle(radius=1.0, shear_factor=0.9, **data).shear_factor == 0.9
    assert dataclasses.replace(PAPER, shear_factor=0.9).shear_factor == 0.9


GOOD = {"area": 1e-3, "second_moment": 1e-8, "density": 7850.0, "youngs_modulus": E, "poisson_ratio": 0.3}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"mass_per_length": 1.0}, r"mass_per_length of Section is 1 but density \* area is 7.85; .* leave out"),
        ({"shear_modulus": 7e10}, r"shear_modulus of Section is 7e\+10 but youngs_modulus .* is 7.69231e\+10"),
        ({"radius_of_gyration": 0.01}, r"second_moment of Section is 1e-08 but area \* radius_of_gyration\^2 is 1e-07"),
        ({"density": None}, "mass_per_length of Section is not given; .* give mass_per_length or density"),
        ({"second_moment": None}, "second_moment of Section is not given; .* or radius_of_gyration"),
        ({"poisson_ratio": 0.6}, r"poisson_ratio of Section is 0.6; it must lie in \(-1, 0.5\]"),
        ({"poisson_ratio": -1.0}, "poisson_ratio of Section is -1; it must be greater than -1"),
        ({"shear_factor": 1.2}, "shear_factor of Section is 1.2; .* not its inverse"),
        ({"area": -1.0}, "area of Section is -1; it must be greater than 0"),
        ({"area": "wide"}, "area of Section is 'wide'; it must be a number"),
    ],
)
def test_contradicting_sections_are_refused(unchecked, change, sentence):
    with pytest.raises(CaromError, match=sentence):
        Section(**{**GOOD, **change})


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (lambda: Section.tube(outer_radius=1.0, inner_radius=2.0, youngs_modulus=E, density=1.0), "swap them"),
        (lambda: Section.circle(radius=1.0, density=1.0), "youngs_modulus of Section is not given"),
        (lambda: Section.circle(radius=1.0, youngs_modulus=E, densty=1.0), "did you mean 'density'"),
        (
            lambda: Section.circle(radius=1.0, youngs_modulus=E, shear_modulus=E / 4, density=1.0),
            "imply a Poisson ratio of 1; .* give shear_factor",
        ),
        (lambda: modes(3.0, 1.0, ("simple", "simple")), "section of Beam is a float"),
        (lambda: modes(PAPER, 0.0, ("simple", "simple")), "length of Beam is 0"),
        (lambda: modes(PAPER, 0.007, ("simple", "simple")), "radius_of_gyration of Section is .* on a beam of length"),
        (lambda: modes(PAPER, 1.0, "simple"), "ends of Beam is 'simple'; it must be a pair"),
        (lambda: modes(PAPER, 1.0, ("simple", "clampd")), "right end of Beam 'clampd'.* 'clamped'"),
        (lambda: modes(PAPER, 1.0, ("simple", "free"), 0), "count of modes is 0"),
        (lambda: modes(PAPER, 1.0, ("simple", "free"), 2.0), "count of modes is 2.0"),
        (lambda: modes(PAPER, 1.0, ("simple", "free"), theory="timoschenko"), "did you mean 'timoshenko'"),
        (lambda: modes(PAPER, 1.0, ("simple", "free"), normalisation="max"), "normalisation of modes"),
        (lambda: modes(Section(**{**GOOD, "poisson_ratio": None}), 1.0, ("simple", "free")), "give shear_modulus or"),
        (lambda: modes(Section(**GOOD), 1.0, ("simple", "free")), "give shear_factor"),
        (lambda: modal_data(modes(PAPER, 1.0, ("free", "simple"))), "left end of Beam is 'free'; .* choose 'simple'"),
        (lambda: modal_data(modes(PAPER, 1.0, ("guided", "simple"))), "left end of Beam is 'guided'"),
        (lambda: modal_data(3), "shapes of Beam is a int"),
        (
            lambda: modal_data(modes(PAPER, 1.0, ("simple", "free"), 10), nodes=12),
            "12 quadrature nodes .* its 10 modes",
        ),
        (lambda: modal_data(modes(PAPER, 1.0, ("simple", "free"), 200)), "Beam has 200 modes, .* ask for fewer"),
        (lambda: modal_data(modes(PAPER, 1.0, ("simple", "free")), nodes=0), "nodes of Beam is 0"),
        (lambda: modal_data(modes(PAPER, 1.0, ("simple", "free")), air_damping=-1.0), "air_damping of Beam is -1"),
        (lambda: modal_data(modes(PAPER, 1.0, ("simple", "free")), damping_ratio=-1.0), "damping_ratio of Beam is -1"),
        (
            lambda: modal_data(modes(PAPER, 1.0, ("simple", "free")), damping_ratio=0.1, air_damping=1.0),
            "give the ratio or the coefficients",
        ),
        (
            lambda: modal_data(modes(PAPER, 1.0, ("simple", "free"), 2), damping_ratio=[0.1, -0.1]),
            "every entry must be at least 0",
        ),
        (
            lambda: modal_data(modes(PAPER, 1.0, ("simple", "free")), rotary_inertia=-1.0),
            "rotary_inertia of Beam is -1",
        ),
        (
            lambda: modal_data(modes(STUBBY, 1.0, ("simple", "simple"), 5), rotary_inertia=0.0),
            "shape 3 of Beam moves no mass",
        ),
        (lambda: modes(PAPER, 1.0, ("simple", "free")).deflection(1.1), "eta of Beam is 1.1; it must lie on the beam"),
        (lambda: modes(PAPER, 1.0, ("simple", "free")).deflection("tip"), "eta of Beam is 'tip'"),
        (lambda: given_shapes(PAPER, 1.0, [[1.0, 1.0]]), "deflection 0 of Beam is 1 at eta = 0"),
        (lambda: given_shapes(PAPER, 1.0, [np.cos]), "deflection 0 of Beam is 1 at eta = 0"),
        (lambda: given_shapes(PAPER, 1.0, np.sin), "deflections of Beam is .* list"),
        (lambda: given_shapes(PAPER, 1.0, [[[0.0]]]), "deflection 0 of Beam is .* coefficients"),
        (lambda: given_shapes(PAPER, 1.0, [lambda eta: 0.0]), "takes arrays"),
        (lambda: given_shapes(PAPER, 1.0, [lambda eta: abs(eta - 0.3) - 0.3]), "no kink"),
        (lambda: given_shapes(PAPER, 1.0, [lambda eta: np.exp(-(((eta - 0.55) / 0.002) ** 2))]), "not resolved"),
        (
            lambda: jax.grad(lambda x: modes(PAPER, x, ("simple", "free")).frequency[0])(1.0),
            "length of Beam is traced by JAX; .* outside of jit",
        ),
        (lambda: given_shapes(PAPER, 1.0, [[0, 0, 1]], [[0, 2]]), "leave them out"),
        (lambda: given_shapes(PAPER, 1.0, [[0, 0, 1]], theory="timoshenko"), "rotations of Beam are not given"),
        (lambda: given_shapes(PAPER, 1.0, [[0, 0, 1]], [[1], [2]], "timoshenko"), "1 deflections and 2 rotations"),
        (lambda: modal_data(given_shapes(PAPER, 1.0, [[0, 1]])), "without stiffness"),
        (lambda: modal_data(given_shapes(PAPER, 1.0, [[0, 1, 1], [0, 0, 1]])), "without stiffness"),
        (lambda: modal_data(given_shapes(PAPER, 1.0, [[0, 0, 1], [0, 0, 2]])), "depend on each other"),
        (
            lambda: modal_data(given_shapes(PAPER, 1.0, [[0, 1]], [[0.0]], "timoshenko"), rotary_inertia=0.0),
            "moves its mass as a rotation",
        ),
    ],
)
def test_mistakes_are_answered_by_a_sentence(unchecked, attempt, sentence):
    with pytest.raises(CaromError, match=sentence):
        attempt()
