"""Every number of a mechanism, as columns over its links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import equinox as eqx
from jaxtyping import Array, Float

from ._bending import Flexible, Reach

if TYPE_CHECKING:
    Bends = tuple[Flexible | None, ...]
    Reaches = tuple[Reach | None, ...]
else:  # checkers that look at one item at random would disturb tests that draw random mechanisms
    Bends = Reaches = tuple


class Numbers(eqx.Module):
    """Every number of a mechanism: traced leaves, so that changing one never compiles again."""

    mass: Float[Array, " links"]
    com: Float[Array, "links 2"]
    inertia: Float[Array, " links"]
    hang: Float[Array, "links 2"]  # where the link hangs, in its parent's frame (or relative to the base point)
    tip: Float[Array, "links 2"]
    axis: Float[Array, "links 2"]  # of a slider, a unit vector in its parent's frame; zero on a hinge
    stiffness: Float[Array, " links"]
    rest: Float[Array, " links"]
    damping: Float[Array, " links"]
    rotor: Float[Array, " links"]  # moment of inertia
    gear: Float[Array, " links"]
    friction: Float[Array, " links"]  # dry, of the joint while it moves [N m] or [N]
    stiction: Float[Array, " links"]  # the most that holds it while it does not
    effort: Float[Array, " links"]  # the largest effort of its actuator; infinite without a limit
    site: Float[Array, "sites 2"]
    pivot: Float[Array, "trees 2"]  # of fixed trees; zero for free ones
    # What bends, one entry each; None where the link is rigid
    flex: Bends  # per link
    hang_reach: Reaches  # per link: of the parent, at the point where the link hangs
    site_reach: Reaches  # per site
