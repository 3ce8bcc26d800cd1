"""Surfaces, normal laws, friction laws, contacts."""

from .compliant import Contact as Contact
from .friction import AbstractFriction as AbstractFriction
from .friction import Ambrosio as Ambrosio
from .friction import Frictionless as Frictionless
from .friction import SmoothCoulomb as SmoothCoulomb
from .material import Material as Material
from .material import hertz_stiffness as hertz_stiffness
from .material import reduced_modulus as reduced_modulus
from .normal import AbstractNormalLaw as AbstractNormalLaw
from .normal import Hertz as Hertz
from .normal import Hooke as Hooke
from .normal import HuntCrossley as HuntCrossley
from .normal import JacksonGreen as JacksonGreen
from .surfaces import AbstractSurface as AbstractSurface
from .surfaces import Circle as Circle
from .surfaces import Plane as Plane
