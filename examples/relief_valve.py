"""A relief valve that chatters: a pressure of its own opens the disk, and the seat throws it back.

    y1' = y2,   y2' = -1.25 y2 - (y1 + 10) + y3,   y3' = 20 (q - y1 sqrt(y3)),   y2+ = -0.8 y2- at y1 = 0

y1 is the lift of the disk, y3 the pressure below it, q the flow that enters the chamber; all without units (C. Hos and
A. R. Champneys, Physica D 2012, 241, 2068-2076). The disk is a unit mass that slides on a spring, with a rigid stop
where it sits; the pressure is a `carom.ExtraStates`.

    python -m examples.relief_valve
"""

import jax.numpy as jnp
import numpy as np

import carom

DAMPING, PRELOAD, COMPRESSIBILITY, RESTITUTION = 1.25, 10.0, 20.0, 0.8
TIGHT = carom.Settings(solver="dopri8", rtol=1e-12, atol=1e-12)

guide = carom.Slider((1.0, 0.0), stiffness=1.0, damping=DAMPING)
disk = carom.Mechanism([carom.Link(carom.PointMass(1.0), name="disk", joint=guide)])


def rates(scene, x, p):
    """What flows in compresses the fluid; what flows out grows with the lift."""
    lift, pressure = scene.q[0], x["pressure"]
    return {"pressure": COMPRESSIBILITY * (p["flow"] - lift * jnp.sqrt(pressure))}


def forces(scene, x, p):
    """Pressure against the spring's preload, along the axis."""
    return {"disk": x["pressure"] - PRELOAD}


def valve(flow):
    """The valve with this flow."""
    chamber = carom.ExtraStates({"pressure": 0.0}, rates, forces, {"flow": flow}, name="chamber")
    closed = carom.JointLimit(disk, "disk", lower=0.0)
    seat = carom.Contact(closed, None, carom.Newton(RESTITUTION), name="seat")
    return carom.World(disk, contacts=seat, elements=chamber, gravity=0.0)


def start(world, lift=0.2):
    """Open by so much, at rest, without pressure."""
    return world.state(slides=[lift])


def run(flow, until=250.0):
    world = valve(flow)
    return carom.simulate(world, start(world), until=until, settings=TIGHT)


def tops(result, last=9):
    """Instants and lifts where the disk turns back to the seat, the last few of a run."""
    section = carom.poincare(result, lambda t, q, v: v[0], direction=-1)
    return section.t[-last:], section.q[-last:, 0]


def main():
    print("flow   highest lifts               period")
    for flow in (3.0, 5.0, 6.0):
        t, lift = tops(run(flow))
        print(f"{flow:4g}   {lift[-1]:.10f} {lift[-2]:.10f}   {np.mean(np.diff(t)):.10f}")


if __name__ == "__main__":
    main()
