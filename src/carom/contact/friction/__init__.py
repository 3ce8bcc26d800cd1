"""Friction laws, one per file."""

from typing import TYPE_CHECKING

from ..._lazily import lazily

if TYPE_CHECKING:
    from .ambrosio import Ambrosio as Ambrosio
    from .bengisu_akay import BengisuAkay as BengisuAkay
    from .coulomb import Coulomb as Coulomb
    from .dahl import Dahl as Dahl
    from .dry import AbstractDry as AbstractDry
    from .friction_law import AbstractFriction as AbstractFriction
    from .friction_law import Frictionless as Frictionless
    from .karnopp import Karnopp as Karnopp
    from .lugre import LuGre as LuGre
    from .smooth_coulomb import SmoothCoulomb as SmoothCoulomb
    from .stribeck import Stribeck as Stribeck

__getattr__, __dir__, __all__ = lazily(__name__)
