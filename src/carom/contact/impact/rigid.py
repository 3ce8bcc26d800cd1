"""Rigid contacts: impulses that act at an instant, and contact that is maintained afterwards, sliding or sticking.

All rigid contacts of a world are one automaton, because a blow at one sends impulses through every contact that is
closed. Impulses are those on the mechanism, compressive positive (the lecture notes count them negative).

- One contact alone: Routh's path over the normal impulse (_path.py), ended as its law says (`end`).
- Several, closed or closing, at one instant (_groups.py, _course.py). Newton: u_n+ + e u_n- and P_n are complementary.
  Poisson: compression with e = 0, then restitution with at least e times its impulse (Glocker and Pfeiffer). Friction
  follows a path that is Routh's for each contact as their coupling vanishes; or, by choice, obeys Coulomb's law for
  the velocities after the blow.
- A rebound slower than `settle_speed` counts as none: that is how a Zeno sequence of ever smaller bounces ends.
- A contact without normal velocity that is pressed stays closed; it opens when its force would pull, slips when
  friction is used up, and sticks when sliding stops (_maintained.py). Where that allows no motion, or more than one
  (Painleve), the run says so.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ... import errors
from ...hybrid._reaction import Row
from ...hybrid.automaton import AbstractAutomaton, Anatomy, Bars, Flow, Holding, Landing, Standing
from ...hybrid.condition import NEVER, ROUNDING, SHALLOW, Condition, Watch
from ...hybrid.reporting import Blow, ContactReport, Report, Touch, Touching
from ...hybrid.scene import Load, Own, Scene
from ...mechanism import Mechanism
from ...quantities import Flag, PhaseNumber, Real
from ..card import references
from ..during import absences
from ..friction._stick_slip import OPEN, mode_of
from ..pairs import AbstractPair
from ._anatomy import written_out
from ._decision import landed
from ._handing_over import handed_over, knowing
from ._impulses import PATH, checked_rule
from ._maintained import Held, friction_force, guards, held_of, held_rows, memory_of
from ._phases import modes_of, number_of, told_phases, total
from ._system import friction_at, rubbing
from .rigid_contact import Contacts, RigidContact, refuse_mixed

SOURCE = (
    "impacts at several contacts: Glocker and Pfeiffer 1995, Nonlinear Dynamics 7, 471-497; with friction at one "
    "contact: Routh 1905, Dynamics of a System of Rigid Bodies"
)
MOST_PHASES = 4096


class RigidContacts(AbstractAutomaton):
    """All rigid contacts of a world, with a phase per contact: open, closed; with friction, sticking or sliding.

    - `settle_speed` [m/s]: a rebound slower than this becomes maintained contact
    - `friction_rule`: "path", friction followed through the blow, or "end velocity", Coulomb's law for the velocities
      after each phase of it (Moreau)

    The world makes it from its contacts with an impulsive law.
    """

    table: ClassVar[str] = "contacts"
    contacts: tuple[RigidContact, ...]
    settle_speed: Any
    name: str = eqx.field(static=True)
    friction_rule: str = eqx.field(static=True)

    def __init__(
        self,
        *contacts: RigidContact,
        settle_speed: Real = 0.0,
        name: str = "rigid contacts",
        friction_rule: str = PATH,
    ) -> None:
        if not contacts:
            raise errors.CaromError("RigidContacts got no contact; give at least one with an impulsive law")
        for c in contacts:
            if not isinstance(c, RigidContact):
                raise errors.CaromError(
                    f"RigidContacts holds a {type(c).__name__}; it must hold contacts with an impulsive law"
                )
        errors.number(name, "settle_speed", settle_speed, least=0.0)
        self.contacts, self.settle_speed, self.name = tuple(contacts), errors.array(settle_speed), name
        refuse_mixed(self.contacts)
        self.friction_rule = checked_rule(name, friction_rule, self.contacts)
        errors.names("rigid contacts", [c.name for c in contacts], "give each its own name=")
        count = total(self.contacts)
        if count > MOST_PHASES:
            raise errors.CaromError(
                f"{len(contacts)} rigid contacts have {count} combinations of open, sticking and sliding; at "
                f"most {MOST_PHASES} are supported (12 contacts, or 6 with friction); use compliant contacts for others"
            )

    # -- names ---------------------------------------------------------------------------------------------------------

    @property
    def anatomy(self) -> Anatomy:
        rubs = tuple(self.contacts[i].name for i in rubbing(self.contacts))
        return written_out(tuple(c.name for c in self.contacts), rubs, any(c.pair.moves for c in self.contacts))

    @property
    def report(self) -> Report:
        return Report(
            words=tuple((c.name, c.words) for c in self.contacts),
            cited=(SOURCE, *(line for c in self.contacts for line in references(c.law, c.friction))),
            contacts=tuple(reported(c) for c in self.contacts),
            touches=self._touches,
            modes=self._told_modes,
            blows=self._blows,
            gains="; ".join(dict.fromkeys(c.law.gains for c in self.contacts if c.law.gains)),
        )

    def _touches(self, scene: Scene, own: Own) -> list[Touch]:
        forces, _, _ = scene.reactions(self, own)
        out, n = [], len(self.contacts)
        for j, (contact, mode) in enumerate(zip(self._knowing(own), self.modes(own.phase), strict=True)):
            k = contact.pair.touching(scene)
            push = jnp.where(mode == OPEN, 0.0, forces[j])
            out.append(Touch(k, push, self.friction_force(j, mode, k.sliding, push, forces[n:])))
        return out

    def _told_modes(self, own: Own) -> list[Any]:
        """Phases of the contacts as their reports count them: one more where no motion was found."""
        phase = own.phase
        kinds = [len(told_phases(c)) - 1 for c in self.contacts]
        where = errors.library_for(phase).where
        return [where(self._fails(phase), n, mode) for n, mode in zip(kinds, self.modes(phase), strict=True)]

    def _blows(self, own: Own) -> dict[str, Blow]:
        m, n, rubs = memory_of(self.contacts, own.memory), len(self.contacts), rubbing(self.contacts)
        drag = {i: own.memory[n + k] for k, i in enumerate(rubs)}
        none = [errors.library_for(x).zeros_like(x) for x in own.memory[:n]]
        return {c.name: Blow(m.strikes[i], own.memory[i], drag.get(i, none[i])) for i, c in enumerate(self.contacts)}

    @property
    def standing(self) -> Standing:
        return Standing(longest=self._longest, fails=self._fails)

    def _fails(self, phase: PhaseNumber) -> Any:
        return phase == total(self.contacts)

    def modes(self, phase: PhaseNumber) -> list[Any]:
        """Phase of every contact."""
        return modes_of(self.contacts, phase)

    def _knowing(self, own: Own) -> Contacts:
        """The contacts, told which of them are closed."""
        return knowing(self.contacts, self.modes(own.phase))

    # -- maintained contact --------------------------------------------------------------------------------------------

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        """Only viscous drag is a force by a formula; the others are reactions."""
        powers = [jnp.asarray(0.0)] * len(self.anatomy.channels)
        modes, contacts = self.modes(own.phase), self._knowing(own)
        for k, i in enumerate(rubbing(contacts)):
            pair = contacts[i].pair
            touch = pair.touching(scene)
            drag = jnp.where(modes[i] == OPEN, 0.0, -friction_at(self.contacts, k).drag * touch.sliding)
            pair.push(scene, load, touch, 0.0, drag)
            self._count(scene, powers, pair, touch, 0.0, drag)
        return Flow(powers=tuple(powers))

    def _count(
        self, scene: Scene, powers: list[Any], pair: AbstractPair, touch: Touching, push: Real, drag: Real
    ) -> None:
        """Add the powers of a normal and a friction force to the channels."""
        if rubbing(self.contacts):
            powers[1] = powers[1] + drag * touch.sliding
        if pair.moves:
            along, across = pair.carried(scene, touch)
            powers[-1] = powers[-1] + push * along + drag * across

    @property
    def holding(self) -> Holding:
        return Holding(self._row_count, self._rows, self._holds, self._shares)

    @property
    def _row_count(self) -> int:
        return len(self.contacts) + len(rubbing(self.contacts))

    def _rows(self, scene: Scene, own: Own) -> list[Row]:
        return held_rows(self._knowing(own), scene, own.phase)

    def _holds(self, phase: PhaseNumber) -> Any:
        return phase != 0  # the phase in which all are open

    def _shares(self, scene: Scene, own: Own, forces: list[Any]) -> tuple[Any, ...]:
        powers = [jnp.asarray(0.0)] * len(self.anatomy.channels)
        modes, n = self.modes(own.phase), len(self.contacts)
        for i, contact in enumerate(self._knowing(own)):
            touch = contact.pair.touching(scene)
            drag = self.friction_force(i, modes[i], touch.sliding, forces[i], forces[n:])
            self._count(scene, powers, contact.pair, touch, forces[i], drag)
        return tuple(powers)

    def friction_force(self, i: int, mode: PhaseNumber, sliding: Real, push: Real, holding: list[Any]) -> Any:
        """Friction force of contact i from its reactions: the normal one, and those of all that could stick."""
        return friction_force(self.contacts, i, mode, sliding, push, holding)

    # -- the automaton -------------------------------------------------------------------------------------------------

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        for contact in self.contacts:
            contact.pair.check(mechanism)

    def bars(self, scene: Scene) -> Bars:
        touches = [(c, c.pair.touching(scene)) for c in self.contacts if c.during is None]
        return Bars({c.name: (touch.indentation, sum(_room(scene, c, touch))) for c, touch in touches})

    def start(self, scene: Scene) -> Own:
        """Contacts at the surface that do not move are candidates for rest; the first `jump` decides."""
        modes: list[Any] = []
        for contact in self.contacts:
            touch = contact.pair.touching(scene)
            noise = contact.pair.rounding(scene, touch)
            still = ROUNDING * contact.pair.pace(scene, [jnp.abs(v) for v in scene.v]) + self.settle_speed
            resting = (jnp.abs(touch.indentation) <= 2.0 * noise) & (jnp.abs(touch.rate) <= still)
            modes.append(jnp.where(resting, 1 if contact.friction is None else mode_of(jnp.sign(touch.sliding)), OPEN))
        zeros = (jnp.asarray(0.0),) * (len(self.anatomy.memory) - len(self.contacts))
        never = (jnp.asarray(-1.0),) * len(self.contacts)
        return Own(number_of(self.contacts, modes), (*zeros, *never), ())

    def guard(self, scene: Scene, own: Own) -> Sequence[Condition]:
        size, modes = self._row_count, self.modes(own.phase)
        zero = jnp.zeros_like(scene.v[0])
        no = jnp.zeros_like(zero, dtype=bool)
        contacts = self._knowing(own)
        n, m = len(contacts), len(rubbing(contacts))

        def held() -> Held:
            forces, w, sizes = scene.reactions(self, own)
            found = held_of(contacts, scene, modes, ([f + zero for f in forces], w, sizes))
            return found._replace(slopes=[x + zero for x in found.slopes], noise=[x + zero for x in found.noise])

        nothing = Held([zero] * size, [zero + 1.0] * n, [zero] * size, [no] * n, [zero] * m, zero)
        found = jax.lax.cond(self._holds(own.phase), held, lambda: nothing)
        return guards(contacts, scene, modes, found, memory_of(contacts, own.memory), self._away(scene))

    def _away(self, scene: Scene) -> list[Any] | None:
        return absences([c.during for c in self.contacts], scene)

    def _longest(self, own: Own) -> Any:
        pairs = zip(self.contacts, self.modes(own.phase), strict=True)
        spans = [jnp.where(mode == OPEN, jnp.inf, c.pair.longest) for c, mode in pairs if c.pair.moves]
        return functools.reduce(jnp.minimum, spans) if spans else jnp.inf

    def watch(self, scene: Scene, own: Own) -> Sequence[Watch | None]:
        """Strikes, seen inside a step."""
        out: list[Watch | None] = []
        for contact, mode in zip(self._knowing(own), self.modes(own.phase), strict=True):
            pair, is_open = contact.pair, mode == OPEN
            touch = pair.touching(scene)
            value = jnp.where(is_open, touch.indentation, NEVER)
            pace = 0.0 if scene.fastest is None else pair.pace(scene, scene.fastest)
            swing, beat = pair.swing(scene)
            swing, (room, slight) = jnp.where(is_open, swing, 0.0), _room(scene, contact, touch)
            sure = pair.sure(scene, touch)
            sure = None if sure is None else jnp.where(is_open, sure, NEVER)
            depth = touch.indentation
            if contact.during is not None:
                gone = contact.during.absent(scene)
                value, depth = jnp.where(gone, NEVER, value), jnp.where(gone, NEVER, depth)
            rest = pair.bend(scene, swing), room, depth, sure, pair.along(is_open, pace), slight
            out.append(Watch(value, jnp.where(is_open, pace, 0.0), swing, beat, *rest))
        return (*out, *(None,) * (len(self.anatomy.exits) - len(out)))

    def jump(self, scene: Scene, own: Own, fired: tuple[Flag, ...]) -> Landing:
        contacts = self._knowing(own)
        gone = handed_over(contacts, scene, self.modes(own.phase), self._away(scene))
        return landed(contacts, self.settle_speed, self.friction_rule, scene, own, fired, gone)


def reported(c: RigidContact) -> ContactReport:
    during = None if c.during is None else (c.during.automaton, c.during.phases)
    return ContactReport(c.name, c.pair, told_phases(c), f"strike {c.name}", True, (c.law, c.friction), during)


def _room(scene: Scene, contact: RigidContact, touch: Touching) -> tuple[Any, float]:
    """How far rounding may put a contact inside; and what else counts as none: an angle is compared with a radian."""
    return 4.0 * contact.pair.rounding(scene, touch), SHALLOW if contact.pair.length_unit == "rad" else 0.0
