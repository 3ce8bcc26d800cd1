"""A world in steps of equal length with inputs that are held over each: x' = f(x, u), and its exact derivatives.

    A = dx'/dx,  B = dx'/du

go through every event inside a step: flights, event times and jumps (forward mode through the engine, as
`carom.lyapunov` does it), so that a strike in the middle of a step puts its saltation matrix into A and B. A step that
ends exactly at a strike has two derivatives, one from each side; it gets one of them.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from .. import errors
from .._arguments import Names, SettingsLike, StateLike, WorldLike
from ..hybrid import outcome
from ..hybrid._carry import Carry
from ..hybrid._run import executable, start, to_end
from ..hybrid.settings import Integration, Settings
from ..hybrid.world import World
from ..mechanism import State
from ..mechanism.state import refuse_state
from ..quantities import Given, Matrix, Real, Rows, Vector
from ._held_inputs import holding, limits_of, with_inputs
from ._input_limits import narrowed

FINE = Settings(rtol=1e-9, atol=1e-11, ledger=False)


class Rollout(NamedTuple):
    """Many steps one after the other.

    - `carries`: the carry before every step, and after the last one (every leaf has N + 1 rows)
    - `x` (N + 1, size), `u` (N, inputs): as they were applied
    """

    carries: Carry
    x: np.ndarray
    u: np.ndarray

    @property
    def t(self) -> np.ndarray:
        """Instants of the steps [s]."""
        return np.asarray(self.carries.t)

    @property
    def outcome(self) -> int:
        """How it ended: `carom.hybrid.outcome.FINISHED`, or what kept it from going on."""
        return int(self.carries.outcome[-1])

    @property
    def events(self) -> np.ndarray:
        """How many events had happened at every instant."""
        return np.asarray(self.carries.events)

    def carry(self, k: int) -> Carry:
        """The carry before step k."""
        return jax.tree.map(lambda leaf: leaf[k], self.carries)


class Stepping:
    """A world that goes on by steps of `dt` [s] under inputs u: one number for each of `joints`.

    - `joints`: names of links whose joints are driven, torque of the parent [N m], force of a slider [N]; all joints if
      left out. They come on top of the controllers that the world has, and are cut at the joints' effort limits
    - `memories`: whether x ends with what automata remember (indentations of dents, instants of the last blows)

    x = (q, v, extra states): `size` numbers. Phases go along inside of the carry, where each run finds them, and are
    free to change. Memories do too. Where the motion to come depends on them (a compliant law that dents; a controller
    that samples), the derivative over several steps is a product of A alone only with `memories=True`.

        stepping = carom.Stepping(world, "leg", 0.01)
        carry = stepping.begin(world.state(slides=[0.3]))
        carry, A, B = stepping.linear(carry, [12.0])
    """

    def __init__(
        self,
        world: WorldLike,
        joints: Names | None = None,
        dt: Real = 0.01,
        *,
        settings: SettingsLike = None,
        memories: bool = False,
    ) -> None:
        errors.number("Stepping", "dt", dt, above=0.0)
        if settings is not None and not isinstance(settings, Settings):
            raise errors.CaromError(f"settings of Stepping are a {type(settings).__name__}; give carom.Settings(...)")
        self.world, self.joints = with_inputs(world, joints)
        self.dt, self.memories = float(dt), bool(memories)
        self.integration = dataclasses.replace(settings or FINE, ledger=False).integration(self.dt)
        self._programs: dict[Any, Any] = {}
        still = self.world.state()
        first = jax.eval_shape(lambda s: start(self.world, s, jnp.asarray(self.dt), False), still)
        self.size = sum(int(np.prod(leaf.shape)) for leaf in jax.tree.leaves(_kept(first, self.memories)))

    @property
    def inputs(self) -> int:
        """How many inputs there are."""
        return len(self.joints)

    @property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest input of each joint; infinite where the joint has no limit."""
        most = np.array([np.inf if m is None else float(m) for m in limits_of(self.world)])
        return -most, most

    def begin(self, state: StateLike) -> Carry:
        """The carry at t = 0; look at its `outcome`: a start inside of a surface has one of its own."""
        state = refuse_state(state, self.world.mechanism)
        begun: Carry = self._run(_begun, (), self.world, state, self.integration.until)
        if int(begun.outcome) != outcome.RUNNING:
            raise errors.CaromError(f"Stepping cannot begin there: {outcome.describe(int(begun.outcome))}")
        return begun

    def x(self, carry: Carry) -> np.ndarray:
        """The state of a carry as one vector."""
        leaves = [np.ravel(np.asarray(leaf, dtype=float)) for leaf in jax.tree.leaves(_kept(carry, self.memories))]
        return np.concatenate(leaves)

    def at(self, carry: Carry, x: Given) -> Carry:
        """The same carry, phases and time, with another state."""
        return _put(carry, self._vector("x", x, self.size), self.memories)

    def state(self, carry: Carry) -> State:
        """Coordinates, velocities and extra states of a carry, to start something else from."""
        y = carry.y
        return State(jnp.stack(list(y.q)), jnp.stack(list(y.v)), self.world.extra_of(y))

    def step(self, carry: Carry, u: Given) -> Carry:
        """After one step: through all events inside of it; its `outcome` says whether it got there."""
        u = self._vector("u", u, self.inputs)
        return self._run(_stepped, (self.dt,), self.world, self.integration, carry, u)

    def linear(self, carry: Carry, u: Given) -> tuple[Carry, np.ndarray, np.ndarray]:
        """After one step, with A (size, size) and B (size, inputs), the derivatives of x there."""
        u = self._vector("u", u, self.inputs)
        after, both = self._run(_linear, (self.dt, self.memories), self.world, self.integration, carry, u)
        both = np.asarray(both)
        return after, both[:, : self.size], both[:, self.size :]

    def rollout(
        self,
        carry: Carry,
        u: Rows,
        gains: Rows | None = None,
        about: Rows | Rollout | None = None,
        limits: tuple[Rows, Rows] | None = None,
    ) -> Rollout:
        """N steps in one go under u_k + gains_k (x_k - about_k), cut at the joints' limits, or at narrower ones.

        - `u` (N, inputs); `gains` (N, inputs, size) and `about` (N, size) or (N + 1, size), both or none of them;
          about a `Rollout`, gains act in steps that begin after as many events as there: what has struck already is
          not pulled to where something else still flies
        - `limits`: least and largest inputs, (N, inputs) each
        """
        if not isinstance(carry, Carry):
            raise errors.CaromError(f"carry of rollout is a {type(carry).__name__}; begin with stepping.begin(state)")
        u = _rows("u", u, (None, self.inputs))
        n = len(u)
        if (gains is None) != (about is None):
            raise errors.CaromError("rollout needs gains and about, the states that they act about; or none of them")
        counts = np.full(n, -1)
        if isinstance(about, Rollout):
            counts, about = np.asarray(about.events)[:n], about.x
        least, most = narrowed("rollout", self.joints, self.limits, limits, (n, self.inputs))
        gains = np.zeros((n, self.inputs, self.size)) if gains is None else gains
        about = np.zeros((n, self.size)) if about is None else about
        gains = _rows("gains", gains, (n, self.inputs, self.size))
        about = _rows("about", np.asarray(about)[:n], (n, self.size))
        given = (carry, u, gains, about, counts.astype(int), least, most)
        found = self._run(_rolled, (self.dt, self.memories), self.world, self.integration, *given)
        return Rollout(*jax.tree.map(np.asarray, found))

    def linear_along(self, rolled: Rollout) -> tuple[np.ndarray, np.ndarray]:
        """A (N, size, size) and B (N, size, inputs) of every step of a rollout."""
        before = jax.tree.map(lambda leaf: leaf[:-1], rolled.carries)
        both = np.asarray(
            self._run(_linear_along, (self.dt, self.memories), self.world, self.integration, before, rolled.u)
        )
        return both[:, :, : self.size], both[:, :, self.size :]

    def _run(self, function: Any, static: tuple[Any, ...], *args: Any) -> Any:
        """By the program for these shapes and what is static (filters of one stepping differ in their sensors)."""
        key = (function, static, tuple(np.shape(leaf) for leaf in jax.tree.leaves(args[2:])))
        if key not in self._programs:
            self._programs[key] = executable(function, static, *args)
        return self._programs[key](*args)

    def _vector(self, field: str, given: Given, size: int) -> Any:
        errors.vector("Stepping", field, given, size)
        return np.asarray(given, dtype=float)


