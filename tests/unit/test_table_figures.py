"""Figures of documents say what the tables beside them say."""

from __future__ import annotations

from tools import table_figures as drawn

from carom.scenario.library import names


def test_ledgers_of_shipped_scenarios_close():
    rows = drawn.rows_below(drawn.VALIDATION, "| scenario |")
    assert len(rows) > 15 and {row[0] for row in rows} <= set(names())
    for name, how, error in rows:
        assert float(error) <= 1e4 * float(how.split(", ")[1]), name


def test_numbers_of_sources_agree_or_the_scenario_says_why():
    found = drawn.compared()
    assert len(found) > 100
    assert sum(difference > max(allowed, drawn.PRINTED) for difference, allowed in found) <= 7


def test_tables_of_speeds_are_read_whole():
    assert len(drawn.rows_below(drawn.BENCHMARKS, "| law | solver |")) == 25
    assert drawn._contender("C by hand, tsit5 1e-9") == "C by hand, tsit5"


def test_every_figure_is_in_a_document():
    text = "".join(page.read_text(encoding="utf-8") for page in (drawn.VALIDATION, drawn.BENCHMARKS))
    made = sorted(drawn.IMAGES.glob("benchmark-*.png")) + sorted(drawn.IMAGES.glob("validation-*.png"))
    assert len(made) == 5 and all(picture.name in text for picture in made)
