"""What a run leaves behind: trajectory, events, impacts, energy ledger, statistics."""

from .convergence import Convergence as Convergence
from .impacts import Impact as Impact
from .ledger import Ledger as Ledger
from .result import Event as Event
from .result import Result as Result
from .stances import Stance as Stance
