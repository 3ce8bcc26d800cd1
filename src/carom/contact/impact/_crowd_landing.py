"""What many rigid contacts decide together at an event: _decision.py, _impulses.py and _quiet.py on arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...hybrid._row_arrays import least_of_norm, masked_array
from ...hybrid.automaton import Landing
from ...hybrid.scene import Own, Scene, merge
from ...quantities import Flag, Matrix, Real, Vector
from ..during import IGNORED, entered
from ..friction._stick_slip import OPEN, STICKING, sense_of
from ._course import Blows, impulses_along
from ._crowd import Crowd, Slots, chosen, friction_slots, rubbing_at, to_contacts
from ._crowd_held import CrowdMemory, Flags, Numbers, crowd_modes, sliding_coefficient
from ._crowd_seen import CrowdNoise, Lines, Seen, crowd_noise, keep_seen, lines_of, without
from ._crowd_slight import Weighed, as_blows_see, grazes_of, pressed_at, short_slides, slow_rebounds, weighed_rows
from ._crowd_switched import away, switched
from ._decision import moving
from ._handing_over import is_gone
from ._impulses import END
from ._path import Path, Weights, path, straight
from ._phases import LOST_WORDS
from ._several import TOLERANCE

PHASES = ("open", "closed", LOST_WORDS, "too many closed at once")
ALL_OPEN, SOME_CLOSED, LOST, TOO_MANY = range(4)


class Exits(NamedTuple):
    """Exits that fired, as flags of all contacts, or of those in slots."""

    strikes: Flags
    lifts: Flags
    right: Flags
    left: Flags
    stop: Flags
    paradox: Flags


def _exits(crowd: Crowd, fired: tuple[Any, ...]) -> Exits:
    none = jnp.zeros(crowd.size, dtype=bool)
    rest = [crowd.spread(flags, False) for flags in fired[2:]] or [none] * 4
    return Exits(fired[0], fired[1], *rest)


def landed_together(
    crowd: Crowd, newton: bool, settle_speed: Real, rule: str, scene: Scene, own: Own, fired: tuple[Any, ...]
) -> Landing:
    """One decision for all contacts together: the blow, then who rests, slides or leaves.

    It concerns those that are closed or at their surface; they have slots, and numbers here are theirs.
    """
    everywhere, memory = _exits(crowd, fired), CrowdMemory(*own.memory)
    s = keep_seen(crowd, scene, memory.modes != OPEN)
    touched, near = jnp.any(everywhere.strikes), -s.depth <= 2.0 * s.place
    ended = is_gone(s.past, memory.modes != OPEN, crowd.yields) if crowd.ends else jnp.zeros(crowd.size, dtype=bool)
    # Who slides past the end of an edge hands over: the contact that takes its place is at its surface already.
    handed = jnp.any(ended & (memory.modes != OPEN))
    takes = (memory.modes != OPEN) | everywhere.strikes | (near & (touched | handed))
    slots, over = chosen(crowd, takes, near)  # what is near learns which speed counts as none
    at = slots.place
    exits = Exits(*(flags[at] & slots.on for flags in everywhere))
    modes = jnp.where(slots.on, memory.modes[at], OPEN)
    closed = modes != OPEN
    r, free = lines_of(crowd, scene, slots), scene.motion(scene.v).free
    free = merge(free) if isinstance(free, tuple) else free
    noise = crowd_noise(scene, r, free)
    before = merge(scene.acceleration) if isinstance(scene.acceleration, tuple) else scene.acceleration
    motions = (free, free if before is None else before)
    grazes = grazes_of(closed, r, motions, noise)
    part = slots.on & (takes & ~ended)[at] & r.moved & ~grazes
    absent, inside = _absent(crowd, scene, s, slots)
    part = part & ~absent & ~inside
    jammed = jnp.any(exits.strikes & ~r.moved & ~grazes)
    rows = jnp.concatenate([r.normal, r.tangential[: crowd.slots[0]]])
    through = scene.motion(scene.v).solve(rows.T)  # of places alone: velocities change neither rows nor masses
    weighed = weighed_rows(crowd, rows @ through, through, part)
    noise = as_blows_see(crowd, r, weighed, noise, touched)
    struck = jnp.any(exits.strikes & (r.speed < -noise.speed))  # slower, it closes without a blow
    pressed = pressed_at(r, motions, weighed)
    slow = slow_rebounds(settle_speed, pressed, noise)
    asked = crowd.each(lambda c, u: c.law.asked_at(u), jnp.where(slots.has, -r.speed[slots.slot], 0.0))[at]
    asked = jnp.where(part & (r.speed < -noise.speed) & (asked * jnp.abs(r.speed) > slow), asked, 0.0)
    blow = _blow(crowd, newton, rule, scene, r, weighed, asked, noise)
    v = jnp.where(struck, blow.velocity, merge(scene.v))
    gain = v - merge(scene.v)
    later = r._replace(speed=r.speed + r.normal @ gain, sliding=r.sliding + r.tangential @ gain)
    short = short_slides(crowd, r, weighed, pressed, noise, struck)
    resting, senses, least = _quiet(crowd, modes, part, struck, exits, r, later, noise, slow, short)
    v, speed = _at_rest(crowd, later, through, resting & touched, short, v)
    least = (jnp.where(resting & touched, noise.speed, least[0]), least[1])
    after = moving(scene, _like(scene, v))
    later = lines_of(crowd, after, slots)._replace(speed=speed[0], sliding=speed[1])
    # What went with the speeds that are none may have been all of the sliding, or more than all of it.
    senses = jnp.where(struck, _driven_senses(crowd, modes, r, later, short), senses)
    slips = jnp.where(exits.right, 1.0, jnp.where(exits.left, -1.0, senses))
    ways, lifted = jnp.where(struck, senses, slips), exits.lifts & ~touched
    new, found = crowd_modes(crowd, after, later, resting, ways, weighed.w, lifted)
    fails = jnp.any(exits.paradox) | (struck & ~blow.found) | jammed | ~found
    phase = jnp.where(jnp.any(new != OPEN), SOME_CLOSED, ALL_OPEN)
    phase = jnp.where(over, TOO_MANY, jnp.where(fails, LOST, phase))
    passed = jnp.where(inside, IGNORED, jnp.where(grazes, jnp.maximum(least[0], jnp.abs(r.speed)), least[0]))
    none = jax.lax.stop_gradient((passed, _within_bands(crowd, slots, new, later.sliding, least[1])))
    remembered = _remembered(crowd, scene, memory, struck, slots, blow, new, none)
    return Landing(phase, tuple(remembered), own.states, _like(scene, v), _driven(crowd, scene, struck, slots, blow))


def _absent(crowd: Crowd, scene: Scene, s: Seen, slots: Slots) -> tuple[Flags, Flags]:
    """Contacts that are switched off now, and those that were switched on where they are inside already."""
    gone, at = away(crowd, scene), slots.place
    if gone is None:
        return jnp.zeros_like(slots.on), jnp.zeros_like(slots.on)
    deep = entered(scene, s.depth[at], s.place[at])
    return gone[at], jnp.asarray(switched(crowd))[at] & slots.on & ~gone[at] & deep


def _like(scene: Scene, v: Any) -> Any:
    """Velocities as the engine carries them."""
    return tuple(v[i] for i in range(len(scene.v))) if isinstance(scene.v, tuple) else v


class CrowdBlow(NamedTuple):
    """Impulses of the slots, of those with friction along them, the velocity after, and whether they were found."""

    normal: Any
    tangential: Any
    velocity: Any
    found: Any


def _blow(
    crowd: Crowd,
    newton: bool,
    rule: str,
    scene: Scene,
    r: Lines,
    weighed: Weighed,
    asked: Numbers,
    noise: CrowdNoise,
) -> CrowdBlow:
    n, m = len(asked), crowd.slots[0]
    rubs = tuple(range(m))
    none = jnp.concatenate([noise.speed, noise.sliding[:m]])
    (w, through, on, linked), speed = weighed, without(jnp.concatenate([r.speed, r.sliding[:m]]), none)
    on = on & jnp.any(linked & (on & (speed[:n] < 0.0))[None, :], axis=1)
    lonely = jnp.sum(linked, axis=1) == 1
    if rule == END:  # without friction there is no path to follow, so that both rules agree
        lonely = lonely & (jnp.arange(n) >= m)
    alone, ends = _alone(
        crowd,
        w,
        speed,
        asked,
        r.slots._replace(on=on & lonely, has=r.slots.has & to_contacts(crowd, r.slots, on & lonely, False)),
    )
    mu, limit = sliding_coefficient(crowd, r), rubbing_at(crowd, r.slots, lambda friction: friction.limit)
    if rule == END:  # stiction holds what rests; what slides when the blow comes has only its sliding friction
        limit = jnp.where(jnp.abs(speed[n:]) > TOLERANCE * jnp.sum(jnp.abs(speed)), mu, limit)
    several, found = impulses_along(
        Blows(w, w, speed, none, asked, mu, limit, on & ~lonely, linked, rubs, newton, rule == END)
    )
    owner = jnp.concatenate([lonely, lonely[:m]])
    impulses = jnp.where(owner, alone, jnp.stack(several))
    velocity = merge(scene.v) + through @ impulses
    return CrowdBlow(impulses[:n], impulses[n:], velocity, found & ends)


def _alone(crowd: Crowd, w: Any, speed: Any, asked: Any, mine: Slots) -> tuple[Any, Any]:
    """Impulses of every contact as if it were the only one."""
    n, m = len(mine.place), crowd.slots[0]
    own = to_contacts(crowd, mine, jnp.diagonal(w)[:n], 1.0)
    across, aside = (to_contacts(crowd, mine, x) for x in (jnp.diagonal(w[:m, n:]), jnp.diagonal(w)[n:]))
    approach = to_contacts(crowd, mine, jnp.minimum(speed[:n], 0.0))
    sliding, wanted = to_contacts(crowd, mine, speed[n:]), to_contacts(crowd, mine, asked)

    def one(c: Any, own: Any, across: Any, aside: Any, approach: Any, sliding: Any, e: Any) -> tuple[Any, Any, Any]:
        way: Path = straight(own, approach)
        if c.friction is None:
            return c.law.end(way, e), 0.0, True
        mu = c.friction.coefficient(jnp.abs(sliding))
        way = path(Weights(own, across, aside), approach, sliding, mu, c.friction.limit)
        p = c.law.end(way, e)
        return p, way.friction(p), way.found

    normal, rubbed, found = crowd.each(one, own, across, aside, approach, sliding, wanted)
    at = mine.place
    ends = jnp.all((found[at] > 0.0) | ~mine.on)
    return jnp.where(jnp.concatenate([mine.on, mine.on[:m]]), jnp.concatenate([normal[at], rubbed[at[:m]]]), 0.0), ends


def _quiet(
    crowd: Crowd,
    modes: Any,
    part: Any,
    struck: Flag,
    exits: Exits,
    r: Lines,
    later: Lines,
    noise: CrowdNoise,
    slow: Any,
    short: Numbers,
) -> tuple[Any, Any, tuple[Any, Any]]:
    """Contacts that may rest, senses of sliding (0: none), and the speeds that counted as none."""
    speed, u, closed = later.speed, later.sliding, modes != OPEN
    drift = jnp.where(closed, 2.0 * jnp.abs(r.speed), 0.0)
    none = jnp.maximum(noise.speed, jnp.maximum(slow, drift))
    resting = part & ((jnp.abs(speed) <= none) | (closed & ~struck))
    least = jnp.maximum(noise.speed, jnp.where(resting, jnp.abs(speed), 0.0))
    slowest = jnp.max(jnp.where(exits.stop, jnp.abs(u), 0.0), initial=0.0)
    driven = _driven_senses(crowd, modes, r, later, short)
    kept = jnp.where(modes == STICKING, 0.0, sense_of(modes))
    kept = jnp.where(modes == OPEN, driven, kept)
    sense = jnp.where(struck, driven, kept)
    # Feet of one link stop together, though rounding may show it of one of them first.
    ends = exits.stop | (jnp.any(exits.stop) & (jnp.abs(u) <= noise.sliding + 2.0 * slowest))
    sense = jnp.where((ends & ~struck) | ~friction_slots(crowd), 0.0, sense)
    along = jnp.maximum(noise.sliding, jnp.where(sense == 0.0, jnp.abs(u), 0.0))
    return resting, sense, (least, along)


def _driven_senses(crowd: Crowd, modes: Numbers, r: Lines, later: Lines, short: Numbers) -> Any:
    """Senses of sliding after a blow, 0 where it is too short; before it, what stuck had the integration's error."""
    drift = jnp.where(modes == STICKING, 2.0 * jnp.abs(r.sliding), 0.0)
    band = crowd.rubbing(lambda friction: friction.stops_at)[r.slots.place]
    moves = jnp.abs(later.sliding) > jnp.maximum(jnp.maximum(short, drift), band)
    return jnp.where(moves & friction_slots(crowd), jnp.sign(later.sliding), 0.0)


