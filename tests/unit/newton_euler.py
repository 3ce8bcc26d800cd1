"""A second formulation of planar machines, by hand, in NumPy: every body by itself, every joint a constraint.

Coordinates are the centre (x, y) and angle of every body, so the mass matrix is diagonal and constant, and nothing of
carom's is used. M a = f + J^T lambda and J a = gamma are solved as one system, by least squares where joints are
redundant. A force lambda acts on the first body of its joint, its opposite on the second.
"""

import dataclasses

import numpy as np

GROUND = -1


@dataclasses.dataclass(frozen=True)
class Bar:
    """A body: mass [kg], inertia about its centre [kg m^2], centre and joint in its own frame and its parent's [m]."""

    mass: float
    inertia: float
    centre: float  # along its axis
    parent: int = GROUND
    at: tuple[float, float] = (0.0, 0.0)  # where it hangs, in the parent's frame, or in the world


def rod(length, mass=1.0, parent=GROUND, at=(0.0, 0.0)):
    return Bar(mass, mass * length**2 / 12.0, 0.5 * length, parent, at)


@dataclasses.dataclass(frozen=True)
class Joint:
    """Points of two bodies (in their frames, from their origins) stay together, along `along` only if given."""

    first: int
    point: tuple[float, float]
    second: int = GROUND
    other: tuple[float, float] = (0.0, 0.0)
    along: tuple[tuple[float, float], ...] = ((1.0, 0.0), (0.0, 1.0))


def arm(bar, point, angle):
    """From the centre of a body to one of its points, in the world."""
    px, py = point[0] - bar.centre, point[1]
    return np.array([np.cos(angle) * px - np.sin(angle) * py, np.sin(angle) * px + np.cos(angle) * py])


def rows_of(bars, joint, angles, rates):
    """J and gamma of a joint."""
    matrix, drift = np.zeros((2, 3 * len(bars))), np.zeros(2)
    for sign, body, point in ((1.0, joint.first, joint.point), (-1.0, joint.second, joint.other)):
        if body != GROUND:
            x, y = arm(bars[body], point, angles[body])
            matrix[:, 3 * body : 3 * body + 3] += sign * np.array([[1.0, 0.0, -y], [0.0, 1.0, x]])
            drift += sign * rates[body] ** 2 * np.array([x, y])  # centripetal, moved to the right-hand side
    along = np.asarray(joint.along)
    return along @ matrix, along @ drift


def solved(bars, closing, angles, rates, gravity=9.81, loads=()):
    """Angular accelerations of all bodies, and the forces of the `closing` joints.

    Joints of the tree come by themselves. `loads`: (body, point, force) each.
    """
    tree = [Joint(k, (0.0, 0.0), bar.parent, bar.at) for k, bar in enumerate(bars)]
    parts = [rows_of(bars, joint, angles, rates) for joint in (*tree, *closing)]
    matrix, drift = np.concatenate([m for m, _ in parts]), np.concatenate([d for _, d in parts])
    force = np.concatenate([[0.0, -bar.mass * gravity, 0.0] for bar in bars])
    for body, point, push in loads:
        x, y = arm(bars[body], point, angles[body])
        force[3 * body : 3 * body + 3] += [push[0], push[1], x * push[1] - y * push[0]]
    mass = np.diag(np.concatenate([[bar.mass, bar.mass, bar.inertia] for bar in bars]))
    empty = np.zeros((len(matrix), len(matrix)))
    whole = np.block([[mass, -matrix.T], [matrix, empty]])
    found = np.linalg.lstsq(whole, np.concatenate([force, drift]), rcond=1e-12)[0]
    return found[2 : 3 * len(bars) : 3], found[3 * len(bars) + 2 * len(tree) :]


def place(bars, angles, body, point):
    """Where a point of a body is, down the tree."""
    bar = bars[body]
    origin = np.asarray(bar.at) if bar.parent == GROUND else place(bars, angles, bar.parent, bar.at)
    return origin + arm(dataclasses.replace(bar, centre=0.0), point, angles[body])
