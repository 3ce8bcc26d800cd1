"""Two stretches of a run are one run: from a result, from its file, in flight, in contact and between samples."""

import numpy as np
import pytest

import carom
from carom._simulation import repeat

DISK = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
EXACT = carom.Settings(rtol=1e-11, atol=1e-13)
UNTIL = 1.0


def world(restitution=0.7, friction=None, more=()):
    law = carom.HuntCrossley(1e7, restitution)
    floor = carom.Contact(DISK.tip, carom.Plane(0.0), law, friction, radius=0.1, name="floor")
    return carom.World(DISK, contacts=[floor, *more], gravity=9.81)


@pytest.fixture(scope="module")
def whole():
    found = world()
    return carom.simulate(found, found.state(base=(0.0, 0.4), base_velocity=(0.3, 0.0)), until=UNTIL, settings=EXACT)


@pytest.fixture(scope="module")
def cuts(whole):
    blow = whole.impacts[0]
    return {"in flight": 0.1, "in contact": 0.4 * blow.t_start + 0.6 * blow.t_end, "as it leaves": blow.t_end}


@pytest.mark.parametrize("where", ["in flight", "in contact", "as it leaves"])
def test_two_halves_are_the_whole(whole, cuts, where, tmp_path):
    first = carom.simulate(whole.world, whole.start, until=cuts[where], settings=EXACT)
    second = carom.simulate(whole.world, first, until=UNTIL, settings=EXACT)
    assert second.t[0] == cuts[where] and second.t[-1] == UNTIL
    for mine, known in ((second.q, whole.q), (second.v, whole.v)):
        np.testing.assert_allclose(mine[-1], known[-1], rtol=1e-8, atol=1e-10)
    assert [i.t_end for i in second.impacts] == pytest.approx(
        [i.t_end for i in whole.impacts if i.t_start > cuts[where]], rel=1e-10
    )
    # The ledger of the second half starts with what the contact holds there, if it is closed.
    assert second.energy.max_error_percent < 1e-6
    again = carom.simulate(whole.world, first.save(tmp_path / "first.nc"), until=UNTIL, settings=EXACT)
    np.testing.assert_array_equal(again.q, second.q)
    np.testing.assert_array_equal(again.v, second.v)


def test_a_run_that_went_on_is_repeated_from_there(whole, cuts):
    first = carom.simulate(whole.world, whole.start, until=cuts["in contact"], settings=EXACT)
    second = carom.simulate(whole.world, first, until=UNTIL)
    tighter = repeat(second, rtol=1e-11, atol=1e-13, until=UNTIL, progress=False)
    np.testing.assert_allclose(tighter.q[-1], whole.q[-1], rtol=1e-8, atol=1e-10)
    assert tighter.t[0] == cuts["in contact"] and tighter.impacts[0].t_start > cuts["in contact"]
    assert second.converge(progress=False).digits >= 4


def test_numbers_of_the_world_may_be_others(whole):
    first = carom.simulate(whole.world, whole.start, until=0.1, settings=EXACT)
    harder = carom.simulate(world(0.9), first, until=UNTIL, settings=EXACT)
    assert harder.impacts[0].restitution > whole.impacts[0].restitution + 0.1
    assert harder.impacts[0].t_start == pytest.approx(whole.impacts[0].t_start, rel=1e-9)


def test_what_cannot_be_gone_on_with_is_said(whole, tmp_path):
    first = carom.simulate(whole.world, whole.start, until=0.1, settings=EXACT)
    second = carom.Contact(DISK.tip, carom.Wall(-5.0, "right"), carom.Newton(0.5), radius=0.1, name="wall")
    (tmp_path / "no.nc").write_text("no")
    for start, there, until, words in (
        (first, whole.world, 0.1, "ended at 0.1 s; give a later time"),
        (first, world(more=[second]), 1.0, "was made in another world"),
        (tmp_path / "none.nc", whole.world, 1.0, "it is not there, or no NetCDF file"),
        (tmp_path / "no.nc", whole.world, 1.0, "it is not there, or no NetCDF file"),
    ):
        with pytest.raises(carom.CaromError, match=words):
            carom.simulate(there, start, until=until, settings=EXACT)
    pendulum = carom.World(carom.Arm([carom.Rod(1.0, 1.0)]))
    with pytest.raises(carom.CaromError, match="has 3 coordinates; the mechanism has 1"):
        carom.simulate(pendulum, first, until=1.0)
