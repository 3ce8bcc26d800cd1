"""Signals as people write them: read or refused with a sentence, never executed; the same numbers everywhere."""

import math
import random
import sys

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.io

import carom
from carom.experiment.experiment import Experiment
from carom.experiment.measures import all_measures
from carom.result._clip import Clip
from carom.signal import Signal, known_names

WATCHED = ("exec", "compile", "import", "open", "os.system", "subprocess.Popen", "socket.connect", "ctypes.dlopen")
WORDS = [
    *("com.y", "tip.y", "tip.vx", "t", "contact.floor.force", "contact.floor.closed", "energy.kinetic", "link1.angle"),
    *("abs", "min", "max", "sqrt", "sin", "where", "atan2", "pi", "and", "or", "not", "mass", "'link1'.rate", "nobody"),
    *("(", ")", "(", ")", ",", "+", "-", "*", "/", "^", "**", "<", ">", "<=", ">=", "==", "=", ";", ":", "\n", "\t"),
    *("1", "0.5", "2e3", "1e999", ".5", "3 mm", "2 m/s^2", "30 deg", "0x1F", "1j", "1_000", "\u0662", "é", "\u202e"),
    *("__import__", "('os').system('touch /tmp/no')", "exec('1')", "open", "lambda: 0", "[0 for _ in ()]", "{}", "@"),
    *("().__class__", "com.__class__", "'unclosed", '"', "`", "$", "%", "!", "~", "if", "else", "yield", "\\", "#"),
]


def ball_on(restitution):
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=2.0)], base=carom.Free())
    law = carom.Newton(restitution)
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), law, radius=0.1, name="floor")
    return carom.World(ball, contacts=floor, gravity=9.81)


@pytest.fixture(scope="module")
def result():
    world = ball_on(0.5)
    return carom.simulate(world, world.state(base=(0.0, 1.1), base_velocity=(0.3, 0.0)), until=1.0)


def measured(result, name):
    kind, parts = all_measures.kind_of(name)
    scenario = carom.Scenario.of(result.world, result.start, until=1.0)
    return kind.function(Experiment(scenario, (Clip(result),)), parts)


def test_ten_thousand_random_texts_are_read_or_refused_and_none_is_executed(result):
    seen, on = [], [True]
    sys.addaudithook(lambda event, args: seen.append(event) if on[0] and event in WATCHED else None)
    names, m = known_names(result.world.mechanism, result.world.automata), result.world.mechanism
    assert "com.y" in names
    draw, read = random.Random(18), 0
    for _ in range(10_000):
        text = draw.choice(["", " "]).join(draw.choices(WORDS, k=draw.choice([1, 2, 3, 4, 5, 7, 9, 300])))
        try:
            Signal(text)
            read += 1
        except carom.CaromError as refusal:
            said = str(refusal)
            assert said.startswith("signal ") and "\n" not in said and len(said) < 400
    assert seen == [] and read > 500
    for text in ("com.y + t", "where(contact.floor.closed, com.y, tip.y)", "com.y ^ nobody", "nobody(3)"):
        try:
            Signal(text).check(m, result.world.automata)
        except carom.CaromError as refusal:
            assert str(refusal).startswith("signal ")
    on[0] = False
    assert [event for event in seen if event != "import"] == []


@pytest.mark.parametrize("text", ["(" * 3000 + "1" + ")" * 3000, "-" * 480 + "1", "1" + "^1" * 90, "1+" * 249 + "1"])
def test_nothing_is_too_deep_to_be_refused(text):
    try:
        Signal(text)
    except carom.CaromError as refusal:
        assert "levels deep" in str(refusal) or "characters" in str(refusal) or "parts" in str(refusal)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("com.z", "there is no 'com.z' here; did you mean 'com.y'?"),
        ("tip.y + tip.vy", "m and m/s cannot be added"),
        ("tip.y < link1.angle", "m and rad cannot be compared"),
        ("sin(com.y)", "of a pure number or an angle"),
        ("max(com.y, 1 s)", "things of one unit, not of m and s"),
        ("sqroot(com.y)", "did you mean 'sqrt'?"),
        ("min(com.y)", "takes 2 to 8 arguments, not 1"),
        ("com.y == 3", "a condition compares with < or >"),
        ("com.y ^ com.x", "an exponent is a pure number"),
        ("(com.y < 1) + 1", "a number is asked for"),
        ("not com.y", "a condition is asked for"),
        ("com.y <", "ends too early"),
        ("(com.y", "a bracket is not closed"),
        ("", "it is empty"),
    ],
)
def test_what_is_wrong_is_said(result, text, said):
    with pytest.raises(carom.CaromError, match="signal ") as refusal:
        result.unit(text)
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("com.y", "m"),
        ("momentum.y / mass", "m/s"),
        ("energy.kinetic / (weight * 1 m)", "1"),
        ("2 * com.vy^2", "m^2/s^2"),
        ("contact.floor.force", "N"),
        ("contact.floor.force * com.vy", "W"),
        ("com.y - 0.5", "m"),
        ("sqrt(2 * 9.81 m/s^2 * com.y)", "m/s"),
        ("atan2(com.vy, com.vx)", "rad"),
        ("0.1 < com.y < 30 cm", "1"),
    ],
)
def test_units_follow(result, text, unit):
    assert result.unit(text) == unit


