"""Compliant normal laws, one per file."""

from typing import TYPE_CHECKING

from ..._lazily import lazily

if TYPE_CHECKING:
    from .carvalho_martins import CarvalhoMartins as CarvalhoMartins
    from .family import AbstractHuntCrossley as AbstractHuntCrossley
    from .flores import Flores as Flores
    from .gharib_hurmuzlu import GharibHurmuzlu as GharibHurmuzlu
    from .gonthier import Gonthier as Gonthier
    from .herbert_mcwhannell import HerbertMcWhannell as HerbertMcWhannell
    from .hertz import Hertz as Hertz
    from .hooke import Hooke as Hooke
    from .hu_guo import HuGuo as HuGuo
    from .hunt_crossley import HuntCrossley as HuntCrossley
    from .jackson_green import JacksonGreen as JacksonGreen
    from .lankarani_nikravesh import LankaraniNikravesh as LankaraniNikravesh
    from .lee_wang import LeeWang as LeeWang
    from .normal_law import AbstractNormalLaw as AbstractNormalLaw
    from .slack import AbstractSlackening as AbstractSlackening

__getattr__, __dir__, __all__ = lazily(__name__)
