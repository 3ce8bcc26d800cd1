"""All motions that feet and joints with Coulomb friction allow at an instant: every decision, two linear programs each.

A foot that is down opens, sticks or slides; a joint that rests sticks or gives way. For every choice of all of them the
conditions are linear in accelerations and forces: SciPy says whether they can be met, and how far apart accelerations
are that meet them. Only mass matrix, accelerations without contact, and rows of the feet are carom's.
"""

import itertools
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from scipy.optimize import linprog

from carom import dynamics

SLOW = 1e-7  # of the world's length, or of a radian, per second: it rests
INSIDE = 1e-6  # what holds is that much below its limit: at the limit it is decided what comes next
MOMENT = 1e-6  # [s]
ALIKE = 1e-5  # of the largest acceleration: less is no difference


class Row(NamedTuple):
    """One velocity that friction acts on; of a foot with the normal direction beside it."""

    along: np.ndarray
    rests: bool
    sense: float
    kinetic: float  # mu of a foot, F of a joint
    static: float
    drift: float = 0.0
    up: Any = None  # of a foot
    rise: float = 0.0

    @property
    def choices(self):
        ways = ("stick", -1.0, 1.0) if self.rests else (self.sense,)
        return ways if self.up is None else ("open", *ways)


def undecided(s, world, p, q, v):
    """Is there no motion from (q, v), or are there several? If not here, then a moment later on the only one.

    A foot reaches the state in which sliding feeds its own force at an instant, and there is still one motion at it.
    """
    now = motions(s, world, p, q, v)
    if now is None:  # a blow
        return False
    if len(now) == 1:
        after = motions(s, world, p, q + MOMENT * v, v + MOMENT * now[0])
        return after is not None and len(after) != 1
    return True


def motions(s, world, p, q, v):
    """All accelerations that are possible at (q, v); None at a blow, which is not a matter of accelerations."""
    m, q, v = world.mechanism, jnp.asarray(q), jnp.asarray(v)
    mass = np.asarray(dynamics.mass_matrix(m, q))
    free = np.asarray(dynamics.forward_dynamics(m, q, v, gravity=p["gravity"]))
    feet = feet_down(s, m, p, q, v)
    if feet is None:
        return None
    rows = feet + rubbing_joints(s, p, v)
    choices = itertools.product(*(row.choices for row in rows))
    found = [free + a for chosen in choices for a in accelerations(mass, free, rows, chosen)]
    most, distinct = max([np.max(np.abs(a)) for a in found], default=0.0), []
    for a in found:
        if all(np.max(np.abs(a - b)) > ALIKE * most for b in distinct):
            distinct.append(a)
    return distinct


def feet_down(s, m, p, q, v):
    """Feet that are down and do not rise; None if one comes down."""
    length, out = float(np.max(p["length"])), []
    for k, end in s.feet:
        site = m.site(f"l{k}.tip" if end else f"foot{k}")
        rows, drift = np.asarray(dynamics.site_jacobian(m, q, site)), np.asarray(dynamics.site_bias(m, q, v, site))
        height = float(dynamics.site_position(m, q, site)[1]) - float(p["floor"])
        along, up = rows @ np.asarray(v)
        if abs(height) > 1e-9 * length + 1e-12 * abs(float(p["floor"])) or up > SLOW * length:
            continue
        if up < -SLOW * length:
            return None
        rests = abs(along) < SLOW * length
        out.append(Row(rows[0], rests, float(np.sign(along)), p["mu"], p["static"], drift[0], rows[1], drift[1]))
    return out


def rubbing_joints(s, p, v):
    """Joints with friction: the angle of a link to that which carries its parent, or its displacement."""
    first, out = 2 * s.free, []
    for k, parent in enumerate(s.parents):
        if s.rubs[k]:
            row, unit = np.zeros(len(v)), float(np.max(p["length"])) if s.slides[k] else 1.0
            row[first + k] = 1.0
            if not s.slides[k] and parent >= 0 and s.carriers[parent] >= 0:
                row[first + s.carriers[parent]] = -1.0
            rate = float(row @ v)
            out.append(Row(row, abs(rate) < SLOW * unit, float(np.sign(rate)), p["friction"][k], p["stiction"][k]))
    return out


