"""The command line: what it prints, its exit codes, and that a mistake is one sentence on stderr."""

import json
import subprocess
import sys

import numpy as np
import pytest

import carom
from carom.cli import main
from carom.contact import catalogue

COMMANDS = ("laws", "restitution")


@pytest.fixture
def run(monkeypatch, capsys):
    """Run `carom ...` in this process: exit code, stdout, stderr."""
    monkeypatch.setenv("COLUMNS", "200")

    def go(*args):
        monkeypatch.setattr(sys, "argv", ["carom", *map(str, args)])
        with pytest.raises(SystemExit) as end:
            main()
        out = capsys.readouterr()
        return end.value.code or 0, out.out, out.err

    return go


def refused(answer):
    """The sentence of an answer that must be a refusal: exit code 2, one line on stderr, nothing on stdout."""
    code, out, err = answer
    assert code == 2 and out == "" and err.startswith("carom: ") and err.count("\n") == 1, answer
    return err


# -- laws --------------------------------------------------------------------------------------------------------------


def test_every_law_is_listed_with_all_that_its_card_says(run):
    code, out, err = run("laws")
    assert (code, err) == (0, "")
    flat = " ".join(out.split())
    for entry in catalogue.laws().values():
        card = entry.card
        for text in (card.name, card.formula, card.source, card.choose, *(x for pair in card.parameters for x in pair)):
            assert " ".join(text.split()) in flat or len(text) > 150, text  # longer ones are broken across columns


def test_one_law_is_shown_alone(run):
    code, out, _ = run("laws", "hu-guo")
    assert code == 0 and "3 (1 - c)/(2 c)" in out and "Hu and Guo 2015" in out and "flores" not in out


def test_one_kind_is_listed_alone(run):
    code, out, _ = run("laws", "--kind", "friction")
    assert code == 0 and out.startswith("friction laws") and "normal laws" not in out and "hertz" not in out


def test_laws_as_json_are_the_cards(run):
    code, out, _ = run("laws", "--kind", "normal", "--json")
    records = json.loads(out)
    assert code == 0 and [r["name"] for r in records] == [e.card.name for e in catalogue.NORMAL_LAWS]
    assert {r["kind"] for r in records} == {"normal"}
    assert all(set(r) == {"kind", "name", "formula", "parameters", "source", "choose", "in_phases"} for r in records)


def test_unknown_names_are_refused_with_the_nearest(run):
    assert "did you mean 'lee-wang'?" in refused(run("laws", "lee-wong"))
    assert "did you mean 'friction'?" in refused(run("laws", "--kind", "fricton"))
    assert "no impact law 'hertz'" in refused(run("laws", "hertz", "--kind", "impact"))


# -- restitution -------------------------------------------------------------------------------------------------------


def test_asked_and_achieved_are_printed(run):
    code, out, err = run("restitution", "lankarani-nikravesh", "--asked", 0.5)
    assert (code, err) == (0, "")
    words = out.split()
    assert words[words.index("asked") + 1] == "0.5"
    achieved = carom.achieved_restitution(carom.LankaraniNikravesh(1e7, 0.5))
    assert words[words.index("achieved") + 1] == f"{achieved:.10f}"


def test_speed_and_mass_reach_the_law(run):
    steel = carom.Material(210e9, 0.29, 1.12e9)
    law = carom.JacksonGreen(steel, steel, 0.005)
    _, out, _ = run("restitution", "jackson-green", "--speed", 3, "--mass", 0.5, "--json")
    assert json.loads(out)["achieved"] == carom.achieved_restitution(law, 3.0, 0.5)


def test_all_laws_in_a_table(run):
    code, out, _ = run("restitution", "--all", "--asked", 0.5)
    rows = dict(line.split() for line in out.splitlines()[1:])
    assert code == 0 and set(rows) == {e.card.name for e in catalogue.NORMAL_LAWS if e.asks}
    assert (rows["gonthier"], rows["hunt-crossley"]) == ("0.5000", "0.6630")


