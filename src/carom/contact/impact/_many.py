"""Many rigid contacts: the rule of rigid.py on arrays, for robots and crowds of bodies that would be too much code.

A world takes this form by itself beyond 8 links, or where its rigid contacts have more than 4096 combinations of open,
sticking and sliding (12 contacts, or 6 with friction). The rule is the same; numbers differ by rounding. At most 40
contacts with friction and 130 without can be closed at once, out of any number; more is an outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ...hybrid._row_arrays import RowArrays
from ...hybrid.automaton import AbstractAutomaton, Anatomy, Bars, Flow, Holding, Landing, Standing
from ...hybrid.condition import NEVER, ROUNDING, SHALLOW, Condition, Watch
from ...hybrid.reporting import Blow, Report, Touch, Touching
from ...hybrid.scene import Load, Own, Scene
from ...mechanism import Mechanism
from ...mechanism._walk import UNROLL
from ...quantities import Flag, PhaseNumber, Real
from ..card import references
from ..friction._stick_slip import OPEN, STICKING, WORDS, mode_of, sense_of
from ._anatomy import on_arrays
from ._crowd import Crowd, chosen, to_contacts
from ._crowd_held import (
    CrowdHeld,
    CrowdMemory,
    crowd_guards,
    crowd_held,
    crowd_rows,
    rubbing_coefficient,
)
from ._crowd_landing import ALL_OPEN, LOST, PHASES, SOME_CLOSED, TOO_MANY, landed_together
from ._crowd_rows import rows_at
from ._crowd_seen import keep_closed, keep_seen, lines_of, seen, seen_at
from ._crowd_switched import away, switched
from ._crowd_watch import crowd_watch
from ._impulses import PATH, checked_rule
from ._kinds import contacts_of, firsts_of, kinds_of
from ._lane_scene import LaneScene
from ._phases import total
from .impact_law import NEWTON
from .rigid import MOST_PHASES, SOURCE, reported
from .rigid_contact import Contacts, RigidContact, refuse_mixed, rule_of

SOLVER = "many contacts with friction: Stewart and Trinkle 1996, International Journal for Numerical Methods in "
SOLVER += "Engineering 39, 2673-2691; Lemke 1965, Management Science 11, 681-689"


def many(mechanism: Mechanism, contacts: Sequence[RigidContact]) -> bool:
    """Is this a case for arrays? Links that bend or slide, and rotors, are written out one by one."""
    top = mechanism.topology
    return not (top.elastic or top.jointed) and (top.links > UNROLL or total(tuple(contacts)) > MOST_PHASES)


class ManyRigidContacts(AbstractAutomaton):
    """All rigid contacts of a world, on arrays; the world makes it from its contacts with an impulsive law.

    Its phase says whether any is closed; which, and how, stands in its memory.
    """

    table: ClassVar[str] = "contacts"
    crowd: Crowd
    settle_speed: Any
    names: tuple[str, ...] = eqx.field(static=True)
    name: str = eqx.field(static=True)
    friction_rule: str = eqx.field(static=True)

    def __init__(
        self,
        mechanism: Mechanism,
        contacts: Contacts,
        settle_speed: Real = 0.0,
        name: str = "rigid contacts",
        friction_rule: str = PATH,
    ) -> None:
        refuse_mixed(contacts)
        self.crowd, self.names = Crowd(kinds_of(mechanism, contacts)), tuple(c.name for c in contacts)
        self.settle_speed, self.name = jnp.asarray(settle_speed, dtype=float), name
        self.friction_rule = checked_rule(name, friction_rule, contacts)

    @property
    def contacts(self) -> Contacts:
        return contacts_of(self.crowd.kinds)

    # -- names ---------------------------------------------------------------------------------------------------------

    @property
    def anatomy(self) -> Anatomy:
        return on_arrays(self.names, tuple(self.names[i] for i in self.crowd.rubs), bool(self.crowd.moves))

    def _told(self, own: Own) -> str:
        if int(own.phase) != SOME_CLOSED:
            return PHASES[int(own.phase)]
        modes, rubs = [int(x) for x in own.memory[0]], set(self.crowd.rubs.tolist())
        each = [
            (f"{x} {WORDS[m]}" if i in rubs else x, m) for i, (x, m) in enumerate(zip(self.names, modes, strict=True))
        ]
        return f"closed: {', '.join(word for word, mode in each if mode != OPEN)}"

    @property
    def report(self) -> Report:
        contacts = self.contacts
        return Report(
            words=tuple((c.name, c.words) for c in contacts),
            cited=(SOURCE, SOLVER, *dict.fromkeys(x for c in contacts for x in references(c.law, c.friction))),
            contacts=tuple(reported(c) for c in contacts),
            told=self._told,
            touches=self._touches,
            modes=self._told_modes,
            blows=self._blows,
            gains="; ".join(dict.fromkeys(c.law.gains for c in contacts if c.law.gains)),
        )

    def _touches(self, scene: Scene, own: Own) -> list[Touch]:
        crowd = self.crowd.knowing(own.memory[0])
        modes, touches = own.memory[0], seen(crowd, scene).touch
        forces, _, _ = scene.reactions(self, own)
        slots, _ = chosen(crowd, modes != OPEN)
        push, rub = self._forces(modes, touches.sliding, slots, forces)
        each = [jax.tree.map(lambda x, i=i: x[i], (touches, push, rub)) for i in range(crowd.size)]
        return [Touch(Touching(*touch), normal, drag) for touch, normal, drag in each]

    def _told_modes(self, own: Own) -> list[Any]:
        """Phases of the contacts as their reports count them: one more where no motion was found."""
        lost, rubs = self._fails(own.phase) | self._crowded(own.phase), self.crowd.rub_flags
        modes = jnp.asarray(own.memory[0]).astype(int)
        return [jnp.where(lost, 4 if rubs[i] else 2, modes[..., i]) for i in range(self.crowd.size)]

    def _blows(self, own: Own) -> dict[str, Blow]:
        m, at = CrowdMemory(*own.memory), {i: k for k, i in enumerate(self.crowd.rubs.tolist())}
        drag = [m.tangential[..., at[i]] if i in at else 0.0 * m.normal[..., i] for i in range(self.crowd.size)]
        return {x: Blow(m.strikes[..., i], m.normal[..., i], drag[i]) for i, x in enumerate(self.names)}

    @property
    def standing(self) -> Standing:
        return Standing(longest=self._longest, fails=self._fails, crowded=self._crowded)

    def _fails(self, phase: PhaseNumber) -> Any:
        return phase == LOST

    def _crowded(self, phase: PhaseNumber) -> Any:
        return phase == TOO_MANY

    # -- maintained contact --------------------------------------------------------------------------------------------

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        """Only viscous drag is a force by a formula; the others are reactions."""
        powers = [jnp.asarray(0.0)] * len(self.anatomy.channels)
        if self.crowd.slots[0]:
            none = (jnp.zeros(scene.top.dof), jnp.asarray(0.0), jnp.asarray(0.0))
            now = lambda: self._dragged(scene, own.memory[0])  # noqa: E731
            dragged, powers[1], given = jax.lax.cond(own.phase != ALL_OPEN, now, lambda: none)  # in flight: nothing
            load.add_array(dragged)
            if self.crowd.moves:
                powers[-1] = given
        return Flow(powers=tuple(powers))

    def _dragged(self, scene: Scene, modes: Any) -> tuple[Any, Any, Any]:
        """Generalized force of viscous drag, its power, and that of surfaces with a prescribed motion."""
        crowd, m = self.crowd.knowing(modes), self.crowd.slots[0]
        slots, _ = chosen(crowd, modes != OPEN)
        (s, links), at = seen_at(crowd, scene, slots), slots.place[:m]
        drag = crowd.rubbing(lambda friction: friction.drag)[at]
        force = jnp.where(slots.on[:m], -drag * s.touch.sliding[:m], 0.0)
        rows = rows_at(crowd.kinds, scene.mechanism, links, s.tangential, slots.place)[:m]
        given = jnp.sum(force * crowd.carried(scene)[1][at]) if crowd.moves else jnp.asarray(0.0)
        return rows.T @ force, jnp.sum(force * s.touch.sliding[:m]), given

    @property
    def holding(self) -> Holding:
        return Holding(self.crowd.rows, self._rows, lambda phase: phase != ALL_OPEN, self._shares)

    def _rows(self, scene: Scene, own: Own) -> RowArrays:
        crowd, modes = self.crowd.knowing(own.memory[0]), own.memory[0]
        keep_closed(crowd, scene, modes != OPEN)
        return crowd_rows(crowd, scene, modes)

    def _forces(self, modes: Any, sliding: Any, slots: Any, forces: Any) -> tuple[Any, Any]:
        """Normal and friction force of every contact from the reactions of the slots."""
        n = len(slots.place)
        push, held = to_contacts(self.crowd, slots, forces[:n]), to_contacts(self.crowd, slots, forces[n:])
        slides = -sense_of(modes) * rubbing_coefficient(self.crowd, sliding) * push
        rub = jnp.where(modes == STICKING, held, slides)
        return push, jnp.where(self.crowd.rub_flags, rub, 0.0)

    def _shares(self, scene: Scene, own: Own, forces: Any) -> tuple[Any, ...]:
        crowd = self.crowd.knowing(own.memory[0])
        powers = [jnp.asarray(0.0)] * len(self.anatomy.channels)
        modes, slots = own.memory[0], chosen(crowd, own.memory[0] != OPEN)[0]
        sliding = to_contacts(crowd, slots, seen_at(crowd, scene, slots)[0].touch.sliding)
        push, rub = self._forces(modes, sliding, slots, forces)
        if len(crowd.rubs):
            powers[1] = jnp.sum(rub * sliding)
        if crowd.moves:
            along, across = crowd.carried(scene)
            powers[-1] = jnp.sum(push * along + rub * across)
        return tuple(powers)

    # -- the automaton -------------------------------------------------------------------------------------------------

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        for contact in self.contacts:
            contact.pair.check(mechanism)

    def bars(self, scene: Scene) -> Bars:
        s = seen(self.crowd, scene)
        room = 4.0 * s.place + jnp.where(self.crowd.turns, SHALLOW, 0.0)
        overlaps = {self.names: (jnp.where(switched(self.crowd), NEVER, s.depth), room)}
        return Bars(overlaps)

    def start(self, scene: Scene) -> Own:
        """Contacts at the surface that do not move are candidates for rest; the first `jump` decides."""
        s, crowd = seen(self.crowd, scene), self.crowd
        pace = crowd.looked(_pace, scene)
        still = ROUNDING * pace + self.settle_speed
        resting = (jnp.abs(s.depth) <= 2.0 * s.place) & (jnp.abs(s.touch.rate) <= still)
        closed = jnp.where(crowd.rub_flags, mode_of(jnp.sign(s.touch.sliding)), 1)
        modes = jnp.where(resting, closed, OPEN)
        n, rubs = jnp.zeros(crowd.size), jnp.zeros(len(crowd.rubs))
        memory = CrowdMemory(modes.astype(float), n, rubs, n, rubs, n - 1.0)
        return Own(jnp.where(jnp.any(modes != OPEN), SOME_CLOSED, ALL_OPEN), tuple(memory), ())

    def guard(self, scene: Scene, own: Own) -> Sequence[Condition]:
        crowd = self.crowd.knowing(own.memory[0])
        memory, n = CrowdMemory(*own.memory), crowd.size
        s = keep_seen(crowd, scene, memory.modes != OPEN)
        near = (memory.modes != OPEN) | (-s.depth <= 2.0 * s.place)
        slots, _ = chosen(crowd, near)
        none, no = jnp.zeros(n), jnp.zeros(n, dtype=bool)
        nothing = CrowdHeld(none, none, none + 1.0, none, none, no, none, jnp.asarray(0.0))

        def rows() -> tuple[CrowdHeld, Any]:
            r = lines_of(crowd, scene, slots)

            def held() -> CrowdHeld:
                return crowd_held(crowd, scene, r, memory.modes, scene.reactions(self, own))

            found = jax.lax.cond(own.phase != ALL_OPEN, held, lambda: nothing)
            return found, to_contacts(crowd, slots, r.passes, False)

        # A branch: most of a flight nothing is near.
        found, passes = jax.lax.cond(jnp.any(near), rows, lambda: (nothing, no))
        return crowd_guards(crowd, s, memory, found, passes, away(crowd, scene))

    def _longest(self, own: Own) -> Any:
        if not self.crowd.moves:
            return jnp.inf
        spans = self.crowd.each(lambda c: c.pair.longest if c.pair.moves else jnp.inf)
        return jnp.min(jnp.where(own.memory[0] == OPEN, jnp.inf, spans))

    def watch(self, scene: Scene, own: Own) -> Sequence[Watch | None]:
        """Strikes, seen inside a step."""
        strike = crowd_watch(self.crowd.knowing(own.memory[0]), scene, own.memory[0] == OPEN)
        return (strike, *(None,) * (len(self.anatomy.exits) - 1))

    def jump(self, scene: Scene, own: Own, fired: tuple[Flag, ...]) -> Landing:
        crowd, newton = self.crowd.knowing(own.memory[0]), rule_of(firsts_of(self.crowd.kinds)) == NEWTON
        return landed_together(crowd, newton, self.settle_speed, self.friction_rule, scene, own, fired)


def _pace(c: RigidContact, scene: LaneScene) -> Any:
    return c.pair.pace(scene, scene.speeds)
