"""Many rigid contacts on arrays: the same events as scalar by scalar, and chains that no other form can hold."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.impact._crowd import WITH_FRICTION, Crowd, chosen
from carom.contact.impact._kinds import kinds_of
from carom.contact.impact._many import ManyRigidContacts
from carom.hybrid import outcome

FLOOR = carom.Plane(height=0.0)


def chain(links, law, friction=None, damping=2e-4):
    """A chain of 1 m and 1 kg, both ends of every link on a floor."""
    rod = carom.Rod(length=1.0 / links, mass=1.0 / links)
    first = carom.Link(rod, name="link1", sites={"start": (0.0, 0.0)})
    rest = [carom.Link(rod, name=f"link{k + 2}", joint=carom.Joint(damping=damping)) for k in range(links - 1)]
    robot = carom.Mechanism([first, *rest], base=carom.Free())
    sites = robot.topology.site_names
    contacts = [carom.Contact(robot.site(x), FLOOR, law, friction, name=x) for x in sites]
    return carom.World(robot, contacts=contacts, gravity=9.81)


def test_both_forms_meet_the_same_events():
    disk = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    contact = carom.Contact(disk.tip, FLOOR, carom.Poisson(0.5), carom.Coulomb(0.3), radius=0.1, name="floor")
    plain = carom.World(disk, contacts=contact, gravity=9.81)
    arrays = carom.World(disk, contacts=ManyRigidContacts(disk, plain.automata[0].contacts), gravity=9.81)
    start = plain.state(base=(0.0, 0.4), base_velocity=(1.0, 0.0))
    one, other = (carom.simulate(world, start, until=1.5) for world in (plain, arrays))
    events = [[(e.exit, e.phase_before, e.phase_after) for e in result.events] for result in (one, other)]
    assert events[0] == events[1] and len(events[0]) > 10
    np.testing.assert_allclose([e.t for e in other.events], [e.t for e in one.events], rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.q[-1], one.q[-1], rtol=0, atol=1e-9)
    pushes = [[(i.normal_impulse, i.tangential_impulse) for i in result.impacts] for result in (one, other)]
    np.testing.assert_allclose(*pushes, rtol=0, atol=1e-9)
    assert [s.contact for s in other.stances] == [s.contact for s in one.stances]
    assert other.energy.max_error_percent < 1e-6


def test_a_chain_of_sixteen_links_falls_onto_a_floor_and_comes_to_rest():
    world = chain(16, carom.Plastic())
    angles = 0.02 * np.sin(np.linspace(0.0, 6.0, 16))
    result = carom.simulate(world, world.state(angles=angles, base=(0.0, 0.05)), until=0.6)
    assert result.events[-1].phase_after.count(",") == 16  # all 17 are closed
    np.testing.assert_allclose(result.v[-1], 0.0, atol=1e-9)
    assert result.penetration < 1e-9
    energy = result.energy.kinetic + result.energy.potential
    assert np.all(np.diff(energy) < 1e-9 * energy[0]) and result.energy.max_error_percent < 1e-6
    np.testing.assert_allclose(result.q[-1][1:], 0.0, atol=1e-9)  # flat on the floor


def test_slots_are_given_in_order_and_too_few_are_noticed():
    disk = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    crowd = carom.side_by_side(**{f"d{k}": disk for k in range(50)})
    sites = [crowd.site(x) for x in crowd.topology.site_names]
    contacts = [carom.Contact(s, FLOOR, 0.5, carom.Coulomb(0.3), radius=0.1, name=s.name) for s in sites]
    members = carom.World(crowd, contacts=contacts).automata[0].contacts
    found = Crowd(kinds_of(crowd, members))
    assert [len(kind.members) for kind in found.kinds] == [50]  # one kind, whatever their number
    flags = jnp.arange(50) % 2 == 1
    slots, over = chosen(found, flags)
    assert len(slots.place) == WITH_FRICTION and not over
    np.testing.assert_array_equal(slots.place[:25], np.arange(1, 50, 2))
    np.testing.assert_array_equal(slots.on, np.arange(WITH_FRICTION) < 25)
    assert chosen(found, jnp.arange(50) <= WITH_FRICTION)[1]
    assert "40 with friction" in outcome.describe(outcome.CROWDED)


def test_constraints_keep_to_small_worlds():
    robot = chain(9, carom.Plastic()).mechanism
    with pytest.raises(carom.errors.CaromError, match=r"a constraint in a world of 9 links .* at most 8 links"):
        carom.World(robot, constraints=carom.Pin(robot.tip, (0.0, 0.0)))
