"""Numbers that a study gives, by name: `impact.1.duration`, `vx.fore.tip.most.after.1`, `energy.max_error_percent`.

A measure is a pattern, a meaning and a function; the first pattern that fits is the one.
"""

from .table import MEASURES as MEASURES
from .table import Measured as Measured
from .table import measure as measure
from .table import measured as measured
from .table import nearest as nearest
