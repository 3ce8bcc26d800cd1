"""Scenarios: files and Python spell the same worlds, every number can be set, every mistake has its sentence."""

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
from carom.scenario.build import start_of
from carom.scenario.change import parsed_change
from carom.scenario.check import check, check_file
from carom.scenario.library import text_of
from carom.scenario.text import plain

WITH_WORLD = [name for name in names() if name != "inchworm"]  # a gait is of several worlds


def same(a, b):
    """Equal structure, equal numbers."""
    leaves = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return jax.tree.structure(a) == jax.tree.structure(b) and all(np.array_equal(x, y) for x, y in leaves)


def equal(a, b):
    """Without pytest's account of the differences, which takes minutes where texts are long."""
    return a == b


def in_python(scenario):
    """The scenario once more, by way of the Python objects that it describes."""
    world, start = scenario.world(), start_of(scenario)
    run = {key: value for key, value in scenario.run.model_dump().items() if value is not None}
    return world, Scenario.of(world, start.pop("angles"), name=scenario.name, **(start | run))


# -- shipped scenarios -------------------------------------------------------------------------------------------------


def test_all_that_should_be_shipped_is():
    chains = {f"elastic-chain-{ends}" for ends in ("ss", "cc", "sc-cc-cs", "cs-ss-sc", "rigid")}
    arms = {"arm-plastic", "arm-repeated-impact", "arm-controllers", "capture-sideways", "capture-head-on", "inchworm"}
    assert set(names()) == chains | arms | {"ball-drop", "ball-on-slope", "corner"}


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
    assert start_of(again) == start_of(load(name)) and again.run == load(name).run


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
    for step in path.split("."):
        data = data[int(step)] if isinstance(data, list) else data[step.strip('"')]
    return data


@pytest.mark.parametrize("name", names())
def test_every_number_can_be_set(name):
    scenario = load(name)
    found = dict(numbers(plain(scenario)))
    assert "run.until" in found and len(found) > 10
    for path, value in found.items():
        if path == "format":
            continue
        # Whole numbers have ranges of their own; all others may be a little larger.
        other = value + 1 if isinstance(value, int) else value * 1.0625 + 0.03125
        parsed = parsed_change(f"{path}={other!r}")
        assert parsed == (path, other)
        assert at_path(plain(scenario.with_(dict([parsed]))), path) == other, path


def test_the_version_of_the_format_is_the_only_number_that_is_fixed():
    with pytest.raises(ScenarioError, match="format is 2; it must be one of 1"):
        load("corner").with_({"format": 2})


def test_set_reaches_fields_that_the_file_leaves_out():
    scenario = load("ball-drop").with_(dict([parsed_change("mechanisms.ball.links.ball.joint.damping=0.25")]))
    assert scenario.mechanisms["ball"].links["ball"].joint.damping == 0.25
    scenario = scenario.with_(dict([parsed_change("run.solver=dopri8"), parsed_change("run.max_events=3")]))
    assert (scenario.run.solver, scenario.run.max_events) == ("dopri8", 3)
    law = dict([parsed_change('contacts.floor.impact={law = "poisson", restitution = 0.25}')])
    assert scenario.with_(law).contacts["floor"].impact.law == "poisson"


def test_variants_replace_what_they_name():
    pid = load("arm-controllers").variant("pid")
    assert pid.name == "arm-controllers-pid" and pid.compare == [] and pid.variants == {}
    assert pid.control["drive"].ki == [1000.0, 120.0] and pid.control["drive"].kp == [600.0, 300.0]


def test_the_schema_tells_every_field():
    schema = json_schema()
    assert schema["properties"]["run"]["description"] and not schema["additionalProperties"]
    for table in (schema, *schema["$defs"].values()):
        for field, rules in table.get("properties", {}).items():
            assert rules.get("description"), (table["title"], field)


# -- mistakes in files -------------------------------------------------------------------------------------------------

