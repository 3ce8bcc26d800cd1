"""Frequencies of uniform beams by three independent ways."""

import itertools

import mpmath
import numpy as np
import pytest
from numpy.polynomial import legendre
from scipy.linalg import eigh, null_space

from carom.beam import Section, modes

from .beam_sections import ESSENTIAL, PAIRS, PAPER, STUBBY, THEORIES, E


def slenderness(section, theory):
    """r and s of a beam of unit length, from their definitions."""
    if theory == "euler-bernoulli":
        return 0.0, 0.0
    k, G = section.shear_factor, section.shear_modulus
    r2 = section.rotary_inertia / section.mass_per_length
    return np.sqrt(r2), np.sqrt(section.youngs_modulus * section.second_moment / (k * section.area * G))


def dimensionless(found, section):
    return found.frequency * np.sqrt(section.mass_per_length / (section.youngs_modulus * section.second_moment))


@pytest.mark.parametrize(
    ("ends", "first", "second"),
    [
        (("simple", "simple"), 3.141592653590, None),
        (("clamped", "clamped"), 4.728894916197, 4.72606095063675),
        (("simple", "clamped"), 3.926181400746, 3.924559038288969),
        (("clamped", "simple"), 3.926181400746, 3.924559038288969),
    ],
)
def test_the_papers_table_of_wave_numbers(ends, first, second):
    found = modes(PAPER, 1.0, ends)
    assert found.wave_number[0] == pytest.approx(first, rel=0, abs=1e-12)  # printed to 12 decimals
    if second is not None:
        assert found.second_wave_number[0] == pytest.approx(second, rel=1e-14)


def mp_misfit(left, right, b, r, s):
    """Determinant of the end conditions for exponentials, straight from the equations of motion."""
    b2, r2, s2 = b**2, mpmath.mpf(r) ** 2, mpmath.mpf(s) ** 2
    root = mpmath.sqrt((b2 * (r2 + s2)) ** 2 - 4 * (b2**2 * r2 * s2 - b2))
    squares = [(-b2 * (r2 + s2) + sign * root) / 2 for sign in (1, -1)]
    rows = {"simple": (0, 2), "guided": (1, 3), "clamped": (0, 1), "free": (2, 3)}
    columns = []
    for lam in [sign * mpmath.sqrt(x) for x in squares for sign in (1, -1)]:
        theta = (lam**2 + b2 * s2) / lam
        state = (1, theta, lam * theta, -b2 / lam)
        end = mpmath.exp(lam)
        columns.append([state[i] for i in rows[left]] + [end * state[i] for i in rows[right]])
    return mpmath.det(mpmath.matrix(columns))


@pytest.mark.parametrize("theory", THEORIES)
def test_ten_modes_of_every_pair_to_twelve_digits(theory):
    r, s = slenderness(STUBBY, theory)
    with mpmath.workdps(50):
        for left, right in PAIRS:
            found = modes(STUBBY, 1.0, (left, right), 10, theory)
            for b, second in zip(dimensionless(found, STUBBY), found.second_wave_number, strict=True):
                if second == 0:
                    continue  # the shear mode at the cut-off, where the exponentials coincide
                below, above = (mp_misfit(left, right, mpmath.mpf(b) * (1 + e), r, s) for e in (-1e-12, 1e-12))
                # The determinant has a constant phase; a root in between turns it round.
                assert mpmath.re(below / above) < 0, (left, right, b)


