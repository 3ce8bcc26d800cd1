"""What a run leaves behind: trajectory, events, impacts, energy ledger, statistics."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from .convergence import Convergence as Convergence
    from .impacts import Impact as Impact
    from .ledger import Ledger as Ledger
    from .result import Event as Event
    from .result import Result as Result
    from .stances import Stance as Stance

__getattr__, __dir__, __all__ = lazily(__name__)