def _rows(field: str, given: Rows, shape: tuple[int | None, ...]) -> np.ndarray:
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise errors.CaromError(f"{field} of rollout is {given!r}; every entry must be a number") from None
    fits = found.ndim == len(shape) and all(b in (None, a) for a, b in zip(found.shape, shape, strict=True))
    if not fits or not len(found):
        wanted = ", ".join("N" if n is None else str(n) for n in shape)
        raise errors.CaromError(f"{field} of rollout has shape {found.shape}; it must have shape ({wanted})")
    if not np.all(np.isfinite(found)):
        raise errors.CaromError(f"{field} of rollout has an entry that is not finite")
    return found


def _kept(carry: Carry, memories: bool) -> tuple[Any, ...]:
    """What x is made of."""
    own = (carry.y.q, carry.y.v, carry.y.extra)
    return (*own, carry.memory) if memories else own


def _put(carry: Carry, x: Vector, memories: bool) -> Carry:
    """The carry with this x, before a step."""
    q, v, extra, *memory = ravel_pytree(_kept(carry, memories))[1](x)
    y = carry.y._replace(q=q, v=v, extra=extra)
    return carry._replace(y=y, memory=memory[0] if memories else carry.memory)


def _x(carry: Carry, memories: bool) -> Any:
    return ravel_pytree(_kept(carry, memories))[0]