def test_numbers_are_those_of_the_closed_form(result):
    t = np.array([0.0, 0.2, 0.4])
    assert result.signal("com.y", t) == pytest.approx(1.1 - 0.5 * 9.81 * t**2, abs=1e-9)
    assert result.signal("where(t < 0.3, com.vy, 0 m/s)", t) == pytest.approx([0.0, -1.962, 0.0], abs=1e-9)
    assert result.signal("hypot(com.vx, com.vy)^2 - abs(com.vx)^2 - com.vy**2", t) == pytest.approx(0.0, abs=1e-12)
    assert result.signal("2 mm - -3 um/1 s * t", t) == pytest.approx(0.002 + 3e-6 * t, abs=1e-12)
    assert result.signal("energy.total - work.'rigid contacts'", t) == pytest.approx(1.1 * 2 * 9.81 + 0.09, rel=1e-9)
    assert result.signal("0.5 < com.y < 1 and not com.vy > 0", t).tolist() == [0.0, 1.0, 1.0 * (1.1 - 0.7848 > 0.5)]
    assert float(result.signal("30 deg", 0.1)) == pytest.approx(math.pi / 6)


def test_a_signal_is_a_labelled_array_and_tables_have_units(result):
    height = result["com.y"]
    assert height.attrs["units"] == "m" and height.dims == ("time",)
    assert float(height.sel(time=0.2, method="nearest")) == pytest.approx(1.1 - 0.5 * 9.81 * 0.04, abs=2e-3)
    table = result.to_pandas("com.y", "energy.kinetic", times=[0.0, 0.1])
    assert list(table.columns) == ["com.y [m]", "energy.kinetic [J]"] and table.index.name == "time [s]"
    assert table.loc[0.1, "com.y [m]"] == pytest.approx(1.1 - 0.5 * 9.81 * 0.01)
    everything = result.to_pandas(times=[0.1])
    assert everything.loc[0.1, "site_position.link1.tip.y [m]"] == pytest.approx(1.1 - 0.5 * 9.81 * 0.01)
    blows = result.impacts.to_pandas()
    assert blows["normal_velocity_before [m/s]"][0] == pytest.approx(-math.sqrt(2 * 9.81))
    assert len(blows) == len(result.impacts) and list(result.impacts[:0]) == []


def test_without_xarray_a_signal_is_an_array(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    assert isinstance(result["com.y"], np.ndarray)


def test_matlab_reads_the_trajectory(result, tmp_path):
    result.save(tmp_path / "run.mat", samples=50)
    found = scipy.io.loadmat(tmp_path / "run.mat", squeeze_me=True, simplify_cells=True)
    assert found["units"]["site_position"] == "m" and found["site_position"].shape[1:] == (2,)
    assert found["time"][0] == 0.0 and found["phase"][0] == "open"
    with pytest.raises(carom.CaromError, match=r"it must end in \.nc, for a NetCDF file, or in \.mat"):
        result.save(tmp_path / "run.csv")


MEASURED = {
    "most(com.y, after 0.5)": 0.35,
    "integral(com.vx)": 0.3,
    "mean(energy.potential + energy.kinetic)": None,
    "size(com.vy)": math.sqrt(2 * 9.81),
    "final(com.x)": 0.3,
    "least(com.vy)": -math.sqrt(2 * 9.81),
}


def test_measures_of_signals_are_the_same_in_single_runs_and_in_lanes(result):
    start = result.start
    names = [*MEASURED, "final(contact.floor.gap)"]
    lanes = carom.batch(ball_on, jnp.array([0.5, 0.8]), start, until=1.0, measures=names)
    for name in names:
        alone = measured(result, name)
        assert lanes.measures[name][0] == pytest.approx(alone, rel=1e-7, abs=1e-9), name
        assert MEASURED.get(name) is None or alone == pytest.approx(MEASURED[name], rel=1e-7), name


def test_a_measure_of_nobody_is_refused_with_the_nearest_name(result):
    with pytest.raises(carom.CaromError, match=r"did you mean 'com\.y'"):
        measured(result, "most(com.yy)")
    with pytest.raises(carom.CaromError, match="nothing happens after 2"):
        measured(result, "most(com.y, after 2)")
