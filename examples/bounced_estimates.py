"""A Kalman filter follows a bouncing ball: the pictures of docs/estimation.md.

.venv/bin/python -m examples.bounced_estimates docs/img

One sensor of 0.05 m; unknown forces of 0.1 N. The filter that carries its covariance by saltation is compared with the
plain extended one on the same readings.
"""

import sys
from pathlib import Path

import numpy as np

import carom

DT, STEPS, NOISE, PUSH, GUESS = 0.02, 60, 0.05, 0.1, np.array([0.02, 0.1])


def bouncing_ball(restitution=0.7):
    """1 kg on a vertical guide above a floor."""
    guide = carom.Slider((0.0, 1.0))
    ball = carom.Mechanism([carom.Link(carom.PointMass(1.0), name="ball", joint=guide)])
    floor = carom.Contact("ball.tip", carom.Plane(0.0), carom.Newton(restitution), name="floor")
    return carom.World(ball, contacts=floor, gravity=9.81)


def swinging_rod(restitution=0.8):
    """A rod of 1 m that gravity swings against a wall, which it meets well before it hangs."""
    rod = carom.Mechanism([carom.Link(carom.Rod(1.0, 1.0), name="rod")], base=carom.Fixed())
    wall = carom.Contact("rod.tip", carom.Wall(-0.6, facing="left"), carom.Newton(restitution), name="wall")
    return carom.World(rod, contacts=wall, gravity=9.81)


def noisy_runs(stepping, start, guess, push, steps, count, seed=1):
    """True motions from starts that differ by `guess` under unknown forces of `push`."""
    rng, true = np.random.default_rng(seed), []
    middle, n = np.concatenate([start.q, start.v]), start.q.shape[0]
    for _ in range(count):
        x = middle + np.asarray(guess) * rng.normal(size=2 * n)
        begun = stepping.begin(carom.State(x[:n], x[n:]))
        true.append(stepping.rollout(begun, push * rng.normal(size=(steps, stepping.inputs))))
    return true, rng


def compared(count=1, seed=1):
    """Estimates of the same runs of the ball by both filters, with saltation first."""
    world = bouncing_ball()
    stepping, start = carom.Stepping(world, "ball", DT), world.state(slides=[0.5])
    true, rng = noisy_runs(stepping, start, GUESS, PUSH, STEPS, count, seed)
    readings = np.stack([run.x[:, :1] for run in true])
    readings = readings + NOISE * rng.normal(size=readings.shape)
    filters = [
        carom.KalmanFilter(stepping, ["ball.tip.y"], [NOISE], input_noise=[PUSH], saltation=salted)
        for salted in (True, False)
    ]
    return readings, [each.run(start, GUESS, readings, truth=true) for each in filters]


def draw(folder):
    """Both pictures."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, found = compared()
    figure, axes = plt.subplots(2, 1, figsize=(7.0, 4.6), sharex=True, layout="constrained")
    for axis, each, name in zip(axes, found, ("with saltation", "plain extended filter"), strict=True):
        t, band = each.t, 2.0 * each.band[0, :, 1]
        error = np.where(each.alike[0], each.errors[0, :, 1], np.nan)
        axis.fill_between(t, -band, band, alpha=0.3, label="two standard deviations")
        axis.plot(t, error, ".-", markersize=3, label="error")
        for k in np.flatnonzero(np.diff(each.true_events[0])):
            axis.axvline(0.5 * (t[k] + t[k + 1]), color="k", linewidth=0.6, linestyle=":")
        axis.set(ylabel="velocity [m/s]", title=name, ylim=(-0.3, 0.3))
    axes[0].legend(fontsize=8)
    axes[1].set_xlabel("time [s]")
    figure.savefig(Path(folder) / "estimation.png", dpi=110)
    _, found = compared(200)
    figure, axis = plt.subplots(figsize=(7.0, 3.0), layout="constrained")
    for each, name in zip(found, ("with saltation", "plain extended filter"), strict=True):
        mean = [np.mean(each.nees[each.alike[:, k], k]) for k in range(len(each.t))]
        axis.semilogy(each.t, mean, label=name)
    axis.axhline(2.0, color="k", linewidth=0.8, label="dimension")
    axis.set(xlabel="time [s]", ylabel="mean normalised error squared [1]")
    axis.legend(fontsize=8)
    figure.savefig(Path(folder) / "estimation-nees.png", dpi=110)


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else ".")
