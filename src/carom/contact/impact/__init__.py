"""Impulsive contacts."""

from .at_speed import AbstractRestitution as AbstractRestitution
from .at_speed import LinearRestitution as LinearRestitution
from .at_speed import PowerRestitution as PowerRestitution
from .at_speed import ThorntonRestitution as ThorntonRestitution
from .at_speed import ViscoelasticRestitution as ViscoelasticRestitution
from .blow import Blocks as Blocks
from .blow import MatrixBlow as MatrixBlow
from .blow import blow as blow
from .blow import impact_blocks as impact_blocks
from .impact_law import AbstractImpactLaw as AbstractImpactLaw
from .newton import Newton as Newton
from .plastic import Plastic as Plastic
from .poisson import Poisson as Poisson
from .rigid import RigidContacts as RigidContacts
from .rigid_contact import RigidContact as RigidContact
from .rubbing_blow import RubbingBlow as RubbingBlow
from .rubbing_blow import rubbing_blow as rubbing_blow
from .stronge import Stronge as Stronge
