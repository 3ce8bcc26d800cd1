"""Several runs side by side: the same angles under different controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from .._arguments import Names, ResultsLike
from ..result._dense import states
from ..result._signals import times_of
from ..result.result import Result
from . import style
from ._targets import targets_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def compare(results: dict[str, Any], links: Names | None = None, targets: bool = True, error: bool = False) -> Any:
    """Angles [°] or displacements [m] of every link in each of the named runs, with what is wanted of them; or with
    `error` the difference.

    carom.figures.compare({"PD": first, "PID": second})
    """
    first = _checked(results)
    top = first.world.mechanism.topology
    names = list(top.names)
    chosen = names if links is None else [links] if isinstance(links, str) else list(links)
    for name in chosen:
        errors.name_in("link", name, names)
    runs = {label: _run(r) for label, r in results.items()}
    if error and any(wanted is None for _, _, wanted in runs.values()):
        raise errors.CaromError("error=True compares with targets, but a run has no controller with any; leave it out")
    with style.page() as figure:
        axes = style.panels(figure, len(chosen))
        for one, name in zip(axes, chosen, strict=True):
            _draw(one, runs, names.index(name), top.slides[names.index(name)], targets, error)
            one.set_title(name)
            one.margins(x=0.0)
        style.legend(axes[0])
        axes[-1].set_xlabel("time [s]")
    return figure


def _checked(results: ResultsLike) -> Any:
    """The first run; all must have the same links."""
    if not isinstance(results, dict) or not results:
        raise errors.CaromError(f"results of compare is {results!r}; it must be a dict such as {{'PD': result}}")
    first = next(iter(results.values()))
    names = first.world.mechanism.topology.names
    for label, r in results.items():
        if r.world.mechanism.topology.names != names:
            found = ", ".join(r.world.mechanism.topology.names)
            raise errors.CaromError(
                f"run '{label}' of compare has links {found}; the first one has {', '.join(names)}; compare runs "
                "of the same mechanism"
            )
    return first


def _run(result: Result) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Instants, angles and targets [rad]."""
    times = times_of(result)
    return times, states(result, times).q[:, result.world.mechanism.topology.angles], targets_of(result, times)


def _draw(axes: Axes, runs: dict[str, Any], k: int, slides: bool, targets: bool, error: bool) -> None:
    scale, word, unit = (1.0, "displacement", "m") if slides else (180.0 / np.pi, "angle", "°")
    drawn: list[np.ndarray] = []
    for n, (label, (times, angles, wanted)) in enumerate(runs.items()):
        shown = angles[:, k] - wanted[:, k] if error else angles[:, k]
        axes.plot(times, scale * shown, label=label, **style.line(n))
        if targets and not error and wanted is not None and not any(_same(wanted[:, k], old) for old in drawn):
            name = "target" if not drawn else None
            axes.plot(times, scale * wanted[:, k], color="0.55", linewidth=0.8, label=name, zorder=0.9)
            drawn.append(wanted[:, k])
    axes.set_ylabel(f"{word} - target [{unit}]" if error else f"{word} [{unit}]")


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return len(one) == len(other) and bool(np.allclose(one, other))
