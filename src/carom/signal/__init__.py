"""Signals: numbers and conditions of a world, written as people write them, such as `com.y - 0.5 * tip.y < 3 mm`."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from ._driven import Known as Known
    from .expression import Signal as Signal
    from .known import known_names as known_names

__getattr__, __dir__, __all__ = lazily(__name__)
