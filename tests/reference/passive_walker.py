"""The compass walker, as people write it, and its own equations, written once more in the two angles of its legs alone.

Goswami, Thuilot and Espiau 1998: hip 10 kg, legs 5 kg in points half way up, 1 m long. In `step` a foot is a hinge and
the strike is two balances of angular momentum: nothing of it is shared with the engine.
"""

import functools

import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import carom

HIP, LEG, HALF, LENGTH, G = 10.0, 5.0, 0.5, 1.0, 9.81
STEP = ("gait", "left late -> right early: strike right foot")
EXCHANGE = {"left": "right", "left foot": "right foot", "left early": "right early", "left late": "right late"}


def compass(slope, way=1.0, height=0.0, ballast=0.0):
    """The world, seen along the slope [rad]; it walks to the left with `way` -1; `ballast` [kg] on the right leg."""
    body = carom.Body(mass=LEG, inertia=0.0, com=(HALF, 0.0), tip=(LENGTH, 0.0))
    links = [carom.Link(body, name="left"), carom.Link(body, name="right", parent="left", at=(0.0, 0.0))]
    robot = carom.Mechanism(links, base=carom.Free()).weld("left", carom.PointMass(HIP), at=(0.0, 0.0))
    robot = robot if ballast == 0.0 else robot.weld("right", carom.PointMass(ballast), at=(HALF, 0.0))
    ground, sign, states, feet = carom.Plane(height=height), "<" if way > 0.0 else ">", {}, []
    for side, other in (("left", "right"), ("right", "left")):
        states[f"{side} early"] = carom.Mode(to={f"{side} late": f"{side}.angle {sign} -pi/2"})
        states[f"{side} late"] = carom.Mode(to={f"{other} early": f"strike {other} foot"})
        there = ("gait", [f"{side} early", f"{side} late", f"{other} late"])
        law = (carom.Plastic(), carom.Coulomb(1.0))
        feet.append(carom.Contact(f"{side}.tip", ground, *law, name=f"{side} foot", during=there))
    gait = carom.StateMachine(robot, states, name="gait")
    weight = (way * G * jnp.sin(slope), -G * jnp.cos(slope))
    return carom.World(robot, contacts=feet, control=gait, gravity=weight, friction_rule="end velocity")


def pushed_off(world, way=1.0, place=0.0, height=0.0):
    """On the left foot, which has just struck."""
    apart, left, right = 0.27, -1.1, -0.4
    return world.state(
        angles=[-np.pi / 2 + way * apart, -np.pi / 2 - way * apart],
        rates=[way * left, way * right],
        base=(place, height + np.cos(apart)),
        base_velocity=(-way * left * np.cos(apart), -left * np.sin(apart)),
    )


def one_step(world, way=1.0, place=0.0, height=0.0, **more):
    """The orbit of one step."""
    asked = {"until": 4.0, "drifts": ["base.x"], "exchange": EXCHANGE} | more
    return carom.find_orbit(world, STEP, pushed_off(world, way, place, height), **asked)


@functools.cache
def three_degrees():
    return one_step(compass(np.deg2rad(3.0)))


def as_legs(orbit, way=1.0):
    """(stance angle, its rate, swing rate) just after the strike, from the slope's normal and forwards."""
    return np.array([way * (orbit.q[3] + np.pi / 2), way * orbit.v[3], way * orbit.v[2]])


# -- the same in two angles --------------------------------------------------------------------------------------------


def step(slope, section):
    """From just after a strike to just after the next, of (stance angle, its rate, swing rate); and the time [s]."""
    stance, rate, swing_rate = section
    flow = functools.partial(_flow, G * np.array([np.sin(slope), -np.cos(slope)]))

    def clearance(t, y):
        return np.cos(y[0]) - np.cos(y[1]) if y[0] < 0.0 else 1.0

    clearance.terminal, clearance.direction = True, -1.0
    found = solve_ivp(flow, (0.0, 3.0), [stance, -stance, rate, swing_rate], "DOP853", None, False, clearance,
                      rtol=3e-14, atol=1e-14)  # fmt: skip
    return _strike(found.y[:, -1]), found.t[-1]


def _flow(weight, t, y):
    s, w, ds, dw = y
    lb = LEG * LENGTH * HALF
    far = (HIP + LEG) * LENGTH**2 + LEG * HALF**2
    mass = np.array([[far, -lb * np.cos(s - w)], [-lb * np.cos(s - w), LEG * HALF**2]])
    arm = (HIP + LEG) * LENGTH + LEG * HALF  # of the stance leg's angle
    pull = np.array([-arm * (weight[0] * np.cos(s) + weight[1] * np.sin(s)),
                     LEG * HALF * (weight[0] * np.cos(w) + weight[1] * np.sin(w))])  # fmt: skip
    spin = lb * np.sin(s - w) * np.array([dw**2, -(ds**2)])
    return np.concatenate([y[2:], np.linalg.solve(mass, pull + spin)])


def _strike(y):
    """The swing foot becomes a hinge: angular momentum about it stays, and that of the other leg about the hip."""
    s, w, ds, dw = y

    def moments(stance, swing, rate, swing_rate, about, trailing):
        """Of the whole about a point, and of one leg about the hip; the stance foot lies in the origin."""
        hip, v_hip = (
            LENGTH * np.array([-np.sin(stance), np.cos(stance)]),
            -LENGTH * rate * np.array([np.cos(stance), np.sin(stance)]),
        )
        mine = (1.0 - HALF / LENGTH) * hip, (1.0 - HALF / LENGTH) * v_hip
        other = (
            hip + HALF * np.array([np.sin(swing), -np.cos(swing)]),
            v_hip + HALF * swing_rate * np.array([np.cos(swing), np.sin(swing)]),
        )
        whole = sum(
            m * _cross(p - about, v) for m, (p, v) in zip((HIP, LEG, LEG), ((hip, v_hip), mine, other), strict=True)
        )
        place, speed = (mine, other)[trailing]
        return np.array([whole, LEG * _cross(place - hip, speed)])

    foot = LENGTH * np.array([np.sin(w) - np.sin(s), 0.0])
    before = moments(s, w, ds, dw, foot, 0)
    after = [moments(w, s, *rates, np.zeros(2), 1) for rates in np.eye(2)]
    return np.array([w, *np.linalg.solve(np.transpose(after), before)])


def _cross(a, b):
    return a[0] * b[1] - a[1] * b[0]
