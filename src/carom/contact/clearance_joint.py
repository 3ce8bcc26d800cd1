"""A joint with clearance: a pin that is loose in its hole."""

from __future__ import annotations

from .. import errors
from .._arguments import FrictionLike, NormalLike, SiteLike
from ..quantities import Real
from .contact import Contact
from .pairs import Ring


def ClearanceJoint(
    pin: SiteLike,
    hole: SiteLike,
    pin_radius: Real,
    clearance: Real,
    normal: NormalLike,
    friction: FrictionLike = None,
    name: str | None = None,
) -> Contact:
    """A pin of a radius [m] about a site, in a round hole about a site of another link, wider by `clearance` [m].

    The pin flies, bounces and slides in its hole; `normal` and `friction` are laws as of `carom.Contact`. Both links
    must be free to move apart: the joint that it replaces is not there any more (two trees side by side, or the end of
    a loop).

            ____
          /  __  \\    hole: pin_radius + clearance
         |  (  )  |   pin
          \\ ____ /

        carom.ClearanceJoint("rod.tip", "slider.pin", 0.01, 2e-4, carom.LankaraniNikravesh(1e9, 0.9))
    """
    word = name or f"{getattr(pin, 'name', pin)} in {getattr(hole, 'name', hole)}"
    errors.number(f"ClearanceJoint '{word}'", "pin_radius", pin_radius, least=0.0)
    errors.number(f"ClearanceJoint '{word}'", "clearance", clearance, above=0.0)
    return Contact(pin, Ring(hole, pin_radius + clearance), normal, friction, radius=pin_radius, name=word)
