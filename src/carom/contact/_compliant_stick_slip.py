"""Modes of dry friction at a compliant contact: when it slips or stops, and whether it then sticks or slides."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..hybrid._reaction import dot
from ..hybrid.condition import ROUNDING, Condition, level, turning, unless
from ..hybrid.scene import Scene
from ..quantities import Flag, PhaseNumber, Real
from ._rows import Rows, noise_of_row
from .friction import AbstractDry
from .friction._stick_slip import LEFT, RIGHT, STICKING, mode_of, sense_of

SLIP_EXITS = ("slip right", "slip left", "stop")
LEAST = ("least sliding", "least friction")  # what counted as none when the mode was last decided


def sliding_force(dry: AbstractDry, mode: PhaseNumber, push: Real, sliding: Real) -> Any:
    """Friction force [N] while it slides; zero while it sticks.

    The sense is that of the mode, not of the velocity: it stays while an event is being located.
    """
    way = sense_of(mode)
    return -way * dry.coefficient(jnp.abs(sliding)) * push - dry.drag * sliding * jnp.abs(way)


def slip_and_stop(
    dry: AbstractDry, mode: Array, least: tuple[Any, ...], sliding: Real, push: Real, held: Real
) -> tuple[Condition, ...]:
    """Slip to either side, when the limit is used up; stop."""
    sticks = mode == STICKING
    most = dry.limit * push
    noise = ROUNDING * (jnp.abs(held) + jnp.abs(most) + jnp.abs(push)) + least[1]
    slips = [unless(~sticks, level(-way * held - most - 2.0 * noise, noise)) for way in (1.0, -1.0)]
    # Within a band of speeds (Karnopp) sliding has stopped; without one, when it comes to zero.
    deep = jnp.where(dry.stops_at > 0.0, jnp.inf, 2.0 * least[0])
    return (*slips, unless(sticks, turning(dry.stops(least[0]) - sense_of(mode) * sliding, deep)))


class Trial(NamedTuple):
    """A contact as if it stuck: its rows, its normal force, and what would hold it."""

    scene: Scene
    rows: Rows
    push: Any  # normal force [N]
    held: Any  # force along the surface that keeps it from sliding [N]
    w_tt: Any  # acceleration along the surface by a unit force along it [1/kg]
    place: Any  # what rounding does to its place [m]


def mode_after(
    dry: AbstractDry,
    before: tuple[Any, tuple[Any, ...]],
    trial: Trial,
    sliding: Real,
    touch: Array,
    fired: tuple[Flag, ...],
) -> tuple[Any, tuple[Any, Any]]:
    """Mode after an event, with what counted as none; `before`: both as they were; `touch`: its velocities are new."""
    (old_mode, old_least), (right, left, stop) = before, fired
    mode, least = _decided(dry, trial, (right | left | stop) & ~touch)
    # The exit that fired decides: what it saw is less than what a decision can tell.
    mode = jnp.where(touch, mode, jnp.where(right, RIGHT, jnp.where(left, LEFT, mode)))
    ours = touch | right | left | stop
    slow, weak = (jnp.where(ours, new, old) for new, old in zip(least, old_least, strict=True))
    return jnp.where(ours, mode, old_mode), (_within_band(dry, sliding, ours, mode, slow), weak)


def _within_band(dry: AbstractDry, sliding: Real, ours: Flag, mode: PhaseNumber, slow: Real) -> Any:
    """Negative where it slides within the band of speeds in which it could not stick."""
    band = dry.stops_at
    speed = jax.lax.stop_gradient(jnp.abs(sliding))
    return jnp.where(ours & (mode != STICKING) & (speed <= band) & (band > 0.0), -1.0, slow)


def _decided(dry: AbstractDry, trial: Trial, stopped: Flag) -> tuple[Any, tuple[Any, Any]]:
    """Sliding goes on in its sense; without sliding it sticks if it can, else it slides the way it is driven.

    At touch-down normal force and holding force both start from zero, so their ratio is looked at a little later: a
    normal force larger by `ahead` asks for ahead w_tn/w_tt less; not where it is clear already. Also returns what
    counts as no sliding (rounding of the speed, or what is left of it where it has stopped) and as no friction
    (rounding of the holding force).
    """
    scene, r, push, held, w_tt, place = trial
    movable = w_tt > 0.0  # not the tip of a rod that lies along the surface: held there, it could never turn
    w_tt = jnp.where(movable, w_tt, 1.0)
    k, motion = r.touch, scene.motion(scene.v)
    w_tn = dot(r.tangential, motion.solve(r.normal))
    noise, rise = noise_of_row(scene, motion.free, r.tangential, r.tangential_drift, k.sliding, place)
    least = rise / w_tt + 1e-300
    ahead = 1e-6 * (jnp.abs(push) + jnp.abs(held)) + 1e3 * least
    clear = jnp.abs(held) > 2.0 * dry.limit * jnp.abs(push) + 1e3 * least
    held = jnp.where(clear, held, held - ahead * w_tn / w_tt)
    driven = jnp.where(jnp.abs(held) <= dry.limit * (push + ahead), STICKING, mode_of(-held))
    driven = jnp.where(movable, driven, jnp.where(r.tangential_drift < 0.0, LEFT, RIGHT))
    speed = jnp.abs(k.sliding)
    still, noise = stopped | (speed <= noise), noise + 1e-300
    slow, mode = jnp.where(still, jnp.maximum(speed, noise), noise), jnp.where(still, driven, mode_of(k.sliding))
    return mode, jax.lax.stop_gradient((slow, least))