def _at_rest(
    crowd: Crowd, later: Lines, through: Matrix, still: Flags, short: Numbers, v: Vector
) -> tuple[Vector, tuple[Numbers, Numbers]]:
    """What counts as no speed is none, for all contacts together: the nearest motion in which they rest.

    What sticks goes on sticking: a hop that is taken away from one box must not set the others sliding.
    """
    m = crowd.slots[0]
    sticks = still[:m] & (jnp.abs(later.sliding[:m]) <= short[:m])
    rests, rows = jnp.concatenate([still, sticks]), jnp.concatenate([later.normal, later.tangential[:m]])
    speeds = jnp.concatenate([later.speed, later.sliding[:m]])
    steps = least_of_norm(masked_array(rows @ through, rests), jnp.where(rests, -speeds, 0.0))
    change = through @ jnp.where(rests, steps, 0.0)
    return v + change, (later.speed + later.normal @ change, later.sliding + later.tangential @ change)


def _within_bands(crowd: Crowd, slots: Slots, modes: Any, sliding: Any, least: Any) -> Any:
    """Speeds that counted as none; negative for a contact that slides within its band as it could not stick."""
    band = crowd.rubbing(lambda friction: friction.stops_at)[slots.place]
    slides = (modes != OPEN) & (modes != STICKING) & (jnp.abs(sliding) <= band) & (band > 0.0)
    return jnp.where(slides, -1.0, least)


