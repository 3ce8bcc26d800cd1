"""A thousand thin things at speed: bars swung at small disks, small balls shot at thin posts. Who passes through?

Until the first touch every motion has a closed form (uniform rotation, parabola). Its first touch is found by
conservative advancement: a gap that changes no faster than L cannot close within gap / L, so steps of that length miss
nothing. Lanes that come closer than 1e-9 m to a graze are left out.
"""

import jax.numpy as jnp
import numpy as np
import pytest

import carom

from .tally import Tally, count_of, log_uniform, run, signs

CLOSE, G = 1e-9, 9.81


def make_bar(p):
    """A bar that turns about its end, and a free disk."""
    rod = carom.Rod(length=1.0, mass=1.0)
    arm = carom.Mechanism([carom.Link(rod, name="bar", sites={"root": (0.0, 0.0)})], base=carom.Fixed())
    disk = carom.Mechanism([carom.Disk(radius=p["disk"], mass=0.01)], base=carom.Free())
    both = carom.side_by_side(arm=arm, disk=disk)
    blade = carom.Segment(both.site("arm.root"), both.site("arm.bar.tip"), radius=p["half"])
    hit = carom.Contact(both.site("disk.link1.tip"), blade, carom.Newton(0.5), radius=p["disk"], name="hit")
    return carom.World(both, contacts=hit, gravity=0.0)


def make_bar_compliant(p):
    rod = carom.Rod(length=1.0, mass=1.0)
    arm = carom.Mechanism([carom.Link(rod, name="bar", sites={"root": (0.0, 0.0)})], base=carom.Fixed())
    disk = carom.Mechanism([carom.Disk(radius=p["disk"], mass=0.01)], base=carom.Free())
    both = carom.side_by_side(arm=arm, disk=disk)
    blade = carom.Segment(both.site("arm.root"), both.site("arm.bar.tip"), radius=p["half"])
    hit = carom.Contact(both.site("disk.link1.tip"), blade, carom.Hertz(1e8), radius=p["disk"], name="hit")
    return carom.World(both, contacts=hit, gravity=0.0)


def make_post(p):
    """A small ball that flies past a thin post."""
    ball = carom.Mechanism([carom.Disk(radius=p["disk"], mass=0.01)], base=carom.Free())
    post = carom.Circle((0.0 * p["half"], 0.0 * p["half"]), jnp.asarray(p["half"]))
    hit = carom.Contact(ball.tip, post, carom.Newton(0.5), radius=p["disk"], name="hit")
    return carom.World(ball, contacts=hit, gravity=G)


def gap_to_bar(s, t):
    angle = s["angle"] + s["turning"] * t
    x, y = s["x"] + s["vx"] * t, s["y"] + s["vy"] * t
    along = np.clip(x * np.cos(angle) + y * np.sin(angle), 0.0, 1.0)
    return np.hypot(x - along * np.cos(angle), y - along * np.sin(angle)) - s["disk"] - s["half"]


def gap_to_post(s, t):
    x, y = s["x"] + s["vx"] * t, s["y"] + s["vy"] * t - 0.5 * G * t * t
    return np.hypot(x, y) - s["disk"] - s["half"]


def first_touch(gap, s, fastest, until):
    """(instant, is it clear) of every lane; the instant is infinite where nothing is touched."""
    lanes = len(s["x"])
    t, hit, clear, live = np.zeros(lanes), np.zeros(lanes, bool), np.ones(lanes, bool), np.arange(lanes)
    closest = np.full(lanes, np.inf)
    for _ in range(200_000):
        own = {k: x[live] for k, x in s.items()}
        g = gap(own, t[live])
        hit[live] |= g <= 0.0
        closest[live] = np.minimum(closest[live], g)
        t[live] += np.where(g > 0.0, np.maximum(g, 0.1 * CLOSE) / fastest[live], 0.0)
        live = live[(g > 0.0) & (t[live] < until)]
        if not live.size:
            break
    clear[live] = False  # hours along a graze
    # How deep would it go if nothing were in the way? A touch that is no deeper than CLOSE is a graze.
    ahead = t[:, None] + np.linspace(0.0, 1e-4, 201)
    deep = gap({k: x[:, None] for k, x in s.items()}, ahead).min(axis=1)
    clear &= np.where(hit, deep < -CLOSE, closest > CLOSE)
    return np.where(hit, t, np.inf), clear