@dataclass
class Conditions:
    """Of unknowns x: changes of acceleration, forces along rows, normal forces."""

    dof: int
    rows: int
    equal: list = field(default_factory=list)
    below: list = field(default_factory=list)

    def line(self, i, a=0.0, along=0.0, up=0.0):
        out = np.zeros(self.dof + 2 * self.rows)
        out[: self.dof], out[self.dof + i], out[self.dof + self.rows + i] = a, along, up
        return out

    def add(self, i, row, way, free):
        """Those of one row that opens, sticks, or slides a way."""
        moves = self.line(i, a=row.along), -(row.drift + row.along @ free)
        foot = row.up is not None
        if foot:
            rises = self.line(i, a=row.up), -(row.rise + row.up @ free)
            self.below.append((self.line(i, up=-1.0), 0.0))
        if way == "open":
            self.equal += [(self.line(i, along=1.0), 0.0), (self.line(i, up=1.0), 0.0)]
            self.below.append((-rises[0], -rises[1]))
            return
        self.equal.append(rises if foot else (self.line(i, up=1.0), 0.0))
        if way == "stick":
            most = row.static * (1.0 - INSIDE)
            self.equal.append(moves)
            for side in (1.0, -1.0):
                held = (self.line(i, along=side, up=-most), 0.0) if foot else (self.line(i, along=side), most)
                self.below.append(held)
            return
        against = way * row.kinetic
        self.equal.append((self.line(i, along=1.0, up=against), 0.0) if foot else (self.line(i, along=1.0), -against))
        if row.rests:
            self.below.append((-way * moves[0], -way * moves[1]))


def accelerations(mass, free, rows, chosen):
    """Changes of acceleration that meet the conditions of one choice: none, or two as far apart as they can be.

    Rows of the equations of motion are measured by the diagonal of the mass matrix: units do not matter.
    """
    it, n = Conditions(len(free), len(rows)), len(free)
    for i, (row, way) in enumerate(zip(rows, chosen, strict=True)):
        it.add(i, row, way, free)
    motion = np.zeros((n, n + 2 * len(rows)))
    motion[:, :n] = mass
    for i, row in enumerate(rows):
        motion[:, n + i] = -row.along
        motion[:, n + len(rows) + i] = 0.0 if row.up is None else -row.up
    equal = [*((line, 0.0) for line in motion), *it.equal]
    way = np.concatenate([1.0 + np.arange(n) % 3, np.zeros(2 * len(rows))])
    ends = [_solved(sign * way, equal, it.below, np.abs(free).max()) for sign in (1.0, -1.0)]
    return [] if any(end is None for end in ends) else [end[:n] for end in ends]


def _solved(cost, equal, below, size):
    """A solution where `cost` is least; unknowns and rows in units of their own, so that none is lost in another's."""
    (a, b), (c, d) = ((np.array([x for x, _ in part]), np.array([y for _, y in part])) for part in (equal, below))
    n = int(np.count_nonzero(cost))
    unit = np.ones(len(cost))
    unit[:n] = size
    unit[n:] = size * np.max(np.abs(np.diag(a[:n, :n])))
    a, c = a * unit, c * unit
    big_a, big_c = (np.max(np.abs(part), axis=1) for part in (a, c))
    out = linprog(
        cost,
        A_ub=c / big_c[:, None],
        b_ub=d / big_c,
        A_eq=a / big_a[:, None],
        b_eq=b / big_a,
        bounds=[(-1e6, 1e6)] * len(cost),
        method="highs",
    )
    return out.x * unit if out.status == 0 else None
