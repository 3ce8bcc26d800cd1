"""Scenarios: files and Python spell the same worlds, every number can be set, every mistake has its sentence."""

import re
import tomllib

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import carom
from carom import mechanism
from carom.contact import catalogue
from carom.errors import CaromError
from carom.scenario import Scenario, ScenarioError, json_schema, load, names
from carom.scenario._build import settings_of, state_of
from carom.scenario._change import parsed_change
from carom.scenario._text import plain

WITH_WORLD = [name for name in names() if name not in ("inchworm", "inchworm-terrain")]  # a gait is of several worlds


def same(a, b):
    """Equal structure, equal numbers."""
    leaves = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return jax.tree.structure(a) == jax.tree.structure(b) and all(np.array_equal(x, y) for x, y in leaves)


def equal(a, b):  # pytest's account of the differences takes minutes where texts are long
    return a == b


def in_python(scenario):
    """The scenario once more, by way of the Python objects that it describes."""
    world = scenario.world()
    start, settings = state_of(scenario, world.mechanism), settings_of(scenario)
    return world, Scenario.of(world, start, until=scenario.run.until, name=scenario.name, settings=settings)


# -- shipped scenarios -------------------------------------------------------------------------------------------------


def test_all_that_should_be_shipped_is():
    chains = {f"elastic-chain-{ends}" for ends in ("ss", "cc", "sc-cc-cs", "cs-ss-sc", "rigid")}
    arms = {"arm-plastic", "arm-repeated-impact", "arm-controllers", "capture-sideways", "capture-head-on", "inchworm"}
    machines = {"compass-walker", "hopper", "juggler", "hammer", "gripper", "slider-crank-clearance"}
    arms |= {"flexible-strike", "flexible-capture", "inchworm-terrain", "identify-then-capture"}
    assert set(names()) == chains | arms | machines | {"ball-drop", "ball-on-slope", "corner"}


@pytest.mark.parametrize("name", names())
def test_a_shipped_scenario_survives_its_own_text(name):
    scenario = load(name)
    assert scenario.name == name and scenario.title and scenario.source and scenario.quantities
    again = Scenario.read(scenario.toml())
    assert equal(again, scenario) and equal(again.toml(), scenario.toml())
    for variant in scenario.variants:
        assert equal(Scenario.read(scenario.variant(variant).toml()), scenario.variant(variant))


@pytest.mark.parametrize("name", WITH_WORLD)
def test_a_shipped_scenario_survives_python(name):
    world, written = in_python(load(name))
    again = Scenario.read(written.toml())
    assert equal(again, written) and same(again.world(), world)
    states = [state_of(s, world.mechanism) for s in (again, load(name))]
    assert same(*states) and again.run == load(name).run


def test_a_file_on_disk_is_the_same_scenario(tmp_path):
    load("corner").save(tmp_path / "mine.toml")
    assert Scenario.load(tmp_path / "mine.toml") == load(str(tmp_path / "mine.toml")) == load("corner")
    assert [p.name for p in tmp_path.iterdir()] == ["mine.toml"]


