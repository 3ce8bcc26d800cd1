"""What holds for every surface and every pair, whatever the mechanism, its state and the numbers of the surface.

Each pair is compiled once; mirrored worlds go through the same code with other numbers.
"""

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import carom
from carom.contact.pairs import AbstractPair, pair_of
from carom.contact.surfaces import AbstractSurface
from carom.hybrid.scene import Load, Scene, split

from ..strategies import Case, cases

CLOSE = 1e-10  # promised; of speeds of the order of 10 m/s, rounding leaves about 1e-13
STEP = 1e-5  # of central differences
FEWER = settings(max_examples=settings.default.max_examples // 2)  # many laws are read off each example

# -- surfaces: as functions of a sign, +1 or -1 for the mirror image (x -> -x) ----------------------------------------


def waves(x: Any, sign: Any) -> Any:
    return 0.2 * jnp.sin(2.0 * sign * x + 0.3)


def bowl(x: Any, y: Any, sign: Any) -> Any:
    return 9.0 - (sign * x - 0.2) ** 2 - 1.5 * y**2 - 0.3 * sign * x * y


def swing(t: Any, sign: Any) -> Any:
    return sign * 0.3 * jnp.sin(t), 0.2 * jnp.cos(3.0 * t), sign * 0.4 * jnp.sin(2.0 * t)


def through(points: Any, sign: float) -> Any:
    """Mirrored points in the opposite order: the free side stays to the left."""
    points = np.asarray(points, dtype=float) * [sign, 1.0]
    return points if sign > 0 else points[::-1]


HILLS = [(-4.0, 0.2), (-1.5, -0.2), (0.5, 0.3), (2.0, 0.0), (4.0, 0.4)]
OVAL = [(2.5 * np.cos(a), 2.0 * np.sin(a) + 0.1 * np.cos(2 * a)) for a in np.arange(9) * 2 * np.pi / 9]

SURFACES: dict[str, Callable[[float], AbstractSurface]] = {
    "floor": lambda s: carom.Plane(height=0.3),
    "slope": lambda s: carom.Plane(point=(s * 0.4, 0.1), slope=s * 0.3),
    "wall": lambda s: carom.Wall(s * 0.4, facing="right" if s > 0 else "left"),
    "circle": lambda s: carom.Circle((s * 0.3, -2.0), 2.0),
    "ring": lambda s: carom.Circle((s * 0.3, 0.2), 3.0, inside=True),
    "graph": lambda s: carom.Graph(waves, parameters=(s,)),
    "spline": lambda s: carom.Spline(through(HILLS, s)),
    "clamped spline": lambda s: carom.Spline(
        through(HILLS, s), tangents=((1.0, 0.5), (1.0, 0.0)) if s > 0 else ((1.0, 0.0), (1.0, -0.5))
    ),
    "closed spline": lambda s: carom.Spline(through(OVAL, s), closed=True),
    "implicit": lambda s: carom.Implicit(bowl, parameters=(s,)),
    "belt": lambda s: carom.Moving(carom.Plane(height=0.3), velocity=(s * 2.0, 0.0)),
    "shaker": lambda s: carom.Moving(carom.Circle((s * 0.3, -2.0), 2.0), amplitude=(s * 0.2, 0.1), frequency=0.5),
    "turntable": lambda s: carom.Moving(
        carom.Graph(waves, parameters=(s,), below=True), velocity=(s * 0.3, -0.1), turning=s * 0.15, about=(s, 0.2)
    ),
    "carried belt": lambda s: carom.Moving(
        carom.Moving(carom.Plane(height=0.3), velocity=(s * 2.0, 0.0)),
        motion=swing,
        parameters=(s,),
        about=(s, 0.0),
        frequency=1.0,
    ),
}


@functools.cache
def surface_of(name: str, sign: float) -> AbstractSurface:
    return SURFACES[name](sign)


@functools.cache
def pair_called(name: str, sign: float) -> AbstractPair:
    return PAIRS[name][1](sign)


@carom.jit
def at_gap(surface: AbstractSurface, x: Any, y: Any, t: Any, gap: Any) -> Any:
    """A point with this gap; twice, as the first foot is not exact from beyond the radius of curvature."""
    for _ in range(2):
        found, (nx, ny) = surface.locate(x, y, t)
        x, y = x + (gap - found) * nx, y + (gap - found) * ny
    return x, y


@carom.jit
def about(surface: AbstractSurface, point: Any) -> dict[str, Any]:
    """Everything the laws of surfaces speak about, at (x, y, t)."""

    def located(point: Any) -> Any:
        gap, normal = surface.locate(*point)
        return jnp.stack([gap, *normal])

    drift = jnp.stack([jnp.asarray(d, dtype=float) for d in surface.drift(*point)])
    moved = jnp.stack([*drift, 1.0])  # a particle of the surface's material
    forward = jax.jacfwd(located)(point)
    around = jax.vmap(located)(point[None, :] + STEP * jnp.concatenate([jnp.eye(3), -jnp.eye(3)]))
    return {
        "gap": surface.gap(*point),
        "normal": jnp.stack(surface.normal(*point)),
        "drift": drift,
        "forward": forward,
        "reverse": jax.jacrev(located)(point),
        "differences": ((around[:3] - around[3:]) / (2.0 * STEP)).T,
        "particle": forward[0] @ moved,
        "place": jax.jvp(lambda p: jnp.stack([jnp.asarray(c) for c in surface.place(*p)]), (point,), (moved,))[1],
    }


points = st.tuples(st.floats(-1.5, 1.5), st.floats(-0.5, 0.8), st.floats(0.0, 2.0)).map(lambda p: np.round(p, 9))
gaps = st.one_of(st.just(0.0), st.floats(-0.3, 0.5).map(lambda d: round(d, 9)))


@pytest.mark.parametrize("name", SURFACES)
@FEWER
@given(data=st.data())
def test_a_gap_is_a_distance(name: str, data: st.DataObject) -> None:
    surface = surface_of(name, 1.0)
    x, y, t = data.draw(points)
    gap = data.draw(gaps)
    point = jnp.stack([*at_gap(surface, x, y, t, gap), t])
    facts = about(surface, point)
    assert all(np.all(np.isfinite(x)) for x in jax.tree.leaves(facts))
    np.testing.assert_allclose(facts["gap"], gap, atol=1e-12)
    gradient = facts["forward"][0][:2]
    np.testing.assert_allclose(np.hypot(*gradient), 1.0, atol=1e-12)
    np.testing.assert_allclose(gradient, facts["normal"], atol=1e-12)
    np.testing.assert_allclose(facts["forward"], facts["reverse"], atol=CLOSE)
    np.testing.assert_allclose(facts["forward"], facts["differences"], atol=1e-8)  # STEP^2 times third derivatives
    np.testing.assert_allclose(facts["particle"], 0.0, atol=CLOSE)  # material keeps its distance
    np.testing.assert_allclose(facts["place"], 0.0, atol=CLOSE)  # and its place
    mirrored = about(surface_of(name, -1.0), point * jnp.array([-1.0, 1.0, 1.0]))
    np.testing.assert_allclose(mirrored["gap"], facts["gap"], atol=CLOSE)
    for what in ("normal", "drift"):
        np.testing.assert_allclose(np.asarray(mirrored[what]) * [-1.0, 1.0], facts[what], atol=CLOSE)


# -- pairs ------------------------------------------------------------------------------------------------------------


def arm(base: Any) -> carom.Mechanism:
    rod = carom.Rod(length=1.0, mass=1.0)
    return carom.Mechanism(
        [carom.Link(rod, name="a"), carom.Link(rod, name="b", sites={"left": (0.2, 0.1), "right": (0.8, 0.1)})], base
    )


ARMS = carom.side_by_side(one=arm(carom.Free()), other=arm(carom.Free()))
BENCH = carom.side_by_side(one=arm(carom.Free()), other=arm(carom.Fixed()))
TIP, BAR = ARMS.site("one.b.tip"), carom.Segment(ARMS.site("other.left"), ARMS.site("other.right"), radius=0.1)


def on(surface: str) -> Callable[[float], AbstractPair]:
    return lambda sign: pair_of("test", TIP, surface_of(surface, sign), radius=0.15)


def limit(link: str, **at: float) -> Callable[[float], AbstractPair]:
    """Mirrored, a lower limit is an upper one; for a link on the base angles are counted from the other side."""

    def made(sign: float) -> AbstractPair:
        if sign > 0:
            return carom.JointLimit(BENCH, link, **at)
        other = {"lower": "upper", "upper": "lower"}
        start = np.pi if link.endswith(".a") else 0.0
        return carom.JointLimit(BENCH, link, **{other[k]: start - x for k, x in at.items()})

    return made


PAIRS: dict[str, tuple[carom.Mechanism, Callable[[float], AbstractPair]]] = {
    "site on slope": (ARMS, on("slope")),
    "site on turntable": (ARMS, on("turntable")),
    "site on carried belt": (ARMS, on("carried belt")),
    "disk on disk": (ARMS, lambda s: pair_of("test", TIP, ARMS.site("other.b.tip"), 0.3, 0.2)),
    "disk on disk of one arm": (ARMS, lambda s: pair_of("test", TIP, ARMS.site("one.a.tip"), 0.3, 0.2)),
    "disk in ring": (ARMS, lambda s: pair_of("test", TIP, carom.Ring(ARMS.site("other.b.tip"), 1.5), 0.2)),
    "site on segment": (BENCH, lambda s: pair_of("test", TIP, BAR, 0.05)),
    "lower limit": (BENCH, limit("one.b", lower=-0.4)),
    "limit of a first joint": (BENCH, limit("other.a", upper=0.7)),
}
WITH_SURFACE = [name for name in PAIRS if name.startswith("site on") and name != "site on segment"]


@carom.jit
def met(mechanism: carom.Mechanism, pair: AbstractPair, t: Any, q: Any, v: Any) -> dict[str, Any]:
    """Everything the laws of pairs speak about."""

    def scene(t: Any, q: Any, v: Any) -> Scene:
        return Scene(mechanism, t, split(mechanism, q), split(mechanism, v))

    def numbers(t: Any, q: Any, v: Any) -> Any:
        k = pair.touching(scene(t, q, v))
        return jnp.stack([*k[:5], *k.normal])

    def row(normal: float, drag: float) -> Any:
        now, load = scene(t, q, v), Load(mechanism)
        pair.push(now, load, pair.touching(now), normal, drag)
        return load.vector()

    k = pair.touching(scene(t, q, v))
    where = jnp.stack(pair.place(scene(t, q, v), k))
    step = (jnp.ones_like(t), jnp.cos(jnp.arange(q.size)), jnp.sin(1.0 + jnp.arange(q.size)))  # any direction will do
    weight = jnp.cos(2.0 + jnp.arange(7))
    back = jax.vjp(numbers, t, q, v)[1](weight)
    return {
        "k": numbers(t, q, v),
        "place": where,
        "rate": jax.jvp(lambda t, q: numbers(t, q, v)[0], (t, q), (jnp.ones_like(t), v))[1],
        "normal work": row(1.0, 0.0) @ v,
        "tangent work": row(0.0, 1.0) @ v,
        "carried": jnp.stack([jnp.asarray(u, dtype=float) for u in pair.carried(scene(t, q, v), k)]),
        "forward": weight @ jax.jvp(numbers, (t, q, v), step)[1],
        "reverse": sum(jnp.sum(a * b) for a, b in zip(back, step, strict=True)),
    }


def mirrored(case: Case, q: Any) -> tuple[carom.Mechanism, Any, Any]:
    """The image of a mechanism, its coordinates and velocities under x -> -x."""
    top, n = case.mechanism.topology, case.mechanism.numbers
    flip = jnp.array([[1.0, -1.0]])
    base = jnp.array([k < top.base_dof for k in range(top.dof)])
    sign = jnp.where(base & (jnp.arange(top.dof) % 2 == 1), 1.0, -1.0)
    numbers = eqx.tree_at(
        lambda n: (n.site, n.hang, n.pivot), n, (n.site * flip, n.hang * _hangs(top, flip), n.pivot * -flip)
    )
    image = eqx.tree_at(lambda m: m.numbers, case.mechanism, numbers)
    return image, sign * q + jnp.where(base, 0.0, jnp.pi), sign * case.v


def _hangs(top: Any, flip: Any) -> Any:
    """What hangs on a link hangs in its frame; what hangs on a base, beside it in the world."""
    return jnp.concatenate([flip if p >= 0 else -flip for p in top.parents])


@pytest.mark.parametrize("name", PAIRS)
@FEWER
@given(data=st.data())
def test_forces_do_the_work_that_velocities_say(name: str, data: st.DataObject) -> None:
    pair, case = pair_called(name, 1.0), data.draw(cases(PAIRS[name][0]))
    q, t = case.q, jnp.asarray(data.draw(points)[2])
    if name in WITH_SURFACE:  # move the base so that the tip is near the surface, often at touch-down
        x, y, _ = data.draw(points)
        goal = at_gap(pair.surface, x, y, t, pair.radius + data.draw(gaps))
        tip = carom.dynamics.site_position(case.mechanism, q, TIP)
        q = q.at[:2].add(jnp.stack(goal) - tip)
    facts = met(case.mechanism, pair, t, q, case.v)
    depth, rate, sliding, x, y, nx, ny = facts["k"]
    if "disk" in name or "segment" in name:
        size = 1.3 if "ring" in name else 0.5 if "segment" not in name else 0.15
        apart = size + depth if "ring" in name else size - depth
        assume(apart > 0.02)  # the direction between points that coincide is anyone's
    if "segment" in name:
        ends = case.mechanism.numbers.site[np.array([pair.segment.start.index, pair.segment.end.index])]
        assume(np.hypot(*(ends[0] - ends[1])) > 0.02)
    close = {"rtol": 0.0, "atol": CLOSE}
    assert all(np.all(np.isfinite(x)) for x in jax.tree.leaves(facts))
    np.testing.assert_allclose(rate, facts["rate"], **close)
    np.testing.assert_allclose(facts["normal work"] - facts["carried"][0], -rate, **close)
    np.testing.assert_allclose(facts["tangent work"] - facts["carried"][1], sliding, **close)
    np.testing.assert_allclose(np.hypot(nx, ny), 0.0 if pair.length_unit == "rad" else 1.0, atol=1e-12)
    np.testing.assert_allclose(facts["forward"], facts["reverse"], rtol=1e-9, atol=CLOSE)
    image, iq, iv = mirrored(case, q)
    other = np.asarray(met(image, pair_called(name, -1.0), t, iq, iv)["k"])
    # Sliding is along (n_y, -n_x), which a mirror turns round.
    np.testing.assert_allclose(other * [1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0], facts["k"], **close)
