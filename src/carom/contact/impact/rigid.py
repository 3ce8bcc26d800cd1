"""Rigid contacts: impulses that act at an instant, and contact that is maintained afterwards, sliding or sticking.

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

import functools
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ... import errors
from ...hybrid.automaton import AbstractAutomaton, Flow, Landing, Own
from ...hybrid.condition import NEVER, ROUNDING, Condition, Watch, any_of
from ...hybrid.reaction import Row, dot
from ...hybrid.scene import Load, Scene
from ...mechanism import Mechanism
from ..card import references
from ..pairs import AbstractPair, JointLimit
from .contact import RigidContact, refuse_mixed
from .impulses import PATH, blow_of, checked_rule, driven
from .maintained import Held, friction_force, guards, held_of, held_rows, memory_of, phase_of, stopped
from .phases import OPEN, STICKS, mode_of, modes_of, number_of, sense_of, total, words_of
from .system import Noise, System, friction_at, noise_of, rubbing, slides, system_of

SOURCE = (
    "impacts at several contacts: Glocker and Pfeiffer 1995, Nonlinear Dynamics 7, 471-497; with friction at one "
    "contact: Routh 1905, Dynamics of a System of Rigid Bodies"
)
HOP = 16.0  # roundings of the gap: a hop lower than this is none
MOST_PHASES = 4096


class RigidContacts(AbstractAutomaton):
    """All rigid contacts of a world, with a phase per contact: open, closed; with friction, sticking or sliding.

    - `settle_speed` [m/s]: a rebound slower than this becomes maintained contact
    - `friction_rule`: "path", friction followed through the blow, or "end velocity", Coulomb's law for the velocities
      after each phase of it (Moreau)

    The world makes it from its contacts with an impulsive law.
    """

    contacts: tuple[RigidContact, ...]
    settle_speed: Any
    name: str = eqx.field(static=True)
    friction_rule: str = eqx.field(static=True)

    def __init__(
        self,
        *contacts: RigidContact,
        settle_speed: Any = 0.0,
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
    def summary(self) -> tuple[tuple[str, str], ...]:
        return tuple((c.name, c.words) for c in self.contacts)

    @property
    def pairs(self) -> tuple[tuple[str, AbstractPair], ...]:
        return tuple((c.name, c.pair) for c in self.contacts)

    @property
    def cited(self) -> tuple[str, ...]:
        return (SOURCE, *(line for c in self.contacts for line in references(c.law, c.friction)))

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
        n, rubs = [c.name for c in self.contacts], [self.contacts[i].name for i in rubbing(self.contacts)]
        impulses = (*(f"last impulse {x}" for x in n), *(f"last friction impulse {x}" for x in rubs))
        none = (*(f"least speed {x}" for x in n), *(f"least sliding {x}" for x in rubs))
        return (*impulses, *none, *(f"last strike {x}" for x in n))

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
        touches = [(c, c.pair.touching(scene)) for c in self.contacts]
        return {c.name: (touch.indentation, _room(scene, c, touch)) for c, touch in touches}

    def start(self, scene: Scene) -> Own:
        """Contacts at the surface that do not move are candidates for rest; the first `jump` decides."""
        modes: list[Any] = []
        for contact in self.contacts:
            touch = contact.pair.touching(scene)
            noise = contact.pair.rounding(scene, touch)
            still = ROUNDING * contact.pair.pace(scene, [jnp.abs(v) for v in scene.v]) + self.settle_speed
            resting = (jnp.abs(touch.indentation) <= 2.0 * noise) & (jnp.abs(touch.rate) <= still)
            modes.append(jnp.where(resting, 1 if contact.friction is None else mode_of(jnp.sign(touch.sliding)), OPEN))
        zeros = (jnp.asarray(0.0),) * (len(self.memory) - len(self.contacts))
        never = (jnp.asarray(-1.0),) * len(self.contacts)
        return Own(number_of(self.contacts, modes), (*zeros, *never), ())

    def strikes(self, own: Own) -> dict[str, Any]:
        return dict(zip([c.name for c in self.contacts], memory_of(self.contacts, own.memory).strikes, strict=True))

    @property
    def looks_again(self) -> bool:
        return True

    def guard(self, scene: Scene, own: Own) -> Sequence[Condition]:
        size, modes = self.row_count, self.modes(own.phase)
        zero = jnp.zeros_like(scene.v[0])
        no = jnp.zeros_like(zero, dtype=bool)
        n, m = len(self.contacts), len(rubbing(self.contacts))

        def held() -> Held:
            forces, w, sizes = scene.reactions(self, own)
            found = held_of(self.contacts, scene, modes, ([f + zero for f in forces], w, sizes))
            return found._replace(slopes=[x + zero for x in found.slopes], noise=[x + zero for x in found.noise])

        nothing = Held([zero] * size, [zero + 1.0] * n, [zero] * size, [no] * n, [zero] * m, zero)
        found = jax.lax.cond(self.holds(own.phase), held, lambda: nothing)
        return guards(self.contacts, scene, modes, found, memory_of(self.contacts, own.memory))

    def longest(self, own: Own) -> Any:
        pairs = zip(self.contacts, self.modes(own.phase), strict=True)
        spans = [jnp.where(mode == OPEN, jnp.inf, c.pair.longest) for c, mode in pairs if c.pair.moves]
        return functools.reduce(jnp.minimum, spans) if spans else jnp.inf

    def watch(self, scene: Scene, own: Own) -> Sequence[Watch | None]:
        """Strikes, seen inside a step."""
        out: list[Watch | None] = []
        for contact, mode in zip(self.contacts, self.modes(own.phase), strict=True):
            pair, is_open = contact.pair, mode == OPEN
            touch = pair.touching(scene)
            value = jnp.where(is_open, touch.indentation, NEVER)
            sweep = 0.0 if scene.fastest is None else jnp.where(is_open, pair.pace(scene, scene.fastest), 0.0)
            swing, beat = pair.swing(scene)
            swing, room = jnp.where(is_open, swing, 0.0), _room(scene, contact, touch)
            sure = pair.sure(scene, touch)
            sure = None if sure is None else jnp.where(is_open, sure, NEVER)
            out.append(Watch(value, sweep, swing, beat, pair.bend, room, touch.indentation, sure))
        return (*out, *(None,) * (len(self.exits) - len(out)))

    def jump(self, scene: Scene, own: Own, fired: tuple[Any, ...]) -> Landing:
        return self._landed(scene, own, list(fired))

    def _landed(self, scene: Scene, own: Own, fired: list[Any]) -> Landing:
        """One decision for all contacts together: the blow, then who rests, slides or leaves."""
        contacts, n, m = self.contacts, len(self.contacts), len(rubbing(self.contacts))
        strikes, stop, paradox = fired[:n], fired[2 * n + 2 * m : 2 * n + 3 * m], fired[2 * n + 3 * m :]
        right, left = fired[2 * n : 2 * n + m], fired[2 * n + m : 2 * n + 2 * m]
        modes, struck = self.modes(own.phase), any_of(strikes)
        closed = [mode != OPEN for mode in modes]
        r, free = system_of(contacts, scene), scene.motion(scene.v).free
        noise = noise_of(contacts, scene, r, free)
        # Whoever is at the surface takes part, closed or not: a blow at one presses the others.
        near = [-row.touch.indentation <= 2.0 * e for row, e in zip(r.each, noise.place, strict=True)]
        part = [on | s | (close & struck) for on, s, close in zip(closed, strikes, near, strict=True)]
        slow = self._slow(r, (free, scene.acceleration), noise)
        asked = []
        for i, contact in enumerate(contacts):  # nothing rebounds that does not close, or lower than rounding
            e = jnp.asarray(contact.law.asked, dtype=float)
            closing = part[i] & (r.speed[i] < -noise.speed[i]) & (e * jnp.abs(r.speed[i]) > slow[i])
            asked.append(jnp.where(closing, e, 0.0))
        impulses, velocity, found = blow_of(contacts, scene, r, part, asked, self.friction_rule)
        impulses = [jnp.where(struck, p, 0.0) for p in impulses]
        velocity = tuple(jnp.where(struck, new, old) for new, old in zip(velocity, scene.v, strict=True))
        after = _moving(scene, velocity)
        later = system_of(contacts, after)
        resting, senses, least = self._quiet(modes, part, struck, stop, r.speed, later.speed, noise, slow)
        if n > 1:  # what counts as no speed is none, for all of them together
            still = [rest & struck for rest in resting]
            velocity, speed = stopped(later, still, velocity, scene.motion(scene.v).solve)
            none = [jnp.where(on, e, old) for on, e, old in zip(still, noise.speed, least, strict=False)]
            least = (*none, *least[n:])
            after, later = _moving(scene, velocity), later._replace(speed=speed)
        speed = later.speed
        for k in range(m):  # the exit that fired decides: what it saw is less than what a decision can tell
            slips = jnp.where(right[k], 1.0, jnp.where(left[k], -1.0, senses[k]))
            senses[k] = jnp.where(struck, senses[k], slips)
        phase = phase_of(contacts, after, later, resting, senses)
        phase = jnp.where(any_of(paradox) | (struck & ~found), total(contacts), phase)
        kept = tuple(jnp.where(struck, p, old) for p, old in zip(impulses, own.memory[: n + m], strict=True))
        last = zip(modes, impulses, memory_of(contacts, own.memory).strikes, strict=False)
        times = [jnp.where(struck & (mode == OPEN) & (p > 0.0), scene.t, old) for mode, p, old in last]
        memory = (*kept, *jax.lax.stop_gradient(self._within_bands(phase, speed, list(least))), *times)
        return Landing(phase, memory, own.states, velocity, driven(contacts, scene, impulses))

    def _within_bands(self, phase: Any, speed: list[Any], least: list[Any]) -> tuple[Any, ...]:
        """Speeds that counted as none; negative for a contact that slides within its band as it could not stick."""
        n, modes = len(self.contacts), self.modes(phase)
        for k, i in enumerate(rubbing(self.contacts)):
            band = friction_at(self.contacts, k).stops_at
            slides = (modes[i] != OPEN) & (modes[i] != STICKS) & (jnp.abs(speed[n + k]) <= band) & (band > 0.0)
            least[n + k] = jnp.where(slides, -1.0, least[n + k])
        return tuple(least)

    def _slow(self, r: System, motions: tuple[Any, Any], noise: Noise) -> list[Any]:
        """Rebounds [m/s] that are none: slower than the user says, or a hop lower than rounding where it is pressed.

        What presses is the motion without reactions, or the one before: a ball on a ball that rests on the floor.
        """
        out = []
        for i in range(len(self.contacts)):
            toward = [-(dot(r.row[i], motion) + r.drift[i]) for motion in motions]
            pressed = jnp.maximum(jnp.maximum(*toward), 0.0)
            hop = jnp.sqrt(2.0 * pressed * HOP * noise.place[i] + 1e-300)
            out.append(jax.lax.stop_gradient(jnp.maximum(self.settle_speed, hop)))
        return out

    def _quiet(
        self,
        modes: list[Any],
        part: list[Any],
        struck: Any,
        stop: list[Any],
        before: list[Any],
        speed: list[Any],
        noise: Noise,
        slow: list[Any],
    ) -> tuple[list[Any], list[Any], tuple[Any, ...]]:
        """Contacts that may rest, senses of sliding (0: none), and the speeds that counted as none.

        A contact that was held stays so unless a blow threw it off: what moves it is the integration's error.
        """
        n, resting, least = len(self.contacts), [], []
        for i, mode in enumerate(modes):
            drift = jnp.where(mode != OPEN, 2.0 * jnp.abs(before[i]), 0.0)
            none = jnp.maximum(noise.speed[i], jnp.maximum(slow[i], drift))
            resting.append(part[i] & ((jnp.abs(speed[i]) <= none) | ((mode != OPEN) & ~struck)))
            least.append(jnp.maximum(noise.speed[i], jnp.where(resting[i], jnp.abs(speed[i]), 0.0)))
        senses = []
        for k, i in enumerate(rubbing(self.contacts)):
            u, mode = speed[n + k], modes[i]
            drift = jnp.where(mode == STICKS, 2.0 * jnp.abs(before[n + k]), 0.0)
            moves = slides(self.contacts, k, u, jnp.maximum(noise.speed[n + k], drift))
            kept = jnp.where(mode == STICKS, 0.0, sense_of(mode))
            kept = jnp.where(mode == OPEN, jnp.where(moves, jnp.sign(u), 0.0), kept)
            sense = jnp.where(struck, jnp.where(moves, jnp.sign(u), 0.0), kept)
            sense = jnp.where(stop[k] & ~struck, 0.0, sense)
            senses.append(sense)
            least.append(jnp.maximum(noise.speed[n + k], jnp.where(sense == 0.0, jnp.abs(u), 0.0)))
        return resting, senses, tuple(least)


def _moving(scene: Scene, velocity: Any) -> Scene:
    """The same place with other velocities."""
    out = Scene(scene.mechanism, scene.t, scene.q, velocity)
    out.length, out.motion = scene.length, scene.motion
    return out


def _room(scene: Scene, contact: RigidContact, touch: Any) -> Any:
    """How far rounding may put a contact inside: a length is compared with the world's, an angle with a radian."""
    least = 1e-9 if contact.pair.length_unit == "rad" else 0.0
    return 4.0 * contact.pair.rounding(scene, touch) + least
