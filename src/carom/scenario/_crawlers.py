"""From a scenario's [crawl] to the inchworm and its steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contact import Plane
from ..crawl import Gait, Inchworm, TerrainInchworm, Walk
from ..errors import CaromError, name_in, vector
from ._build import surfaces_of
from .model import Crawl, Scenario
from .places import at


def crawler_of(scenario: Scenario) -> Inchworm | TerrainInchworm:
    """The chain: on level or inclined ground if nothing else is said and its links are equal."""
    c = scenario.crawl
    assert c is not None
    with at("crawl", holds=c):
        lengths, masses = _each(c, "length"), _each(c, "mass")
        equal = not isinstance(c.length, list) and not isinstance(c.mass, list)
        if c.surface is None and equal:
            return Inchworm(lengths[0], masses[0], c.links, c.friction, c.gravity, c.slope)
        if c.surface is None:
            weight = (-c.gravity * float(np.sin(c.slope)), -c.gravity * float(np.cos(c.slope)))
            return TerrainInchworm(Plane(height=0.0), lengths, masses, c.friction, weight, tuple(c.foot))
        if c.slope != 0.0:
            said = (
                f"slope of crawl is {c.slope:g}, but its surface is '{c.surface}', not level ground; tilt the surface"
            )
            raise CaromError(said, field="slope")
        name_in("surface (of crawl)", c.surface, tuple(scenario.surfaces))
    surface = surfaces_of(scenario)[c.surface]
    with at("crawl", holds=c):
        return TerrainInchworm(surface, lengths, masses, c.friction, c.gravity, tuple(c.foot))


def refuse_postures(scenario: Scenario) -> None:
    """The numbers of angles, which are known before anything is planned."""
    c = scenario.crawl
    assert c is not None
    with at("crawl", holds=c):
        vector("crawl", "start", c.start, c.links - 1)
        for k, step in enumerate(c.steps):
            vector("crawl", f"angles of step {k + 1}", step.angles, c.links - 1)


def gait_of(scenario: Scenario) -> Gait | Walk:
    """All its steps, planned."""
    c = scenario.crawl
    assert c is not None
    refuse_postures(scenario)
    steps, times = [(step.holds, step.angles) for step in c.steps], [step.duration for step in c.steps]
    worm = crawler_of(scenario)
    with at("crawl"):
        return worm.gait(c.start, steps, times, c.blend, degrees=c.degrees)


def _each(c: Crawl, field: str) -> list[float]:
    """One number for each link."""
    given: Any = getattr(c, field)
    if not isinstance(given, list):
        return [given] * c.links
    vector("crawl", field, given, c.links)
    return given
