"""What holds for every law of the catalogue in a vmap and in a run.

A spinning disk (for impulsive laws a tilted rod) is thrown obliquely on a floor, and so is its mirror image. Each world
is compiled once and runs from four states.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact import AbstractDry, catalogue
from carom.contact.impact._path import Weights, path
from carom.result.result import Result

from .catalogued import compiled, every_impact, every_law, law_of

# -- in many lanes -----------------------------------------------------------------------------------------------------


@every_law
def test_in_a_vmap_every_lane_is_alone(name: str) -> None:
    law, kind = (
        law_of(name),
        next(k for k, entries in catalogue.kinds().items() if name in [e.card.name for e in entries]),
    )
    lanes = jnp.linspace(0.1, 1.0, 5)
    if kind == "normal":
        function = lambda x: law.force(0, law.touch(x), 1e-5 * x, 0.5 * x)  # noqa: E731
    elif kind == "friction":
        function = lambda x: law.flow((1e-6 * x,) * len(law.states), x, 0.01 * x - 0.005)  # noqa: E731
    else:
        function = lambda x: law.end(path(Weights(1.0, 0.4, 2.0), -x, x - 0.5, 0.5, 0.6), 0.7 * x)  # noqa: E731
    together, alone = compiled(jax.vmap(function))(lanes), compiled(function)
    for i, x in enumerate(lanes):
        for many, one in zip(jax.tree.leaves(together), jax.tree.leaves(alone(x)), strict=True):
            np.testing.assert_allclose(many[i], one, rtol=1e-13)
    np.testing.assert_allclose(jax.tree.leaves(function(lanes[1])), jax.tree.leaves(alone(lanes[1])), rtol=1e-13)


# -- in a run ----------------------------------------------------------------------------------------------------------

RADIUS = 0.1
FLOOR = carom.Plane(height=0.0)
DISK = carom.Mechanism([carom.Disk(radius=RADIUS, mass=1.0)], base=carom.Free())
ROD = carom.Mechanism(
    [carom.Link(carom.Body(mass=1.0, inertia=0.02, com=(0.0, 0.0)), sites={"foot": (0.3, 0.0)})], base=carom.Free()
)


def disk_with(normal: Any, friction: Any) -> carom.World:
    floor = carom.Contact(DISK.tip, FLOOR, normal, friction, radius=RADIUS, name="floor")
    return carom.World(DISK, contacts=floor, gravity=9.81)


def world_of(name: str) -> carom.World:
    """The law in a world of its own."""
    law, kinds = law_of(name), catalogue.kinds()
    if name in [e.card.name for e in kinds["impact"]]:
        foot = carom.Contact(ROD.site("foot"), FLOOR, law, carom.Coulomb(0.3, 0.4), name="floor")
        return carom.World(ROD, contacts=foot, gravity=9.81)
    if name in [e.card.name for e in kinds["friction"]]:
        return disk_with(carom.Hertz(1e7), law)
    return disk_with(law, carom.SmoothCoulomb(0.3, 0.02))


# Height [m] and angle [rad] of the start; throws: velocity of the centre [m/s] and spin [rad/s]. In the first throw the
# contact stops sliding within its blow, in the second it slides all through.
OF_DISK = (RADIUS + 1e-3, 0.0), ((0.2, -1.0, 1.0), (2.5, -0.7, 20.0))
OF_ROD = (0.26, -1.0), ((0.3, -1.0, -2.0), (2.5, -0.7, -1.0))


def throws(world: carom.World) -> Any:
    return OF_ROD if world.mechanism is ROD else OF_DISK


@functools.cache
def runs(name: str) -> list[tuple[Result, Result]]:
    """Every throw with its mirror image."""
    world = world_of(name)
    (height, angle), starts = throws(world)

    def run(side: float, x: float, y: float, spin: float) -> Result:
        turned = angle if side > 0 or angle == 0.0 else -np.pi - angle
        bases = {"base": (side * 0.2, height), "base_velocity": (side * x, y)}
        start = world.state(angles=[turned], rates=[side * spin], **bases)
        result = carom.simulate(world, start, until=0.03, settings=carom.Settings(rtol=1e-10, atol=1e-12))
        assert any(e.exit in ("touch", "strike floor") for e in result.events)
        return result

    return [(run(1.0, *start), run(-1.0, *start)) for start in starts]


@pytest.mark.slow
@every_law
def test_a_mirror_image_gives_the_mirror_image(name: str) -> None:
    for right, left in runs(name):
        turn = np.round((right.q[-1][2] + left.q[-1][2]) / np.pi) * np.pi  # a mirrored rod points the other way
        np.testing.assert_allclose(left.q[-1], right.q[-1] * [-1, 1, -1] + [0, 0, turn], rtol=0, atol=1e-9)
        np.testing.assert_allclose(left.v[-1], right.v[-1] * [-1, 1, -1], rtol=0, atol=1e-9)
        swapped = {"right": "left", "left": "right"}
        names = [[e.exit for e in run.events] for run in (right, left)]
        assert names[1] == [" ".join(swapped.get(w, w) for w in e.split()) for e in names[0]]


@every_law
def test_the_ledger_closes(name: str) -> None:
    for run in (run for pair in runs(name) for run in pair):
        assert run.energy.max_error_percent <= 1e-6


@every_law
def test_friction_never_gains_energy_in_a_run(name: str) -> None:
    """Between any two instants; a bristle may give back what it holds."""
    for run, _ in runs(name):
        (work,) = [w for channel, w in run.energy.works.items() if channel.endswith("friction")]
        gain = np.max(work - np.minimum.accumulate(work))
        assert gain <= 1e-9 * run.energy.in_play + given_back(run)


def given_back(run: Result) -> float:
    """Energy that friction may return: of bristles, what they can hold; within a band of stick, that of its speed."""
    friction = getattr(run.world.automata[0], "friction", None)
    if friction is not None and friction.states:
        bent = tuple(np.max(np.abs(z)) for z in run.steps.y.extra[0])
        force = friction.flow(bent, max(impact.max_normal_force for impact in run.impacts), 0.0)[0]
        return abs(float(force)) * sum(bent)
    if isinstance(friction, AbstractDry):
        return 0.5 * max(float(friction.stops_at), 0.0) ** 2
    return 0.0


@every_impact
def test_a_blow_in_a_run_takes_energy(name: str) -> None:
    for run, _ in runs(name):
        assert run.energy.works["rigid contacts: blows"][-1] <= 0.0
        (impact, *_) = run.impacts
        assert impact.normal_impulse > 0.0
        assert abs(impact.tangential_impulse) <= 0.4 * impact.normal_impulse * (1.0 + 1e-9)
        assert impact.normal_velocity_after >= -1e-12


# -- derivatives of a run ----------------------------------------------------------------------------------------------

# One for each kind of law; a reverse pass takes a quarter of a minute to compile.
WORLDS = {
    "hertz and coulomb, which stops": lambda: disk_with(law_of("hertz"), law_of("coulomb")),
    "stronge and coulomb": lambda: world_of("stronge"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", WORLDS)
def test_derivatives_through_a_blow_agree_both_ways(kind: str) -> None:
    """Of the velocities after it, from those before it."""
    world = WORLDS[kind]()
    (height, angle), ((*velocity,), _) = throws(world)
    q, v = jnp.array([0.2, height, angle]), jnp.array(velocity)

    def end(v: Any, reverse_steps: int | None = None) -> Any:
        settings = carom.Settings(rtol=1e-9, ledger=False)
        end = carom.final_state(world, carom.State(q, v), 0.03, settings=settings, reverse_steps=reverse_steps)
        return jnp.stack(end.y.v)

    push = compiled(lambda v, dv: jax.jvp(end, (v,), (dv,))[1])
    ahead = np.stack([push(v, dv) for dv in jnp.eye(3)], axis=1)
    pull = compiled(lambda v, w: jax.grad(lambda v: w @ end(v, 1024))(v))
    behind = np.stack([pull(v, w) for w in jnp.eye(3)])
    assert np.all(np.isfinite(ahead)) and np.all(np.isfinite(behind))
    assert np.max(np.abs(ahead - np.eye(3))) > 0.5  # the blow is in it
    # Steps are chosen for the motion, not for its derivative: the last bits, which differ between the two programs,
    # choose other steps, and at Hertz's touch-down derivatives feel them.
    np.testing.assert_allclose(ahead, behind, rtol=0, atol=1e-6 * np.max(np.abs(ahead)))
