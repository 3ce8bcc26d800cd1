"""Changes of shipped scenarios that are mistakes: one sentence each, with field and cure; names that are not there."""

import pytest

from carom.experiment._scenario_check import check
from carom.scenario import ScenarioError, load
from carom.scenario._change import parsed_change

TRAJECTORIES = {
    "knots that do not rise": (
        '{ kind = "polynomials", knots = [0.0, 0.0], coefficients = [[[0.0, 0.0]]] }',
        "knots must increase from 0",
    ),
    "knots that begin late": (
        '{ kind = "polynomials", knots = [1.0, 2.0], coefficients = [[[0.0, 0.0]]] }',
        "knots must increase from 0",
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


def test_a_cubic_has_no_blend(unchecked):
    motion = '{ kind = "cubic", start = [0.0, 0.0], end = [1.0, 1.0], duration = 1.0, blend = 0.1 }'
    table = f'{{ kind = "computed-torque", motion = {motion}, kp = [1.0, 1.0], kd = [1.0, 1.0] }}'
    with pytest.raises(ScenarioError, match=r"there is no field control\.drive\.motion\.blend"):
        load("arm-controllers").with_(dict([parsed_change(f"control.drive={table}")]))


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
        "contcts.floor.radius": "there is no table of a scenario 'contcts'",
        "runn.until": "did you mean 'run'?",
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
