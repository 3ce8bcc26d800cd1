"""Optimal control through impacts, on exact derivatives of the motion."""

from .cost import QuadraticCost as QuadraticCost
from .estimates import Estimates as Estimates
from .ilqr import ilqr as ilqr
from .kalman import KalmanFilter as KalmanFilter
from .optimal_path import OptimalPath as OptimalPath
from .stabilise import stabilise as stabilise
from .stabilised import Stabilised as Stabilised
from .stepping import Rollout as Rollout
from .stepping import Stepping as Stepping
