"""Films and picture strips of a run."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import errors
from .._arguments import ClipsLike
from ..quantities import Given, Real
from ._clip import Clip, clips_of
from ._drawing import Drawing, Part, drawing
from ._files import FileError, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENDINGS = (".mp4", ".gif", ".png")
WATCH, HOLD = 1.6, 0.5  # [s] of film for an impact, and for an instantaneous one
AROUND, STRIP = 0.25, 8  # of an impact's duration before and after it; pictures of a strip
INK, SOFT, LINK, FILL = "#1d2126", "#626a73", "#46566a", "#8fa2b8"
GROUND, FORCE, TRACE = "#7d756a", "#c2342b", "#b08a4f"


def animate(
    clips: ClipsLike,
    path: str | Path,
    *,
    fps: Real = 30,
    speed: Real = 1.0,
    stretch_impacts: bool = True,
    size: Given = (960, 540),
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write a film (.mp4, .gif), or a strip of pictures (.png).

    - `fps`: pictures per second of film; `speed`: seconds of motion per second of film
    - `stretch_impacts`: slow down in every impact so that it can be watched; the film says how much
    - `size`: width and height in pixels; `progress`: called with the number of pictures done and of all
    """
    clips, path = clips_of(clips), Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise errors.CaromError(f"a film cannot be written to '{path}'; its name must end in {', '.join(ENDINGS)}")
    errors.number("animate", "fps", fps, above=0.0)
    errors.number("animate", "speed", speed, above=0.0)
    errors.vector("animate", "size", size, 2)
    _refuse_missing(ending)
    width, height = (max(2 * round(float(x) / 2), 64) for x in size)  # codecs want even numbers
    if ending == ".png":
        return _strip(clips, path, width, height)
    rate = max(round(float(fps)), 1)
    shown = schedule(clips, float(rate), float(speed), bool(stretch_impacts))
    drawn = drawing(clips, shown.times)
    if progress is not None:
        progress(0, len(shown.times))
    with written(path) as half, _encoded(path), _figure(width, height) as (figure, axes):
        writer = _writer(ending, rate)
        with writer.saving(figure, str(half), dpi=figure.dpi):
            for k, (part, frame) in enumerate(_frames(drawn)):
                axes.clear()
                paint(axes, drawn, part, frame, width / height)
                for tip in part.tips:
                    axes.plot(*tip[: frame + 1].T, color=TRACE, lw=1.0, alpha=0.6, zorder=1.5)
                _caption(axes, shown.times[k], shown.paces[k])
                writer.grab_frame()
                if progress is not None:
                    progress(k + 1, len(shown.times))
    return path


def _refuse_missing(ending: str) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise errors.CaromError(
            "films need matplotlib, which is not installed; run: pip install 'carom[figures]'"
        ) from None
    if ending == ".mp4" and shutil.which("ffmpeg") is None:
        raise errors.CaromError(
            "an .mp4 film needs the program ffmpeg, which was not found; install it, or write a .gif instead"
        )


# -- which instant every picture shows ---------------------------------------------------------------------------------


class Schedule(NamedTuple):
    """Instants [s] of the pictures, and how many times slower than life the film is there (infinite: it holds)."""

    times: np.ndarray
    paces: np.ndarray


def schedule(clips: Sequence[Clip], fps: float, speed: float, stretched: bool) -> Schedule:
    """Pictures at equal intervals of the film."""
    begin, end = clips[0].begin, max(clip.end for clip in clips)
    windows = _windows(clips, begin, end) if stretched else []
    knots, film = [begin], [0.0]
    for first, last in windows:
        if first > knots[-1]:
            knots.append(first)
            film.append(film[-1] + (first - knots[-2]) / speed)
        knots.append(last)
        film.append(film[-1] + max((last - first) / speed, WATCH if last > first else HOLD))
    if end > knots[-1]:
        knots.append(end)
        film.append(film[-1] + (end - knots[-2]) / speed)
    at = np.minimum(np.arange(np.ceil(film[-1] * fps) + 1.0) / fps, film[-1])
    piece = np.clip(np.searchsorted(film, at, side="right") - 1, 0, len(film) - 2)
    spans, lengths = np.diff(knots), np.diff(film)
    share = np.clip((at - np.asarray(film)[piece]) / lengths[piece], 0.0, 1.0)
    times = np.asarray(knots)[piece] + share * spans[piece]
    with np.errstate(divide="ignore"):
        paces = lengths[piece] / spans[piece]
    return Schedule(np.clip(times, begin, end), paces)