BASE = text_of("arm-repeated-impact")
FLOOR = '[surfaces.floor]\nkind = "plane"\n'
MISTAKES = {
    # what is wrong: (what is replaced, by what, words of the sentence)
    "unknown key": (
        "mass = 1.0 }",
        "mass = 1.0, masss = 2.0 }",
        "line 27: there is no field mechanisms.arm.links.upper.body.masss; did you mean 'mass'?",
    ),
    "unknown key at the top": (
        "gravity = 9.81",
        "gravitty = 9.81",
        "line 15: there is no field gravitty; did you mean 'gravity'?",
    ),
    "unknown table": ("[start]", "[strat]", "there is no field strat; did you mean 'start'?"),
    "misspelt law": ('"jackson-green"', '"jackson-gren"', "contacts.tip.normal.law is 'jackson-gren'"),
    "misspelt law, nearest": ('"smooth-coulomb"', '"smooth-colomb"', "did you mean 'smooth-coulomb'?"),
    "law of another kind": (
        '"smooth-coulomb", mu = 0.2, speed = 0.02',
        '"hertz"',
        "contacts.tip.friction.law is 'hertz'; known: none, coulomb",
    ),
    "misspelt kind": (
        'kind = "plane"',
        'kind = "plain"',
        "surfaces.floor.kind is 'plain'; known: plane, circle, spline; did you mean 'plane'?",
    ),
    "no kind": ('kind = "plane"\n', "", "surfaces.floor does not say which; give it a kind"),
    "text for a number": (
        "poisson_ratio = 0.29",
        'poisson_ratio = "0.29"',
        "line 20: materials.steel.poisson_ratio is '0.29'; it must be a number; in (-1, 0.5]",
    ),
    "number for a text": (
        'source = "Akhan, Zhao, Tarnita and Marghitu, Machines 2023, 11, 773"\ngravity',
        "source = 11\ngravity",
        "line 14: source is 11; it must be a text in quotes",
    ),
    "number for a list": ("kp = [600.0, 300.0]", "kp = 600.0", "control.hammer.kp is 600.0; it must be a list"),
    "text in a list": (
        "kp = [600.0, 300.0]",
        'kp = [600.0, "300"]',
        "control.hammer.kp.1 is '300'; it must be a number",
    ),
    "number for a switch": (
        "pause_in_impact = true",
        "pause_in_impact = 1",
        "line 16: pause_in_impact is 1; it must be true or false",
    ),
    "a table for a number": ("until = 6.0", "until = {}", "run.until is a table; it must be a number"),
    "a number for a table": (FLOOR, "[surfaces]\nfloor = 3\n[x]\n", "there is no field x"),
    "missing field": ("until = 6.0", "rtol = 1e-9", "run.until is missing; end of the run [s]"),
    "missing table": ("[run]\nuntil = 6.0\n", "", "run is missing"),
    "nan": ("until = 6.0", "until = nan", "run.until is nan; it must be a finite number"),
    "out of range": ("until = 6.0", "until = -6.0", "run.until is -6.0; it must be greater than 0; end of the run [s]"),
    "far out of range": (
        "height = -1.0",
        "height = -1e31",
        "surfaces.floor.height is -1e+31; it must be at least -1e+30",
    ),
    "fraction for a whole number": (
        "until = 6.0",
        "until = 6.0\nmax_steps = 1.5",
        "run.max_steps is 1.5; it must be a whole number",
    ),
    "too many steps": (
        "until = 6.0",
        "until = 6.0\nmax_steps = 200000000",
        "run.max_steps is 200000000; it must be at most 1e+08",
    ),
    "unknown solver": (
        "until = 6.0",
        'until = 6.0\nsolver = "rk4"',
        "run.solver is 'rk4'; it must be one of 'tsit5', 'dopri8' or 'rodas5p'",
    ),
    "bad name": (
        'name = "arm-repeated-impact"',
        'name = "../arm"',
        "name is '../arm'; it must begin with a letter or digit",
    ),
    "a point of three": ("base = [0.0, 0.0]", "base = [0.0, 0.0, 0.0]", "mechanisms.arm.base is [0.0, 0.0, 0.0]; it "),
    "no TOML": ("[start]", "[start", "is not valid TOML"),
    "a key twice": ("gravity = 9.81", "gravity = 9.81\ngravity = 9.8", "is not valid TOML: Cannot overwrite a value"),
    "deep": ("gravity = 9.81", f"gravity = {'[' * 40}{']' * 40}", "tables nested more than 20 deep"),
    "very deep": ("gravity = 9.81", f"gravity = {'[' * 5000}{']' * 5000}", "cannot be read"),
    "many digits": ("gravity = 9.81", f"gravity = {'9' * 5000}", "cannot be read"),
    "zero byte": ("gravity = 9.81", "gravity = 9.81 # \x00", "contains zero bytes"),
    # rules of the objects
    "length not positive": (
        "length = 1.0",
        "length = 0.0",
        "line 26: mechanisms.arm.links.upper: length of Rod is 0; it must be greater than 0",
    ),
    "material": ("poisson_ratio = 0.29", "poisson_ratio = 0.7", "materials.steel: poisson_ratio"),
    "unknown site": (
        'site = "fore.tip"\nagainst',
        'site = "fore.tipp"\nagainst',
        "contacts.tip: there is no site 'fore.tipp'",
    ),
    "unknown surface": (
        'against = "floor"',
        'against = "flor"',
        "contacts.tip: there is no surface 'flor'; known: 'floor'; did you mean 'floor'?",
    ),
    "unknown material": (
        'first = "steel"',
        'first = "stel"',
        "contacts.tip: there is no material 'stel'; known: 'steel'; did you mean 'steel'?",
    ),
    "unknown contact": ('contact = "tip"', 'contact = "top"', "control.hammer: there is no contact 'top'"),
    "unknown link": (
        "[mechanisms.arm.links.fore]",
        '[mechanisms.arm.links.fore]\nparent = "uper"',
        "(named as parent of 'fore') 'uper'",
    ),
    "both laws": (
        "friction = {",
        'impact = { law = "plastic" }\nfriction = {',
        "contacts.tip: it needs either a normal law (compliant) or an impact law (rigid), not both",
    ),
    "neither law": (
        'normal = { law = "jackson-green", first = "steel", second = "steel", radius = 0.005 }\n',
        "",
        "contacts.tip: it needs either a normal law",
    ),
    "limit with site": (
        'against = "floor"\n',
        'against = "floor"\nlimit = { link = "fore", upper = 1.0 }\n',
        "contacts.tip: it has a limit and also site or against",
    ),
    "site alone": ('against = "floor"\n', "", "contacts.tip: it needs site and against"),
    "ragged targets": ("[80.0, 70.0]]", "[80.0]]", "control.hammer: targets has rows of [2, 1] numbers"),
    "too few gains": ("kp = [600.0, 300.0]", "kp = [600.0]", "control.hammer: kp"),
    "too many angles": (
        "angles = [60.0, 45.0]",
        "angles = [60.0, 45.0, 0.0]",
        "start: angles of mechanism has shape (3,); it must be 2 numbers",
    ),
    "too many rates": (
        "angles = [60.0, 45.0]",
        "angles = [60.0, 45.0]\nrates = [1.0]",
        "rates and velocities of the start: angles of mechanism has shape (1,)",
    ),
    "no start": ("[start]\nangles = [60.0, 45.0]\ndegrees = true\n", "", "start of 'arm-repeated-impact' is missing"),
    "gravity of three": ("gravity = 9.81", "gravity = [0.0, 0.0, 1.0]", "gravity"),
    "both ends of a slope": ("height = -1.0", "height = -1.0\nslope = 0.1\nnormal = [0.0, 1.0]", "surfaces.floor: "),
    # names that are only needed after a run
    "unknown measure": (
        '"impact.1.duration"',
        '"impct.1.duration"',
        "quantities.duration: there is no measure 'impct.1.duration'; the nearest form is ",
    ),
    "unknown figure": (
        "until = 6.0",
        'until = 6.0\n[output]\nfigures = ["angels"]',
        "output.figures: there is no figure 'angels'",
    ),
    "unknown variant": (
        "pause_in_impact = true",
        'pause_in_impact = true\ncompare = ["loose"]',
        "compare names 'loose', but there is no such variant; add",
    ),
    "mistake in a variant": (
        "until = 6.0",
        "until = 6.0\n[variants.long.run]\nuntill = 60.0",
        "variant 'long' of 'arm-repeated-impact': there is no field run.untill; did you mean 'until'?",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_with_its_place(mistake, tmp_path, unchecked):
    old, new, words = MISTAKES[mistake]
    assert BASE.count(old) >= 1
    file = tmp_path / "mine.toml"
    file.write_text(BASE.replace(old, new, 1))
    with pytest.raises(ScenarioError) as refusal:
        check_file(file)
    said = str(refusal.value)
    assert said.startswith(str(file)) and words in said, said
    assert said.isprintable() and len(said) < 600


TRAJECTORIES = {
    "knots that do not rise": (
        '{ kind = "polynomials", knots = [0.0, 0.0], coefficients = [[[0.0, 0.0]]] }',
        "knots must rise from 0",
    ),
    "knots that begin late": (
        '{ kind = "polynomials", knots = [1.0, 2.0], coefficients = [[[0.0, 0.0]]] }',
        "knots must rise from 0",
    ),
    "no knots": ('{ kind = "polynomials", knots = [], coefficients = [] }', "coefficients must be as many pieces"),
    "pieces of different shapes": (
        '{ kind = "polynomials", knots = [0.0, 1.0, 2.0], coefficients = [[[0.0, 0.0]], [[0.0]]] }',
        "all of one shape",
    ),
    "times that do not rise": (
        '{ kind = "waypoints", times = [0.0, 0.0], points = [[0.0, 0.0], [1.0, 1.0]] }',
        "times",
    ),
    "ragged points": (
        '{ kind = "waypoints", times = [0.0, 1.0], points = [[0.0, 0.0], [1.0]] }',
        "points has rows of [2, 1] numbers",
    ),
    "no points": ('{ kind = "waypoints", times = [], points = [] }', "points has rows of []"),
    "blend of a cubic": (
        '{ kind = "cubic", start = [0.0, 0.0], end = [1.0, 1.0], duration = 1.0, blend = 0.1 }',
        "blend is 0.1, but a cubic has none",
    ),
    "ends of different sizes": (
        '{ kind = "quintic", start = [0.0], end = [1.0, 1.0], duration = 1.0 }',
        "control.drive: ",
    ),
    "no time": ('{ kind = "minimum-jerk", start = [0.0, 0.0], end = [1.0, 1.0], duration = 0.0 }', "duration"),
    "wrong size": (
        '{ kind = "hold", value = [0.0, 0.0, 0.0] }',
        "motion has 3 values over time; the mechanism has 2 links",
    ),
}


@pytest.mark.parametrize("mistake", TRAJECTORIES)
def test_a_mistake_in_a_trajectory_is_one_sentence(mistake, unchecked):
    motion, words = TRAJECTORIES[mistake]
    table = f'{{ kind = "computed-torque", motion = {motion}, kp = [1.0, 1.0], kd = [1.0, 1.0] }}'
    changes = dict([parsed_change(f"control.drive={table}")])
    with pytest.raises(ScenarioError) as refusal:
        check(load("arm-controllers").with_(changes | {"variants": {}, "compare": [], "quantities": {}}))
    said = str(refusal.value)
    assert said.startswith("control.drive: ") and words in said and said.isprintable(), said


def test_ragged_bases_are_refused(unchecked):
    with pytest.raises(ScenarioError, match=r"start.base has rows of \[2, 1\] numbers"):
        check(load("capture-head-on").with_({"start.base": [[1.0, 2.0], [1.0]]}))


SHEAR = "mechanisms.chain.links.link1.body.section.shear_modulus"


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("capture-head-on", {"capture.restitution": 5.0}, "capture: restitution of capture is 5"),
        ("capture-head-on", {"capture.hand": "arm.link9.tip"}, "capture: there is no site 'arm.link9.tip'"),
        ("inchworm", {"crawl.steps.0.angles": [25.0]}, "crawl: angles of step 1 of crawl has shape (1,)"),
        ("inchworm", {"crawl.links": 8}, "crawl: start of crawl has shape (3,); it must be 7 numbers"),
        ("elastic-chain-ss", {"mechanisms.chain.links.link1.body.modes": 64}, "it must be at most 16"),
        ("elastic-chain-ss", {SHEAR: 1e-300}, "too large or too small"),
    ],
)
def test_captures_crawlers_and_beams_are_checked(name, change, words, unchecked):
    with pytest.raises(ScenarioError) as refusal:
        check(load(name).with_(change))
    assert words in str(refusal.value)


