"""What lanes record, where compiling takes long: the arm on both back ends and in lockstep, and a valve's periods."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from examples.relief_valve import TIGHT, start, valve

import carom
from carom.experiment.experiment import Experiment, perform
from carom.experiment.measures import measure
from carom.result._clip import Clip
from carom.scenario._build import beginning, settings_of, world_of
from carom.study._asked import asked_of, wanted_of
from carom.study._lanes import How, lockstep

MEASURES = (
    "impacts.count",
    "impact.1.restitution",
    "impact.3.max_normal_force",
    "impact.2.max_indentation",
    "impact.2.residual_indentation",
    "impact.5.energy_lost",
    "impact.15.duration",
    "impact.1.kinetic_energy_before.upper",
    "angle.upper.least.after.1",
    "vx.fore.tip.most",
    "vy.fore.tip.least.after.1",
)
ARM = carom.Scenario.load("arm-repeated-impact")


def arms(p):
    return world_of(ARM)


def recorded():
    world = world_of(ARM)
    given = {"until": ARM.run.until, "settings": settings_of(ARM)}
    return carom.batch(arms, jnp.zeros(2), beginning(ARM, world), **given, measures=MEASURES).measures


def test_the_arm_of_a_batch_tells_what_it_tells_alone():
    experiment = perform(ARM, progress=False)
    for name, found in recorded().items():
        np.testing.assert_allclose(found, measure(experiment, name), rtol=1e-9, err_msg=name)


def test_so_it_does_by_the_other_compiler():
    code = "from verify.test_batch_records import test_the_arm_of_a_batch_tells_what_it_tells_alone as test; test()"
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"CAROM_BACKEND": "xla"}, timeout=300)


def balls(p):
    """A hard bounce and a soft one side by side."""
    both = carom.side_by_side(
        **{name: carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free()) for name in ("hard", "soft")}
    )
    laws = {"hard": carom.Newton(p), "soft": carom.HuntCrossley(1e6, p)}
    contacts = [
        carom.Contact(both.site(f"{name}.link1.tip"), carom.Plane(0.0), law, radius=0.1, name=name)
        for name, law in laws.items()
    ]
    return carom.World(both, contacts=contacts)


def test_lanes_in_lockstep_record_the_same():
    values, settings = jnp.array([0.5, 0.7, 0.9]), carom.Settings()
    start = balls(0.5).state(base=[(0.0, 0.5), (1.0, 0.4)])
    names = ("impacts.count", "impacts.count.soft", "impact.3.restitution", "y.soft.link1.tip.least")
    returns = carom.Returns(("rigid contacts", "strike hard"), discard=1, keep=2)
    asked = asked_of(balls(0.5), wanted_of(names, 5, returns, (0.1, 0.6), True))
    rows = jax.tree.map(lambda x: jnp.broadcast_to(x, (3, *x.shape)), start)
    found = lockstep(balls, How(None, True, asked.recorders), values, rows, settings.integration(1.0))
    lanes = carom.batch(balls, values, start, until=1.0, measures=names, impacts=5, returns=returns, times=(0.1, 0.6))
    kinds = (lanes.measures, lanes.impacts, lanes.returns, lanes.at)
    for one, other in zip(asked.read(found.records, found.outcome), kinds, strict=True):
        assert one.keys() == other.keys() and one
        for name in one:
            np.testing.assert_allclose(one[name], other[name], rtol=1e-9, atol=1e-11, err_msg=name)


def top(t, q, v):
    return v[0]


@pytest.mark.parametrize(
    ("flow", "tops", "period"),
    [
        (3.0, [2.4935946769], 1.7168295579),
        (5.0, [4.8309823800], 2.1546994194),
        (6.0, [5.6354782364, 7.1092973535], 2.4225164280 + 2.3321142717),
    ],
)
def test_periods_of_a_relief_valve(flow, tops, period):
    """C. Hos and A. R. Champneys, Physica D 2012, 241, 2068-2076: values of an independent integration."""
    (section,) = carom.bifurcation(
        valve, [flow], top, start(valve(flow)), until=1e3, settings=TIGHT, discard=200, keep=8, direction=-1
    )
    found, count = section.q[:, 0], len(tops)
    np.testing.assert_allclose(np.sort(found[:count]), tops, rtol=1e-9)
    np.testing.assert_allclose(section.t[count:] - section.t[:-count], period, rtol=1e-9)


CROWD = carom.side_by_side(
    **{f"d{k}": carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free()) for k in range(14)}
)


def crowd(p):
    """So many contacts that they are solved on arrays."""
    sites = [(k, CROWD.site(f"d{k}.link1.tip")) for k in range(14)]
    floor, law = carom.Plane(0.0), carom.Newton(p)
    return carom.World(CROWD, contacts=[carom.Contact(site, floor, law, radius=0.1, name=f"c{k}") for k, site in sites])


def test_worlds_on_arrays_record_what_they_tell_alone():
    world = crowd(0.4)
    assert world.arrays
    start = world.state(base=[(0.3 * k, 0.2 + 0.05 * k) for k in range(14)])
    names = ("impacts.count", "impact.3.restitution", "impact.2.normal_impulse", "y.d3.link1.tip.mean")
    lanes = carom.batch(crowd, jnp.array([0.4, 0.6]), start, until=0.4, measures=names, times=(0.1, 0.3))
    alone = carom.simulate(world, start, until=0.4)
    experiment = Experiment(ARM, (Clip(alone),))
    for name in names:
        np.testing.assert_allclose(lanes.measures[name][0], measure(experiment, name), rtol=1e-9, err_msg=name)
    np.testing.assert_allclose(lanes.at["q"][0], alone.at([0.1, 0.3]).q, rtol=1e-12, atol=1e-14)
