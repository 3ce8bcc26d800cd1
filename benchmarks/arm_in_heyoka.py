"""The arm paper's fifteen strikes in heyoka: Taylor series of one integrator per phase, compiled by LLVM.

    python benchmarks/arm_in_heyoka.py [TOLERANCE ...]

For a Python that has heyoka; `engine.py --heyoka PYTHON` runs it there. Prints for every tolerance, first for the ends
alone and then with works that are integrated and every step kept (time and state, by a callback; heyoka's own
continuous output is compiled for each phase that is met, 1 ms): which of both, the tolerance, seconds of
compiling, seconds per run (of the processor), steps, final time and state. Hertz' force is not analytic where an impact
begins or ends, so flight is followed a picometre into it, and restitution left a picometre before its end.
"""

import math
import sys
import time

import heyoka as hy
import numpy as np

RADIUS, SLIP, FRICTION, POISSON, YIELD = 0.005, 0.02, 0.2, 0.29, 1.12e9
MODULUS = 210e9 / (2.0 * (1.0 - POISSON**2))
HARD = 1.295 * math.exp(0.736 * POISSON) * YIELD
CRITICAL = RADIUS * (math.pi * HARD / (2.0 * MODULUS)) ** 2
LOAD = 4.0 / 3.0 * (RADIUS / MODULUS) ** 2 * (math.pi * HARD / 2.0) ** 3
EXPONENT = 0.14 * math.exp(23.0 * YIELD / MODULUS)
NEAR = 1e-12  # [m]
DOWN, UP = np.deg2rad([-80.0, -70.0]), np.deg2rad([80.0, 70.0])
PHASES = 5

X, Y, U, V = hy.make_vars("x", "y", "u", "v")  # angles and rates
DEPTH = -1.0 - hy.sin(X) - hy.sin(Y)
CLIMB = hy.cos(X) * U + hy.cos(Y) * V
SLIDE = hy.sin(X) * U + hy.sin(Y) * V
WORKS = hy.make_vars("pushed", "rubbed", "driven", "weight")
LIFTED = 9.81 * (1.5 * hy.cos(X) * U + 0.5 * hy.cos(Y) * V)  # power against weight


def plastic(d, m=hy):
    """Force of the elasto-plastic phase, by the functions of m."""
    r = d / CRITICAL
    size = m.log(r)
    a = m.sqrt(RADIUS * d * m.exp(EXPONENT * (size - math.log(1.9))))
    h = YIELD * (2.84 - 0.92 * (1.0 - m.cos(math.pi * a / RADIUS)))
    worn = 4.0 * h / HARD * (1.0 - m.exp(-0.04 * m.exp(size * 5.0 / 9.0))) * r
    return LOAD * (m.exp(-0.25 * m.exp(size * 5.0 / 12.0)) * r * m.sqrt(r) + worn)


def motion(first, second):
    """Equations of motion under two generalized forces."""
    off = 0.5 * (hy.cos(X) * hy.cos(Y) + hy.sin(X) * hy.sin(Y))
    skew = 0.5 * (hy.sin(X) * hy.cos(Y) - hy.cos(X) * hy.sin(Y))
    q1, q2, det = first - skew * V * V, second + skew * U * U, 4.0 / 9.0 - off * off
    return [(X, U), (Y, V), (U, (q1 / 3.0 - off * q2) / det), (V, (4.0 / 3.0 * q2 - off * q1) / det)]


def flight(target):
    """Motion and powers. Weight and its compensation cancel."""
    t1, t2 = -100.0 * U - 600.0 * (X - target[0]), -100.0 * V - 300.0 * (Y - target[1])
    return motion(t1 - t2, t2), (0.0, 0.0, (t1 - t2) * U + t2 * V + LIFTED, 0.0)


def impact(push):
    drag = FRICTION * push * hy.tanh(SLIDE / SLIP)
    moves = motion(hy.cos(X) * push - hy.sin(X) * drag, hy.cos(Y) * push - hy.sin(Y) * drag)
    return moves, (push * CLIMB, -drag * SLIDE, 0.0, LIFTED)


def hertz(d, root):
    return 4.0 / 3.0 * MODULUS * root * d * hy.sqrt(d)


def integrators(tolerance, ledger):
    left = DEPTH - hy.par[0]
    rising, falling = hy.event_direction.positive, hy.event_direction.negative
    phases = [
        (flight(DOWN), DEPTH, rising),
        (impact(hertz(DEPTH, math.sqrt(RADIUS))), DEPTH - 1.9 * CRITICAL, rising),
        (impact(plastic(DEPTH)), CLIMB, rising),
        (impact(hertz(left, hy.par[1])), left - NEAR, falling),
        (flight(UP), -2.0 - DEPTH, rising),
    ]
    out = []
    for (flow, powers), event, way in phases:
        flow = [*flow, *zip(WORKS, map(hy.expression, powers), strict=True)] if ledger else flow
        ends = [hy.t_event(event, direction=way)]
        out.append(hy.taylor_adaptive(flow, [0.0] * len(flow), tol=tolerance, t_events=ends))
    return out


def run(phases, ledger):
    state, t, steps, kept = np.array([math.pi / 3.0, math.pi / 4.0, *[0.0] * (6 if ledger else 2)]), 0.0, 0, []
    for strike in range(15 * PHASES):
        kind = strike % PHASES
        each = phases[kind]
        if kind == 1:  # a picometre into the floor
            short = NEAR / abs(math.cos(state[0]) * state[2] + math.cos(state[1]) * state[3])
            state[:2] += short * state[2:4]
            t += short
        elif kind == 3:
            d = -1.0 - math.sin(state[0]) - math.sin(state[1])
            dent = 1.02 * d * (1.0 - ((d / CRITICAL + 5.9) / 6.9) ** -0.54)
            each.pars[:] = dent, math.sqrt((0.75 * plastic(d, math) / MODULUS) ** 2 / (d - dent) ** 3)
        each.time, each.state[:] = t, state
        each.reset_cooldowns()

        def keep(at):
            kept.append((at.time, at.state.copy()))
            return True

        steps += each.propagate_until(t + 10.0, **({"callback": keep} if ledger else {}))[3]
        state, t = each.state.copy(), each.time
    return steps, [t, *state[:4]]


def main():
    for ledger in (False, True):
        for tolerance in map(float, sys.argv[1:] or ("1e-9", "1e-12")):
            begin = time.process_time()
            phases = integrators(tolerance, ledger)
            compiling, best = time.process_time() - begin, math.inf
            for _ in range(40):
                begin = time.process_time()
                steps, end = run(phases, ledger)
                best = min(best, time.process_time() - begin)
            what = "recorded" if ledger else "ends"
            print(what, tolerance, compiling, best, steps, *(repr(float(x)) for x in end))


if __name__ == "__main__":
    main()
