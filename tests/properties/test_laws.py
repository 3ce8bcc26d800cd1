"""What holds for every law of the catalogue, whatever its formula: a law that joins the catalogue is tested here as is.

Laws by themselves under numbers that Hypothesis draws; and in a run, a spinning disk (for impulsive laws a tilted rod)
thrown obliquely on a floor, and its mirror image. Each world is compiled once and runs from four states.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carom
from carom.contact import AbstractDry, achieved_restitution, catalogue, integrated_blow
from carom.contact.catalogue import FRICTION_LAWS, IMPACT_LAWS, NORMAL_LAWS, Entry
from carom.contact.impact.path import Weights, path
from carom.hybrid.run import compiler_options
from carom.result.result import Result


def each(*kinds: tuple[Entry, ...]) -> Any:
    names = [entry.card.name for kind in kinds for entry in kind]
    return pytest.mark.parametrize("name", names)


every_normal, every_friction, every_impact = each(NORMAL_LAWS), each(FRICTION_LAWS), each(IMPACT_LAWS)
every_law = each(NORMAL_LAWS, FRICTION_LAWS, IMPACT_LAWS)


@functools.cache
def law_of(name: str) -> Any:
    return catalogue.find(name).example()


def says(name: str, words: str) -> bool:
    """Does the law's card say so?"""
    card = catalogue.find(name).card
    return words in f"{card.formula} {card.choose}".lower()


def compiled(function: Callable[..., Any]) -> Any:
    return jax.jit(function, compiler_options=compiler_options())


def decades(low: int, high: int) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda x: 10.0**x)


# Speeds over ten decades, rest included.
speeds = st.one_of(st.just(0.0), st.tuples(st.sampled_from([-1.0, 1.0]), decades(-8, 2)).map(lambda x: x[0] * x[1]))

# -- normal laws -------------------------------------------------------------------------------------------------------


@functools.cache
def stage(name: str) -> Any:
    """Force, phase and memory after one moment of a blow, at which exits whose guard is not negative have fired."""
    law = law_of(name)

    @compiled
    def at(phase: Any, memory: Any, d: Any, rate: Any) -> Any:
        fired = tuple(jnp.asarray(g >= 0.0) for g in law.guard(phase, memory, d, rate))
        after = law.jump(fired, phase, memory, d)
        return law.force(*after, d, rate), *after

    return at


@functools.cache
def touched(name: str) -> Any:
    law = law_of(name)
    return compiled(lambda rate: (jnp.asarray(0), jax.tree.map(lambda x: jnp.asarray(x, float), law.touch(rate))))


moments = st.lists(st.tuples(st.one_of(st.just(0.0), decades(-10, -3)), st.floats(-1.5, 1.0)), min_size=2, max_size=6)


@every_normal
@given(speed=decades(-3, 1), course=moments)
def test_a_normal_force_never_pulls(name: str, speed: float, course: list[tuple[float, float]]) -> None:
    """At any depth and rate, in any phase and with any memory that a blow can lead to."""
    phase, memory = touched(name)(speed)
    for d, share in course:
        force, phase, memory = stage(name)(phase, memory, d, share * speed)
        assert np.isfinite(force)
        assert force >= 0.0 or says(name, "adhesive")


@every_normal
@settings(max_examples=4)  # of a quarter of a second
@given(speed=decades(-2, 1), mass=decades(-2, 2))
def test_compression_and_release_never_gain_energy(name: str, speed: float, mass: float) -> None:
    law = law_of(name)
    blow = integrated_blow(law, speed, mass)
    assert 0.0 <= blow.speed <= speed * (1.0 + 1e-10)
    assert achieved_restitution(law, speed, mass) == pytest.approx(blow.speed / speed, abs=1e-9)


# -- friction laws -----------------------------------------------------------------------------------------------------


@functools.cache
def flow(name: str) -> Any:
    """Force and rates of the states."""
    return compiled(law_of(name).flow)


def stateless(name: str) -> bool:
    return not law_of(name).states


def held(name: str, numbers: list[float]) -> tuple[float, ...]:
    """As many states as the law has."""
    return tuple(numbers[: len(law_of(name).states)])


@every_friction
@given(normal=decades(-3, 6), sliding=speeds)
def test_friction_opposes_sliding(name: str, normal: float, sliding: float) -> None:
    """The force in steady sliding; and the one in any sliding, for laws without states of their own."""
    law = law_of(name)
    forces = [law.force(normal, sliding)] + ([flow(name)((), normal, sliding)[0]] if stateless(name) else [])
    for force in forces:
        assert np.isfinite(force)
        assert force * sliding <= 0.0
    if isinstance(law, AbstractDry):  # while it sticks nothing slides: no power; but it must be able to stick
        assert law.coefficient(abs(sliding)) >= 0.0 and law.drag >= 0.0
        assert law.limit >= law.coefficient(0.0)