def ritz(left, right, r, s, degree):
    """Squares b^2 from a Ritz method with polynomials: nothing in common with characteristic equations."""
    x, w = legendre.leggauss(degree + 4)
    unit = np.eye(degree + 1)
    P, D, D2 = (
        np.stack([2**n * legendre.legval(x, legendre.legder(row, n)) for row in unit], axis=1) for n in range(3)
    )
    ends = [
        [np.array([2**n * legendre.legval(z, legendre.legder(row, n)) for row in unit]) for n in (0, 1)]
        for z in (-1, 1)
    ]
    w, zero = w / 2, np.zeros(degree + 1)
    if s == 0:
        K, mass = (D2.T * w) @ D2, (P.T * w) @ P
        fixed = [ends[i][n] for i, end in enumerate((left, right)) for n in ESSENTIAL[end]]
    else:
        shear, bend, turn = np.hstack([D, -P]), np.hstack([0 * D, D]), np.hstack([0 * P, P])
        K = (shear.T * w) @ shear / s**2 + (bend.T * w) @ bend
        both = np.hstack([P, 0 * P])
        mass = (both.T * w) @ both + r**2 * (turn.T * w) @ turn
        fixed = [
            np.concatenate([ends[i][0], zero] if n == 0 else [zero, ends[i][0]])
            for i, end in enumerate((left, right))
            for n in ESSENTIAL[end]
        ]
    B = null_space(np.array(fixed)) if fixed else np.eye(len(K))
    return eigh(B.T @ K @ B, B.T @ mass @ B, eigvals_only=True)


@pytest.mark.parametrize(
    ("section", "theory", "degree", "rel"),
    # Conditioning of the Ritz matrices limits the comparison: W'' of high degree is the worst.
    [(PAPER, "euler-bernoulli", 36, 1e-6), (PAPER, "timoshenko", 40, 1e-6), (STUBBY, "timoshenko", 48, 1e-8)],
)
def test_frequencies_of_every_pair_against_a_ritz_method(section, theory, degree, rel):
    r, s = slenderness(section, theory)
    for ends in PAIRS:
        found = modes(section, 1.0, ends, 10, theory)
        squares = ritz(*ends, r, s, degree)
        rigid = len(found.rigid)
        assert np.all(np.abs(squares[:rigid]) < 1e-2), ends
        assert squares[rigid] > 1
        # In order, none missing, both spectra: the lists agree place by place.
        np.testing.assert_allclose(dimensionless(found, section), np.sqrt(squares[rigid : rigid + 10]), rtol=rel)
    assert (theory == "euler-bernoulli" or section is PAPER) == bool(np.all(found.evanescent))


def count_below(left, right, b, r, s):
    """Wittrick and Williams: frequencies below b, from signs of the dynamic stiffness and the two closed families."""
    sums, root = b**2 * (r**2 + s**2), b * np.sqrt((b * (r**2 - s**2)) ** 2 + 4)
    first, sigma = (sums + root) / 2, (root - sums) / 2
    squares = np.array([-first, sigma], dtype=complex)
    lam = np.concatenate([np.sqrt(squares), -np.sqrt(squares)])
    theta = (lam**2 + (b * s) ** 2) / lam
    ends = [np.exp(lam * (x - (lam.real > 0))) for x in (0, 1)]  # growing waves scaled at the right end
    moved = np.array([ends[0], theta * ends[0], ends[1], theta * ends[1]])
    M, Q = lam * theta, -(b**2) / lam
    force = np.array([-Q * ends[0], -M * ends[0], Q * ends[1], M * ends[1]])
    K = np.real(force @ np.linalg.inv(moved))

    def negative(dof):
        return int(np.sum(np.linalg.eigvalsh((K + K.T)[np.ix_(dof, dof)] / 2) < 0)) if dof else 0

    simple = int(np.sqrt(first) / np.pi) + (int(np.sqrt(-sigma) / np.pi) + 1 if sigma < 0 else 0)
    free = [2 * i + n for i, end in enumerate((left, right)) for n in (0, 1) if n not in ESSENTIAL[end]]
    return simple - negative([1, 3]) + negative(free)


@pytest.mark.parametrize("section", [PAPER, STUBBY])
@pytest.mark.parametrize("theory", THEORIES)
def test_no_root_is_missed_among_thirty(section, theory):
    r, s = slenderness(section, theory)
    for ends in PAIRS:
        found = modes(section, 1.0, ends, 31, theory)
        b = dimensionless(found, section)
        assert np.all(np.diff(b) > 0)
        counts = [count_below(*ends, 0.55 * x + 0.45 * y, r, s) for x, y in itertools.pairwise(b)]
        assert counts == [len(found.rigid) + j for j in range(1, 31)], ends


