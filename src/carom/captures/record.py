"""What a capture did: velocities, impulses, momenta and energies, in one table."""

from __future__ import annotations

from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import errors
from ..dynamics import Momentum, kinetic_energy, kinetic_energy_by_link, momentum
from ..mechanism import Mechanism
from ..mechanism.topology import Topology
from ..quantities import Vector
from ._grip import grip_rows


class Capture(eqx.Module):
    """One capture; `print` shows everything. Impulses are those on the arm, momenta are about the world's origin."""

    mechanism: Mechanism
    hand: str = eqx.field(static=True)
    grip: str = eqx.field(static=True)
    kind: str = eqx.field(static=True)
    base: str = eqx.field(static=True)
    restitution: Float[Array, ""]
    q: Float[Array, " dof"]
    before: Float[Array, " dof"]  # velocities
    after: Float[Array, " dof"]
    impulse: Float[Array, "2"]  # [N s] on the arm at its site
    moment: Float[Array, ""]  # [N m s] on the arm
    base_impulse: Float[Array, "3"]  # of thrusters [N s] and wheels [N m s] on the base: x, y, rotation
    stages: tuple[Capture, ...]  # of 'point-then-weld'

    @property
    def momentum_before(self) -> Momentum:
        return momentum(self.mechanism, self.q, self.before)

    @property
    def momentum_after(self) -> Momentum:
        return momentum(self.mechanism, self.q, self.after)

    @property
    def energy_before(self) -> Float[Array, ""]:
        return kinetic_energy(self.mechanism, self.q, self.before)

    @property
    def energy_after(self) -> Float[Array, ""]:
        return kinetic_energy(self.mechanism, self.q, self.after)

    @property
    def energy_lost(self) -> Float[Array, ""]:
        """Kinetic energy [J] that the blow turned into something else."""
        return self.energy_before - self.energy_after

    @property
    def relative_before(self) -> Float[Array, "3"]:
        """Velocity [m/s, m/s, rad/s] of the arm's site relative to the object's."""
        return grip_rows(self.mechanism, self.q, self.hand, self.grip) @ self.before

    @property
    def relative_after(self) -> Float[Array, "3"]:
        return grip_rows(self.mechanism, self.q, self.hand, self.grip) @ self.after

    @property
    def momentum_change(self) -> Float[Array, "3"]:
        """Change of linear [kg m/s] and angular [kg m^2/s] momentum of arm and object together."""
        before, after = self.momentum_before, self.momentum_after
        return jnp.concatenate([after.linear - before.linear, (after.angular - before.angular)[None]])

    @property
    def outside_impulse(self) -> Float[Array, "3"]:
        """What the base's actuators gave: linear [N s], and angular about the world's origin [N m s]."""
        top, (px, py, turn) = self.mechanism.topology, self.base_impulse
        at = top.base_index(top.trees[self.mechanism.site(self.hand).link])
        lever = 0.0 if at is None else self.q[at] * py - self.q[at + 1] * px
        return jnp.stack([px, py, turn + lever])

    @property
    def momentum_error(self) -> Float[Array, "3"]:
        """Change of momentum that no impulse from outside accounts for: zero unless the law is wrong.

        Not a number where a fixed pivot takes its share.
        """
        missing = self.momentum_change - self.outside_impulse
        return missing if all(self.mechanism.topology.free) else jnp.full(3, jnp.nan)

    def __repr__(self) -> str:
        if errors.known((self.q, self.before, self.after)) is None or np.ndim(self.q) != 1:
            return f"<Capture of '{self.grip}' by '{self.hand}', {self.kind}; numbers are traced or batched>"
        return "\n".join([self._head(), comparison({self.kind: self}), *self._words()])

    def _head(self) -> str:
        how = "plastic" if float(self.restitution) == 0.0 else f"restitution {float(self.restitution):g}"
        return f"Capture of '{self.grip}' by '{self.hand}': {self.kind}, {how}, base {self.base}"

    def _words(self) -> list[str]:
        """What the table does not say."""
        out = []
        lost = [float(s.energy_lost) for s in self.stages]
        if lost:
            out.append(f"losses: {lost[0]:.6g} J as the points meet, {lost[1]:.6g} J as the rotation is locked")
        if not all(self.mechanism.topology.free):
            out.append("a fixed pivot takes its share of the momentum")
        error, size = np.asarray(self.momentum_error), _momentum_size(self)
        if np.any(np.abs(error) > 1e-9 * size):
            share = 100.0 * float(np.max(np.abs(error))) / size
            out.append(
                f"VIOLATES conservation of momentum: ({error[0]:.4g}, {error[1]:.4g}) kg m/s and {error[2]:.4g} "
                f"kg m^2/s come from nowhere ({share:.0f} % of the largest part)"
            )
        return out


