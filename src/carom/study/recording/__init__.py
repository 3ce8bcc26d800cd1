"""What a lane keeps of its run while it runs, in a fixed amount of memory: the numbers that a single run would tell."""

from .at_times import AtTimes as AtTimes
from .first_impacts import count_of_impacts as count_of_impacts
from .first_impacts import first_impacts as first_impacts
from .recorder import AbstractRecorder as AbstractRecorder
from .recorder import LaneMeasure as LaneMeasure
from .returns import Returns as Returns
from .running import LedgerSizes as LedgerSizes
from .running import Mean as Mean
from .running import MomentumDrift as MomentumDrift
from .running import Running as Running
from .running import RunningTurns as RunningTurns
from .signals import Coordinate as Coordinate
from .signals import Signal as Signal
from .signals import SitePart as SitePart
from .signals import Written as Written