def numbers(data, path=()):
    """Dotted paths of all numbers in tables, as --set takes them."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from numbers(value, (*path, f'"{key}"' if "." in str(key) else str(key)))
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield ".".join(path), data


def at_path(data, path):
    for step in re.findall(r'"[^"]*"|[^.]+', path):
        data = data[int(step)] if isinstance(data, list) else data[step.strip('"')]
    return data


@pytest.mark.parametrize("name", names())
def test_every_number_can_be_set(name):
    scenario = load(name)
    found = dict(numbers(plain(scenario)))
    assert {"run.until", "run.until.1", "run.until.2"} & set(found) and len(found) > 10
    for path, value in found.items():
        if path == "format":
            continue
        # Whole numbers have ranges of their own; all others may be a little larger.
        other = value + 1 if isinstance(value, int) else value * 1.0625 + 0.03125
        parsed = parsed_change(f"{path}={other!r}")
        assert parsed == (path, other)
        assert at_path(plain(scenario.with_(dict([parsed]))), path) == other, path


def test_the_version_of_the_format_is_the_only_number_that_is_fixed():
    with pytest.raises(
        ScenarioError, match="format is 1; this carom reads format 2; say format = 2 and run carom check"
    ):
        load("corner").with_({"format": 1})
    for later in (3, 4, 17):
        with pytest.raises(ScenarioError, match=f"format is {later}; this carom reads format 2; update carom"):
            load("corner").with_({"format": later})
    for wrong in (0, -1, "'two'"):
        with pytest.raises(ScenarioError, match=r"this carom reads format 2; say format = 2$"):
            load("corner").with_({"format": wrong})


def test_set_reaches_fields_that_the_file_leaves_out():
    scenario = load("ball-drop").with_(dict([parsed_change("mechanisms.ball.links.ball.joint.damping=0.25")]))
    assert scenario.mechanisms["ball"].links["ball"].joint.damping == 0.25
    scenario = scenario.with_(dict([parsed_change("run.solver=dopri8"), parsed_change("run.max_events=3")]))
    assert (scenario.run.solver, scenario.run.max_events) == ("dopri8", 3)
    law = dict([parsed_change('contacts.floor.normal={law = "poisson", restitution = 0.25}')])
    assert scenario.with_(law).contacts["floor"].normal.law == "poisson"


def test_the_schema_tells_every_field():
    schema = json_schema()
    assert schema["properties"]["run"]["description"] and not schema["additionalProperties"]
    for table in (schema, *schema["$defs"].values()):
        for field, rules in table.get("properties", {}).items():
            assert rules.get("description"), (table["title"], field)


# -- worlds that no file can hold --------------------------------------------------------------------------------------

ARM = carom.Arm([carom.Rod(length=1.0, mass=1.0)])
FLOOR_BELOW = carom.Plane(height=-2.0)


class OwnLaw(carom.Hertz):
    """A law that carom does not know."""


def sway(t, size):
    return size * jnp.sin(t), 0.0, 0.0


def world_with(law=None, surface=FLOOR_BELOW, arm=ARM, control=()):
    law = carom.Hertz(1e7) if law is None else law
    return carom.World(arm, contacts=carom.Contact(arm.tip, surface, law, name="tip"), control=control)


CODE = {
    "a law of one's own": (lambda: world_with(OwnLaw(1e7)), "the law OwnLaw is not in carom's catalogue"),
    "a graph": (
        lambda: world_with(surface=carom.Graph(lambda x: 0.0 * x - 2.0)),
        "a surface of type Graph is made of code",
    ),
    "a motion of one's own": (
        lambda: world_with(surface=carom.Moving(FLOOR_BELOW, motion=sway, parameters=(0.1,), frequency=1.0)),
        "a Moving surface with a motion of its own is code",
    ),
    "other numbers": (
        lambda: carom.World(eqx.tree_at(lambda m: m.numbers.mass, ARM, jnp.array([2.0]))),
        "were changed after it was built",
    ),
}


@pytest.mark.parametrize("what", CODE)
def test_what_no_file_can_hold_is_refused_by_name(what):
    make, words = CODE[what]
    with pytest.raises(CaromError) as refusal:
        world = make()
        Scenario.of(world, world.state(), until=1.0)
    assert words in str(refusal.value)


def test_only_worlds_and_known_options_become_scenarios():
    with pytest.raises(CaromError, match=r"it must be a carom\.World"):
        Scenario.of(ARM, ARM.state(), until=1.0)
    with pytest.raises(CaromError, match=r"Scenario\.of got 'untill'; besides start, until"):
        Scenario.of(carom.World(ARM), ARM.state(), until=1.0, untill=2.0)
    with pytest.raises(ScenarioError, match=r"the scenario of world 'mine': run\.until is -1\.0"):
        Scenario.of(carom.World(ARM), ARM.state(), until=-1.0, name="mine")


# -- random worlds -----------------------------------------------------------------------------------------------------

# Numbers such as 1e-200, whose squares vanish, say nothing about mechanics: nine decimals.
positive = st.floats(1e-3, 1e3).map(lambda x: round(x, 9))
angle = st.floats(-10.0, 10.0).map(lambda x: round(x, 9))
place = st.tuples(angle, angle)


def one_of(data, *choices):
    """A class and its arguments, drawn; the object is made outside of Hypothesis's strategies, as JAX draws names."""
    make, arguments = data.draw(st.sampled_from(choices))
    return make(**data.draw(st.fixed_dictionaries(arguments)))