@every_friction
@given(normal=decades(-3, 6), sliding=speeds, states=st.lists(st.floats(-1e-3, 1e-3), min_size=4, max_size=4))
def test_friction_is_odd(name: str, normal: float, sliding: float, states: list[float]) -> None:
    there = flow(name)(held(name, states), normal, sliding)
    back = flow(name)(held(name, [-x for x in states]), normal, -sliding)
    for a, b in zip(jax.tree.leaves(there), jax.tree.leaves(back), strict=True):
        assert a == -b


@functools.cache
def dragged(name: str) -> Any:
    """Work done by friction [J], instant by instant, on a body that is dragged to and fro for a second.

    Its velocity is a sum of three sines. Runge-Kutta of order 4, the work as one more state.
    """
    law, count = law_of(name), 20_000

    def velocity(t: Any, sines: Any) -> Any:
        return jnp.sum(sines[0] * jnp.sin(sines[1] * t + sines[2]))

    @compiled
    def run(normal: Any, sines: Any) -> Any:
        def rate(t: Any, y: Any) -> Any:
            v = velocity(t, sines)
            force, rates = law.flow(y[1:], normal, v)
            return (force * v, *rates)

        def step(y: Any, t: Any) -> Any:
            h = 1.0 / count
            add = lambda k, share: tuple(a + share * h * b for a, b in zip(y, k, strict=True))  # noqa: E731
            a = rate(t, y)
            b = rate(t + h / 2, add(a, 0.5))
            c = rate(t + h / 2, add(b, 0.5))
            d = rate(t + h, add(c, 1.0))
            new = tuple(x + h / 6 * (k + 2 * m + 2 * n + o) for x, k, m, n, o in zip(y, a, b, c, d, strict=True))
            return new, new[0]

        start = (jnp.asarray(0.0),) * (1 + len(law.states))
        times = jnp.arange(count) / count
        return jax.lax.scan(step, start, times)[1], jnp.mean(jnp.abs(jax.vmap(lambda t: velocity(t, sines))(times)))

    return run


three = st.lists(st.floats(-0.02, 0.02).map(lambda x: round(x, 6)), min_size=3, max_size=3)
pitches = st.lists(st.floats(1.0, 60.0), min_size=3, max_size=3)
begins = st.lists(st.floats(0.0, 6.0), min_size=3, max_size=3)


@every_friction
@given(normal=decades(-1, 3), sizes=three, pitch=pitches, begin=begins)
def test_friction_never_supplies_energy(name: str, normal: float, sizes: Any, pitch: Any, begin: Any) -> None:
    """Under a steady normal force, a bristle that starts relaxed never gives back more than it took."""
    work, distance = dragged(name)(normal, jnp.array([sizes, pitch, begin]))
    assert np.all(np.isfinite(work))
    assert np.max(work) <= 1e-7 * normal * float(distance)


# -- impulsive laws ----------------------------------------------------------------------------------------------------


@functools.cache
def blow(name: str) -> Any:
    """Impulses P_n and P_t, velocities u_n and u_t after the blow, and the change of energy."""
    law = law_of(name)

    @compiled
    def strike(w: Weights, approach: Any, sliding: Any, mu: Any, limit: Any, e: Any) -> Any:
        way = path(w, approach, sliding, mu, limit)
        p = law.end(way, e)
        q = way.friction(p)
        change = w.nn * p + w.nt * q, w.nt * p + w.tt * q
        energy = p * (approach + 0.5 * change[0]) + q * (sliding + 0.5 * change[1])
        return p, q, approach + change[0], sliding + change[1], energy

    return strike


@st.composite
def strikes(draw: st.DrawFn) -> tuple[Weights, float, float, float, float]:
    """Any inertia seen from the contact point, any approach, sliding, friction and stiction."""
    nn, tt = draw(decades(-1, 2)), draw(decades(-1, 2))
    nt = draw(st.floats(-0.99, 0.99)) * (nn * tt) ** 0.5
    mu = draw(st.floats(0.0, 2.0))
    sliding = draw(st.one_of(st.just(0.0), st.floats(-10.0, 10.0).map(lambda x: round(x, 6))))
    return Weights(nn, nt, tt), -draw(decades(-2, 1)), sliding, mu, mu * draw(st.floats(1.0, 2.0))


restitutions = st.one_of(st.just(0.0), st.just(1.0), st.floats(0.0, 1.0))