def test_textbook_wave_numbers_of_euler_bernoulli():
    # Roots of cos x cosh x = -1, of cos x cosh x = 1, and of tan x = tanh x.
    for ends, values in {
        ("clamped", "free"): (1.8751040687119611, 4.694091132974175, 7.854757438237613),
        ("free", "free"): (4.730040744862704, 7.853204624095838, 10.995607838001671),
        ("simple", "free"): (3.9266023120479188, 7.068582745628732, 10.210176122813031),
        ("guided", "clamped"): (2.365020372431352, 5.497803919000836, 8.639379828699742),
    }.items():
        found = modes(PAPER, 1.0, ends, 3, "euler-bernoulli")
        np.testing.assert_allclose(found.wave_number, values, rtol=4e-15)
        np.testing.assert_array_equal(found.second_wave_number, found.wave_number)


@pytest.mark.parametrize("theory", THEORIES)
def test_three_hundred_modes_neither_overflow_nor_leave_their_ends(theory):
    found = modes(PAPER, 1.0, ("clamped", "free"), 300, theory)
    assert np.all(np.diff(found.frequency) > 0)
    if theory == "euler-bernoulli":
        np.testing.assert_allclose(found.wave_number[20:], np.pi * (np.arange(21, 301) - 0.5), rtol=1e-14)
    else:  # the second wave begins a hundred modes up
        assert found.frequency[~found.evanescent][0] >= found.cutoff
        assert np.all(found.frequency[found.evanescent] < found.cutoff)
        assert not np.all(found.evanescent)
    grid = np.linspace(0, 1, 301)
    assert np.max(np.abs(found.deflection(grid))) <= 1 + 1e-12
    # Near the cut-off q^2 is a difference of large numbers: ten digits of the shape are left on this slender beam.
    assert np.max(np.abs(found.deflection(0.0))) < 1e-10
    assert np.max(np.abs(found.bending(1.0)) / found.wave_number**2) < 1e-10


def test_rigid_motions_are_named_and_not_among_the_modes():
    for left, right in PAIRS:
        ends = {left, right}
        expected = {
            frozenset({"free"}): ("translation", "rotation"),
            frozenset({"free", "simple"}): ("rotation",),
            frozenset({"free", "guided"}): ("translation",),
            frozenset({"guided"}): ("translation",),
        }.get(frozenset(ends), ())
        found = modes(PAPER, 1.0, (left, right))
        assert found.rigid == expected
        assert found.frequency[0] > 1


def test_euler_bernoulli_is_the_slender_limit_with_slope_two():
    for ends in PAIRS:
        error = []
        for scale in (1.0, 0.5, 0.25):
            radius = 0.005 * scale
            thin = Section(
                area=1.0,
                radius_of_gyration=radius,
                density=1.0,
                youngs_modulus=E,
                poisson_ratio=0.3,
                shear_factor=5 / 6,
            )
            both = [modes(thin, 1.0, ends, 3, theory).frequency for theory in THEORIES]
            error.append(both[0] / both[1] - 1)
        slopes = np.log2(np.array(error[:-1]) / np.array(error[1:]))
        assert np.all(np.array(error) > 0)  # shear and rotary inertia only soften
        np.testing.assert_allclose(slopes, 2.0, atol=0.03)


def test_two_simple_ends_have_a_shear_mode_at_the_cutoff():
    found = modes(STUBBY, 1.0, ("simple", "simple"), 6)
    (at,) = np.flatnonzero(found.second_wave_number == 0)
    kAG = STUBBY.shear_factor * STUBBY.area * STUBBY.shear_modulus
    assert found.frequency[at] == pytest.approx(found.cutoff, rel=1e-15)
    assert found.cutoff == pytest.approx(np.sqrt(kAG / STUBBY.rotary_inertia), rel=1e-14)
    eta = np.linspace(0, 1, 7)
    np.testing.assert_array_equal(found.deflection(eta)[:, at], 0)
    np.testing.assert_allclose(found.rotation(eta)[:, at], 1, rtol=1e-15)
