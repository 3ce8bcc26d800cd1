"""A softer blow: the posture from which an arm strikes the same point, equally fast, with the least peak force.

        B o                     y = 0      four links of 0.4 m and 1 kg on a fixed base at (0, 0)
           \\ 1
             o                  the angles of links 3 and 4 are free; links 1 and 2 follow, so that the tip is
         2 /                    where it must be
          o--3--o--4--.
    -------------------x----    y = -0.6   floor of steel that yields under the tip, at x = 0.7 m; there the tip
                                           comes by (-1, -2) m/s

    .venv/bin/python examples/softer_blow.py

Gradient descent on two angles. The peak force is that of a run through touch, yield and the turn of the tip, and its
derivative that of the same run, exact through the events (`carom.final_state`); posture and rates at the start and the
targets of the controller all depend on the two angles. Printed: the steps, the derivative beside differences, and the
peak force in the impact table of separate runs of `carom.simulate` for the first and the last posture.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import carom
from carom.hybrid._run import compiler_options

LENGTH, MASS, FLOOR, PLACE = 0.4, 1.0, -0.6, 0.7
SPEED = (-1.0, -2.0)  # [m/s] of the tip
GAP = 1e-4  # [m] between tip and floor at the start of a run
START = (-0.5, -1.2)  # [rad] first angles of links 3 and 4
EVENTS = 3  # touch, yield, peak
ARM = carom.Arm([carom.Rod(length=LENGTH, mass=MASS)] * 4)
STEEL = carom.Material(youngs_modulus=210e9, poisson_ratio=0.29, yield_strength=1.12e9)


def posture(x: Any) -> Any:
    """Angles [rad] of all links with the tip at its place, from those of links 3 and 4: the elbow is above."""
    end = jnp.stack([jnp.asarray(PLACE), jnp.asarray(FLOOR + GAP)])
    wrist = end - LENGTH * jnp.stack([jnp.cos(x[0]) + jnp.cos(x[1]), jnp.sin(x[0]) + jnp.sin(x[1])])
    far, towards = jnp.sqrt(wrist @ wrist), jnp.arctan2(wrist[1], wrist[0])
    half = jnp.arccos(far / (2.0 * LENGTH))
    return jnp.stack([towards + half, towards - half, x[0], x[1]])


def rates(q: Any) -> Any:
    """The smallest rates [rad/s] that give the tip its velocity."""
    J = carom.dynamics.site_jacobian(ARM, q, ARM.tip)
    return J.T @ jnp.linalg.solve(J @ J.T, jnp.asarray(SPEED))


def make_world(x: Any) -> carom.World:
    """Arm, floor, and a controller that holds the posture of the strike."""
    strike = carom.Contact(
        ARM.tip,
        carom.Plane(height=FLOOR),
        normal=carom.JacksonGreen(STEEL, STEEL, radius=0.005),
        friction=carom.SmoothCoulomb(mu=0.5, speed=0.02),
        name="tip",
    )
    hold = carom.PostureControl(ARM, posture(x), kp=[300.0] * 4, kd=[20.0] * 4, compensate_weight=True)
    # The floor is there for the last joint too: a posture that reaches through it would be refused.
    joint = carom.Contact(ARM.site("link3.tip"), carom.Plane(height=FLOOR), normal=carom.Hertz(1e9), name="joint 4")
    return carom.World(ARM, contacts=[strike, joint], control=hold)


def peak_force(x: Any, rtol: Any = 1e-9, reverse_steps: int | None = None) -> Any:
    """Largest normal force [N] of the blow: that at the event at which the tip turns."""
    world, q = make_world(x), posture(x)
    settings = carom.Settings(rtol=rtol, atol=1e-3 * rtol, max_events=EVENTS, ledger=False)
    end = carom.final_state(world, carom.State(q, rates(q)), 0.1, settings=settings, reverse_steps=reverse_steps)
    depth = FLOOR - carom.dynamics.site_position(ARM, jnp.stack(end.y.q), ARM.tip)[1]
    law = world.automata[0].normal
    return law.force(law.phases.index("plastic"), law.touch(0.0), depth, 0.0)


def compiled(function: Any) -> Any:
    return jax.jit(function, compiler_options=compiler_options())


@compiled
def force_and_slope(x: Any, dx: Any) -> tuple[Any, Any]:
    """Peak force and its derivative in one direction: code for one direction after the other compiles faster."""
    return jax.jvp(peak_force, (x,), (dx,))


def differences(x: Any, h: float = 1e-4) -> np.ndarray:
    """The derivatives by central differences of fourth order, from runs at a tight tolerance."""
    run = compiled(lambda x: peak_force(x, rtol=1e-13))
    each = []
    for e in jnp.eye(2):
        coarse, fine = ((run(x + s * e) - run(x - s * e)) / (2.0 * s) for s in (2.0 * h, h))
        each.append(float((4.0 * fine - coarse) / 3.0))
    return np.array(each)


@dataclasses.dataclass(frozen=True)
class Step:
    """One posture on the way."""

    x: np.ndarray  # [rad]
    force: float  # [N]
    slopes: np.ndarray  # [N/rad]


def descend(x: Any = START, steps: int = 12, longest: float = 0.3) -> list[Step]:
    """Quasi-Newton descent (BFGS); no step changes an angle by more than `longest` [rad], none goes uphill."""

    def look(x: np.ndarray) -> Step:
        (value, first), (_, second) = (force_and_slope(jnp.asarray(x), dx) for dx in jnp.eye(2))
        return Step(x, float(value), np.array([first, second]))

    way, inverse = [look(np.asarray(x, dtype=float))], None
    for _ in range(steps):
        here = way[-1]
        go = -here.slopes if inverse is None else -inverse @ here.slopes
        go = go * (longest if inverse is None else min(longest, np.max(np.abs(go)))) / np.max(np.abs(go))
        there = look(here.x + go)
        while not there.force < here.force + 1e-4 * here.slopes @ go and np.max(np.abs(go)) > 1e-9:
            go = 0.5 * go
            there = look(here.x + go)
        inverse = _improved(inverse, there.x - here.x, there.slopes - here.slopes)
        way.append(there)
        if np.max(np.abs(there.slopes)) < 1e-2:
            break
    return way


def _improved(inverse: np.ndarray | None, dx: np.ndarray, dg: np.ndarray) -> np.ndarray | None:
    """BFGS's inverse of the second derivatives; where the valley is not convex the old one stays."""
    if dx @ dg <= 0.0:
        return inverse
    inverse = np.eye(2) * (dx @ dg) / (dg @ dg) if inverse is None else inverse
    shear = np.eye(2) - np.outer(dx, dg) / (dx @ dg)
    return shear @ inverse @ shear.T + np.outer(dx, dx) / (dx @ dg)


