"""What controllers exert, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp

from .. import errors
from ..hybrid.reporting import Drive, Efforts
from ..hybrid.scene import Own, Scene
from ..mechanism import Mechanism

Value = Callable[[Scene], Any]


class Known(NamedTuple):
    """A number that a world has at every instant.

    - `size`: that of its terms, in its own unit, which its rounding is measured by; by default its own
    - `flag`: is it 1 or 0, and a condition as it stands?
    """

    unit: str
    value: Value
    size: Value | None = None
    flag: bool = False


def own_of(i: int, scene: Scene) -> Own | None:
    """What belongs to automaton i; None where a run has not begun, and nobody has anything yet."""
    return scene.owns[i] if scene.owns else None


def drive_signals(i: int, name: str, drive: Drive, m: Mechanism) -> Iterator[tuple[str, Known]]:
    """control.NAME.LINK [N m] ([N] on a slider), the effort on a joint; .LINK.power [W]; control.NAME.power of all."""
    for k, link in enumerate(m.topology.names):
        unit = "N" if m.topology.slides[k] else "N m"
        yield f"control.{name}.{link}", Known(unit, partial(_torque, i, k, drive))
        yield f"control.{name}.{link}.power", Known("W", partial(_joint_power, i, k, drive))
    yield f"control.{name}.power", Known("W", partial(_power, i, drive))


def _torque(i: int, k: int, drive: Drive, scene: Scene) -> Any:
    own = own_of(i, scene)
    return jnp.asarray(0.0) if own is None else scene.acting * _efforts(i, drive, scene, own).torques[k]


def _efforts(i: int, drive: Drive, scene: Scene, own: Own) -> Efforts:
    """What a controller exerts; not where that is computed from itself."""
    name = scene.automata[i].name
    if name in scene.asking:
        by = "".join(f", by way of '{other}'" for other in scene.asking if other != name)
        raise errors.CaromError(
            f"control.{name} is computed from itself: the torques of '{name}' ask for it{by}; let them ask for "
            "the motion"
        )
    scene.asking = (*scene.asking, name)
    try:
        return drive.efforts(scene, own)
    finally:
        scene.asking = scene.asking[:-1]


def _joint_power(i: int, k: int, drive: Drive, scene: Scene) -> Any:
    return _torque(i, k, drive, scene) * scene.relative_rate(k)


def _power(i: int, drive: Drive, scene: Scene) -> Any:
    """What its torques, and its forces on bases, do now."""
    own = own_of(i, scene)
    if own is None:
        return jnp.asarray(0.0)
    efforts, total = _efforts(i, drive, scene, own), jnp.asarray(0.0)
    for k, torque in enumerate(efforts.torques):
        total = total + torque * scene.relative_rate(k)
    for base, (fx, fy) in zip(drive.bases, efforts.pushes, strict=True):
        index = scene.top.base_index(scene.top.tree_names.index(base))
        assert index is not None
        total = total + fx * scene.v[index] + fy * scene.v[index + 1]
    return scene.acting * total
