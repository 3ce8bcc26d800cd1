"""The elastic chain of examples/elastic_chain.py in plain NumPy, and SciPy restarted at every touch and release."""

from __future__ import annotations

import jax
import numpy as np
from scipy.integrate import solve_ivp

UNTIL, RTOL = 1.5, 1e-8
GRAVITY, STIFFNESS, RESTITUTION, MU, SLOW, FAST = 9.81, 1.4e8, 0.8, 0.1, 1e-4, 1e-3  # of examples/elastic_chain.py
LOSS = 1.5 * (1.0 - RESTITUTION) / RESTITUTION
AT_FLOOR = 1e-12  # [m] contacts nearer than this touch together
G = np.array([0.0, -GRAVITY])


class PlainChain:
    """The chain's equations from the modal integrals: link by link, z = (velocity of the joint, rate, modes)."""

    def __init__(self, world) -> None:
        m, n, top = world.mechanism, world.mechanism.numbers, world.mechanism.topology
        self.links, self.dof = range(top.links), m.dof
        self.modes = [np.asarray(top.mode_index(k), dtype=int) for k in self.links]
        self.angle = [top.angle_index(k) for k in self.links]
        self.flex = [jax.tree.map(np.asarray, n.flex[k]) for k in self.links]
        self.mass, self.com, self.tip = np.asarray(n.mass), np.asarray(n.com), np.asarray(n.tip)
        self.about = [float(n.inertia[k]) + self.mass[k] * self.com[k] @ self.com[k] for k in self.links]
        self.reach = [np.asarray(n.site_reach[m.site(f"{top.names[k]}.tip").index].shape) for k in self.links]

    def forward(self, q, v):
        """Joints O1, O2, ...: place, Jacobian, Jacobian's rate times v; and every link's rotation."""
        J = np.zeros((2, self.dof))
        J[0, 0] = J[1, 1] = 1.0
        joints, turns = [(q[:2], J, np.zeros(2))], []
        for k in self.links:
            angle, modes, reach = self.angle[k], self.modes[k], self.reach[k]
            c, s = np.cos(q[angle]), np.sin(q[angle])
            R, w = np.array([[c, -s], [s, c]]), v[angle]
            place, J, drift = joints[-1]
            arm, shapes = R @ (self.tip[k] + reach.T @ q[modes]), R @ reach.T
            bend = shapes @ v[modes]
            J = J.copy()
            J[:, angle] += (-arm[1], arm[0])
            J[:, modes] += shapes
            joints.append((place + arm, J, drift - w * w * arm + 2.0 * w * np.array([-bend[1], bend[0]])))
            turns.append(R)
        return joints, turns

    def link(self, k, R, w, d, dd):
        """Mass matrix of a link in z, and what pushes it there: weight, centrifugal forces, its own elasticity."""
        f, mass = self.flex[k], self.mass[k]
        moment, moving = R @ (mass * self.com[k] + f.first.T @ d), R @ (f.first.T @ dd)
        bent = f.overlap @ d
        local = np.zeros((3 + len(d), 3 + len(d)))
        local[0, 0] = local[1, 1] = mass
        local[2, :2] = local[:2, 2] = (-moment[1], moment[0])
        local[2, 2] = self.about[k] + 2.0 * f.along @ d + d @ bent
        local[:2, 3:] = R @ f.first.T
        local[3:, :2] = local[:2, 3:].T
        local[2, 3:] = local[3:, 2] = f.turning + d @ f.twist
        local[3:, 3:] = f.inertia
        push = np.empty(3 + len(d))
        push[:2] = mass * G + w * w * moment - 2.0 * w * np.array([-moving[1], moving[0]])
        push[2] = moment[0] * G[1] - moment[1] * G[0] - 2.0 * w * (f.along @ dd + dd @ bent)
        push[3:] = (
            f.first @ (R.T @ G) + w * w * (f.along + bent) + 2.0 * w * (f.twist @ dd)
            - f.stiffness @ d - f.damping @ dd
        )  # fmt: skip
        return local, push

    def rates(self, t, y, closed, approach):
        dof = self.dof
        q, v = y[:dof], y[dof:]
        joints, turns = self.forward(q, v)
        M, right = np.zeros((dof, dof)), np.zeros(dof)
        for k in self.links:
            angle, modes = self.angle[k], self.modes[k]
            _, Jp, drift = joints[k]
            local, push = self.link(k, turns[k], v[angle], q[modes], v[modes])
            J = np.zeros((len(push), dof))
            J[:2] = Jp
            J[2, angle] = 1.0
            J[3 + np.arange(len(modes)), modes] = 1.0
            push -= local[:, :2] @ drift
            M += J.T @ local @ J
            right += J.T @ push
        for i, (place, J, _) in enumerate(joints):
            if closed[i] and place[1] < 0.0:
                right += J.T @ floor_force(-place[1], J @ v, approach[i])
        return np.concatenate([v, np.linalg.solve(M, right)])


def floor_force(depth, u, approach):
    """Friction and normal force on a joint that moves with u, so deep in the floor."""
    normal = max(STIFFNESS * depth**1.5 * (1.0 - LOSS * u[1] / approach), 0.0)
    share = min(max((abs(u[0]) - SLOW) / (FAST - SLOW), 0.0), 1.0)
    return np.array([-MU * normal * share * np.sign(u[0]), normal])


def scipy_run(rates, forward, start, method: str, rtol: float = RTOL, until: float = UNTIL):
    """Restarted at every touch and release; returns state, number of touches, of evaluations."""
    q, v = start
    dof, t, y = len(q), 0.0, np.concatenate([q, v])
    count = 4
    closed, approach, touches, calls = np.zeros(count, dtype=bool), np.ones(count), 0, 0
    kept: dict = {"t": None}

    def heights(t, y):
        """Of all joints; events of one instant share it."""
        if kept["t"] != t or not np.array_equal(kept["y"], y):
            joints, _ = forward(y[:dof], y[dof:])
            kept.update(t=t, y=y.copy(), h=np.array([place[1] for place, _, _ in joints]), joints=joints)
        return kept["h"]

    def event(i):
        def value(t, y):
            return heights(t, y)[i] if closed[i] else -heights(t, y)[i]

        value.terminal, value.direction = True, 1.0
        return value

    events = [event(i) for i in range(count)]
    while t < until:
        flow = lambda t, y: rates(t, y, closed, approach)  # noqa: E731
        done = solve_ivp(flow, (t, until), y, method=method, rtol=rtol, atol=1e-3 * rtol, events=events)
        t, y, calls = done.t[-1], done.y[:, -1], calls + done.nfev
        if done.status != 1:
            break
        h = heights(t, y)
        fired = [len(times) > 0 for times in done.t_events]
        for i in range(count):
            speed = kept["joints"][i][1][1] @ y[dof:]
            if closed[i] and fired[i]:
                closed[i] = False
            elif not closed[i] and (fired[i] or h[i] < AT_FLOOR) and speed < 0.0:
                closed[i], approach[i], touches = True, -speed, touches + 1
    return y, touches, calls
