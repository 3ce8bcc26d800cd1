"""A figure of a family of orbits: stable ones solid, unstable ones dashed, and the points where that changes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .._arguments import Name
from ..errors import CaromError
from ..study.orbit_family import OrbitFamily
from . import style

MARKERS = {"fold": "o", "period doubling": "s", "Neimark-Sacker": "D", "branch": "^", "grazing": "v"}
CURVE = "#1d6fb8"


def orbit_family(family: OrbitFamily, of: Name = "period", *more: OrbitFamily) -> Any:
    """The parameter against a column of `family.values`: 'period', 'left.angle', 'drift of base.x'.

    What differs between the returns of a period has a curve for each. Points of `family.special` are marked. `more`:
    families of the same parameter in the same axes, such as that of the doubled period.

        carom.figures.orbit_family(family, "left.angle").savefig("family.pdf")
    """
    families = (family, *more)
    for each in families:
        if not isinstance(each, OrbitFamily):
            raise CaromError(
                f"orbit_family is given a {type(each).__name__}; give what carom.continue_orbit returns, a column "
                "by its name, and more families"
            )
    shown = [(each, k) for each in families for k in range(each.times)]
    columns = [each.values(of, k) for each, k in shown]
    with style.page(figsize=(style.width(), 3.6)) as figure:
        axes = figure.subplots()
        for (each, k), values in zip(shown, columns, strict=True):
            _curve(axes, each, values, _specials(each, of, k))
        marked: dict[str, list[tuple[float, float]]] = {}
        for each, k in shown:
            for special, place in zip(each.special, _specials(each, of, k), strict=True):
                marked.setdefault(special.kind, []).append(place)
        for kind, places in marked.items():
            x, y = zip(*places, strict=True)
            marker = MARKERS[kind]
            axes.plot(x, y, linestyle="none", marker=marker, markersize=5, color="0.1", markerfacecolor="w", label=kind)
        axes.set_xlabel(family.name)
        axes.set_ylabel(family.head(of))
        style.legend(axes)
    return figure


def _specials(family: OrbitFamily, of: Name, number: int) -> list[tuple[float, float]]:
    """Where the special points lie, at this return of the period."""
    return [(s.parameter, s.point.columns(family.family, number)[of]) for s in family.special]


def _curve(axes: Any, family: OrbitFamily, values: np.ndarray, specials: list[tuple[float, float]]) -> None:
    """Stretches of one stability, which change at the special points and not at the points computed."""
    nodes = [(p, y, bool(s)) for p, y, s in zip(family.parameter, values, family.stable, strict=True)]
    merged: list[tuple[float, float, bool | None]] = []
    for k, node in enumerate(nodes):
        merged.append(node)
        merged += [(*at, None) for at, s in zip(specials, family.special, strict=True) if s.after == k]
    told: set[bool] = set()
    for a, b in pairwise(merged):
        stable = a[2] if a[2] is not None else b[2]
        settled = bool(stable)
        label = None if settled in told or axes.get_legend_handles_labels()[1].count(_word(settled)) else _word(settled)
        told.add(settled)
        axes.plot(a[:1] + b[:1], a[1:2] + b[1:2], color=CURVE, linestyle="-" if settled else (0, (3, 1.5)), label=label)


def _word(stable: bool) -> str:
    return "stable" if stable else "unstable"
