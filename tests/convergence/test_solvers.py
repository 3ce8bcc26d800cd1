"""Every solver keeps what it claims: its order with and without events, its ledger, its derivatives."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.control import AtHeight
from carom.dynamics._linear import lu_factor
from carom.hybrid import _stage_system as stage_system
from carom.hybrid import outcome
from carom.hybrid._carry import Carry
from carom.hybrid._flow import derivative
from carom.hybrid._loop import advance
from carom.hybrid._run import start
from carom.hybrid.scene import Continuous
from carom.hybrid.settings import Integration
from carom.hybrid.solvers import SOLVERS, Solver

ROD = carom.Rod(length=1.0, mass=1.0)
ARM = carom.Arm([ROD, ROD])


def compiled(function: Callable[..., Any]) -> Any:
    """jax.jit as the engine uses it: long scalar code compiles ten times faster without fusion."""
    return carom.jit(function)


NAMES = sorted(SOLVERS)
EVENTS = 2  # of the world with a schedule, within its second


def guided(schedule: bool, stiffness: float = 4.0, damping: float = 1.0) -> carom.World:
    """Two links driven to a posture; with a schedule, to another one whenever the tip comes up to a height."""
    targets = [[1.0, 2.0], [-1.0, 0.5]] if schedule else [[1.0, 2.0]]
    switches = [AtHeight(ARM.tip, -1.0), AtHeight(ARM.tip, -0.9)] if schedule else []
    control = carom.PostureControl(ARM, targets, kp=[stiffness] * 2, kd=[damping] * 2, ki=[1.0, 0.5], schedule=switches)
    return carom.World(ARM, control=control)


def begin(world: carom.World) -> Carry:
    return start(world, carom.State(jnp.array([-1.2, -0.4]), jnp.array([0.5, -1.0])), 1e-3, True)


def flow(world: carom.World) -> tuple[Callable[[Any, Continuous], Continuous], Continuous]:
    """The world's derivative in its first phase, with a push that depends on time; and a state."""
    c = begin(world)

    def rhs(t: Any, y: Continuous) -> Continuous:
        rate = derivative(world, t, y, c.phases, c.memory)
        return rate._replace(v=(rate.v[0] + jnp.sin(7.0 * t), *rate.v[1:]))

    return rhs, c.y


def numbers(y: Any) -> np.ndarray:
    return np.array([float(x) for x in jax.tree.leaves(y)])


def march(
    solver: Solver, rhs: Callable[[Any, Continuous], Continuous], y: Continuous, until: float
) -> Callable[[int], np.ndarray]:
    """The state after so many equal steps."""

    @compiled
    def run(count: Any) -> Continuous:
        h = until / count

        def one(i: Any, s: tuple[Continuous, Continuous]) -> tuple[Continuous, Continuous]:
            new, _, rate = solver.step(rhs, i * h, s[0], s[1], h)
            return new, rate

        return jax.lax.fori_loop(0, count, one, (y, rhs(jnp.asarray(0.0), y)))[0]

    return lambda count: numbers(run(count))


def with_events(solver: Solver, world: carom.World, until: float) -> Callable[[int], np.ndarray]:
    """The same in the engine's own loop: steps are shorter only where an event or the end is."""
    huge = jnp.asarray(1e9)  # a tolerance that accepts everything
    settings = Integration(solver, huge, huge, jnp.asarray(until), jnp.asarray(10**6), jnp.asarray(10**6))

    @compiled
    def run(count: Any) -> Carry:
        def body(c: Carry) -> Carry:
            return advance(world, settings, c._replace(h=until / count))[0]

        return jax.lax.while_loop(lambda c: c.outcome == outcome.RUNNING, body, begin(world))

    def final(count: int) -> np.ndarray:
        end = run(count)
        assert int(end.outcome) == outcome.FINISHED
        assert int(end.events) == EVENTS
        return numbers(end.y)

    return final


def bouncing() -> carom.World:
    """Two free links, the tip of which falls on a compliant floor."""
    contact = carom.Contact(ARM.tip, carom.Plane(height=-1.5), carom.Hertz(1e7), carom.SmoothCoulomb(0.3, 0.01))
    return carom.World(ARM, contacts=contact)


def stiff() -> carom.World:
    """Strong gains on small inertia: eigenvalues near -5e4 1/s beside a motion that takes a second."""
    return carom.World(ARM, control=carom.PostureControl(ARM, [0.5, 1.0], kp=[1e4, 1e4], kd=[5e3, 5e3]))


@functools.cache
def without_switches(name: str) -> Callable[[int], np.ndarray]:
    """Compiled once: one of the solvers is what the others are compared with."""
    return march(SOLVERS[name], *flow(guided(False)), 1.0)


