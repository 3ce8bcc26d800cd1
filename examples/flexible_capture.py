"""A free-floating arm with elastic links captures a disk: what the space-capture thesis announced and never wrote.

             (1, 8) O    object: disk, 15 kg, r = 1 m, moves by (-1, 0) m/s
             (1, 7) x    contact point, on the disk's rim at gamma = 0.5 rad
                    )    link 2: 3 m, 10 kg     beams clamped in their joints, straight and at rest before the blow
                    o
                    (    link 1: 2 m, 10 kg
             (1, 2) B    base: disk, 100 kg, r = 1 m; joint 1 at its centre

    .venv/bin/python examples/flexible_capture.py

prints velocities, momenta and energies of plastic captures (point, weld, point then weld) and of an elastic blow, where
the energy goes, and the free motion of arm and object afterwards, beside the arm with rigid links. Masses and places
are the thesis's (examples/space_capture.py); section, modes and damping (none) are a choice made here.

The blow itself does not see the stiffness, only the shapes of the modes: the more of them, the lighter the arm's end
is to the object. What the stiffness decides is how the energy in the modes rings on.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import carom
from carom.captures import comparison
from carom.captures._grip import grip_rows
from examples.space_capture import GRIP, HAND, meeting

KINDS = {  # name: kind, restitution
    "point": ("point", 0.0),
    "weld": ("weld", 0.0),
    "point-then-weld": ("point-then-weld", 0.0),
    "elastic": ("point", 1.0),
}


def beam(length: float, modes: int) -> carom.Beam:
    """10 kg of an aluminium section."""
    section = carom.beam.Section(area=1.6e-3, second_moment=2e-7, mass_per_length=10.0 / length, youngs_modulus=7e10)
    return carom.Beam(length, section, ("clamped", "free"), modes, theory="euler-bernoulli")


def captures(modes: int = 2) -> dict[str, carom.Capture]:
    """Simulation 1 of the thesis with elastic links; without modes, with rigid ones."""
    m = meeting(1, [beam(2.0, modes), beam(3.0, modes)] if modes else None)
    given = (m.mechanism, HAND, GRIP, m.state)
    return {name: carom.capture(*given, kind=kind, restitution=e) for name, (kind, e) in KINDS.items()}


@dataclasses.dataclass(frozen=True)
class Account:
    """Where the kinetic energy [J] of a blow goes."""

    before: float
    rigid: float  # in the motion of arm and object after it, as if nothing bent
    modes: float  # in vibration
    lost: float
    momentum: float  # largest part that came from nowhere [kg m/s, kg m^2/s]


def account(c: carom.Capture) -> Account:
    ringing = float(carom.dynamics.vibration_energy(c.mechanism, c.q, c.after))
    return Account(
        before=float(c.energy_before),
        rigid=float(c.energy_after) - ringing,
        modes=ringing,
        lost=float(c.energy_lost),
        momentum=float(np.max(np.abs(c.momentum_error))),
    )


def loss_by_blocks(c: carom.Capture) -> float:
    """(1 - e^2)/2 u^T (A M^-1 A^T)^-1 u [J]: what the rows A with the closing velocity u = A v cost."""
    m = c.mechanism
    M = np.asarray(carom.dynamics.mass_matrix(m, c.q))
    A = np.asarray(grip_rows(m, c.q, c.hand, c.grip))[: 2 if c.kind == "point" else 3]
    u = A @ np.asarray(c.before)
    return 0.5 * (1.0 - float(c.restitution) ** 2) * float(u @ np.linalg.solve(A @ np.linalg.solve(M, A.T), u))


def free_motion(c: carom.Capture, until: float = 5.0, solver: str = "dopri8", rtol: float = 1e-11):
    """Arm and object as one mechanism, left alone."""
    after = carom.after_capture(c)
    world = carom.World(after.mechanism, gravity=0.0)
    return carom.simulate(world, after.state, until=until, settings=carom.Settings(solver, rtol, 1e-2 * rtol))


def tip_deflections(run) -> dict[str, float]:
    """Largest deflection [m] of the end of every elastic link, from its axis."""
    m, out = run.world.mechanism, {}
    for name, count in zip(m.topology.names, m.topology.modes, strict=True):
        if count:
            shapes = np.asarray(m.numbers.site_reach[m.site(f"{name}.tip").index].shape)[:, 1]
            which = list(m.topology.mode_index(m.topology.link(name)))
            out[name] = float(np.max(np.abs(run.q[:, which] @ shapes)))
    return out


def main() -> None:
    found = captures()
    print(comparison(found), "\n")
    print(
        f"{'':24} {'before':>8} {'as if rigid':>11} {'in modes':>9} {'lost':>9} {'by block formula':>17} [J]   "
        "momentum from nowhere"
    )
    for modes in (0, 1, 2):
        for name, c in captures(modes).items():
            a = account(c)
            label = f"{name}, {modes} modes" if modes else f"{name}, rigid"
            print(
                f"{label:24} {a.before:8.4f} {a.rigid:11.6f} {a.modes:9.6f} {a.lost:9.6f} {loss_by_blocks(c):17.6f} "
                f"{'':5} {a.momentum:.1e}"
            )
    print()
    for name in ("point", "weld"):
        run = free_motion(found[name])
        bends = ", ".join(f"{link} {1e3 * d:.1f} mm" for link, d in tip_deflections(run).items())
        print(
            f"{run.t[-1]:g} s of free motion after '{name}': momentum drifts by {run.momentum.linear_drift:.1e} kg m/s "
            f"and {run.momentum.angular_drift:.1e} kg m^2/s, energy by {run.energy.max_error_percent:.1e} %; ends "
            f"deflect by up to {bends}"
        )


if __name__ == "__main__":
    main()
