"""How a body hangs in a mechanism: its name, its parent, the point, its joint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx

from .. import errors
from .bodies import AbstractBody
from .joint import AnyJoint, Joint


class Fixed(eqx.Module):
    """A pivot that does not move, at (x, y) [m]."""

    x: Any = 0.0
    y: Any = 0.0

    def __check_init__(self) -> None:
        errors.number("Fixed", "x", self.x)
        errors.number("Fixed", "y", self.y)


class Free(eqx.Module):
    """A base point that moves freely: two more coordinates, the x and y [m] of the first link's origin.

    With a rod as first link this is a free *point*, the rod's end; with a disk or any body hung at its centre it is a
    free *body*, such as a spacecraft whose arm starts at its centre.
    """


class Link(eqx.Module):
    """A body in its place.

    - `name`: any word; 'link1', 'link2', .. where none is given
    - `parent`: the name of the link it hangs on; `carom.BASE` hangs it on the base; the previous link by default
    - `at` [m]: the point of the parent (in the parent's frame) where it hangs; the parent's tip by default
    - `joint`: `carom.Joint` (a hinge, the default) or `carom.Slider`, with spring and damper
    - `sites`: named points [m] of this link, in its frame
    """

    body: Any
    name: Any = eqx.field(static=True, default=None)
    parent: Any = eqx.field(static=True, default=None)
    at: Any = None
    joint: Any = Joint()
    sites: Any = eqx.field(default_factory=dict)

    def __check_init__(self) -> None:
        owner = f"link '{self.name}'" if self.name else "Link"
        for field, word in (("name", self.name), ("parent", self.parent)):
            if word is not None and not isinstance(word, str):
                whose = owner if field == "parent" else "Link"
                raise errors.CaromError(f"{field} of {whose} is {word!r}; it must be a word, the name of a link")
        if not isinstance(self.sites, Mapping):
            raise errors.CaromError(
                f"sites of {owner} is a {type(self.sites).__name__}; "
                "it must map names to points, such as {'hand': (1.0, 0.0)}"
            )
        if not isinstance(self.body, AbstractBody):
            raise errors.CaromError(
                f"body of {owner} is a {type(self.body).__name__}; it must be a Rod, Disk, PointMass, Body or Beam"
            )
        if not isinstance(self.joint, AnyJoint):
            raise errors.CaromError(
                f"joint of {owner} is a {type(self.joint).__name__}; it must be a carom.Joint or a carom.Slider"
            )
        if self.at is not None:
            errors.vector(owner, "at", self.at, 2)
        for site, point in self.sites.items():
            errors.vector(owner, f"site '{site}'", point, 2)


BASE = "base"
