"""Plain steps: the branch that they have of their own leaves what the whole decision would."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from examples.relief_valve import start as opened
from examples.relief_valve import valve

import carom
from carom.hybrid import _loop, outcome
from carom.hybrid._ending import CHATTER
from carom.hybrid._run import start
from carom.hybrid._uneventful import is_plain, went_on
from carom.scenario._build import beginning, settings_of, world_of

UNTIL = 2.0


def of_valve():
    world = valve(5.0)
    return world, opened(world), carom.Settings("dopri8", rtol=1e-10, atol=1e-10, ledger=False)


def of_scenario(name):
    scenario = carom.Scenario.load(name)
    world = world_of(scenario)
    return world, beginning(scenario, world), settings_of(scenario)


@pytest.fixture(scope="module")
def valves():
    return of_valve()


@pytest.mark.parametrize("made", [of_valve, lambda: of_scenario("arm-repeated-impact"), lambda: of_scenario("corner")])
def test_a_plain_step_leaves_what_the_whole_decision_would(made):
    world, state, settings = made()
    integration = settings.integration(UNTIL)

    def once(s):
        c, plain, differing = s
        a = _loop.attempt(world, integration, c)
        whole, short = _loop._decided(world, integration, c, a), went_on(world, integration, c, a)
        same = [jnp.all(jnp.equal(x, y)) for x, y in zip(*map(jax.tree.leaves, (whole, short)), strict=True)]
        mine = is_plain(world, integration, c, a)
        return whole[0], plain + mine, differing + (mine & ~jnp.all(jnp.stack(same)))

    first = start(world, state, 1e-3, settings.ledger)
    last, plain, differing = carom.jit(
        lambda c: jax.lax.while_loop(lambda s: s[0].outcome == outcome.RUNNING, once, (c, 0, 0))
    )(first)
    assert last.outcome == outcome.FINISHED and differing == 0
    assert plain > 0.4 * last.steps


def test_events_that_came_too_densely_are_asked_about_after_plain_steps_too(valves):
    world, state, settings = valves
    integration = settings.integration(UNTIL)
    c = start(world, state, 1e-3, settings.ledger)
    step = carom.jit(lambda c: _loop.advance(world, integration, c)[0])
    plain = carom.jit(lambda c: is_plain(world, integration, c, _loop.attempt(world, integration, c)))
    while not plain(c):
        c = step(c)
    dense = (c.t - 0.1 * c.h, c.t - 0.05 * c.h)
    for events, known in ((3 * CHATTER // 2 - 1, outcome.CHATTER), (3 * CHATTER // 2, outcome.RUNNING)):
        found = step(c._replace(window=jax.tree.map(jnp.asarray, dense), events=jnp.asarray(events)))
        assert found.outcome == known, events
    assert np.isfinite(found.t)
