"""Dry friction of joints: they stick and slip exactly, by events, and never by a smoothed sign.

    moving (sense s)   effort -s F                until s q' falls to zero
    sticking           whatever keeps q' = 0      up to F_s >= F; beyond, the joint gives way

F is `Joint.friction`, F_s `Joint.static_friction`; [N m] on a hinge, [N] on a slider. What holds the joints that stick
is found together with all other reactions of the world. A bounded effort has no impulse: a blow passes through a joint
that sticks, and the joint moves afterwards unless its rate is still zero.

Rows of hinges are those of a point at the world's length from the axis, in m/s and N, as those of contacts and sliders
are: loads that several could carry are then shared alike in all units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from .. import errors
from ..contact._rows import UNMOVED, noise_of_row
from ..hybrid._coupled import farther
from ..hybrid._reaction import Row
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Flow, Holding, Landing
from ..hybrid.condition import ROUNDING, Condition, any_of, level, rising, unless
from ..hybrid.reporting import Channel, Report
from ..hybrid.scene import Load, Own, Scene
from ..mechanism import Mechanism
from ..quantities import Flag, Real
from ._giving_way import Candidates, given_way

MOVING, STICKING = range(2)
MOST = 64  # joints with dry friction


class JointFriction(AbstractAutomaton):
    """Dry friction of all joints that have some; the world makes it.

    Its phase says whether any joint sticks, its memory the sense of every joint: 0 where it sticks.
    """

    table: ClassVar[str] = "joints"
    joints: tuple[int, ...] = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)
    name: str = eqx.field(static=True, default="joints", kw_only=True)

    @property
    def anatomy(self) -> Anatomy:
        words = ("slip forward", "slip back", "stop")
        return Anatomy(
            phases=("moving", "sticking"),
            exits=tuple(f"{word} {name}" for word in words for name in self.names),
            memory=tuple(f"sense {name}" for name in self.names),
            channels=(Channel("friction", "dissipative"),),
            looks_again=True,
        )

    @property
    def report(self) -> Report:
        return Report(words=(), told=self._told)  # the mechanism's table shows its numbers

    def _told(self, own: Own) -> str:
        words = {0: "sticks", 1: "moves forward", -1: "moves back"}
        return ", ".join(f"{name} {words[int(s)]}" for name, s in zip(self.names, own.memory, strict=True))

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        if len(self.joints) > MOST:
            raise errors.CaromError(
                f"{len(self.joints)} joints have dry friction; at most {MOST} can; leave out friction of the others"
            )
        many = next((other for other in others if other.anatomy.arrays), None)
        if many is not None:
            raise errors.CaromError(
                f"the joint of '{self.names[0]}' has dry friction in a world with {len(many.report.contacts)} rigid "
                "contacts; that is supported for up to 8 links, with 12 rigid contacts or 6 with friction; use fewer, "
                "or compliant contacts, or leave out the friction of the joint"
            )

    # -- the flow ------------------------------------------------------------------------------------------------------

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        power, friction = jnp.asarray(0.0), scene.mechanism.numbers.friction
        for k, sense in zip(self.joints, own.memory, strict=True):
            effort = -sense * friction[k]
            scene.turn(load, k, effort)
            power = power + effort * scene.relative_rate(k)
        return Flow(powers=(power,))

    @property
    def holding(self) -> Holding:
        return Holding(len(self.joints), self._rows, lambda phase: phase == STICKING, self._shares, self._bounds)

    def _levers(self, scene: Scene) -> list[Any]:
        """Of each joint: the speed of its row at a unit rate, and its effort by a unit of the row's force."""
        return [1.0 if scene.top.slides[k] else scene.length for k in self.joints]

    def _speeds(self, scene: Scene) -> list[Any]:
        """Rates of the joints as speeds [m/s]."""
        return [scene.relative_rate(k) * lever for k, lever in zip(self.joints, self._levers(scene), strict=True)]

    def _rows(self, scene: Scene, own: Own) -> list[Row]:
        zero = jnp.asarray(0.0)
        out = []
        each = zip(self.joints, self._levers(scene), own.memory, self._speeds(scene), strict=True)
        for k, lever, sense, speed in each:
            unit = Load(scene.mechanism)
            scene.turn(unit, k, lever)  # and so the gradient of the speed
            out.append(Row(sense == 0.0, unit.numbers(), unit.numbers(), zero, speed, zero))
        return out

    def _shares(self, scene: Scene, own: Own, forces: list[Any]) -> tuple[Any, ...]:
        return (sum(force * speed for force, speed in zip(forces, self._speeds(scene), strict=True)),)

    def _bounds(self, scene: Scene, own: Own) -> list[tuple[Any, Any, Any, Any]]:
        n, place = scene.mechanism.numbers, ROUNDING * scene.length
        each = [
            (n.stiction[k] / lever, n.friction[k] / lever)
            for k, lever in zip(self.joints, self._levers(scene), strict=True)
        ]
        return [(most, giving, place, -s * giving) for (most, giving), s in zip(each, own.memory, strict=True)]

    # -- events --------------------------------------------------------------------------------------------------------

    def start(self, scene: Scene) -> Own:
        speeds = self._speeds(scene)
        senses = tuple(jnp.where(moves, jnp.sign(u), 0.0) for u, moves in zip(speeds, self._move(scene), strict=True))
        return Own(_phase(senses), senses, ())

    def _move(self, scene: Scene) -> list[Any]:
        """Is a joint's rate more than rounding?"""
        return [jnp.abs(u) > none for u, none in zip(self._speeds(scene), self._still(scene), strict=True)]

    def _still(self, scene: Scene) -> list[Any]:
        """What rounding does to the speeds."""
        free = scene.v if scene.motion is None else scene.motion(scene.v).free
        rows = self._rows(scene, Own(jnp.asarray(MOVING), (jnp.asarray(0.0),) * len(self.joints), ()))
        return [noise_of_row(scene, free, row.across, row.drift, row.speed, 0.0)[0] for row in rows]

    def _inexact(self, scene: Scene) -> list[Any]:
        """Rounding of forces at each joint, as a part of the sizes of their terms.

        Levers are differences of places: far from the origin they are less exact, and so is what acts through them.
        """
        places = [scene.frame(k) for k in self.joints]
        far = [(jnp.abs(at.x) + jnp.abs(at.y)) / scene.length for at in places]
        return [jax.lax.stop_gradient(ROUNDING * (1.0 + x)) for x in far]

    def _slow(self, scene: Scene, size: Real) -> Any:
        """Sizes of the terms of a row's acceleration: constraints that hold it still leave their rounding behind."""
        pull = jnp.abs(scene.gravity[0]) + jnp.abs(scene.gravity[1])
        turns = sum(jnp.square(scene.v[scene.top.angle_index(i)]) for i in scene.top.hinged)
        return jax.lax.stop_gradient(size + pull + turns * scene.length)

    def guard(self, scene: Scene, own: Own) -> Sequence[Condition]:
        held, _, sizes = scene.reactions(self, own)
        kinds: tuple[list[Condition], ...] = ([], [], [])
        for (most, *_), sense, speed, force, size, inexact in zip(
            self._bounds(scene, own), own.memory, self._speeds(scene), held, sizes, self._inexact(scene), strict=True
        ):
            noise = jax.lax.stop_gradient(inexact * (jnp.abs(force) + most + size))
            for side, way in enumerate((1.0, -1.0)):
                kinds[side].append(unless(sense != 0.0, level(-way * force - most - 2.0 * noise, noise)))
            # A joint may be called moving although contacts hold it: rounding of its acceleration stops nothing.
            slow = 2.0 * inexact * self._slow(scene, size)
            kinds[2].append(unless(sense == 0.0, rising(-sense * speed, slow=slow)))
        return (*kinds[0], *kinds[1], *kinds[2])

    def jump(self, scene: Scene, own: Own, fired: tuple[Flag, ...]) -> Landing:
        n = len(self.joints)
        forward, back, stop = fired[:n], fired[n : 2 * n], fired[2 * n :]
        speeds, again = self._speeds(scene), ~any_of(fired)
        # The motion without friction of the joints: who moves, and who gives way, is decided now.
        quiet, none = scene.still(), tuple(jnp.zeros_like(sense) for sense in own.memory)
        system = quiet.coupled(self, Own(jnp.asarray(STICKING), none, ())).still
        weights, bounds = [system.matrix[i][i] for i in system.mine], self._bounds(quiet, own)
        far = [farther(u, w, *bound[1:3]) for u, w, bound in zip(speeds, weights, bounds, strict=True)]
        senses, still, moving = [], [], [m & f for m, f in zip(self._move(scene), far, strict=True)]
        for k, moves in enumerate(moving):
            # Where velocities are new they say who moves; otherwise whoever stuck, or stops, has no rate.
            slips = jnp.where(forward[k], 1.0, jnp.where(back[k], -1.0, own.memory[k]))
            kept = jnp.where(stop[k], 0.0, slips)
            still.append(jnp.where(again, ~moves, stop[k] | (own.memory[k] == 0.0) | ~moves))
            senses.append(jnp.where(again, jnp.where(moves, jnp.sign(speeds[k]), 0.0), kept))
        columns = [jnp.stack([jnp.asarray(b, dtype=float) for b in column]) for column in zip(*bounds, strict=True)]
        most, giving, *_ = jax.lax.stop_gradient(columns)
        # What all mass, as a point, would answer: an effort that moves less moves nothing.
        moved = jnp.stack(weights) > UNMOVED / jnp.sum(scene.mechanism.numbers.mass)
        inexact = jnp.stack([jnp.asarray(x, dtype=float) for x in self._inexact(quiet)])
        found = given_way(Candidates(system, most, giving, jnp.stack(still), moved, jnp.stack(senses), inexact))
        memory = tuple(found[k] for k in range(n))
        return Landing(_phase(memory), memory, own.states)


def _phase(senses: Sequence[Any]) -> Any:
    return jnp.where(any_of([sense == 0.0 for sense in senses]), STICKING, MOVING)


def joint_friction(mechanism: Mechanism) -> JointFriction:
    """That of a mechanism in which some joint has it."""
    top = mechanism.topology
    return JointFriction(top.rubbing, tuple(top.names[k] for k in top.rubbing))
