"""Forces that are neither contacts nor controllers."""

from .extra_states import ExtraStates as ExtraStates
from .spring import Spring as Spring
