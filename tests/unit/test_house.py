"""The house keeps its floors: imports go down, as CONTRIBUTING says."""

import re
from pathlib import Path

from tools import house


def test_no_module_imports_from_a_floor_above_its_own():
    assert house.upward(at_once=True) == [] and house.upward(at_once=False) == []


def test_every_package_stands_on_a_floor():
    found = {house.floor_of(path) for path, _ in house.modules("src/carom")} - {"carom"}
    assert found == set(house.FLOOR)


def test_contributing_shows_the_same_ladder():
    text = (Path(house.ROOT) / "CONTRIBUTING.md").read_text()
    shown = [
        [name.strip() for name in floor.split(",")]
        for floor in text.split("```ladder\n")[1].split("```")[0].split("<-")
    ]
    assert shown == [[name for name in floor if name != "__main__"] for floor in house.LADDER]


def test_the_page_about_the_house_names_rooms_that_are_there():
    text = (Path(house.ROOT) / "docs" / "architecture.md").read_text()
    files = {path.name for path, _ in house.modules("src/carom", "verify", "tests", "tools")}
    named = {Path(name).name for name in re.findall(r"`([\w/*.]+\.py)`", text)} - {"mine.py", "mine_command.py"}
    assert {name for name in named if "*" not in name} <= files


def test_rooms_are_small_and_their_names_occur_once():
    assert house.long_modules() == [] and house.long_functions() == []
    assert house.basenames() == [] and house.parsed_words() == []


def test_nobody_asks_for_the_class_of_an_automaton_a_law_or_a_surface():
    assert house.asked_classes() == []


def test_most_numbers_have_a_type_with_a_name():
    left_open, parameters = house.open_types()
    assert left_open <= 0.03 * parameters


def test_rooms_that_nobody_is_shown_to_have_an_underscore():
    assert house.unmarked_modules() == []
