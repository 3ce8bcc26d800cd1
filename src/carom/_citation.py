"""The references of what a world uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import CaromError

if TYPE_CHECKING:
    from .hybrid.world import World
    from .result.result import Result
    from .scenario.model import Scenario
else:
    Result = Scenario = World = Any

CAROM = "carom: planar robots that collide (see CITATION.cff)"
MOTION = (
    "equations of motion in absolute angles: Featherstone 2008, Rigid Body Dynamics Algorithms, Springer, for the "
    "recursion; the explicit form is that of the n-R planar manipulator"
)
BEAMS = "beams: Timoshenko 1921, Philosophical Magazine 41, 744-746; assumed modes by the characteristic equations"
SOFTWARE = (
    "software: Bradbury et al. 2018, JAX; Kidger 2021, On Neural Differential Equations (diffrax: coefficients of the "
    "solvers; equinox: parameter trees)"
)


def cite(thing: World | Result | Scenario, solver: str | None = None) -> str:
    """References of the laws, methods and software that a world, a scenario or a result uses; print it.

    A world does not say how it is integrated: `solver` does, by default that of `carom.Settings`.

    >>> import carom
    >>> told = carom.cite(carom.World(carom.Mechanism([carom.Rod(1.0, 1.0)])))
    >>> "integration: Tsitouras 2011" in told
    True
    """
    from .hybrid.settings import DEFAULT
    from .hybrid.solvers import METHODS

    solver, world, source = _used(thing, DEFAULT.solver if solver is None else solver)
    methods = {method.solver.name: f"integration: {method.source}" for method in METHODS}
    if solver not in methods:
        raise CaromError(f"solver of cite is {solver!r}; it must be one of {', '.join(methods)}")
    lines = [CAROM, *([f"study: {source}"] if source else []), MOTION, *(_parts(world) if world is not None else ())]
    return "\n".join(dict.fromkeys([*lines, methods[solver], SOFTWARE]))


def _used(thing: Any, solver: str) -> tuple[str, World | None, str]:
    """Solver, world and source; what has `world()` is a scenario, what has statistics a result."""
    from .hybrid.world import World

    chosen = getattr(getattr(thing, "run", None), "solver", None)
    if hasattr(thing, "mechanisms") and callable(getattr(thing, "world", None)):
        return chosen or solver, thing.world() if thing.mechanisms else None, thing.source
    if hasattr(thing, "statistics"):
        return thing.integration.solver.name, thing.world, ""
    if not isinstance(thing, World):
        raise CaromError(f"cite got a {type(thing).__name__}; it must be a World, a Result or a Scenario")
    return solver, thing, ""


def _parts(world: World) -> list[str]:
    """References of the links and automata, in order."""
    out = [BEAMS] if world.mechanism.topology.elastic else []
    return [line for line in (*out, *(line for a in world.automata for line in a.report.cited)) if line]
