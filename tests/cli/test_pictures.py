"""Pictures are drawn once: the file and the report have the same bytes."""

from types import SimpleNamespace

import matplotlib.figure
import numpy as np
from matplotlib import image

from carom.experiment import _output as output
from carom.figures import style


def test_the_report_shows_the_bytes_that_were_written(monkeypatch, tmp_path):
    shown = []
    with style.page(figsize=(2.0, 1.0)) as sheet:
        sheet.subplots().plot([0.0, 1.0])
    saved = []
    own = matplotlib.figure.Figure.savefig
    monkeypatch.setattr(sheet, "savefig", lambda *a, **k: (saved.append(1), own(sheet, *a, **k)))
    monkeypatch.setattr(output, "figures_of", lambda _: iter([("line", "a line", sheet)]))
    monkeypatch.setattr(output, "write_report_of", lambda e, path, quantities, figures, found: shown.extend(figures))
    asked = SimpleNamespace(scenario=SimpleNamespace(output=SimpleNamespace(figures=None, report=True)))
    output._pictures(asked, tmp_path, [], {}, lambda words: None)
    file = tmp_path / "figures" / "line.png"
    assert shown == [("line", "a line", file.read_bytes())] and saved == [1]
    assert image.imread(file).shape[:2] == tuple(np.round(np.array([1.0, 2.0]) * style.DPI).astype(int))


def test_figures_as_files_for_a_paper(tmp_path):
    """A run of its own figures as SVG in one column; `carom report` makes them again as PDF; mistakes come first."""
    from typer.testing import CliRunner

    from carom.cli.app import app

    folder, go = tmp_path / "run", CliRunner().invoke
    few = ["--set", 'output.figures=["tip"]', "--set", "run.until=0.3"]
    wide = ["--figures", "svg", "--columns", "single"]
    done = go(app, ["run", "ball-drop", "--quiet", "--out", str(folder), *few, *wide])
    assert done.exit_code == 0, done.output
    assert [f.name for f in (folder / "figures").iterdir()] == ["tip.svg"]
    assert 'width="244.8pt"' in (folder / "figures" / "tip.svg").read_text()  # 3.4 in
    assert "data:image/png" in (folder / "report.html").read_text()
    again = go(app, ["report", str(folder), "--figures", "pdf"])
    assert again.exit_code == 0, again.output
    assert [f.name for f in (folder / "figures").iterdir()] == ["tip.pdf"]
    refused = go(app, ["run", "ball-drop", "--out", str(tmp_path / "other"), "--figures", "jpg"])
    assert refused.exit_code != 0 and not (tmp_path / "other").exists()
    assert "there is no format (--figures) 'jpg'" in refused.output
