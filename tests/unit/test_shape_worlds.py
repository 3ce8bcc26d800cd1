"""Bodies with shapes that fall, land flat and collide in flight: closed forms, conservation, copies elsewhere."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.result._signals import contact_signals

SIDES = [(-0.2, -0.1), (0.3, -0.1), (0.0, 0.2)]


def body(name, mass, inertia):
    return carom.Mechanism([carom.Link(carom.Body(mass, inertia), name=name)], base=carom.Free())


def egg_world(plane, a=0.2, b=0.1, e=1.0, gravity=(0.0, -9.81), size=1.0):
    """An ellipse over a plane, and a stone without a contact."""
    both = carom.side_by_side(egg=body("egg", 2.0, 0.03 * size**2), stone=body("stone", 1.0, 0.01 * size**2))
    shape = carom.Ellipse("egg.egg.tip", a * size, b * size)
    floor = carom.Contact(shape, plane, carom.Newton(e), name="floor")
    return carom.World(both, contacts=floor, gravity=gravity)


def placed(turn=0.0, at=(0.0, 0.0), mirror=1.0, size=1.0, e=1.0, until=0.6):
    """A run of one experiment, turned, mirrored, shifted and scaled; coordinates of the egg as in the plain one."""
    cos, sin = np.cos(turn), np.sin(turn)

    def out(x, y):
        return np.array([mirror * (cos * x - sin * y), sin * x + cos * y])

    plane = carom.Plane(point=tuple(at), normal=tuple(out(0.0, 1.0)))
    world = egg_world(plane, e=e, gravity=tuple(out(0.0, -9.81 * size)), size=size)
    base = np.stack([at + size * out(0.0, 0.5), at + size * out(1.0, 0.4)])
    speed = np.stack([size * out(0.3, 0.0), (0.0, 0.0)])
    state = world.state(base=base, base_velocity=speed, angles=[mirror * (0.7 + turn), 0.0], rates=[mirror * 0.5, 0.0])
    run = carom.simulate(world, state, until=until)
    x, y = np.asarray(run.q[:, :2]).T - np.asarray(at)[:, None]
    along, up = (mirror * cos * x + sin * y) / size, (cos * y - mirror * sin * x) / size
    return run, np.stack([along, up, mirror * run.q[:, 4] - turn], axis=1)


@functools.cache
def plain():
    return placed()


def test_an_ellipse_strikes_when_and_as_it_should():
    run, _ = plain()
    hit = run.events[0]
    turn = 0.7 + 0.5 * hit.t
    reach = np.sqrt((0.2 * np.sin(turn)) ** 2 + (0.1 * np.cos(turn)) ** 2)
    assert abs(0.5 - 0.5 * 9.81 * hit.t**2 - reach) < 1e-12
    # The point of contact lies aside of the centre by h'(phi) of the support function, towards -n.
    lever = -(0.2**2 - 0.1**2) * np.sin(turn) * np.cos(turn) / reach
    before = -9.81 * hit.t + 0.5 * lever
    push = -2.0 * before / (1.0 / 2.0 + lever**2 / 0.03)  # e = 1
    after = run.events[0].v_after
    assert abs(run.impacts[0].normal_impulse - push) < 1e-11
    np.testing.assert_allclose(after[:2] - hit.v[:2], [0.0, push / 2.0], atol=1e-12)
    assert abs(after[4] - hit.v[4] - lever * push / 0.03) < 1e-11
    assert len(run.impacts) >= 2 and run.energy.max_error_percent < 1e-7
    kinetic = 0.5 * 2.0 * np.sum(run.v[:, :2] ** 2, axis=1) + 0.5 * 0.03 * run.v[:, 4] ** 2
    total = kinetic + 2.0 * 9.81 * run.q[:, 1]
    assert np.ptp(total) < 1e-6 * total[0] and np.ptp(run.v[:, 0]) < 1e-12


@pytest.mark.parametrize(
    ("elsewhere", "tolerance"),
    [
        ({"turn": 2.0}, 1e-9),
        ({"mirror": -1.0}, 1e-9),
        ({"at": (1000.0, -1000.0), "turn": 0.3}, 1e-7),
        ({"size": 1e-3}, 1e-7),
    ],
)
def test_copies_elsewhere_do_the_same(elsewhere, tolerance):
    run, place = plain()
    other, same = placed(**elsewhere)
    assert len(run.events) == len(other.events)
    np.testing.assert_allclose([e.t for e in run.events], [e.t for e in other.events], atol=tolerance)
    np.testing.assert_allclose(same[-1], place[-1], atol=10.0 * tolerance)


def test_a_link_that_passes_through_is_named():
    run, _ = plain()
    (sentence,) = run.warnings
    assert "passed through by 'stone.stone' (by up to " in sentence and "egg" not in sentence


def test_derivatives_pass_through_the_blow_of_an_ellipse():
    def end(numbers):
        a, angle = numbers
        world = egg_world(carom.Plane(height=0.0), a=a)
        state = world.state(base=[(0.0, 0.5), (1.0, 9.0)], angles=jnp.stack([angle, jnp.asarray(0.0)]))
        final = carom.final_state(world, state, until=0.4, settings=carom.Settings(rtol=1e-11, atol=1e-12))
        return jnp.stack(final.y.q)[jnp.asarray([0, 1, 4])]

    at, way = jnp.asarray([0.2, 0.7]), jnp.asarray([1.0, -0.5])
    both = carom.jit(lambda at: jax.jvp(end, (at,), (way,)))  # one program, for the values, too
    _, slope = both(at)
    measured = (both(at + 1e-5 * way)[0] - both(at - 1e-5 * way)[0]) / 2e-5
    np.testing.assert_allclose(slope, measured, rtol=1e-6, atol=1e-6)


def test_a_polygon_that_lands_flat_strikes_with_two_corners_and_comes_to_rest():
    whole = body("box", 1.0, 0.02)
    floor = carom.Contact(carom.Polygon("box.tip", SIDES), carom.Plane(height=0.0), carom.Newton(0.5), name="floor")
    world = carom.World(whole, contacts=floor)
    run = carom.simulate(world, world.state(base=(0.0, 0.6)), until=1.5)
    first = [e for e in run.events if e.t == run.events[0].t]
    assert {e.exit for e in first} == {"strike floor corner 1", "strike floor corner 2"}
    assert abs(first[0].t - np.sqrt(2.0 * 0.5 / 9.81)) < 1e-12
    assert run.events[-1].phase_after == "closed: floor corner 1, floor corner 2"
    np.testing.assert_allclose(run.q[-1], [0.0, 0.1, 0.0], atol=1e-10)
    # The weight is shared as the centre of mass lies between the corners.
    forces = contact_signals(run, np.array([1.4]))
    shares = [float(forces[f"floor corner {i}"].normal[0]) for i in (1, 2)]
    np.testing.assert_allclose(shares, [9.81 * 0.6, 9.81 * 0.4], rtol=1e-8)
    tilted = carom.simulate(world, world.state(base=(0.0, 0.6), angles=[0.4]), until=3.0)
    assert abs(tilted.q[-1, 2]) < 1e-9 or abs(tilted.q[-1, 1]) < 0.3
    assert tilted.penetration < 1e-9


def momenta(q, v, mass, inertia):
    """Of two bodies: linear, angular about the origin, and kinetic energy."""
    place, speed = np.asarray(q[:4]).reshape(2, 2), np.asarray(v[:4]).reshape(2, 2)
    turning = mass @ (place[:, 0] * speed[:, 1] - place[:, 1] * speed[:, 0]) + inertia @ v[4:]
    return np.array([*(mass @ speed), turning, 0.5 * mass @ np.sum(speed**2, axis=1) + 0.5 * inertia @ v[4:] ** 2])


def test_two_ellipses_that_collide_keep_momenta_and_energy():
    mass, inertia = np.array([1.0, 2.0]), np.array([0.02, 0.03])
    pair = carom.side_by_side(a=body("a", 1.0, 0.02), b=body("b", 2.0, 0.03))
    shapes = carom.Ellipse("a.a.tip", 0.2, 0.1), carom.Ellipse("b.b.tip", 0.3, 0.05, 0.2)
    world = carom.World(pair, contacts=carom.Contact(*shapes, carom.Newton(1.0), name="hit"), gravity=0.0)
    for start in ([(0.0, 0.0), (1.0, 0.1)], [(0.0, 0.0), (1.0, -0.15)], [(1000.0, 0.0), (1001.0, 0.05)]):
        state = world.state(base=start, angles=[0.3, 2.0], base_velocity=[(2.0, 0.0), (-1.0, 0.0)], rates=[1.0, -4.0])
        run = carom.simulate(world, state, until=0.6)
        assert len(run.impacts) == 1
        hit = run.events[0]
        before, after = (momenta(hit.q, v, mass, inertia) for v in (hit.v, hit.v_after))
        np.testing.assert_allclose(after, before, atol=1e-12 * max(1.0, start[0][0]))


def test_a_pin_bounces_in_its_hole():
    pair = carom.side_by_side(pin=body("pin", 1.0, 1e-3), bush=body("bush", 3.0, 0.02))
    joint = carom.ClearanceJoint("pin.pin.tip", "bush.bush.tip", 0.02, 1e-3, carom.Newton(0.8), carom.Coulomb(0.1))
    world = carom.World(pair, contacts=joint, gravity=0.0)
    run = carom.simulate(world, world.state(base_velocity=[(0.1, 0.02), (0.0, 0.0)], rates=[5.0, 0.0]), until=0.3)
    apart = np.hypot(*(run.q[:, :2] - run.q[:, 2:4]).T)
    assert len(run.impacts) > 5 and np.max(apart) < 1e-3 + 1e-12
    mass, inertia = np.array([1.0, 3.0]), np.array([1e-3, 0.02])
    first, last = (momenta(run.q[i], run.v[i], mass, inertia) for i in (0, -1))
    np.testing.assert_allclose(last[:3], first[:3], atol=1e-12)
    assert last[3] < 0.999 * first[3]