def swung(rng, lanes):
    """Disks that stand or fly about the bar's circle; the bar makes up to two turns."""
    far, where = rng.uniform(0.2, 1.3, lanes), rng.uniform(0.0, 2.0 * np.pi, lanes)
    speed = log_uniform(rng, 0.01, 10.0, lanes) * (rng.uniform(size=lanes) > 0.3)
    way = rng.uniform(0.0, 2.0 * np.pi, lanes)
    return {
        "half": rng.uniform(1e-3, 1e-2, lanes),
        "disk": rng.uniform(1e-3, 1e-2, lanes),
        "x": far * np.cos(where),
        "y": far * np.sin(where),
        "vx": speed * np.cos(way),
        "vy": speed * np.sin(way),
        "angle": rng.uniform(0.0, 2.0 * np.pi, lanes),
        "turning": signs(rng, lanes) * rng.uniform(1.0, 30.0, lanes),
    }


def shot(rng, lanes):
    """Balls of a tenth of a millimetre to a centimetre, aimed at a post of like size, at up to 300 m/s."""
    size = log_uniform(rng, 1e-4, 1e-2, (2, lanes))
    far, way, speed = (
        rng.uniform(0.1, 2.0, lanes),
        rng.uniform(0.0, 2.0 * np.pi, lanes),
        log_uniform(rng, 3.0, 300.0, lanes),
    )
    aside, late = rng.uniform(-1.5, 1.5, lanes) * size.sum(axis=0), far / speed
    return {
        "half": size[0],
        "disk": size[1],
        "x": -far * np.cos(way) - aside * np.sin(way),
        "y": -far * np.sin(way) + aside * np.cos(way),
        "vx": speed * np.cos(way),
        "vy": speed * np.sin(way) + 0.5 * G * late,  # aimed, so that the drop does not take it away
    }


def judged(tally, make, gap, s, until, arm):
    lanes = len(s["x"])
    base, velocity = np.stack([s["x"], s["y"]], axis=1), np.stack([s["vx"], s["vy"]], axis=1)
    zero = np.zeros(lanes)
    angles = np.stack([s["angle"], zero], axis=1) if arm else zero[:, None]
    rates = np.stack([s["turning"], zero], axis=1) if arm else zero[:, None]
    fastest = 1e-9 + np.hypot(s["vx"], s["vy"]) + (np.abs(s["turning"]) * 1.5 + 15.0 * arm if arm else G * until)
    instant, clear = first_touch(gap, s, fastest, until)
    clear &= gap(s, 0.0) > 1e-6  # it must not begin inside
    clear &= np.abs(instant - until) > 1e-6
    p = {k: s[k] for k in ("half", "disk")}
    where = {"rates": rates, "base": base, "base_velocity": velocity}
    ends = run(make, p, angles, until, **where, max_events=1, max_steps=50_000)
    touched = np.isfinite(instant) & (instant < until)
    late = np.abs(ends.t - np.where(touched, instant, until))
    right = (ends.events == touched) & (late < 1e-6)  # a shallow touch has an instant to sqrt(1e-10 / curvature)

    def note(lane):
        word = f"touches at {instant[lane]:.9g} s" if touched[lane] else "passes"
        return f"{word}; " + ", ".join(f"{k} {float(x[lane]):.5g}" for k, x in s.items())

    tally.add(ends, right, True, note, clear)


@pytest.mark.slow
@pytest.mark.parametrize("make", [make_bar, make_bar_compliant])
def test_bars_swung_at_small_disks(make):
    rng, tally = np.random.default_rng(4), Tally("posts, bar" + (" (Hertz)" if make is make_bar_compliant else ""))
    judged(tally, make, gap_to_bar, swung(rng, count_of(350, 50)), 0.4, 1)
    tally.close()


@pytest.mark.slow
def test_the_bar_at_11_8_radians_per_second():
    """A bar of 7 mm, and a hundred and twenty small disks that fly past."""
    rng, tally, lanes = np.random.default_rng(44), Tally("posts, 11.8 rad/s"), 120
    s = swung(rng, lanes)
    s |= {"half": np.full(lanes, 3.5e-3), "disk": np.full(lanes, 5e-3), "turning": np.full(lanes, 11.8)}
    judged(tally, make_bar, gap_to_bar, s, 0.6, 1)
    tally.close()


@pytest.mark.slow
def test_balls_shot_at_thin_posts():
    rng, tally = np.random.default_rng(45), Tally("posts, shot")
    judged(tally, make_post, gap_to_post, shot(rng, count_of(300, 50)), 0.1, 0)
    tally.close()
