"""A paddle that throws a ball, unstable, and the same with feedback: the picture of docs/estimation.md.

.venv/bin/python -m examples.steady_juggler docs/img
"""

import sys
from pathlib import Path

import numpy as np

import carom

HIT = ("rigid contacts", "strike hit")


def juggler():
    """A paddle of 5 kg on a spring, pushed up 0.45 s after each strike, under a ball of 0.2 kg."""
    spring = carom.Slider((0.0, 1.0), stiffness=300.0, damping=30.0)
    sites = {"left": (-0.2, 0.0), "right": (0.2, 0.0)}
    paddle = carom.Link(carom.PointMass(5.0), name="paddle", joint=spring, sites=sites)
    ball = carom.Link(carom.PointMass(0.2), name="ball", parent=carom.BASE, joint=carom.Slider((0.0, 1.0)))
    pair = carom.Mechanism([paddle, ball])
    hit = carom.Contact("ball.tip", carom.Segment("left", "right"), carom.Newton(0.7), radius=0.02, name="hit")
    push = carom.PhasedInputs(pair, "paddle", "strike hit", [0.0, 0.45], [[0.0], [100.0]], name="push")
    return carom.World(pair, contacts=hit, control=push, gravity=9.81)


def juggled(world):
    """Its periodic motion."""
    start = world.state(slides=[-0.1635, -0.1434], slide_rates=[0.3, 3.5])
    return carom.find_orbit(world, HIT, start, until=1.5)


def flights(world, start, kick, until):
    """Durations [s] of the flights between strikes, from a throw that is `kick` [m/s] too fast."""
    begun = carom.State(start.q, start.v + np.array([0.0, kick]))
    run = carom.simulate(world, begun, until=until)
    return np.diff([0.0, *(event.t for event in run.events if event.exit == HIT[1])])


def draw(folder):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    world = juggler()
    orbit = juggled(world)
    held = carom.stabilise(world, orbit, "paddle", input_cost=1e-2, steps=10)
    figure, axis = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
    for each, kick, name in (
        (world, 0.02, "without feedback, 0.02 m/s too fast"),
        (held.world, 0.02, "with feedback, 0.02 m/s too fast"),
        (held.world, 2.0, "with feedback, 2 m/s too fast"),
    ):
        off = np.abs(flights(each, held.start, kick, 9.0) - held.period)
        axis.semilogy(np.arange(1, len(off) + 1), np.maximum(off, 1e-9), "o-", markersize=3, label=name)
    axis.set(xlabel="flight [1]", ylabel="duration off the orbit's [s]")
    axis.legend(fontsize=8)
    figure.savefig(Path(folder) / "stabilised.png", dpi=110)


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else ".")
