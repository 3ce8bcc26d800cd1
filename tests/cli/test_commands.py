"""Commands about scenarios: what they print and write, exit codes, refusals."""

import json
import re
import shutil
from pathlib import Path

import pytest

import carom
from carom.experiment import _output as output
from carom.experiment import experiment
from carom.scenario import Scenario, load, names
from carom.scenario.library import text_of

from .answers import NUMBERS, refused, tree

# -- reading -----------------------------------------------------------------------------------------------------------


def test_list_names_all(run):
    code, out, err = run("list")
    assert (code, err) == (0, "") and all(name in out for name in names())
    code, out, _ = run("list", "--json")
    assert code == 0 and [r["name"] for r in json.loads(out)] == names()


def test_show_tells_what_a_scenario_is(run):
    code, out, _ = run("show", "ball-drop")
    assert code == 0 and "contact floor: ball.tip against floor, newton" in out and "0.45175" in out
    code, out, _ = run("show", "arm-controllers", "--variant", "pid", "--toml")
    assert code == 0 and Scenario.read(out) == load("arm-controllers").variant("pid")
    code, out, _ = run("show", "--measures")
    assert code == 0 and "impact.N.FIELD" in out
    assert "carom list" in refused(run("show"))
    assert "did you mean 'ball-drop'?" in refused(run("show", "ball-drp"))


def test_new_writes_a_scenario_that_is_fine_and_replaces_nothing(run, tmp_path):
    file = tmp_path / "mine.toml"
    assert run("new", file)[0] == 0
    code, out, _ = run("check", file)
    assert code == 0 and f"{file}: fine" in out
    file.write_text("mine")
    assert "was left as it is" in refused(run("new", file)) and file.read_text() == "mine"
    assert "does not end in .toml" in refused(run("new", tmp_path / "mine"))
    assert "cannot be written" in refused(run("new", tmp_path / "no" / "mine.toml"))
    assert "check the path" in refused(run("new", tmp_path / f"{'x' * 300}.toml"))
    assert run("new", tmp_path / "like.toml", "--like", "corner")[0] == 0
    assert (tmp_path / "like.toml").read_text() == text_of("corner")
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["like.toml", "mine.toml"]


