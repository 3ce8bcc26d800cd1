"""Rigid contacts in both forms, scalar by scalar and on arrays: random trees and crowds meet the same events.

Every structure runs from several starts: as it is in both forms, and on arrays mirrored, moved by 100 m and in a batch.
`CAROM_WORLDS=0:4` runs the first structures.
"""

import os

import numpy as np
import pytest

import carom
from carom.contact.impact._many import ManyRigidContacts

FIRST, LAST = (int(x) for x in os.environ.get("CAROM_WORLDS", "0:6").split(":"))
STARTS, FAR, UNTIL = 4, 100.0, 0.7


def trees(rng):
    """One free tree of two to four rods, or two trees side by side; every tip and joint can meet the floor."""
    made = {}
    for name in ("a", "b")[: rng.integers(1, 3)]:
        count = rng.integers(1, 4)
        links = [carom.Link(carom.Rod(length=rng.uniform(0.2, 0.6), mass=rng.uniform(0.1, 2.0)), name="l0")]
        for k in range(1, count):
            rod = carom.Rod(length=rng.uniform(0.2, 0.6), mass=rng.uniform(0.1, 2.0))
            above = f"l{rng.integers(0, k)}"
            joint = carom.Joint(damping=rng.uniform(0.0, 0.05))
            links.append(carom.Link(rod, name=f"l{k}", parent=above, joint=joint))
        made[name] = carom.Mechanism(links, base=carom.Free())
    return carom.side_by_side(**made)


def worlds(seed, x=0.0):
    """The same world in both forms, its floor's origin and all of its robots moved along x."""
    rng = np.random.default_rng(seed)
    robots = trees(rng)
    law = [carom.Plastic(), carom.Poisson(rng.uniform(0.2, 0.6)), carom.Newton(rng.uniform(0.2, 0.6))][seed % 3]
    mu = rng.uniform(0.1, 0.7)
    friction = [carom.Coulomb(mu, static=1.3 * mu), None][seed % 2]
    floor = carom.Plane(height=0.0)
    sites = [robots.site(name) for name in robots.topology.site_names]
    contacts = [carom.Contact(site, floor, law, friction, name=site.name) for site in sites[:5]]
    plain = carom.World(robots, contacts=contacts, gravity=9.81)
    crowd = ManyRigidContacts(robots, plain.automata[0].contacts)
    return plain, carom.World(robots, contacts=crowd, gravity=9.81), rng


def starts(world, rng, mirror=1.0, x=0.0):
    """Above the floor, turned and moving."""
    top = world.mechanism.topology
    angles, rates = rng.uniform(-0.4, 0.4, top.links), rng.uniform(-2.0, 2.0, top.links)
    base = [(3.0 * k, rng.uniform(0.9, 1.3)) for k in range(len(top.free))]
    speed = [(rng.uniform(-1.0, 1.0), 0.0) for _ in top.free]
    if mirror < 0.0:
        angles, rates = np.pi - angles, -rates
    return world.state(
        angles=angles,
        rates=rates,
        base=[(mirror * a + x, b) for a, b in base],
        base_velocity=[(mirror * a, b) for a, b in speed],
    )


def coordinates(world, result, mirror=1.0, x=0.0):
    """Where it ends, as if it had not been mirrored or moved."""
    q, nb = result.q[-1].copy(), world.mechanism.topology.base_dof
    q[:nb:2] = mirror * (q[:nb:2] - x)
    q[nb:] = q[nb:] if mirror > 0.0 else np.pi - q[nb:]
    return q


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_both_forms_and_all_copies_meet_the_same_events(seed):
    plain, arrays, _ = worlds(seed)
    settings = carom.Settings(rtol=1e-10, atol=1e-12, max_steps=50_000)

    def run(world, draw, **copy):
        start = starts(world, np.random.default_rng([seed, draw]), **copy)
        result = carom.simulate(world, start, until=UNTIL, settings=settings, throw=False)
        return result, coordinates(world, result, **copy)

    for draw in range(STARTS):
        one, end = run(plain, draw)
        nudged = carom.simulate(
            plain,
            starts(plain, np.random.default_rng([seed, draw]), x=1e-9),
            until=UNTIL,
            settings=carom.Settings(rtol=1e-9, atol=1e-11, max_steps=50_000),
            throw=False,
        )
        wide = np.max(np.abs(coordinates(plain, nudged, x=1e-9) - end))  # how much this motion makes of little
        for copy in ({}, {"mirror": -1.0}, {"x": FAR}):
            other, there = run(arrays, draw, **copy)
            assert other.outcome == one.outcome, (draw, copy, other.outcome, one.outcome)
            if one.outcome != "finished" or wide > 1e-6:
                continue
            np.testing.assert_allclose(there, end, rtol=0, atol=1e-6 + 1e2 * wide, err_msg=f"{draw} {copy}")
            assert other.penetration < 1e-9 + 1e-12 * FAR and other.energy.max_error_percent < 1e-5
            if not copy:
                assert [e.exit for e in other.events] == [e.exit for e in one.events], (draw, copy)
