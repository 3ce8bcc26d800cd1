"""Checking a scenario without running it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp

from .._arguments import FileLike
from ..captures import capture
from ..control.until import ended_by
from ..errors import CaromError, name_in
from ..hybrid._flow import scene_with_motion
from ..hybrid._opening import check_start
from ..hybrid._run import start as begun
from ..hybrid.world import World, owns
from ..mechanism import State
from ..native._machine_code import traced_of
from ..scenario._build import beginning, contacts_of, controls_of, mechanism_of, settings_of, state_of, world_of
from ..scenario._text import read
from ..scenario.library import text_and_place
from ..scenario.model import Scenario
from ..scenario.places import ScenarioError, at, inside, line_of, shortened
from ..signal import Signal
from .measures import MEASURES, nearest
from .measures.all_measures import kind_of, refuse_unit


def check(scenario: Scenario) -> str:
    """Build everything that a scenario and its variants describe; what it is, in a few words."""
    check_names(scenario)
    words = _one(scenario)
    for name in scenario.variants:
        with inside("variants", name), at(words=f"variants.{shortened(name, 60)}"):
            other = scenario.variant(name)
            check_names(other)
            _one(other)
    return words


def check_file(name: FileLike) -> str:
    """The same for a file or a shipped scenario by its name; a mistake is said with file and line."""
    text, where = text_and_place(name)
    scenario = read(text, where)
    with placed(where, text):
        return check(scenario)


@contextlib.contextmanager
def placed(where: str, text: str = "") -> Iterator[None]:
    """Refusals inside are said with the file, and with the line where its text has the field."""
    try:
        yield
    except CaromError as refusal:
        path = refusal.path if isinstance(refusal, ScenarioError) else ()
        line = line_of(text, path) if path else None
        raise ScenarioError(f"{where}{f', line {line}' if line else ''}: {refusal}", path) from None


def check_names(s: Scenario) -> None:
    """Refuse what would only be missed after the run: unknown measures, figures and variants to compare with."""
    for name, q in s.quantities.items():
        if not any(re.fullmatch(m.pattern, q.measure) for m in MEASURES):
            with at("quantities", name, "measure", words=f"quantities.{shortened(name, 60)}"):
                raise CaromError(f"there is no measure '{shortened(q.measure, 80)}'; {nearest(q.measure)}")
    _check_signals_of_measures(s)
    if s.study is not None and s.study.over:
        from .sweeping._study import study_of

        with at("study", holds=s.study):
            study_of(s, {})
    for k, name in enumerate(s.compare):
        if name not in s.variants:
            said = f"compare names '{name}', but there is no such variant; add [variants.{name}]"
            raise ScenarioError(said, ("compare", k))
    if s.output.figures:
        from ..figures import FIGURES

        with at("output", "figures", holds=s.output.figures):
            for name in s.output.figures:
                name_in("figure", name, tuple(f.name for f in FIGURES))


def _check_efforts(world: World, begin: State) -> None:
    """Ask every controller once, without computing anything, so that what it cannot know is said."""
    if all(a.report.drive is None for a in world.automata):
        return

    def asked(state: State) -> list[Any]:
        carry = begun(world, state, jnp.asarray(1e-3), False)
        scene = scene_with_motion(world, carry.t, carry.y, carry.phases, carry.memory)
        pairs = zip(world.automata, owns(carry.y, carry.phases, carry.memory), strict=True)
        return [a.report.drive.efforts(scene, own) for a, own in pairs if a.report.drive is not None]

    traced_of(asked, (begin,))


def _check_signals_of_measures(s: Scenario) -> None:
    """A capture or a crawl makes its worlds later."""
    written = {name: q for name, q in s.quantities.items() if kind_of(q.measure)[0].unit is not None}
    if not written or s.capture is not None or s.crawl is not None:
        return
    world = world_of(s)
    for name, q in written.items():
        with at("quantities", name, holds=q):
            refuse_unit(world, q.measure, q.unit)


def _one(s: Scenario) -> str:
    if s.identify is not None:
        from ._identify import check_identify

        with inside("identify", "probe"):
            _one(check_identify(s))
    if s.crawl is not None:
        from ..scenario._crawlers import crawler_of, refuse_postures  # few crawl

        crawler_of(s)
        refuse_postures(s)
        return f"an inchworm of {s.crawl.links} links, {len(s.crawl.steps)} steps"
    if s.capture is not None:
        return _capture(s)
    world = world_of(s)
    with at("run", words="the run", holds=s.run):
        settings_of(s)
        ended_by(world, s.run.until)
    start = beginning(s, world)
    with at("start", holds=s.start):
        check_start(world, start)
        _check_efforts(world, start)
    for k, text in enumerate(s.output.signals):
        with at("output", "signals", k):
            Signal(text).check(world.mechanism, world.automata)
    top = world.mechanism.topology
    parts = ((top.links, "link"), (top.dof, "degree"), (len(s.contacts), "contact"))
    links, degrees, contacts = (f"{count} {word}{'s' * (count != 1)}" for count, word in parts)
    return f"{links}, {degrees} of freedom, {contacts}, {s.run.end}"


def _capture(s: Scenario) -> str:
    whole = mechanism_of(s)
    assert s.capture is not None
    start = state_of(s, whole)
    controls_of(s, whole, contacts_of(s, whole))
    c = s.capture
    with at("capture", holds=c):
        capture(whole, c.hand, c.grip, start, kind=c.kind, restitution=c.restitution, base=c.base)
    return f"{whole.topology.links} links, a capture ({s.capture.kind}), {s.run.end}"
