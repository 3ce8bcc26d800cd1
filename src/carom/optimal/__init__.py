"""Optimal control through impacts, on exact derivatives of the motion."""

from .estimates import Estimates as Estimates
from .kalman import KalmanFilter as KalmanFilter
from .stepping import Rollout as Rollout
from .stepping import Stepping as Stepping
