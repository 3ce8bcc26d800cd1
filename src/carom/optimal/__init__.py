"""Optimal control through impacts, on exact derivatives of the motion."""

from .stepping import Rollout as Rollout
from .stepping import Stepping as Stepping
