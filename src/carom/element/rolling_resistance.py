"""The torque by which a soft ground brakes what rolls on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from .. import errors
from .._arguments import Name, SiteLike
from ..forms import Form, Slot
from ..hybrid._in_words import told
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Flow, touch_of
from ..hybrid.reporting import Channel, Report
from ..hybrid.scene import Load, Own, Scene, length_of, split
from ..mechanism import Mechanism, Site
from ..quantities import Real


def _told(brake: RollingResistance) -> dict[str, Any]:
    return {"site": brake.site.name, "contact": brake.contact, "arm": brake.arm, "rate": brake.rate}


class RollingResistance(AbstractAutomaton):
    """Torque -l F_n tanh(w / w_0) on a body that turns with w while a contact presses it with F_n.

    - `site`: of the body that rolls; `contact`: name of a compliant contact between it and a surface. A rigid law, or
      friction that sticks, is refused: their forces follow from all others
    - `arm` l [m] >= 0: by how much the pressure leads; some 1e-4 R for steel on steel, 0.01 R for rubber
    - `rate` w_0 [rad/s] > 0: rolling well below it creeps instead of resting

    Source: Zhou, Wright, Yang, Xu and Yu 1999, Physica A 269, 536-553 (its constant torque, smoothed).

        carom.RollingResistance(ball.tip, "floor", arm=1e-4)
    """

    table: ClassVar[str] = "elements"
    site: Site = eqx.field(static=True)
    contact: str = eqx.field(static=True)
    arm: Any
    rate: Any
    name: str = eqx.field(static=True)

    form: ClassVar[Form] = Form(
        "rolling-resistance",
        "a soft ground brakes what rolls on it",
        (
            Slot("site", "site", "of the body that rolls"),
            Slot("contact", "word", "name of a compliant contact between it and a surface"),
            Slot("arm", "number", "l [m] >= 0, by how much the pressure leads"),
            Slot("rate", "number", "w_0 [rad/s] > 0, below which it creeps", 0.01),
        ),
        _told,
    )

    def __init__(self, site: SiteLike, contact: Name, arm: Real, rate: Real = 0.01, name: str | None = None) -> None:
        if not isinstance(site, Site):
            raise errors.CaromError(
                f"site of RollingResistance is {site!r}; it must come from a mechanism: ball.tip, ball.site('...')"
            )
        if not isinstance(contact, str):
            raise errors.CaromError(
                f"contact of RollingResistance is {contact!r}; it must be the name of a contact, such as 'floor'"
            )
        errors.number("RollingResistance", "arm", arm, least=0.0)
        errors.number("RollingResistance", "rate", rate, above=0.0)
        self.site, self.contact, self.arm, self.rate = site, contact, arm, rate
        self.name = name or f"rolling resistance {contact}"

    @property
    def anatomy(self) -> Anatomy:
        return Anatomy(channels=(Channel("rolling resistance", "dissipative"),))

    @property
    def report(self) -> Report:
        numbers = ("arm", self.arm, "m"), ("rate", self.rate, "rad/s")
        return Report(words=((self.name, told("RollingResistance", *numbers)),))

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse contacts whose force is not known while forces are computed, and bodies that it cannot turn."""

        def tried(q: Any, v: Any) -> Any:
            scene = Scene(mechanism, jnp.asarray(0.0), split(mechanism, q), split(mechanism, v))
            scene.length, scene.gravity = length_of(mechanism), jnp.zeros(2)
            return touch_of(others, scene, lambda i: others[i].start(scene), self.contact).normal

        zeros = jnp.zeros(mechanism.dof)
        jax.eval_shape(tried, zeros, zeros)

        self._check_body(mechanism, others)

    def _check_body(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """It turns the body that touches, and has nothing to turn on the other side."""
        pair = next(c.pair for a in others for c in a.report.contacts if c.name == self.contact)
        body = mechanism.topology.names[self.site.link]
        if pair.ground is None or self.site.link not in {site.link for shape in pair.shapes for site in shape.sites}:
            raise errors.CaromError(
                f"RollingResistance brakes '{body}' by contact '{self.contact}', which is not between that body and a "
                "surface; name a contact of a site of this body on a surface"
            )
        if mechanism.topology.turn_index(self.site.link) is None or mechanism.topology.modes[self.site.link]:
            raise errors.CaromError(
                f"RollingResistance brakes '{body}', which bends or never turns; it acts on rigid bodies that turn"
            )

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        link = self.site.link
        index, rate = scene.top.turn_index(link), scene.rate(link)
        assert index is not None  # checked when the world was built
        torque = -self.arm * scene.touch(self.contact).normal * jnp.tanh(rate / self.rate)
        load.add(index, torque)
        return Flow(powers=(torque * rate,))
