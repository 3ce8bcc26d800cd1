"""A box that topples down stairs made of blocks: nothing enters, no energy is created, copies do the same."""

import functools

import numpy as np
import pytest

import carom

BOX = np.array([(-0.12, -0.08), (0.12, -0.08), (0.12, 0.08), (-0.12, 0.08)])
MASS, INERTIA = 2.0, 0.02
RISE, TREAD, STEPS = 0.2, 0.4, 3
HARD = 1e-3  # [m/s]: slower blows are the last of a series, whose number depends on rounding


def stairs():
    """Every block begins inside the one before; the last one is the floor."""
    bottom = -RISE * STEPS
    for i in range(STEPS):
        left, right = TREAD * i - (0.05 if i else 1.0), TREAD * (i + 1) + (5.0 if i == STEPS - 1 else 0.0)
        yield np.array([(left, bottom), (right, bottom), (right, -RISE * i), (left, -RISE * i)])


class Place:
    """Where a copy of the experiment is: mirrored, turned, shifted."""

    def __init__(self, turn=0.0, mirror=1.0, at=(0.0, 0.0)):
        self.turn, self.mirror, self.at = turn, mirror, np.asarray(at)

    def way(self, points):
        x, y = np.asarray(points, dtype=float).T
        c, s = np.cos(self.turn), np.sin(self.turn)
        return np.stack([self.mirror * (c * x - s * y), s * x + c * y], axis=-1)

    def corners(self, points, placed):
        """Mirroring turns their order round."""
        out = self.way(points) + self.at if placed else np.asarray(points) * [self.mirror, 1.0]
        return out[:: int(self.mirror)]

    def back(self, q):
        x, y = (np.asarray(q)[..., :2] - self.at).T
        c, s = np.cos(self.turn), np.sin(self.turn)
        x = self.mirror * x
        return np.stack([c * x + s * y, c * y - s * x, self.mirror * np.asarray(q)[..., 2].T - self.turn], axis=-1)


def fallen(start, speed, angle, rate, place, until=4.0, outline=BOX):
    body = carom.Mechanism([carom.Link(carom.Body(MASS, INERTIA), name="box")], base=carom.Free())
    shape = carom.Polygon("box.tip", place.corners(outline, placed=False))
    steps = [carom.Block(place.corners(block, placed=True)) for block in stairs()]
    ground = carom.Ground(steps, carom.Newton(0.2), carom.Coulomb(0.4), shapes=[shape], name="step")
    world = carom.World(body, ground=ground, gravity=tuple(place.way((0.0, -9.81))))
    state = world.state(
        base=tuple(place.way(start) + place.at),
        base_velocity=[tuple(place.way(speed))],
        angles=[place.mirror * (angle + place.turn)],
        rates=[place.mirror * rate],
    )
    return carom.simulate(world, state, until=until)


@functools.cache
def plain():
    return fallen((0.2, 0.3), (1.2, 0.0), 0.3, -3.0, Place())


def energies(run):
    return 0.5 * MASS * np.sum(run.v[:, :2] ** 2, axis=1) + 0.5 * INERTIA * run.v[:, 2] ** 2 + MASS * 9.81 * run.q[:, 1]


def hard(run):
    return [i for i in run.impacts if i.normal_velocity_before < -HARD]


def test_a_box_topples_down_stairs_and_comes_to_rest():
    run = plain()
    assert run.outcome == "finished" and run.penetration < 1e-9 and run.energy.max_error_percent < 1e-6
    energy = energies(run)
    assert np.max(np.diff(energy)) < 1e-9 * np.ptp(energy) and np.ptp(energy) > MASS * 9.81 * RISE
    struck = {i.contact.split()[1] for i in hard(run)}
    assert struck == {"1", "2", "3"} and any("block's corner" in i.contact for i in hard(run))
    # It lies flat on the lowest step, on one of its sides.
    turn, height = run.q[-1, 2] / (0.5 * np.pi), run.q[-1, 1] + RISE * (STEPS - 1)
    assert abs(turn - np.round(turn)) < 1e-9 and abs(height - (0.08 if np.round(turn) % 2 == 0 else 0.12)) < 1e-9
    assert np.max(np.abs(run.v[-1])) < 1e-12


@pytest.mark.parametrize(
    ("place", "tolerance"),
    [(Place(mirror=-1.0), 1e-8), (Place(turn=2.0), 1e-7), (Place(at=(1000.0, -1000.0)), 1e-6)],
    ids=["mirrored", "turned", "a kilometre away"],
)
def test_copies_of_the_stairs_meet_the_same_events(place, tolerance):
    run, other = plain(), fallen((0.2, 0.3), (1.2, 0.0), 0.3, -3.0, place)
    here, there = hard(run), hard(other)
    assert len(here) == len(there)
    np.testing.assert_allclose([i.t_start for i in here], [i.t_start for i in there], atol=tolerance)
    np.testing.assert_allclose(
        [i.normal_impulse for i in here], [i.normal_impulse for i in there], rtol=1e3 * tolerance
    )
    np.testing.assert_allclose(place.back(other.q[-1]), run.q[-1], atol=10.0 * tolerance)