def blow(x: Any):
    """The blow in the impact table of a run of its own."""
    q = posture(jnp.asarray(x))
    world = make_world(jnp.asarray(x))
    return carom.simulate(
        world, world.state(angles=q, rates=rates(q)), until=2e-3, settings=carom.Settings(rtol=1e-11, atol=1e-14)
    ).impacts[0]


def main() -> None:
    print(f"{'step':>4} {'link 3 [deg]':>12} {'link 4 [deg]':>12} {'peak force [N]':>14} {'slopes [N/rad]':>21}")
    way = descend()
    for k, s in enumerate(way):
        print(
            f"{k:4} {np.rad2deg(s.x[0]):12.3f} {np.rad2deg(s.x[1]):12.3f} {s.force:14.4f} {s.slopes[0]:10.3f} "
            f"{s.slopes[1]:10.3f}"
        )
    x = jnp.asarray(START)
    print("\nslopes at the start [N/rad]")
    for name, slopes in (
        ("exact", way[0].slopes),
        ("differences", differences(x)),
    ):
        print(f"  {name:13} {slopes[0]:16.7f} {slopes[1]:16.7f}")
    print("\nimpact tables of separate runs")
    for name, step in (("first posture", way[0]), ("last posture", way[-1])):
        i = blow(step.x)
        print(
            f"  {name:13}: peak {i.max_normal_force:9.2f} N ({i.max_normal_force - step.force:+.1e}), impulse "
            f"{i.normal_impulse:.4f} N s, lasts {1e3 * i.duration:.4f} ms, comes by "
            f"({i.tangential_velocity_before:.4f}, {i.normal_velocity_before:.4f}) m/s, leaves by "
            f"{i.normal_velocity_after:.4f} m/s"
        )


if __name__ == "__main__":
    main()