def test_mistakes_are_one_sentence_and_exit_code_2(run, tmp_path):
    assert "it must lie in [0, 1]" in refused(run("restitution", "flores", "--asked", 1.4))
    assert "divides by it" in refused(run("restitution", "flores", "--asked", 0))
    assert "--asked is missing; 'flores'" in refused(run("restitution", "flores"))
    assert "leave out --asked" in refused(run("restitution", "hertz", "--asked", 0.5))
    assert "either the name of a law or --all" in refused(run("restitution"))
    assert "either the name of a law or --all" in refused(run("restitution", "hertz", "--all"))
    assert "speed of achieved_restitution is -1" in refused(run("restitution", "hertz", "--speed=-1"))
    assert "add --all" in refused(run("restitution", "hertz", "--figure", tmp_path / "a.png"))
    code, _, err = run("restitution", "hertz", "--speed", "fast")
    assert code == 2 and "'--speed'" in err and "Traceback" not in err


def test_the_figure_is_written_whole_or_not_at_all(run, tmp_path):
    path = tmp_path / "restitution.png"
    code, out, err = run("restitution", "--all", "--asked", 0.5, "--figure", path)
    assert (code, err) == (0, "") and "gonthier" in out
    assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 20_000
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # the temporary name is gone


def test_a_figure_that_cannot_be_written_is_refused_before_it_is_drawn(run, tmp_path):
    assert "its ending must be one of" in refused(run("restitution", "--all", "--figure", tmp_path / "a.xyz"))
    assert "there is no folder" in refused(run("restitution", "--all", "--figure", tmp_path / "no" / "a.png"))


# -- the application ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0 and f"Example: carom {command}" in out


def test_laws_are_found_however_they_are_written(run):
    for name in ("LuGre", "hunt_crossley", "HuntCrossley"):
        code, out, _ = run("laws", name)
        assert code == 0 and name.lower()[:4] in out


def test_help_lists_the_commands(run):
    code, out, _ = run("--help")
    assert code == 0 and all(command in out for command in COMMANDS)


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_its_extra_it_says_how_to_install_it(run, monkeypatch, missing):
    for module in [name for name in sys.modules if name.startswith("carom.cli.")]:
        monkeypatch.delitem(sys.modules, module)
    for module in [name for name in sys.modules if name.split(".")[0] == missing]:
        monkeypatch.setitem(sys.modules, module, None)
    sentence = refused(run("laws"))
    assert f"needs {missing}, which is not installed; run: pip install 'carom[cli]'" in sentence


def test_without_matplotlib_it_says_how_to_install_it(run, monkeypatch, tmp_path):
    for module in [name for name in sys.modules if name.split(".")[0] == "matplotlib"] or ["matplotlib"]:
        monkeypatch.setitem(sys.modules, module, None)
    assert "pip install 'carom[figures]'" in refused(run("restitution", "--all", "--figure", tmp_path / "a.png"))


def test_the_module_runs_as_a_script():
    done = subprocess.run([sys.executable, "-m", "carom", "laws", "herz"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == "" and "did you mean 'hertz'?" in done.stderr


def test_json_has_null_where_numbers_are_not_finite(capsys):
    from carom.cli._speech import as_json

    as_json({"depth": float("nan"), "most": np.float64(np.inf), "speeds": np.array([1.0, 2.0])})
    assert json.loads(capsys.readouterr().out) == {"depth": None, "most": None, "speeds": [1.0, 2.0]}


def test_a_file_loads_the_laws_that_it_names_and_no_others():
    """A wrong word in it loads all of them, and is told what there is."""
    probe = (
        "import sys, carom; from carom.scenario._text import read; text = carom.Scenario.load('ball-drop').toml(); "
        "others = ('gonthier', 'lugre', 'spline', 'control.machine'); "
        "assert not [each for each in sys.modules if any(other in each for other in others)]; "
        "read(text.replace('newton', 'newtn'))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert "contacts.floor.normal.law is 'newtn'; known: hooke, hertz," in done.stderr
    assert done.stderr.rstrip().endswith("did you mean 'newton'?")
