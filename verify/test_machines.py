"""Machines with closed loops over ten seconds: energy, and forces against Newton's and Euler's equations by hand.

A four-bar, a slider-crank on a rail, and a scissor lift of two stages that bounces on a spring, with a pin too many.
(The cam and its follower: tests/unit/test_cam_follower.py.) The second formulation takes every body by itself
(tests/unit/newton_euler.py); MuJoCo gives mass matrix, bias and Jacobians of the open trees for a third.
"""

import dataclasses
import functools
from typing import Any

import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from tests.unit.newton_euler import Bar, Joint, place, rod, solved

import carom

TIGHT = carom.Settings("dopri8", rtol=1e-12, atol=1e-13)
RAIL = ((0.0, 1.0),)
STIFFNESS, WALL = 200.0, (5.0, 0.0)
UNTIL = 10.0


@dataclasses.dataclass(frozen=True)
class Machine:
    """A world and its start, the same by hand, and how forces of constraints that share one joint are added up."""

    world: carom.World
    start: carom.State
    bars: list[Bar]
    closing: list[Joint]
    sums: np.ndarray
    spring: float | None = None  # length [m] without load, of a spring from the first closing joint to the wall

    def by_hand(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        loads = []
        if self.spring is not None:
            joint = self.closing[0]
            away = np.asarray(WALL) - place(self.bars, q, joint.first, joint.point)
            length = float(np.hypot(*away))
            loads = [(joint.first, joint.point, STIFFNESS * (length - self.spring) * away / length)]
        return solved(self.bars, self.closing, q, v, loads=loads)


def four_bar() -> Machine:
    arm = carom.Arm([carom.Rod(length=x, mass=1.0) for x in (1.0, 2.0, 1.5)])
    world = carom.World(arm, constraints=carom.Pin("link3.tip", (2.0, 0.0)))
    bars = [rod(1.0), rod(2.0, 1.0, 0, (1.0, 0.0)), rod(1.5, 1.0, 1, (2.0, 0.0))]
    start = world.assembled(world.state([1.2, 0.3, -1.2], [2.0, 0.0, 0.0]))
    return Machine(world, start, bars, [Joint(2, (1.5, 0.0))], np.eye(2))


def slider_crank() -> Machine:
    arm = carom.Arm([carom.Rod(length=1.0, mass=1.0), carom.Rod(length=3.0, mass=1.0)])
    arm = arm.weld("link2", carom.PointMass(mass=2.0))
    world = carom.World(arm, constraints=carom.OnSurface("link2.tip", carom.Plane(height=0.0)))
    bars = [rod(1.0), Bar(3.0, 2.25, 2.5, 0, (1.0, 0.0))]  # rod and slider together
    start = world.assembled(world.state([0.9, -0.3], [2.0, 0.0]))
    return Machine(world, start, bars, [Joint(1, (3.0, 0.0), along=RAIL)], np.eye(1))


def scissor_lift() -> Machine:
    """Bars of 2 m, crossed and pinned in their middles, two stages; the left foot is a pivot, the right one rolls."""
    middle, bar = (1.0, 0.0), carom.Rod(length=2.0, mass=1.0)
    crossed = carom.Body(mass=1.0, inertia=1.0 / 3.0, com=(0.0, 0.0))  # hung at its middle
    lift = carom.Mechanism(
        [
            carom.Link(bar, name="a", parent=carom.BASE),
            carom.Link(crossed, name="b", parent="a", at=middle, sites={"foot": (1.0, 0.0), "head": (-1.0, 0.0)}),
            carom.Link(bar, name="c", parent="b", at=(-1.0, 0.0), sites={"c.middle": middle}),
            carom.Link(bar, name="d", parent="a", sites={"d.middle": middle}),
        ]
    )
    angle = np.deg2rad(50.0)
    unloaded = WALL[0] - 2.0 * np.cos(angle)
    pin = carom.Pin("c.middle", "d.middle")
    world = carom.World(
        lift,
        constraints=[carom.OnSurface("foot", carom.Plane(height=0.0)), pin, pin],
        elements=carom.Spring(lift.site("foot"), to=WALL, stiffness=STIFFNESS, length=unloaded),
    )
    bars = [rod(2.0), Bar(1.0, 1.0 / 3.0, 0.0, 0, middle), rod(2.0, 1.0, 1, (-1.0, 0.0)), rod(2.0, 1.0, 0, (2.0, 0.0))]
    closing = [Joint(1, (1.0, 0.0), along=RAIL), Joint(2, middle, 3, middle)]
    start = world.assembled(world.state([angle, -angle, angle, np.pi - angle]))
    sums = np.array([[1.0, 0, 0, 0, 0], [0, 1.0, 0, 1.0, 0], [0, 0, 1.0, 0, 1.0]])
    return Machine(world, start, bars, closing, sums, unloaded)


MACHINES = {"four-bar": four_bar, "slider-crank": slider_crank, "scissor lift": scissor_lift}


@functools.cache
def run(name: str) -> tuple[Machine, Any]:
    machine = MACHINES[name]()
    return machine, carom.simulate(machine.world, machine.start, until=UNTIL, settings=TIGHT)


@pytest.mark.parametrize("name", MACHINES)
def test_energy_stays_for_ten_seconds(name: str) -> None:
    machine, result = run(name)
    assert np.ptp(result.q[:, 0]) > 0.2  # it moves
    assert result.energy.max_error_percent < 1e-6
    end = jnp.asarray(result.q[-1])
    gaps = [np.abs(c.error(machine.world.mechanism, end)) for c in machine.world.constraints]
    assert np.max(np.concatenate(gaps)) < 1e-12


@pytest.mark.parametrize("name", MACHINES)
def test_forces_are_those_of_the_bodies_one_by_one(name: str) -> None:
    machine, result = run(name)
    times = np.linspace(0.0, UNTIL, 40)
    states = result.at(times)
    forces = np.concatenate(list(result.constraint_forces(times).values()), axis=1) @ machine.sums.T
    expected = np.array([machine.by_hand(q, v)[1] for q, v in zip(states.q, states.v, strict=True)])
    np.testing.assert_allclose(forces, expected, atol=1e-9 * np.max(np.abs(expected)))


@pytest.mark.parametrize("name", MACHINES)
def test_accelerations_are_those_of_the_bodies_one_by_one(name: str) -> None:
    machine, result = run(name)
    times, h = np.linspace(0.1, UNTIL - 0.1, 20), 1e-3
    near = [result.at(times + k * h).v for k in (-2, -1, 1, 2)]
    found = (near[0] - 8.0 * near[1] + 8.0 * near[2] - near[3]) / (12.0 * h)
    states = result.at(times)
    expected = np.array([machine.by_hand(q, v)[0] for q, v in zip(states.q, states.v, strict=True)])
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.max(np.abs(expected)))