def test_check_says_where_the_mistake_is(run, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(text_of("ball-drop").replace("height = 0.0", "heigth = 0.0"))
    sentence = refused(run("check", file))
    assert f"{file}, line 20: there is no field surfaces.floor.heigth; did you mean 'height'?" in sentence
    file.write_text(text_of("ball-drop").replace("mass = 1.0", "mass = -1.0"))
    assert f"{file}, line 16: mechanisms.ball.links.ball: mass of Disk is -1" in refused(
        run("check", "corner", file, "-q")
    )
    assert run("check", "corner", "--quiet") == (0, "", "")


def test_equations_and_schema(run, tmp_path):
    code, out, _ = run("equations", "ball-drop")
    assert code == 0 and out.strip()
    assert "several mechanisms" in refused(run("equations", "inchworm"))
    code, out, _ = run("schema")
    assert code == 0 and json.loads(out)["title"] == "carom scenario"
    assert run("schema", "--out", tmp_path / "s.json")[0] == 0
    assert json.loads((tmp_path / "s.json").read_text()) == json.loads(out)


@pytest.mark.parametrize(
    "command", ["list", "show", "new", "check", "run", "reproduce", "equations", "report", "schema"]
)
def test_help_has_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0 and f"Example: carom {command}" in " ".join(out.split())


# -- running -----------------------------------------------------------------------------------------------------------


def test_a_run_writes_what_it_should(dropped):
    folder, out = dropped
    assert {p.name for p in folder.iterdir()} == NUMBERS
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["outcome"] == "finished" and summary["finished"] and summary["version"] == carom.__version__
    assert len(summary["impacts"]) > 10 and summary["quantities"]["first_touch"]["agrees"]
    written = load(folder / "scenario.toml")
    assert written.output.figures == [] and written.run == load("ball-drop").run
    assert "agrees" in out and out.rstrip().endswith(f"results: {folder}")
    assert len((folder / "impacts.csv").read_text().splitlines()) == len(summary["impacts"]) + 1


def test_modes_of_speech_and_exit_codes(run, tmp_path):
    few = ("--set", "run.until=0.6", "--numbers-only")
    code, out, err = run("run", "ball-drop", *few, "--out", tmp_path / "a", "--quiet")
    assert (code, out, err) == (0, f"{tmp_path / 'a'}\n", "")
    code, out, err = run("run", "ball-drop", *few, "--out", tmp_path / "b", "--json")
    assert (code, err) == (0, "") and json.loads(out) == json.loads((tmp_path / "b" / "summary.json").read_text())
    # What the shorter run does not have is said, and everything else is there.
    second = json.loads(out)["quantities"]["second_touch"]
    assert second["value"] is None and second["verdict"] == "missing: impact 2 was asked for; the run has 1"
    code, out, _ = run("run", "ball-drop", *few, "--set", "run.max_steps=3", "--out", tmp_path / "c")
    assert code == 3 and "step limit reached" in out
    summary = json.loads((tmp_path / "c" / "summary.json").read_text())
    assert not summary["finished"] and summary["outcome"].startswith("step limit reached")
    assert {p.name for p in tmp_path.iterdir()} == {"a", "b", "c"}


def test_what_is_there_is_left_alone_unless_replaced(run, monkeypatch, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "scenario.toml").write_text("old")
    before = tree(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(experiment, "_one", lambda *_: pytest.fail("work was done before the refusal"))
        assert "exists already; nothing was written" in refused(run("run", "ball-drop", "--out", folder))
        assert "is a file" in refused(run("run", "ball-drop", "--replace", "--out", folder / "scenario.toml"))
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "thesis.tex").write_text("years")
        said = refused(run("run", "ball-drop", "--replace", "--out", tmp_path / "mine"))
        assert "holds files that carom did not write" in said
    shutil.rmtree(tmp_path / "mine")
    assert tree(tmp_path) == before
    short = ("--set", "run.until=0.1", "--numbers-only", "--quiet")
    assert run("run", "ball-drop", *short, "--replace", "--out", folder)[0] == 0
    assert {p.name for p in folder.iterdir()} == NUMBERS and [p.name for p in tmp_path.iterdir()] == ["out"]


def test_runs_without_a_name_do_not_meet(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    short = ("run", "ball-drop", "--set", "run.until=0.1", "--numbers-only", "--quiet")
    assert [run(*short)[1], run(*short)[1]] == ["runs/ball-drop\n", "runs/ball-drop-2\n"]


@pytest.mark.parametrize("out", ["file/out", "/proc/out", "/dev/null/out", "x" * 300])
def test_a_folder_that_cannot_be_made_is_refused_before_the_work(run, monkeypatch, tmp_path, out):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(experiment, "_one", lambda *_: pytest.fail("work was done before the refusal"))
    assert "cannot be written" in refused(run("run", "ball-drop", "--out", out))
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "change", ["nonsense", "=", "run.until", "run.until=", "run.until=soon", "run.untl=1", "a.b.c=1", "start.base.7=1",
               "contacts.floor.normal.restitution=7", "run.until=" + "[" * 3000, "run.until=" + "9" * 5000, "..=1",
               "name=../../x", "\u202e=1"]
)  # fmt: skip
def test_changes_that_make_no_sense_are_one_sentence(run, tmp_path, change, unchecked):
    assert len(refused(run("run", "ball-drop", "--set", change, "--out", tmp_path / "out"))) < 620
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_needed_after_the_run_are_checked_before_it(run, monkeypatch, tmp_path):
    monkeypatch.setattr(experiment, "_one", lambda *_: pytest.fail("work was done before the refusal"))
    for change, words in {
        "quantities.first_touch.measure=impct": "there is no measure 'impct'",
        'output.figures=["angels"]': "there is no figure 'angels'",
        'compare=["heavy"]': "there is no such variant",
    }.items():
        assert words in refused(run("run", "ball-drop", "--set", change, "--out", tmp_path / "out"))
    assert list(tmp_path.iterdir()) == []


def test_reproduce_compares_and_has_a_verdict(run, tmp_path):
    code, out, _ = run("reproduce", "ball-drop", "--json", tmp_path / "r.json")
    assert code == 0 and "3 numbers: 3 agree" in out
    rows = json.loads((tmp_path / "r.json").read_text())
    assert [r["name"] for r in rows] == list(load("ball-drop").quantities) and all(r["agrees"] for r in rows)
    load("ball-drop").with_({"quantities.first_touch.expected": 0.5}).save(tmp_path / "off.toml")
    code, out, _ = run("reproduce", tmp_path / "off.toml", "--quiet")
    assert code == 1 and "DIFFERS" in out and "1 differ without one" in out
    load("ball-drop").with_({"run.until": 0.6, "quantities.second_touch.note": "why"}).save(tmp_path / "short.toml")
    code, out, _ = run("reproduce", tmp_path / "short.toml")
    assert code == 1 and "missing" in out  # a reason for a difference is none for an absence


def test_a_wrong_name_costs_no_older_comparison(run, tmp_path):
    kept = tmp_path / "r.json"
    kept.write_text("[1]")
    assert "did you mean 'ball-drop'?" in refused(run("reproduce", "corner", "bal-drop", "--json", kept))
    assert kept.read_text() == "[1]"
    assert "is a folder; give the name of a file" in refused(run("reproduce", "corner", "--json", tmp_path))


def test_check_looks_at_all_files(run, tmp_path):
    file = tmp_path / "peak.toml"
    file.write_text(text_of("ball-drop").replace("impact.1.t_start", "impact.1.peak_force"))
    code, out, err = run("check", file, "corner", tmp_path / "none.toml")
    assert code == 2 and out.startswith("corner: fine: 1 link, ")
    assert "there is no measure 'impact.1.peak_force'" in err and "there is no file" in err and err.count("\n") == 2


def test_an_empty_folder_may_be_filled(run, tmp_path):
    few = ("--numbers-only", "--set", "run.until=0.1", "--quiet")
    assert run("run", "ball-drop", *few, "--out", tmp_path)[:2] == (0, f"{tmp_path}\n")
    assert {p.name for p in tmp_path.iterdir()} == NUMBERS


def test_what_was_changed_is_told(run, tmp_path):
    change = "contacts.floor.normal.restitution=0.25"
    code, out, _ = run("run", "ball-drop", "--set", change, "--numbers-only", "--out", tmp_path / "out")
    assert code == 0 and "differs (1)" in out and f"(1) changed: {change}" in out and "DIFFERS" not in out
    written = load(tmp_path / "out" / "scenario.toml")
    assert written.title == f"A ball bounces to rest (changed: {change})"
    run("run", "ball-drop", "--set", "output.samples=100", "--numbers-only", "--out", tmp_path / "same")
    assert load(tmp_path / "same" / "scenario.toml").title == "A ball bounces to rest"


def test_a_start_inside_a_surface_is_found_by_check(run, tmp_path):
    file = tmp_path / "inside.toml"
    file.write_text(text_of("ball-drop").replace("base = [0.0, 1.1]", "base = [0.0, 0.05]"))
    assert "contact 'floor' starts 0.05 m inside its surface; a run starts outside" in refused(run("check", file))


def test_a_mistake_of_an_object_is_said_with_file_and_line(run, tmp_path):
    file = tmp_path / "light.toml"
    file.write_text(text_of("ball-drop").replace("mass = 1.0", "mass = -1.0"))
    line = next(k for k, words in enumerate(file.read_text().splitlines(), 1) if "mass = -1.0" in words)
    for command in ("run", "check", "reproduce"):
        said = refused(run(command, file))
        assert f"{file}, line " in said and "mass of" in said and "-1" in said, said
        assert int(re.search(r"line (\d+)", said)[1]) == line, said
    said = refused(
        run("run", "ball-drop", "--set", "mechanisms.ball.links.ball.body.mass=-1.0", "--out", tmp_path / "o")
    )
    assert said.startswith("carom: ball-drop.toml, changed: mechanisms.ball.links.ball: mass of")
    file.write_text("# nothing yet\n")
    assert f"{file} is empty; `carom new FILE` writes a scenario" in refused(run("check", file))


@pytest.mark.parametrize("package", ["matplotlib", "h5netcdf"])
def test_what_is_not_installed_is_said_before_the_run(run, monkeypatch, tmp_path, package):
    monkeypatch.setattr(output, "find_spec", lambda name: None if name == package else name)
    monkeypatch.setattr(experiment, "perform", lambda *_: pytest.fail("it ran"))
    said = refused(run("run", "ball-drop", "--out", tmp_path / "out"))
    assert f"results need {package}, which is not installed; run: pip install 'carom[cli]'" in said


def test_a_report_is_made_of_numbers(run, monkeypatch, dropped, tmp_path):
    monkeypatch.setattr(output, "figures_of", lambda _: iter(()))  # they take their time, and have tests of their own
    folder = tmp_path / "out"
    shutil.copytree(dropped[0], folder)
    assert run("report", folder) == (0, f"{folder / 'report.html'}\n", "")
    assert {p.name for p in folder.iterdir() if p.is_file()} == NUMBERS | {"report.html"}
    assert (folder / "impacts.csv").read_bytes() == (dropped[0] / "impacts.csv").read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_report_of_nothing_is_refused(run, tmp_path):
    assert "holds no scenario.toml" in refused(run("report", tmp_path))
    assert "check the path" in refused(run("report", tmp_path / ("x" * 300)))


# -- files are data ----------------------------------------------------------------------------------------------------


def test_no_text_of_a_file_is_executed(run, tmp_path):
    canary = tmp_path / "canary"
    evil = f"__import__('os').system('touch {canary}')"
    scenario = load("ball-drop").with_({"title": evil, "about": f"$(touch {canary})", "source": f"`touch {canary}`"})
    tables = scenario.toml()
    for name in ("ball", "floor", "first_touch"):  # links, surfaces, contacts, quantities under an evil name
        tables = re.sub(rf"\b{name}\b(?=[\].])", json.dumps(evil), tables)
    tables = tables.replace('"ball.tip"', json.dumps(f"{evil}.tip")).replace(
        'against = "floor"', f"against = {json.dumps(evil)}"
    )
    file = tmp_path / "evil.toml"
    file.write_text(tables.replace('unit = "s"', f"unit = {json.dumps(evil)}"))
    code, _, err = run("run", file, "--set", "run.until=0.1", "--numbers-only", "--out", tmp_path / "out")
    assert code in (0, 2) and "Traceback" not in err
    for field in ("measure", "unit", "about", "source", "note"):
        run("run", "ball-drop", "--set", f"quantities.first_touch.{field}={json.dumps(evil)}", "--set", "run.until=0.1",
            "--numbers-only", "--out", tmp_path / field)  # fmt: skip
    assert not canary.exists()


def test_nothing_in_carom_executes_text():
    package = Path(carom.__file__).parent
    # _store.py keeps compiled programs in the user's own cache, in JAX's format; nothing of a scenario is read so.
    own_cache = package / "hybrid" / "_store.py"
    wanted = re.compile(
        r"(?<![\w.])(eval|exec|compile|__import__)\(|\b(pickle|marshal|shelve|yaml|dill)\b|os\.system|shell=True"
    )
    for file in package.rglob("*.py"):
        found = wanted.search(file.read_text())
        assert found is None or file == own_cache, (file, found)
