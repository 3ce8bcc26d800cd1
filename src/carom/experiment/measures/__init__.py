"""Numbers of an experiment, by name: `impact.1.duration`, `vx.fore.tip.most.after.1`, `energy.max_error_percent`.

A measure is a pattern, a meaning and a function; the first pattern that fits is the one.
"""

from .all_measures import MEASURES as MEASURES
from .all_measures import Measured as Measured
from .all_measures import kind_of as kind_of
from .all_measures import measure as measure
from .all_measures import measured as measured
from .all_measures import nearest as nearest
from .kind import Measure as Measure
