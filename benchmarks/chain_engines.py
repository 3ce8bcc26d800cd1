"""A chain of uniform rods in carom, Pinocchio and MuJoCo, and the calls for its accelerations that are timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pinocchio

import carom
from carom import dynamics
from timing import Contender, cores, race

BATCH = 4096
PIECE = 2**18  # numbers in an array of the batch; a larger batch goes through the caches in pieces
CAROM = {"explicit": "explicit", "recursive": "gibbs_appell"}


# -- the chain, three times --------------------------------------------------------------------------------------------


def states(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Absolute angles and rates of a batch."""
    rng = np.random.default_rng(0)
    return rng.uniform(-np.pi, np.pi, (BATCH, n)), rng.normal(size=(BATCH, n))


def relative(absolute: np.ndarray) -> np.ndarray:
    """Joint coordinates, which the other engines use, from absolute ones."""
    return np.ascontiguousarray(np.diff(absolute, axis=-1, prepend=0.0))


def carom_chain(n: int) -> carom.Mechanism:
    return carom.Arm([carom.Rod(length=1.0, mass=1.0)] * n)


def pinocchio_chain(n: int) -> Any:
    model, joint = pinocchio.Model(), 0
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    rod = pinocchio.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([1e-3, 1 / 12, 1 / 12]))
    for k in range(n):
        place = pinocchio.SE3(np.eye(3), np.array([float(k > 0), 0.0, 0.0]))
        joint = model.addJoint(joint, pinocchio.JointModelRZ(), place, f"joint{k}")
        model.appendBodyToJoint(joint, rod, pinocchio.SE3.Identity())
    return model


def mujoco_chain(n: int) -> Any:
    """Without contacts and constraints, so that mj_forward has nothing to do that the chain does not need."""
    spec = mujoco.MjSpec()
    spec.option.gravity = [0.0, -9.81, 0.0]
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    body, rod = spec.worldbody, {"mass": 1.0, "ipos": [0.5, 0, 0], "inertia": [1e-3, 1 / 12, 1 / 12]}
    for k in range(n):
        body = body.add_body(pos=[float(k > 0), 0, 0], explicitinertial=True, **rod)
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    return spec.compile()


# -- contenders --------------------------------------------------------------------------------------------------------

Entry = tuple[Contender, Callable[[], np.ndarray], float | None]  # what to time, accelerations to check, compile time


def carom_entries(n: int, name: str) -> dict[str, Entry]:
    """carom: one call per state from Python, single states in a compiled loop, and a whole batch per call."""
    chain, (q, v) = carom_chain(n), states(n)
    turns = max(8, 2000 // n)

    def single(chain: Any, q: Any, v: Any) -> Any:
        return dynamics.forward_dynamics(chain, q, v, formalism=CAROM[name])

    def loop(chain: Any, q: Any, v: Any) -> Any:
        def step(_: int, state: Any) -> Any:  # each evaluation needs the one before
            return state[0] + 1e-9 * state[1], state[1] + 1e-9 * single(chain, *state)

        return jax.lax.fori_loop(0, turns, step, (q, v))

    def batch(chain: Any, q: Any, v: Any) -> Any:
        if BATCH * n <= PIECE:
            return jax.vmap(single, (None, 0, 0))(chain, q, v)
        return jax.lax.map(lambda state: single(chain, *state), (q, v), batch_size=PIECE // n)

    found = {"single": _compiled(single, 1, chain, jnp.asarray(q[0]), jnp.asarray(v[0]))}
    if name == "recursive" or n < 256:
        found["loop"] = _compiled(loop, turns, chain, jnp.asarray(q[0]), jnp.asarray(v[0]))
        found["batch"] = _compiled(batch, BATCH, chain, jnp.asarray(q), jnp.asarray(v))
    return found


def _compiled(function: Callable[..., Any], states: int, *arguments: Any) -> Entry:
    jitted = jax.jit(function)
    start = time.perf_counter()
    jitted.lower(*arguments).compile()
    compile_time = time.perf_counter() - start
    call = Contender(lambda: jax.block_until_ready(jitted(*arguments)), states)
    return call, lambda: np.asarray(jitted(*arguments)), compile_time


def pinocchio_entries(n: int) -> dict[str, Entry]:
    """ABA called from Python, state by state."""
    model = pinocchio_chain(n)
    data, torque = model.createData(), np.zeros(n)
    q, v = (list(relative(x)) for x in states(n))

    def over(count: int) -> Entry:
        some = list(zip(q[:count], v[:count], strict=True))

        def call() -> None:
            for angles, rates in some:
                pinocchio.aba(model, data, angles, rates, torque)

        def check() -> np.ndarray:
            return np.cumsum([pinocchio.aba(model, data, *state, torque).copy() for state in some[:8]], axis=-1)

        return Contender(call, count), check, None

    return {"single": over(1), "batch": over(_loop_length(n))}


def pinocchio_pool(n: int) -> Entry:
    """The same batch in Pinocchio's own loop in C++, on all cores."""
    pool = pinocchio.ModelPool(pinocchio_chain(n), cores())
    q, v = (np.asfortranarray(relative(x).T) for x in states(n))
    torque, out = np.zeros_like(q), np.zeros_like(q)

    def call() -> None:
        pinocchio.abaInParallel(cores(), pool, q, v, torque, out)

    def check() -> np.ndarray:
        call()
        return np.cumsum(out.T[:8], axis=-1)

    return Contender(call, BATCH), check, None


def mujoco_entries(n: int) -> dict[str, Entry]:
    """mj_forward called from Python, state by state."""
    model = mujoco_chain(n)
    data = mujoco.MjData(model)
    q, v = (list(relative(x)) for x in states(n))

    def forward(angles: np.ndarray, rates: np.ndarray) -> np.ndarray:
        data.qpos[:] = angles
        data.qvel[:] = rates
        mujoco.mj_forward(model, data)
        return data.qacc

    def over(count: int) -> Entry:
        some = list(zip(q[:count], v[:count], strict=True))

        def call() -> None:
            for state in some:
                forward(*state)

        return Contender(call, count), lambda: np.cumsum([forward(*s).copy() for s in some[:8]], axis=-1), None

    return {"single": over(1), "batch": over(_loop_length(n))}


def _loop_length(n: int) -> int:
    """States in a Python loop: a whole batch while it is quick; per state, a part of it says the same."""
    return BATCH if n <= 16 else max(4, BATCH // n)


def empty_calls() -> dict[str, float]:
    """What a call from Python costs by itself [s]: the same calls for a world without a joint."""
    q = np.zeros(0)
    model = pinocchio.Model()
    data = model.createData()
    world = mujoco.MjModel.from_xml_string("<mujoco/>")
    things = mujoco.MjData(world)

    def forward() -> None:
        things.qpos[:] = q
        things.qvel[:] = q
        mujoco.mj_forward(world, things)

    def many(call: Callable[[], Any]) -> Contender:
        return Contender(lambda: [call() for _ in range(1000)], 1000)

    nothing = jax.jit(lambda chain, q, v: q)
    arguments = (carom_chain(2), jnp.zeros(2), jnp.zeros(2))
    return race(
        {
            "carom": many(lambda: jax.block_until_ready(nothing(*arguments))),
            "aba": many(lambda: pinocchio.aba(model, data, q, q, q)),
            "mj_forward": many(forward),
        }
    )
