"""The impact-law notes' examples and practice problems: closed form beside what carom computes.

    .venv/bin/python examples/impact_laws.py

Johnson 2024, lecture notes. Impulses are those on the robot, compressive positive (the notes count them negative).
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

import carom


def line(what: str, closed: float, computed: float, unit: str) -> None:
    print(f"  {what:44} {closed:+16.12f} {computed:+16.12f} {computed - closed:+9.1e}  {unit}")


def dropped_ball() -> None:
    """A ball let go 1 m above the floor, g = 9.8 m/s^2."""
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), 0.5, radius=0.1)
    world = carom.World(ball, contacts=floor, gravity=9.8)
    result = carom.simulate(world, world.state(base=(0.0, 1.1)), until=0.5)
    line("instant of the impact", math.sqrt(2 / 9.8), result.impacts[0].t_start, "s")
    line("impulse", 1.5 * math.sqrt(2 * 9.8), result.impacts[0].normal_impulse, "N s")


def plastic_arm() -> None:
    """Problem 1: the tip of a two-link arm strikes the ground plastically."""
    rod = carom.Rod(length=1.0, mass=1.0)
    arm = carom.Arm([rod, rod], base=(0.0, 0.8))
    q = jnp.array([-0.2, 0.0])
    q = q.at[1].set(-jnp.arcsin(0.8 + jnp.sin(q[0])))  # the tip is on the ground
    v = jnp.array([-1.0, -2.0])
    mass = carom.dynamics.mass_matrix(arm, q)
    row = carom.dynamics.site_jacobian(arm, q, arm.tip)[1:]
    struck = carom.contact.blow(mass, row, v)
    # By hand: M of two uniform rods, and one row of cosines
    c = math.cos(float(q[1] - q[0]))
    m = np.array([[4 / 3, c / 2], [c / 2, 1 / 3]])
    a = np.cos(np.asarray(q))
    push = -(a @ np.asarray(v)) / (a @ np.linalg.solve(m, a))
    after = np.asarray(v) + np.linalg.solve(m, a) * push
    line("impulse", push, float(struck.impulses[0]), "N s")
    for k in range(2):
        line(f"rate of link {k + 1} after", after[k], float(struck.velocity[k]), "rad/s")
    lost = -0.5 * (a @ np.asarray(v)) ** 2 / (a @ np.linalg.solve(m, a))
    line("change of kinetic energy", lost, float(struck.energy_change), "J")


def corner() -> None:
    """Problem 2: a point mass slides along y >= 0 into 3 - x - y >= 0. It stops; dropping the floor would be wrong."""
    struck = carom.contact.blow(2.0 * np.eye(2), [[0.0, 1.0], [-1.0, -1.0]], [1.5, 0.0])
    line("velocity x after", 0.0, float(struck.velocity[0]), "m/s")
    line("velocity y after", 0.0, float(struck.velocity[1]), "m/s")
    line("impulse of the floor, m x'", 2.0 * 1.5, float(struck.impulses[0]), "N s")
    line("impulse of the wall, m x'", 2.0 * 1.5, float(struck.impulses[1]), "N s")


def ball_on_slope(angle: float = 0.4, e: float = 0.6, speed: float = 2.0) -> None:
    """Problem 3: a ball falls on a slope."""
    row = [[-math.sin(angle), math.cos(angle)]]
    struck = carom.contact.blow(np.eye(2), row, [0.0, -speed], e)
    s, c = math.sin(angle), math.cos(angle)
    line("velocity x after, -(1 + e) sin cos z'", -(1 + e) * s * c * speed, float(struck.velocity[0]), "m/s")
    line("velocity z after, (sin^2 - e cos^2) z'", -(s * s - e * c * c) * speed, float(struck.velocity[1]), "m/s")
    line("impulse, (1 + e) m cos |z'|", (1 + e) * c * speed, float(struck.impulses[0]), "N s")


def energies() -> None:
    """Problem 4: energy is kept for e = 1 and never grows for e < 1: -(1 - e^2)/2 v^T (A M^-1 A^T)^-1 v."""
    rng = np.random.default_rng(4)
    root = rng.normal(size=(4, 4))
    mass, rows = root @ root.T + np.eye(4), rng.normal(size=(2, 4))
    inner = np.linalg.inv(rows @ np.linalg.solve(mass, rows.T))
    # A blow in which both contacts push, so that the equality law holds.
    pushes = np.array([1.0, 0.7])
    v = -np.linalg.solve(mass, rows.T @ pushes)
    for e in (1.0, 0.5, 0.0):
        change = carom.contact.blow(mass, rows, v, e).energy_change
        u = rows @ v
        line(f"change of kinetic energy, e = {e:g}", -0.5 * (1 - e * e) * u @ inner @ u, float(change), "J")


def main() -> None:
    print(f"  {'':44} {'closed form':>16} {'carom':>16} {'less':>9}")
    for part in (dropped_ball, plastic_arm, corner, ball_on_slope, energies):
        print((part.__doc__ or "").splitlines()[0])
        part()


if __name__ == "__main__":
    main()
