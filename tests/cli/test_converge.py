"""carom run --converge: digits that hold are printed and written; Ctrl-C in the second run keeps the first."""

import json

import pytest

from carom.experiment import _output as output
from carom.experiment import experiment
from carom.experiment._converge import kept, tightened
from carom.result import _chunks
from carom.scenario import load

from .answers import NUMBERS

SHORT = ("run", "ball-drop", "--set", "run.until=1.0", "--numbers-only", "--converge")


def test_digits_are_printed_and_written(run, tmp_path):
    code, out, err = run(*SHORT, "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    found = summary["converge"]
    assert found["rtol"] == pytest.approx(0.1 * summary["solver"]["rtol"]) and found["digits"] >= 8
    assert found["sentence"] == f"every number holds to at least {found['digits']} digits" and found["sentence"] in out
    first = summary["quantities"]["first_touch"]
    row = next(row for row in found["numbers"] if row["name"] == "first_touch")
    assert first["digits"] == row["digits"] >= 8 and row["value"] == first["value"]
    head = next(line for line in out.splitlines() if line.startswith("quantity"))
    assert head.split() == ["quantity", "carom", "digits", "source", "difference"]
    assert "largest penetration of a rigid contact" in out
    assert summary["penetration"]["unit"] == "m" and 0.0 <= summary["penetration"]["largest"] < 1e-12


def test_a_report_that_is_made_again_keeps_them(run, monkeypatch, tmp_path):
    monkeypatch.setattr(output, "_pictures", lambda *_: None)
    assert run(*SHORT, "--quiet", "--out", tmp_path / "out")[0] == 0
    before = json.loads((tmp_path / "out" / "summary.json").read_text())["converge"]
    assert run("report", tmp_path / "out")[0] == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["converge"] == before
    assert kept(tmp_path) is None


def test_json_has_it_only_where_it_was_asked_for(run, tmp_path):
    code, out, _ = run(*SHORT, "--json", "--out", tmp_path / "a")
    assert code == 0 and json.loads(out)["converge"]["numbers"]
    code, out, _ = run(*SHORT[:-1], "--json", "--out", tmp_path / "b")
    assert code == 0 and "converge" not in json.loads(out)


def test_ctrl_c_in_the_second_run_keeps_the_first(run, monkeypatch, tmp_path):
    own, calls = experiment.simulate, []

    def second_is_stopped(*args, **options):
        calls.append(options["settings"].rtol)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return own(*args, **options)

    monkeypatch.setattr(experiment, "simulate", second_is_stopped)
    code, out, err = run(*SHORT, "--out", tmp_path / "out")
    assert code == 130 and calls == [1e-8, pytest.approx(1e-9)]
    assert "the second run was interrupted; the results are those of the first" in err and "agrees" in out
    assert {p.name for p in (tmp_path / "out").iterdir()} == NUMBERS
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["finished"] and "converge" not in summary


def test_ctrl_c_between_chunks_of_the_second_run_keeps_the_first(run, monkeypatch, tmp_path):
    own, store = experiment.simulate, _chunks.Chunks
    add, calls = store.add, []

    def counted(*args, **options):
        calls.append(1)
        return own(*args, **options)

    def stopped(self, *rows):
        add(self, *rows)
        if len(calls) > 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(experiment, "simulate", counted)
    monkeypatch.setattr(store, "add", stopped)
    code, out, err = run(*SHORT, "--out", tmp_path / "out")
    assert code == 130 and "agrees" in out and "those of the first" in err
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["finished"]


def test_a_run_that_ended_early_is_not_repeated(run, tmp_path):
    code, out, _ = run(*SHORT, "--set", "run.max_steps=3", "--out", tmp_path / "out")
    assert code == 3 and "digits" not in out
    assert "converge" not in json.loads((tmp_path / "out" / "summary.json").read_text())


def test_the_second_run_is_tighter_and_without_variants():
    scenario = load("arm-controllers")
    tight = tightened(scenario)
    assert (tight.run.rtol, tight.run.atol) == pytest.approx((0.1 * scenario.run.rtol, 0.1 * scenario.run.atol))
    assert scenario.compare and tight.compare == [] and tight.run.max_steps == 10 * scenario.run.max_steps
