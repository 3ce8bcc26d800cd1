"""Records of real impacts: how they are read, and which laws they speak for."""

from .bouncing_balls import BounceRecord as BounceRecord
from .bouncing_balls import bouncing_balls as bouncing_balls
from .pendulum_swings import Swings as Swings
from .pendulum_swings import pendulum_swings as pendulum_swings
from .planar_impacts import PlanarImpacts as PlanarImpacts
from .planar_impacts import planar_impacts as planar_impacts
from .validate import validate as validate
