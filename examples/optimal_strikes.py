"""Three motions through strikes that nobody ordered.

A ball bounces to a height, a hopper jumps onto a step, an arm gives a puck its momentum with the least torque.

    .venv/bin/python examples/optimal_strikes.py

       o  |                 O                             b
       |  | u               |\\        ____              /  \\        puck
    ___o__v___          ____|/_______|               base    o===>  [ ]--->

Each is one call of `carom.ilqr`; when, how often and with which foot it strikes is left to the motion. Beside it stands
what the same cost reaches by single shooting (SciPy's L-BFGS-B over the inputs) from the same guesses: with the exact
gradient, and with the gradient that forgets that the instants of strikes move, which is what a simulator's derivatives
without saltation are. Printed, too, is how far the exact gradient is from differences of whole rollouts.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.optimize

import carom
from carom.hybrid import _landing, outcome
from carom.optimal._backward import Local, gradient_of
from carom.optimal.cost import Costs
from carom.optimal.stepping import _linear_along

G = 9.81


@dataclasses.dataclass(frozen=True)
class Task:
    """What one of the motions is asked for."""

    name: str
    stepping: carom.Stepping
    start: carom.State
    running: Callable[..., Any]
    terminal: Callable[..., Any]
    guesses: np.ndarray  # (many, steps, inputs)
    limits: tuple[Any, Any]
    told: Callable[[carom.OptimalPath], str]

    @property
    def costs(self) -> Costs:
        return Costs(self.running, self.terminal, self.stepping.dt)

    @property
    def steps(self) -> int:
        return len(self.guesses[0])

    def cost(self, u: np.ndarray) -> float:
        """What inputs cost; a motion that ends early costs infinitely much."""
        rolled = self.stepping.rollout(self.stepping.begin(self.start), u, limits=self.limits)
        return self.costs.whole(rolled.x, rolled.u) if rolled.outcome in outcome.GOOD else np.inf

    def solved(self, **options: Any) -> carom.OptimalPath:
        """The best path from the guesses."""
        given = {"guesses": self.guesses, "limits": self.limits} | options
        return carom.ilqr(self.stepping, self.start, self.running, self.terminal, steps=self.steps, **given)


def _held(many: int, steps: int, most: float, pieces: int = 5, seed: int = 0) -> np.ndarray:
    """Nothing, and forces that are held over a few pieces of the time: bounces in many orders."""
    drawn = np.random.default_rng(seed).uniform(-most, most, (many, pieces, 1))
    drawn[0] = 0.0
    return np.repeat(drawn, -(-steps // pieces), axis=1)[:, :steps]


def ball(height: float = 0.6, floor: float = 0.0) -> Task:
    """A ball of 1 kg falls from 0.5 m, and shall be at rest at `height` after 1.5 s; at most 8 N push or pull it."""
    made = carom.Mechanism([carom.Link(carom.PointMass(1.0), name="ball", joint=carom.Slider((0.0, 1.0)))])
    ground = carom.Contact("ball.tip", carom.Plane(floor), carom.Newton(0.7), name="floor")
    world = carom.World(made, contacts=ground, gravity=G)
    return Task(
        "ball",
        carom.Stepping(world, "ball", 0.05),
        world.state(slides=[floor + 0.5]),
        carom.QuadraticCost(u=[0.01]),
        carom.QuadraticCost(x=[200.0, 2.0], target=[floor + height, 0.0]),
        _held(6, 30, 6.0),
        (-8.0, 8.0),
        lambda path: f"{path.events} strikes, ends at {path.x[-1, 0] - floor:.4f} m, {path.x[-1, 1]:+.4f} m/s",
    )


STEP, PLACE = 0.2, 0.5  # [m] height of the step, and where on it the hopper shall stand
THIGH, LEG, HIP = -np.pi / 2, 0.35, 0.7  # leg downwards; length of each half; height of the body when it stands


def jump() -> Task:
    """A hopper of 11 kg falls 5 cm, pushes itself off the floor, and shall stand on a step of 0.2 m after 1 s."""
    body = carom.Link(carom.Body(mass=10.0, inertia=2.5), name="body")
    half = carom.Body(mass=0.5, inertia=0.02, com=(0.2, 0.0), tip=(LEG, 0.0))
    thigh = carom.Link(half, name="thigh", parent="body", at=(0.0, 0.0), joint=carom.Joint(effort_limit=100.0))
    spring = carom.Slider((1.0, 0.0), stiffness=3000.0, damping=30.0, effort_limit=500.0)
    robot = carom.Mechanism(
        [body, thigh, carom.Link(half, name="shin", parent="thigh", joint=spring)], base=carom.Free()
    )
    step = carom.Block([(0.25, -0.5), (1.5, -0.5), (1.5, STEP), (0.25, STEP)], 0.01)
    grounds = {"floor": carom.Plane(0.0), "step": step}
    feet = [
        carom.Contact("shin.tip", ground, carom.Newton(0.0), carom.Coulomb(0.9), radius=0.02, name=name)
        for name, ground in grounds.items()
    ]
    world = carom.World(robot, contacts=feet, gravity=G)
    stepping = carom.Stepping(
        world, ("thigh", "shin"), 0.02, settings=carom.Settings(rtol=1e-7, atol=1e-9, ledger=False)
    )
    start = world.state(angles=[0.0, THIGH], slides=[0.0], base=(0.0, HIP + 0.07))
    begun = stepping.x(stepping.begin(start))
    wanted = begun.copy()
    wanted[:2] = PLACE, STEP + HIP + 0.02
    push = np.zeros((1, 40, 2))  # it lands after four steps: six of thrust, with the hip leaning backwards
    push[0, 4:10] = -8.0, 350.0
    weights = [100.0, 100.0, 20.0, 20.0, 20.0, 2.0, 2.0, 1.0, 1.0, 1.0]
    return Task(
        "jump",
        stepping,
        start,
        carom.QuadraticCost(u=[2e-4, 2e-5]),
        carom.QuadraticCost(x=weights, target=wanted),
        push,
        ([-100.0, -500.0], [100.0, 500.0]),
        lambda path: (
            f"{path.events} events, body ends at ({path.x[-1, 0]:.3f}, {path.x[-1, 1]:.3f}) m, {path.x[-1, 6]:+.3f} m/s"
        ),
    )


MOMENTUM, PUCK = 1.5, 0.8  # [N s] that the puck shall have; its mass [kg]
ARRIVES = 0.3  # [m] where it shall be at the end
TORQUE = 4.0  # [N m] unit of torque in the cost


def strike(mirrored: bool = False) -> Task:
    """Two links of 0.5 m and 1 kg strike a puck at rest: 1.5 N s, in time, with the least peak torque."""
    side = -1.0 if mirrored else 1.0
    arm = carom.Arm([carom.Rod(length=0.5, mass=1.0), carom.Rod(length=0.5, mass=1.0)])
    rail = carom.Mechanism(
        [carom.Link(carom.PointMass(PUCK), name="puck", joint=carom.Slider((1.0, 0.0)))], base=carom.Fixed(0.0, -0.6)
    )
    both = carom.side_by_side(arm=arm, table=rail)
    touch = carom.Contact(
        "arm.link2.tip", "table.puck.tip", carom.Newton(0.5), radius=0.03, other_radius=0.05, name="blow"
    )
    world = carom.World(both, contacts=touch, gravity=0.0)
    stepping = carom.Stepping(world, ("arm.link1", "arm.link2"), 0.02)
    first, second = -np.pi / 2 - 1.2, -np.pi / 2 + 0.2
    angles = [first, second] if not mirrored else [-np.pi - first, -np.pi - second]
    start = world.state(angles=angles, slides=[side * 0.12])

    def running(x: Any, u: Any) -> Any:
        return jnp.sum((u / TORQUE) ** 8)

    def terminal(x: Any) -> Any:
        return 50.0 * (side * PUCK * x[5] - MOMENTUM) ** 2 + 500.0 * (side * x[2] - ARRIVES) ** 2

    return Task(
        "strike",
        stepping,
        start,
        running,
        terminal,
        np.tile(side * np.array([3.0, 1.0]), (1, 25, 1)),
        (-12.0, 12.0),
        lambda path: (
            f"{path.events} strikes, {side * PUCK * path.x[-1, 5]:.4f} N s, "
            f"peak torque {np.max(np.abs(path.u)):.3f} N m"
        ),
    )


# -- beside it: shooting -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def instants_held() -> Iterator[None]:
    """Programs that are made here take the derivative of a jump, and none of the instant at which it comes."""
    _landing._moved.defjvp(lambda given, change: (given[0], change[0]))
    try:
        yield
    finally:
        _landing._moved.defjvp(_landing._moving)


def linear_with_instants_held(*given: Any) -> Any:
    """Of the steps of a rollout: A and B without saltation."""
    with instants_held():
        return _linear_along(*given)


def gradient(task: Task, rolled: carom.optimal.Rollout, saltation: bool = True) -> np.ndarray:
    """dJ/du, (N, inputs)."""
    s = task.stepping
    if saltation:
        A, B = s.linear_along(rolled)
    else:
        import jax

        before = jax.tree.map(lambda leaf: leaf[:-1], rolled.carries)
        static = (s.dt, s.memories)
        both = np.asarray(s._run(linear_with_instants_held, static, s.world, s.integration, before, rolled.u))
        A, B = both[:, :, : s.size], both[:, :, s.size :]
    lx, lu, lxx, luu, lux, ex, exx = task.costs.bent(rolled.x, rolled.u)
    return gradient_of(Local(A, B, lx, lu, lxx, luu, lux, ex, exx))


@dataclasses.dataclass
class Shot:
    """The best of a search by shooting."""

    cost: float
    u: np.ndarray
    evaluations: int = 0


def shooting(task: Task, saltation: bool, evaluations: int = 400) -> Shot:
    """Single shooting from every guess, with so many evaluations each."""
    s, begun = task.stepping, task.stepping.begin(task.start)
    shape = task.guesses[0].shape
    low, high = (np.broadcast_to(np.asarray(b, dtype=float), shape).ravel() for b in task.limits)
    best = Shot(np.inf, task.guesses[0])

    def look(z: np.ndarray) -> tuple[float, np.ndarray]:
        rolled = s.rollout(begun, z.reshape(shape), limits=task.limits)
        cost = task.costs.whole(rolled.x, rolled.u) if rolled.outcome in outcome.GOOD else np.inf
        best.evaluations += 1
        if not np.isfinite(cost):
            return 1e6, np.zeros_like(z)
        if cost < best.cost:
            best.cost, best.u = cost, rolled.u
        return cost, gradient(task, rolled, saltation).ravel()

    options = {"maxfun": evaluations, "maxiter": evaluations, "ftol": 1e-12, "gtol": 1e-10}
    bounds = list(zip(low, high, strict=True))
    for guess in task.guesses:
        scipy.optimize.minimize(look, guess.ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return best


def gradient_error(task: Task, u: np.ndarray, size: float = 1e-5, saltation: bool = True) -> float:
    """Largest difference of the gradient from central differences of rollouts, relative to the largest of them."""
    begun = task.stepping.begin(task.start)
    exact = gradient(task, task.stepping.rollout(begun, u), saltation)
    found = np.zeros_like(u)
    for k in np.ndindex(u.shape):
        d = np.zeros_like(u)
        d[k] = size
        up, down = (task.stepping.rollout(begun, u + sign * d) for sign in (1.0, -1.0))
        found[k] = (task.costs.whole(up.x, up.u) - task.costs.whole(down.x, down.u)) / (2.0 * size)
    return float(np.max(np.abs(found - exact)) / np.max(np.abs(found)))


TASKS = (ball, jump, strike)


def main() -> None:
    for make in TASKS:
        task = make()
        task.solved(iterations=1)  # compiles
        began = time.perf_counter()
        path = task.solved()
        took = time.perf_counter() - began
        print(f"\n{task.name}: {task.told(path)}\n{path}\n  {took:.2f} s")
        print(f"  gradient beside differences, at the guess: {gradient_error(task, task.guesses[0]):.1e}", end="")
        print(f"; without saltation: {gradient_error(task, task.guesses[0], saltation=False):.1e}")
        for words, saltation in (("with saltation", True), ("without", False)):
            began = time.perf_counter()
            shot = shooting(task, saltation)
            spent = f"{shot.evaluations} evaluations, {time.perf_counter() - began:.2f} s"
            print(f"  shooting {words:15} {shot.cost:.6g}   {spent}")


if __name__ == "__main__":
    main()
