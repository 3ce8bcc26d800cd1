"""A figure as a PNG file: arranged and painted in one go, its pixels packed as figures are.

matplotlib's own way goes through a figure twice, asks for the ticks of an axis a dozen times while it arranges it, and
packs pixels as if they were a photograph. The picture is the same.
"""

from __future__ import annotations

import contextlib
import functools
import struct
import zlib
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

LEVEL = 3  # of packing; beyond it, time doubles for a tenth of the size
INCH = 0.0254  # [m]
SAVING = ("pdf", "ps", "svg", "savefig")  # rules by which figures are saved
USUAL = {"bbox": None, "facecolor": "auto", "edgecolor": "auto", "transparent": False}  # of them, what is painted here


@functools.cache
def sheet() -> Any:
    """The class of carom's figures. matplotlib is there by now."""
    from matplotlib import rc_context, rcParams
    from matplotlib.figure import Figure

    class Sheet(Figure):  # type: ignore[misc, unused-ignore]
        """A figure that is saved as it was drawn: how fonts are embedded is decided there."""

        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            rules: Any = rcParams
            # Not all rules are looked at: that of the back end imports pyplot.
            self._rules = {rule: rules[rule] for rule in rules if rule.partition(".")[0] in SAVING}

        def savefig(self, fname: object, **options: Any) -> None:
            file: Any = fname
            path = Path(file) if isinstance(file, str | PathLike) else None
            form = options.get("format") or (path.suffix[1:] if path else None)
            if form != "png" or not self._as_it_is(options):
                with rc_context(self._rules):
                    super().savefig(file, **options)
            elif path:
                path.write_bytes(_painted(self))
            else:
                file.write(_painted(self))

        def _as_it_is(self, options: dict[str, Any]) -> bool:
            """Neither options nor style ask for another size, part or colour than the figure has."""
            usual = all(self._rules[f"savefig.{name}"] == value for name, value in USUAL.items())
            dpi = options.get("dpi") or self._rules["savefig.dpi"]
            others = {name for name, value in options.items() if value is not None} - {"format", "dpi"}
            return usual and dpi in ("figure", self.dpi) and not others

    return Sheet


def _painted(figure: Figure) -> bytes:
    """The PNG file, by what the figure itself says of size and colours."""
    from matplotlib import __version__
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    before = figure.canvas
    try:
        canvas = FigureCanvasAgg(figure)
        with _ticks_found_once(figure):
            canvas.draw()
        words = f"Matplotlib version {__version__}, https://matplotlib.org/"
        return _png(np.asarray(canvas.buffer_rgba()), figure.dpi, words)
    finally:
        figure.set_canvas(before)


ASKED = ("_update_ticks", "_get_ticklabel_bboxes")  # of an axis: its ticks, and the boxes of their labels


@contextlib.contextmanager
def _ticks_found_once(figure: Figure) -> Iterator[None]:
    """Meanwhile an axis looks for its ticks when its limits or its place change, not whenever somebody asks."""
    flat = [axes for axes in figure.axes if axes.name == "rectilinear"]
    each = [axis for axes in flat for axis in axes._axis_map.values()]
    pairs = [(axis, name) for axis in each for name in ASKED if hasattr(axis, name)]
    try:
        for axis, name in pairs:
            setattr(axis, name, _remembered(axis, getattr(axis, name)))
        yield
    finally:
        for axis, name in pairs:
            vars(axis).pop(name, None)


def _remembered(axis: Axis, find: Callable[..., Any]) -> Callable[..., Any]:
    last: list[Any] = [None, []]

    def found(*given: Any) -> Any:
        now = (*axis.get_view_interval(), *axis.axes.bbox.bounds, *map(id, given))
        if last[0] != now:
            last[:] = now, find(*given)
        return last[1]

    return found


def _png(pixels: np.ndarray, dpi: float, said: str) -> bytes:
    """Rows as differences from those above them, which are zero mostly. Opacity is left out where all is opaque."""
    height, width = pixels.shape[:2]
    colours = 3 if np.min(pixels[..., 3]) == 255 else 4
    packed = np.empty((height, 1 + colours * width), np.uint8)
    packed[:, 0] = 2  # the filter: less the row above
    for k in range(colours):
        packed[0, 1 + k :: colours] = pixels[0, :, k]
        np.subtract(pixels[1:, :, k], pixels[:-1, :, k], out=packed[1:, 1 + k :: colours])
    metre = round(dpi / INCH)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _piece(name, data)
        for name, data in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2 if colours == 3 else 6, 0, 0, 0)),
            (b"tEXt", b"Software\0" + said.encode("latin-1")),
            (b"pHYs", struct.pack(">IIB", metre, metre, 1)),
            (b"IDAT", zlib.compress(packed.data, LEVEL)),
            (b"IEND", b""),
        )
    )


def _piece(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
