"""Experiments: a scenario is run, measured, compared with what is expected, and written down."""

from .experiment import Experiment as Experiment
from .experiment import perform as perform
