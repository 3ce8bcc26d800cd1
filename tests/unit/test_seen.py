"""What comes and goes within a step, and what decides when contacts come to rest: the pieces, number by number."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.impact._maintained import stopped
from carom.contact.impact._system import System
from carom.hybrid._doubts import _at_once, _part_doubt, doubted, limits_of
from carom.hybrid._locate import Asked, Ends
from carom.hybrid._reaction import Row, react
from carom.hybrid.condition import ROUNDING, rising
from carom.hybrid.scene import Scene


def asked(condition, value, rate):
    columns = [(jnp.asarray(float(x)),) for x in (condition.slow, condition.deep, condition.floor, condition.rounding)]
    return Asked(Ends((jnp.asarray(value),), (jnp.asarray(rate),)), *columns, (condition.edge,))


def test_a_crest_whose_top_is_where_the_step_ends_is_not_passed_over():
    """A thrown ball topped a ceiling by 0.07 mm; its gap's rate at the end of the step was exactly zero."""
    top = [jnp.asarray(x) for x in (-1.0, 2.2, 0.1, 0.0)]  # value and rate at both ends; rising, and no more
    assert float(_part_doubt(*top, error=0.0, level=1e-15)) < 1.0
    assert float(_part_doubt(top[0], top[1], top[2], jnp.asarray(0.1), error=0.0, level=1e-15)) == 1.0  # met, and seen
    assert float(_part_doubt(top[0], top[1], -top[2], top[3], error=0.0, level=1e-15)) == 1.0  # below zero all the way


def test_what_is_inside_by_rounding_and_slow_is_looked_at_beyond_its_depth_only():
    """A foot that began a step between one and two roundings inside, slower than counts, cut its steps without end."""
    foot = asked(rising(0.0, slow=1e-4, deep=2e-11, rounding=1e-11), value=1.5e-11, rate=3e-5)
    assert float(doubted(limits_of(foot, 0), jnp.asarray(1.5e-11))) == 2e-11
    assert float(doubted(limits_of(foot, 0), jnp.asarray(-1.0))) == 1e-11
    assert not bool(_at_once(limits_of(foot, 0), foot.edge[0], jnp.asarray(1.5e-11), jnp.asarray(3e-5)))
    assert bool(_at_once(limits_of(foot, 0), foot.edge[0], jnp.asarray(1.5e-11), jnp.asarray(2e-4)))
    assert bool(_at_once(limits_of(foot, 0), foot.edge[0], jnp.asarray(3e-11), jnp.asarray(3e-5)))


def test_the_rounding_of_a_rate_counts_the_reactions_in_it():
    """A foot under a body's axis is moved by what others push alone: the size of its terms is theirs."""
    inverse = np.array([[1.0, 0.3], [0.3, 1.0]])
    held = Row(jnp.asarray(True), [1.0, 0.0], [1.0, 0.0], 0.0, 0.0, 0.0)
    free = Row(jnp.asarray(False), [0.0, 1.0], [0.0, 1.0], 0.0, 0.0, 0.0)
    found = react([held, free], (-9.81, 0.0), lambda f: list(inverse @ np.asarray(f)))
    np.testing.assert_allclose(found.acceleration[1], 0.3 * 9.81, rtol=1e-12)
    np.testing.assert_allclose(found.sizes[1], 0.3 * 9.81, rtol=1e-12)


def test_feet_that_come_to_rest_do_so_together_and_gain_nothing():
    """Stopped one after the other, two feet of a bar handed a speed of 2e-6 m/s to each other at one instant."""
    mass = np.diag([2.0, 0.1])
    rows = [[1.0, -0.3], [1.0, 0.5], [1.0, 0.2]]
    velocity = np.array([1e-6, -4e-6])
    system = System([], rows, [], [float(np.dot(row, velocity)) for row in rows], [])
    after, speed = stopped(
        system, [jnp.asarray(on) for on in (True, True, False)], velocity, lambda f: list(np.linalg.solve(mass, f))
    )
    np.testing.assert_allclose(speed, np.array(rows) @ np.array(after), atol=1e-21)
    assert np.max(np.abs(speed[:2])) < 1e-20
    one, _ = stopped(
        system, [jnp.asarray(on) for on in (True, False, False)], velocity, lambda f: list(np.linalg.solve(mass, f))
    )
    assert np.array(one) @ mass @ np.array(one) < velocity @ mass @ velocity


def test_a_point_on_the_axis_of_a_body_at_the_origin_has_the_rounding_of_its_body():
    """The middle foot of a bar at height zero had a gap of terms that are all zero, and no rounding at all."""
    body = carom.Body(mass=1.0, inertia=0.1)
    bar = carom.Mechanism([carom.Link(body, name="bar", sites={"a": (0.0, 0.0), "b": (0.5, 0.0)})], base=carom.Free())
    foot = carom.Contact(bar.site("a"), carom.Plane(height=0.0), carom.Newton(0.5), name="foot")
    zero = tuple(jnp.zeros(3))
    scene = Scene(bar, jnp.asarray(0.0), zero, zero)
    rounding = float(foot.pair.rounding(scene, foot.pair.touching(scene)))
    np.testing.assert_allclose(rounding, ROUNDING * 0.5, rtol=1e-12)


@pytest.mark.slow
def test_a_ball_comes_to_rest_on_a_ball_that_rests():
    """Nothing presses two balls in free fall together; what rests below presses. Rebounds of 1e-8 m/s had no end."""
    balls = {
        name: carom.Mechanism([carom.Disk(radius=0.05, mass=m)], base=carom.Free())
        for name, m in (("a", 3.5), ("b", 0.15))
    }
    both = carom.side_by_side(**balls)
    low, high = both.site("a.link1.tip"), both.site("b.link1.tip")
    law = carom.Newton(0.4)
    contacts = [
        carom.Contact(low, high, law, None, 0.05, 0.05, name="balls"),
        carom.Contact(low, carom.Plane(height=-1.2), law, radius=0.05, name="floor"),
    ]
    world = carom.World(both, contacts=contacts, gravity=9.81)
    result = carom.simulate(
        world, world.state(base=[[0.0, -1.1], [0.0, -0.99]]), until=1.0, settings=carom.Settings(max_steps=20_000)
    )
    assert result.statistics.events < 200
    np.testing.assert_allclose(result.v[-1], 0.0, atol=1e-12)
    np.testing.assert_allclose(result.q[-1][[1, 3]], [-1.15, -1.05], atol=1e-12)
