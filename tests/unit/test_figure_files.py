"""Figures as files for a paper: widths, styles, fonts; and what is drawn of which run."""

from __future__ import annotations

import io
import re
import zlib

import numpy as np
import pytest

import carom
from carom.experiment._output import Pictures, _saved
from carom.figures import joints, reaction_figure, use_style
from carom.figures._cycles import cycle_of, enough, swings
from carom.figures.momentum import pinned
from carom.figures.style import COLUMNS, OWN, styled

from .test_signals import elastic_run, rigid_run, soft_run


def test_a_motion_that_repeats_itself_has_a_last_cycle():
    def of(times):
        return cycle_of([("tip", t) for t in times])

    assert of([0.24, 0.64, 1.03, 1.43, 1.83, 2.23]) == (1.83, 2.23)
    assert of([0.45, 0.9, 1.13, 1.24, 1.3, 1.33]) is None  # a ball that comes to rest
    assert of([0.2, 0.4, 0.6]) is None  # too few to tell


def test_snapshots_of_a_cycle_stay_within_it(monkeypatch):
    from carom.figures import snapshots

    run = rigid_run()
    monkeypatch.setattr(snapshots, "last_cycle", lambda result: (0.2, 0.3))
    (axes,) = run.plot.snapshots().axes
    times = [float(text.get_text().split()[0]) for text in axes.get_legend().get_texts()]
    assert (times[0], times[-1]) == (0.2, 0.3) and "one cycle" in axes.get_title()
    (axes,) = run.plot.snapshots(at=[0.0, 0.1]).axes
    assert [float(text.get_text().split()[0]) for text in axes.get_legend().get_texts()] == [0.0, 0.1]


def test_every_swing_gets_its_samples():
    run = elastic_run()
    assert swings(run) > 0 and enough(run) == max(2000, 8 * swings(run))
    assert enough(run, least=1, most=5) == 5


def test_impacts_that_would_be_needles_lie_over_each_other(monkeypatch):
    """Over the time since their touch; beside them the peak of every impact, where it was, with its force."""
    monkeypatch.setattr(reaction_figure, "NEEDLES", 10.0)
    run = soft_run()
    figure = run.plot.reaction()
    over = next(axes for axes in figure.axes if axes.get_xlabel().startswith("time since touch"))
    peaks = next(axes for axes in figure.axes if axes.get_ylabel().startswith("largest force"))
    factor = 1e-3 if "kN" in peaks.get_ylabel() else 1.0
    np.testing.assert_allclose(peaks.get_lines()[0].get_ydata(), [factor * i.max_normal_force for i in run.impacts])
    highest = max(np.max(line.get_ydata()) for line in over.get_lines())
    assert highest == pytest.approx(factor * max(i.max_normal_force for i in run.impacts), rel=1e-3)
    assert max(line.get_xdata()[0] for line in over.get_lines()) == 0.0


def test_blows_are_impulses_that_stand_on_zero():
    run = rigid_run()
    axes = next(axes for axes in run.plot.reaction().axes if axes.get_ylabel().startswith("impulse"))
    drawn = np.concatenate([line.get_ydata() for line in axes.get_lines() if line.get_label().endswith("impulse")])
    assert axes.get_ylim() == pytest.approx((1.1 * min(0.0, *drawn), 1.1 * max(drawn)))
    np.testing.assert_allclose(
        axes.get_lines()[0].get_ydata(), [i.normal_impulse for i in run.impacts if i.duration == 0]
    )


def test_the_balance_is_that_of_the_ledger():
    """Bars of the energy figure: from the start over the works to the end, without a gap."""
    run = rigid_run()
    balance = run.plot.energy().axes[-1]
    bars = [(bar.get_x(), bar.get_width()) for bar in balance.patches]
    ledger = run.energy
    assert bars[0] == pytest.approx((0.0, ledger.start)) and bars[-1][1] == pytest.approx(float(ledger.total[-1]))
    ends = [min(x, x + w) if w < 0 else x + w for x, w in bars[:-1]]
    assert ends[-1] == pytest.approx(bars[-1][1], rel=1e-6)
    assert "not accounted for" in balance.get_title(loc="left")


