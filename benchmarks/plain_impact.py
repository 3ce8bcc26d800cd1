"""One impact of a disk in SciPy: flight and phases of the blow, restarted at every change of phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from carom.contact.friction.dry import FADES as STILL
from plain_laws import INERTIA, MASS, RADIUS, W_NN, W_TT, Friction, Phase, sign

HEIGHT = RADIUS + 1e-3


def thrown(speed: Any) -> tuple[Any, Any, Any]:
    """Velocity and spin: the contact point slides at 0.5 times the speed."""
    return 0.5 * speed, -speed, 0.0 * speed


def until(flow: Any, t: float, y: Any, guards: list[Any], method: str, rtol: float) -> tuple[float, Any, int]:
    """Integrate until a guard rises through zero: instant, state, and which guard."""
    events = []
    for guard in guards:
        event = lambda t, y, guard=guard: guard(y)  # noqa: E731
        event.terminal, event.direction = True, 1.0  # type: ignore[attr-defined]
        events.append(event)
    done = solve_ivp(flow, (t, t + 1.0), y, method=method, rtol=rtol, atol=1e-2 * rtol, events=events)
    fired = [k for k, times in enumerate(done.t_events) if len(times)]
    return float(done.t[-1]), done.y[:, -1], fired[0]


def flight(speed: float, method: str, rtol: float) -> tuple[float, Any]:
    x, y, spin = thrown(speed)
    start = [0.0, HEIGHT, 0.0, x, y, spin, 0.0]
    fall = lambda t, y: (y[3], y[4], y[5], 0.0, 0.0, 0.0, 0.0)  # noqa: E731
    t, state, _ = until(fall, 0.0, start, [lambda y: RADIUS - y[1]], method, rtol)
    return t, state


def scipy_run(meet: Callable[[float], Phase], friction: Friction, speed: float, method: str, rtol: float) -> Any:
    """Velocities after the impact: flight, then the phases of the blow."""
    t, y = flight(speed, method, rtol)
    phase: Phase | None = meet(-y[4])
    mode = sign(y[3] + RADIUS * y[5]) if friction.dry else 0.0
    armed = True
    while phase is not None:
        push, rub, way = phase.force, friction.force, mode

        def flow(t: float, y: Any) -> tuple[float, ...]:
            _, high, _, vx, vy, spin, z = y.tolist()
            n = push(RADIUS - high, -vy)  # noqa: B023
            f, rate = rub(z, n, vx + RADIUS * spin, way)  # noqa: B023
            return vx, vy, spin, f / MASS, n / MASS, RADIUS * f / INERTIA, rate

        guards = [lambda y, g=g: g(RADIUS - y[1], -y[4]) for g, _ in phase.exits]
        if friction.dry and way != 0.0 and armed:
            guards.append(lambda y: friction.stops_at - way * (y[3] + RADIUS * y[5]))  # noqa: B023
        elif friction.dry and way == 0.0:
            most = lambda y: friction.limit * push(RADIUS - y[1], -y[4])  # noqa: B023, E731
            guards.append(lambda y: STILL / W_TT * abs(y[3] + RADIUS * y[5]) - most(y) - 1e-9)  # noqa: B023
        t, y, which = until(flow, t, y, guards, method, rtol)
        if which < len(phase.exits):
            phase = phase.exits[which][1](RADIUS - y[1])
        elif way != 0.0:
            mode = 0.0
        else:  # it slips again on what is left of its speed, until the end
            mode, armed = sign(y[3] + RADIUS * y[5]), False
    return y[3:6]


def blow(law: Any, speed: float, method: str, rtol: float) -> Any:
    """Impulsive laws: there is nothing to integrate but the flight; the blow of a disk is a formula."""
    _, y = flight(speed, method, rtol)
    slides, e = y[3] + RADIUS * y[5], float(law.asked)
    p = -(1.0 + e) * y[4] / W_NN
    q = -sign(slides) * min(0.3 * p, abs(slides) / W_TT)
    return np.array([y[3] + q / MASS, -e * y[4], y[5] + RADIUS * q / INERTIA])
