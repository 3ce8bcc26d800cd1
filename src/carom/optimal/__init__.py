"""Optimal control through impacts, on exact derivatives of the motion."""

from .cost import QuadraticCost as QuadraticCost
from .ilqr import ilqr as ilqr
from .optimal_path import OptimalPath as OptimalPath
from .stepping import Rollout as Rollout
from .stepping import Stepping as Stepping
