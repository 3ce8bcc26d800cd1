"""Pairs that can touch: a site on a surface, a segment, another round body; a joint on its stop."""

from typing import TYPE_CHECKING

from ..._lazily import lazily

if TYPE_CHECKING:
    from .choice import pair_of as pair_of
    from .disk_on_disk import DiskOnDisk as DiskOnDisk
    from .disk_on_disk import Ring as Ring
    from .joint_limit import JointLimit as JointLimit
    from .pair import AbstractPair as AbstractPair
    from .pair import Touching as Touching
    from .shape_on_block import BlockCornerOnShape as BlockCornerOnShape
    from .shape_on_block import SmoothOnBlock as SmoothOnBlock
    from .shape_on_shape import CornerOnShape as CornerOnShape
    from .shape_on_shape import SmoothOnShape as SmoothOnShape
    from .shape_on_surface import CornerOnSurface as CornerOnSurface
    from .shape_on_surface import EdgesOnSurface as EdgesOnSurface
    from .shape_on_surface import SmoothOnSurface as SmoothOnSurface
    from .site_on_segment import Segment as Segment
    from .site_on_segment import SiteOnSegment as SiteOnSegment
    from .site_on_surface import SiteOnSurface as SiteOnSurface

__getattr__, __dir__, __all__ = lazily(__name__)
