"""Rigid contacts: impulses that act in no time, and contact that is maintained afterwards, sliding or sticking.

All rigid contacts of a world are one automaton, because a blow at one sends impulses through every contact that is
closed. Impulses are those on the mechanism, compressive positive (the lecture notes count them negative).

- One contact alone: Routh's path over the normal impulse (path.py), ended by Newton's, Poisson's or Stronge's law.
- Several, closed or closing, at one instant (groups.py, course.py). Newton: u_n+ + e u_n- and P_n are complementary.
  Poisson: compression with e = 0, then restitution with at least e times its impulse (Glocker and Pfeiffer). Friction
  follows a path that is Routh's for each contact as their coupling vanishes; or, by choice, obeys Coulomb's law for
  the velocities after the blow.
- A rebound slower than `settle_speed` counts as none: that is how a Zeno sequence of ever smaller bounces ends.
- A contact without normal velocity that is pressed stays closed; it opens when its force would pull, slips when
  friction is used up, and sticks when sliding stops (maintained.py). Where that allows no motion, or more than one
  (Painleve), the run says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ... import errors
from ...hybrid.automaton import AbstractAutomaton, Flow, Landing, Own
from ...hybrid.reaction import Row
from ...hybrid.scene import Load, Scene
from ...mechanism import Mechanism
from ..pairs import AbstractPair, JointLimit
from .contact import RigidContact, refuse_mixed
from .impulses import PATH, blow_of, checked_rule, driven
from .maintained import friction_force, guards, held_rows, phase_of
from .phases import OPEN, mode_of, modes_of, number_of, total, words_of
from .system import any_of, friction_at, gaps_of, rubbing, senses_of, system_of

AT_SURFACE = 1e-10  # [m] nearer than this, a run starts at the surface
MOST_PHASES = 4096


class RigidContacts(AbstractAutomaton):
    """All rigid contacts of a world, with a phase per contact: open, closed; with friction, sticking or sliding.

    - `settle_speed` [m/s]: a rebound slower than this becomes maintained contact
    - `friction_rule`: "path", friction followed through the blow, or "end velocity", Coulomb's law for the velocities
      after each phase of it (Moreau)

        floor = carom.RigidContact(ball.tip, carom.Plane(height=0.0), carom.Stronge(0.8), carom.Coulomb(0.3))
        carom.RigidContacts(floor)
    """

    contacts: tuple[RigidContact, ...]
    settle_speed: Any
    name: str = eqx.field(static=True)
    friction_rule: str = eqx.field(static=True)

    def __init__(
        self,
        *contacts: RigidContact,
        settle_speed: Any = 1e-6,
        name: str = "rigid contacts",
        friction_rule: str = PATH,
    ) -> None:
        if not contacts:
            raise errors.CaromError("RigidContacts got no contact; give at least one carom.RigidContact(...)")
        for c in contacts:
            if not isinstance(c, RigidContact):
                raise errors.CaromError(f"RigidContacts holds a {type(c).__name__}; it must hold RigidContact values")
        errors.number(name, "settle_speed", settle_speed, above=0.0)
        self.contacts, self.settle_speed, self.name = tuple(contacts), jnp.asarray(settle_speed, dtype=float), name
        refuse_mixed(self.contacts)
        self.friction_rule = checked_rule(name, friction_rule, self.contacts)
        errors.names("rigid contacts", [c.name for c in contacts], "give each its own name=")
        count = total(self.contacts)
        if count > MOST_PHASES:
            raise errors.CaromError(
                f"{len(contacts)} rigid contacts have {count} combinations of open, sticking and sliding; at "
                f"most {MOST_PHASES} are served (12 contacts, or 6 with friction); use compliant contacts for others"
            )

    # -- names ---------------------------------------------------------------------------------------------------------

    @property
    def phases(self) -> tuple[str, ...]:
        names = [words_of(self.contacts, number) for number in range(total(self.contacts))]
        return (*names, "no motion, or more than one (Painleve)")

    @property
    def exits(self) -> tuple[str, ...]:
        n = [c.name for c in self.contacts]
        r = [self.contacts[i].name for i in rubbing(self.contacts)]
        plain = (*(f"strike {x}" for x in n), *(f"lift {x}" for x in n))
        words = ("slip right", "slip left", "stop", "paradox")
        return (*plain, *(f"{word} {x}" for word in words for x in r))

    @property
    def memory(self) -> tuple[str, ...]:
        normal = tuple(f"last impulse {c.name}" for c in self.contacts)
        return (*normal, *(f"last friction impulse {self.contacts[i].name}" for i in rubbing(self.contacts)))

    @property
    def channels(self) -> tuple[str, ...]:
        rubs = ("friction",) if rubbing(self.contacts) else ()
        moves = ("surface motion",) if any(c.pair.moves for c in self.contacts) else ()
        return ("blows", *rubs, *moves)

    @property
    def impulsive(self) -> bool:
        return True

    @property
    def clocked(self) -> bool:
        return any(c.pair.moves for c in self.contacts)

    @property
    def row_count(self) -> int:
        return len(self.contacts) + len(rubbing(self.contacts))

    def fails(self, phase: Any) -> Any:
        return phase == total(self.contacts)

    def modes(self, phase: Any) -> list[Any]:
        """Phase of every contact."""
        return modes_of(self.contacts, phase)

    # -- maintained contact --------------------------------------------------------------------------------------------

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        """Only viscous drag is a force by a formula; the others are reactions."""
        powers = [jnp.asarray(0.0)] * len(self.channels)
        modes = self.modes(own.phase)
        for k, i in enumerate(rubbing(self.contacts)):
            pair = self.contacts[i].pair
            touch = pair.touching(scene)
            drag = jnp.where(modes[i] == OPEN, 0.0, -friction_at(self.contacts, k).drag * touch.sliding)
            pair.push(scene, load, touch, 0.0, drag)
            self._count(scene, powers, pair, touch, 0.0, drag)
        return Flow(powers=tuple(powers))

    def _count(self, scene: Scene, powers: list[Any], pair: AbstractPair, touch: Any, push: Any, drag: Any) -> None:
        """Add the powers of a normal and a friction force to the channels."""
        if rubbing(self.contacts):
            powers[1] = powers[1] + drag * touch.sliding
        if pair.moves:
            along, across = pair.carried(scene, touch)
            powers[-1] = powers[-1] + push * along + drag * across

    def rows(self, scene: Scene, own: Own) -> list[Row]:
        return held_rows(self.contacts, scene, own.phase)

    def holds(self, phase: Any) -> Any:
        return phase != 0  # the phase in which all are open

    def shares(self, scene: Scene, own: Own, forces: list[Any]) -> tuple[Any, ...]:
        powers = [jnp.asarray(0.0)] * len(self.channels)
        modes, n = self.modes(own.phase), len(self.contacts)
        for i, contact in enumerate(self.contacts):
            touch = contact.pair.touching(scene)
            drag = self.friction_force(i, modes[i], touch.sliding, forces[i], forces[n:])
            self._count(scene, powers, contact.pair, touch, forces[i], drag)
        return tuple(powers)

    def friction_force(self, i: int, mode: Any, sliding: Any, push: Any, holding: list[Any]) -> Any:
        """Friction force of contact i from its reactions: the normal one, and those of all that could stick."""
        return friction_force(self.contacts, i, mode, sliding, push, holding)

    # -- the automaton -------------------------------------------------------------------------------------------------

    def check(self, mechanism: Mechanism) -> None:
        for contact in self.contacts:
            contact.pair.check(mechanism)

    @property
    def stops(self) -> tuple[Any, ...]:
        return tuple(c.pair for c in self.contacts if isinstance(c.pair, JointLimit))

    def unit(self, contact: str) -> str:
        return next(c.pair.length_unit for c in self.contacts if c.name == contact)

    def overlaps(self, scene: Scene) -> dict[str, Any]:
        return {c.name: -gap for c, gap in zip(self.contacts, gaps_of(self.contacts, scene), strict=True)}

    def refuses(self, scene: Scene) -> str | None:
        for contact in self.contacts:
            touch = contact.pair.touching(scene)
            if abs(float(touch.indentation)) < AT_SURFACE and float(touch.rate) >= float(self.settle_speed):
                return (
                    f"'{contact.name}' touches and moves in at {float(touch.rate):g} m/s, so that a blow would come "
                    "before the run; start a little above the surface, or apply it first with carom.contact.blow"
                )
        return None

    def start(self, scene: Scene) -> Own:
        modes: list[Any] = []
        for contact, gap in zip(self.contacts, gaps_of(self.contacts, scene), strict=True):
            touch = contact.pair.touching(scene)
            resting = (jnp.abs(gap) < AT_SURFACE) & (jnp.abs(touch.rate) < self.settle_speed)
            modes.append(jnp.where(resting, 1 if contact.friction is None else mode_of(jnp.sign(touch.sliding)), OPEN))
        return Own(number_of(self.contacts, modes), (jnp.asarray(0.0),) * len(self.memory), ())

    def settle(self, scene: Scene, own: Own) -> Own:
        closed = [mode != OPEN for mode in self.modes(own.phase)]
        senses = senses_of(self.contacts, system_of(self.contacts, scene).speed)
        return own._replace(phase=phase_of(self.contacts, scene, closed, senses))

    def guard(self, scene: Scene, own: Own) -> Sequence[Any]:
        size = self.row_count
        zero = jnp.zeros_like(scene.v[0])

        def held() -> tuple[list[Any], list[list[Any]]]:
            forces, w = scene.reactions(self, own)
            return [f + zero for f in forces], [[x + zero for x in row] for row in w]

        forces, w = jax.lax.cond(self.holds(own.phase), held, lambda: ([zero] * size, [[zero] * size] * size))
        return guards(self.contacts, scene, self.modes(own.phase), forces, w)

    def jump(self, scene: Scene, own: Own, fired: tuple[Any, ...]) -> Landing:
        n, m = len(self.contacts), len(rubbing(self.contacts))
        strikes, lifts = fired[:n], fired[n : 2 * n]
        right, left, stop, paradox = (fired[2 * n + k * m : 2 * n + (k + 1) * m] for k in range(4))
        part = [(mode != OPEN) | s for mode, s in zip(self.modes(own.phase), strikes, strict=True)]
        # Slow rebounds count as none, and so do those of contacts that were closed.
        asked = []
        for contact, strike in zip(self.contacts, strikes, strict=True):
            e = jnp.asarray(contact.law.asked, dtype=float)
            fast = e * jnp.abs(contact.pair.touching(scene).rate) >= self.settle_speed
            asked.append(jnp.where(strike & fast, e, 0.0))
        hit = [on & any_of(list(strikes)) for on in part]
        impulses, velocity, found = blow_of(self.contacts, scene, hit, asked, self.friction_rule)
        after = Scene(scene.mechanism, scene.t, scene.q, velocity)
        after.motion = scene.motion
        speed = system_of(self.contacts, after).speed
        # A contact that was held stays held unless a blow threw it off: what moves it is the integration's error.
        struck, held = any_of(list(strikes)), [mode != OPEN for mode in self.modes(own.phase)]
        resting = [
            on & ~lift & ((was & ~struck) | (jnp.abs(u) < self.settle_speed))
            for on, was, lift, u in zip(part, held, lifts, speed[:n], strict=True)
        ]
        senses = senses_of(self.contacts, speed)
        for k in range(m):  # a slip that begins has no velocity yet, a stop none any more
            senses[k] = jnp.where(right[k], 1.0, jnp.where(left[k], -1.0, jnp.where(stop[k], 0.0, senses[k])))
        phase = phase_of(self.contacts, after, resting, senses)
        lost = any_of(list(paradox)) | ~found
        memory = tuple(jnp.where(struck, p, old) for p, old in zip(impulses, own.memory, strict=True))
        phase = jnp.where(lost, total(self.contacts), phase)
        return Landing(phase, memory, own.states, velocity, driven(self.contacts, scene, impulses))
