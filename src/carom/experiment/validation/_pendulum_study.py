"""Viscous or dry joints: what two and three arms that swing freely speak for.

The swing is chaotic: what a law gets wrong grows. A prediction starts from the first sample of a piece, as the
publisher of the record did it, and its error at the end of 2.7 s holds much of what is wrong at the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ...hybrid.settings import Settings
from ...hybrid.world import World
from ...mechanism import Body, Joint, Link, Mechanism
from ...mechanism.state import State
from ...study.batches import batch
from ...study.fitting import Fit, fit
from .pendulum_swings import Swings

EVERY = 20  # samples: 20 ms
FAR = 0.1  # [rad] an error that ends a prediction
HORIZON, LOOK = 7.5, 50  # [s] of the longest prediction, and samples between two looks at it
BEGINNING = 0.1  # [s] whose angles say the rates with which a piece begins
NUDGE, ROUNDS = 1e-5, 3  # [rad/s] for slopes by these rates; steps of Gauss's method
STEP = 1e-4  # of the parameters, over their sizes, for slopes by differences
FINE = Settings(rtol=1e-8, atol=1e-10)
# Friction of the joints that each law has, with the size of each number [N m s, N m].
SIZES = {"k1": 2e-4, "k2": 2e-5, "c1": 5e-4, "c2": 1e-4}
INERTIAL = ("a1", "I1", "I2")  # only ratios show: with the second arm's centre, too, all could grow alike
BOTH = ("k1", "k2", "c1", "c2")
LAWS = {
    "viscous": (*INERTIAL, "k1", "k2"),
    "dry": (*INERTIAL, "c1", "c2"),
    "viscous and dry": (*INERTIAL, *BOTH),
    "viscous and dry, inertias as published": BOTH,
}

Numbers = dict[str, Any]
Piece = tuple[np.ndarray, np.ndarray]


def pendulum(p: Numbers) -> World:
    """Arms on hinges; `p` as `Swings.published`, with dry friction c of each joint."""
    count = 3 if "m3" in p else 2
    links = []
    for k in range(1, count + 1):
        tip = {"tip": (p[f"L{k}"], 0.0)} if k < count else {}
        body = Body(mass=p[f"m{k}"], inertia=p[f"I{k}"], com=(p[f"a{k}"], 0.0), **tip)
        links.append(Link(body, joint=Joint(damping=p[f"k{k}"], friction=p[f"c{k}"])))
    return World(Mechanism(links), gravity=p["g"])


def begin(p: Numbers) -> State:
    return State(p["q"], p["v"])


def predicted(swings: Swings, sets: Sequence[Numbers], starts: Piece, times: np.ndarray) -> np.ndarray:
    """Angles (sets, starts, times, arms) at these times; nan after a failure."""
    q, v = starts
    still = {f"c{k + 1}": 0.0 for k in range(swings.arms)}
    full = [swings.published | still | p for p in sets]
    lanes = {name: np.repeat([p[name] for p in full], len(q)).astype(float) for name in full[0]}
    lanes |= {"q": np.tile(q, (len(sets), 1)), "v": np.tile(v, (len(sets), 1))}
    given = {name: jnp.asarray(x) for name, x in lanes.items()}
    ends = batch(pendulum, given, begin, until=float(times[-1]), times=times, settings=FINE, throw=False)
    return np.asarray(ends.at["q"]).reshape(len(sets), len(q), len(times), swings.arms)


def firsts(pieces: Sequence[Piece]) -> Piece:
    """States in which the pieces begin."""
    return np.stack([q[0] for q, _ in pieces]), np.stack([v[0] for _, v in pieces])


def sampled(swings: Swings, pieces: Sequence[Piece], every: int = EVERY) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the measured angles then, of pieces of one length (the last one may be shorter: nan)."""
    longest = max(len(q) for q, _ in pieces)
    angles = np.full((len(pieces), longest, swings.arms), np.nan)
    for k, (q, _) in enumerate(pieces):
        angles[k, : len(q)] = q
    return swings.step * np.arange(0, longest, every), angles[:, ::every]


class Fitted(NamedTuple):
    """A law of the joints on the pieces to fit on."""

    numbers: dict[str, float]
    fit: Fit
    errors: np.ndarray  # rms of each piece that was held out [rad]
    begun: np.ndarray  # the same from rates that its first angles say
    inside: float  # rms of the pieces that were fitted [rad]


def line(p: PyTree, known: PyTree) -> Any:
    """The prediction as its tangent at an estimate."""
    names, values, slopes = sorted(p), known["values"], known["slopes"]
    return values + slopes @ jnp.stack([p[n] - known["at"][n] for n in names])


