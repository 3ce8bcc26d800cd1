"""Mode shapes of uniform beams: orthogonality, ends, equations of motion, mirror images, static limit."""

import numpy as np
import pytest

from carom.beam import modal_data, modes

from .beam_sections import ESSENTIAL, PAIRS, PAPER, STUBBY, THEORIES, gauss


@pytest.mark.parametrize("section", [PAPER, STUBBY])
@pytest.mark.parametrize("theory", THEORIES)
def test_modes_are_orthogonal_and_their_rayleigh_quotient_is_the_frequency_squared(section, theory):
    x, w = gauss()
    J = section.rotary_inertia if theory == "timoshenko" else 0.0
    length = 1.3
    for ends in PAIRS:
        found = modes(section, length, ends, 10, theory)
        eta = length * x
        deflection, rotation, bending, shear = (
            length * (f.T * w) @ f
            for f in (found.deflection(eta), found.rotation(eta), found.bending(eta), found.shear(eta))
        )
        mass = section.mass_per_length * deflection + J * rotation
        K = section.bending_stiffness * bending
        if theory == "timoshenko":
            K = K + section.shear_stiffness * shear
        size = np.sqrt(np.diag(mass))
        np.testing.assert_allclose(mass / np.outer(size, size), np.eye(10), atol=1e-12)
        size = size * found.frequency
        np.testing.assert_allclose(K / np.outer(size, size), np.eye(10), atol=1e-12)
        # Rigid motions are orthogonal to every elastic one.
        if "translation" in found.rigid:
            assert np.max(np.abs(w @ found.deflection(eta))) < 1e-12
        if "rotation" in found.rigid:
            about = eta if ends[0] != "free" or "translation" in found.rigid else eta - length
            momentum = section.mass_per_length * (w * about) @ found.deflection(eta) + J * w @ found.rotation(eta)
            assert np.max(np.abs(momentum)) < 1e-11 * section.mass_per_length


@pytest.mark.parametrize("theory", THEORIES)
def test_derivatives_integrate_to_the_functions_and_ends_are_kept(theory):
    x, w = gauss()
    for ends in PAIRS:
        found = modes(STUBBY, 0.8, ends, 8, theory)
        scale = found.wave_number / 0.8
        for low, high in ((0.0, 0.3), (0.3, 0.8)):
            eta, weight = low + (high - low) * x, (high - low) * w
            for f, df, n in (
                (found.deflection, found.slope, 0),
                (found.slope, found.curvature, 1),
                (found.rotation, found.bending, 1),
            ):
                error = f(high) - f(low) - weight @ df(eta)
                assert np.max(np.abs(error) / scale**n) < 1e-11
        for end, eta in zip(ends, (0.0, 0.8), strict=True):
            for n in ESSENTIAL[end]:
                value = (found.deflection, found.rotation)[n](eta)
                assert np.max(np.abs(value) / scale**n) < 1e-12
            if end in ("free", "simple"):
                assert np.max(np.abs(found.bending(eta)) / scale**2) < 1e-12
            if end in ("free", "guided") and theory == "timoshenko":
                assert np.max(np.abs(found.shear(eta)) / scale) < 1e-12
        if theory == "euler-bernoulli":
            np.testing.assert_array_equal(found.rotation(eta), found.slope(eta))


