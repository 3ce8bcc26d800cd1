"""Figures of runs, good enough for a paper: units on every axis, readable without colour, impacts marked."""

from .compare import compare as compare
from .plots import Plots as Plots
from .table import FIGURES as FIGURES
from .table import Entry as Entry
