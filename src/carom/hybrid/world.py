"""A world: mechanism, automata, gravity. Its flow, guards and jumps are those of the product of its automata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import errors, registry
from .._arguments import HeldLike, PartsLike
from ..dynamics.constrained import assemble
from ..dynamics.constraints import AbstractConstraint
from ..dynamics.energy import kinetic_energy, potential_energy
from ..dynamics.forward_inverse import STANDARD_GRAVITY, gravity_vector
from ..mechanism import Mechanism, State
from ..mechanism import _walk as walk
from ..quantities import Gravity, Real, Rows, Vector
from ._in_words import world_in_words
from ._member import AbstractMember, AbstractUnplaced, gather, of_joints
from ._remembered import remembered
from ._world_checks import refuse_crossed_stops, refuse_loose_joints
from .automaton import AbstractAutomaton
from .reporting import Channel, ContactReport, Quantity
from .scene import Continuous, Own, Scene, length_of

FRICTION_RULES = ("path", "end velocity")
HEAVY = 10.0  # see World.heavy; the arm paper's world has 7, a chain of 8 degrees of freedom with four contacts 28


class World(eqx.Module):
    """Everything that is simulated together.

    - `mechanism`: one mechanism (use `carom.side_by_side` for several)
    - `contacts`, `control`, `elements` (springs, extra states): one of them, or lists
    - `constraints`: pins, closed loops, points on curves, locked angles (`carom.Pin`, `OnCurve`, `OnSurface`,
      `Locked`) that always hold; `world.assembled(state)` brings a state there
    - `ground`: `carom.Ground(surface, law)`, whole-body contact of every link
    - `gravity`: g [m/s^2] downwards, or a vector
    - `settle_speed` [m/s]: a rebound of a rigid contact slower than this becomes maintained contact
    - `friction_rule` of blows: "path", friction followed through the blow, or "end velocity", Coulomb's law for the
      velocities after each phase of it (Moreau)
    - `pause_in_impact`: neglect control and weight while a compliant impact lasts, as the arm paper's equation (7) does

    >>> import carom
    >>> carom.World(carom.Mechanism([carom.Rod(1.0, 1.0)]), gravity=9.81).state(angles=[0.5])
    State(q=[0.5], v=[0])
    """

    mechanism: Mechanism
    automata: tuple[AbstractAutomaton, ...]
    constraints: tuple[AbstractConstraint, ...]
    gravity: Float[Array, "2"]
    length: Float[Array, ""]  # [m] of its largest link: what tolerances of places are measured by
    mass: Float[Array, ""]  # [kg] of all links
    pause_in_impact: bool = eqx.field(static=True)

    def __init__(
        self,
        mechanism: Mechanism,
        contacts: PartsLike = (),
        control: AbstractAutomaton | Sequence[AbstractAutomaton] = (),
        elements: AbstractAutomaton | Sequence[AbstractAutomaton] = (),
        constraints: AbstractConstraint | Sequence[AbstractConstraint] = (),
        gravity: Gravity = STANDARD_GRAVITY,
        pause_in_impact: bool = False,
        settle_speed: Real = 0.0,
        friction_rule: str = "path",
        ground: PartsLike = (),
    ) -> None:
        if not isinstance(mechanism, Mechanism):
            raise errors.CaromError(
                f"mechanism of World is a {type(mechanism).__name__}; it must be a Mechanism; "
                "put several side by side with carom.side_by_side(a=..., b=...)"
            )
        refuse_loose_joints(mechanism)
        self.mechanism = mechanism
        met = (*_listed(mechanism, "contacts", contacts), *_listed(mechanism, "ground", ground))
        acting = (*_listed(mechanism, "control", control), *_listed(mechanism, "elements", elements))
        acting = (*acting, *of_joints(mechanism))
        self.automata = (*gather(mechanism, met, settle_speed, friction_rule, acting), *acting)
        self.constraints = _held(mechanism, constraints)
        self.gravity = gravity_vector(gravity)
        of, mass = errors.library_for(mechanism.numbers.mass), mechanism.numbers.mass
        self.length, self.mass = length_of(mechanism), errors.array(of.sum(of.asarray(mass)))
        self.pause_in_impact = pause_in_impact
        if self.constraints and self.arrays:
            raise errors.CaromError(
                f"a constraint in a world of {mechanism.topology.links} links and {len(self.contacts)} contacts; this "
                f"version holds constraints on at most {walk.UNROLL} links, with 12 rigid contacts or 6 with friction"
            )
        errors.names("automata", [a.name for a in self.automata], "give each its own name=")
        errors.names("contacts", [contact.name for contact in self.contacts], "give each its own name=")
        errors.names("extra states", [quantity.name for quantity in self.extra])
        refuse_crossed_stops(self.contacts)
        errors.number("World", "settle_speed", settle_speed, least=0.0)
        errors.name_in("friction_rule of World", friction_rule, FRICTION_RULES)
        for automaton in self.automata:
            automaton.check(mechanism, self.automata)

    @property
    def channels(self) -> tuple[Channel, ...]:
        """All entries of the energy ledger."""
        own = tuple(c._replace(name=f"{a.name}: {c.name}") for a in self.automata for c in a.anatomy.channels)
        weight = (Channel("neglected weight", "conservative"),) if self.pause_in_impact else ()
        bends = (Channel("beam damping", "dissipative"),) if self.mechanism.topology.elastic else ()
        return (*own, Channel("joint dampers", "dissipative"), *bends, *weight)

    @property
    @remembered
    def contacts(self) -> tuple[ContactReport, ...]:
        """Every contact, whoever holds it, as it reports itself."""
        return tuple(contact for a in self.automata for contact in a.report.contacts)

    @property
    def extra(self) -> tuple[Quantity, ...]:
        """Extra states that users know by name, whoever has them."""
        return tuple(quantity for a in self.automata for quantity in a.report.extra)

    def extra_of(self, y: Any) -> dict[str, Any]:
        """Their values by name in a state of the engine, `final_state(...).y` or `result.at(times)`."""
        pairs = [(a.report.extra, own) for a, own in zip(self.automata, y.extra, strict=True)]
        return {quantity.name: x for told, own in pairs if told for quantity, x in zip(told, own, strict=True)}

    @property
    @remembered
    def events(self) -> tuple[tuple[int, int], ...]:
        """(automaton, exit) of every guard, in the order in which simultaneous events are served."""
        return tuple((i, e) for i, a in enumerate(self.automata) for e in range(len(a.anatomy.exit_names)))

    @property
    def row_count(self) -> int:
        """How many relative velocities may be held by reactions."""
        return sum(a.holding.count for a in self.automata)

    @property
    @remembered
    def arrays(self) -> bool:
        """Are reactions solved on arrays? Of small worlds they are written out, scalar by scalar."""
        return not walk.small(self.mechanism.topology) or any(a.anatomy.arrays for a in self.automata)

    @property
    def heavy(self) -> bool:
        """Is its right-hand side long code, so that compiling it for every stage of a solver would take long?"""
        return self.weight > HEAVY

    @property
    def weight(self) -> float:
        """How long the code of its right-hand side is, roughly."""
        return float(
            self.mechanism.dof**2 / 4.0 + 3.0 * len(self.automata) + 3.0 * self.row_count + 6.0 * len(self.constraints)
        )

    @property
    @remembered
    def leaves(self) -> list[Any]:
        """All of its arrays, in the order in which programs take them."""
        return list(jax.device_get(jax.tree.leaves(self)))

    def automaton(self, name: str) -> AbstractAutomaton:
        errors.name_in("automaton", name, [a.name for a in self.automata])
        return next(a for a in self.automata if a.name == name)

    def state(
        self,
        angles: Rows | None = None,
        rates: Rows | None = None,
        *,
        base: Rows | None = None,
        base_velocity: Rows | None = None,
        bending: Rows | None = None,
        bending_rates: Rows | None = None,
        slides: Rows | None = None,
        slide_rates: Rows | None = None,
        relative: bool = False,
        degrees: bool = False,
        extra: Mapping[str, Any] | None = None,
        **unknown: Any,
    ) -> State:
        """A state to start from, as `Mechanism.state` makes it; what is left out is zero.

        - `angles`, `rates`: of the links on hinges, absolute or `relative` to the parent, in radians or `degrees`
        - `slides` [m], `slide_rates` [m/s]: of the links on sliders
        - `base`, `base_velocity`: (x, y) of every free tree
        - `bending`, `bending_rates`: modal coordinates [m] of the elastic links
        - `extra`: values of extra states (`carom.ExtraStates`) by name; those left out begin as they were declared

            world.state(angles=[60, 45], degrees=True)
        """
        state = self.mechanism.state(
            angles,
            rates,
            base=base,
            base_velocity=base_velocity,
            bending=bending,
            bending_rates=bending_rates,
            slides=slides,
            slide_rates=slide_rates,
            relative=relative,
            degrees=degrees,
            extra=extra,
            **unknown,
        )
        refuse_extra(self, state)
        return state

    def assembled(self, state: State) -> State:
        """The nearest state that meets the constraints: loops are closed, and velocities keep them closed."""
        if not self.constraints:
            return state
        if state.lanes is not None:  # a row per lane
            each = [self.assembled(State(q, v)) for q, v in zip(state.q, state.v, strict=True)]
            return State(jnp.stack([s.q for s in each]), jnp.stack([s.v for s in each]), state.extra)
        q, v = assemble(self.mechanism, list(self.constraints), state.q, state.v)
        return State(q, v, state.extra)

    def __repr__(self) -> str:
        try:
            return world_in_words(self)
        except AttributeError:  # some of its leaves were taken away
            return f"<{type(self).__name__} without some of its numbers>"

    _repr_html_ = registry.shown

    def energy(self, q: Vector, v: Vector) -> Float[Array, ""]:
        """Kinetic and potential energy [J]."""
        return kinetic_energy(self.mechanism, q, v) + potential_energy(self.mechanism, q, self.gravity)


def refuse_extra(world: World, state: State) -> None:
    """Refuse values of states that the world does not have."""
    for name in state.extra:
        errors.name_in("extra state of this world", name, [quantity.name for quantity in world.extra])


def _held(mechanism: Mechanism, given: HeldLike) -> tuple[AbstractConstraint, ...]:
    """Constraints of this mechanism."""
    items = tuple(given) if isinstance(given, list | tuple) else (given,)
    for item in items:
        if not isinstance(item, AbstractConstraint):
            raise errors.CaromError(
                f"constraints of World holds a {type(item).__name__}; it must hold constraints, such as carom.Pin(...)"
            )
        item.error(mechanism, jnp.zeros(mechanism.dof))  # says which site or link it does not know
    return items


RULES = {
    "contacts": "it must hold contacts, carom.Contact(...)",
    "ground": "it must be a carom.Ground(surface, law)",
    "control": "it must hold controllers, such as carom.PostureControl(...)",
    "elements": "it must hold springs, carom.Spring(...), or carom.ExtraStates(...)",
}


def _listed(mechanism: Mechanism, field: str, given: PartsLike) -> tuple[Any, ...]:
    items = tuple(given) if isinstance(given, list | tuple) else (given,)
    placed = [item.placed(mechanism) if isinstance(item, AbstractUnplaced) else item for item in items]
    items = tuple(item for made in placed for item in (made if isinstance(made, tuple) else (made,)))
    kinds = (AbstractAutomaton, AbstractMember) if field in ("contacts", "ground") else (AbstractAutomaton,)
    for item in items:
        if not isinstance(item, kinds):
            cure = "give it as one of the contacts" if isinstance(item, AbstractMember) else RULES[field]
            raise errors.CaromError(f"{field} of World holds a {type(item).__name__}; {cure}")
    return items


def first_exits(world: World) -> list[int]:
    """Number of the first exit of every entry of the guards."""
    sizes = [1 if size is None else size for a in world.automata for size in a.anatomy.families]
    return [sum(sizes[:k]) for k in range(len(sizes))]


def scene_of(world: World, t: Real, y: Continuous, phases: tuple[Any, ...]) -> Scene:
    scene = Scene(world.mechanism, t, y.q, y.v, phases, tuple(a.name for a in world.automata))
    scene.length, scene.gravity, scene.automata = world.length, world.gravity, world.automata
    return scene


def with_owns(world: World, scene: Scene, each: list[Own]) -> Scene:
    """A scene in which what the automata are and have can be asked for: signals do."""
    scene.owns = tuple(each)
    if world.pause_in_impact:
        scene.acting = 1.0 - any_striking(world, tuple(own.phase for own in each))
    return scene


def owns(y: Continuous, phases: tuple[Any, ...], memory: tuple[tuple[Any, ...], ...]) -> list[Own]:
    """What belongs to each automaton."""
    return [Own(p, m, x) for p, m, x in zip(phases, memory, y.extra, strict=True)]


def any_striking(world: World, phases: tuple[Any, ...]) -> Any:
    """1 while any compliant impact lasts, else 0."""
    flags = [jnp.where(a.standing.striking(p), 1.0, 0.0) for a, p in zip(world.automata, phases, strict=True)]
    total = sum(flags, start=jnp.asarray(0.0))
    return jnp.minimum(total, 1.0)