def test_a_pinned_robot_has_no_figure_of_momentum():
    assert pinned(carom.Mechanism([carom.Rod(1.0, 1.0)]))
    assert not pinned(rigid_run().world.mechanism)


def test_what_stays_where_it_is_has_no_panel():
    place = {"a": (np.zeros(3), np.array([0.0, 1.0, 2.0]), np.full(3, 1e-14), np.ones(3))}
    assert [joints._moves(place, ["a"], k) for k in range(4)] == [False, True, False, False]


@pytest.mark.parametrize("columns", list(COLUMNS))
def test_figures_have_the_width_of_a_column(columns):
    with styled(columns=columns):
        figure = rigid_run().plot.tip()
    assert figure.get_size_inches()[0] == COLUMNS[columns]


def test_pdf_embeds_its_fonts_as_outlines_that_stay_text():
    data = _saved(rigid_run().plot.tip(), "pdf")
    streams = b"".join(
        zlib.decompress(m) for m in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL) if m[:1] == b"\x78"
    )
    assert b"/FontFile2" in data + streams and b"/Type3" not in data + streams
    assert data == _saved(rigid_run().plot.tip(), "pdf")  # the same run, the same file


def test_svg_has_no_date_and_needs_no_font():
    text = _saved(rigid_run().plot.tip(), "svg").decode()
    assert "<text" not in text and "dc:date" not in text


def test_a_style_of_ones_own(tmp_path):
    sheet = tmp_path / "mine.mplstyle"
    sheet.write_text("axes.labelsize: 13\naxes.prop_cycle: cycler('color', ['ff0000'])\n")
    try:
        use_style(sheet)
        (axes, *_) = rigid_run().plot.tip().axes
        assert axes.yaxis.label.get_size() == 13.0 and axes.get_lines()[0].get_color() == "#ff0000"
        assert axes.get_lines()[0].get_linewidth() == 1.2  # the rest is carom's
    finally:
        use_style()
    assert rigid_run().plot.tip().axes[0].yaxis.label.get_size() == 8.5


def test_styles_and_formats_that_are_none(tmp_path):
    with pytest.raises(carom.CaromError, match=r"there is no format \(--figures\) 'pdg'; known: 'png', 'pdf', 'svg'"):
        Pictures("pdg").checked()
    with pytest.raises(carom.CaromError, match=r"there is no width .* 'singel'.* did you mean 'single'"):
        Pictures("pdf", "singel").checked()
    with pytest.raises(carom.CaromError, match=r"none.mplstyle', which is not there; copy .*carom.mplstyle"):
        Pictures("pdf", None, str(tmp_path / "none.mplstyle")).checked()
    (tmp_path / "bad.mplstyle").write_text("axes.labelsize: enormous\n")
    with pytest.raises(carom.CaromError, match=r"bad.mplstyle', is no style sheet of matplotlib"):
        Pictures("pdf", None, str(tmp_path / "bad.mplstyle")).checked()
    assert OWN.exists() and io.BytesIO(OWN.read_bytes()).read(1) == b"#"


@pytest.mark.parametrize("name", ["energy", "phase", "snapshots", "reaction"])
def test_a_png_file_has_the_pixels_that_matplotlib_writes(name, tmp_path):
    """Of figures in which nothing was arranged before; what a style asks for beyond that is left to matplotlib."""
    from matplotlib import image
    from matplotlib.figure import Figure

    run = rigid_run()
    first, second = run.plot.draw(name), run.plot.draw(name)
    first.savefig(tmp_path / "own.png")
    Figure.savefig(second, tmp_path / "theirs.png", dpi=160)
    own, theirs = (image.imread(tmp_path / f"{whose}.png") for whose in ("own", "theirs"))
    np.testing.assert_array_equal(own, theirs[..., : own.shape[2]])
    assert np.all(theirs[..., own.shape[2] :] == 1.0) and own.shape[2] == 3
    first.savefig(half := io.BytesIO(), format="png", dpi=80)
    half.seek(0)
    assert image.imread(half).shape[0] == pytest.approx(own.shape[0] / 2, abs=1)
