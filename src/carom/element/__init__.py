"""Forces that are neither contacts nor controllers."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from .drag import Drag as Drag
    from .extra_states import ExtraStates as ExtraStates
    from .rolling_resistance import RollingResistance as RollingResistance
    from .spring import Spring as Spring

__getattr__, __dir__, __all__ = lazily(__name__)
