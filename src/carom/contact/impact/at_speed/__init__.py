"""Restitution that depends on the speed of approach."""

from .linear_restitution import LinearRestitution as LinearRestitution
from .power_restitution import PowerRestitution as PowerRestitution
from .speed_form import AbstractRestitution as AbstractRestitution
from .thornton_restitution import ThorntonRestitution as ThorntonRestitution
from .viscoelastic_restitution import ViscoelasticRestitution as ViscoelasticRestitution
