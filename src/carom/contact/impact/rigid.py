"""Rigid contacts: impulses that act in no time, and contact that is maintained afterwards. Frictionless.

All rigid contacts of a world are one automaton, because a blow at one sends impulses through every contact that is
closed. Gaps a_i(q) >= 0, A = da/dq, u = A v. At a blow, over the contacts that are closed or closing,

    W P + (1 + e) u >= 0,   P >= 0,   product zero,      W = A M^-1 A^T,    v+ = v + M^-1 A^T P

(Newton's restitution; impulses P act on the mechanism, compressive positive; the lecture notes count them negative). A
rebound slower than `settle_speed` counts as none: that is how a Zeno sequence of ever smaller bounces ends. A contact
with zero velocity that is pressed stays closed; it opens when its force would pull.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ... import errors
from ...dynamics.linear import ldl_factor
from ...hybrid.automaton import NEVER, AbstractAutomaton, Flow, Landing, Own
from ...hybrid.flow import Motion
from ...hybrid.scene import Load, Scene
from ...mechanism import Mechanism, Site, walk
from ..geometry import AbstractPair, pair_of
from ..surfaces import AbstractSurface
from .complementarity import DEPENDENT, complementarity

AT_REST = 1e-9  # [m/s] a contact slower than this does not move
MOST = 4  # contacts; 2^n sets are tried at a blow


class RigidContact(eqx.Module):
    """A rigid, frictionless contact of a site with a surface or with another round body.

    - `restitution` e in [0, 1]: 0 is a plastic blow, after which the contact stays closed; 1 is perfectly elastic
    - `radius`, `other_radius` [m]: of the round tips
    """

    pair: AbstractPair
    restitution: Any
    name: str = eqx.field(static=True)

    def __init__(
        self,
        site: Site,
        against: AbstractSurface | Site,
        restitution: Any,
        radius: Any = 0.0,
        other_radius: Any = 0.0,
        name: str | None = None,
    ) -> None:
        self.pair = pair_of("RigidContact", site, against, radius, other_radius)
        self.name = name or self.pair.name
        errors.number(f"contact '{self.name}'", "restitution", restitution, least=0.0)
        e = errors.known(restitution)
        if e is not None and e > 1.0:
            raise errors.CaromError(
                f"restitution of contact '{self.name}' is {float(e):g}; it must lie in [0, 1]; 1 is perfectly elastic"
            )
        self.restitution = jnp.asarray(restitution, dtype=float)


class RigidContacts(AbstractAutomaton):
    """All rigid contacts of a world, with a bit per contact: open or closed.

    - `settle_speed` [m/s]: a rebound slower than this becomes maintained contact
    """

    contacts: tuple[RigidContact, ...]
    settle_speed: Any
    name: str = eqx.field(static=True)

    def __init__(self, *contacts: RigidContact, settle_speed: Any = 1e-6, name: str = "rigid contacts") -> None:
        if not contacts:
            raise errors.CaromError("RigidContacts got no contact; give at least one carom.RigidContact(...)")
        for c in contacts:
            if not isinstance(c, RigidContact):
                raise errors.CaromError(f"RigidContacts holds a {type(c).__name__}; it must hold RigidContact values")
        if len(contacts) > MOST:
            raise errors.CaromError(
                f"{len(contacts)} rigid contacts were given; this version solves at most {MOST} together; "
                "use compliant contacts for the others"
            )
        errors.number(name, "settle_speed", settle_speed, above=0.0)
        self.contacts, self.settle_speed, self.name = tuple(contacts), jnp.asarray(settle_speed, dtype=float), name

    # -- names -------------------------------------------------------------------------------------------------------

    @property
    def phases(self) -> tuple[str, ...]:
        words = []
        for bits in range(2 ** len(self.contacts)):
            closed = [c.name for i, c in enumerate(self.contacts) if bits >> i & 1]
            words.append(f"closed: {', '.join(closed)}" if closed else "open")
        return tuple(words)

    @property
    def exits(self) -> tuple[str, ...]:
        return (*(f"strike {c.name}" for c in self.contacts), *(f"lift {c.name}" for c in self.contacts))

    @property
    def memory(self) -> tuple[str, ...]:
        return tuple(f"last impulse {c.name}" for c in self.contacts)

    @property
    def channels(self) -> tuple[str, ...]:
        return ("blows",)

    @property
    def impulsive(self) -> bool:
        return True

    @property
    def constrains(self) -> bool:
        return True

    # -- geometry ----------------------------------------------------------------------------------------------------

    def _closed(self, phase: Any) -> list[Any]:
        return [jnp.bitwise_and(jnp.right_shift(phase, i), 1) == 1 for i in range(len(self.contacts))]

    def _gaps(self, scene: Scene) -> list[Any]:
        return [c.pair.gap(scene) for c in self.contacts]

    def _rows(self, scene: Scene) -> list[list[Any]]:
        """A: gradient of every gap."""
        return [c.pair.row(scene) for c in self.contacts]

    def _turning(self, scene: Scene, v: Any) -> list[Any]:
        """A' v: acceleration of every gap that the motion brings about without forces."""

        def rates(q: Any) -> tuple[Any, ...]:
            rows = self._rows(Scene(scene.mechanism, scene.t, q, v))
            return tuple(jnp.asarray(_dot(row, v), dtype=float) for row in rows)

        return list(jax.jvp(rates, (scene.q,), (v,))[1])

    def _delassus(self, rows: list[list[Any]], solve: Any) -> tuple[list[list[Any]], list[list[Any]]]:
        """M^-1 A^T by columns, and W = A M^-1 A^T."""
        through = [solve(row) for row in rows]
        return through, [[_dot(a, c) for c in through] for a in rows]

    # -- the automaton -----------------------------------------------------------------------------------------------

    def check(self, mechanism: Mechanism) -> None:
        if not walk.small(mechanism.topology):
            raise errors.CaromError(
                f"rigid contacts on a mechanism of {mechanism.topology.links} links; this version serves at most "
                f"{walk.UNROLL}; use a compliant law instead"
            )

    def overlaps(self, scene: Scene) -> dict[str, Any]:
        return {c.name: -gap for c, gap in zip(self.contacts, self._gaps(scene), strict=True)}

    def start(self, scene: Scene) -> Own:
        phase = jnp.asarray(0)
        rows = self._rows(scene)
        for i, gap in enumerate(self._gaps(scene)):
            resting = (jnp.abs(gap) < 1e-10) & (jnp.abs(_dot(rows[i], scene.v)) < AT_REST)
            phase = phase + jnp.where(resting, 2**i, 0)
        return Own(phase, (jnp.asarray(0.0),) * len(self.contacts), ())

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        return Flow(powers=(0.0,))  # its forces are those of `react`; only blows change the energy

    def react(self, scene: Scene, own: Own, motion: Motion) -> Any:
        forces, through = self.reactions(scene, own.phase, motion)
        return tuple(a + sum(forces[i] * through[i][j] for i in range(len(forces))) for j, a in enumerate(motion.free))

    def reactions(self, scene: Scene, phase: Any, motion: Motion) -> tuple[list[Any], list[list[Any]]]:
        """Normal force of every closed contact [N], and M^-1 A^T."""
        closed = self._closed(phase)
        rows = self._rows(scene)
        through, w = self._delassus(rows, motion.solve)
        drift = self._normal_accelerations(scene, rows, scene.v, motion)
        masked = _masked(w, closed)
        lower = [row[: i + 1] for i, row in enumerate(masked)]
        forces = ldl_factor(lower, DEPENDENT)([jnp.where(c, -d, 0.0) for c, d in zip(closed, drift, strict=True)])
        return forces, through

    def _normal_accelerations(self, scene: Scene, rows: list[list[Any]], v: Any, motion: Motion) -> list[Any]:
        turning = self._turning(scene, v)
        return [_dot(row, motion.free) + turn for row, turn in zip(rows, turning, strict=True)]

    def guard(self, scene: Scene, own: Own) -> Sequence[Any]:
        closed = self._closed(own.phase)
        forces, _ = self.reactions(scene, own.phase, scene.motion(scene.v))
        strikes = [jnp.where(c, NEVER, -gap) for c, gap in zip(closed, self._gaps(scene), strict=True)]
        lifts = [jnp.where(c, -force, NEVER) for c, force in zip(closed, forces, strict=True)]
        return (*strikes, *lifts)

    def jump(self, scene: Scene, own: Own, fired: tuple[Any, ...]) -> Landing:
        n = len(self.contacts)
        closed, strikes, lifts = self._closed(own.phase), fired[:n], fired[n:]
        rows = self._rows(scene)
        motion = scene.motion(scene.v)
        through, w = self._delassus(rows, motion.solve)
        speed = [_dot(row, scene.v) for row in rows]
        taking_part = [c | s for c, s in zip(closed, strikes, strict=True)]
        # Newton's law, contact by contact; slow rebounds count as none.
        asked = []
        for contact, u, s in zip(self.contacts, speed, strikes, strict=True):
            quick = s & (contact.restitution * jnp.abs(u) >= self.settle_speed)
            asked.append(jnp.where(quick, contact.restitution, 0.0))
        b = [jnp.where(on, (1.0 + e) * u, 1.0) for on, e, u in zip(taking_part, asked, speed, strict=True)]
        impulses = complementarity(_masked(w, taking_part), b)
        impulses = [jnp.where(on, p, 0.0) for on, p in zip(taking_part, impulses, strict=True)]
        velocity = tuple(v + sum(impulses[i] * through[i][j] for i in range(n)) for j, v in enumerate(scene.v))
        # Which contacts stay? Those at rest that are pressed, by the same rule one derivative higher.
        resting = [
            on & ~lift & (jnp.abs(_dot(row, velocity)) < AT_REST)
            for on, lift, row in zip(taking_part, lifts, rows, strict=True)
        ]
        drift = self._normal_accelerations(scene, rows, velocity, scene.motion(velocity))
        push = complementarity(_masked(w, resting), [jnp.where(r, d, 1.0) for r, d in zip(resting, drift, strict=True)])
        phase = jnp.asarray(0)
        for i in range(n):
            after = drift[i] + sum(jnp.where(resting[j], w[i][j] * push[j], 0.0) for j in range(n))
            stays = resting[i] & (after <= 1e-9 * (1.0 + jnp.abs(drift[i])))
            phase = phase + jnp.where(stays, 2**i, 0)
        return Landing(phase, tuple(impulses), own.states, velocity)


def _dot(row: Any, vector: Any) -> Any:
    return sum(a * b for a, b in zip(row, vector, strict=True))


def _masked(w: list[list[Any]], on: list[Any]) -> list[list[Any]]:
    """Rows and columns of contacts that take no part are those of the identity."""
    n = len(on)
    return [[jnp.where(on[i] & on[j], w[i][j], 1.0 if i == j else 0.0) for j in range(n)] for i in range(n)]
