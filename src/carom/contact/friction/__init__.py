"""Friction laws without a state of their own, one per file."""

from .ambrosio import Ambrosio as Ambrosio
from .law import AbstractFriction as AbstractFriction
from .law import Frictionless as Frictionless
from .smooth_coulomb import SmoothCoulomb as SmoothCoulomb
