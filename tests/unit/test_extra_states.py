"""States that users add: a valve against published numbers, a muscle and heat in closed form, lanes, derivatives."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from examples import relief_valve

import carom

# -- the relief valve --------------------------------------------------------------------------------------------------

RETURNS = {3.0: ([2.4935946769], 1.7168295579), 5.0: ([4.8309823800], 2.1546994194)}
ALTERNATES = [5.6354782364, 7.1092973535]


@functools.cache
def flowing(flow):
    return relief_valve.run(flow, until=250.0 if flow == 6.0 else 100.0)


@pytest.mark.parametrize("flow", RETURNS)
def test_the_valve_returns_as_published(flow):
    lifts, period = RETURNS[flow]
    t, lift = relief_valve.tops(flowing(flow))
    np.testing.assert_allclose(lift, lifts * len(lift), atol=2e-10)
    np.testing.assert_allclose(np.diff(t), period, atol=2e-10)


def test_it_alternates_at_a_larger_flow():
    _, lift = relief_valve.tops(flowing(6.0))
    np.testing.assert_allclose(np.sort(lift[:2]), ALTERNATES, atol=2e-10)
    np.testing.assert_allclose(lift[2:], lift[:-2], atol=2e-10)


def test_its_work_is_in_the_ledger_and_its_pressure_in_the_results():
    result = flowing(5.0)
    assert result.energy.max_error_percent < 1e-8
    assert list(result.energy.works)[-2] == "chamber: work" and np.ptp(result.energy.works["chamber: work"]) > 1.0
    blow = result.impacts[-1].t_start
    before, after = result.extra([np.nextafter(blow, 0.0), blow])["pressure"]
    assert before == pytest.approx(after, rel=1e-9) and before > 10.0  # a blow leaves it as it is
    table = result.trajectory["extra"].sel(state="pressure")
    assert table.values[-1] == result.extra(result.t[-1])["pressure"][0] == result.final.y.extra[1][0]
    (panel,) = result.plot.extra().axes
    assert panel.get_ylabel() == "pressure" and "extra" in result.plot.names()
    np.testing.assert_array_equal(panel.lines[0].get_ydata(), table.values)


@pytest.mark.slow
def test_lanes_have_their_own_start_and_derivatives_go_through_blows():
    settings = carom.Settings(solver="dopri8", rtol=1e-11, atol=1e-12)
    step, until = 1e-5, 12.0
    flows = jnp.array([5.0, 5.0 - step, 5.0 + step, 5.0, 5.0])
    pressures = jnp.array([9.0, 9.0, 9.0, 9.0 - step, 9.0 + step])
    world = relief_valve.valve(5.0)
    start = world.state(slides=[0.2], extra={"pressure": pressures})
    assert start.lanes == 5 and start.q.shape == (5, 1)
    ends = carom.batch(relief_valve.valve, flows, start, until=until, settings=settings)
    single = carom.simulate(world, world.state(slides=[0.2], extra={"pressure": 9.0}), until=until, settings=settings)
    assert sum(e.exit == "strike seat" for e in single.events) > 2
    ours = single.extra(until)["pressure"][0]
    np.testing.assert_allclose(ends.extra["pressure"][0], ours, rtol=1e-9)

    def end(flow, pressure):
        valve = relief_valve.valve(flow)
        begin = valve.state(slides=[0.2], extra={"pressure": pressure})
        y = carom.final_state(valve, begin, until, settings=settings).y
        return jnp.stack([y.q[0], valve.extra_of(y)["pressure"]])

    ahead = carom.jit(jax.jacfwd(end, argnums=(0, 1)))(5.0, 9.0)
    found = np.stack([ends.q[:, 0], ends.extra["pressure"]])
    np.testing.assert_allclose(ahead[0], (found[:, 2] - found[:, 1]) / (2 * step), rtol=1e-5)
    np.testing.assert_allclose(ahead[1], (found[:, 4] - found[:, 3]) / (2 * step), rtol=1e-5)


# -- a muscle, and heat from a contact ---------------------------------------------------------------------------------


def warming(scene, x, p):
    """The muscle follows its signal; what the floor takes becomes heat, in units of `p['unit']` joules."""
    floor = scene.touch("floor")
    power = floor.normal * floor.motion.rate - floor.friction * floor.motion.sliding
    return {"heat": power / p["unit"], "activation": (p["signal"] - x["activation"]) / p["lag"]}


def pulling(scene, x, p):
    _, _, vx, vy = scene.site(scene.mechanism.site("fin"))
    return {"arm": p["strength"] * x["activation"], "fin": (-p["drag"] * vx, -p["drag"] * vy)}


def muscled(unit=1.0, sign=1.0):
    rod = carom.Link(carom.Rod(length=1.0, mass=1.0), name="arm", sites={"fin": (0.6, 0.1 * sign)})
    arm = carom.Mechanism([rod], base=carom.Fixed(3.0, -2.0))
    law = carom.HuntCrossley(1e5, restitution=0.6), carom.SmoothCoulomb(0.3, 0.1)
    floor = carom.Contact(arm.tip, carom.Plane(height=-2.5), *law, name="floor")
    muscle = carom.ExtraStates(
        {"activation": 0.0, "heat": 0.0},
        warming,
        pulling,
        {"signal": 0.8, "lag": 0.3, "strength": 2.0 * sign, "drag": 0.2, "unit": unit},
        units={"heat": "J"},
        sizes={"heat": 1.0 / unit},
        name="muscle",
    )
    return carom.World(arm, contacts=floor, elements=muscle)


@functools.cache
def swung(unit=1.0, sign=1.0):
    world = muscled(unit, sign)
    angle = 0.3 if sign > 0 else np.pi - 0.3
    return carom.simulate(world, world.state([angle]), until=1.5, settings=carom.Settings(rtol=1e-10, atol=1e-12))


def test_a_muscle_follows_its_signal_and_heat_is_what_the_floor_took():
    result = swung()
    assert len(result.impacts) > 1
    times = np.linspace(0.0, 1.5, 50)
    found = result.extra(times)
    np.testing.assert_allclose(found["activation"], 0.8 * (1.0 - np.exp(-times / 0.3)), atol=1e-10)
    works = result.energy.works
    taken = -sum(work for name, work in works.items() if name.startswith("floor"))
    assert taken[-1] > 1.0
    heat = np.append(result.steps.y.extra[1][1], found["heat"][-1])
    np.testing.assert_allclose(heat, taken, atol=1e-9 * np.max(taken))
    assert works["muscle: work"][-1] != 0.0 and result.energy.max_error_percent < 1e-7
    assert result.trajectory["extra"].attrs["units"] == "activation [1], heat [J]"
    assert "muscle" in repr(result.world) and "heat=0 J" in repr(result.world)


def test_units_of_a_state_and_a_mirror_change_nothing():
    plain, small, mirrored = swung(), swung(2.0**40), swung(1.0, -1.0)
    assert small.statistics.steps == plain.statistics.steps
    np.testing.assert_array_equal(small.extra(1.5)["heat"] * 2.0**40, plain.extra(1.5)["heat"])
    np.testing.assert_allclose(np.pi - mirrored.q[-1], plain.q[-1], atol=1e-8)
    np.testing.assert_allclose(mirrored.extra(1.5)["heat"], plain.extra(1.5)["heat"], rtol=1e-8)


# -- mistakes ----------------------------------------------------------------------------------------------------------


def level(scene, x, p):
    return {"level": 0.0}


def test_each_mistake_has_its_sentence(unchecked):
    arm = carom.Arm([carom.Rod(1.0, 1.0)])
    afloat = carom.Mechanism([carom.Rod(1.0, 1.0)], base=carom.Free())
    rigid = carom.Contact(arm.tip, carom.Plane(height=-2.0), carom.Newton(0.5), name="floor")

    def world(rates=level, forces=None, states=None, mechanism=arm, **more):
        tank = carom.ExtraStates({"level": 0.0} if states is None else states, rates, forces, name="tank", **more)
        return carom.World(mechanism, contacts=rigid if mechanism is arm else (), elements=tank)

    def touching(scene, x, p):
        return {"level": scene.touch("floor").normal}

    good = world()
    sentences = {
        "states of 'tank' is {}; it must hold names": lambda: world(states={}),
        "level of 'tank' is inf; it must be a finite": lambda: world(states={"level": np.inf}),
        "no state \\(units of 'tank'\\) 'levl'.*did you mean 'level'": lambda: world(units={"levl": "m"}),
        "size of level of 'tank' is 0; it must be greater": lambda: world(sizes={"level": 0.0}),
        "rates of 'tank' is 3; it must be a function": lambda: world(3),
        "rates of 'tank' returns a float": lambda: world(lambda scene, x, p: 0.0),
        "rates of 'tank' returns \\['lvl'\\]; it must return a rate for each": lambda: world(
            lambda s, x, p: {"lvl": 0}
        ),
        "rate of level of 'tank' is .*it must be one number": lambda: world(lambda s, x, p: {"level": (1.0, 2.0)}),
        "there is no site 'hand'": lambda: world(forces=lambda s, x, p: {"hand": (1.0, 0.0)}),
        "force on 'link1.tip' of 'tank' is 1.0; it must be two numbers": lambda: world(
            forces=lambda s, x, p: {"link1.tip": 1.0}
        ),
        "torque on 'link1', the first link of a free base": lambda: world(
            forces=lambda s, x, p: {"link1": 1.0}, mechanism=afloat
        ),
        "force of contact 'floor' .* it is a reaction": lambda: world(touching),
        "2 extra states are called 'level'": lambda: carom.World(
            arm, elements=[carom.ExtraStates({"level": 0.0}, level, name=name) for name in "ab"]
        ),
        "no extra state of this world 'lever'.*did you mean 'level'": lambda: good.state(extra={"lever": 1.0}),
        "'level' of state is 'full'; every entry must be a number": lambda: good.state(extra={"level": "full"}),
        "extra of state is 3.0; it must hold names": lambda: good.state(extra=3.0),
        "extra of state has shapes .* and the rest \\(2,\\)": lambda: good.state(
            np.zeros((2, 1)), extra={"level": np.zeros(3)}
        ),
        "'level' of start is nan": lambda: carom.simulate(good, good.state(extra={"level": np.nan}), until=1.0),
        "no extra state of this world 'level'": lambda: carom.simulate(
            carom.World(arm), good.state(extra={"level": 1.0}), until=1.0
        ),
        "this world has no extra states": lambda: _still().plot.extra(),
        "'tank'.*ExtraStates": lambda: carom.Scenario.of(good, good.state(), until=1.0, name="tank"),
    }
    for sentence, mistake in sentences.items():
        with pytest.raises(carom.CaromError, match=sentence):
            mistake()


def _still():
    world = carom.World(carom.Arm([carom.Rod(1.0, 1.0)]))
    return carom.simulate(world, world.state(), until=0.01)
