"""What lies on the desk: a scenario, the numbers that were changed in it, and another law beside it."""

from __future__ import annotations

import hashlib
import json
import warnings as warnings_of
from pathlib import Path
from typing import Any, NamedTuple

from .._arguments import Name
from ..errors import CaromError, CaromWarning
from ..experiment._scenario_check import check, placed
from ..experiment.experiment import Experiment, perform
from ..report import report as report_page
from ..report._data import viewer_data
from ..report._story import story, warnings
from ..report.samples import struck
from ..scenario._build import mechanism_of
from ..scenario._change import changed
from ..scenario._text import read
from ..scenario.library import text_and_place
from ..scenario.model import Scenario
from ..scenario.places import ScenarioError
from ._choices import choices_of
from ._formulas import formulas_of
from ._handles import handles_of
from ._sliders import controls_of

STEPS = 50_000  # of a run in the studio: seven times those of the arm's fifteen strikes; `carom run` takes longer ones
EVENTS = 2_000  # each blow has frames of its own, and is told
QUICK = 0.25  # share of the frames while a slider moves

Changes = dict[str, Any]


class Asked(NamedTuple):
    """What the page wants to see: changes of the scenario, and those of the run beside it, if there is one."""

    changes: Changes
    beside: Changes | None = None
    quick: bool = False


class Desk:
    """The scenario as it was read, and where its text came from."""

    def __init__(self, name: Name) -> None:
        self.text, self.where = text_and_place(name)
        self.file = Path(self.where) if Path(self.where).is_file() else None
        self.said = self._print()
        found = read(self.text, self.where)
        with placed(self.where, self.text):
            self._take(found)

    def take_text(self, text: str, where: str) -> None:
        """Another scenario, from a text; what was there stays if it is none."""
        found = read(text, where)
        with placed(where, text):
            self._take(found)
        self.text, self.where, self.file, self.said = text, where, None, ""

    def take(self, name: Name) -> None:
        """Another scenario, by its name or path."""
        other = Desk(name)
        self.__dict__.update(other.__dict__)

    def _take(self, scenario: Scenario) -> None:
        check(scenario)
        self.scenario = scenario.model_copy(update={"compare": []})
        self.asked = Asked({})

    # -- the file ------------------------------------------------------------------------------------------------------

    def _print(self) -> str:
        """A fingerprint of the file; empty where there is none."""
        try:
            return "" if self.file is None else hashlib.sha256(self.file.read_bytes()).hexdigest()
        except OSError:
            return "gone"

    def news(self) -> str:
        """A sentence if the file is no longer as it was read; each change is told once."""
        now = self._print()
        if now == self.said:
            return ""
        self.said = now
        if now == "gone":
            return f"{self.where} is no longer there; what is on this page stays, and can be written as TOML"
        return f"{self.where} has changed on disk; reload it to go on with what it says now"

    def reload(self) -> None:
        """Read the file again; what was there stays if it cannot be read."""
        self.take(self.where)

    # -- scenarios -----------------------------------------------------------------------------------------------------

    def sides(self, asked: Asked) -> list[Scenario]:
        """The scenario with what was changed, and the one beside it."""
        own = _changed(self.scenario, asked.changes)
        return [own] if asked.beside is None else [own, _changed(own, asked.beside)]

    def told(self, asked: Asked) -> dict[str, Any]:
        """All that the page shows before anything has run: controls, laws to choose from."""
        sides = self.sides(asked)
        top = _names(sides[0])
        shown = [[each._asdict() for each in controls_of(sides[0], names=top)]]
        for side in sides[1:]:
            shown.append([each._asdict() for path in _tables(asked.beside or {}) for each in controls_of(side, path)])
        return {
            "name": sides[0].name,
            "title": sides[0].title or sides[0].name,
            "about": " ".join(sides[0].about.split()),
            "source": sides[0].source,
            "file": "" if self.file is None else str(self.file),
            "controls": shown,
            "laws": choices_of(sides[0]),
            "now": {path: _law_at(sides[0], path) for path in choices_of(sides[0])},
            "changes": asked.changes,
            "beside": asked.beside,
        }

    def toml(self) -> str:
        return self.sides(self.asked)[0].toml()

    def python(self) -> str:
        """A program that runs what the page shows."""
        if self.file is not None or self.where == f"{self.scenario.name}.toml":
            name = str(self.file) if self.file is not None else self.scenario.name
            begin = f"scenario = carom.Scenario.load({json.dumps(name)})"
        else:
            quoted = self.text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
            begin = f'scenario = carom.Scenario.read("""\n{quoted}""")'
        lines = ["import carom", "", begin]
        lines += _with("scenario", "scenario", self.asked.changes)
        if self.asked.beside is not None:
            lines += _with("other", "scenario", self.asked.beside)
        lines += ["result = scenario.simulate()", "print(result)"]
        if self.asked.beside is not None:
            lines += ["", "print(carom.compare(scenario, other))"]
        return "\n".join(lines) + "\n"

    def report(self) -> str:
        """The page of the run that is shown."""
        found = perform(self.sides(self.asked)[0], progress=False)
        scenario = found.scenario
        return report_page(
            found.clips,
            title=scenario.title or scenario.name,
            about=" ".join(scenario.about.split()),
            blows=() if found.seam is None else (found.seam,),
        )


