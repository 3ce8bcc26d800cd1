"""Controllers and schedules: automata that apply torques."""

from .posture import PostureControl as PostureControl
from .switch import AbstractSwitch as AbstractSwitch
from .switch import AtHeight as AtHeight
from .switch import AtTime as AtTime
from .switch import OnStrike as OnStrike
