"""Capture of an object by an arm: the blow, the mechanism after it, and a controller that comes to rest with it."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from .after import AfterCapture as AfterCapture
    from .after import after_capture as after_capture
    from .capture_blow import BASES as BASES
    from .capture_blow import KINDS as KINDS
    from .capture_blow import capture as capture
    from .hold import HoldPose as HoldPose
    from .hold import efforts_at as efforts_at
    from .hold import peak_efforts as peak_efforts
    from .pseudo_inverse import capture_by_pseudo_inverse as capture_by_pseudo_inverse
    from .record import Capture as Capture
    from .record import comparison as comparison

__getattr__, __dir__, __all__ = lazily(__name__)
