"""Checking a scenario without running it."""

from __future__ import annotations

from ..crawl import Inchworm
from ..errors import CaromError
from .build import at, controls_of, mechanism_of, start_of, world_of
from .measures import MEASURES
from .model import Scenario
from .text import ScenarioError


def check(scenario: Scenario) -> str:
    """Build everything that a scenario and its variants describe; what it is, in a few words."""
    words = _one(scenario)
    for name in scenario.variants:
        with at(f"variants.{name}"):
            _one(scenario.variant(name))
    for name in scenario.compare:
        if name not in scenario.variants:
            raise ScenarioError(f"compare names '{name}', but there is no such variant; add [variants.{name}]")
    return words


def _one(s: Scenario) -> str:
    _measures(s)
    if s.crawl is not None:
        c = s.crawl
        with at("crawl"):
            Inchworm(c.length, c.mass, c.links, c.friction, c.gravity, c.slope)
        return f"an inchworm of {c.links} links, {len(c.steps)} steps"
    if s.capture is not None:
        return _capture(s)
    world = world_of(s)
    start = start_of(s)
    with at("start"):
        how = {key: start[key] for key in ("base", "bending", "relative", "degrees") if key in start}
        world.mechanism.coordinates(start["angles"], **how)
    top = world.mechanism.topology
    return f"{top.links} links, {top.dof} degrees of freedom, {len(s.contacts)} contacts, {s.run.until:g} s"


def _capture(s: Scenario) -> str:
    whole = mechanism_of(s)
    assert s.capture is not None
    with at("capture"):
        whole.site(s.capture.hand), whole.site(s.capture.grip)
    start_of(s)
    controls_of(s, whole)
    return f"{whole.topology.links} links, a capture ({s.capture.kind}), {s.run.until:g} s"


def _measures(s: Scenario) -> None:
    import re

    for name, q in s.quantities.items():
        if not any(re.fullmatch(m.pattern, q.measure) for m in MEASURES):
            with at(f"quantities.{name}"):
                raise CaromError(f"there is no measure '{q.measure[:80]}'; `carom show --measures` lists them")
