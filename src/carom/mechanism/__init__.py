"""Bodies, links, trees: frozen values, validated when they are built."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from .bodies import AbstractBody as AbstractBody
    from .bodies import Body as Body
    from .bodies import Disk as Disk
    from .bodies import PointMass as PointMass
    from .bodies import Rod as Rod
    from .elastic import Beam as Beam
    from .forest import side_by_side as side_by_side
    from .joint import Joint as Joint
    from .joint import Slider as Slider
    from .link import BASE as BASE
    from .link import Fixed as Fixed
    from .link import Free as Free
    from .link import Link as Link
    from .numbers import Numbers as Numbers
    from .state import State as State
    from .topology import Topology as Topology
    from .tree import Arm as Arm
    from .tree import Mechanism as Mechanism
    from .tree import Site as Site

__getattr__, __dir__, __all__ = lazily(__name__)
