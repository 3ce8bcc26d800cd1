"""Writing an experiment: a folder that appears complete or not at all.

scenario.toml  summary.json  impacts.csv  stances.csv  energy.csv  trajectory.nc  figures/*.png  report.html
and identified/, a fit, where a probing run came before a capture
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import CaromError, name_in
from ..result._files import FileError, Folder, sentence, uninterrupted, write_text
from ..result.convergence import Convergence
from ..scenario.model import Scenario
from ._summary import energy_csv, impacts_csv, stances_csv, summary
from .experiment import Experiment
from .measures import Measured, measured

Say = Callable[[str], None]
FORMATS = ("png", "pdf", "svg")


class Pictures(NamedTuple):
    """How figures are written: the format of their files, the width ('single' or 'double' column), a style sheet."""

    form: str = "png"
    columns: str | None = None
    style: str | None = None

    def checked(self) -> Pictures:
        """Refuse before the run what would be missed after it."""
        name_in("format (--figures)", self.form, FORMATS)
        if self.style is not None or self.columns is not None:
            from ..figures.style import styled

            with styled(self.style, self.columns):
                pass
        return self


PNG = Pictures()


class Interrupted(CaromError):
    """Ctrl-C while results were written; what was done by then is kept."""

    interrupted = True


def write(
    experiment: Experiment,
    path: Path,
    *,
    replace: bool = False,
    say: Say = lambda words: None,
    partial: bool = True,
    holds: Convergence | None = None,
    pictures: Pictures = PNG,
) -> dict[str, Any]:
    """Write everything that the scenario asks for; the summary is returned, with how many digits hold if that is known.

    Ctrl-C while pictures are made keeps the numbers, unless not `partial`: then nothing changes.
    """
    folder = Folder(path, replace)
    whole = False  # are the numbers complete?
    try:
        with uninterrupted(
            "writing what was computed; Ctrl-C once more stops at once, and loses it" if partial else ""
        ):
            quantities = measured(experiment) if experiment.finished else []
            found = summary(experiment, quantities, holds)
            _numbers(experiment, folder.half, found, say)
            whole = True
        _pictures(experiment, folder.half, quantities, found, say, pictures)
        with uninterrupted():
            folder.finish()
        return found
    except KeyboardInterrupt:
        if not (whole and partial):
            raise
        # Pictures can be made again with `carom report`.
        if folder.half.exists():
            folder.finish()
        raise Interrupted(
            f"interrupted while figures and report were made; the numbers are in {folder.path}; run: carom report "
            f"{folder.path}"
        ) from None
    except FileError as refusal:  # the folder has had a name that nobody knows
        said = str(refusal).replace(str(folder.half), str(folder.path))
        raise FileError(said if "nothing was written" in said else f"{said}; nothing was written") from None
    except OSError as trouble:
        raise FileError(f"{sentence(folder.path, trouble)}; nothing was written") from None
    finally:
        folder.discard()


def _numbers(experiment: Experiment, half: Path, found: dict[str, Any], say: Say) -> None:
    say("numbers")
    write_text(half / "scenario.toml", experiment.scenario.toml())
    write_text(half / "summary.json", json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    write_text(half / "impacts.csv", impacts_csv(experiment))
    write_text(half / "stances.csv", stances_csv(experiment))
    if experiment.scenario.run.ledger:
        write_text(half / "energy.csv", energy_csv(experiment))
    if experiment.identified is not None:
        say("what was identified")
        experiment.identified.found.save(half / "identified")
    say("trajectory")
    for name, result in named_results(experiment):
        result.save(half / f"trajectory{name}.nc", experiment.scenario.output.samples)


def check_installed(scenario: Scenario) -> None:
    """Refuse before the run what would be missed after it."""
    drawn = scenario.output.figures != []
    for package in ("h5netcdf", *(("matplotlib",) if drawn else ())):
        if find_spec(package) is None:
            raise CaromError(f"results need {package}, which is not installed; run: pip install 'carom[cli]'")


def named_results(experiment: Experiment) -> list[tuple[str, Any]]:
    """Runs with what is added to their files' names: nothing for the only one."""
    results = experiment.results
    own = [("", results[0])] if len(results) == 1 else [(f"-step{k + 1}", r) for k, r in enumerate(results)]
    return own + [(f"-{name}", other.result) for name, other in experiment.others.items()]


def _pictures(
    experiment: Experiment,
    half: Path,
    quantities: list[Measured],
    found: dict[str, Any],
    say: Say,
    pictures: Pictures = PNG,
) -> None:
    figures: list[tuple[str, str, bytes]] = []
    if experiment.scenario.output.figures != []:
        from ..figures.style import styled

        (half / "figures").mkdir()
        with styled(pictures.style, pictures.columns):
            for name, caption, figure in figures_of(experiment):
                say(f"figure {name}")
                written = _saved(figure, pictures.form)
                (half / "figures" / f"{name}.{pictures.form}").write_bytes(written)
                figures.append((name, caption, written if pictures.form == "png" else _saved(figure, "png")))
    if experiment.scenario.output.report:
        say("report")
        write_report_of(experiment, half / "report.html", quantities, figures, found)


def _saved(figure: Any, form: str) -> bytes:
    """The bytes of a file in that format, the same for the same figure: without the date."""
    picture = io.BytesIO()
    dates = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    figure.savefig(picture, format=form, metadata=dates.get(form))
    return picture.getvalue()


def figures_of(experiment: Experiment) -> Iterator[tuple[str, str, Any]]:
    """(name, what it shows, figure) of everything that suits, or of what the scenario asks for."""
    from ..figures import FIGURES, compare

    asked = experiment.scenario.output.figures
    known = {f.name: f for f in FIGURES}
    for name in asked or ():
        name_in("figure", name, tuple(known))
    for text in experiment.scenario.output.signals:
        for result in experiment.results:
            result.unit(text)
    if experiment.others:
        each = {"as given": experiment.result} | {name: other.result for name, other in experiment.others.items()}
        yield "comparison", "variants side by side", compare(each)
    if experiment.identified is not None:
        from .measuring._fit_figures import figures_of_fit

        for number, (_, words, figure) in enumerate(figures_of_fit(experiment.identified.found), start=1):
            yield f"identified-{number:02d}", words, figure
    results = experiment.results
    for k, result in enumerate(results):
        prefix = "" if len(results) == 1 else f"step{k + 1}-"
        for name, figure in known.items():
            texts = experiment.scenario.output.signals if name == "signals" else []
            if texts or (asked is None and figure.suits(result)) or (asked is not None and name in asked):
                yield f"{prefix}{name}", figure.meaning, result.plot.draw(name, *texts)


def write_report_of(
    experiment: Experiment,
    path: Path,
    quantities: list[Measured],
    figures: list[tuple[str, str, bytes]],
    found: dict[str, Any],
) -> None:
    """The page that shows what happened."""
    from ..report import write_report

    write_report(
        path,
        experiment.clips,
        title=experiment.scenario.title or experiment.scenario.name,
        about=experiment.scenario.about,
        blows=() if experiment.seam is None else (experiment.seam,),
        quantities=[
            (m.name.replace("_", " "), m.value, m.unit, m.expected, m.difference, m.verdict, m.allowed)
            for m in quantities
        ],
        figures=[(png, f"{name}: {caption}") for name, caption, png in figures],
        summary=found,
    )
