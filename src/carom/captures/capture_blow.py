"""The blow by which a site of an arm takes hold of a site of an object.

    M (v+ - v-) = A^T P + B^T R,     A v+ = -e A v-,     B v+ = B v-

A: velocity of the arm's site relative to the object's (two rows; three with the rotation). B: rates of the base that
its actuators keep. P acts on the arm, its opposite on the object; R acts on the base from outside. One block system
with all equations of both bodies, so momentum is kept to rounding. Positions do not change. On elastic links the
impulse acts on the modal coordinates too, and a welded object turns with the section that holds it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .. import errors
from .._arguments import Name, SiteLike
from ..dynamics import mass_matrix, site_position, solve_kkt
from ..hybrid.compiling import kept
from ..mechanism import Mechanism, Site
from ..mechanism.state import State, refuse_state
from ..quantities import Real, Vector
from ._grip import base_coordinates, grip_rows
from .record import Capture

KINDS = {"point": 2, "weld": 3, "point-then-weld": 3}  # rows that agree in the end
BASES = ("free-floating", "attitude-held", "free-flying")
TOUCHING = 1e-6  # [m] sites further apart than this do not touch


def capture(
    mechanism: Mechanism,
    hand: SiteLike,
    grip: SiteLike,
    start: State,
    kind: Name = "weld",
    restitution: Real = 0.0,
    base: Name = "free-floating",
) -> Capture:
    """The arm's site `hand` takes hold of the object's site `grip`.

    - `mechanism`: arm and object together, `carom.side_by_side(arm=..., target=...)`; links rigid or elastic
    - `start`: the state of both just before
    - `kind`: 'point' (the points move together, the object may turn), 'weld' (and turn together: the grasp transmits a
      moment) or 'point-then-weld' (one after the other; velocities as 'weld', the losses told apart)
    - `restitution` e: 0 is a plastic capture; else relative velocities are reversed and scaled, and nothing is held
    - `base`, what the arm's base does during the blow: 'free-floating' (no actuator acts), 'attitude-held' (ideal
      reaction wheels keep its rate of rotation) or 'free-flying' (ideal thrusters keep its velocity as well). Real
      actuators have bounded forces, whose impulse at an instant is zero: their base is free-floating during the blow

    Traceable: `jit`, `vmap` and derivatives go through it.

        both = carom.side_by_side(arm=arm, target=satellite)
        print(carom.capture(both, "arm.link3.tip", "target.handle", both.state(rates=[...]), kind="point"))
    """
    arm, target = sites_of(mechanism, hand, grip)
    errors.name_in("kind of capture", kind, tuple(KINDS))
    errors.name_in("base of capture", base, BASES)
    start = refuse_state(start, mechanism)
    q, v = start.q, start.v
    _check_restitution(restitution, kind)
    refuse_apart(mechanism, arm, target, q)
    held = base_coordinates(mechanism, arm, base)
    e = jnp.asarray(restitution, dtype=float)
    if kind != "point-then-weld":
        return _blow(mechanism, arm, target, q, v, kind, e, base, held)
    first = _blow(mechanism, arm, target, q, v, "point", e, base, held)
    second = _blow(mechanism, arm, target, q, first.after, "weld", e, base, held)
    return dataclasses.replace(
        second,
        kind=kind,
        before=v,
        impulse=first.impulse + second.impulse,
        base_impulse=first.base_impulse + second.base_impulse,
        stages=(first, second),
    )


def _blow(
    mechanism: Mechanism,
    hand: Site,
    grip: Site,
    q: Vector,
    v: Vector,
    kind: str,
    e: Array,
    base: str,
    held: tuple[int, ...],
) -> Capture:
    """One blow on the rows of one kind."""
    after, pushes, conflict = _solved(KINDS[kind], held, mechanism, hand.name, grip.name, q, v, e)
    if errors.known(conflict) is not None and bool(conflict):
        raise errors.CaromError(
            f"no velocities bring '{hand.name}' and '{grip.name}' together: both are held; free one of their bases"
        )
    turned, pushed = jnp.zeros(()), jnp.zeros(3)
    if KINDS[kind] == 3:
        turned = pushes[2]
    if held:  # (x, y, angle); wheels turn only
        pushed = pushed.at[np.arange(3 - len(held), 3)].set(pushes[KINDS[kind] :])
    return Capture(
        mechanism=mechanism,
        hand=hand.name,
        grip=grip.name,
        kind=kind,
        base=base,
        restitution=e,
        q=q,
        before=v,
        after=after,
        impulse=pushes[:2],
        moment=turned,
        base_impulse=pushed,
        stages=(),
    )


@kept
def _solved(
    count: int, held: tuple[int, ...], mechanism: Mechanism, hand: str, grip: str, q: Vector, v: Vector, e: Real
) -> tuple[Any, Any, Any]:
    """Velocities after the blow, impulses along the rows, and whether the rows contradict each other."""
    rows = grip_rows(mechanism, q, hand, grip)[:count]
    keep = jnp.eye(mechanism.dof)[np.asarray(held, dtype=int)]
    target = jnp.concatenate([-(1.0 + e) * (rows @ v), jnp.zeros(len(held))])
    matrix = mass_matrix(mechanism, q)
    solved = solve_kkt(matrix, jnp.concatenate([rows, keep]), jnp.zeros(mechanism.dof), target)
    return v + solved.acceleration, solved.multipliers, solved.conflict


# -- what is refused ---------------------------------------------------------------------------------------------------


def sites_of(mechanism: Mechanism, hand: SiteLike, grip: SiteLike) -> tuple[Site, Site]:
    """The two sites, on different trees."""
    if not isinstance(mechanism, Mechanism):
        raise errors.CaromError(
            f"mechanism of capture is a {type(mechanism).__name__}; it must hold the arm and the object: "
            "carom.side_by_side(arm=..., target=...)"
        )
    arm, target = mechanism.site(hand), mechanism.site(grip)
    trees = mechanism.topology.trees
    if trees[arm.link] == trees[target.link]:
        raise errors.CaromError(
            f"'{arm.name}' and '{target.name}' belong to one tree; an arm captures something else; put the object "
            "beside it with carom.side_by_side, or close a loop with carom.Pin"
        )
    return arm, target


def refuse_apart(mechanism: Mechanism, hand: Site, grip: Site, q: Vector) -> None:
    gap = errors.known(site_position(mechanism, q, hand) - site_position(mechanism, q, grip))
    if gap is not None and not float(np.hypot(*gap)) <= TOUCHING:
        raise errors.CaromError(
            f"'{hand.name}' and '{grip.name}' are {float(np.hypot(*gap)):g} m apart; a capture begins when they touch; "
            f"move the object's base by ({gap[0]:g}, {gap[1]:g}) m"
        )


def _check_restitution(e: Real, kind: str) -> None:
    errors.number("capture", "restitution", e)
    value = errors.known(e)
    if value is not None and not 0.0 <= float(value) <= 1.0:
        raise errors.CaromError(f"restitution of capture is {float(value):g}; it must lie in [0, 1]; 0 is plastic")
    if value is not None and float(value) > 0.0 and kind == "point-then-weld":
        raise errors.CaromError(
            f"restitution of capture is {float(value):g} with kind 'point-then-weld'; after a rebound there is nothing "
            "to weld; use 0, or kind='point' or 'weld'"
        )