def _windows(clips: Sequence[Clip], begin: float, end: float) -> list[tuple[float, float]]:
    """Stretches of time around impacts; those that overlap are one."""
    found: list[tuple[float, float]] = []
    for clip in clips:
        ahead = clip.t0 - float(clip.result.t[0])
        for i in clip.result.impacts:
            around = AROUND * i.duration
            found.append((max(i.t_start + ahead - around, begin), min(i.t_end + ahead + around, end)))
    merged: list[tuple[float, float]] = []
    for first, last in sorted(found):
        if merged and first <= merged[-1][1] + 0.5 * (last - first):
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


# -- pictures ----------------------------------------------------------------------------------------------------------


def paint(axes: Axes, drawn: Drawing, part: Part, frame: int, aspect: float, faint: float = 1.0) -> None:
    """One instant into matplotlib's axes."""
    from matplotlib.patches import Circle

    _fit(axes, drawn, aspect)
    reach = axes.get_ylim()[1] - axes.get_ylim()[0]
    for surface in part.surfaces:
        _ground(axes, surface.at(frame), 0.018 * reach)
    for x, y in part.bases:
        axes.plot([x], [y - 0.012 * reach], marker=(3, 0, 0), ms=11, mfc="none", mec=GROUND, zorder=1)
    for spring in part.springs:
        axes.plot(*_zigzag(spring[frame], 0.008 * reach).T, color=SOFT, lw=1.0, zorder=2)
    for link in part.links:
        points = link.points[frame]
        if link.radius > 0.0:
            style = "-" if link.kind == "disk" else "--"
            disk = Circle(tuple(points[0]), link.radius, fc=FILL, ec=LINK, ls=style, alpha=0.45 * faint, zorder=2)
            axes.add_patch(disk)
            axes.plot(*points.T, color=LINK, lw=1.2, alpha=faint, zorder=3)
        else:
            width = 2.2 if link.kind == "beam" else 1.4 if link.kind == "point" else 4.0
            axes.plot(*points.T, color=LINK, lw=width, solid_capstyle="round", alpha=faint, zorder=3)
    for tip in part.rounds:
        if tip.kind == "outline":
            axes.fill(*tip.points[frame].T, fc=FILL, ec=LINK, lw=1.2, alpha=0.45 * faint, zorder=2)
        elif tip.kind == "bar":
            axes.plot(*tip.points[frame].T, color=LINK, lw=1.5, alpha=0.6 * faint, zorder=3)
        elif tip.radius > 0.0:
            axes.add_patch(Circle(tuple(tip.points[frame][0]), tip.radius, fill=False, ec=LINK, alpha=faint, zorder=3))
    if part.pins.shape[1]:
        axes.plot(*part.pins[frame].T, "o", ms=4.0, mfc="white", mec=LINK, alpha=faint, zorder=4)
    for contact in part.contacts:
        _arrow(axes, drawn.largest_force, contact.point[frame], contact.force[frame], 0.24 * reach)


def _fit(axes: Axes, drawn: Drawing, aspect: float) -> None:
    left, bottom, right, top = drawn.box
    wide, tall = right - left, top - bottom
    wide, tall = max(wide, tall * aspect), max(tall, wide / aspect)
    (x, y) = drawn.box.centre
    axes.set_xlim(x - wide / 2, x + wide / 2)
    axes.set_ylim(y - tall / 2, y + tall / 2)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _ground(axes: Axes, line: np.ndarray, size: float) -> None:
    """A line with hatching on its solid side, the right one."""
    axes.plot(*line.T, color=GROUND, lw=1.2, zorder=1)
    steps = np.diff(line, axis=0)
    long = np.hypot(*steps.T)
    along = np.concatenate([[0.0], np.cumsum(long)])
    at = np.arange(0.0, along[-1], 1.3 * size)
    piece = np.clip(np.searchsorted(along, at, side="right") - 1, 0, len(steps) - 1)
    unit = steps[piece] / np.maximum(long[piece], 1e-300)[:, None]
    foot = line[piece] + (at - along[piece])[:, None] * unit
    end = foot + size * (np.stack([unit[:, 1], -unit[:, 0]], axis=1) - 0.8 * unit)
    gaps = np.full_like(foot, np.nan)
    strokes = np.stack([foot, end, gaps], axis=1).reshape(-1, 2)
    axes.plot(*strokes.T, color=GROUND, lw=0.6, alpha=0.6, zorder=1)


def _zigzag(ends: np.ndarray, size: float) -> np.ndarray:
    share = np.linspace(0.0, 1.0, 21)[:, None]
    way = ends[1] - ends[0]
    across = np.array([-way[1], way[0]]) / max(float(np.hypot(*way)), 1e-300)
    side = np.where((np.arange(21) < 3) | (np.arange(21) > 17), 0.0, (-1.0) ** np.arange(21))[:, None]
    return ends[0] + share * way + size * side * across


