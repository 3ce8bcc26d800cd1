"""Constraints in files: read, written back, drawn; mistakes get a sentence."""

import numpy as np
import pytest

import carom
from carom.result._clip import Clip
from carom.result._drawing import drawing

CRANK = """
name = "slider-crank"
[mechanisms.machine]
base = [0.0, 0.0]
[mechanisms.machine.links.crank]
body = { kind = "rod", length = 0.1, mass = 1.0 }
[mechanisms.machine.links.rod]
body = { kind = "rod", length = 0.3, mass = 1.0 }
parent = "crank"
[surfaces.rail]
kind = "plane"
height = 0.0
[constraints.slider]
kind = "on-surface"
site = "rod.tip"
surface = "rail"
[start]
angles = [1.0, -0.2]
rates = [20.0, 0.0]
assemble = true
[run]
until = 0.3
"""


def changed(line, other):
    return CRANK.replace(line, other)


@pytest.fixture(scope="module")
def run():
    return carom.Scenario.read(CRANK).simulate()


def test_a_slider_crank_from_a_file_keeps_its_slider_on_the_rail(run):
    """With x = r cos a + sqrt(l^2 - r^2 sin^2 a), by arithmetic of our own; and it keeps its energy."""
    a, b = run.q.T
    np.testing.assert_allclose(0.1 * np.sin(a) + 0.3 * np.sin(b), 0.0, atol=1e-12)
    assert run.energy.max_error_percent < 1e-6
    assert a[-1] > 2.0 * np.pi / 3.0  # it turns


def test_the_file_is_written_back_as_it_was(run):
    written = carom.Scenario.of(run.world, carom.State(run.q[0], run.v[0]), until=0.3, name="again")
    again = carom.Scenario.read(written.toml())
    assert again == written
    assert [c.describe() for c in again.world().constraints] == ["OnSurface('rod.tip')"]
    np.testing.assert_allclose(again.simulate().q[-1], run.q[-1], rtol=1e-7)


def test_every_kind_is_written_back():
    bars = carom.Arm([carom.Rod(length=x, mass=1.0) for x in (1.0, 2.0, 1.5)])
    held = [
        carom.Pin("link3.tip", (2.0, 0.0)),
        carom.Pin("link2.tip", "link2.tip"),
        carom.Locked("link2", "link1", 0.3),
    ]
    world = carom.World(bars, constraints=held)
    written = carom.Scenario.of(world, world.state(angles=[1.0, 0.3, -1.0]), until=1.0, name="bars")
    tables = {name: table.model_dump() for name, table in written.constraints.items()}
    assert tables["constraint1"] == {"kind": "pin", "site": "link3.tip", "other": [2.0, 0.0]}
    assert tables["constraint2"]["other"] == "link2.tip"
    assert tables["constraint3"] == {"kind": "locked", "link": "link2", "other": "link1", "angle": 0.3}
    made = written.world().constraints
    assert [c.describe() for c in made] == [c.describe() for c in held]
    code = carom.World(bars, constraints=carom.OnCurve("link3.tip", lambda x, y: y))
    with pytest.raises(carom.CaromError, match=r"OnCurve\('link3.tip'\).*made of code"):
        carom.Scenario.of(code, code.state(angles=[1.0, 0.0, -1.0]), until=1.0)


def test_constraints_are_drawn(run):
    """Pins move with their sites, pivots stand, and the rail is there."""
    part = drawing([Clip(run)], [0.0, 0.1]).parts[0]
    assert part.pins.shape[1] == 3  # two joints, one slider
    assert np.all(np.abs(part.pins[:, 2, 1]) < 1e-9)
    assert [line.name for line in part.surfaces] == ["OnSurface('rod.tip')"]
    bars = carom.Arm([carom.Rod(length=x, mass=1.0) for x in (1.0, 2.0, 1.5)])
    world = carom.World(bars, constraints=carom.Pin("link3.tip", (2.0, 0.0)))
    start = world.assembled(world.state(angles=[1.2, 0.3, -1.2]))
    part = drawing([Clip(carom.simulate(world, start, until=0.01))], [0.0]).parts[0]
    np.testing.assert_allclose(part.bases, [[0.0, 0.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (changed('surface = "rail"', 'surface = "rial"'), "no surface 'rial'; known: 'rail'; did you mean 'rail'"),
        (changed('site = "rod.tip"', 'site = "rod.top"'), "no site 'rod.top'.*did you mean 'rod.tip'"),
        (changed('kind = "on-surface"', 'kind = "on-curve"'), "constraints.slider.kind is 'on-curve'"),
        (changed('kind = "on-surface"', 'kind = "locked"\nlink = "rodd"'), "constraints.slider"),
        (CRANK + '[constraints.l]\nkind = "locked"\nlink = "rodd"\n', "^constraints.l: there is no link 'rodd'.*'rod'"),
        (CRANK + '[constraints.l]\nkind = "pin"\nsite = "rod.tip"\nother = [nan, 0.0]\n', "constraints.l.other"),
        (
            changed("assemble = true", "assemble = false"),
            r"OnSurface\('rod.tip'\): it is off by 0.0245.*assemble = true",
        ),
        (changed("height = 0.0", "height = 0.0\nmotion = { velocity = [1.0, 0.0] }"), "moves; constraints are at rest"),
        (changed("height = 0.0", "height = 5.0"), "start"),
    ],
)
def test_mistakes_get_a_sentence(text, said):
    with pytest.raises(carom.CaromError, match=said):
        carom.Scenario.read(text).simulate()


def test_a_pose_to_hold_is_the_assembled_start():
    hold = '[control.hold]\nkind = "hold-pose"\nbase = "free-floating"\n'
    scenario = carom.Scenario.read(CRANK + hold)
    world = scenario.world()
    target = world.automaton("hold").target
    start = world.assembled(world.state([1.0, -0.2]))
    np.testing.assert_allclose(target, world.mechanism.to_relative(start.q), atol=1e-12)
    assert abs(target[0] - 1.0) > 1e-3  # and not what the file says


def test_what_is_no_surface_is_refused():
    with pytest.raises(carom.CaromError, match="must be a surface"):
        carom.OnSurface("a.tip", lambda x, y: y)


def test_a_rail_carries_the_weight_along_its_normal():
    """A bead on a slope: m g cos(slope) along the normal, and it slides down with g sin(slope)."""
    slope, bead = 0.4, carom.Mechanism([carom.Disk(radius=0.1, mass=2.0)], base=carom.Free())
    rail = carom.Plane(point=(0.0, 0.0), slope=slope)
    world = carom.World(bead, constraints=carom.OnSurface(bead.tip, rail), gravity=9.81)
    run = carom.simulate(world, world.state(base=(0.0, 0.0)), until=0.5)
    (forces,) = run.constraint_forces([0.0, 0.5]).values()
    np.testing.assert_allclose(np.ravel(forces), 2.0 * 9.81 * np.cos(slope), rtol=1e-9)
    along = 0.5 * 9.81 * np.sin(slope) * 0.5**2
    np.testing.assert_allclose(run.q[-1][:2], [-along * np.cos(slope), -along * np.sin(slope)], rtol=1e-9)
