"""Comparing runs: curves over one another, pictures in step, a table of differences."""

from typing import TYPE_CHECKING

from ..._lazily import lazily

if TYPE_CHECKING:
    from .comparison import Comparison as Comparison
    from .comparison import compare as compare

__getattr__, __dir__, __all__ = lazily(__name__)
