"""The mechanism that a controller is made for."""

from __future__ import annotations

from .. import errors
from ..mechanism import Mechanism
from ..mechanism.topology import Topology


def topology_of(owner: str, given: object) -> Topology:
    """Links and joints to drive; what is no mechanism, such as the whole world, is refused."""
    if not isinstance(given, Mechanism):
        raise errors.CaromError(f"mechanism of '{owner}' is a {type(given).__name__}; it must be a carom.Mechanism")
    return given.topology
