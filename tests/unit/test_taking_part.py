"""Every contact that takes part in a blow is listed with its impulse; only those that strike are counted."""

import csv
import io
import json
import math
import re

import pytest

import carom
from carom.cli._tables import impact_table
from carom.experiment._summary import impacts_csv, summary
from carom.experiment.experiment import perform
from carom.experiment.measures import measure
from carom.report import write_report
from carom.result import Result

MASS, SPEED = 2.0, 3.0


def world_of(lean: float) -> carom.World:
    """A ball on a floor, and a wall without friction that leans over it by an angle [rad]; nothing rebounds."""
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=MASS)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(height=0.0), carom.Poisson(0.0), radius=0.1, name="floor")
    over = carom.Plane(point=(1.0, 0.1), normal=(-math.cos(lean), -math.sin(lean)))
    wall = carom.Contact(ball.tip, over, carom.Poisson(0.0), radius=0.1, name="wall")
    return carom.World(ball, contacts=[floor, wall], gravity=9.81)


def rolling(world: carom.World) -> carom.State:
    return world.state(rates=[-SPEED / 0.1], base=(0.0, 0.1), base_velocity=(SPEED, 0.0))


@pytest.fixture(scope="module")
def rolled() -> Result:
    world = world_of(math.pi / 4)
    return carom.simulate(world, rolling(world), until=0.5)


def test_the_floor_takes_its_share_of_a_blow_at_the_wall(rolled):
    wall, floor = rolled.impacts
    assert (wall.contact, wall.struck, floor.contact, floor.struck) == ("wall", True, "floor", False)
    assert wall.t_start == floor.t_start == pytest.approx((1.0 - 0.1 * math.sqrt(2.0)) / SPEED, rel=1e-9)
    # The ball stops: the level part of the wall's impulse takes its momentum, and the floor carries the other part.
    assert wall.normal_impulse == pytest.approx(MASS * SPEED * math.sqrt(2.0), rel=1e-12)
    assert floor.normal_impulse == pytest.approx(MASS * SPEED, rel=1e-12)
    assert math.isnan(floor.restitution)  # nothing came, so nothing comes back


def test_what_takes_no_share_is_not_listed():
    world = world_of(0.0)
    assert [i.contact for i in carom.simulate(world, rolling(world), until=0.5).impacts] == ["wall"]


def test_tables_list_it_and_measures_do_not_count_it():
    world = world_of(math.pi / 4)
    found = perform(carom.Scenario.of(world, rolling(world), until=0.5, name="roll"))
    assert [i.contact for i in found.impacts] == ["wall", "floor"] and [i.contact for i in found.strikes] == ["wall"]
    assert measure(found, "impacts.count") == 1.0 and measure(found, "impacts.count.floor") == 0.0
    rows = list(csv.DictReader(io.StringIO(impacts_csv(found))))
    assert [row["struck"] for row in rows] == ["True", "False"] and rows[1]["restitution [-]"] == ""
    listed = json.loads(json.dumps(summary(found, [])))["impacts"]
    assert [i["struck"] for i in listed] == [True, False] and listed[1]["normal_impulse"] == pytest.approx(6.0)
    _, first, second = impact_table(listed).splitlines()
    assert first.startswith("1  wall") and second.startswith("   floor")
    assert first.split()[-1] == "9" and second.split()[-3:] == ["-", "6", "0"]  # the wall took all of it


def test_the_report_lists_it_without_a_number(rolled, tmp_path):
    page = write_report(tmp_path / "roll.html", rolled, title="Roll").read_text()
    rows = re.findall(r"<tr><td>(.*?)</td><td class=\"word\">(.*?)</td>", page)
    assert [name for _, name in rows] == ["wall", "floor"] and 'data-impact="1"' in rows[0][0] and rows[1][0] == ""
    assert "0.5 s of motion with 1 impact of" in page
    assert "took its share of the blow above it" in page
