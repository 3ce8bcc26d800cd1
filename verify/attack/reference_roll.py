"""A disk that bounces, slides and rolls on a slope, integrated by SciPy with its own bookkeeping of stick and slip.

Written without a look at carom's: along the slope s, away from it n (of the lowest point), angle phi; in each mode the
motion is smooth, and SciPy's events end it.
"""

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81


def roll(disk, state, until):
    """State (s, n, phi, and their rates) at `until`; `disk` has mass, radius, stiffness, loss, mu and slope."""
    t, y, approach = 0.0, np.array(state, dtype=float), 0.0
    for _ in range(20_000):
        if t >= until:
            return y
        if y[1] >= 0.0 and (y[1] > 0.0 or y[4] >= 0.0):
            t, y = _fly(disk, t, y, until)
            approach = -y[4]
            y[1] = -0.0 if t < until else y[1]
        if t < until:
            t, y = _press(disk, t, y, until, approach)
    raise RuntimeError("the reference does not come to an end")


def _fly(disk, t, y, until):
    """A parabola, up to the next touch."""
    pull, push = G * np.cos(disk["slope"]), -G * np.sin(disk["slope"])
    left = until - t
    fall = (y[4] + np.sqrt(y[4] ** 2 + 2.0 * pull * y[1])) / pull
    h = min(left, fall)
    places = y[:3] + h * y[3:] + 0.5 * h * h * np.array([push, -pull, 0.0])
    return t + h if h < left else until, np.concatenate([places, y[3:] + h * np.array([push, -pull, 0.0])])


def _press(disk, t, y, until, approach):
    """In contact, through stick and slip, up to the release."""
    slip = y[3] + disk["radius"] * y[5]
    mode = 0.0 if abs(slip) < 1e-12 else np.sign(slip)
    y[1] = 0.0
    while t < until:
        if mode == 0.0 and _wanted(disk) > disk["mu"] * max(_force(disk, y, approach), 0.0):
            mode = -1.0 if disk["slope"] > 0 else 1.0  # the weight pulls it down the slope
        release = _event(lambda _, x: x[1], 1.0)
        stop = _event(lambda _, x, m=mode: m * (x[3] + disk["radius"] * x[5]) if m else 1.0, -1.0)
        give = _event(
            lambda _, x, m=mode: _wanted(disk) - disk["mu"] * _force(disk, x, approach) if not m else -1.0, 1.0
        )
        run = solve_ivp(
            lambda _, x, m=mode: _rates(disk, x, m, approach),
            (t, until),
            y,
            "DOP853",
            events=(release, stop, give),
            rtol=1e-11,
            atol=1e-14,
            first_step=min(1e-7, until - t),
        )
        t, y = float(run.t[-1]), run.y[:, -1]
        if run.t_events[0].size:
            y[1] = 0.0
            y[4] = max(y[4], 0.0)
            return t, y
        if run.t_events[1].size:
            y[5], mode = -y[3] / disk["radius"], 0.0
        elif run.t_events[2].size:
            mode = -1.0 if disk["slope"] > 0 else 1.0
    return t, y


def _event(function, direction):
    function.terminal, function.direction = True, direction
    return function


def _force(disk, y, approach):
    deep = max(-y[1], 0.0)
    return disk["stiffness"] * deep**1.5 * max(1.0 - disk["loss"] * y[4] / max(approach, 1e-12), 0.0)


def _wanted(disk):
    """Friction that pure rolling asks for: a third of the weight along the slope."""
    return abs(disk["mass"] * G * np.sin(disk["slope"]) / 3.0)


def _rates(disk, y, mode, approach):
    push, weight = _force(disk, y, approach), disk["mass"] * G
    drag = -mode * disk["mu"] * push if mode else weight * np.sin(disk["slope"]) / 3.0
    inertia = 0.5 * disk["mass"] * disk["radius"] ** 2
    along = -G * np.sin(disk["slope"]) + drag / disk["mass"]
    away = -G * np.cos(disk["slope"]) + push / disk["mass"]
    return np.array([*y[3:], along, away, drag * disk["radius"] / inertia])
