"""Restitution as a function of speed: every form of the catalogue, and every law that takes one."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import carom
from carom.contact.catalogue import RESTITUTIONS, find
from carom.contact.impact._path import Weights, path
from carom.scenario import Scenario

NAMES = [entry.card.name for entry in RESTITUTIONS]
every_form = pytest.mark.parametrize("name", NAMES)
SPEEDS = np.concatenate([[0.0], np.geomspace(1e-9, 1e6, 400)])


def form_of(name: str) -> Any:
    return find(name, "restitution").example()


@every_form
def test_it_stays_between_plastic_and_elastic_and_falls_with_speed(name: str) -> None:
    e = np.asarray(jax.jit(jax.vmap(form_of(name).at))(jnp.asarray(SPEEDS)))
    assert np.all((e >= 0.0) & (e <= 1.0))
    assert np.all(np.diff(e) <= 1e-15) and e[0] > e[-1] + 0.1
    assert e[-1] < 0.2  # little bounces off at a thousand kilometres per second


@every_form
def test_its_derivatives_are_finite_also_where_nothing_moves(name: str) -> None:
    form = form_of(name)
    numbers, structure = jax.tree.flatten(jax.tree.map(jnp.asarray, form))

    def at(speed: Any, *values: Any) -> Any:
        return jax.tree.unflatten(structure, values).at(speed)

    slopes = jax.jit(jax.vmap(jax.jacfwd(at, argnums=tuple(range(1 + len(numbers)))), (0, *(None for _ in numbers))))
    assert all(np.all(np.isfinite(x)) for x in slopes(jnp.array([0.0, 1e-3, 1.0, 50.0]), *numbers))


@every_form
def test_its_card_names_its_numbers(name: str) -> None:
    card = find(name, "restitution").card
    assert [n for n, _ in card.parameters] == [f.name for f in dataclasses.fields(form_of(name))]
    assert card.source and card.choose


def test_numbers_that_make_no_sense_are_refused() -> None:
    for make, words in (
        (lambda: carom.PowerRestitution(1.2), r"value of PowerRestitution is 1.2; it must lie in \[0, 1\]"),
        (lambda: carom.PowerRestitution(0.5, speed=0.0), "speed of PowerRestitution"),
        (lambda: carom.LinearRestitution(-1.0), "slope of LinearRestitution"),
        (lambda: carom.ThorntonRestitution(0.0), "yield_speed of ThorntonRestitution"),
        (lambda: carom.ViscoelasticRestitution(float("nan")), "loss of ViscoelasticRestitution"),
    ):
        with pytest.raises(carom.CaromError, match=words):
            make()


# -- against what they are derived from --------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [0.01, 0.3, 2.0])
def test_the_viscoelastic_form_is_the_motion_up_to_the_instant_without_force(loss: float) -> None:
    """m = k = 1 and g = b: x'' + x^1.5 + b x^0.5 x' = 0 from x = 0, x' = v; the form is a rational approximation."""
    for speed in (0.01, 1.0):

        def pull(t: float, y: Any) -> float:
            return float(y[0] + loss * y[1])  # over the root of x

        pull.terminal, pull.direction = True, -1.0  # type: ignore[attr-defined]

        def rate(t: float, y: Any) -> list[float]:
            root = np.sqrt(max(y[0], 0.0))
            return [y[1], -root * (y[0] + loss * y[1])]

        found = solve_ivp(rate, (0.0, 100.0), [1e-12, speed], rtol=1e-10, atol=1e-14, events=pull)
        e = -float(found.y_events[0][0][1]) / speed
        assert float(carom.ViscoelasticRestitution(loss).at(speed)) == pytest.approx(e, abs=1e-2)
    assert float(carom.ViscoelasticRestitution(0.0).at(1.0)) == 1.0


@pytest.mark.parametrize("depth", [1.0, 1.5, 4.0, 100.0])
def test_thorntons_form_is_the_ratio_of_the_areas_under_his_curves(depth: float) -> None:
    """E* = R = 1, yield at an indentation of 1: Hertz up to there, then a line with its slope; back along Hertz's curve
    of a flatter body."""
    force = 4.0 / 3.0 + 2.0 * (depth - 1.0)
    taken = 8.0 / 15.0 + (depth - 1.0) * (4.0 / 3.0 + force) / 2.0
    radius = 4.0 / (3.0 * force) * ((2.0 * force + 4.0 / 3.0) / 4.0) ** 1.5
    given = 0.4 * force * (0.75 * force / np.sqrt(radius)) ** (2.0 / 3.0)
    speed = np.sqrt(taken / (8.0 / 15.0))  # over that at which it yields
    assert float(carom.ThorntonRestitution(0.2).at(0.2 * speed)) == pytest.approx(np.sqrt(given / taken), rel=1e-12)


def test_the_power_law_and_the_line_take_their_values() -> None:
    assert float(carom.PowerRestitution(0.8, 0.25, 2.0).at(32.0)) == pytest.approx(0.4, rel=1e-14)
    assert float(carom.PowerRestitution(0.8, -0.1).at(1e9)) == 1.0
    assert float(carom.LinearRestitution(0.1, 0.9).at(2.0)) == pytest.approx(0.7, rel=1e-14)


# -- in blows ----------------------------------------------------------------------------------------------------------


@every_form
def test_no_blow_with_friction_creates_energy(name: str) -> None:
    form, rng, n = form_of(name), np.random.default_rng(5), 20_000
    rows = rng.normal(size=(n, 2, 3))
    w = rows @ np.swapaxes(rows, 1, 2)
    u = np.stack([-rng.exponential(size=n), rng.normal(size=n) * rng.choice([0.0, 0.1, 1.0, 10.0], size=n)], axis=1)
    mu = 3.0 * rng.random(n) ** 2

    @jax.jit
    @jax.vmap
    def struck(w: Any, u: Any, mu: Any) -> Any:
        way = path(Weights(w[0, 0], w[0, 1], w[1, 1]), u[0], u[1], mu, mu)
        laws = [law(form) for law in (carom.Newton, carom.Poisson, carom.Stronge)]
        normal = [law.end(way, law.asked_at(-u[0])) for law in laws]
        return jnp.stack([jnp.stack([p, way.friction(p)]) for p in normal])

    impulses = np.asarray(struck(w, u, mu))
    gain = np.einsum("ni,nki->nk", u, impulses) + np.einsum("nki,nij,nkj->nk", impulses, w, impulses) / 2
    scale = np.abs(np.einsum("ni,nij,nj->n", u, np.linalg.inv(w), u))[:, None]
    assert np.max(gain[:, 1:] / scale) < 1e-10  # Poisson, Stronge
    after = u[:, 0] + np.einsum("nj,nj->n", w[:, 0], impulses[:, 0])
    asked = np.asarray(jax.vmap(form.at)(-u[:, 0]))
    np.testing.assert_allclose(after, -asked * u[:, 0], atol=1e-9)  # Newton


BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
FLOOR = carom.Plane(height=0.0)


def floor_of(law: Any) -> carom.World:
    floor = carom.Contact(BALL.tip, FLOOR, law, carom.Coulomb(0.2), radius=0.1, name="floor")
    return carom.World(BALL, contacts=floor, gravity=9.81)


@pytest.mark.parametrize("law", [carom.Newton, carom.Poisson, carom.Stronge])
def test_a_ball_bounces_by_the_speed_of_each_blow(law: Any) -> None:
    form = carom.PowerRestitution(0.8, 0.25)
    world = floor_of(law(form))
    hits = carom.simulate(world, world.state(base=(0.0, 1.1)), until=2.0).impacts
    assert len(hits) > 3
    for hit in hits:
        speed = -hit.normal_velocity_before
        assert hit.restitution == pytest.approx(0.8 * speed**-0.25 if speed > 0.8**4 else 1.0, rel=1e-12)


def test_contacts_that_share_a_blow_have_each_their_own_speed() -> None:
    """A turning bar whose ends strike at once, at 2 and 1 m/s."""
    sites = {"left": (-0.5, 0.0), "right": (0.5, 0.0)}
    bar = carom.Mechanism(
        [carom.Link(carom.Body(mass=1.0, inertia=0.1, com=(0.0, 0.0)), sites=sites)], base=carom.Free()
    )

    def world(law: Any) -> carom.World:
        feet = [carom.Contact(bar.site(site), FLOOR, law, name=site) for site in sites]
        return carom.World(bar, contacts=feet, gravity=0.0)

    form = carom.LinearRestitution(0.2)
    struck = world(carom.Newton(form))
    start = struck.state(base=(0.0, 0.0), base_velocity=(0.0, -1.5), rates=[1.0])
    after = carom.simulate(struck, start, until=0.01).at([0.01]).v[0]
    ends = after[1] - 0.5 * after[2], after[1] + 0.5 * after[2]
    np.testing.assert_allclose(ends, [0.6 * 2.0, 0.8 * 1.0], rtol=1e-12)
    with pytest.raises(carom.CaromError, match=r"'left' is a function of speed by Stronge.*use Poisson"):
        world(carom.Stronge(form))


@every_form
def test_files_hold_it(name: str) -> None:
    world = floor_of(carom.Poisson(form_of(name)))
    written = Scenario.of(world, world.state(base=(0.0, 1.0)), until=1.0)
    again = Scenario.read(written.toml())
    assert again == written and f'law = "{name}"' in written.toml()
    assert all(np.array_equal(a, b) for a, b in zip(*map(jax.tree.leaves, (again.world(), world)), strict=True))