def _remembered(
    crowd: Crowd, scene: Scene, old: CrowdMemory, struck: Flag, slots: Slots, blow: CrowdBlow, modes: Any, none: Any
) -> CrowdMemory:
    """Modes, impulses of the last blow, speeds that count as none, and when each was last struck while open [s].

    What is away from all surfaces keeps the speed that counted as none when it left.
    """
    normal, rubbed = to_contacts(crowd, slots, blow.normal), to_contacts(crowd, slots, blow.tangential)
    hit = struck & (old.modes == OPEN) & (normal > 0.0)
    sliding = jnp.where(slots.has[crowd.rubs], to_contacts(crowd, slots, none[1])[crowd.rubs], old.sliding)
    return CrowdMemory(
        to_contacts(crowd, slots, modes.astype(float), float(OPEN)),
        jnp.where(struck, normal, old.normal),
        jnp.where(struck, rubbed[crowd.rubs], old.tangential),
        jnp.where(slots.has, to_contacts(crowd, slots, none[0]), old.speed),
        sliding,
        jnp.where(hit, scene.t, old.strikes),
    )


def _driven(crowd: Crowd, scene: Scene, struck: Flag, slots: Slots, blow: CrowdBlow) -> Any:
    """Work of surfaces with a prescribed motion in a blow [J]; None where there are none."""
    if not crowd.moves:
        return None
    along, across = crowd.carried(scene)
    normal, rubbed = to_contacts(crowd, slots, blow.normal), to_contacts(crowd, slots, blow.tangential)
    return jnp.where(struck, jnp.sum(normal * along + rubbed * across), 0.0)
