"""Surfaces, normal laws, friction laws, contacts."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from .clearance_joint import ClearanceJoint as ClearanceJoint
    from .compliant import CompliantContact as CompliantContact
    from .contact import Contact as Contact
    from .friction import AbstractDry as AbstractDry
    from .friction import AbstractFriction as AbstractFriction
    from .friction import Ambrosio as Ambrosio
    from .friction import BengisuAkay as BengisuAkay
    from .friction import Coulomb as Coulomb
    from .friction import Dahl as Dahl
    from .friction import Frictionless as Frictionless
    from .friction import Karnopp as Karnopp
    from .friction import LuGre as LuGre
    from .friction import SmoothCoulomb as SmoothCoulomb
    from .friction import Stribeck as Stribeck
    from .impact import AbstractImpactLaw as AbstractImpactLaw
    from .impact import AbstractRestitution as AbstractRestitution
    from .impact import LinearRestitution as LinearRestitution
    from .impact import Newton as Newton
    from .impact import Plastic as Plastic
    from .impact import Poisson as Poisson
    from .impact import PowerRestitution as PowerRestitution
    from .impact import RigidContact as RigidContact
    from .impact import RigidContacts as RigidContacts
    from .impact import Stronge as Stronge
    from .impact import ThorntonRestitution as ThorntonRestitution
    from .impact import ViscoelasticRestitution as ViscoelasticRestitution
    from .impact import impact_blocks as impact_blocks
    from .impact.blow import blow as blow
    from .impact.rubbing_blow import rubbing_blow as rubbing_blow
    from .inverse import ContactEfforts as ContactEfforts
    from .inverse import ContactInverse as ContactInverse
    from .material import Material as Material
    from .material import hertz_stiffness as hertz_stiffness
    from .material import reduced_modulus as reduced_modulus
    from .material import reduced_radius as reduced_radius
    from .normal import AbstractHuntCrossley as AbstractHuntCrossley
    from .normal import AbstractNormalLaw as AbstractNormalLaw
    from .normal import CarvalhoMartins as CarvalhoMartins
    from .normal import Flores as Flores
    from .normal import GharibHurmuzlu as GharibHurmuzlu
    from .normal import Gonthier as Gonthier
    from .normal import HerbertMcWhannell as HerbertMcWhannell
    from .normal import Hertz as Hertz
    from .normal import Hooke as Hooke
    from .normal import HuGuo as HuGuo
    from .normal import HuntCrossley as HuntCrossley
    from .normal import JacksonGreen as JacksonGreen
    from .normal import LankaraniNikravesh as LankaraniNikravesh
    from .normal import LeeWang as LeeWang
    from .on_surface import OnSurface as OnSurface
    from .pairs import AbstractPair as AbstractPair
    from .pairs import JointLimit as JointLimit
    from .pairs import Ring as Ring
    from .pairs import Segment as Segment
    from .restitution import achieved_restitution as achieved_restitution
    from .restitution import integrated_blow as integrated_blow
    from .shape import AbstractShape as AbstractShape
    from .shape import Capsule as Capsule
    from .shape import Ellipse as Ellipse
    from .shape import Oval as Oval
    from .shape import Polygon as Polygon
    from .shape import Round as Round
    from .shape_contact import Among as Among
    from .shape_contact import Ground as Ground
    from .surfaces import AbstractSurface as AbstractSurface
    from .surfaces import Block as Block
    from .surfaces import Circle as Circle
    from .surfaces import Graph as Graph
    from .surfaces import Implicit as Implicit
    from .surfaces import Moving as Moving
    from .surfaces import Plane as Plane
    from .surfaces import Spline as Spline
    from .surfaces import Wall as Wall

__getattr__, __dir__, __all__ = lazily(__name__)
