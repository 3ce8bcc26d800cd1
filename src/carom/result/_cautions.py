"""What a user should know about a run, in sentences: results that are as asked for, but that should be looked at."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..hybrid import outcome
from ..hybrid._horizon import LONGEST
from ..hybrid._remembered import remembered
from ..hybrid.automaton import AbstractAutomaton
from ..hybrid.condition import SHALLOW
from ..hybrid.scene import Scene
from ..hybrid.world import World
from ._passages import passages
from ._signals import contact_signals, effort_signals

if TYPE_CHECKING:
    from .result import Result

SMALL = 0.1  # of a link's length: deflections beyond it are not small
CREATED = 1e-9  # of the energy in play: a blow that adds more has created it
OPEN_ENDED = 1e-6  # [%] of the energy in play: a ledger that misses less closes
TOO_COARSE = 1.0  # times rtol: a ledger that misses more is worse than its tolerance lets one expect
TIGHTEST = 1e-13  # tolerance that is recommended
PULLS = 1e-6  # of the largest force: a contact that pulls more does so by more than the integration's error
UNEXPLAINED = "no blow should; check where its law ends it"  # an automaton that does not say how that can be
MOST = 20_000  # instants at which forces are looked at


def at_once(result: Result) -> list[str]:
    """What can be said without another program: `simulate` warns of it."""
    return [
        *_bent_too_far(result),
        *[said for i, remark in enumerate(_remarks(result.world)) for said in remark(result.marks.memory_after[i])],
        *_created(result),
        *_inside(result),
    ]


def all_of(result: Result) -> list[str]:
    """Everything, the energy ledger, the forces at the ends of steps and links without contacts included."""
    return [*at_once(result), *_not_accounted_for(result), *_pulling(result), *passages(result)]


@remembered
def _remarks(world: World) -> list[Callable[..., list[str]]]:
    """What each automaton may say of its memories."""
    return [automaton.report.remarks for automaton in world.automata]


def _bent_too_far(result: Result) -> list[str]:
    """Assumed modes are for deflections that are small relative to the length."""
    out = []
    mechanism = result.world.mechanism
    top = mechanism.topology
    for k, flex in enumerate(mechanism.numbers.flex):
        if flex is not None:
            q = result.q
            shape, place = np.asarray(flex.nodes.shape), np.asarray(flex.nodes.place)
            bent = np.linalg.norm(np.einsum("tj,gjd->tgd", q[:, list(top.mode_index(k))], shape), axis=2)
            largest, length = float(np.max(bent)), float(np.max(place[:, 0]))
            if largest > SMALL * length:
                out.append(
                    f"link '{top.names[k]}' bends by up to {largest:.3g} m, {100 * largest / length:.0f} % of its "
                    "length; assumed modes hold for small deflections (below 10 %); make it stiffer, or split it"
                )
    return out


def _created(result: Result) -> list[str]:
    """Blows that created energy."""
    if not result.final.y.work:
        return []
    out, marks = [], result.marks
    for automaton, channel in _impulsive(result.world):
        if len(marks.t):
            gain = np.asarray(marks.after.work[channel]) - np.asarray(marks.before.work[channel])
            worst = int(np.argmax(gain))
            created = gain > CREATED * result.energy.in_play
            if created[worst]:
                out.append(
                    f"a blow of '{automaton.name}' at t = {float(marks.t[worst]):.9g} s created "
                    f"{gain[worst]:.3g} J ({int(np.sum(created))} such blows); {automaton.report.gains or UNEXPLAINED}"
                )
    return out


@remembered
def _impulsive(world: World) -> list[tuple[AbstractAutomaton, int]]:
    """Automata whose blows take no time, and where the works of each begin."""
    out, channel = [], 0
    for automaton in world.automata:
        out += [(automaton, channel)] if automaton.anatomy.impulsive else []
        channel += len(automaton.anatomy.channels)
    return out


def _inside(result: Result) -> list[str]:
    """Rigid contacts that went into their surfaces."""
    angles = any(contact.pair.length_unit == "rad" for contact in result.world.contacts)
    allowed = SHALLOW * max(float(result.world.length), 1.0 if angles else 0.0)  # no length measures an angle
    if not result.penetration > allowed or int(result.final.outcome) == outcome.INSIDE:  # which says it all
        return []
    return [
        f"a rigid contact was inside its surface by up to {result.penetration:.2g} m (rad at the stop of a hinge); up "
        f"to {allowed:.2g} is tolerated; tighten rtol and atol, or shorten the run"
    ]


def ended_as(result: Result, words: str) -> str:
    """The words for how it ended, with the condition that ended it; or that none was met in a run without a time."""
    pairs = [(a, int(p)) for a, p in zip(result.world.automata, result.final.phases, strict=True) if a.standing.ends]
    met = [a.anatomy.phases[phase] for a, phase in pairs if a.standing.ends is not None and a.standing.ends(phase)]
    if int(result.final.outcome) == outcome.NOT_FINITE:
        return f"{words}{_not_finite(result)}"
    if int(result.final.outcome) == outcome.STOPPED:
        return f"stopped as asked: {', '.join(met)}"
    if int(result.final.outcome) == outcome.FINISHED and float(result.integration.until) == LONGEST and pairs:
        return f"{words}: nothing that it was to run until was met within {LONGEST:g} s"
    return words


def _not_finite(result: Result) -> str:
    """Whose torques are not numbers where the run ended."""
    for name, efforts in effort_signals(result, result.t[-1:]).items():
        bad = np.flatnonzero(~np.isfinite(efforts.torques[0]))
        if len(bad):
            link = result.world.mechanism.topology.names[int(bad[0])]
            whose = next(a for a in result.world.automata if a.name == name)
            why = getattr(whose, "trouble", "")
            return f"; controller '{name}' asks for {efforts.torques[0][bad[0]]:g} on '{link}'{why and f': {why}'}"
    return ""


def deepest(result: Result) -> str:
    """Which contact is inside its surface at the end, how deep and where."""
    end = result.final
    scene = Scene(result.world.mechanism, end.t, end.y.q, end.y.v)
    bounded = [
        c for c in result.world.contacts if c.rigid or c.during is not None
    ]  # others may be as deep as they like
    found = [(contact, contact.pair.touching(scene)) for contact in bounded]
    contact, touch = max(found, key=lambda each: float(each[1].indentation))
    return (
        f"contact '{contact.name}' is {float(touch.indentation):.3g} {contact.pair.length_unit} inside at "
        f"({float(touch.x):.6g}, {float(touch.y):.6g}) m"
    )


def _not_accounted_for(result: Result) -> list[str]:
    """A ledger that does not close, and the tolerance with which it would."""
    if not result.final.y.work:
        return []
    error, rtol = result.energy.max_error_percent, float(result.integration.rtol)
    # Who asks for a coarse run gets one; it is a fault only where it is coarser than asked for.
    if not error > max(OPEN_ENDED, 100.0 * TOO_COARSE * rtol):
        return []
    said = f"the energy ledger misses {error:.1e} % of the energy in play"
    needed = tolerance_for(rtol, error)
    if needed >= rtol:
        return [
            f"{said}, at the tightest tolerance; a force or law of your own does work that its power does not report"
        ]
    return [f"{said}; for it to close to {OPEN_ENDED:g} %, run with rtol={needed:g}"]


def tolerance_for(rtol: float, error: float) -> float:
    """A power of ten: errors [%] shrink at least in proportion to the tolerance."""
    power = math.floor(math.log10(rtol * OPEN_ENDED / error) + 1e-9)
    return max(float(f"1e{power}"), TIGHTEST)


def _pulling(result: Result) -> list[str]:
    """Contacts that held back what should have left them."""
    if not result.world.contacts:
        return []
    times = result.t[np.unique(np.linspace(0, len(result.t) - 1, min(len(result.t), MOST)).astype(int))]
    signals = contact_signals(result, times)
    largest = max(float(np.max(np.abs(s.normal))) for s in signals.values())
    # A body that floats presses on nothing: its forces are rounding, and the energy in play says how much that is.
    floor = result.energy.in_play / float(result.world.length) if result.final.y.work else 0.0
    out = []
    for name, s in signals.items():
        k = int(np.argmin(s.normal))
        if s.normal[k] < -PULLS * max(largest, floor):
            out.append(
                f"contact '{name}' pulls with {-s.normal[k]:.2g} {s.force_unit} at t = {times[k]:.9g} s; contacts only "
                "push; tighten rtol, or check the law"
            )
    return out
