"""Accelerations against engines that nobody here wrote: MuJoCo and Pinocchio (`make verify` installs them).

Both work in three dimensions with relative joint angles. The plane is their x-y plane, hinges turn about z, gravity
points along -y; nothing is added that carom does not have (no armature, damping, contacts or limits).
"""

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp
import mujoco
import numpy as np
import pinocchio
import pytest

import carom
from carom import dynamics

GRAVITY = np.array([0.0, -9.81, 0.0])
CLOSE = 1e-9  # promised; rounding times the condition number of M (up to a thousand here) leaves about 1e-13


@dataclasses.dataclass(frozen=True)
class Tree:
    """Numbers of a tree of general bodies, one row per link; links are listed after their parents."""

    parents: tuple[int, ...]
    free: bool
    mass: np.ndarray
    com: np.ndarray
    inertia: np.ndarray
    hang: np.ndarray

    @property
    def names(self) -> list[str]:
        return [f"link{k + 1}" for k in range(len(self.parents))]


def tree(parents: list[int], free: bool = False) -> Tree:
    """Masses over two decades, centres of mass off the axes, joints anywhere."""
    rng, n = np.random.default_rng(len(parents) + 10 * free), len(parents)
    mass = 10.0 ** rng.uniform(-1, 1, n)
    hang = rng.uniform(-1, 1, (n, 2))
    if free:
        hang[0] = 0.0  # a free base is where its root hangs
    return Tree(tuple(parents), free, mass, rng.uniform(-1, 1, (n, 2)), mass * rng.uniform(0.1, 1, n) ** 2, hang)


def double_pendulum() -> Tree:
    """Two uniform rods."""
    length, mass = np.array([1.0, 0.7]), np.array([1.0, 2.0])
    com = np.stack([length / 2, np.zeros(2)], axis=1)
    return Tree((-1, 0), False, mass, com, mass * length**2 / 12, np.array([[0.0, 0.0], [length[0], 0.0]]))


TREES = {
    "double pendulum": double_pendulum(),
    "chain of 6": tree([-1, 0, 1, 2, 3, 4]),
    "branched tree of 7": tree([-1, 0, 0, 1, 1, 2, 5]),
    "free chain of 3": tree([-1, 0, 1], free=True),
    "free branched tree of 6": tree([-1, 0, 0, 1, 1, 2], free=True),
    "chain of 12": tree([-1, *range(11)]),
}


def in_carom(tree: Tree) -> carom.Mechanism:
    links = [
        carom.Link(
            carom.Body(mass=tree.mass[k], inertia=tree.inertia[k], com=tuple(tree.com[k])),
            name=tree.names[k],
            parent=carom.BASE if parent < 0 else tree.names[parent],
            at=tuple(tree.hang[k]),
        )
        for k, parent in enumerate(tree.parents)
    ]
    return carom.Mechanism(links, base=carom.Free() if tree.free else carom.Fixed())


Accelerate = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def in_mujoco(tree: Tree) -> Accelerate:
    """q, v, efforts -> accelerations, all relative."""

    def digits(*numbers: float) -> str:
        return " ".join(repr(float(x)) for x in numbers)  # all of them

    def body(k: int) -> str:
        slides = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
        return (
            f'<body pos="{digits(*tree.hang[k], 0)}">'
            + (slides if tree.free and tree.parents[k] < 0 else "")
            + f'<joint name="{tree.names[k]}" axis="0 0 1"/>'
            + f'<inertial pos="{digits(*tree.com[k], 0)}" mass="{digits(tree.mass[k])}"'
            + f' diaginertia="{digits(*[tree.inertia[k]] * 3)}"/>'
            + "".join(body(child) for child, parent in enumerate(tree.parents) if parent == k)
            + "</body>"
        )

    text = f"""<mujoco>
      <compiler angle="radian" boundmass="0" boundinertia="0" balanceinertia="false" autolimits="false"/>
      <option gravity="0 -9.81 0"><flag contact="disable" constraint="disable" autoreset="disable"/></option>
      <default><joint armature="0" damping="0" stiffness="0" frictionloss="0"/></default>
      <worldbody>{"".join(body(k) for k, parent in enumerate(tree.parents) if parent < 0)}</worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    # MuJoCo numbers joints depth first.
    bases = 2 * tree.free
    index = np.array([*range(bases), *(model.joint(name).dofadr[0] for name in tree.names)])

    def accelerate(q: np.ndarray, v: np.ndarray, efforts: np.ndarray) -> np.ndarray:
        data.qpos[index], data.qvel[index], data.qfrc_applied[index] = q, v, efforts
        mujoco.mj_forward(model, data)
        return data.qacc[index].copy()

    return accelerate


def in_pinocchio(tree: Tree) -> Accelerate:
    """q, v, efforts -> accelerations by the articulated-body algorithm, all relative."""
    model = pinocchio.Model()
    model.gravity.linear = GRAVITY
    base = 0
    if tree.free:
        base = model.addJoint(base, pinocchio.JointModelPX(), pinocchio.SE3.Identity(), "x")
        base = model.addJoint(base, pinocchio.JointModelPY(), pinocchio.SE3.Identity(), "y")
    joints: list[int] = []
    for k, parent in enumerate(tree.parents):
        place = pinocchio.SE3(np.eye(3), np.array([*tree.hang[k], 0.0]))
        joints.append(
            model.addJoint(base if parent < 0 else joints[parent], pinocchio.JointModelRZ(), place, tree.names[k])
        )
        inertia = pinocchio.Inertia(tree.mass[k], np.array([*tree.com[k], 0.0]), tree.inertia[k] * np.eye(3))
        model.appendBodyToJoint(joints[k], inertia, pinocchio.SE3.Identity())
    data = model.createData()
    index = np.array([*range(2 * tree.free), *(model.joints[j].idx_v for j in joints)])

    def accelerate(q: np.ndarray, v: np.ndarray, efforts: np.ndarray) -> np.ndarray:
        full = np.zeros((3, model.nv))
        full[:, index] = q, v, efforts
        return pinocchio.aba(model, data, *full)[index].copy()

    return accelerate


ENGINES = {"MuJoCo": in_mujoco, "Pinocchio": in_pinocchio}


@pytest.mark.parametrize("formalism", dynamics.FORMALISMS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", TREES)
def test_accelerations_agree(name: str, engine: str, formalism: str) -> None:
    mechanism, accelerate = in_carom(TREES[name]), ENGINES[engine](TREES[name])
    bases, rng = mechanism.topology.base_dof, np.random.default_rng(0)
    for _ in range(20):
        q, v, efforts = (
            rng.uniform(-3, 3, mechanism.dof),
            rng.normal(size=mechanism.dof),
            rng.normal(size=mechanism.dof),
        )
        expected = mechanism.to_absolute(jnp.asarray(accelerate(q, v, efforts)))
        found = dynamics.forward_dynamics(
            mechanism,
            mechanism.to_absolute(jnp.asarray(q)),
            mechanism.to_absolute(jnp.asarray(v)),
            torques=jnp.asarray(efforts[bases:]),
            base_force=jnp.asarray(efforts[:bases]) if bases else None,
            formalism=formalism,
        )
        assert np.max(np.abs(found - expected)) < CLOSE * np.max(np.abs(expected))
