"""A pair with a compliant law: open, then through the phases of the law, then open again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from .._arguments import AgainstLike, FrictionLike, TouchingLike
from ..hybrid._in_words import spelled
from ..hybrid._reaction import Row
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Bars, Flow, Holding, Landing, Standing
from ..hybrid.condition import NEVER, Condition, Watch, any_of, rising, turning, unless
from ..hybrid.reporting import Channel, ContactReport, Phase, Report, Touch
from ..hybrid.scene import Load, Own, Scene
from ..mechanism import Mechanism
from ..mechanism._walk import small
from ..quantities import Flag, Memory, PhaseNumber, Real
from ._compliant_check import refuse_laws
from ._compliant_stick_slip import LEAST, SLIP_EXITS, Trial, mode_after, sliding_force, slip_and_stop
from ._rows import rows_of
from .card import references
from .contact import Contact
from .friction import AbstractDry, AbstractFriction, Frictionless
from .friction._stick_slip import CLOSED, OPEN, STICKING, WORDS, mode_of
from .normal import AbstractNormalLaw
from .pairs import AbstractPair, Touching, pair_of


class CompliantContact(AbstractAutomaton, Contact):
    """A pair whose law is a force; `carom.Contact` makes it."""

    table: ClassVar[str] = "contacts"
    pair: AbstractPair
    normal: AbstractNormalLaw
    friction: AbstractFriction
    name: str = eqx.field(static=True)

    def __init__(
        self,
        site: TouchingLike,
        against: AgainstLike = None,
        normal: Any = None,
        friction: FrictionLike = None,
        radius: Real = 0.0,
        other_radius: Real = 0.0,
        name: str | None = None,
    ) -> None:
        self.pair = pair_of("Contact", site, against, radius, other_radius)
        self.name = name or self.pair.name
        self.normal, self.friction = normal, Frictionless() if friction is None else friction
        refuse_laws(self.name, self.pair, normal, self.friction)

    @property
    def _dry(self) -> AbstractDry | None:
        return self.friction.dry

    @property
    def _bent(self) -> bool:
        """Has the friction's formula corners?"""
        return bool(self.friction.corners)

    @property
    def anatomy(self) -> Anatomy:
        """Another automaton's blow may have set sliding what stuck, or turned what slid: dry friction looks again."""
        own = SLIP_EXITS if self._dry else ("corner right", "corner left") if self._bent else ()
        ledger = (Channel("normal force", "dissipative", self.name), Channel("friction", "dissipative", self.name))
        return Anatomy(
            phases=tuple(phase.text for phase in self._phases),
            exits=("touch", *self.normal.exits, "release", *own),
            memory=(*self.normal.memory, *self._remembered),
            states=dict.fromkeys(self.friction.states, 1.0),
            channels=(*ledger, Channel("surface motion", "driven")) if self.pair.moves else ledger,
            clocked=self.pair.moves,
            looks_again=self._dry is not None,
        )

    @property
    def _remembered(self) -> tuple[str, ...]:
        """What friction remembers: what counted as none when its mode was last decided, or the piece of its formula."""
        return LEAST if self._dry else ("piece",) if self._bent else ()

    def _lawful(self, memory: Memory) -> tuple[Any, ...]:
        """The part of the memory that is the normal law's."""
        return memory[: len(self.normal.memory)]

    @property
    def report(self) -> Report:
        rubs = (spelled(self.friction),) if self.friction.rubs else ()
        laws = (self.normal, self.friction)
        return Report(
            words=((self.name, ", ".join((self.pair.words, spelled(self.normal), *rubs))),),
            cited=references(self.normal, self.friction),
            contacts=(ContactReport(self.name, self.pair, self._phases, begins="touch", laws=laws),),
            touches=self._touches,
            modes=lambda own: [own.phase],
            remarks=self._remarks,
        )

    @property
    def _phases(self) -> tuple[Phase, ...]:
        """Apart, then those of the normal law, each with every mode of dry friction."""
        law = zip(self.normal.phases, self.normal.tones, strict=True)
        modes = WORDS[STICKING:] if self._dry else ("",)
        return (Phase("open", "open"), *(Phase(word, tone, mode) for word, tone in law for mode in modes))

    def _touches(self, scene: Scene, own: Own) -> list[Touch]:
        k, push, drag, _ = self.forces(scene, own)
        if self._dry is not None:  # what holds it while it sticks
            drag = drag + scene.reactions(self, own)[0][0]
        return [Touch(k, push, drag)]

    def _remarks(self, memory: Memory) -> list[str]:
        sentence = self.normal.beyond(self._lawful(memory))
        return [] if sentence is None else [f"contact '{self.name}': {sentence}"]

    @property
    def standing(self) -> Standing:
        return Standing(longest=self._longest, striking=lambda phase: phase != OPEN)

    def _law(self, phase: PhaseNumber) -> Any:
        """Phase of the normal law."""
        return (phase - 1) // CLOSED if self._dry else phase - 1

    def _mode(self, phase: PhaseNumber) -> Any:
        """Mode of dry friction."""
        return STICKING + (phase - 1) % CLOSED

    def _phase(self, law: PhaseNumber, mode: PhaseNumber) -> Any:
        return law * CLOSED + mode if self._dry else 1 + law

    def touching(self, scene: Scene) -> Touching:
        return self.pair.touching(scene)

    def forces(self, scene: Scene, own: Own) -> tuple[Touching, Any, Any, tuple[Any, ...]]:
        """Kinematics, normal force and friction force [N] (but for sticking), rates of the friction's states."""
        k = self.touching(scene)
        # A branch, not a selection: most of a run is flight, and laws are expensive.
        zero = jnp.zeros_like(k.indentation)
        none = zero, zero, (zero,) * len(self.friction.states)
        return k, *jax.lax.cond(own.phase != OPEN, lambda: self._closed_forces(own, k), lambda: none)

    def _closed_forces(self, own: Own, k: Touching) -> tuple[Any, Any, tuple[Any, ...]]:
        push = self.normal.force(self._law(own.phase), self._lawful(own.memory), k.indentation, k.rate)
        drag, rates = self._drag(own, push, k.sliding)
        return push, drag, tuple(jnp.asarray(r, dtype=float) for r in rates)

    def _drag(self, own: Own, push: Real, sliding: Real) -> tuple[Any, tuple[Any, ...]]:
        if self._bent:
            return self.friction.piecewise(own.memory[-1], push, sliding), ()
        if self._dry is None:
            return self.friction.flow(own.states, push, sliding)
        return sliding_force(self._dry, self._mode(own.phase), push, sliding), ()

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        if not small(scene.top):
            return self._pushed(scene, load, *self.forces(scene, own))
        scene.frame(0)  # now, and not first within a branch, from which nothing may be kept

        def closed() -> tuple[list[Any], Flow]:
            aside, k = Load(scene.mechanism), self.touching(scene)
            flow = self._pushed(scene, aside, k, *self._closed_forces(own, k))
            return jax.tree.map(lambda x: jnp.asarray(x, dtype=float), (aside.numbers(-0.0), flow))

        zero, nothing = jnp.asarray(0.0), [jnp.asarray(-0.0)] * scene.top.dof
        none = nothing, Flow((zero,) * len(self.friction.states), (zero,) * len(self.anatomy.channels))
        # A branch: where it is, and what that pushes, matter only while it is closed.
        numbers, flow = jax.lax.cond(own.phase != OPEN, closed, lambda: none)
        load.add_each(numbers)
        return flow

    def _pushed(self, scene: Scene, load: Load, k: Touching, push: Real, drag: Real, rates: tuple[Any, ...]) -> Flow:
        self.pair.push(scene, load, k, push, drag)
        return Flow(rates, self._powers(scene, k, push, drag))

    def _powers(self, scene: Scene, k: Touching, push: Real, drag: Real) -> tuple[Any, ...]:
        powers = (-push * k.rate, drag * k.sliding)
        if not self.pair.moves:
            return powers
        along, across = self.pair.carried(scene, k)
        return (*powers, push * along + drag * across)

    @property
    def holding(self) -> Holding:
        return Holding() if self._dry is None else Holding(1, self._rows, self._holds, self._shares)

    def _rows(self, scene: Scene, own: Own) -> list[Row]:
        assert self._dry is not None
        r = rows_of(self.pair, scene)
        row, zero = r.tangential, jnp.asarray(0.0)
        held = self._dry.held(r.tangential_drift, r.touch.sliding)
        return [Row(self._holds(own.phase), row, row, *held, zero)]

    def _holds(self, phase: PhaseNumber) -> Any:
        return (phase != OPEN) & (self._mode(phase) == STICKING)

    def _shares(self, scene: Scene, own: Own, forces: list[Any]) -> tuple[Any, ...]:
        return self._powers(scene, self.touching(scene), 0.0, forces[0])

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        self.pair.check(mechanism)

    def bars(self, scene: Scene) -> Bars:
        k = self.touching(scene)
        cannot = self._closed(scene, k) & self.normal.barred(k.rate)
        return Bars(
            {self.name: (k.indentation, 4.0 * self._noise(scene, k))},
            [(cannot, lambda: f"contact '{self.name}' is closed at the start: {self.normal.refuses(k.rate)}")],
        )

    def _longest(self, own: Own) -> Any:
        return jnp.where(own.phase == OPEN, jnp.inf, self.pair.longest) if self.pair.moves else jnp.inf

    def _closed(self, scene: Scene, k: Touching) -> Any:
        """At the surface and not leaving it: closed from the start."""
        return (k.indentation >= -2.0 * self._noise(scene, k)) & (k.rate >= 0.0)

    def _noise(self, scene: Scene, k: Touching) -> Any:
        """What rounding does to the indentation."""
        return self.pair.rounding(scene, k)

    def start(self, scene: Scene) -> Own:
        k = self.touching(scene)
        closed = self._closed(scene, k)
        rubs = (self.friction.piece_at(k.sliding),) if self._bent else (jnp.asarray(0.0),) * len(self._remembered)
        memory = (*self.normal.touch(jnp.where(closed, k.rate, 1.0)), *rubs)
        phase = jnp.where(closed, self._phase(0, mode_of(k.sliding)), OPEN)
        states = (jnp.zeros_like(k.indentation),) * len(self.friction.states)
        return Own(phase, tuple(jnp.asarray(m, dtype=float) for m in memory), states)

    def guard(self, scene: Scene, own: Own) -> Sequence[Condition]:
        k = self.touching(scene)
        is_open, law, memory = own.phase == OPEN, self._law(own.phase), self._lawful(own.memory)
        noise = jax.lax.stop_gradient(self._noise(scene, k))
        surface = self.normal.surface(memory, self.pair.place(scene, k))
        inner = self.normal.guard(law, memory, k.indentation, k.rate)
        release = self.normal.release(law, memory, k.indentation)
        # Another's blow may throw a rate beyond a corner at once, whichever way it goes on from there. A condition that
        # a law states by itself is one of its indentation, and rounded as that is.
        exits = [g._replace(rounding=noise) if isinstance(g, Condition) else turning(g, 0.0) for g in inner]
        closed = (*exits, rising(release, rounding=noise), *self._friction_guards(scene, own, k))
        touch = unless(~is_open, rising(k.indentation - surface, rounding=noise))
        return touch, *(unless(is_open, c) for c in closed)

    def watch(self, scene: Scene, own: Own) -> Sequence[Watch | None]:
        """Touch-down, seen inside a step."""
        k, is_open = self.touching(scene), own.phase == OPEN
        surface = self.normal.surface(self._lawful(own.memory), self.pair.place(scene, k))
        value = jnp.where(is_open, k.indentation - surface, NEVER)
        pace = 0.0 if scene.fastest is None else self.pair.pace(scene, scene.fastest)
        sweep, along = jnp.where(is_open, pace, 0.0), self.pair.along(is_open, pace)
        swing, beat = self.pair.swing(scene)
        swing, sure = jnp.where(is_open, swing, 0.0), self.pair.sure(scene, k)
        sure = None if sure is None else jnp.where(is_open, sure - surface, NEVER)
        bend = self.pair.bend(scene, swing)
        others = len(self.anatomy.exits) - 1
        return Watch(value, sweep, swing, beat, bend, sure=sure, along=along), *(None,) * others

    def _friction_guards(self, scene: Scene, own: Own, k: Touching) -> tuple[Condition, ...]:
        """Corners of a formula; of dry friction slip to either side, and stop."""
        if self._bent:
            return tuple(turning(g, 0.0) for g in self.friction.piece_guards(own.memory[-1], k.sliding))
        if self._dry is None:
            return ()
        zero, law, mode = jnp.zeros_like(k.indentation), self._law(own.phase), self._mode(own.phase)
        held = jax.lax.cond(self._holds(own.phase), lambda: scene.reactions(self, own)[0][0] + zero, lambda: zero)
        push = self.normal.force(law, self._lawful(own.memory), k.indentation, k.rate)
        return slip_and_stop(self._dry, mode, own.memory[-2:], k.sliding, push, held)

    def jump(self, scene: Scene, own: Own, fired: tuple[Flag, ...]) -> Landing:
        k, old = self.touching(scene), self._lawful(own.memory)
        inside = 1 + len(self.normal.exits)
        touch, inner, release, rubbed = fired[0], fired[1:inside], fired[inside], fired[inside + 1 :]
        law, memory = self.normal.jump(inner, self._law(own.phase), old, k.indentation)
        met, first = self.normal.meet(k.rate, old, self.pair.place(scene, k), k.indentation)
        law = jnp.where(touch, met, law)
        memory = tuple(jnp.where(touch, f, m) for f, m in zip(first, memory, strict=True))
        states = tuple(jnp.where(touch, 0.0, z) for z in own.states)
        if self._bent:
            piece = self.friction.piece_after(rubbed, own.memory[-1])
            piece = jnp.where(rubbed[0] | rubbed[1], piece, own.memory[-1])
            memory = (*memory, jnp.where(touch, self.friction.piece_at(k.sliding), piece))
        if self._dry is None:
            return Landing(jnp.where(release, OPEN, self._phase(law, STICKING)), memory, states)
        again = ~any_of(fired)
        before, trial = (self._mode(own.phase), own.memory[-2:]), self._trial(scene, own, law, memory)
        mode, least = mode_after(self._dry, before, trial, k.sliding, touch | again, rubbed)
        phase = jnp.where(release | (again & (own.phase == OPEN)), OPEN, self._phase(law, mode))
        return Landing(phase, (*memory, *least), states)

    def _trial(self, scene: Scene, own: Own, law: PhaseNumber, memory: Memory) -> Trial:
        """What dry friction would have to hold if it stuck now."""
        r, phase = rows_of(self.pair, scene), self._phase(law, STICKING)
        (held,), ((w_tt,),), _ = scene.reactions(self, Own(phase, (*memory, *own.memory[-2:]), own.states))
        push = self.normal.force(law, memory, r.touch.indentation, r.touch.rate)
        return Trial(scene, r, push, held, w_tt, self._noise(scene, r.touch))
