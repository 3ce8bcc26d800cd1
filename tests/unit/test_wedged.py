"""What is held twice: a tip in a corner, the foot of a closed loop. Rounding must not choose among answers."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.impact._path import Weights, path


def into_the_corner(x, y, turn):
    """A thrown rod whose tip, in the end, slides on the floor into a wall: both stop both of its velocities."""
    cos, sin = np.cos(turn), np.sin(turn)
    about = lambda a, b: (cos * a - sin * b, sin * a + cos * b)  # noqa: E731
    rod = carom.Mechanism([carom.Link(carom.Rod(length=0.5021, mass=0.2316), name="rod")], base=carom.Free())
    floor = carom.Plane(point=about(x, y), normal=about(0.0, 1.0))
    wall = carom.Plane(point=about(x + 0.7312, y), normal=about(-1.0, 0.0))
    rough = carom.Coulomb(0.3, static=0.4)
    planes = {"floor": floor, "wall": wall}
    contacts = [carom.Contact("rod.tip", p, carom.Plastic(), rough, name=name) for name, p in planes.items()]
    world = carom.World(rod, contacts=contacts, gravity=about(0.0, -9.81))
    moving = {"rates": [1.6065], "base_velocity": about(0.7853, 0.968)}
    start = world.state(angles=[-0.0025 + turn], base=about(x, y + 0.4511), **moving)
    return carom.simulate(world, start, until=1.4, settings=carom.Settings(rtol=1e-10, atol=1e-12))


def test_a_tip_in_a_corner_has_one_course_wherever_the_corner_is():
    """The wall's friction, 0.3 or 0.34 of its impulse, was rounding's choice, and so was when it let go."""
    runs = [into_the_corner(*where) for where in ((0.0, 0.0, 0.0), (1e3, 1e3, 0.0), (0.0, 0.0, 0.7))]
    words = [[(e.exit, e.phase_after) for e in run.events] for run in runs]
    assert any("floor sticking, wall sticking" in phase for _, phase in words[0])
    assert words[0] == words[1] == words[2]
    for run in runs[1:]:
        np.testing.assert_allclose([e.t for e in run.events], [e.t for e in runs[0].events], atol=1e-8)


def test_a_wedged_contact_may_be_off_by_the_error_of_its_velocities():
    """One degree of freedom, velocities of a closed loop that were off by 4e-13: it said that no motion is possible."""
    c, w = 1.829264644998428, 0.08264566104297424
    weights = Weights(jnp.asarray(w), jnp.asarray(c * w), jnp.asarray(c * c * w))
    for off in (-1e-11, 0.0, 1e-11):
        approach, sliding = jnp.asarray(-0.65), jnp.asarray(-0.65 * c * (1.0 + off))
        assert path(weights, approach, sliding, jnp.asarray(0.59), jnp.asarray(0.59)).found
    driven = path(weights, jnp.asarray(-0.65), jnp.asarray(-0.1), jnp.asarray(0.59), jnp.asarray(0.59))
    assert not driven.found  # its surface drives it in


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_a_closed_loop_settles_on_its_foot(turn):
    """Its foot has one motion: when the rebounds are none, it slides no more. Time stood still there."""
    cos, sin = np.cos(turn), np.sin(turn)
    about = lambda a, b: (cos * a - sin * b, sin * a + cos * b)  # noqa: E731
    # To the last digit: what stood still was a matter of rounding.
    lengths, angles = (
        (0.7869302248504668, 1.7052305960764056, 1.059955328238595),
        np.array([1.013642580092226, 0.2811840039113286, -2.101058964559598]),
    )
    masses, foot = (
        (0.3464204264134476, 0.48264909392772376, 1.4225200941529874),
        {"foot": (0.324840443189829 * 1.7052305960764056, -0.16287829099205264)},
    )
    bars = [
        carom.Link(carom.Rod(length=length, mass=mass), name=name, sites=foot if name == "b" else {})
        for name, length, mass in zip("abc", lengths, masses, strict=True)
    ]
    arm = carom.Arm(bars)
    x, y = (float(np.dot(lengths, f(angles))) for f in (np.cos, np.sin))
    floor = carom.Plane(point=about(0.0, 0.5930256563449369), normal=about(0.0, 1.0))
    contact = carom.Contact(
        "foot", floor, carom.Poisson(0.4700235337798677), carom.Coulomb(0.5484517388529747), name="floor"
    )
    pin = carom.Pin("c.tip", about(x, y))
    world = carom.World(arm, contacts=contact, constraints=[pin], gravity=about(0.0, -9.81))
    tight = carom.Settings(rtol=1e-10, atol=1e-12)
    run = carom.simulate(world, world.state(angles=angles + turn), until=0.8, settings=tight)
    assert run.finished
    assert run.events[-1].phase_after.startswith("closed")
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-12)


def test_what_is_held_does_not_sink_at_a_coarse_tolerance():
    """Two links, one of them on its stop, hammer at the floor: a step's error was its depth."""
    links = [carom.Link(carom.Rod(length=0.5, mass=1.0), name="a")]
    links.append(carom.Link(carom.Rod(length=0.4, mass=0.5), name="b", parent="a"))
    links.append(carom.Link(carom.Rod(length=0.6, mass=2.0), name="c", parent="a"))
    robot = carom.Mechanism(links, base=carom.Free())
    law = carom.Plastic()
    contacts = [carom.Contact("a.tip", carom.Plane(height=0.0), law, name="floor")]
    contacts += [carom.Contact(carom.JointLimit(robot, "b", upper=0.5), normal=law, name="stop")]
    world = carom.World(robot, contacts=contacts, gravity=9.81)
    start = world.state(angles=[-1.0, -0.9, 1.0], base=(0.0, 0.6), rates=[0.0, 3.0, -2.0])
    run = carom.simulate(world, start, until=1.2, settings=carom.Settings(rtol=1e-5, atol=1e-7))
    assert any("closed" in event.phase_after for event in run.events)
    assert run.penetration < 1e-9 * world.length


@pytest.mark.filterwarnings("error")
def test_a_stop_is_an_angle_whatever_the_size_of_the_robot():
    """A micrometre is no measure of an angle: rounding of the stop was said to be inside it, at 1e-6 m."""
    steps = []
    for size in (1.0, 1e-6):
        links = [carom.Rod(length=0.5 * size, mass=1.0), carom.Rod(length=0.4 * size, mass=0.5)]
        arm = carom.Arm([carom.Link(rod, name=name) for name, rod in zip("ab", links, strict=True)])
        stop = carom.Contact(carom.JointLimit(arm, "b", upper=0.5), normal=carom.Plastic(), name="stop")
        world = carom.World(arm, contacts=stop, gravity=9.81 * size)
        run = carom.simulate(world, world.state(angles=[1.0, 1.2], rates=[0.0, 3.0]), until=3.0)
        steps.append(int(run.final.steps))
        assert run.penetration < 1e-12
    assert steps[0] == steps[1]