def fitted(swings: Swings, law: str) -> Fitted:
    """Least squares on all pieces at once; slopes by central differences, every one a lane of one batch."""
    from scipy.optimize import least_squares

    names = sorted(LAWS[law])
    sizes = np.array([SIZES.get(n, swings.published.get(n, 1.0)) for n in names])
    none = {name: 0.0 for name in SIZES}
    times, angles = sampled(swings, swings.fitting)
    starts = firsts(swings.fitting)

    def numbers(x: np.ndarray) -> Numbers:
        return none | dict(zip(names, (x * sizes).tolist(), strict=True))

    def values(x: np.ndarray) -> np.ndarray:
        return np.asarray(predicted(swings, [numbers(x)], starts, times)[0] - angles).ravel()

    def slopes(x: np.ndarray) -> np.ndarray:
        steps = STEP * np.eye(len(x))
        both = predicted(swings, [numbers(x + s) for s in (*steps, *-steps)], starts, times)
        return ((both[: len(x)] - both[len(x) :]) / (2.0 * STEP)).reshape(len(x), -1).T

    low = np.where([n in SIZES for n in names], 10.0 * STEP, 0.0)  # differences stay on this side of no friction
    found = least_squares(values, np.ones(len(names)), slopes, bounds=(low, np.inf), xtol=1e-6, ftol=1e-6, max_nfev=30)
    estimate = numbers(found.x)
    at = {n: estimate[n] for n in names}
    known = {"values": values(found.x) + angles.ravel(), "slopes": slopes(found.x) / sizes, "at": at}
    told = fit(line, angles.ravel(), at, args=known, throw=False)
    inside = float(np.sqrt(np.mean(found.fun**2)))
    begun = held_out(swings, estimate, rates_found(swings, swings.validating, estimate))
    return Fitted(estimate, told, held_out(swings, estimate), begun, inside)


def rates_found(swings: Swings, pieces: Sequence[Piece], numbers: Numbers) -> Piece:
    """States in which pieces begin, with the rates that explain their first angles best."""
    q, v = firsts(pieces)
    length = round(BEGINNING / swings.step) + 1
    times, angles = sampled(swings, [(p[:length], r[:length]) for p, r in pieces], 2)
    for _ in range(ROUNDS):
        beside = [v, *(v + NUDGE * e for e in np.eye(swings.arms))]
        now, *moved = (predicted(swings, [numbers], (q, x), times)[0] for x in beside)
        slopes = np.stack([(x - now) / NUDGE for x in moved], axis=-1).reshape(len(q), -1, swings.arms)
        left = (angles - now).reshape(len(q), -1)
        v = v + np.stack([np.linalg.lstsq(J, r, rcond=None)[0] for J, r in zip(slopes, left, strict=True)])
    return q, v


def held_out(swings: Swings, numbers: Numbers, starts: Piece | None = None) -> np.ndarray:
    """Rms error [rad] of each piece that was held out, from its first sample if nothing else is said."""
    times, angles = sampled(swings, swings.validating)
    found = predicted(swings, [numbers], firsts(swings.validating) if starts is None else starts, times)[0]
    return np.sqrt(np.nanmean((found - angles) ** 2, axis=(1, 2)))


def lasting(swings: Swings, numbers: Numbers) -> np.ndarray:
    """How long [s] predictions from the beginning of each piece stay within 0.1 rad, where the record goes on."""
    angles, _ = swings.joined()
    pieces = (*swings.fitting, *swings.validating)
    size = round(HORIZON / swings.step)
    times = swings.step * np.arange(0, size, LOOK)
    begins = np.cumsum([0, *(len(q) for q, _ in pieces)])[:-1]
    long = begins + size <= len(angles)
    q, v = firsts(pieces)
    found = predicted(swings, [numbers], (q[long], v[long]), times)[0]
    out = []
    for first, mine in zip(begins[long], found, strict=True):
        off = np.max(np.abs(mine - angles[first : first + size : LOOK]), axis=1)
        late = np.flatnonzero(~(off < FAR))
        out.append(times[late[0]] if len(late) else HORIZON)
    return np.asarray(out)


class PendulumStudy(NamedTuple):
    """Numbers of the chapter."""

    published: np.ndarray  # rms of each held-out piece with the published parameters [rad]
    begun: np.ndarray  # the same from rates that their first angles say
    off: np.ndarray  # by how much the stored rates differ from these, of each held-out piece [rad/s]
    fitted: dict[str, Fitted]
    lasts: dict[str, np.ndarray]  # seconds, by parameters
    triple: np.ndarray  # rms of each held-out piece of the triple pendulum, published parameters
    triple_lasts: np.ndarray
    swings: Swings
    example: tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]  # times, errors of a held-out piece by parameters


def pendulum_study(double: Swings, triple: Swings) -> PendulumStudy:
    """All numbers of the chapter."""
    laws = {name: fitted(double, name) for name in LAWS}
    sets: dict[str, Numbers] = {"published": {}} | {name: one.numbers for name, one in laws.items()}
    times, angles = sampled(double, double.validating, EVERY)
    every = predicted(double, list(sets.values()), firsts(double.validating), times)
    errors = {name: np.max(np.abs(x[0] - angles[0]), axis=1) for name, x in zip(sets, every, strict=True)}
    starts = rates_found(double, double.validating, {})
    return PendulumStudy(
        published=held_out(double, {}),
        begun=held_out(double, {}, starts),
        off=np.max(np.abs(starts[1] - firsts(double.validating)[1]), axis=1),
        fitted=laws,
        lasts={name: lasting(double, numbers) for name, numbers in sets.items()},
        triple=held_out(triple, {}),
        triple_lasts=lasting(triple, {}),
        swings=double,
        example=(times, angles[0], errors),
    )
