"""A driven mass between two stops: basins of its attractors, Lyapunov exponents, and how rough the borders are.

    x'' + 2 z x' + x = a cos(w t),   |x| <= 1,   x'+ = -e x'- at both stops

A mass of 1 kg on a spring of 1 N/m, with two rigid stops. Mirrored, half a period later, the system is the same, so
that motions which are not symmetric come in pairs, and starts between them go to one or the other.

    python -m examples.impact_oscillator                                  # 64 x 64 starts
    python -m examples.impact_oscillator --starts 500 1000 --out basins   # 250,000 and 1,000,000: for a GPU
"""

import argparse
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import carom

DAMPING, AMPLITUDE, FREQUENCY, RESTITUTION = 0.05, 4.0, 2.0, 0.85
SETTLED, KEPT = 60, 8  # periods of the drive
FAST = 6.0  # [m/s] of the starts
QUICK = carom.Settings(rtol=1e-8, atol=1e-10, ledger=False)

mass = carom.Mechanism(
    [carom.Link(carom.PointMass(1.0), name="mass", joint=carom.Slider((1.0, 0.0), stiffness=1.0, damping=2 * DAMPING))]
)


def rates(scene, x, p):
    """The angle of what drives it."""
    return {"angle": p["frequency"]}


def forces(scene, x, p):
    return {"mass": p["amplitude"] * jnp.cos(x["angle"])}


def oscillator(frequency, amplitude=AMPLITUDE, restitution=RESTITUTION):
    """The world; the drive starts at its largest force."""
    drive = carom.ExtraStates(
        {"angle": 0.0}, rates, forces, {"frequency": frequency, "amplitude": amplitude}, name="drive"
    )
    stops = [
        carom.Contact(carom.JointLimit(mass, "mass", **{side: place}), None, carom.Newton(restitution), name=name)
        for name, side, place in (("left", "lower", -1.0), ("right", "upper", 1.0))
    ]
    return carom.World(mass, contacts=stops, elements=drive, gravity=0.0)


def driven(p):
    """The same for every start; what a lane has of its own is where it starts."""
    return oscillator(FREQUENCY)


def basins(across):
    """Places and speeds of so many starts in a row, their attractors, and the end of the batch."""
    x, v = np.linspace(-1.0, 1.0, across + 2)[1:-1], np.linspace(-FAST, FAST, across)
    places, speeds = (each.ravel() for each in np.meshgrid(x, v))
    period = 2 * np.pi / FREQUENCY
    last = period * np.arange(SETTLED, SETTLED + KEPT)
    world = driven(0.0)
    start = world.state(slides=places[:, None], slide_rates=speeds[:, None])
    ends = carom.batch(driven, np.zeros(across**2), start, until=last[-1], settings=QUICK, times=last, throw=False)
    found = carom.attractors(np.concatenate([ends.at["q"], ends.at["v"]], axis=-1), near=1e-4)
    return x, v, found, ends


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, nargs="+", default=[64], help="how many in a row, and in a column")
    parser.add_argument("--out", type=Path, help="pictures are written to OUT-64.png, ...")
    asked = parser.parse_args(arguments)
    for across in asked.starts:
        x, v, found, ends = basins(across)
        labels = found.labels.reshape(across, across)
        print(f"{across} x {across} starts: {ends.made}")
        print(found)
        print(carom.box_dimension(labels))
        if asked.out is not None:
            picture = carom.figures.basins(x, v, labels, names=("x at the start [m]", "x' at the start [m/s]"))
            picture.savefig(f"{asked.out}-{across}.png")
    world = driven(0.0)
    for attractor in found.found:
        place, speed = attractor.points[0]
        motion = world.state(slides=[place], slide_rates=[speed])
        until = 2 * np.pi / FREQUENCY * 60
        print(carom.lyapunov(world, motion, until=until, every=until / 60, discard=until / 3))


if __name__ == "__main__":
    main()