def _with(name: Name, of: Name, changes: Changes) -> list[str]:
    """Lines that change a scenario."""
    if not changes:
        return [f"{name} = {of}"] if name != of else []
    inner = [f"    {json.dumps(path)}: {value!r}," for path, value in changes.items()]
    return [f"{name} = {of}.with_(", "{", *inner, "}", ")"] if not inner else [f"{name} = {of}.with_({{", *inner, "})"]


def _changed(scenario: Scenario, changes: Changes) -> Scenario:
    try:
        return changed(scenario, changes) if changes else scenario
    except ScenarioError as refusal:
        said = str(refusal).replace("--set ", "").replace("the changed scenario: ", "")
        raise ScenarioError(said, refusal.path) from None


def _tables(changes: Changes) -> list[str]:
    """Paths of laws that stand in the place of others."""
    return [path for path, value in changes.items() if isinstance(value, dict)]


def _law_at(scenario: Scenario, path: str) -> str:
    """The name of the law at contacts.NAME.normal, or .friction."""
    name, field = path.partition(".")[2].rsplit(".", 1)
    law = getattr(scenario.contacts[name.strip('"')], field)
    return "none" if law is None else str(law.law)


def _names(scenario: Scenario) -> dict[str, list[str]]:
    """What the entries of lists of the start count."""
    if scenario.start is None:
        return {}
    try:
        top = mechanism_of(scenario).topology
    except CaromError:
        return {}  # the run says why
    hinged, slid = [top.names[k] for k in top.hinged], [top.names[k] for k in top.slid]
    turning = {f"start.{field}": hinged for field in ("angles", "rates")}
    base = {f"start.{field}": ["x", "y"] for field in ("base", "base_velocity")}
    return turning | base | {f"start.{field}": slid for field in ("slides", "slide_rates")}


# -- runs --------------------------------------------------------------------------------------------------------------


def shown(scenario: Scenario, quick: bool) -> dict[str, Any]:
    """A run, as the page shows it."""
    limits = {"max_steps": min(scenario.run.max_steps, STEPS)}
    limits["max_events"] = min(scenario.run.max_events or EVENTS, EVENTS)
    run = scenario.run.model_copy(update=limits)
    with warnings_of.catch_warnings():
        warnings_of.simplefilter("ignore", CaromWarning)  # the page has them as sentences
        found = perform(scenario.model_copy(update={"run": run}), progress=False)
    listed = struck(found.clips, () if found.seam is None else (found.seam,))
    data = viewer_data(found.clips, [each for each in listed if each.impact.struck], QUICK if quick else 1.0)
    return {
        "data": data,
        "handles": _handles(scenario, found),
        "formulas": formulas_of(found.result.world),
        "story": [] if quick else story(found.clips, listed),
        "warnings": [] if quick else warnings(found.clips),
        "outcome": found.outcome,
        "finished": found.finished,
        "seconds": sum(result.statistics.run_seconds for result in found.results),
    }


def _handles(scenario: Scenario, found: Experiment) -> list[dict[str, Any]]:
    return handles_of(scenario, found.result.world, found.result.start)