def _begun(world: World, state: State, dt: Real) -> Carry:
    return start(world, state, jnp.minimum(1e-3, 0.01 * dt), False)


def _stepped(dt: float, world: World, integration: Integration, carry: Carry, u: Vector) -> Carry:
    """To the next multiple of dt; a carry whose run has ended for another reason stays where it is."""
    until = (jnp.round(carry.t / dt) + 1.0) * dt  # a running sum would drift
    going = (carry.outcome == outcome.FINISHED) | (carry.outcome == outcome.RUNNING)
    ready = carry._replace(
        fresh=jnp.asarray(True),
        outcome=jnp.where(going, outcome.RUNNING, carry.outcome),
        steps=jnp.zeros_like(carry.steps),
    )
    return to_end(holding(world, u), dataclasses.replace(integration, until=until), ready)


def _columns(dt: float, memories: bool, world: World, integration: Integration, carry: Carry, u: Vector) -> Any:
    """(A, B), one column after the other, as scalar code is shortest."""
    x = _x(carry, memories)
    n = x.shape[0]

    def moved(both: Vector) -> Any:
        return _x(_stepped(dt, world, integration, _put(carry, both[:n], memories), both[n:]), memories)

    at = jnp.concatenate([x, u])
    return jax.lax.map(lambda d: jax.jvp(moved, (at,), (d,))[1], jnp.eye(at.shape[0])).T


def _linear(
    dt: float, memories: bool, world: World, integration: Integration, carry: Carry, u: Vector
) -> tuple[Carry, Matrix]:
    # A run that is differentiated takes other steps: what is returned is what `step` returns, to the last bit.
    return _stepped(dt, world, integration, carry, u), _columns(dt, memories, world, integration, carry, u)


def _linear_along(dt: float, memories: bool, world: World, integration: Integration, before: Carry, u: Matrix) -> Any:
    def one(each: tuple[Carry, Vector]) -> Any:
        return _columns(dt, memories, world, integration, *each)

    return jax.lax.map(one, (before, u))


def _rolled(
    dt: float,
    memories: bool,
    world: World,
    integration: Integration,
    carry: Carry,
    u: Matrix,
    gains: Matrix,
    about: Matrix,
    counts: Vector,
    least: Matrix,
    most: Matrix,
) -> Any:
    def one(c: Carry, given: Any) -> tuple[Carry, Any]:
        planned, gain, there, count, low, high = given
        x = _x(c, memories)
        alike = (count < 0) | (c.events == count)
        back = jnp.where(alike, 1.0, 0.0) * jnp.sum(gain * (x - there)[None, :], axis=1)
        applied = jnp.clip(planned + back, low, high)
        return _stepped(dt, world, integration, c, applied), (c, x, applied)

    last, (carries, x, applied) = jax.lax.scan(one, carry, (u, gains, about, counts, least, most))
    whole = jax.tree.map(lambda rows, end: jnp.concatenate([rows, jnp.asarray(end)[None]]), carries, last)
    return whole, jnp.concatenate([x, _x(last, memories)[None]]), applied
