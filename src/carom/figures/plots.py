"""`result.plot`: every figure by its name; each returns a matplotlib Figure and shows nothing."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from .._arguments import Name
from ..quantities import Times
from ..result._signals import times_of
from . import impact, style
from ._cycles import close_up, enough, swings
from .all_figures import FIGURES, Entry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BANDS = 120  # half swings in a run from which lines are drawn thin, for they stand close
OVERVIEW = ("snapshots", "angles", "impact", "reaction", "extra", "energy", "torques", "modes", "tip", "rates")


@dataclasses.dataclass(frozen=True)
class Plots:
    """Figures of one run. Options named `times` are instants [s]; by default enough to see every impact.

    result.plot().savefig("overview.png")
    result.plot.impact(number=2).savefig("second.pdf")
    """

    result: Any

    def names(self) -> list[str]:
        """Figures that suit this run."""
        return [entry.name for entry in FIGURES if entry.suits(self.result)]

    def __call__(self) -> Figure:
        """An overview: up to six figures on a page."""
        names = [name for name in OVERVIEW if name in self.names()][:6]
        rows = (len(names) + 1) // 2
        with style.page(figsize=(12.5, 3.9 * rows)) as page:
            parts = page.subfigures(rows, 2, squeeze=False, hspace=0.03, wspace=0.03).flat
            for part, name in zip(parts, names, strict=False):
                entry = _entry(name)
                options = {"number": impact.lasting(self.result)[0]} if name == "impact" else {}
                entry.draw(part, self.result, self._times, **options)
                if name != "impact":  # which has a title that says more
                    part.suptitle(entry.meaning, fontsize=9.5)
        return page

    def draw(self, name: str, *given: Any, times: Times | None = None, **options: Any) -> Figure:
        """The figure of that name; options are those of what draws it."""
        entry = _entry(name)
        entry.check(self.result)
        dense = swings(self.result) > BANDS
        with style.page(fine=dense) as figure:
            chosen = self._times if times is None else np.unique(np.atleast_1d(np.asarray(times, dtype=float)))
            entry.draw(figure, self.result, chosen, *given, **options)
            if dense and entry.curves and times is None:
                figure.clear()  # it has its size
                self._twice(figure, entry, given, options)
        return figure

    def _twice(self, figure: Figure, entry: Entry, given: tuple[Any, ...], options: dict[str, Any]) -> None:
        """The whole run, which is a band, and its end, in which every swing is seen."""
        begin, words = close_up(self.result)
        whole, end = style.halves(figure)
        entry.draw(whole, self.result, self._times, *given, **options)
        for axes in whole.axes:  # both parts have the same lines and titles: the second part tells them
            axes.set_title("")
            if axes.get_legend() is not None:
                axes.get_legend().remove()
        with style.not_fine():
            entry.draw(end, self.result, self._times[self._times >= begin], *given, **options)
        for part, told in ((whole, "the whole run"), (end, words)):
            part.suptitle(told, fontsize="medium")

    @cached_property
    def _times(self) -> np.ndarray:
        return times_of(self.result, enough(self.result))

    def __getattr__(self, name: str) -> Callable[..., Figure]:
        """Every figure by its name; its options are those of what draws it, and `times`."""
        entry = next((entry for entry in FIGURES if entry.name == name), None)
        if entry is None:
            raise AttributeError(f"there is no figure '{name}'; result.plot.names() lists those that suit")
        named = functools.partial(self.draw, name)
        named.__doc__ = entry.draw.__doc__ or entry.meaning
        return named

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(entry.name for entry in FIGURES)]


def _entry(name: Name) -> Entry:
    errors.name_in("figure", name, [entry.name for entry in FIGURES])
    return next(entry for entry in FIGURES if entry.name == name)
