"""Figures of runs, good enough for a paper: units on every axis, readable without colour, impacts marked."""

from .all_figures import FIGURES as FIGURES
from .all_figures import Entry as Entry
from .basins import basins as basins
from .compare import compare as compare
from .family_figure import orbit_family as orbit_family
from .law_comparison import laws_compared as laws_compared
from .parallel import parallel as parallel
from .parallel import sobol_bars as sobol_bars
from .plots import Plots as Plots
from .study_map import bifurcation_diagram as bifurcation_diagram
from .study_map import study_map as study_map
from .style import use_style as use_style
