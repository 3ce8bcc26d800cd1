"""Two beams, slender and stubby; pairs of ends, theories, and points to integrate at."""

import itertools

import numpy as np

from carom.beam import ENDS, Section

PAIRS = list(itertools.product(ENDS, ENDS))
THEORIES = ("euler-bernoulli", "timoshenko")
E = 2e11
# Elastic-chain paper: the data that reproduce its table of modes to all digits.
PAPER = Section(
    area=3.75e-4,
    second_moment=4.8828125e-9,
    mass_per_length=1.0,
    youngs_modulus=E,
    shear_modulus=E / 2.6,
    shear_factor=5 / 6,
)
# r = 0.1 l, s = 0.177 l at unit length: the second spectrum starts among the first four modes.
STUBBY = Section(
    area=0.01, radius_of_gyration=0.1, density=2000.0, youngs_modulus=E, shear_modulus=E / 2.6, shear_factor=5 / 6
)
ESSENTIAL = {"free": (), "simple": (0,), "clamped": (0, 1), "guided": (1,)}  # 0: W = 0, 1: Theta = 0


def gauss(count=80):
    x, w = np.polynomial.legendre.leggauss(count)
    return (x + 1) / 2, w / 2