def body(data):
    return one_of(
        data,
        (carom.Rod, {"length": positive, "mass": positive}),
        (carom.Disk, {"radius": positive, "mass": positive}),
        (carom.PointMass, {"mass": positive, "length": positive}),
        (mechanism.Body, {"mass": positive, "inertia": positive, "com": place, "tip": place}),
    )


def link(data, k, free):
    """The first joint of a free mechanism holds nothing."""
    spring = {"stiffness": positive, "rest": angle, "damping": positive}
    joint = mechanism.Joint() if free and k == 0 else one_of(data, (mechanism.Joint, spring))
    return mechanism.Link(body(data), f"link{k}", joint=joint, sites={f"site{k}": data.draw(place)})


def surface(data):
    found = one_of(
        data,
        (carom.Plane, {"height": angle}),
        (carom.Plane, {"point": place, "slope": st.floats(-1.5, 1.5).map(lambda x: round(x, 9))}),
        (carom.Circle, {"centre": place, "radius": positive, "inside": st.booleans()}),
        (carom.Block, {"corners": st.just([(0.0, 0.0), (1.0, 0.1), (0.3, 0.7)]), "rounding": positive}),
    )
    motions = (
        None,
        {"velocity": place},
        {"turning": angle, "about": place},
        {"amplitude": place, "frequency": positive},
    )
    motion = data.draw(st.sampled_from(motions))
    return found if motion is None else carom.Moving(found, **data.draw(st.fixed_dictionaries(motion)))


def contact(data, whole, k):
    touch = {
        "site": whole.site("site0"),
        "against": surface(data),
        "radius": data.draw(positive),
        "name": f"contact{k}",
    }

    def law(entries):
        return data.draw(st.sampled_from(entries)).example()

    if data.draw(st.booleans()):
        return carom.Contact(normal=law(catalogue.NORMAL_LAWS), friction=law(catalogue.FRICTION_LAWS), **touch)
    return carom.Contact(normal=law(catalogue.IMPACT_LAWS), **touch)


def world_of(data):
    """Rods, disks and masses with laws of the catalogue on surfaces at rest and in motion, and a spring."""
    free = data.draw(st.booleans())
    base = carom.Free() if free else carom.Fixed(*data.draw(place))
    whole = mechanism.Mechanism([link(data, k, free) for k in range(data.draw(st.integers(1, 2)))], base=base)
    contacts = [contact(data, whole, k) for k in range(data.draw(st.integers(0, 2)))]
    rigid = [c for c in contacts if isinstance(c, carom.contact.RigidContact)]
    # Contacts that share blows need one law, and one that says what several do; others are refused.
    alike = {type(c.law) for c in rigid}
    rigid = rigid if len(alike) == 1 and all(not c.law.along_path for c in rigid) else rigid[:1]
    soft = [c for c in contacts if not isinstance(c, carom.contact.RigidContact)]
    numbers = [data.draw(x) for x in (place, positive, positive)]
    spring = carom.Spring(whole.site("site0"), *numbers, name="spring")
    return carom.World(
        whole,
        contacts=[*soft, *rigid],
        elements=[spring] if data.draw(st.booleans()) else [],
        gravity=data.draw(st.one_of(positive, place)),
        pause_in_impact=data.draw(st.booleans()),
    )


def test_a_shaker_that_stands_still_keeps_its_frequency():
    world = world_with(surface=carom.Moving(FLOOR_BELOW, amplitude=(0.0, 0.0), frequency=208.0, phase=0.5))
    assert same(Scenario.read(Scenario.of(world, world.state(), until=1.0).toml()).world(), world)


@given(st.data())
@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])  # a smaller example takes minutes to find
def test_random_worlds_survive_the_round_trip(data):
    world = world_of(data)
    links = world.mechanism.topology.links
    angles = data.draw(st.lists(angle, min_size=links, max_size=links))
    written = Scenario.of(world, world.state(angles=angles), until=1.0, settings=carom.Settings(rtol=1e-9))
    again = Scenario.read(written.toml())
    assert equal(again, written) and again.start.angles == angles and again.run.rtol == 1e-9
    assert same(again.world(), world)
    assert tomllib.loads(written.toml()) == plain(written)