def _momentum_size(c: Capture) -> float:
    """The largest momentum involved, by tree."""
    top = c.mechanism.topology
    sizes = [1e-300]
    for tree in range(len(top.free)):
        own = np.asarray([_of_tree(top, i) == tree for i in range(top.dof)])
        part = momentum(c.mechanism, c.q, jnp.where(own, c.before, 0.0))
        sizes += [float(np.max(np.abs(np.asarray(part.linear)))), abs(float(part.angular))]
    return max(sizes)


def _of_tree(top: Topology, coordinate: int) -> int:
    """The tree to which a coordinate belongs."""
    if coordinate < top.base_dof:
        return [t for t, free in enumerate(top.free) if free for _ in range(2)][coordinate]
    if coordinate < top.base_dof + top.links:
        return top.trees[coordinate - top.base_dof]
    return next(top.trees[k] for k in range(top.links) if coordinate in top.mode_index(k))


def comparison(captures: Mapping[str, Capture]) -> str:
    """One table of several captures that start alike: a row per quantity, a column each."""
    first = next(iter(captures.values()))
    columns = {"before": _column(first, first.before, False)}
    columns |= {name: _column(c, c.after, True) for name, c in captures.items()}
    width = max(13, *(len(name) + 1 for name in columns))
    lines = [f"  {'quantity':34} {'unit':11}" + "".join(f"{name:>{width}}" for name in columns)]
    for label, unit in _labels(first):
        cells = [columns[name].get(label) for name in columns]
        if label not in QUIET or any(_cell(cell) not in ("", "0") for cell in cells):
            lines.append(f"  {label:34} {unit:11}" + "".join(f"{_cell(cell):>{width}}" for cell in cells))
    return "\n".join(lines)


# Rows that are left out where they are all zero
QUIET = ("base impulse x", "base impulse y", "base impulse, turning", "moment on the arm")


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value + 0.0:.7g}" if abs(value) >= 5e-14 else "0"


def _labels(c: Capture) -> list[tuple[str, str]]:
    top = c.mechanism.topology
    bends = top.base_dof + top.links
    units = ["m/s" if i < top.base_dof or i >= bends else "rad/s" for i in range(top.dof)]
    rates = [(f"rate of {name}", unit) for name, unit in zip(top.labels, units, strict=True)]
    return [
        *rates,
        ("relative velocity x", "m/s"),
        ("relative velocity y", "m/s"),
        ("relative rotation", "rad/s"),
        ("impulse on the arm x", "N s"),
        ("impulse on the arm y", "N s"),
        ("moment on the arm", "N m s"),
        ("base impulse x", "N s"),
        ("base impulse y", "N s"),
        ("base impulse, turning", "N m s"),
        ("momentum x", "kg m/s"),
        ("momentum y", "kg m/s"),
        ("angular momentum about (0, 0)", "kg m^2/s"),
        *[(f"kinetic energy of {name}", "J") for name in top.tree_names],
        ("kinetic energy", "J"),
        ("kinetic energy lost", "J"),
        ("momentum from nowhere, largest", "kg m/s, .."),
    ]


def _column(c: Capture, v: Vector, done: bool) -> dict[str, float]:
    """Label -> value, before or after."""
    top, whole = c.mechanism.topology, momentum(c.mechanism, c.q, v)
    rates = {f"rate of {name}": float(x) for name, x in zip(top.labels, v, strict=True)}
    relative = np.asarray(grip_rows(c.mechanism, c.q, c.hand, c.grip) @ v)
    each = np.asarray(jax.jit(kinetic_energy_by_link)(c.mechanism, c.q, v))
    out = {
        **rates,
        "relative velocity x": float(relative[0]),
        "relative velocity y": float(relative[1]),
        "relative rotation": float(relative[2]),
        "momentum x": float(whole.linear[0]),
        "momentum y": float(whole.linear[1]),
        "angular momentum about (0, 0)": float(whole.angular),
        "kinetic energy": float(np.sum(each)),
    }
    for t, name in enumerate(top.tree_names):
        out[f"kinetic energy of {name}"] = float(sum(e for e, owner in zip(each, top.trees, strict=True) if owner == t))
    if done:
        out |= {
            "impulse on the arm x": float(c.impulse[0]),
            "impulse on the arm y": float(c.impulse[1]),
            "moment on the arm": float(c.moment),
            "base impulse x": float(c.base_impulse[0]),
            "base impulse y": float(c.base_impulse[1]),
            "base impulse, turning": float(c.base_impulse[2]),
            "kinetic energy lost": float(c.energy_lost),
            "momentum from nowhere, largest": float(np.max(np.abs(np.asarray(c.momentum_error)))),
        }
    return out
