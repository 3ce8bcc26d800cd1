"""Rules hold in every lane: while numbers are traced, what breaks one is an outcome instead of a sentence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import errors
from carom.hybrid import outcome
from carom.hybrid._run import named, start
from carom.study import _lanes as lanes_module
from carom.study._lanes import _dealt_back

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
BAR = carom.Mechanism([carom.Link(carom.Rod(length=1.0, mass=1.0), sites={"root": (0.0, 0.0)})], base=carom.Free())
PAIR = carom.side_by_side(one=BALL, two=BAR)
DISK, START, END = (PAIR.site(name) for name in ("one.link1.tip", "two.root", "two.link1.tip"))


RULES = {  # how to make it, a number that it allows, one that it does not
    "restitution of an impulsive law": (carom.Poisson, 1.0, 1.01),
    "restitution of a compliant law": (lambda p: carom.LankaraniNikravesh(1e6, p), 0.5, -0.1),
    "restitution that is divided by": (lambda p: carom.Flores(1e6, p), 0.5, 0.0),
    "static friction": (lambda p: carom.Coulomb(0.3, p), 0.3, 0.2),
    "Ambrosio's speeds": (lambda p: carom.Ambrosio(0.3, 1e-3, p), 2e-3, 1e-3),
    "LuGre's damping": (lambda p: carom.LuGre(mu=0.3, static=0.4, speed=0.1, stiffness=1e4, damping=p), 1.0, 1e3),
    "Poisson's ratio": (lambda p: carom.Material(210e9, p), 0.5, 0.51),
    "mass of an inertia": (lambda p: carom.Body(mass=p, inertia=1.0), 1.0, 0.0),
    "sides of a segment": (
        lambda p: carom.Contact(DISK, carom.Segment(START, END), carom.Hertz(1e6), radius=p),
        0.1,
        0.0,
    ),
    "a ring's hole": (lambda p: carom.Contact(DISK, carom.Ring(END, 1.0), carom.Hertz(1e6), radius=p), 0.9, 1.0),
    "a normal's length": (lambda p: carom.Plane(point=(0.0, 0.0), normal=(0.0, p)), 1.0, 0.0),
    "a torque's limit": (
        lambda p: carom.PostureControl(BALL, [0.0], [1.0], [1.0], limit=jnp.stack([p])),
        0.0,
        -1.0,
    ),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_has_a_sentence_has_a_flaw_in_a_lane(rule):
    make, right, wrong = RULES[rule]

    def flawed(p):
        with errors.collecting() as flaws:
            make(p)
        return jnp.any(jnp.stack(flaws))

    make(jnp.asarray(right))
    with pytest.raises(carom.CaromError):
        make(jnp.asarray(wrong))
    assert not jax.jit(flawed)(right)
    assert jax.jit(flawed)(wrong)


def bounced(e):
    floor = carom.Contact(BALL.tip, carom.Plane(height=0.0), carom.Poisson(e), radius=0.1, name="floor")
    world = carom.World(BALL, contacts=floor, gravity=9.81)
    return carom.final_state(world, world.state(base=(0.0, 1.1)), 0.6).outcome


def test_final_state_looks_at_the_numbers_of_a_world_that_was_made_under_vmap():
    codes = jax.jit(jax.vmap(bounced))(jnp.array([0.5, 1.5, -0.5, np.nan]))
    assert codes.tolist() == [outcome.FINISHED, outcome.BAD_NUMBER, outcome.BAD_NUMBER, outcome.BAD_NUMBER]


def test_a_lane_that_gained_energy_without_end_does_not_ask_for_more_steps():
    world = carom.World(BALL, gravity=9.81)
    first = start(world, world.state(base=(0.0, 1.1)), 1e-3, False)
    for speed, name in ((10.0, outcome.STEP_LIMIT), (1e4, outcome.RUNAWAY)):
        y = first.y._replace(v=(jnp.asarray(0.0), jnp.asarray(speed), jnp.asarray(0.0)))
        last = first._replace(y=y, outcome=jnp.asarray(outcome.STEP_LIMIT))
        assert int(named(world, first, last).outcome) == name
        assert int(named(world, first, last._replace(outcome=jnp.asarray(outcome.FINISHED))).outcome) == 1


def test_lanes_are_put_back_in_order_also_where_nothing_is_kept():
    dealt = [np.arange(6.0)[k::2, None] for k in range(2)]
    np.testing.assert_array_equal(_dealt_back(dealt)[:, 0], np.arange(6.0))
    assert _dealt_back([np.zeros((3, 0)), np.zeros((3, 0))]).shape == (6, 0)


def world_of_its_own(world):
    return world


def test_worlds_as_parameters_need_not_have_the_same_zeros(monkeypatch):
    """Lanes are dealt out: here every other spring is none, so that one processor gets nothing but those."""
    monkeypatch.setattr(lanes_module, "_cores", lambda: 2)
    stiffness = [0.0, 4.0, 0.0, 4.0]

    def made(k):
        joint = carom.Slider((1.0, 0.0), stiffness=k)
        return carom.World(carom.Mechanism([carom.Link(carom.PointMass(1.0), name="mass", joint=joint)]))

    worlds = [made(k) for k in stiffness]
    rows = jax.tree.map(lambda *x: np.stack(x), *worlds)
    ends = carom.batch(world_of_its_own, rows, worlds[0].state(slides=[0.3]), until=1.0)
    np.testing.assert_allclose(ends.q[:, 0], 0.3 * np.cos(np.sqrt(stiffness)), rtol=1e-7)