@functools.cache
def with_switches(name: str) -> Callable[[int], np.ndarray]:
    return with_events(SOLVERS[name], guided(True), 1.0)


# Counts of steps for which a solver of that order is in its asymptotic range and above rounding.
COUNTS = {5: (96, 192, 384), 8: (12, 24, 48)}


def slope(errors: Any) -> float:
    """Order from errors at h, h/2, h/4."""
    return float(np.log2(errors[0] / errors[-1]) / (len(errors) - 1))


@pytest.mark.parametrize("name", NAMES)
class TestOrder:
    def test_without_events(self, name: str) -> None:
        """Motion, integral states, works and a force that depends on time."""
        solver, (_, y) = SOLVERS[name], flow(guided(False))
        exact, final = without_switches("dopri8")(500), without_switches(name)
        errors = np.array([np.abs(final(count) - exact) for count in COUNTS[solver.order]])
        # Tsit5's error of order 5 is so small that the one of order 6 still shows.
        assert solver.order - 0.3 < slope(errors.max(axis=1)) < solver.order + 1.2
        works = len(y.work)
        assert solver.order - 0.3 < slope(errors[:, -works:].max(axis=1)) < solver.order + 1.6

    def test_with_events(self, name: str) -> None:
        """Landing on an event and starting anew cost nothing of the order."""
        solver = SOLVERS[name]
        exact, final = with_switches("dopri8")(500), with_switches(name)
        errors = [np.abs(final(count) - exact).max() for count in COUNTS[solver.order]]
        assert solver.order - 0.4 < slope(errors) < solver.order + 1.2

    def test_of_the_error_estimate(self, name: str) -> None:
        """It is what the step-size controller relies on."""
        solver, (rhs, y) = SOLVERS[name], flow(guided(False))
        t = jnp.asarray(0.0)
        step = compiled(lambda h: solver.step(rhs, t, y, rhs(t, y), h)[1])
        longest, halvings = (0.025, 2) if solver.order > 5 else (0.003, 1)  # asymptotic, above rounding
        errors = [np.abs(numbers(step(longest / 2**k))).max() for k in range(halvings + 1)]
        assert slope(errors) == pytest.approx(solver.order, abs=0.4)


@pytest.mark.parametrize("name", NAMES)
class TestStep:
    def test_of_length_zero(self, name: str) -> None:
        """The engine learns the derivative after a jump by a step of length zero from an unknown derivative."""
        rhs, y = flow(guided(False))
        t, unknown = jnp.asarray(0.3), jax.tree.map(jnp.zeros_like, y)
        new, error, rate = SOLVERS[name].step(rhs, t, y, unknown, jnp.asarray(0.0))
        np.testing.assert_array_equal(numbers(new), numbers(y))
        np.testing.assert_array_equal(numbers(error), 0.0)
        np.testing.assert_allclose(numbers(rate), numbers(rhs(t, y)), rtol=1e-14)

    def test_derivative(self, name: str) -> None:
        """Forward mode through a step against central differences."""
        rhs, y = flow(guided(False))
        direction = jax.tree.map(lambda x: jnp.cos(3.0 * x + 1.0), y)
        t, h = jnp.asarray(0.1), jnp.asarray(0.02)

        def after(s: Any) -> Any:
            at = jax.tree.map(lambda x, d: x + s * d, y, direction)
            return jnp.stack(jax.tree.leaves(SOLVERS[name].step(rhs, t, at, rhs(t, at), h)[0]))

        along = compiled(lambda s: jax.jvp(after, (s,), (jnp.ones_like(s),)))
        small = 1e-4  # rounding / small is 1e-12, small^2 is 1e-8 of unit values
        middle = (along(small)[0] - along(-small)[0]) / (2.0 * small)
        tangent = along(0.0)[1]
        scale = np.abs(np.asarray(tangent)).max()
        np.testing.assert_allclose(tangent, middle, rtol=0.0, atol=1e-6 * scale)


@pytest.mark.parametrize("name", NAMES)
class TestRun:
    def test_tolerance_and_ledger(self, name: str) -> None:
        """Through impacts, the error of the end and that of the ledger fall with the tolerance."""
        world = bouncing()
        runs = {
            rtol: carom.simulate(
                world,
                world.state(angles=[0.2, -0.5]),
                until=0.8,
                settings=carom.Settings(solver=name, rtol=rtol, atol=rtol / 100),
            )
            for rtol in (1e-5, 1e-8, 1e-12)
        }
        assert len(runs[1e-8].impacts) >= 1
        ends = {rtol: np.concatenate([r.q[-1], r.v[-1]]) for rtol, r in runs.items()}
        coarse, fine = (np.abs(ends[rtol] - ends[1e-12]).max() for rtol in (1e-5, 1e-8))
        assert fine < 1e-5
        assert fine < 0.02 * coarse
        # The works are integrated along, outside the control of steps: they follow the tolerance, 1e-6 %, not exactly.
        assert runs[1e-8].energy.max_error_percent < 1e-6
        assert runs[1e-8].energy.max_error_percent < 0.02 * runs[1e-5].energy.max_error_percent


