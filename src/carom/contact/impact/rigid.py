"""Rigid contacts: impulses that act in no time, and contact that is maintained afterwards, sliding or sticking.

All rigid contacts of a world are one automaton, because a blow at one sends impulses through every contact that is
closed. Impulses are those on the mechanism, compressive positive (the lecture notes count them negative).

- One contact alone: Routh's path over the normal impulse (path.py), ended by Newton's, Poisson's or Stronge's law.
- Several, closed or closing, at one instant (several.py). Newton: u_n+ + e u_n- and P_n are complementary. Poisson:
  compression with e = 0, then restitution with at least e times its impulse (Glocker and Pfeiffer). Friction obeys
  Coulomb's law for the velocities after the blow.
- A rebound slower than `settle_speed` counts as none: that is how a Zeno sequence of ever smaller bounces ends.
- A contact without normal velocity that is pressed stays closed; it opens when its force would pull, slips when
  friction is used up, and sticks when sliding stops. Where that allows no motion, or more than one
  (Painleve), the run says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from ... import errors
from ...hybrid.automaton import NEVER, AbstractAutomaton, Flow, Landing, Own
from ...hybrid.reaction import NO_PULL, STILL, Row, dot
from ...hybrid.scene import Load, Scene
from ...mechanism import Mechanism
from ..friction import AbstractDry, Frictionless
from ..friction.dry import SLOW
from ..pairs import AbstractPair, JointLimit, pair_of
from ..rows import Rows, rows_of
from .law import AbstractImpactLaw
from .newton import Newton
from .path import Weights, path
from .plastic import Plastic
from .several import Problem, Solution, solve

AT_SURFACE = 1e-10  # [m] nearer than this, a run starts at the surface
MOST_PHASES = 4096
OPEN, STICKS, RIGHT, LEFT = range(4)  # of a contact; one without friction only slides
WORDS = ("open", "sticking", "sliding right", "sliding left")


class RigidContact(eqx.Module):
    """A rigid contact of a site with a surface or another body.

    - `restitution`: a law, `Plastic()`, `Newton(e)`, `Poisson(e)` or `Stronge(e)`, or a number e, which stands for
      `Newton(e)`. 0 is a plastic blow, after which the contact stays closed; 1 is perfectly elastic
    - `friction`: `Coulomb(mu)` or another law that sticks exactly; none by default
    - `radius`, `other_radius` [m]: of the round tips
    """

    pair: AbstractPair
    law: AbstractImpactLaw
    friction: AbstractDry | None
    name: str = eqx.field(static=True)

    def __init__(
        self,
        site: Any,
        against: Any = None,
        restitution: Any = None,
        friction: Any = None,
        radius: Any = 0.0,
        other_radius: Any = 0.0,
        name: str | None = None,
    ) -> None:
        self.pair = pair_of("RigidContact", site, against, radius, other_radius)
        self.name = name or self.pair.name
        self.law = _law_of(self.name, restitution)
        self.friction = _friction_of(self.name, friction, self.pair)


def _law_of(name: str, law: Any) -> AbstractImpactLaw:
    if isinstance(law, AbstractImpactLaw):
        return law
    if law is None or isinstance(law, str | eqx.Module):
        raise errors.CaromError(
            f"restitution of contact '{name}' is {law!r}; it must be a number, or an impulsive law such as "
            "carom.Stronge(0.5); compliant laws go with carom.Contact"
        )
    return Newton(jnp.asarray(law, dtype=float) if errors.known(law) is None else law)


def _friction_of(name: str, friction: Any, pair: AbstractPair) -> AbstractDry | None:
    if friction is None or isinstance(friction, Frictionless):
        return None
    if not isinstance(friction, AbstractDry):
        raise errors.CaromError(
            f"friction of rigid contact '{name}' is {type(friction).__name__}; a rigid contact needs a law that sticks "
            "exactly: carom.Coulomb, Stribeck or Karnopp; smooth and bristle laws go with carom.Contact"
        )
    if pair.length_unit == "rad":
        raise errors.CaromError(
            f"friction of rigid contact '{name}' is {type(friction).__name__}, but a joint's stop does not slide; "
            "leave it out"
        )
    return friction


class System(NamedTuple):
    """All contacts at one instant: normal rows, then tangential ones of contacts with friction."""

    each: list[Rows]
    row: list[list[Any]]
    drift: list[Any]
    speed: list[Any]


class RigidContacts(AbstractAutomaton):
    """All rigid contacts of a world, with a phase per contact: open, closed; with friction, sticking or sliding.

    - `settle_speed` [m/s]: a rebound slower than this becomes maintained contact

        floor = carom.RigidContact(ball.tip, carom.Plane(height=0.0), carom.Stronge(0.8), carom.Coulomb(0.3))
        carom.RigidContacts(floor)
    """

    contacts: tuple[RigidContact, ...]
    settle_speed: Any
    name: str = eqx.field(static=True)

    def __init__(self, *contacts: RigidContact, settle_speed: Any = 1e-6, name: str = "rigid contacts") -> None:
        if not contacts:
            raise errors.CaromError("RigidContacts got no contact; give at least one carom.RigidContact(...)")
        for c in contacts:
            if not isinstance(c, RigidContact):
                raise errors.CaromError(f"RigidContacts holds a {type(c).__name__}; it must hold RigidContact values")
        errors.number(name, "settle_speed", settle_speed, above=0.0)
        self.contacts, self.settle_speed, self.name = tuple(contacts), jnp.asarray(settle_speed, dtype=float), name
        _refuse_mixed(self.contacts)
        names = [c.name for c in contacts]
        for each in names:
            if names.count(each) > 1:
                raise errors.CaromError(
                    f"{names.count(each)} rigid contacts are called '{each}'; give each its own name="
                )
        if self._total > MOST_PHASES:
            raise errors.CaromError(
                f"{len(contacts)} rigid contacts have {self._total} combinations of open, sticking and sliding; at "
                f"most {MOST_PHASES} are served (12 contacts, or 6 with friction); use compliant contacts for others"
            )

    # -- names -------------------------------------------------------------------------------------------------------

    @property
    def _rubbing(self) -> tuple[int, ...]:
        """Contacts with friction."""
        return tuple(i for i, c in enumerate(self.contacts) if c.friction is not None)

    @property
    def _kinds(self) -> tuple[int, ...]:
        """Number of phases of each contact."""
        return tuple(2 if c.friction is None else 4 for c in self.contacts)

    @property
    def _total(self) -> int:
        total = 1
        for kind in self._kinds:
            total *= kind
        return total

    @property
    def phases(self) -> tuple[str, ...]:
        names = [self._words(number) for number in range(self._total)]
        return (*names, "no motion, or more than one (Painleve)")

    def _words(self, number: int) -> str:
        closed = []
        for contact, kind in zip(self.contacts, self._kinds, strict=True):
            number, mode = divmod(number, kind)
            if mode != OPEN:
                closed.append(contact.name if kind == 2 else f"{contact.name} {WORDS[mode]}")
        return f"closed: {', '.join(closed)}" if closed else "open"

    @property
    def exits(self) -> tuple[str, ...]:
        n = [c.name for c in self.contacts]
        r = [self.contacts[i].name for i in self._rubbing]
        plain = (*(f"strike {x}" for x in n), *(f"lift {x}" for x in n))
        words = ("slip right", "slip left", "stop", "paradox")
        return (*plain, *(f"{word} {x}" for word in words for x in r))

    @property
    def memory(self) -> tuple[str, ...]:
        normal = tuple(f"last impulse {c.name}" for c in self.contacts)
        return (*normal, *(f"last friction impulse {self.contacts[i].name}" for i in self._rubbing))

    @property
    def channels(self) -> tuple[str, ...]:
        rubs = ("friction",) if self._rubbing else ()
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
        return len(self.contacts) + len(self._rubbing)

    def fails(self, phase: Any) -> Any:
        return phase == self._total

    def _modes(self, phase: Any) -> list[Any]:
        """Phase of every contact."""
        out, rest = [], jnp.minimum(phase, self._total - 1)
        for kind in self._kinds:
            out.append(rest % kind)
            rest = rest // kind
        return out

    def _number(self, modes: list[Any]) -> Any:
        number, weight = jnp.asarray(0), 1
        for mode, kind in zip(modes, self._kinds, strict=True):
            number, weight = number + weight * mode, weight * kind
        return number

    # -- geometry ----------------------------------------------------------------------------------------------------

    def _system(self, scene: Scene) -> System:
        each = [rows_of(c.pair, scene) for c in self.contacts]
        rubbing = [each[i] for i in self._rubbing]
        return System(
            each,
            [*(r.normal for r in each), *(r.tangential for r in rubbing)],
            [*(r.normal_drift for r in each), *(r.tangential_drift for r in rubbing)],
            [*(r.separation for r in each), *(r.touch.sliding for r in rubbing)],
        )

    def _gaps(self, scene: Scene) -> list[Any]:
        return [-c.pair.touching(scene).indentation for c in self.contacts]

    def _friction(self, k: int) -> AbstractDry:
        friction = self.contacts[self._rubbing[k]].friction
        assert friction is not None
        return friction

    # -- maintained contact ------------------------------------------------------------------------------------------

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        """Only viscous drag is a force by a formula; the others are reactions."""
        powers = [jnp.asarray(0.0)] * len(self.channels)
        modes = self._modes(own.phase)
        for k, i in enumerate(self._rubbing):
            pair = self.contacts[i].pair
            touch = pair.touching(scene)
            drag = jnp.where(modes[i] == OPEN, 0.0, -self._friction(k).drag * touch.sliding)
            pair.push(scene, load, touch, 0.0, drag)
            self._count(scene, powers, pair, touch, 0.0, drag)
        return Flow(powers=tuple(powers))

    def _count(self, scene: Scene, powers: list[Any], pair: AbstractPair, touch: Any, push: Any, drag: Any) -> None:
        """Add the powers of a normal and a friction force to the channels."""
        if self._rubbing:
            powers[1] = powers[1] + drag * touch.sliding
        if pair.moves:
            along, across = pair.carried(scene, touch)
            powers[-1] = powers[-1] + push * along + drag * across

    def rows(self, scene: Scene, own: Own) -> list[Row]:
        modes, r, n = self._modes(own.phase), self._system(scene), len(self.contacts)
        along = list(r.row[:n])
        for k, i in enumerate(self._rubbing):
            slip = -_sense(modes[i]) * self._friction(k).coefficient(jnp.abs(r.speed[n + k]))
            along[i] = [a + slip * b for a, b in zip(r.row[i], r.row[n + k], strict=True)]
        # Rounding is brought back, so that contact holds its place for hours.
        normal = [r.drift[i] + 2.0 * STILL * r.speed[i] - STILL**2 * r.each[i].touch.indentation for i in range(n)]
        out = [Row(modes[i] != OPEN, r.row[i], along[i], normal[i]) for i in range(n)]
        for k, i in enumerate(self._rubbing):
            row = r.row[n + k]
            out.append(Row(modes[i] == STICKS, row, row, r.drift[n + k] + STILL * r.speed[n + k]))
        return out

    def holds(self, phase: Any) -> Any:
        return phase != 0  # the phase in which all are open

    def shares(self, scene: Scene, own: Own, forces: list[Any]) -> tuple[Any, ...]:
        powers = [jnp.asarray(0.0)] * len(self.channels)
        modes, n = self._modes(own.phase), len(self.contacts)
        for i, contact in enumerate(self.contacts):
            touch = contact.pair.touching(scene)
            drag = self._drag(i, modes[i], touch.sliding, forces[i], forces[n:])
            self._count(scene, powers, contact.pair, touch, forces[i], drag)
        return tuple(powers)

    def _drag(self, i: int, mode: Any, sliding: Any, push: Any, holding: list[Any]) -> Any:
        """Friction force of a contact from its reactions."""
        if i not in self._rubbing:
            return 0.0
        k = self._rubbing.index(i)
        slides = -_sense(mode) * self._friction(k).coefficient(jnp.abs(sliding)) * push
        return jnp.where(mode == STICKS, holding[k], slides)

    # -- the automaton -----------------------------------------------------------------------------------------------

    def check(self, mechanism: Mechanism) -> None:
        for contact in self.contacts:
            contact.pair.check(mechanism)

    @property
    def stops(self) -> tuple[Any, ...]:
        return tuple(c.pair for c in self.contacts if isinstance(c.pair, JointLimit))

    def unit(self, contact: str) -> str:
        return next(c.pair.length_unit for c in self.contacts if c.name == contact)

    def overlaps(self, scene: Scene) -> dict[str, Any]:
        return {c.name: -gap for c, gap in zip(self.contacts, self._gaps(scene), strict=True)}

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
        for contact, gap in zip(self.contacts, self._gaps(scene), strict=True):
            touch = contact.pair.touching(scene)
            resting = (jnp.abs(gap) < AT_SURFACE) & (jnp.abs(touch.rate) < self.settle_speed)
            modes.append(jnp.where(resting, 1 if contact.friction is None else _mode(jnp.sign(touch.sliding)), OPEN))
        return Own(self._number(modes), (jnp.asarray(0.0),) * len(self.memory), ())

    def settle(self, scene: Scene, own: Own) -> Own:
        closed = [mode != OPEN for mode in self._modes(own.phase)]
        return own._replace(phase=self._held(scene, closed, self._senses(self._system(scene).speed)))

    def guard(self, scene: Scene, own: Own) -> Sequence[Any]:
        modes, n = self._modes(own.phase), len(self.contacts)
        size = self.row_count
        zero = jnp.zeros_like(scene.v[0])

        def held() -> tuple[list[Any], list[list[Any]]]:
            forces, w = scene.reactions(self, own)
            return [f + zero for f in forces], [[x + zero for x in row] for row in w]

        forces, w = jax.lax.cond(self.holds(own.phase), held, lambda: ([zero] * size, [[zero] * size] * size))
        strikes = [jnp.where(m == OPEN, -gap, NEVER) for m, gap in zip(modes, self._gaps(scene), strict=True)]
        lifts = [jnp.where(m == OPEN, NEVER, -force - NO_PULL) for m, force in zip(modes, forces[:n], strict=True)]
        slips: tuple[list[Any], ...] = ([], [], [], [])
        for k, i in enumerate(self._rubbing):
            friction, sliding = self._friction(k), self.contacts[i].pair.touching(scene).sliding
            sticks = modes[i] == STICKS
            slides = (modes[i] == RIGHT) | (modes[i] == LEFT)
            most = friction.limit * forces[i] + NO_PULL
            slips[0].append(jnp.where(sticks, -forces[n + k] - most, NEVER))
            slips[1].append(jnp.where(sticks, forces[n + k] - most, NEVER))
            slips[2].append(jnp.where(slides, friction.stops_at - _sense(modes[i]) * sliding, NEVER))
            slips[3].append(jnp.where(slides, -w[i][i], NEVER))  # w_nn - sigma mu w_nt must stay positive
        return (*strikes, *lifts, *slips[0], *slips[1], *slips[2], *slips[3])

    def jump(self, scene: Scene, own: Own, fired: tuple[Any, ...]) -> Landing:
        n, m = len(self.contacts), len(self._rubbing)
        strikes, lifts = fired[:n], fired[n : 2 * n]
        right, left, stop, paradox = (fired[2 * n + k * m : 2 * n + (k + 1) * m] for k in range(4))
        part = [(mode != OPEN) | s for mode, s in zip(self._modes(own.phase), strikes, strict=True)]
        impulses, velocity, found = self._blow(scene, part, strikes)
        after = Scene(scene.mechanism, scene.t, scene.q, velocity)
        after.motion = scene.motion
        speed = self._system(after).speed
        # A contact that was held stays held unless a blow threw it off: what moves it is the integration's error.
        struck, held = _any(list(strikes)), [mode != OPEN for mode in self._modes(own.phase)]
        resting = [
            on & ~lift & ((was & ~struck) | (jnp.abs(u) < self.settle_speed))
            for on, was, lift, u in zip(part, held, lifts, speed[:n], strict=True)
        ]
        senses = self._senses(speed)
        for k in range(m):  # a slip that begins has no velocity yet, a stop none any more
            senses[k] = jnp.where(right[k], 1.0, jnp.where(left[k], -1.0, jnp.where(stop[k], 0.0, senses[k])))
        phase = self._held(after, resting, senses)
        lost = _any(list(paradox)) | ~found
        memory = tuple(jnp.where(struck, p, old) for p, old in zip(impulses, own.memory, strict=True))
        return Landing(jnp.where(lost, self._total, phase), memory, own.states, velocity, self._driven(scene, impulses))

    def _driven(self, scene: Scene, impulses: list[Any]) -> Any:
        """Work of surfaces with a prescribed motion in a blow [J]; None where there are none."""
        if not any(c.pair.moves for c in self.contacts):
            return None
        total = jnp.asarray(0.0)
        for i, contact in enumerate(self.contacts):
            if contact.pair.moves:
                along, across = contact.pair.carried(scene, contact.pair.touching(scene))
                k = len(self.contacts) + self._rubbing.index(i) if i in self._rubbing else None
                total = total + impulses[i] * along + (0.0 if k is None else impulses[k] * across)
        return total

    def _senses(self, speed: list[Any]) -> list[Any]:
        """Which way the contacts with friction slide; 0 where they do not."""
        sliding = speed[len(self.contacts) :]
        return [jnp.where(self._slides(k, u), jnp.sign(u), 0.0) for k, u in enumerate(sliding)]

    def _slides(self, k: int, speed: Any) -> Any:
        return jnp.abs(speed) > jnp.maximum(SLOW, self._friction(k).stops_at)

    # -- blows -------------------------------------------------------------------------------------------------------

    def _blow(self, scene: Scene, part: list[Any], strikes: Any) -> tuple[list[Any], Any, Any]:
        """Impulses, velocity after them, and whether they were found."""
        r, inverse = self._system(scene), scene.motion(scene.v).solve
        through = [inverse(row) for row in r.row]
        w = [[dot(row, t) for t in through] for row in r.row]
        asked = []
        for i, contact in enumerate(self.contacts):  # slow rebounds count as none
            e = jnp.asarray(contact.law.asked, dtype=float)
            asked.append(jnp.where(strikes[i] & (e * jnp.abs(r.speed[i]) >= self.settle_speed), e, 0.0))
        impulses, found = self._impulses(w, r.speed, asked, part)
        struck = _any(list(strikes))
        impulses = [jnp.where(struck, p, 0.0) for p in impulses]
        velocity = tuple(
            v + sum(p * t[j] for p, t in zip(impulses, through, strict=True)) for j, v in enumerate(scene.v)
        )
        return impulses, velocity, found | ~struck

    def _impulses(self, w: Any, speed: list[Any], asked: list[Any], part: list[Any]) -> tuple[list[Any], Any]:
        alone = self._alone(w, speed, asked, part)
        if len(self.contacts) == 1:
            return alone, jnp.asarray(True)
        several, found = self._together(w, speed, asked, part)
        one = sum(jnp.where(on, 1, 0) for on in part) == 1
        return [jnp.where(one, a, b) for a, b in zip(alone, several, strict=True)], found | one

    def _alone(self, w: Any, speed: list[Any], asked: list[Any], part: list[Any]) -> list[Any]:
        """Impulses of every contact as if it were the only one."""
        n = len(self.contacts)
        normal, rubbed = [], []
        for i, contact in enumerate(self.contacts):
            if contact.friction is None:
                p = jnp.maximum(-(1.0 + asked[i]) * speed[i] / w[i][i], 0.0)
            else:
                k = n + self._rubbing.index(i)
                weights = Weights(w[i][i], w[i][k], w[k][k])
                mu = contact.friction.coefficient(jnp.abs(speed[k]))
                way = path(weights, jnp.minimum(speed[i], 0.0), speed[k], mu, contact.friction.limit)
                p = contact.law.end(way, asked[i])
                rubbed.append(jnp.where(part[i], way.friction(p), 0.0))
            normal.append(jnp.where(part[i], p, 0.0))
        return [*normal, *rubbed]

    def _problem(
        self, w: Any, b: list[Any], part: list[Any], offset: list[Any], fixed: list[Any], speed: Any
    ) -> Problem:
        n = len(self.contacts)
        on = [*part, *(part[i] for i in self._rubbing)]
        size = range(len(on))
        bare = [[jnp.where(on[i] & on[j], w[i][j], 1.0 if i == j else 0.0) for j in size] for i in size]
        right = [jnp.where(on[i], b[i], 1.0 if i < n else 0.0) for i in size]
        mu = [self._friction(k).coefficient(jnp.abs(speed[n + k])) for k in range(len(self._rubbing))]
        # Stiction holds what rests; what slides when the blow comes has only its sliding friction.
        limit = [
            jnp.where(self._slides(k, speed[n + k]), mu[k], self._friction(k).limit) for k in range(len(self._rubbing))
        ]
        return Problem(bare, right, mu, limit, offset, part, fixed, self._rubbing)

    def _together(self, w: Any, speed: list[Any], asked: list[Any], part: list[Any]) -> tuple[list[Any], Any]:
        """Impulses of several contacts at one instant."""
        n = len(self.contacts)
        none, free = [jnp.asarray(0.0)] * n, [jnp.asarray(0.0)] * len(self._rubbing)
        poisson = all(not isinstance(c.law, Newton) for c in self.contacts)
        shifted = [u if poisson else (1.0 + e) * u for u, e in zip(speed, asked, strict=False)] + speed[n:]
        first = solve(self._problem(w, shifted, part, none, free, speed))
        if not poisson:
            return [*first.normal, *first.tangential], first.found
        turned = _after(w, speed, first)
        back = [e * p for e, p in zip(asked, first.normal, strict=True)]
        second = solve(self._problem(w, turned, part, back, free, speed))
        normal = [p + q + o for p, q, o in zip(first.normal, second.normal, back, strict=True)]
        rubbed = [p + q for p, q in zip(first.tangential, second.tangential, strict=True)]
        return [*normal, *rubbed], first.found & second.found

    # -- what stays closed -------------------------------------------------------------------------------------------

    def _held(self, scene: Scene, resting: list[Any], senses: list[Any]) -> Any:
        """Phase in which resting contacts go on: the same conditions as at a blow, one derivative higher."""
        n = len(self.contacts)
        r, motion = self._system(scene), scene.motion(scene.v)
        through = [motion.solve(row) for row in r.row]
        w = [[dot(row, t) for t in through] for row in r.row]
        rise = [dot(row, motion.free) + drift for row, drift in zip(r.row, r.drift, strict=True)]
        problem = self._problem(w, rise, resting, [jnp.asarray(0.0)] * n, senses, r.speed)
        solution = solve(problem)
        modes, lost = [], ~solution.found
        for i, contact in enumerate(self.contacts):
            floats = solution.after[i] <= 1e-9 * (1.0 + jnp.abs(rise[i]))  # neither pressed nor leaving
            stays = resting[i] & (solution.decided.pushes[i] | floats)
            if contact.friction is None:
                modes.append(jnp.where(stays, 1, OPEN))
                continue
            k = self._rubbing.index(i)
            modes.append(jnp.where(stays, _mode(solution.decided.sense[k]), OPEN))
            # A sliding contact whose normal force would pull it in: no answer, or two (Painleve).
            slope = w[i][i] - senses[k] * problem.mu[k] * w[i][n + k]
            lost = lost | (resting[i] & (slope <= 1e-12 * w[i][i]))
        return jnp.where(lost, self._total, self._number(modes))


def _refuse_mixed(contacts: tuple[RigidContact, ...]) -> None:
    """One law of restitution for all, as they share their blows; only its numbers may differ."""
    kinds = {type(c.law) for c in contacts if not isinstance(c.law, Plastic)}
    if len(kinds) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise errors.CaromError(
            f"rigid contacts mix the laws {names}; contacts that share blows need one law (Plastic goes with each); "
            "their restitutions may differ"
        )
    for c in contacts:
        if len(contacts) > 1 and not c.law.several:
            raise errors.CaromError(
                f"restitution of contact '{c.name}' is {type(c.law).__name__}, which is defined for one contact; there "
                f"are {len(contacts)} rigid contacts that can share a blow; use Poisson or Newton"
            )


def _after(w: Any, speed: list[Any], s: Solution) -> list[Any]:
    """Velocities after the impulses of a solution."""
    impulses = [*s.normal, *s.tangential]
    return [u + dot(row, impulses) for u, row in zip(speed, w, strict=True)]


def _sense(mode: Any) -> Any:
    return jnp.where(mode == RIGHT, 1.0, jnp.where(mode == LEFT, -1.0, 0.0))


def _mode(sense: Any) -> Any:
    return jnp.where(sense > 0.0, RIGHT, jnp.where(sense < 0.0, LEFT, STICKS))


def _any(flags: list[Any]) -> Any:
    total = jnp.asarray(False)
    for flag in flags:
        total = total | flag
    return total
