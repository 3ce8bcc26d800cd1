"""Size: chains and crowds of rigid contacts, on arrays; and the same events in both forms."""

import numpy as np
import pytest

import carom
from carom.contact.impact._many import ManyRigidContacts
from carom.hybrid import outcome

FLOOR = carom.Plane(height=0.0)


def chain(links, law, friction=None, damping=2e-4, every=1):
    """A chain of 1 m and 1 kg, both ends of every link on a floor, or of every second one."""
    rod = carom.Rod(length=1.0 / links, mass=1.0 / links)
    first = carom.Link(rod, name="link1", sites={"start": (0.0, 0.0)})
    rest = [
        carom.Link(rod, name=f"link{k + 2}", joint=carom.Joint(damping=damping * 16.0 / links))
        for k in range(links - 1)
    ]
    robot = carom.Mechanism([first, *rest], base=carom.Free())
    sites = ["start", *(f"link{k}.tip" for k in range(every, links + 1, every))]
    contacts = [carom.Contact(robot.site(x), FLOOR, law, friction, name=x) for x in sites]
    return carom.World(robot, contacts=contacts, gravity=9.81)


def sound(result, room=1e-9):
    """Nothing is inside, no energy appears, and the ledger closes."""
    energy = result.energy.kinetic + result.energy.potential
    assert result.penetration < room and result.energy.max_error_percent < 1e-6
    assert np.all(np.diff(energy) < 1e-9 * np.max(np.abs(energy)))


def compared(mechanism, contacts, start, until, **rule):
    plain = carom.World(mechanism, contacts=contacts, gravity=9.81, **rule)
    crowd = ManyRigidContacts(mechanism, plain.automata[0].contacts, **rule)
    arrays = carom.World(mechanism, contacts=crowd, gravity=9.81)
    one, other = (carom.simulate(world, world.state(**start), until=until) for world in (plain, arrays))
    events = [[(e.exit, e.phase_after) for e in result.events] for result in (one, other)]
    assert events[0] == events[1] and events[0]
    np.testing.assert_allclose([e.t for e in other.events], [e.t for e in one.events], rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.q[-1], one.q[-1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("law", [carom.Newton(0.4), carom.Poisson(0.3)])
@pytest.mark.parametrize("friction", [None, carom.Coulomb(0.3), carom.Coulomb(0.2, static=0.4, viscous=0.1)])
@pytest.mark.parametrize("rule", ["path", "end velocity"])
def test_two_rods_meet_the_same_events_in_both_forms(law, friction, rule):
    rods = carom.Mechanism([carom.Rod(length=1.0, mass=1.0), carom.Rod(length=0.7, mass=1.0)], base=carom.Free())
    contacts = [carom.Contact(rods.site(x), FLOOR, law, friction, name=x) for x in rods.topology.site_names]
    start = {"angles": [0.3, -0.2], "base": (0.0, 0.6), "base_velocity": (0.5, 0.0)}
    compared(rods, contacts, start, 1.0, friction_rule=rule)


def test_disks_that_strike_each_other_meet_the_same_events_in_both_forms():
    disk = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    pair = carom.side_by_side(a=disk, b=disk)
    a, b = (pair.site(x) for x in pair.topology.site_names)
    laws = (carom.Newton(0.5), carom.Coulomb(0.2))
    contacts = [carom.Contact(x, FLOOR, *laws, radius=0.1, name=x.name) for x in (a, b)]
    contacts.append(carom.Contact(a, b, *laws, radius=0.1, other_radius=0.1, name="both"))
    compared(pair, contacts, {"base": [(0.0, 0.5), (0.05, 0.8)]}, 1.5)


def test_a_chain_of_64_links_falls_onto_a_floor_and_comes_to_rest():
    world = chain(64, carom.Plastic())
    angles = 0.02 * np.sin(np.linspace(0.0, 6.0, 64))
    result = carom.simulate(world, world.state(angles=angles, base=(0.0, 0.05)), until=0.6)
    sound(result)
    assert result.events[-1].phase_after.count(",") == 64
    np.testing.assert_allclose(result.v[-1], 0.0, atol=1e-9)


@pytest.mark.parametrize(("links", "every"), [(38, 1), (64, 2)])
def test_a_chain_with_friction_falls_onto_a_floor_and_comes_to_rest(links, every):
    """39 contacts with friction at once; 64 links with friction under every second joint."""
    world = chain(links, carom.Plastic(), carom.Coulomb(0.3), every=every)
    angles = 0.02 * np.sin(np.linspace(0.0, 6.0, links))
    result = carom.simulate(world, world.state(angles=angles, base=(0.0, 0.05)), until=0.6)
    sound(result)
    assert result.events[-1].phase_after.count("sticking") == len(world.contacts)
    np.testing.assert_allclose(result.v[-1], 0.0, atol=1e-9)


def test_a_chain_with_more_feet_than_friction_can_hold_is_told_so():
    world = chain(64, carom.Plastic(), carom.Coulomb(0.3))
    result = carom.simulate(world, world.state(base=(0.0, 0.05)), until=0.6, throw=False)
    assert int(result.final.outcome) == outcome.CROWDED and "40 with friction" in result.outcome


@pytest.mark.parametrize("friction", [None, carom.Coulomb(0.2)])
def test_forty_disks_in_a_box(friction):
    disk = carom.Mechanism([carom.Disk(radius=0.05, mass=0.1)], base=carom.Free())
    box = carom.side_by_side(**{f"d{k}": disk for k in range(40)})
    sites = [box.site(x) for x in box.topology.site_names]
    walls = [FLOOR, carom.Wall(0.0, "right"), carom.Wall(1.0, "left")]
    law = carom.Newton(0.3) if friction is None else carom.Poisson(0.3)
    contacts = [
        carom.Contact(s, wall, law, friction, radius=0.05, name=f"{s.name} {w}")
        for s in sites
        for w, wall in enumerate(walls)
    ]
    contacts += [
        carom.Contact(a, b, law, friction, radius=0.05, other_radius=0.05, name=f"{a.name} {b.name}")
        for i, a in enumerate(sites)
        for b in sites[i + 1 :]
    ]
    world = carom.World(box, contacts=contacts, gravity=9.81, settle_speed=1e-3)
    rng = np.random.default_rng(0)
    base = [(0.11 + 0.195 * (k % 5) + 0.01 * rng.random(), 0.1 + 0.13 * (k // 5)) for k in range(40)]
    result = carom.simulate(world, world.state(base=base), until=0.5, throw=False)
    assert int(result.final.outcome) in (outcome.FINISHED, outcome.CROWDED)
    sound(result)
    assert result.statistics.events > 50