class TestStiff:
    def test_steps(self) -> None:
        """What stability costs an explicit method, the stiff one does not pay."""
        world = stiff()
        explicit, implicit = (
            carom.simulate(world, world.state(), until=1.0, settings=carom.Settings(n, rtol=1e-6, atol=1e-8))
            for n in ("tsit5", "rodas5p")
        )
        assert implicit.statistics.steps < 0.02 * explicit.statistics.steps
        np.testing.assert_allclose(implicit.q[-1], explicit.q[-1], rtol=1e-5)

    def test_forced_transient(self) -> None:
        """Prothero and Robinson: v' = -L (v - cos t) - sin t, from v = 1: the solution stays cos t, however large L."""
        start, large = Continuous((jnp.asarray(0.0),), (jnp.asarray(1.0),), (), ()), 1e8

        def rhs(t: Any, y: Continuous) -> Continuous:
            return Continuous(y.v, (-large * (y.v[0] - jnp.cos(t)) - jnp.sin(t),), (), ())

        end = march(SOLVERS["rodas5p"], rhs, start, 1.0)(20)
        np.testing.assert_allclose(end, [np.sin(1.0), np.cos(1.0)], rtol=1e-6)

    def test_in_a_batch(self) -> None:
        rhs, y = flow(guided(False))
        many = jax.tree.map(lambda x: x + jnp.linspace(0.0, 0.5, 3), y)
        t, h = jnp.asarray(0.1), jnp.asarray(0.02)

        def one(y: Continuous) -> Continuous:
            return SOLVERS["rodas5p"].step(rhs, t, y, rhs(t, y), h)[0]

        together, single = compiled(jax.vmap(one))(many), compiled(one)
        for lane in range(3):
            alone = numbers(single(jax.tree.map(lambda x, lane=lane: x[lane], many)))
            np.testing.assert_allclose(
                numbers(jax.tree.map(lambda x, lane=lane: x[lane], together)), alone, rtol=1e-12, atol=1e-14
            )

    def test_arrays_and_scalars(self, traced: None, monkeypatch: pytest.MonkeyPatch) -> None:
        """Large worlds are factored by the library, small ones by elimination written out: the same step."""
        rhs, y = flow(guided(False))
        t, h = jnp.asarray(0.1), jnp.asarray(0.02)
        scalars = SOLVERS["rodas5p"].step(rhs, t, y, rhs(t, y), h)
        monkeypatch.setattr(stage_system, "WRITTEN_OUT", 0)
        arrays = SOLVERS["rodas5p"].step(rhs, t, y, rhs(t, y), h)
        np.testing.assert_allclose(numbers(scalars), numbers(arrays), rtol=1e-11, atol=1e-13)

    @pytest.mark.slow
    def test_large_world(self) -> None:
        """Nine links: coordinates are arrays. A short step, as the explicit method takes it."""
        chain = carom.World(carom.Arm([ROD] * 9))
        c = start(chain, carom.State(jnp.linspace(-1.5, -1.0, 9), jnp.linspace(0.0, 1.0, 9)), 1e-3, True)
        t, h = jnp.asarray(0.0), jnp.asarray(1e-3)

        def rhs(t: Any, y: Continuous) -> Continuous:
            return derivative(chain, t, y, c.phases, c.memory)

        stiff, plain = (
            compiled(lambda y, n=n: SOLVERS[n].step(rhs, t, y, rhs(t, y), h)[0])(c.y) for n in ("rodas5p", "tsit5")
        )
        np.testing.assert_allclose(stiff.q, plain.q, rtol=1e-11)
        np.testing.assert_allclose(stiff.v, plain.v, rtol=1e-9, atol=1e-9)

    def test_elimination(self) -> None:
        """Rows change places where they must, a zero on the diagonal included."""
        rng = np.random.default_rng(1)
        for n in (1, 2, 3, 5):
            matrix, right = rng.normal(size=(n, n)), rng.normal(size=n)
            if n > 1:
                matrix[0, 0] = 0.0
            got = lu_factor([[jnp.asarray(x) for x in row] for row in matrix], exchange=True)(list(right))
            np.testing.assert_allclose(got, np.linalg.solve(matrix, right), rtol=1e-11)