@every_impact
@settings(max_examples=100)
@given(strike=strikes(), e=restitutions)
def test_impulses_push_within_the_friction_cone(name: str, strike: Any, e: float) -> None:
    """And what strikes does not go on into the surface, nor leave it with more energy than it had."""
    w, approach, sliding, _, limit = strike
    p, q, rise, slide, energy = (float(x) for x in blow(name)(*strike, e))
    assert np.all(np.isfinite([p, q, rise, slide, energy]))
    assert p > 0.0
    assert abs(q) <= limit * p * (1.0 + 1e-12)
    assert rise >= -1e-9 * (abs(approach) + abs(sliding))
    there = w.tt * approach**2 - 2.0 * w.nt * approach * sliding + w.nn * sliding**2
    there /= 2.0 * (w.nn * w.tt - w.nt**2)  # all the energy that impulses at this point can take
    assert energy >= -there * (1.0 + 1e-9)
    assert energy <= 1e-9 * there or says(name, "can create energy")


@every_impact
@given(strike=strikes(), e=restitutions)
def test_a_frictionless_blow_gives_back_the_speed_that_is_asked_for(name: str, strike: Any, e: float) -> None:
    w, approach, sliding, _, _ = strike
    _, q, rise, _, energy = (float(x) for x in blow(name)(w, approach, sliding, 0.0, 0.0, e))
    asked = e if "restitution" in {n for n, _ in catalogue.find(name).card.parameters} else float(law_of(name).asked)
    assert q == 0.0
    assert rise == pytest.approx(-asked * approach, abs=1e-9 * abs(approach))
    assert energy == pytest.approx(-(1.0 - asked**2) * approach**2 / (2.0 * w.nn), abs=1e-9 * approach**2 / w.nn)


# -- derivatives at touch-down -----------------------------------------------------------------------------------------


def both_ways(function: Callable[..., Any], *points: tuple[Any, ...]) -> None:
    """Forward and reverse mode of a function of pytrees of numbers: finite, and the same."""
    numbers = tuple(range(len(points[0])))
    ahead, behind = (compiled(mode(function, argnums=numbers)) for mode in (jax.jacfwd, jax.jacrev))
    for point in points:
        point = jax.tree.map(lambda x: jnp.asarray(x, dtype=float), point)
        there, back = jax.tree.leaves(ahead(*point)), jax.tree.leaves(behind(*point))
        assert all(np.isfinite(x) for x in (*there, *back))
        np.testing.assert_allclose(there, back, rtol=1e-10, atol=1e-14 * np.max(np.abs(there)))


def opened(name: str) -> tuple[Any, Callable[[Any], Any]]:
    """The numbers of a law, and the law from its numbers."""
    numbers, rest = eqx.partition(jax.tree.map(jnp.asarray, law_of(name)), eqx.is_inexact_array)
    return numbers, lambda n: eqx.combine(n, rest)


@pytest.mark.slow
@every_normal
def test_derivatives_of_a_normal_force_at_touch_down(name: str) -> None:
    numbers, law = opened(name)

    def forces(n: Any, phase: Any, memory: Any, d: Any, rate: Any) -> Any:
        """At once, and with a memory of earlier moments."""
        at = jnp.round(jax.lax.stop_gradient(phase)).astype(int)
        return law(n).force(0, law(n).touch(jnp.abs(rate)), d, rate), law(n).force(at, memory, d, rate)

    phases, seen = len(law_of(name).phases), []
    phase, memory = touched(name)(1.0)
    for d, rate in ((1e-4, 1.0), (2e-4, -0.1), (1e-4, -0.5)):  # into it, the deepest point, out
        seen.append(memory)
        _, phase, memory = stage(name)(phase, memory, d, rate)
    both_ways(forces, *((numbers, phase, memory, 0.0, -0.5) for phase in range(phases) for memory in seen))


@every_friction
def test_derivatives_of_friction_at_touch_down(name: str) -> None:
    """Neither normal force nor sliding nor deflection: where kinks meet."""
    numbers, law = opened(name)
    z = held(name, [0.0] * 4)
    both_ways(lambda n, z, normal, v: law(n).flow(z, normal, v), (numbers, z, 0.0, 0.0), (numbers, z, 0.0, 0.1))
    if isinstance(law_of(name), AbstractDry):
        both_ways(lambda n, v: law(n).coefficient(jnp.abs(v)) + law(n).limit, (numbers, 0.0), (numbers, 0.1))


@every_impact
def test_derivatives_of_a_blow(name: str) -> None:
    """With and without sliding, friction and restitution: where its pieces meet."""
    numbers, law = opened(name)

    def after(n: Any, w: Any, approach: Any, sliding: Any, mu: Any, e: Any) -> Any:
        way = path(w, approach, sliding, mu, mu)
        p = law(n).end(way, e)
        return p, way.friction(p)

    w = Weights(1.0, 0.4, 2.0)
    both_ways(
        after,
        *((numbers, w, -1.0, slide, mu, e) for slide in (0.0, 0.3, -5.0) for mu in (0.0, 0.5) for e in (0.0, 0.7)),
    )


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
