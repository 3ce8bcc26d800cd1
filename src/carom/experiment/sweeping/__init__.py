"""Studies: thousands of runs of a scenario as one labelled result."""

from ._study_page import study_page as study_page
from .indices import sobol_indices as sobol_indices
from .sweep import sweep as sweep