# -- MuJoCo ------------------------------------------------------------------------------------------------------------


def in_mujoco(lengths: list[float], point: float, tip_mass: float) -> Any:
    """A chain of rods of mass 1, with a mass at the last tip and a site there."""

    def body(k: int) -> str:
        if k == len(lengths):
            return ""
        x, last = lengths[k], k == len(lengths) - 1
        bob = f'<body pos="{x} 0 0"><inertial pos="0 0 0" mass="{tip_mass}" diaginertia="0 0 0"/></body>'
        inertial = f'<inertial pos="{0.5 * x} 0 0" mass="1" diaginertia="{" ".join([repr(x * x / 12.0)] * 3)}"/>'
        site = f'<site name="end" pos="{point} 0 0"/>' if last else ""
        inside = site + (bob if last and tip_mass else "") + body(k + 1)
        at = 0.0 if k == 0 else lengths[k - 1]
        return f'<body pos="{at} 0 0"><joint axis="0 0 1"/>{inertial}{inside}</body>'

    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><compiler angle="radian" boundmass="0" boundinertia="0" balanceinertia="false"/>
        <option gravity="0 -9.81 0"><flag contact="disable" constraint="disable"/></option>
        <worldbody>{body(0)}</worldbody></mujoco>"""
    )


@pytest.mark.parametrize(
    ("name", "lengths", "bob", "rows"),
    [("four-bar", [1.0, 2.0, 1.5], 0.0, [0, 1]), ("slider-crank", [1.0, 3.0], 2.0, [1])],
)
def test_forces_from_matrices_of_mujoco(name: str, lengths: list[float], bob: float, rows: list[int]) -> None:
    """MuJoCo's own constraints are soft; its mass matrix, bias and Jacobian are exact, and NumPy solves with them."""
    _, result = run(name)
    model = in_mujoco(lengths, lengths[-1], bob)
    data, n = mujoco.MjData(model), len(lengths)
    times = np.linspace(0.0, UNTIL, 20)
    states = result.at(times)
    ours = np.concatenate(list(result.constraint_forces(times).values()), axis=1)
    for q, v, force in zip(states.q, states.v, ours, strict=True):
        data.qpos[:], data.qvel[:] = np.diff(q, prepend=0.0), np.diff(v, prepend=0.0)
        mujoco.mj_forward(model, data)
        mass, jacobian, change = np.zeros((n, n)), np.zeros((3, n)), np.zeros((3, n))
        for k in range(n):
            mujoco.mj_mulM(model, data, mass[k], np.eye(n)[k])
        end = model.site("end").id
        mujoco.mj_jacSite(model, data, jacobian, None, end)
        mujoco.mj_jacDot(model, data, change, None, data.site_xpos[end], int(model.site_bodyid[end]))
        a, drift = jacobian[rows], change[rows] @ data.qvel
        free = np.linalg.solve(mass, -data.qfrc_bias)
        weights = a @ np.linalg.solve(mass, a.T)
        expected = np.linalg.solve(weights, -(a @ free + drift))
        np.testing.assert_allclose(force, expected, atol=1e-9 * max(1.0, float(np.max(np.abs(expected)))))