def _arrow(axes: Axes, largest: float, point: np.ndarray, force: np.ndarray, longest: float) -> None:
    """Lengths grow with the logarithm, so that newtons are seen beside kilonewtons."""
    size = float(np.hypot(*force))
    if size <= 1e-7 * largest or size == 0.0:
        return
    small = largest / 2000.0
    way = force / size * longest * (0.1 + 0.9 * np.log1p(size / small) / np.log1p(largest / small))
    axes.annotate(
        "",
        xy=tuple(point + way),
        xytext=tuple(point),
        arrowprops={"arrowstyle": "-|>", "color": FORCE, "lw": 2.0, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 14},
        zorder=6,
    )
    shown = f"{size / 1e3:.3g} kN" if size >= 1e3 else f"{size:.3g} N"
    left, right = axes.get_xlim()
    side = -1 if point[0] + way[0] > left + 0.8 * (right - left) else 1  # no words beyond the edge
    style: dict[str, Any] = {"color": FORCE, "fontsize": 9, "ha": "left" if side > 0 else "right", "zorder": 6}
    axes.annotate(shown, tuple(point + way), xytext=(5 * side, 2), textcoords="offset points", **style)


def _caption(axes: Axes, t: float, pace: float) -> None:
    slow = not np.isclose(pace, 1.0, rtol=0.02)
    digits = 6 if pace > 10 else 2
    axes.text(0.02, 0.97, f"t = {t:.{digits}f} s", transform=axes.transAxes, va="top", color=INK, fontsize=11)
    if slow:
        rate = "held" if not np.isfinite(pace) else f"1/{pace:.2g}" if pace > 1 else f"{1 / pace:.2g}"
        if np.isfinite(pace) and pace >= 100:
            rate = f"1/{float(f'{pace:.2g}'):.0f}"
        text = "held" if rate == "held" else f"{rate} x"
        axes.text(0.98, 0.97, text, transform=axes.transAxes, va="top", ha="right", color=SOFT, fontsize=11)


def _frames(drawn: Drawing) -> Iterator[tuple[Part, int]]:
    for part in drawn.parts:
        for frame in range(len(part.t)):
            yield part, frame


def _strip(clips: Sequence[Clip], path: Path, width: int, height: int) -> Path:
    """Snapshots side by side, at even times."""
    begin, end = clips[0].begin, max(clip.end for clip in clips)
    times = np.linspace(begin, end, STRIP)
    drawn = drawing(clips, times)
    columns, rows = 4, STRIP // 4
    with written(path) as half, _figure(width, height, rows, columns) as (figure, axes):
        aspect = (width / columns) / (height / rows)
        for cell, (part, frame) in zip(np.ravel(axes), _frames(drawn), strict=True):
            paint(cell, drawn, part, frame, aspect)
            cell.text(0.03, 0.97, f"{part.t[frame]:.3g} s", transform=cell.transAxes, va="top", color=INK, fontsize=9)
        figure.savefig(half, dpi=figure.dpi, format="png")
    return path


@contextlib.contextmanager
def _figure(width: int, height: int, rows: int = 1, columns: int = 1) -> Iterator[tuple[Any, Any]]:
    """A figure that fills its pixels, without a window, whatever backend is in use."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    dpi = 120.0
    figure = Figure(figsize=(width / dpi, height / dpi), dpi=dpi)
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns)
    figure.subplots_adjust(left=0.0, right=1.0, bottom=0.0, top=1.0, wspace=0.02, hspace=0.02)
    yield figure, axes


@contextlib.contextmanager
def _encoded(path: Path) -> Iterator[None]:
    """Films are encoded by another program, which tells what went wrong, such as a full disk, in its own words."""
    try:
        yield
    except subprocess.CalledProcessError as trouble:
        said = trouble.stderr or trouble.output or b""
        last = (said.decode(errors="replace") if isinstance(said, bytes) else said).strip().splitlines()[-1:]
        why = f"ffmpeg ended with '{last[0].strip()}'" if last else f"ffmpeg ended with code {trouble.returncode}"
        raise FileError(f"{path} cannot be written: {why}; make room, or write a .gif instead") from None


def _writer(ending: str, fps: int) -> Any:
    from matplotlib.animation import FFMpegWriter, PillowWriter

    if ending == ".gif":
        return PillowWriter(fps=min(fps, 50))
    return FFMpegWriter(fps=fps, codec="libx264", extra_args=["-pix_fmt", "yuv420p", "-crf", "20"])
