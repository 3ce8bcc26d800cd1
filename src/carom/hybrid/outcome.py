"""How a run can end, in words."""

from __future__ import annotations

(
    RUNNING,
    FINISHED,
    STEP_LIMIT,
    STEP_TOO_SMALL,
    NOT_FINITE,
    ZENO,
    EVENT_LIMIT,
    NO_MOTION,
    INSIDE,
    RUNAWAY,
    CHATTER,
    STALLED,
    STARTS_INSIDE,
    BAD_NUMBER,
    CANNOT_START,
    TOO_FAR,
    UNMET,
    CROWDED,
    STOPPED,
) = range(19)

GOOD = (FINISHED, EVENT_LIMIT, STOPPED)  # ends that were asked for
IMPOSSIBLE = (BAD_NUMBER, STARTS_INSIDE, CANNOT_START, TOO_FAR, UNMET)  # there was no run

WORDS = {
    RUNNING: "stopped before the end; what was computed so far is kept",
    FINISHED: "finished",
    STEP_LIMIT: "step limit reached; raise max_steps, or loosen rtol",
    STEP_TOO_SMALL: "the step became smaller than time can resolve; a force is discontinuous or far too stiff there: "
    "use a stiff solver, a smoother law, or looser tolerances",
    NOT_FINITE: "the state or a force is not finite; look at the state shown for a division by zero or a runaway gain",
    ZENO: "more than 100 events at one instant; automata keep triggering each other, or rebounds become shorter "
    "without end: set settle_speed, or use a compliant law",
    EVENT_LIMIT: "the number of events asked for was reached",
    NO_MOTION: "rigid contacts allow no motion here, or more than one (with friction: Painleve's paradox): use a "
    "compliant law there, or less friction",
    INSIDE: "an open contact is inside its surface, which was crossed without an event: the surface is not smooth, or "
    "moves faster than it says; or the contact was switched on (`during`) when it was there",
    RUNAWAY: "something runs away: it is faster than light, or ever faster without end; a controller diverges, or a "
    "force keeps adding energy: lower its gains, raise its sampling rate, or check the sign of a force",
    CHATTER: "10,000 events, each within a thousandth of a step, that lead nowhere; automata keep switching each "
    "other: give a relay a dead band, a contact some damping, or a controller a lower rate",
    STALLED: "time stands still: no step of any length was acceptable in 1,000 attempts; look at the contact or "
    "controller of the last event for a discontinuous value",
    STARTS_INSIDE: "it starts inside a surface; a run starts outside; move one of them, or turn the surface's normal "
    "to its free side",
    BAD_NUMBER: "a number of its world is not allowed",
    CANNOT_START: "it cannot start in contact and at rest: a law there measures its loss by the speed of approach; "
    "start it a little above the surface, or use a law such as Hooke",
    TOO_FAR: "it is so far from the origin that float64 cannot tell touch from gap there; move the world nearer to the "
    "origin",
    CROWDED: "more rigid contacts are closed at once than can be solved together (40 with friction, 130 without): use "
    "a compliant law for some of them",
    STOPPED: "stopped as asked: a condition of until was met",
    UNMET: "its start does not meet a constraint; world.assembled(state) brings it there",
}


def describe(code: int) -> str:
    return WORDS[int(code)]
