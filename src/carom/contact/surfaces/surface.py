"""What a surface is: a signed distance and its normal."""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx


class AbstractSurface(eqx.Module):
    """A curve with a free side. Gap positive on the free side, normal pointing into it."""

    @abc.abstractmethod
    def gap(self, x: Any, y: Any) -> Any:
        """Signed distance [m] of a point."""

    @abc.abstractmethod
    def normal(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Unit normal at the foot of the point."""