def test_changes_that_lead_nowhere_are_refused_by_name():
    ball = load("ball-drop")
    for path, words in {
        "contacts.flor.radius": "there is no entry of contacts 'flor'; known: 'floor'; did you mean 'floor'?",
        "contacts.floor.radus": "there is no field contacts.floor.radus; did you mean 'radius'?",
        "start.base.2": "start.base is a list of 2; '2' must be a number from 0 to 1",
        "start.base.x": "'x' must be a number from 0 to 1",
        "run.until.x": "run.until is a value and has no fields",
    }.items():
        with pytest.raises(ScenarioError) as refusal:
            ball.with_({path: 0.5})
        assert words in str(refusal.value)
    for text in ("run.until", "=3", ""):
        with pytest.raises(ScenarioError, match="write path=value"):
            parsed_change(text)


def test_names_and_files_that_are_not_there(tmp_path):
    for name, words in {
        "ball-drp": "there is no scenario 'ball-drp'; did you mean 'ball-drop'?",
        "zzz": "`carom list` shows them",
        tmp_path / "no.toml": "there is no file",
        tmp_path: "is a folder",
        "x" * 5000 + ".toml": "cannot be read: ",
    }.items():
        with pytest.raises(ScenarioError) as refusal:
            load(name)
        assert words in str(refusal.value)


