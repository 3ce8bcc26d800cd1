"""How a run can end, in words."""

from __future__ import annotations

RUNNING, FINISHED, STEP_LIMIT, STEP_TOO_SMALL, NOT_FINITE, ZENO, EVENT_LIMIT, NO_MOTION = range(8)

WORDS = {
    RUNNING: "stopped before the end; what was computed so far is kept",
    FINISHED: "finished",
    STEP_LIMIT: "step limit reached; raise max_steps, or loosen rtol",
    STEP_TOO_SMALL: "the step became smaller than time can resolve; a force is discontinuous or far too stiff there: "
    "use a stiff solver, a smoother law, or looser tolerances",
    NOT_FINITE: "the state or a force is not finite; look at the state shown for a division by zero or a runaway gain",
    ZENO: "more than 100 events at one instant; automata keep triggering each other, or rebounds become shorter "
    "without end: let slow ones settle, or use a compliant law",
    EVENT_LIMIT: "the number of events asked for was reached",
    NO_MOTION: "rigid contacts with friction allow no motion here, or more than one (Painleve's paradox): "
    "use a compliant law there, or less friction",
}


def describe(code: int) -> str:
    return WORDS[int(code)]
