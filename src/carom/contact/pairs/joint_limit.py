"""A stop in a joint."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from ... import errors
from ..._arguments import Name
from ...hybrid._in_words import told
from ...hybrid.scene import Load, Scene
from ...mechanism import Mechanism
from ...quantities import Real, Reals
from .pair import AbstractPair, Stop, Touching


class JointLimit(AbstractPair):
    """A stop that keeps the angle of a link relative to its parent above `lower` or below `upper` [rad].

    The indentation is an angle [rad], the normal force a torque [N m] between link and parent (between link and world
    for the first link on a fixed base); nothing slides. A joint with two stops has two limits. On a slider the stop is
    a displacement, the indentation a length [m] and the normal force a force [N] along its axis.
    """

    other: ClassVar[str] = "stop"
    link: int = eqx.field(static=True)
    link_name: str = eqx.field(static=True)
    angle: Any
    sign: float = eqx.field(static=True)  # +1: a lower limit, -1: an upper one
    slides: bool = eqx.field(static=True)

    def __init__(
        self, mechanism: Mechanism, link: Name, *, lower: Real | None = None, upper: Real | None = None
    ) -> None:
        if not isinstance(mechanism, Mechanism):
            raise errors.CaromError(
                f"mechanism of JointLimit is a {type(mechanism).__name__}; it must be the Mechanism that is simulated"
            )
        top = mechanism.topology
        self.link = top.link(link)
        if top.parents[self.link] < 0 and top.free[top.trees[self.link]]:
            raise errors.CaromError(
                f"JointLimit of '{link}', which hangs on a free base; a free point holds no torque; limit a joint "
                "between two links, or fix the base"
            )
        self.slides = top.slides[self.link]
        if (lower is None) == (upper is None):
            raise errors.CaromError(
                f"JointLimit of '{link}' needs either lower= or upper= [{self.length_unit}]; a joint with two stops "
                "has two limits"
            )
        field, angle, self.sign = ("lower", lower, 1.0) if upper is None else ("upper", upper, -1.0)
        errors.number(f"JointLimit of '{link}'", field, angle)
        self.link_name, self.angle = link, errors.array(angle)

    @property
    def name(self) -> str:
        return f"{self.link_name} {'lower' if self.sign > 0 else 'upper'} limit"

    @property
    def words(self) -> str:
        return (
            f"'{self.name}', {told('JointLimit', ('slide' if self.slides else 'angle', self.angle, self.length_unit))}"
        )

    @property
    def length_unit(self) -> str:
        return "m" if self.slides else "rad"

    @property
    def stop(self) -> Stop:
        return Stop(self.link, self.link_name, self.angle, self.sign, self.length_unit)

    def touching(self, scene: Scene) -> Touching:
        joint, zero = scene.frame(self.link), jnp.asarray(0.0)
        depth = self.sign * (self.angle - scene.relative_angle(self.link))
        # Without a direction in the plane: a torque has none.
        return Touching(depth, -self.sign * scene.relative_rate(self.link), zero, joint.x, joint.y, (zero, zero))

    def push(self, scene: Scene, load: Load, k: Touching, normal: Real, drag: Real) -> None:
        scene.turn(load, self.link, self.sign * normal)

    def place(self, scene: Scene, k: Touching) -> tuple[Any, Any]:
        zero = jnp.asarray(0.0)
        return zero, zero  # a stop is one place

    def size(self, scene: Scene, k: Touching) -> Any:
        q, top, above = scene.q, scene.top, scene.top.turned_by[self.link]
        other = jnp.abs(q[top.angle_index(above)]) if above >= 0 else 0.0
        return jnp.abs(q[top.angle_index(self.link)]) + other + jnp.abs(self.angle)

    def pace(self, scene: Scene, speeds: Reals) -> Any:
        above = scene.top.turned_by[self.link]
        bend = sum(jnp.abs(slope) * speeds[index] for index, slope in scene.joint_slopes(self.link))
        other = speeds[scene.top.angle_index(above)] if above >= 0 else 0.0
        return speeds[scene.top.angle_index(self.link)] + other + bend
