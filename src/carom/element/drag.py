"""The resistance of a fluid to a body that moves through it."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from .. import errors
from .._arguments import SiteLike
from ..forms import Form, Slot
from ..hybrid._in_words import told
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Flow
from ..hybrid.reporting import Channel, Report
from ..hybrid.scene import Load, Own, Scene
from ..mechanism import Site
from ..quantities import Real


def _told(drag: Drag) -> dict[str, Any]:
    return {"site": drag.site.name, "linear": drag.linear, "quadratic": drag.quadratic}


class Drag(AbstractAutomaton):
    """Force -(c_1 + c_2 |v|) v at a site that moves with v, through a fluid at rest.

    - `site`: the centre of a body, as a rule; the force makes no moment about it
    - `linear` c_1 [N s/m] >= 0: slow flow; 6 pi eta R of a sphere (Stokes 1851)
    - `quadratic` c_2 [N s^2/m^2] >= 0: fast flow; rho C_d A / 2, with C_d about 0.47 of a sphere at Reynolds numbers
      from 10^3 to 10^5 (Clift, Grace and Weber 1978)

        carom.Drag(ball.tip, quadratic=0.5 * 1.2 * 0.47 * math.pi * 0.02**2)
    """

    table: ClassVar[str] = "elements"
    site: Site = eqx.field(static=True)
    linear: Any
    quadratic: Any
    name: str = eqx.field(static=True)

    form: ClassVar[Form] = Form(
        "drag",
        "resistance of a fluid at rest",
        (
            Slot("site", "site", "name of the site, as a rule the centre of a body"),
            Slot("linear", "number", "c_1 [N s/m] >= 0", 0.0),
            Slot("quadratic", "number", "c_2 [N s^2/m^2] >= 0", 0.0),
        ),
        _told,
    )

    def __init__(self, site: SiteLike, linear: Real = 0.0, quadratic: Real = 0.0, name: str | None = None) -> None:
        if not isinstance(site, Site):
            raise errors.CaromError(
                f"site of Drag is {site!r}; it must come from a mechanism: ball.tip, ball.site('...')"
            )
        errors.number("Drag", "linear", linear, least=0.0)
        errors.number("Drag", "quadratic", quadratic, least=0.0)
        self.site, self.linear, self.quadratic = site, linear, quadratic
        self.name = name or f"drag {site.name}"

    @property
    def anatomy(self) -> Anatomy:
        return Anatomy(channels=(Channel("drag", "dissipative"),))

    @property
    def report(self) -> Report:
        numbers = ("linear", self.linear, "N s/m"), ("quadratic", self.quadratic, "N s^2/m^2")
        return Report(words=((self.name, told("Drag", *numbers)),))

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        x, y, vx, vy = scene.site(self.site)
        square = vx * vx + vy * vy
        moves = square > 0.0
        speed = jnp.where(moves, jnp.sqrt(jnp.where(moves, square, 1.0)), 0.0)
        factor = self.linear + self.quadratic * speed
        scene.push(load, self.site.link, x, y, -factor * vx, -factor * vy, self.site)
        return Flow(powers=(-factor * square,))