@pytest.mark.parametrize("theory", THEORIES)
def test_equations_of_motion_hold_along_the_beam(theory):
    """(k A G Gamma)' + mu omega^2 W = 0, over a piece; Euler-Bernoulli by moments."""
    found = modes(STUBBY, 1.0, ("clamped", "free"), 6, theory)
    x, w = gauss()
    eta, weight = 0.2 + 0.5 * x, 0.5 * w
    load = STUBBY.mass_per_length * found.frequency**2
    if theory == "timoshenko":
        force = STUBBY.shear_stiffness * (found.shear(0.7) - found.shear(0.2))
        np.testing.assert_allclose(force, -load * (weight @ found.deflection(eta)), rtol=1e-9, atol=1e-9 * load[0])
        turn = STUBBY.bending_stiffness * (found.bending(0.7) - found.bending(0.2))
        inertia = STUBBY.rotary_inertia * found.frequency**2 * (weight @ found.rotation(eta))
        shear = STUBBY.shear_stiffness * (weight @ found.shear(eta))
        np.testing.assert_allclose(turn, -shear - inertia, rtol=1e-9)
    else:  # from the free end inwards the moment is the double integral of the load
        eta, weight = 0.4 + 0.6 * x, 0.6 * w
        moment = load * ((weight * (eta - 0.4)) @ found.deflection(eta))
        np.testing.assert_allclose(STUBBY.bending_stiffness * found.curvature(0.4), moment, rtol=1e-10)


@pytest.mark.parametrize("theory", THEORIES)
def test_peak_is_one_and_left_side_is_positive(theory):
    grid = np.linspace(0, 1, 10001)
    for ends in PAIRS:
        W = modes(STUBBY, 1.0, ends, 7, theory).deflection(grid)
        W = W[:, np.any(W != 0, axis=0)]
        np.testing.assert_allclose(
            np.max(np.abs(W), axis=0), 1.0, atol=5e-6
        )  # the grid may miss the peak by (p h)^2 / 8
        assert np.max(np.abs(W)) < 1 + 1e-14
        for w in W.T:
            assert w[np.abs(w) > 5e-3][0] > 0


def test_unit_modal_mass():
    data = modal_data(modes(STUBBY, 2.0, ("clamped", "free"), 5, normalisation="mass"))
    np.testing.assert_allclose(data.modal_mass, np.eye(5), atol=1e-13)
    np.testing.assert_allclose(np.diag(data.stiffness), data.shapes.frequency**2, rtol=1e-12)


@pytest.mark.parametrize("theory", THEORIES)
def test_mirrored_ends_have_mirrored_modes_exactly(theory):
    eta = np.arange(65) / 64
    for left, right in PAIRS:
        one, other = (modes(STUBBY, 1.0, ends, 8, theory) for ends in ((left, right), (right, left)))
        np.testing.assert_array_equal(one.frequency, other.frequency)
        W, V = one.deflection(eta), other.deflection(1 - eta)
        Theta, Phi = one.rotation(eta), other.rotation(1 - eta)
        if left != right:  # two objects, one computation: bit by bit
            sign = np.where(np.all(W == V, axis=0), 1.0, -1.0)
            np.testing.assert_array_equal(W, sign * V)
            np.testing.assert_array_equal(Theta, -sign * Phi)
        else:
            sign = np.where(np.max(np.abs(W - V), axis=0) < 1e-9, 1.0, -1.0)
            np.testing.assert_allclose(W, sign * V, atol=1e-12)


@pytest.mark.parametrize("theory", THEORIES)
def test_modal_sum_of_a_cantilevers_tip_converges_to_the_static_deflection(theory):
    force, length = 3.0, 1.7
    exact = force * length**3 / (3 * STUBBY.bending_stiffness)
    if theory == "timoshenko":
        exact += force * length / STUBBY.shear_stiffness
    found = modes(STUBBY, length, ("clamped", "free"), 40, theory)
    data = modal_data(found)
    tip = found.deflection(length)
    terms = force * tip**2 / (found.frequency**2 * np.diag(data.modal_mass))
    sums = np.cumsum(terms)
    assert np.all(sums < exact)  # assumed modes are too stiff, always
    assert sums[-1] == pytest.approx(exact, rel=1e-5 if theory == "euler-bernoulli" else 2e-2)
    # What is missing falls as N^-3, with shear as N^-1.
    rate = np.log2((exact - sums[19]) / (exact - sums[39]))
    assert rate == pytest.approx(3.0 if theory == "euler-bernoulli" else 1.0, abs=0.1)
    np.testing.assert_allclose(force * tip @ np.linalg.solve(data.stiffness, tip), sums[-1], rtol=1e-11)
