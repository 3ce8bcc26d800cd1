"""One ball, a hundred thousand elastic impacts: in a box against the unfolded straight line, in a circle on its chords.

Every impact may lose the last bits of a place and of its instant; the bounds add those up.
"""

import numpy as np
import pytest

import carom

from .tally import SHARE, Tally, U, run

PI = np.longdouble(np.pi) + 1.2246467991473532e-16  # in longer numbers
RADIUS, IMPACTS = 0.1, round(1e5 * min(1.0, 10 * SHARE))


def make_box(p):
    ball = carom.Mechanism([carom.Disk(radius=RADIUS, mass=1.0)], base=carom.Free())
    walls = {
        "left": carom.Wall(0.0 * p["wide"], facing="right"),
        "right": carom.Wall(p["wide"], facing="left"),
        "floor": carom.Plane(height=0.0),
        "ceiling": carom.Plane(point=(0.0, p["high"]), normal=(0.0, -1.0)),
    }
    contacts = [
        carom.Contact(ball.tip, wall, carom.Newton(1.0), radius=RADIUS, name=name) for name, wall in walls.items()
    ]
    return carom.World(ball, contacts=[*contacts], gravity=0.0)


def make_circle(p):
    ball = carom.Mechanism([carom.Disk(radius=RADIUS, mass=1.0)], base=carom.Free())
    rim = carom.Circle((0.0, 0.0), p["rim"], inside=True)
    contact = carom.Contact(ball.tip, rim, carom.Newton(1.0), radius=RADIUS, name="rim")
    return carom.World(ball, contacts=contact, gravity=0.0)


def folded(start, speed, size, t):
    """(place, velocity, walls met) of a ball between 0 and size."""
    way = np.longdouble(start) + np.longdouble(speed) * np.longdouble(t)
    cell = np.floor(way / size)
    inside = way - cell * size
    back = cell % 2 == 1
    return np.where(back, size - inside, inside).astype(float), np.where(back, -speed, speed), np.abs(cell)


def added_up(impacts, size, speed, until):
    """Every impact may shift what follows by the last bits of a place, and of its instant.

    A landing is half a width late, 2 U t (docs/events.md), and the reflection doubles what that moves the ball.
    """
    return impacts * (4.0 * np.spacing(size) + 2.0 * speed * 2.0 * U * until)


@pytest.mark.slow
def test_a_box():
    rng, tally, lanes = np.random.default_rng(8), Tally("billiards, box"), 8
    p = {"wide": rng.uniform(1.0, 3.0, lanes), "high": rng.uniform(1.0, 3.0, lanes)}
    room = np.stack([p["wide"], p["high"]]) - 2.0 * RADIUS
    start, speed = rng.uniform(0.2, 0.8, (2, lanes)) * room, rng.uniform(0.5, 3.0, (2, lanes))
    rate = np.min(np.sum(speed / room, axis=0))  # impacts per second of the laziest
    until = IMPACTS / rate
    ends = run(
        make_box,
        p,
        np.zeros((lanes, 1)),
        until,
        base=(start + RADIUS).T,
        base_velocity=speed.T,
        max_steps=30 * IMPACTS,
        size=lanes,
    )
    place, velocity, met = folded(start, speed, room, until)
    bound = added_up(np.sum(met, axis=0), np.max(room, axis=0), np.max(speed, axis=0), until)
    off = np.max(np.abs(ends.q[:, :2].T - RADIUS - place), axis=0)
    edge = np.min(np.minimum(place, room - place), axis=0) > 2.0 * bound  # not in the middle of an impact
    energy = np.abs(np.sum(ends.v[:, :2] ** 2, axis=1) / np.sum(speed**2, axis=0) - 1.0)
    turned = np.max(np.abs(ends.v[:, :2].T - velocity), axis=0)
    right = (off < bound) & (turned < 1e-9) & (energy < 1e-12) & (ends.events == np.sum(met, axis=0))

    def note(i):
        count = f"{ends.events[i]} of {int(np.sum(met[:, i]))} impacts"
        return f"{count}, off by {off[i]:.3g} of {bound[i]:.3g} m, {energy[i]:.3g}"

    tally.add(ends, right, off < room.max(), note, edge)
    tally.close()


def on_chords(start, velocity, room, t):
    """(place, impacts, part of the last chord): chords of a circle of radius `room`, each turned by the same angle."""
    x, u = start.astype(np.longdouble), velocity.astype(np.longdouble)
    speed = np.sqrt(np.sum(u**2, axis=0))
    b = np.sum(x * u, axis=0)
    first = (-b + np.sqrt(b**2 + speed**2 * (room**2 - np.sum(x**2, axis=0)))) / speed**2
    at = x + u * first
    normal = np.sum(at * u, axis=0) / (room * speed)  # cosine of the incidence
    chord, turn = 2.0 * room * normal / speed, PI - 2.0 * np.arccos(normal)
    met = 1.0 + np.floor((t - first) / chord)
    since = t - first - (met - 1.0) * chord
    sense = np.sign(x[0] * u[1] - x[1] * u[0])
    angle = np.arctan2(at[1], at[0]) + sense * turn * (met - 1.0)
    heading = angle + sense * (PI - np.arccos(normal))  # back inside, mirrored at the normal
    place = room * np.stack([np.cos(angle), np.sin(angle)])
    place = place + speed * since * np.stack([np.cos(heading), np.sin(heading)])
    return place.astype(float), met.astype(float), (since / chord).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("impacts", [100, 10_000, IMPACTS])
def test_a_circle(impacts):
    """Rounding of each chord adds up twice, in the angle and in the places that it leads to: n^2 last bits at worst."""
    rng, tally, lanes = np.random.default_rng(88), Tally(f"billiards, circle {impacts}"), 8
    p = {"rim": rng.uniform(0.8, 2.0, lanes)}
    room = p["rim"] - RADIUS
    start = rng.uniform(-0.4, 0.4, (2, lanes)) * room
    velocity = rng.uniform(0.5, 2.0, (2, lanes))
    until = impacts * float(np.min(room / np.hypot(*velocity)))
    ends = run(
        make_circle,
        p,
        np.zeros((lanes, 1)),
        until,
        base=start.T,
        base_velocity=velocity.T,
        max_steps=60 * impacts,
        size=lanes,
    )
    place, met, part = on_chords(start, velocity, room, until)
    bound = 4.0 * U * met**2 + added_up(met + 10.0, p["rim"], np.hypot(*velocity), until)
    off = np.max(np.abs(ends.q[:, :2].T - place), axis=0)
    energy = np.abs(np.sum(ends.v[:, :2] ** 2, axis=1) / np.sum(velocity**2, axis=0) - 1.0)
    right = (off < bound) & (energy < 1e-12 + 4.0 * U * met) & (ends.events == met)
    clear = (part > 1e-3) & (part < 1.0 - 1e-3)

    def note(i):
        return f"{ends.events[i]} of {int(met[i])} impacts, off by {off[i]:.3g} of {bound[i]:.3g} m, {energy[i]:.3g}"

    tally.add(ends, right, np.hypot(*ends.q[:, :2].T) < room + 1e-9, note, clear)
    tally.close()