def test_unprintable_names_do_not_reach_the_sentence(unchecked):
    with pytest.raises(ScenarioError) as refusal:
        check(load("ball-drop").with_({"compare": ["\u202eevil\n\x1b[31m"]}))
    assert str(refusal.value).isprintable()


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
        "a surface of type Graph is made of functions",
    ),
    "a motion of one's own": (
        lambda: world_with(surface=carom.Moving(FLOOR_BELOW, motion=sway, parameters=(0.1,))),
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
        Scenario.of(make(), [0.0], until=1.0)
    assert words in str(refusal.value)


def test_only_worlds_and_known_options_become_scenarios():
    with pytest.raises(CaromError, match=r"it must be a carom\.World"):
        Scenario.of(ARM, [0.0], until=1.0)
    with pytest.raises(CaromError, match=r"Scenario\.of got 'untill'; it takes"):
        Scenario.of(carom.World(ARM), [0.0], until=1.0, untill=2.0)
    with pytest.raises(ScenarioError, match=r"the scenario of world 'mine': run\.until is -1\.0"):
        Scenario.of(carom.World(ARM), [0.0], until=-1.0, name="mine")


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
    return carom.RigidContact(restitution=law(catalogue.IMPACT_LAWS), **touch)


def world_of(data):
    """Rods, disks and masses with laws of the catalogue on surfaces at rest and in motion, and a spring."""
    free = data.draw(st.booleans())
    base = carom.Free() if free else carom.Fixed(*data.draw(place))
    whole = mechanism.Mechanism([link(data, k, free) for k in range(data.draw(st.integers(1, 2)))], base=base)
    contacts = [contact(data, whole, k) for k in range(data.draw(st.integers(0, 2)))]
    rigid = [c for c in contacts if isinstance(c, carom.RigidContact)]
    soft = [c for c in contacts if not isinstance(c, carom.RigidContact)]
    spring = carom.Spring(
        whole.site("site0"), data.draw(place), data.draw(positive), data.draw(positive), name="spring"
    )
    return carom.World(
        whole,
        contacts=[*soft, *([carom.RigidContacts(*rigid, name="rigid contacts")] if rigid else [])],
        elements=[spring] if data.draw(st.booleans()) else [],
        gravity=data.draw(st.one_of(positive, place)),
        pause_in_impact=data.draw(st.booleans()),
    )


@given(st.data())
@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])  # a smaller example takes minutes to find
def test_random_worlds_survive_the_round_trip(data):
    world = world_of(data)
    links = world.mechanism.topology.links
    angles = data.draw(st.lists(angle, min_size=links, max_size=links))
    written = Scenario.of(world, angles, until=1.0, rtol=1e-9)
    again = Scenario.read(written.toml())
    assert equal(again, written) and start_of(again)["angles"] == angles and again.run.rtol == 1e-9
    assert same(again.world(), world)
    assert tomllib.loads(written.toml()) == plain(written)
