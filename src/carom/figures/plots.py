"""`result.plot`: every figure by its name; each returns a matplotlib Figure and shows nothing."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from ..result.signals import times_of
from . import impact, style
from .all_figures import FIGURES, Entry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OVERVIEW = ("snapshots", "angles", "impact", "reaction", "energy", "torques", "modes", "tip", "rates")


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

    def draw(self, name: str, *, times: Any = None, **options: Any) -> Figure:
        """The figure of that name."""
        entry = _entry(name)
        entry.check(self.result)
        with style.page() as figure:
            chosen = self._times if times is None else np.unique(np.atleast_1d(np.asarray(times, dtype=float)))
            entry.draw(figure, self.result, chosen, **options)
        return figure

    @cached_property
    def _times(self) -> np.ndarray:
        return times_of(self.result)

    # -- by name ---------------------------------------------------------------------------------------------------

    def snapshots(self, count: int = 8, at: Any = None) -> Figure:
        """The mechanism at `count` instants, or at those given as `at` [s]."""
        return self.draw("snapshots", count=count, at=at)

    def angles(self, *, relative: bool = False, targets: bool = True, times: Any = None) -> Figure:
        """Link angles over time, with what a controller wants them to be."""
        return self.draw("angles", relative=relative, targets=targets, times=times)

    def rates(self, *, times: Any = None) -> Figure:
        """Rates of the link angles over time."""
        return self.draw("rates", times=times)

    def impact(self, number: int = 1) -> Figure:
        """Impact `number`: indentation and force through the phases of the law, and their loop."""
        return self.draw("impact", number=number)

    def reaction(self, *, times: Any = None) -> Figure:
        """Contact forces over time, impulses of rigid contacts."""
        return self.draw("reaction", times=times)

    def tip(self, site: Any = None, *, times: Any = None) -> Figure:
        """Velocity of a site by components, by default of the last link's tip."""
        return self.draw("tip", site=site, times=times)

    def joints(self, points: Any = None, *, times: Any = None) -> Figure:
        """Positions and velocities of joints and bases, or of the `points` named."""
        return self.draw("joints", points=points, times=times)

    def modes(self, *, times: Any = None) -> Figure:
        """Modal weights of the elastic links."""
        return self.draw("modes", times=times)

    def torques(self, *, times: Any = None) -> Figure:
        """Torques of the controllers, and their forces on free bases."""
        return self.draw("torques", times=times)

    def energy(self, *, times: Any = None) -> Figure:
        """The energy ledger."""
        return self.draw("energy", times=times)

    def energy_by_link(self, *, times: Any = None) -> Figure:
        """Kinetic energy of every link."""
        return self.draw("energy_by_link", times=times)

    def momentum(self, *, times: Any = None) -> Figure:
        """Linear and angular momentum of the whole."""
        return self.draw("momentum", times=times)

    def phase(self, x: Any = None, y: Any = None, rate: Any = None, *, times: Any = None) -> Figure:
        """Coordinates x and y and the velocity of `rate`, by labels such as 'link1'."""
        return self.draw("phase", x=x, y=y, rate=rate, times=times)

    def poincare(self, section: Any = None, x: Any = None, y: Any = None) -> Figure:
        """Coordinates x and y whenever the velocity of `section` is zero."""
        return self.draw("poincare", section=section, x=x, y=y)


def _entry(name: Any) -> Entry:
    errors.name_in("figure", name, [entry.name for entry in FIGURES])
    return next(entry for entry in FIGURES if entry.name == name)
