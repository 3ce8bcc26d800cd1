"""Scenario files with mistakes: one sentence each, with file, line, field and cure."""

import pytest

from carom.experiment._scenario_check import check_file
from carom.scenario import ScenarioError
from carom.scenario.library import text_of

BASE = text_of("arm-repeated-impact")
FLOOR = '[surfaces.floor]\nkind = "plane"\n'
MISTAKES = {
    # what is wrong: (what is replaced, by what, words of the sentence)
    "unknown key": (
        "mass = 1.0 }",
        "mass = 1.0, masss = 2.0 }",
        "line 28: there is no field mechanisms.arm.links.upper.body.masss; did you mean 'mass'?",
    ),
    "unknown key at the top": (
        "gravity = 9.81",
        "gravitty = 9.81",
        "line 16: there is no field gravitty; did you mean 'gravity'?",
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
        "surfaces.floor.kind is 'plain'; known: plane, circle, block, spline; did you mean 'plane'?",
    ),
    "no kind": ('kind = "plane"\n', "", "surfaces.floor does not say which; give it a kind"),
    "text for a number": (
        "poisson_ratio = 0.29",
        'poisson_ratio = "0.29"',
        "line 21: materials.steel.poisson_ratio is '0.29'; it must be a number; in (-1, 0.5]",
    ),
    "number for a text": (
        'source = "Akhan, Zhao, Tarnita and Marghitu, Machines 2023, 11, 773"\ngravity',
        "source = 11\ngravity",
        "line 15: source is 11; it must be a text in quotes",
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
        "line 17: pause_in_impact is 1; it must be true or false",
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
    "a parameter of this law, not of another": (
        'friction = { law = "smooth-coulomb", mu = 0.2, speed = 0.02 }',
        'friction = { law = "lugre", mu = 0.2 }',
        "friction.static is missing; static coefficient mu_s, >= mu (also wrong: contacts.tip.friction.speed, ",
    ),
    "zero byte": ("gravity = 9.81", "gravity = 9.81 # \x00", "contains zero bytes"),
    "a title that cannot be printed": (
        'title = "',
        'title = "\\u0000',
        "; it must hold only printable characters",
    ),
    "a name that cannot be printed": (
        "[mechanisms.arm.links.upper]",
        '[mechanisms.arm.links."up\\u0000per"]',
        "it must hold only printable characters",
    ),
    # rules of the objects
    "length not positive": (
        "length = 1.0",
        "length = 0.0",
        "line 28: mechanisms.arm.links.upper: length of Rod is 0; it must be greater than 0",
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
    "yesterday's word": (
        "friction = {",
        'impact = { law = "plastic" }\nfriction = {',
        "contacts.tip.impact belongs to format 1; it is now contacts.tip.normal",
    ),
    "neither law": (
        'normal = { law = "jackson-green", first = "steel", second = "steel", radius = 0.005 }\n',
        "",
        "contacts.tip.normal is missing; law of the normal direction: compliant (hertz, ...) or impulsive",
    ),
    "limit with site": (
        'against = "floor"\n',
        'against = "floor"\nlimit = { link = "fore", upper = 1.0 }\n',
        "contacts.tip: it has a limit and also site, shape or against",
    ),
    "site alone": ('against = "floor"\n', "", "contacts.tip: it needs a site or a shape, and against"),
    "ragged targets": ("[80.0, 70.0]]", "[80.0]]", "control.hammer: targets has rows of [2, 1] numbers"),
    "too few gains": ("kp = [600.0, 300.0]", "kp = [600.0]", "control.hammer: kp"),
    "too many angles": (
        "angles = [60.0, 45.0]",
        "angles = [60.0, 45.0, 0.0]",
        "start: angles of state has shape (3,); it must be 2 numbers",
    ),
    "too many rates": (
        "angles = [60.0, 45.0]",
        "angles = [60.0, 45.0]\nrates = [1.0]",
        "rates and velocities of the start: rates of state has shape (1,)",
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


# The field that each blames, where one is to blame: the other files cannot be read as tables.
PATHS = {
    "unknown key": "mechanisms.arm.links.upper.body.masss",
    "unknown key at the top": "gravitty",
    "unknown table": "strat",
    "misspelt law": "contacts.tip.normal.law",
    "misspelt law, nearest": "contacts.tip.friction.law",
    "law of another kind": "contacts.tip.friction.law",
    "misspelt kind": "surfaces.floor.kind",
    "no kind": "surfaces.floor.kind",
    "text for a number": "materials.steel.poisson_ratio",
    "number for a text": "source",
    "number for a list": "control.hammer.kp",
    "text in a list": "control.hammer.kp.1",
    "number for a switch": "pause_in_impact",
    "a table for a number": "run.until",
    "a number for a table": "x",
    "missing field": "run.until",
    "missing table": "run",
    "nan": "run.until",
    "out of range": "run.until",
    "far out of range": "surfaces.floor.height",
    "fraction for a whole number": "run.max_steps",
    "too many steps": "run.max_steps",
    "unknown solver": "run.solver",
    "bad name": "name",
    "a point of three": "mechanisms.arm.base",
    "a parameter of this law, not of another": "contacts.tip.friction.static",
    "a title that cannot be printed": "title",
    "a name that cannot be printed": "mechanisms.arm.links.up\x00per",
    "length not positive": "mechanisms.arm.links.upper.body.length",
    "material": "materials.steel.poisson_ratio",
    "unknown site": "contacts.tip.site",
    "unknown surface": "contacts.tip.against",
    "unknown material": "contacts.tip.normal.first",
    "unknown contact": "control.hammer.schedule.0.contact",
    "unknown link": "mechanisms.arm.links.fore.parent",
    "yesterday's word": "contacts.tip.impact",
    "neither law": "contacts.tip.normal",
    "limit with site": "contacts.tip",
    "site alone": "contacts.tip",
    "ragged targets": "control.hammer.targets",
    "too few gains": "control.hammer.kp",
    "too many angles": "start.angles",
    "too many rates": "start.rates",
    "no start": "start",
    "gravity of three": "gravity",
    "both ends of a slope": "surfaces.floor",
    "unknown measure": "quantities.duration.measure",
    "unknown figure": "output.figures.0",
    "unknown variant": "compare.0",
    "mistake in a variant": "variants.long.run.untill",
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
    assert ".".join(map(str, refusal.value.path)) == PATHS.get(mistake, "")
