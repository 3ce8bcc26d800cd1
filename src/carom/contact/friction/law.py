"""What a friction law is."""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx


class AbstractFriction(eqx.Module):
    """Tangential force [N] from normal force [N] and sliding velocity [m/s]; it opposes the sliding."""

    @abc.abstractmethod
    def force(self, normal: Any, sliding: Any) -> Any: ...


class Frictionless(AbstractFriction):
    """No friction."""

    def force(self, normal: Any, sliding: Any) -> Any:
        return 0.0 * normal
