"""Compliant normal laws, one per file."""

from .hertz import Hertz as Hertz
from .hooke import Hooke as Hooke
from .hunt_crossley import HuntCrossley as HuntCrossley
from .jackson_green import JacksonGreen as JacksonGreen
from .law import AbstractNormalLaw as AbstractNormalLaw
