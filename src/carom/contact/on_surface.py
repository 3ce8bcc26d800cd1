"""A site that stays on a surface: a pin in a slot, a slider on its rail, a follower that never lifts off."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import errors
from .._arguments import SiteLike, SurfaceLike
from ..dynamics.constraints import AbstractConstraint, site_name
from ..dynamics.kinematics import site_position
from ..forms import Form, Slot
from ..mechanism import Mechanism
from .surfaces import AbstractSurface


class OnSurface(AbstractConstraint):
    """A site stays on a surface at rest, whichever way it is pulled; the force is along the surface's normal [N].

    carom.OnSurface("rod.tip", carom.Plane(height=0.0))          # the slider of a slider-crank
    """

    form: ClassVar[Form] = Form(
        "on-surface",
        "a site stays on a surface, whichever way it is pulled",
        (
            Slot("site", "site", "name of the site"),
            Slot("surface", "surface", "name of the surface, which must be at rest"),
        ),
        lambda held, note: {"site": held.site, "surface": note(held.surface)},
    )
    site: str = eqx.field(static=True)
    surface: AbstractSurface

    def __init__(self, site: SiteLike, surface: SurfaceLike) -> None:
        self.site, self.surface = site_name("OnSurface", site), surface
        if not isinstance(surface, AbstractSurface):
            raise errors.CaromError(
                f"surface of OnSurface of '{self.site}' is a {type(surface).__name__}; it must be a surface, such as "
                "carom.Plane(height=0.0); a curve that is a formula belongs to carom.OnCurve"
            )
        if surface.moves:
            raise errors.CaromError(
                f"surface of OnSurface of '{self.site}' moves; constraints are at rest: use a contact, or a surface "
                "without motion"
            )

    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        x, y = site_position(mechanism, q, self.site)
        return jnp.stack([jnp.asarray(self.surface.gap(x, y, 0.0), dtype=float)])

    def describe(self) -> str:
        return f"OnSurface('{self.site}')"

    @property
    def sites(self) -> tuple[str, ...]:
        return (self.site,)

    @property
    def ground(self) -> AbstractSurface:
        return self.surface
