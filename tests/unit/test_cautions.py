"""Sentences about runs that should be looked at: ledgers that do not close, contacts that go inside or pull."""

import dataclasses
import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.result import _cautions as cautions
from carom.result._cautions import tolerance_for


def swinging(rtol: float, until: float = 2.0):
    arm = carom.Arm([carom.Rod(1.0, 1.0), carom.Link(carom.Rod(1.0, 1.0), joint=carom.Joint(damping=0.5))])
    world = carom.World(arm)
    return carom.simulate(
        world, world.state(angles=[0.0, 0.5]), until=until, settings=carom.Settings(rtol=rtol, atol=1e-2 * rtol)
    )


@pytest.fixture(scope="module")
def dropped():
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), normal=0.5, radius=0.1, name="floor")
    world = carom.World(ball, contacts=floor, gravity=9.81)
    return carom.simulate(world, world.state(base=(0.0, 1.1)), until=3.0)


@pytest.mark.parametrize(
    ("rtol", "error", "needed"),
    [(1e-8, 1e-5, 1e-9), (1e-8, 2e-5, 1e-10), (1e-3, 1.0, 1e-9), (1e-8, 1.0, 1e-13), (1e-12, 1.0, 1e-13)],
)
def test_the_tolerance_that_is_needed(rtol, error, needed):
    assert tolerance_for(rtol, error) == needed


def test_runs_as_good_as_their_tolerance_say_nothing(dropped):
    assert dropped.warnings == [] and swinging(1e-8).warnings == [] and swinging(1e-4).warnings == []


def test_a_ledger_that_does_not_close_names_the_tolerance_it_needs():
    result = swinging(1e-8)
    works = result.final.y.work
    assert result.energy.max_error_percent < 1e-5
    # Work that nobody did: two millionths of the energy in play.
    false = jnp.asarray(works[0]) + 2e-6 * result.energy.in_play
    told = dataclasses.replace(result, final=result.final._replace(y=result.final.y._replace(work=(false, *works[1:]))))
    (sentence,) = told.warnings
    assert (
        sentence
        == "the energy ledger misses 2.0e-04 % of the energy in play; for it to close to 1e-06 %, run with rtol=1e-11"
    )


def test_a_contact_that_is_inside_its_surface_is_told_by_simulate(dropped, monkeypatch):
    deep = dataclasses.replace(dropped, final=dropped.final._replace(depth=jnp.asarray(2e-9)))
    (sentence,) = deep.warnings
    assert sentence.startswith("a rigid contact was inside its surface by up to 2e-09 m")
    monkeypatch.setattr(cautions, "SHALLOW", -1.0)
    with pytest.warns(carom.CaromWarning, match="inside its surface"):
        carom.simulate(dropped.world, dropped.world.state(base=(0.0, 1.1)), until=0.1)


def test_a_contact_that_pulls_is_named(dropped, monkeypatch):
    own = cautions.contact_signals

    def pulling(result, times):
        found = own(result, times)["floor"]
        return {"floor": dataclasses.replace(found, normal=np.where(times > 2.0, -0.5, found.normal))}

    monkeypatch.setattr(cautions, "contact_signals", pulling)
    (sentence,) = dataclasses.replace(dropped).warnings
    assert sentence.startswith("contact 'floor' pulls with 0.5 N at t = ")


def test_simulate_warns_of_nothing_that_is_fine():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        swinging(1e-6)


def test_where_everything_rests_nothing_is_missed():
    """What is in play is then rounding, of which the ledger missed all."""
    rod = carom.Mechanism([carom.Link(carom.Rod(1.0, 1.0), name="rod", sites={"heel": (0.0, 0.0)})], base=carom.Free())
    feet = [
        carom.Contact(site, carom.Plane(height=300.0), carom.Newton(0.3), name=site) for site in ("rod.tip", "heel")
    ]
    world = carom.World(rod, contacts=feet)
    result = carom.simulate(world, world.state(base=(0.1, 300.0)), until=2.0)
    assert result.warnings == [] and result.energy.max_error_percent < 1e-6
