"""The references of what a world uses."""

from __future__ import annotations

from typing import Any

from .errors import CaromError

CAROM = "carom: planar robots that collide (see CITATION.cff)"
MOTION = (
    "equations of motion in absolute angles: Featherstone 2008, Rigid Body Dynamics Algorithms, Springer, for the "
    "recursion; the explicit form is that of the n-R planar manipulator"
)
BEAMS = "beams: Timoshenko 1921, Philosophical Magazine 41, 744-746; assumed modes by the characteristic equations"
RIGID = (
    "impacts at several contacts: Glocker and Pfeiffer 1995, Nonlinear Dynamics 7, 471-497; with friction at one "
    "contact: Routh 1905, Dynamics of a System of Rigid Bodies"
)
CAPTURE = "control after a capture: Manfredi 2024, thesis, University of Trento"
POSTURE = "PD with generalized active forces: Akhan, Zhao, Tarnita and Marghitu 2023, Machines 11, 773"
SOLVERS = {
    "tsit5": "integration: Tsitouras 2011, Computers and Mathematics with Applications 62, 770-775",
    "dopri8": "integration: Prince and Dormand 1981, Journal of Computational and Applied Mathematics 7, 67-75",
    "rodas5p": "integration: Steinebach 2023, BIT Numerical Mathematics 63, 27",
}
SOFTWARE = (
    "software: Bradbury et al. 2018, JAX; Kidger 2021, On Neural Differential Equations (diffrax: coefficients of the "
    "solvers; equinox: parameter trees)"
)


def cite(world: Any, solver: str = "tsit5") -> str:
    """References of the laws, methods and software that a world, a scenario or a result uses; print it.

    print(carom.cite(result))
    """
    from .hybrid.world import World

    settings = getattr(getattr(world, "run", None), "solver", None)
    source = getattr(world, "source", "")
    if hasattr(world, "mechanisms") and callable(getattr(world, "world", None)):  # a scenario
        solver, world = settings or solver, world.world() if world.mechanisms else None
    elif hasattr(world, "statistics"):  # a result
        solver, world = _solver_of(world), world.world
    if world is not None and not isinstance(world, World):
        raise CaromError(f"cite got a {type(world).__name__}; it must be a World, a Result or a Scenario")
    if solver not in SOLVERS:
        raise CaromError(f"solver of cite is {solver!r}; it must be one of {', '.join(SOLVERS)}")
    lines = [CAROM, *([f"study: {source}"] if source else []), MOTION, *(_parts(world) if world is not None else ())]
    return "\n".join(dict.fromkeys([*lines, SOLVERS[solver], SOFTWARE]))


def _solver_of(result: Any) -> str:
    name = type(result.settings.solver).__name__.lower()
    known = {"rosenbrock": "rodas5p"}
    order = getattr(result.settings.solver, "order", None)
    return known.get(name, "dopri8" if order == 8 else "tsit5")


def _parts(world: Any) -> list[str]:
    """References of the links and automata, in order."""
    from .capture import HoldPose
    from .contact import CompliantContact, RigidContacts
    from .control import PostureControl

    out = [BEAMS] if world.mechanism.topology.elastic else []
    for a in world.automata:
        if isinstance(a, CompliantContact):
            out += [_law(a.normal), _law(a.friction)]
        elif isinstance(a, RigidContacts):
            out.append(RIGID)
            out += [x for c in a.contacts for x in (_law(c.law), _law(c.friction))]
        elif isinstance(a, PostureControl):
            out += [POSTURE] if a.compensate_weight else []
        elif isinstance(a, HoldPose):
            out.append(CAPTURE)
    return [line for line in out if line]


def _law(law: Any) -> str:
    card = getattr(law, "card", None)
    return f"{card.name}: {card.source}" if card is not None and card.source else ""
