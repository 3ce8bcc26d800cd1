"""Orbits made stable by feedback: a linear quadratic regulator along them, through their events.

The motion over one period is cut into pieces with held inputs. Their derivatives A_k and B_k (with the saltation of the
events inside, and of the one at the end) and costs of states and inputs make a periodic Riccati equation, whose
solution has the gains K_k. The controller takes u_k + K_k (x - x_k) at instants counted from the event itself: a strike
that comes early starts the next period at once, and one that comes late finds the controller still at the flight before
it, taken on beyond the surface. So the map from event to event of the world with its controller has exactly the
derivative that the gains were made for.

(Riccati equation of periodic systems: S. Bittanti and P. Colaneri, Periodic Systems, Springer 2009.)
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import AgainLike, CostLike, Count, MotionLike, Names, SteppedLike
from .._simulation import simulate
from ..control.phased_inputs import PhasedInputs
from ..hybrid.world import World
from ..mechanism import State
from ..quantities import Real
from ..study.orbit import Orbit, ReturnMap
from ..study.return_map import EXACT
from . import _riccati as riccati
from ._cycle import LATE, Cycle, of_map, of_rollout, state_after
from ._held_inputs import _with_automata as with_automata
from .estimates import names_of
from .stabilised import Stabilised
from .stepping import Rollout, Stepping

NAME = "orbit control"
SAME = 1e-6  # of its size: a state that comes back this near is periodic
WORDS = {"strike": "strike", "touch": "strike", "lift": "release", "release": "release"}


def stabilise(
    world: SteppedLike,
    motion: MotionLike,
    joints: Names | None = None,
    *,
    state_cost: CostLike = 1.0,
    input_cost: CostLike = 1.0,
    steps: Count = 20,
    again: AgainLike = None,
    name: str = NAME,
) -> Stabilised:
    """Feedback at some joints that makes a periodic motion stable, if the inputs reach what is unstable of it.

    - `motion`: an `Orbit` of the world; the feedback comes on top of the controllers that the world has. If those have
      phases, the `ReturnMap` of the orbit, which knows them, is given in place of the world. Or a periodic `Rollout` of
      a `Stepping`, which is then given in place of the world; its inputs are played and corrected
    - `joints`: names of links; all joints if left out; of a rollout those of the `Stepping`
    - `state_cost`, `input_cost`: of deviations, integrated over time: one number for all, one for each, or a matrix
    - `steps`: samples in a period; of a rollout as many as it has
    - `again`: the event that begins a period, if it is none of a contact, as state machines write it: "hip.y < 0.4 m".
      Of a rollout the strike of its only contact, unless given; without a contact its period

        found = carom.stabilise(world, orbit, "paddle", state_cost=[1.0, 1.0, 0.1, 0.1], input_cost=1e-4)
        carom.simulate(found.world, found.start, until=10.0)
    """
    count = _count(steps)
    if isinstance(motion, Rollout):
        if not isinstance(world, Stepping):
            raise errors.CaromError(
                "a rollout is stabilised with the Stepping that it is of: stabilise(stepping, rollout)"
            )
        event = _event_of(world.world, again)
        guard = -1 if event is None else _guard(world.world, *event)
        cycle = of_rollout(world, motion, guard)
        opening = again or (float(cycle.period) if event is None else _opening(world.world, event))
        bare = world.world.automata[:-1]
    else:
        map, state = _fixed(world, motion)
        cycle = of_map(map, state, motion.period, joints, count)
        opening = again or _opening(map.world, map.event)
        bare = map.world.automata
    return _closed(cycle, bare, opening, state_cost, input_cost, name)


def _closed(
    cycle: Cycle,
    bare: tuple[object, ...],
    opening: AgainLike,
    state_cost: CostLike,
    input_cost: CostLike,
    name: str,
) -> Stabilised:
    """The gains, and the world with the controller that has them."""
    n, m = cycle.x.shape[1], cycle.u.shape[1]
    names = names_of(cycle.world, n)
    if not m:
        raise errors.CaromError("stabilise has no joint to act at; name links whose joints can be driven")
    keep = [k for k in range(n) if k not in cycle.drifts]
    spans = np.diff([*cycle.times, cycle.period])[:, None, None]
    q = spans * _cost("state_cost", state_cost, n)[np.ix_(keep, keep)]
    r = spans * _cost("input_cost", input_cost, m, definite=True)
    found = riccati.solved(cycle.a[:, keep][:, :, keep], cycle.b[:, keep], q, r, tuple(names[k] for k in keep))
    gains, cost = np.zeros((len(cycle.u), m, n)), np.zeros((n, n))
    gains[:, :, keep], cost[np.ix_(keep, keep)] = found.gains, found.cost
    late = len(cycle.late)
    last = np.repeat(gains[-1:], late, axis=0)
    controller = PhasedInputs(
        cycle.world.mechanism,
        cycle.joints,
        opening,
        np.concatenate([cycle.times, cycle.late_times]),
        np.concatenate([cycle.u, np.repeat(cycle.u[-1:], late, axis=0)]),
        np.concatenate([gains, last]),
        np.concatenate([cycle.x, cycle.late]),
        name=name,
    )
    errors.names("automata", [*(a.name for a in bare), name], "give the controller of stabilise another name")  # type: ignore[attr-defined]
    closed = with_automata(cycle.world, (*bare, controller))
    controller.check(closed.mechanism, closed.automata)
    after = _multipliers(cycle, closed, name, keep)
    dof = closed.mechanism.dof
    first = cycle.x[0]
    start = State(
        first[:dof],
        first[dof : 2 * dof],
        closed.extra_of(cycle.begun.y._replace(extra=(*cycle.begun.y.extra[:-1], ()))),
    )
    return Stabilised(
        closed,
        controller,
        start,
        cycle.period,
        found.multipliers,
        after,
        found.closed,
        cycle.times,
        cycle.u,
        gains,
        cycle.x,
        cost,
        found.residual,
        names,
    )


def _multipliers(cycle: Cycle, closed: World, name: str, keep: list[int]) -> np.ndarray:
    """Of the exact map of the world with its controller, from one start of its clock to the next."""
    q, v, extra, memory = state_after(cycle.after)
    held = tuple(np.asarray(u) for u in cycle.u[0])
    t = np.asarray(cycle.after.t)
    state = (q, v, (*extra, ()), (*memory, (t, np.asarray(0.0), *held)))
    phases = tuple(np.asarray(p, dtype=int) for p in (*cycle.after.phases[:-1], 0))
    map = ReturnMap.through(closed, (name, "again"), phases, state, LATE * cycle.period, EXACT, at=float(t))
    x = map.start
    new, period = map(x)
    kept = [k for k in range(len(x)) if k not in cycle.drifts]
    away = float(np.max(np.abs(new - x)[kept]))
    if abs(period - cycle.period) > SAME * cycle.period or away > 1e-4 * (1.0 + float(np.max(np.abs(x)))):
        raise errors.CaromError(
            f"with its controller the motion comes back after {period:g} s, {away:.2g} away; without it after "
            f"{cycle.period:g} s; the event that starts the controller's clock is another one; say which by again="
        )
    slope = map.derivative(x)
    return riccati.sizes(slope[np.ix_(kept, kept)])


def _fixed(world: SteppedLike, motion: MotionLike) -> tuple[ReturnMap, np.ndarray]:
    """A return map and its fixed point."""
    if not isinstance(motion, Orbit):
        raise errors.CaromError(
            f"motion of stabilise is a {type(motion).__name__}; it must be an Orbit (carom.find_orbit), or a Rollout"
        )
    if motion.times != 1:
        raise errors.CaromError("stabilise takes orbits of one return; this one has more in a period (times)")
    if isinstance(world, ReturnMap):
        map = world
    elif isinstance(world, World):
        start = State(jnp.asarray(motion.q), jnp.asarray(motion.v))
        run = simulate(world, start, until=1.5 * motion.period, settings=EXACT)
        map = ReturnMap(run, *motion.event, drifts=tuple(motion.drift))
    else:
        raise errors.CaromError(
            f"world of stabilise is a {type(world).__name__}; it must be a carom.World, or the ReturnMap of the orbit"
        )
    state = np.asarray(motion.state)
    if len(state) != len(map.start):
        raise errors.CaromError("the orbit is one of another world than that which stabilise is given")
    new, _ = map(state)
    kept = [k for k in range(len(state)) if k not in map.drifts]
    if np.max(np.abs(new - state)[kept]) > SAME * (1.0 + np.max(np.abs(state))):
        raise errors.CaromError(
            "from the state of the orbit the world does not repeat it: it is another world, or its controllers begin "
            "in another phase; give stabilise the return map of the orbit in place of the world: map = "
            "carom.ReturnMap(result, automaton, exit), carom.stabilise(map, map.orbit(), ...)"
        )
    return map, state


def _event_of(world: World, again: AgainLike) -> tuple[str, str] | None:
    """The event of a rollout: (automaton, exit) of a strike."""
    if again is not None and not isinstance(again, str):
        errors.number("stabilise", "again", again, above=0.0)  # a period
        return None
    strikes = [
        (a.name, exit)
        for a in world.automata
        for exit in a.anatomy.exit_names
        if exit.split(" ")[0] in ("strike", "touch")
    ]
    if isinstance(again, str):
        wanted = again.split(" ")[-1]
        strikes = [each for each in strikes if each[1].split(" ")[-1] == wanted or each[0] == wanted]
    if len(strikes) > 1 or (again is not None and not strikes):
        raise errors.CaromError(
            "the event that begins a period of the rollout is not clear; say which strike: again='strike foot'"
        )
    return strikes[0] if strikes else None


def _guard(world: World, automaton: str, exit: str) -> int:
    found = world.automaton(automaton)
    errors.name_in(f"event of '{automaton}'", exit, found.anatomy.exit_names)
    which = [a.name for a in world.automata].index(automaton)
    return world.events.index((which, found.anatomy.exit_names.index(exit)))


def _opening(world: World, event: tuple[str, str]) -> str:
    """The event as a condition."""
    automaton, exit = event
    contacts = [c.name for a in world.automata if a.name == automaton for c in a.report.contacts]
    word, _, rest = exit.partition(" ")
    contact = rest if rest in contacts else automaton if automaton in contacts else ""
    if word not in WORDS or not contact:
        raise errors.CaromError(
            f"the controller of stabilise cannot wait for '{exit}' of '{automaton}'; say what happens there as state "
            "machines do: again='strike foot', again='hip.y < 0.4 m'"
        )
    return f"{WORDS[word]} {contact}"


def _count(steps: Count) -> int:
    errors.number("stabilise", "steps", steps, least=1.0)
    if float(steps) % 1:
        raise errors.CaromError(f"steps of stabilise is {steps:g}; it must be a whole number")
    return int(steps)


def _cost(field: str, given: Real, size: int, definite: bool = False) -> np.ndarray:
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise errors.CaromError(
            f"{field} of stabilise is {given!r}; it must be a number, numbers or a matrix"
        ) from None
    if found.shape not in ((), (size,), (size, size)):
        raise errors.CaromError(
            f"{field} of stabilise has shape {found.shape}; it must be one number, {size} numbers, or a matrix of "
            f"shape ({size}, {size})"
        )
    matrix = found if found.ndim == 2 else np.diag(np.broadcast_to(found, (size,)))
    if not np.all(np.isfinite(matrix)) or np.max(np.abs(matrix - matrix.T)) > 1e-12 * max(
        np.max(np.abs(matrix)), 1e-300
    ):
        raise errors.CaromError(f"{field} of stabilise must be finite, and a matrix symmetric")
    least = float(np.min(np.linalg.eigvalsh(matrix)))
    if least < -1e-12 * float(np.max(np.abs(matrix))) or (definite and least <= 0.0):
        rule = "positive" if definite else "zero or more"
        raise errors.CaromError(f"{field} of stabilise has the eigenvalue {least:.3g}; costs must be {rule}")
    return np.asarray(matrix)
