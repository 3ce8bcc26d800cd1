"""Numbers of a scenario, or of a world of one's own, that make a run cheap, within limits."""

from .optimize import optimize as optimize
from .optimum import Optimum as Optimum
