"""Ten thousand scenario files gone wrong, and run: each is refused with one sentence, or ends with an outcome.

CAROM_MUTATIONS=200 runs the first 200 only; CAROM_MUTATIONS=3000:4000 those between.
"""

import dataclasses
import faulthandler
import json
import os
import sys
import warnings
from collections import Counter
from pathlib import Path

import jaxtyping
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.mutations import mutated, numbers_changed

from carom.errors import CaromError
from carom.experiment._output import write
from carom.experiment._scenario_check import check
from carom.experiment.experiment import perform
from carom.scenario import Scenario, names
from carom.scenario.library import load, text_of

CHEAP = ("ball-drop", "ball-on-slope", "corner", "arm-plastic", "arm-repeated-impact", "arm-controllers")
SLICE = 250  # mutations per test
STEPS = 20_000  # a run ends by then
HANG = 300  # [s] after which the test is given up with a traceback of where it hangs


def asked() -> range:
    first, _, last = os.environ.get("CAROM_MUTATIONS", "10000").rpartition(":")
    return range(int(first or 0), int(last))


@dataclasses.dataclass(frozen=True)
class Answer:
    """What carom answered to a file."""

    kind: str  # refused, fine (checked only), finished or ended early
    words: str = ""


def attempt(seed: int, folder: Path) -> Answer:
    """One mutation: of a cheap scenario two times out of three, and then run if its check passes."""
    runs = seed % 3 != 0
    chosen = CHEAP if runs else tuple(names())
    text = text_of(chosen[seed // 3 % len(chosen)])
    file = folder / "mutation.toml"
    file.write_bytes(numbers_changed(text, seed) if seed % 3 == 1 else mutated(text, seed))
    try:
        scenario = load(file)
        check(scenario)
        return _run(scenario, folder / "out") if runs else Answer("fine")
    except CaromError as refusal:
        return Answer("refused", str(refusal))


def _run(scenario: Scenario, out: Path) -> Answer:
    """Numbers only, and not for long."""
    changes = {"run.max_steps": min(scenario.run.max_steps, STEPS), "output.figures": [], "output.report": False}
    found = perform(scenario.with_(changes), progress=False)
    write(found, out)
    return Answer("finished" if found.finished else "ended early", found.outcome)


def complete(out: Path, answer: Answer) -> None:
    """What stands under its final name is whole, and says how it ended."""
    summary = json.loads((out / "summary.json").read_text())
    again = load(out / "scenario.toml")
    assert summary["scenario"] == again.name
    assert summary["finished"] == (answer.kind == "finished")
    assert answer.kind == "finished" or summary["outcome"] not in ("", "finished")
    assert (out / "impacts.csv").exists() and (out / "trajectory.nc").exists()


@pytest.mark.parametrize("first", asked()[::SLICE])
def test_mutations_run_or_are_refused(first, tmp_path_factory, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as users run carom
    counts: Counter[str] = Counter()
    for seed in range(first, min(first + SLICE, asked().stop)):
        folder = tmp_path_factory.mktemp("mutation")
        faulthandler.dump_traceback_later(HANG, exit=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a run that should be looked at is one that ran
            answer = attempt(seed, folder)
        faulthandler.cancel_dump_traceback_later()
        counts[answer.kind] += 1
        assert answer.words.isprintable() and len(answer.words) < 600, (seed, answer)
        left = {path.name for path in folder.iterdir()} - {"mutation.toml"}
        assert left <= {"out"}, (seed, left)
        if left:
            complete(folder / "out", answer)
        assert bool(left) == (answer.kind in ("finished", "ended early")), (seed, answer)
    assert set(counts) == {"refused", "fine", "finished", "ended early"} or sum(counts.values()) < SLICE, counts
