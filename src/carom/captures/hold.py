"""A controller that brings base and joints to a pose: the space-capture thesis's feedback linearisation, or PD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import errors
from .._arguments import AutomatonLike, MechanismLike, Name, ResultLike
from ..control._stops import refuse_beyond
from ..dynamics import (
    FORMALISMS,
    explicit,
    generalized_force,
    gravity_vector,
    vector_of,
)
from ..dynamics import (
    _linear as linear,
)
from ..forms import Form, Slot
from ..hybrid._in_words import told
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Flow
from ..hybrid.reporting import Channel, Drive, Efforts, Report
from ..hybrid.scene import Load, Own, Scene, merge
from ..mechanism import Mechanism
from ..mechanism import _walk as walk
from ..quantities import Given, Gravity, Real, Times, Vector
from .capture_blow import BASES

SOURCE = "control after a capture: Manfredi 2024, thesis, University of Trento"
SAMPLES = 2001  # instants looked at for peak efforts


class HoldPose(AbstractAutomaton):
    """Forces on the base and joint torques that drive every actuated coordinate p to its target p_d.

    Linearising: u = M [-Kd p' + Kp (p_d - p)] + C, so that e'' + Kd e' + Kp e = 0 for each coordinate by itself.
    Otherwise: feed-forward of the target pose plus PD, u = C(p_d) + Kp (p_d - p) - Kd p', coupled by the mass matrix.
    p = (x, y of the base, its attitude, joint angles relative to the parent). Coordinates without actuator, among them
    the modal ones of elastic links, move as they must, and the accelerations of the others are still those asked for.

    - `pose`: what to hold, coordinates of the mechanism
    - `kp` [1/s^2] (linearising; else [N/m, N m/rad]): one number, or one per coordinate; `damping_ratio` xi gives
      Kd = 2 xi sqrt(Kp); or give `kd`
    - `base`: 'free-flying' (thrusters, wheels and joints act), 'attitude-held' (wheels and joints), 'free-floating'
      (joints only)

    - `model`: what the controller takes the mechanism for, if not for what it is: of the same links and joints

    Weight is that of the world, and is compensated.

    Source: space-capture thesis, (4.24) and (4.26).
    """

    form: ClassVar[Form] = Form(
        "hold-pose",
        "base and joints are brought to a pose",
        (
            Slot("pose", "pose", "coordinates: bases [m], absolute angles [rad]; the start if left out", None),
            Slot("kp", "gains", "[1/s^2] with linearisation, else [N/m, N m/rad]", 1.0),
            Slot("kd", "gains", "[1/s] or [N s/m, N m s/rad]; from the damping ratio if left out", None),
            Slot("damping_ratio", "number", "Kd = 2 xi sqrt(Kp)", 1.0),
            Slot("base", "word", "free-flying, attitude-held or free-floating", "free-flying"),
            Slot("linearise", "flag", "feedback linearisation, or PD with feed-forward", True),
        ),
        lambda c, mechanism: _told(c, mechanism),
    )

    knows_model: ClassVar[bool] = True  # does it take a `model`?
    target: Float[Array, " dof"]
    kp: Float[Array, " dof"]
    kd: Float[Array, " dof"]
    actuated: tuple[int, ...] = eqx.field(static=True)
    pushed: tuple[tuple[str, int], ...] = eqx.field(static=True)  # trees, and their bases in q
    linearise: bool = eqx.field(static=True)
    name: str = eqx.field(static=True)
    model: Mechanism | None

    def __init__(
        self,
        mechanism: Mechanism,
        pose: Given,
        kp: Real = 1.0,
        kd: Real | None = None,
        *,
        damping_ratio: Real = 1.0,
        base: Name = "free-flying",
        linearise: bool = True,
        model: MechanismLike | None = None,
        name: str = "hold",
    ) -> None:
        if not isinstance(mechanism, Mechanism):
            raise errors.CaromError(f"mechanism of '{name}' is a {type(mechanism).__name__}; it must be a Mechanism")
        errors.name_in(f"base of '{name}'", base, BASES)
        errors.number(f"'{name}'", "damping_ratio", damping_ratio, least=0.0)
        self.model = _alike(name, mechanism, model)
        self.target = mechanism.to_relative(vector_of(mechanism, "pose", pose))
        self.kp = _gains(name, "kp", kp, mechanism.dof)
        spread = 2.0 * jnp.asarray(damping_ratio, dtype=float) * jnp.sqrt(self.kp)
        self.kd = spread if kd is None else _gains(name, "kd", kd, mechanism.dof)
        self.actuated, self.linearise, self.name = actuated_by(mechanism, base), linearise, name
        places = [(tree, mechanism.topology.base_index(k)) for k, tree in enumerate(mechanism.topology.tree_names)]
        self.pushed = tuple((tree, at) for tree, at in places if at is not None and at in self.actuated)

    @property
    def anatomy(self) -> Anatomy:
        return Anatomy(phases=("hold",), channels=(Channel("actuators", "driven"),), pausable=True)

    @property
    def report(self) -> Report:
        drive = Drive(self._told, bases=tuple(name for name, _ in self.pushed), wanted=self._pose)
        units = ("1/s^2", "1/s") if self.linearise else ("N/m, N m/rad", "N s/m, N m s/rad")
        words = told("HoldPose", ("kp", self.kp, units[0]), ("kd", self.kd, units[1]))
        return Report(words=((self.name, words),), cited=(SOURCE,), drive=drive)

    def _told(self, scene: Scene, own: Own) -> Efforts:
        efforts = self.efforts(scene.mechanism, merge(scene.q), merge(scene.v), scene.gravity)
        pushes = tuple((efforts[at], efforts[at + 1]) for _, at in self.pushed)
        return Efforts(efforts[scene.top.angles], pushes)

    def _pose(self, scene: Scene, own: Own) -> Any:
        return scene.mechanism.to_absolute(self.target)[scene.top.angles]

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse another mechanism, and a pose behind a stop of an actuated joint."""
        if mechanism.dof != self.target.shape[0]:
            raise errors.CaromError(
                f"'{self.name}' was built for {self.target.shape[0]} coordinates, the world's mechanism has "
                f"{mechanism.dof}; build it with the same mechanism"
            )
        target, top = errors.known(self.target), mechanism.topology
        for k, limited in enumerate(top.limited):
            if limited and top.angle_index(k) in self.actuated:
                raise errors.CaromError(
                    f"the joint of '{top.names[k]}' has an effort_limit, but '{self.name}' exerts whatever its pose "
                    "takes; leave out effort_limit there, or use a controller with limits: carom.PostureControl"
                )

        def aims(link: int) -> np.ndarray | None:
            i = top.angle_index(link)
            return None if target is None or i not in self.actuated else target[i : i + 1]

        refuse_beyond(others, aims, lambda i: f"the pose of '{self.name}'")

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        q, v = merge(scene.q), merge(scene.v)
        efforts = self.efforts(scene.mechanism, q, v, scene.gravity)
        absolute = scene.mechanism.efforts_to_absolute(efforts)
        for i in range(scene.mechanism.dof):
            load.add(i, absolute[i])
        return Flow((), (efforts @ scene.mechanism.to_relative(v),))

    def efforts(
        self, mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"], gravity: Gravity
    ) -> Float[Array, " dof"]:
        """(force on the base in world axes [N] .., torque at every joint [N m] .., 0 for modal coordinates)."""
        act, gravity = np.asarray(self.actuated), gravity_vector(gravity)
        mechanism = mechanism if self.model is None else self.model
        off = self.target - mechanism.to_relative(q)
        push = (self.kp * off - self.kd * mechanism.to_relative(v))[act]
        if self.linearise:
            push = _needed(mechanism, q, v, gravity, act, push)
        else:
            rest = mechanism.to_absolute(self.target)
            push = push + _terms(mechanism, rest, jnp.zeros_like(v), gravity)[1][act]
        return jnp.zeros(mechanism.dof).at[act].set(push)


def _alike(name: str, mechanism: Mechanism, model: MechanismLike | None) -> Mechanism | None:
    if model is not None and (not isinstance(model, Mechanism) or model.topology != mechanism.topology):
        what = "of other links" if isinstance(model, Mechanism) else f"a {type(model).__name__}"
        raise errors.CaromError(
            f"model of '{name}' is {what}; it must be a Mechanism of the same links and joints, with other numbers"
        )
    return model


def _gains(name: str, field: str, gain: Real | Given, dof: int) -> Any:
    """One gain per coordinate, from one for all or from a list."""
    if np.ndim(gain) == 0:
        errors.number(f"'{name}'", field, gain, least=0.0)
        return jnp.full(dof, jnp.asarray(gain, dtype=float))
    errors.vector(f"'{name}'", field, gain, dof)
    return jnp.asarray(gain, dtype=float)


def actuated_by(mechanism: Mechanism, base: str) -> tuple[int, ...]:
    """Coordinates with an actuator. A link on a fixed pivot has a motor there; on a free base it is the base's body."""
    top = mechanism.topology
    joints = [top.angle_index(k) for k in range(top.links) if k not in top.loose]
    attitude = [top.angle_index(k) for k in top.loose]
    places = list(range(top.base_dof))
    chosen = joints + (attitude if base != "free-floating" else []) + (places if base == "free-flying" else [])
    if not chosen:
        raise errors.CaromError(f"base is '{base}' and there is no joint; nothing is actuated; use 'free-flying'")
    return tuple(sorted(chosen))


def _terms(mechanism: Mechanism, q: Vector, v: Vector, gravity: Vector) -> tuple[Array, Array]:
    """Mass matrix and remaining forces in relative coordinates: M p'' + C = u."""
    if walk.small(mechanism.topology):  # all at once: this stands in every right-hand side of the integration
        lower, bias, weight = explicit.terms(mechanism, q, v, gravity)
        size = range(mechanism.dof)
        matrix = jnp.stack([_stack([lower[max(i, j)][min(i, j)] for j in size]) for i in size])
        rest = _stack([b - w for b, w in zip(bias, weight, strict=True)])
    else:
        formalism = FORMALISMS["explicit"]
        matrix = formalism.mass_matrix(mechanism, q)
        rest = formalism.bias(mechanism, q, v) - formalism.gravity(mechanism, q, gravity)
    up = _to_absolute(mechanism)
    return up.T @ matrix @ up, up.T @ (rest - generalized_force(mechanism, q, v))


def _stack(values: Sequence[Any]) -> Array:
    return jnp.stack([jnp.asarray(x, dtype=float) for x in values])


def _to_absolute(mechanism: Mechanism) -> Any:
    """The constant map from relative to absolute coordinates; numbers, unless slopes of sections enter."""
    top = mechanism.topology
    if top.elastic or top.sliding:
        return jax.vmap(mechanism.to_absolute)(jnp.eye(top.dof)).T
    out = np.eye(top.dof)
    for k in range(top.links):
        for i, _ in top.paths[k]:
            out[top.angle_index(k), top.angle_index(i)] = 1.0
    return out


def _needed(mechanism: Mechanism, q: Vector, v: Vector, gravity: Vector, act: np.ndarray, asked: Vector) -> Any:
    """Efforts that give the actuated coordinates the accelerations asked for, while the others move freely."""
    matrix, rest = _terms(mechanism, q, v, gravity)
    passive = np.asarray([i for i in range(mechanism.dof) if i not in act], dtype=int)
    need = matrix[np.ix_(act, act)] @ asked + rest[act]
    if len(passive):
        across = matrix[np.ix_(passive, act)]
        moved = linear.solve(matrix[np.ix_(passive, passive)], -(rest[passive] + across @ asked))
        need = need + across.T @ moved
    return need


def efforts_at(result: ResultLike, control: AutomatonLike, times: Times) -> np.ndarray:
    """Efforts of a `HoldPose` at these times of a run: a row per time, forces on the base in world axes first."""
    if not isinstance(control, HoldPose):
        raise errors.CaromError(f"control is a {type(control).__name__}; it must be the HoldPose of the run")
    m, gravity = result.world.mechanism, result.world.gravity
    states = result.at(np.asarray(times, dtype=float))
    return np.asarray(jax.jit(jax.vmap(lambda q, v: control.efforts(m, q, v, gravity)))(states.q, states.v))


def peak_efforts(result: ResultLike, control: AutomatonLike) -> dict[str, float]:
    """Largest force [N] on every free base (its magnitude) and largest torque [N m] of every joint during a run."""
    top = result.world.mechanism.topology
    values = np.abs(efforts_at(result, control, np.linspace(0.0, float(result.t[-1]), SAMPLES)))
    out = {}
    for tree, name in enumerate(top.tree_names):
        at = top.base_index(tree)
        if at is not None:
            out[f"force on {name} [N]"] = float(np.max(np.hypot(values[:, at], values[:, at + 1])))
    torques = values[:, top.angles]
    return out | {f"torque on {name} [N m]": float(np.max(torques[:, k])) for k, name in enumerate(top.names)}


def _told(c: HoldPose, mechanism: Mechanism) -> dict[str, Any] | None:
    if c.model is not None:
        return None  # files have one mechanism
    base = next(b for b in BASES if actuated_by(mechanism, b) == c.actuated)
    values = {name: getattr(c, name) for name in ("kp", "kd", "linearise")}
    return {"pose": mechanism.to_absolute(c.target), "base": base} | values
