"""Forces that are neither contacts nor controllers."""

from .spring import Spring as Spring
