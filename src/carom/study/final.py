"""The end of a run as a pure function: jit, vmap, forward and reverse mode go through it."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import jax.numpy as jnp

from .. import errors, native
from .._arguments import UntilLike
from ..hybrid import outcome
from ..hybrid._carry import Carry
from ..hybrid._horizon import ended
from ..hybrid._run import executable, named, to_end
from ..hybrid._run import start as opened
from ..hybrid.settings import Integration, Settings, settings_or_default
from ..hybrid.world import World
from ..mechanism.state import State, refuse_state
from ..quantities import Flag


def final_state(
    world: World,
    start: State,
    until: UntilLike,
    *,
    settings: Settings | None = None,
    reverse_steps: int | None = None,
) -> Carry:
    """Run from a state until a time [s], or until something happens (as `simulate` takes it); nothing is recorded.

    The carry that is returned has `t`, `y.q`, `y.v`, `y.work`, `phases`, `memory`, `steps`, `events` and `outcome`.
    With plain numbers, the compiled program of a run that keeps nothing is run at once; under jit, XLA compiles it.
    Derivatives go through flows, event times and jumps: the step length is held constant, and every landing ends with
    a Newton step that carries the derivative of the instant. Forward mode works as it is; for reverse mode give
    `reverse_steps`, an upper bound on the number of attempted steps (memory grows with its square root).

    A pure function cannot raise: look at `outcome` (`carom.hybrid.outcome` has its words). A start inside a surface, or
    a number that a law does not allow, has an outcome of its own.
    """
    with errors.collecting() as flaws:
        state, settings = refuse_state(start, world.mechanism), settings_or_default(settings)
        world, horizon = ended(world, until)
        integration = settings.integration(horizon)
    given = (world, state, integration)
    if reverse_steps is None and native.idle():
        run = executable(_ended, (settings.ledger,), *given)  # plain numbers: no derivative is asked for
        end = run(*given)
        native.worked(run, int(end.steps))
        return end
    return _ended(settings.ledger, *given, reverse_steps, flaws)


def _ended(
    ledger: bool,
    world: World,
    state: State,
    integration: Integration,
    reverse_steps: int | None = None,
    flaws: Sequence[Flag] = (),
) -> Carry:
    """The carry at the end; `flaws`: rules that numbers break, as far as somebody has looked."""
    begun = opened(world, state, jnp.minimum(1e-3, 0.01 * integration.until), ledger)
    # A world that was made under jit or vmap has numbers that nobody has looked at yet.
    bad = functools.reduce(lambda a, b: a | b, flaws, errors.broken(world))
    begun = begun._replace(outcome=jnp.where(bad, outcome.BAD_NUMBER, begun.outcome))
    return named(world, begun, to_end(world, integration, begun, reverse_steps))
