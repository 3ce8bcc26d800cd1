"""Chains on surfaces, and their torques by Newton and Euler's equations written out link by link, in NumPy."""

import numpy as np

import carom
from carom.contact import ContactInverse

G = 9.81


# -- an independent solution -------------------------------------------------------------------------------------------


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def turned(angle, p):
    return np.array([np.cos(angle) * p[0] - np.sin(angle) * p[1], np.sin(angle) * p[0] + np.cos(angle) * p[1]])


def newton_euler(links, q, v, a, gravity, tip_force):
    """Joint torques and the force of the base on the first link, from the tip inwards; links are (m, I, com, tip)."""
    places, pulls, where, speedup = [], [], np.zeros(2), np.zeros(2)
    for (_, _, com, tip), angle, rate, turn in zip(links, q, v, a, strict=True):
        c, r = turned(angle, com), turned(angle, tip)
        places.append((where, where + c, where + r))
        pulls.append(speedup + turn * np.array([-c[1], c[0]]) - rate**2 * c)
        where, speedup = where + r, speedup + turn * np.array([-r[1], r[0]]) - rate**2 * r
    force, torque, torques = np.asarray(tip_force), 0.0, []
    for (m, inertia, _, _), (joint, centre, end), pull, turn in reversed(
        list(zip(links, places, pulls, a, strict=True))
    ):
        # `force` and `torque` act at the link's end: of the surface, or the reaction of the next link
        own = m * pull - m * gravity - force
        own_torque = inertia * turn - cross(joint - centre, own) - cross(end - centre, force) - torque
        torques.append(own_torque)
        force, torque = -own, -own_torque
    return np.array(torques[::-1]), -force


def solved(links, q, v, a, gravity, direction, passive):
    """Torques, normal force and force of the base on link 1; torques are linear in the normal force."""
    still, base0 = newton_euler(links, q, v, a, gravity, np.zeros(2))
    zero = np.zeros(len(q))
    unit, base1 = newton_euler(links, q, zero, zero, np.zeros(2), direction)
    normal = -still[passive] / unit[passive]
    return still + normal * unit, normal, base0 + normal * base1


# -- random chains on surfaces -----------------------------------------------------------------------------------------


def random_links(rng, count):
    for _ in range(count):
        length = rng.uniform(0.3, 1.0)
        com = (rng.uniform(0.2, 0.8) * length, rng.uniform(-0.1, 0.1))
        yield rng.uniform(0.3, 2.0), rng.uniform(0.01, 0.1), np.array(com), np.array([length, rng.uniform(-0.1, 0.1)])


def chain(links, base=None):
    bodies = [carom.Body(mass=m, inertia=i, com=tuple(c), tip=tuple(t)) for m, i, c, t in links]
    first = carom.Link(bodies[0], sites={"foot": (0.0, 0.0)})
    return carom.Mechanism([first, *bodies[1:]], base=base)


# -- an arm on a surface -----------------------------------------------------------------------------------------------


def arm_on(surface, mu=0.4, links=3):
    arm = carom.Arm([carom.Rod(length=0.5, mass=1.0)] * links, base=(0.0, 0.2))
    tip = carom.Contact(arm.tip, surface, 0.0, carom.Coulomb(mu), name="tip")
    return ContactInverse(arm, tip, passive=[f"link{links}"])
