"""The studio: a scenario on a local page, run again at every change."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from ._serve import serve as serve

__getattr__, __dir__, __all__ = lazily(__name__)
