"""Laws of mechanics on random trees of rigid and elastic links.

Every number is random, also the shapes: an elastic link is a handful of mass points with arbitrary shapes, slopes and
foreshortening, which is more than a beam can be. One compiled function per topology. The judge is written here:
positions of all points by walking outward, and everything else by differentiating them.

Without foreshortening everything is exact, however large the deflections. With it the closed form and the recursion
keep the kinetic energy to second order in deflections and their rates: they agree with each other and obey the laws
exactly, and meet the judge to that order.

Errors are measured against the terms that were summed, row by row, as in test_dynamics.py.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from jaxtyping import Array

import carom
from carom import dynamics
from carom.contact.pairs import pair_of
from carom.hybrid.scene import Load, Scene, split
from carom.mechanism.flexible import Nodes, Reach, integrated

from ..strategies import arrays

CLOSE = 1e-10
POINTS = 4  # of mass, in an elastic link
FORMALISMS = ("explicit", "lagrange", "gibbs_appell")
RECURSION = ("explicit", "gibbs_appell")  # they solve in ways of their own
SECTION = carom.beam.Section(area=1e-4, second_moment=1e-9, mass_per_length=1.0, youngs_modulus=1e9)


def beam(modes: int) -> carom.Beam:
    return carom.Beam(1.0, SECTION, ("simple", "free"), modes, theory="euler-bernoulli")


ROD, DISK = carom.Rod(length=1.0, mass=1.0), carom.Disk(radius=0.1, mass=1.0)


def link(body: Any, name: str, parent: str = carom.BASE, **sites: tuple[float, float]) -> carom.Link:
    return carom.Link(body, name=name, parent=parent, sites=sites)


TREES = {
    "arm, elastic forearm with a load": carom.Arm([link(ROD, "a"), link(beam(2), "b", "a", side=(0.5, 0.1))]).weld(
        "b", DISK
    ),
    "free fork on an elastic trunk": carom.Mechanism(
        [link(beam(1), "a"), link(beam(2), "b", "a"), link(ROD, "c", "a", side=(0.5, 0.1))], base=carom.Free()
    ),
    "elastic arm and a free elastic target": carom.side_by_side(
        arm=carom.Arm([link(beam(3), "a", side=(0.5, 0.1))]), target=carom.Mechanism([beam(1)], base=carom.Free())
    ),
}
# Minutes to compile in three formalisms.
LARGE = ("free fork on an elastic trunk", "elastic arm and a free elastic target")


class Case(eqx.Module):
    mechanism: carom.Mechanism
    q: Array
    v: Array
    torques: Array
    force: Array
    base_force: Array
    gravity: Array
    radii: Array

    @property
    def exact(self) -> bool:
        return not any(np.any(f.nodes.short) for f in self.mechanism.numbers.flex if f is not None)

    @property
    def tips(self) -> tuple[str, str]:
        """Two sites of different links, at least one of which is elastic."""
        top = self.mechanism.topology
        side = next(i for i, name in enumerate(top.site_names) if name.endswith("side"))
        others = [i for i, owner in enumerate(top.site_links) if owner != top.site_links[side]]
        other = max(others, key=lambda i: top.modes[top.site_links[i]])
        return top.site_names[side], top.site_names[other]


def random_numbers(template: carom.Mechanism, seed: int, foreshortening: bool) -> Any:
    """Arbitrary elastic bodies on the template's topology."""
    rng, top = np.random.default_rng(seed), template.topology
    n = top.links

    def between(*shape: int, size: float = 1.0) -> np.ndarray:
        return rng.uniform(-size, size, shape)

    def positive(m: int, size: float) -> np.ndarray:
        half = between(m, m)
        return size * (half @ half.T + np.eye(m))

    def symmetric(*shape: int) -> np.ndarray:
        h = between(*shape) * foreshortening
        return (h + np.swapaxes(h, -1, -2)) / 2

    def reach(m: int) -> Reach | None:
        return Reach(*map(jnp.asarray, (between(m, 2), between(m), symmetric(m, m), 1.0))) if m else None

    mass, com, inertia = 10.0 ** between(n), between(n, 2), 10.0 ** between(n)
    flex: list[Any] = []
    for k, m in enumerate(top.modes):
        if not m:
            flex.append(None)
            continue
        weights, place, rotary = 10.0 ** between(POINTS), between(POINTS, 2), 0.1 * rng.uniform(0, 1, POINTS)
        mass[k], com[k] = weights.sum(), weights @ place / weights.sum()
        inertia[k] = weights @ np.sum((place - com[k]) ** 2, axis=1) + rotary.sum()
        shapes = (between(POINTS, m, 2), between(POINTS, m), symmetric(POINTS, m, m))
        nodes = Nodes(*map(jnp.asarray, (place, weights, rotary, *shapes)))
        flex.append(integrated(nodes, positive(m, 50.0), positive(m, 2.0)))
    rooted_free = np.array(
        [[0.0 if p < 0 and top.free[t] else 1.0] for p, t in zip(top.parents, top.trees, strict=True)]
    )
    return dataclasses.replace(
        template.numbers,
        **{
            name: jnp.asarray(x)
            for name, x in {
                "mass": mass,
                "com": com,
                "inertia": inertia,
                "hang": between(n, 2) * rooted_free,
                "stiffness": 50 * rng.uniform(0, 1, n),
                "rest": between(n),
                "damping": 5 * rng.uniform(0, 1, n),
                "site": between(len(top.site_names), 2),
                "pivot": between(len(top.free), 2),
            }.items()
        },
        flex=tuple(flex),
        hang_reach=tuple(None if p < 0 else reach(top.modes[p]) for p in top.parents),
        site_reach=tuple(reach(top.modes[owner]) for owner in top.site_links),
    )


def drawn(data: st.DataObject, template: carom.Mechanism) -> Case:
    """Built outside of strategies: what compiles may write files, whose names Python's `random` chooses."""
    top = template.topology
    seed, foreshortening = data.draw(st.tuples(st.integers(0, 2**32 - 1), st.booleans()))
    sizes = ((top.dof, 3), (top.dof, 5), (top.links, 20), (2, 20), (top.base_dof, 20), (2, 10))
    values = list(data.draw(st.tuples(*(arrays(size, -high, high) for size, high in sizes), arrays(2, 0.0, 0.5))))
    numbers = random_numbers(template, seed, foreshortening)
    if foreshortening:
        values[0][top.base_dof + top.links :] *= 0.05  # the truncated mass matrix is one for small deflections only
    return Case(eqx.tree_at(lambda m: m.numbers, template, numbers), *map(jnp.asarray, values))


# -- the judge -----------------------------------------------------------------------------------------------------


def material(m: carom.Mechanism, q: Any) -> dict[str, Any]:
    """Where all mass is and how it is turned; joints and sites likewise: positions only."""
    n, top = m.numbers, m.topology
    origin: dict[int, Any] = {}

    def bend(k: int) -> Any:
        return q[jnp.asarray(top.mode_index(k), dtype=int)]

    def at(k: int, point: Any, reach: Any) -> Any:
        if reach is not None:
            d = bend(k)
            point = point + d @ reach.shape - jnp.stack([0.5 * d @ reach.short @ d, 0.0])
        angle = q[top.base_dof + k]
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        return origin[k] + jnp.stack([cos * point[0] - sin * point[1], sin * point[0] + cos * point[1]])

    def base(k: int) -> Any:
        tree = top.trees[k]
        if not top.free[tree]:
            return n.pivot[tree] + n.hang[k]
        first = 2 * sum(top.free[:tree])
        return q[first : first + 2]

    pending = list(range(top.links))
    while pending:
        k = pending.pop(0)
        p = top.parents[k]
        if p >= 0 and p not in origin:
            pending.append(k)
        else:
            origin[k] = base(k) if p < 0 else at(p, n.hang[k], n.hang_reach[k])
    mass, rotary, place, angle = [], [], [], []
    for k, flex in enumerate(n.flex):
        turned = q[top.base_dof + k]
        if flex is None:
            points = [(n.mass[k], n.inertia[k], at(k, n.com[k], None), turned)]
        else:
            x = flex.nodes
            reaches = [Reach(x.shape[g], x.slope[g], x.short[g], jnp.asarray(1.0)) for g in range(POINTS)]
            points = [
                (x.mass[g], x.rotary[g], at(k, x.place[g], r), turned + r.slope @ bend(k))
                for g, r in enumerate(reaches)
            ]
        for each, value in zip((mass, rotary, place, angle), zip(*points, strict=True), strict=True):
            each += value
    slopes = [jnp.asarray(0.0) if r is None else r.slope @ bend(top.parents[k]) for k, r in enumerate(n.hang_reach)]
    angles = [q[top.base_dof + k] for k in range(top.links)]
    joints = [a - s - (angles[p] if p >= 0 else 0.0) for a, s, p in zip(angles, slopes, top.parents, strict=True)]
    return {
        "mass": jnp.stack(mass),
        "rotary": jnp.stack(rotary),
        "place": jnp.stack(place),
        "angle": jnp.stack(angle),
        "joints": jnp.stack(joints),
        "sites": jnp.stack([at(k, n.site[i], n.site_reach[i]) for i, k in enumerate(top.site_links)]),
    }


def moving(m: carom.Mechanism, q: Any, v: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return jax.jvp(lambda q: material(m, q), (q,), (v,))


def kinetic(m: carom.Mechanism, q: Any, v: Any) -> Any:
    here, rate = moving(m, q, v)
    return 0.5 * (here["mass"] @ jnp.sum(rate["place"] ** 2, axis=1) + here["rotary"] @ rate["angle"] ** 2)


def momenta(m: carom.Mechanism, q: Any, v: Any) -> tuple[Any, Any]:
    here, rate = moving(m, q, v)
    (x, y), (vx, vy) = here["place"].T, rate["place"].T
    return here["mass"] @ rate["place"], here["mass"] @ (x * vy - y * vx) + here["rotary"] @ rate["angle"]


def potential(m: carom.Mechanism, q: Any, gravity: Any) -> Any:
    here, n, top = material(m, q), m.numbers, m.topology
    stored = 0.5 * n.stiffness @ (here["joints"] - n.rest) ** 2 - here["mass"] @ (here["place"] @ gravity)
    for k, flex in enumerate(n.flex):
        if flex is not None:
            d = q[jnp.asarray(top.mode_index(k), dtype=int)]
            stored = stored + 0.5 * d @ flex.stiffness @ d
    return stored


@eqx.filter_jit
def facts(case: Case) -> dict[str, Any]:
    m, q, v, g = case.mechanism, case.q, case.v, case.gravity
    site, _ = case.tips
    pushes = {"torques": case.torques, "forces": {site: case.force}, "base_force": case.base_force, "gravity": g}
    a = {f: dynamics.forward_dynamics(m, q, v, **pushes, formalism=f) for f in RECURSION}
    need = {
        f: dynamics.inverse_dynamics(m, q, v, a["explicit"], forces=pushes["forces"], gravity=g, formalism=f)
        for f in RECURSION
    }
    here, rate = moving(m, q, v)
    return {
        "M": {f: dynamics.mass_matrix(m, q, f) for f in FORMALISMS},
        "bias": {f: dynamics.bias(m, q, v, f) for f in FORMALISMS},
        "weight": {f: dynamics.gravity_force(m, q, g, f) for f in FORMALISMS},
        "a": a,
        "need": need,
        "energies": (dynamics.kinetic_energy(m, q, v), dynamics.potential_energy(m, q, g)),
        "own energies": (kinetic(m, q, v), potential(m, q, g)),
        "energy rate": jax.jvp(
            lambda q, v: dynamics.kinetic_energy(m, q, v) + potential(m, q, g), (q, v), (v, a["explicit"])
        )[1],
        "momenta": tuple(dynamics.momentum(m, q, v)),
        "own momenta": momenta(m, q, v),
        "momentum rates": jax.jvp(lambda q, v: tuple(dynamics.momentum(m, q, v)), (q, v), (v, a["explicit"]))[1],
        "centre": dynamics.centre_of_mass(m, q),
        "here": here,
        "rate": rate,
        "relative rates": m.angles(v, relative=True),
        "relative angles": m.angles(q, relative=True),
        "and back": m.to_absolute(m.to_relative(q)),
        "position": dynamics.site_position(m, q, site),
        "velocity": dynamics.site_velocity(m, q, v, site),
        "jacobian": dynamics.site_jacobian(m, q, site),
        "own jacobian": jax.jacfwd(lambda q: material(m, q)["sites"][m.site(site).index])(q),
        "site bias": dynamics.site_bias(m, q, v, site),
        "own site bias": jax.jvp(lambda q: moving(m, q, v)[1]["sites"][m.site(site).index], (q,), (v,))[1],
        "pairs": {name: met(case, name) for name in ("slope", "drum", "disks")},
        "turned": [turned(case, k) for k in range(m.topology.links)],
    }


SURFACES = {
    "slope": carom.Plane(point=(0.4, -0.3), slope=0.3),
    "drum": carom.Circle((0.3, 0.2), 30.0, inside=True),
}


def scene(case: Case, q: Any) -> Scene:
    m = case.mechanism
    return Scene(m, jnp.asarray(0.0), split(m, q), split(m, case.v))


def met(case: Case, name: str) -> dict[str, Any]:
    """A round tip on something; how far in, its rate, and the generalized forces of unit forces there."""
    m, q, v = case.mechanism, case.q, case.v
    site, other = (m.site(name) for name in case.tips)
    if name == "disks":
        pair = pair_of("test", site, other, case.radii[0], case.radii[1])
    else:
        pair = pair_of("test", site, SURFACES[name], case.radii[0])
    now = scene(case, q)
    k = pair.touching(now)
    loads = [Load(m), Load(m)]
    pair.push(now, loads[0], k, 1.0, 0.0)
    pair.push(now, loads[1], k, 0.0, 1.0)

    def depth(q: Any) -> Any:
        return pair.touching(scene(case, q)).indentation

    return {
        "rate": k.rate,
        "sliding": k.sliding,
        "own rate": jax.jvp(depth, (q,), (v,))[1],
        "normal": loads[0].vector(),
        "tangent": loads[1].vector(),
    }


def turned(case: Case, k: int) -> dict[str, Any]:
    """The generalized force of a unit torque in joint k, in both ways that there are, and the rate it works on."""
    m, now = case.mechanism, scene(case, case.q)
    load = Load(m)
    now.turn(load, k, 1.0)
    unit = jnp.zeros(m.dof).at[m.topology.angle_index(k)].set(1.0)
    return {
        "scene": load.vector(),
        "efforts": m.efforts_to_absolute(unit),
        "rate": jnp.asarray(now.relative_rate(k)),
        "angle": jnp.asarray(now.relative_angle(k)),
    }


# -- the laws ------------------------------------------------------------------------------------------------------


def close(left: Any, right: Any, size: Any) -> bool:
    return bool(np.all(np.abs(np.asarray(left) - np.asarray(right)) <= CLOSE * np.asarray(size)))


class Size:
    """Sizes of what is summed: s_i = sqrt(M_ii) bounds all columns of all points by Cauchy and Schwarz."""

    def __init__(self, case: Case, found: dict[str, Any]) -> None:
        self.s = np.sqrt(np.diag(found["M"]["explicit"]))
        self.speed = np.sum(self.s * np.abs(case.v))
        self.mass = np.sum(found["here"]["mass"])
        self.far = 1.0 + np.max(np.abs(found["here"]["place"]))
        self.inertial = self.s * (1.0 + np.max(np.abs(case.v))) * (self.speed + np.sum(np.abs(case.v)))
        self.weight = self.s * np.sqrt(self.mass) * np.linalg.norm(case.gravity)
        self.rows = self.inertial + self.weight + 50.0 * (1.0 + np.abs(case.q).max() + np.abs(case.v).max()) * 10.0
        self.moved = self.rows + self.s * np.sum(self.s * np.abs(found["a"]["explicit"]))


def formalisms_agree(case: Case, found: dict[str, Any], size: Size) -> None:
    matrix = found["M"]["explicit"]
    for f in FORMALISMS[1:] if case.exact else ("gibbs_appell",):
        assert close(found["M"][f], matrix, np.outer(size.s, size.s)), f
        assert close(found["bias"][f], found["bias"]["explicit"], size.inertial), f
        assert close(found["weight"][f], found["weight"]["explicit"], size.weight), f
    assert close(matrix @ (found["a"]["gibbs_appell"] - found["a"]["explicit"]), 0.0, size.moved)
    assert close(found["need"]["gibbs_appell"], found["need"]["explicit"], size.moved.sum())


def mass_matrix_is_symmetric_and_positive_definite(case: Case, found: dict[str, Any], size: Size) -> None:
    matrix = found["M"]["explicit"]
    assert np.array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix / np.outer(size.s, size.s)).min() > 1e-10
    assert close(found["energies"][0], 0.5 * case.v @ matrix @ case.v, size.speed**2)
    if case.exact:
        assert close(found["energies"][0], found["own energies"][0], size.speed**2)


def energies_are_those_of_the_points(case: Case, found: dict[str, Any], size: Size) -> None:
    scale = size.mass * np.linalg.norm(case.gravity) * size.far + size.rows.sum() * np.abs(case.q).max()
    assert close(found["energies"][1], found["own energies"][1], scale)
    centre = found["here"]["mass"] @ found["here"]["place"] / size.mass
    assert close(found["centre"], centre, size.far)


def energy_rate_equals_power(case: Case, found: dict[str, Any], size: Size) -> None:
    """Torques work on the rates of joints, which count the parent's bending; joints and beams dissipate."""
    n, top = case.mechanism.numbers, case.mechanism.topology
    rates = found["rate"]["joints"]
    power = case.torques @ rates - n.damping @ rates**2 + case.force @ found["velocity"]
    power += case.base_force @ case.v[: top.base_dof]
    for k, flex in enumerate(n.flex):
        if flex is not None:
            w = case.v[np.asarray(top.mode_index(k))]
            power -= w @ flex.damping @ w
    assert close(found["energy rate"], power, np.abs(case.v) @ size.moved)


def momentum_changes_by_outer_forces_only(case: Case, found: dict[str, Any], size: Size) -> None:
    linear, angular = found["momenta"]
    own_linear, own_angular = found["own momenta"]
    scale = np.sqrt(size.mass) * size.speed
    assert close(linear, own_linear, scale)
    if case.exact:
        assert close(angular, own_angular, scale * size.far + size.speed)
    top, n = case.mechanism.topology, case.mechanism.numbers
    if not all(top.free):
        return
    weight = size.mass * np.asarray(case.gravity)
    push = weight + np.asarray(case.base_force).reshape(-1, 2).sum(axis=0) + case.force
    roots = np.asarray(top.parents) < 0
    joints, rates = found["here"]["joints"], found["rate"]["joints"]
    held = np.asarray(case.torques) - n.stiffness * (joints - n.rest) - n.damping * rates
    bases = np.asarray(case.q[: top.base_dof]).reshape(-1, 2)
    places = [(found["position"], case.force), (found["centre"], weight)]
    places += [*zip(bases, np.asarray(case.base_force).reshape(-1, 2), strict=True)]
    turn = np.sum(held[roots]) + sum(r[0] * f[1] - r[1] * f[0] for r, f in places)
    rate = found["momentum rates"]
    moved = size.moved.sum() * (1.0 + np.sqrt(size.mass)) + size.speed**2
    assert close(rate[0], push, moved)
    assert close(rate[1], turn, moved * size.far)


def sites_move_by_their_jacobians(case: Case, found: dict[str, Any], size: Size) -> None:
    m = case.mechanism
    index = m.site(case.tips[0]).index
    speed = np.sum(np.abs(case.v)) * size.far
    assert close(found["position"], found["here"]["sites"][index], size.far)
    assert close(found["jacobian"], found["own jacobian"], size.far)
    assert close(found["velocity"], found["jacobian"] @ case.v, speed)
    assert close(found["velocity"], found["rate"]["sites"][index], speed)
    assert close(found["site bias"], found["own site bias"], speed * np.sum(np.abs(case.v)))


def contacts_push_along_what_they_measure(case: Case, found: dict[str, Any], size: Size) -> None:
    speed = np.sum(np.abs(case.v)) * size.far
    for name, pair in found["pairs"].items():
        assert close(pair["rate"], pair["own rate"], 10 * speed), name
        assert close(pair["normal"] @ case.v, -pair["rate"], 10 * speed), name
        assert close(pair["tangent"] @ case.v, pair["sliding"], 10 * speed), name


def torques_work_on_relative_rates(case: Case, found: dict[str, Any], size: Size) -> None:
    n = np.sum(np.abs(case.v)) + np.sum(np.abs(case.q))
    assert close(found["relative rates"], found["rate"]["joints"], n)
    assert close(found["relative angles"], found["here"]["joints"], n)
    assert close(found["and back"], case.q, n)
    for k, each in enumerate(found["turned"]):
        assert close(each["rate"], found["rate"]["joints"][k], n)
        assert close(each["angle"], found["here"]["joints"][k], n)
        assert close(each["scene"], each["efforts"], 1.0)
        assert close(each["scene"] @ case.v, found["rate"]["joints"][k], n)


def inverse_dynamics_find_the_torques(case: Case, found: dict[str, Any], size: Size) -> None:
    top = case.mechanism.topology
    given = np.concatenate([case.base_force, case.torques])
    assert close(found["need"]["explicit"][: top.base_dof + top.links], given, size.moved.sum())


LAWS = (
    formalisms_agree,
    mass_matrix_is_symmetric_and_positive_definite,
    energies_are_those_of_the_points,
    energy_rate_equals_power,
    momentum_changes_by_outer_forces_only,
    sites_move_by_their_jacobians,
    contacts_push_along_what_they_measure,
    torques_work_on_relative_rates,
    inverse_dynamics_find_the_torques,
)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in TREES])
@settings(max_examples=settings.default.max_examples // 2, phases=[p for p in Phase if p is not Phase.shrink])
@given(data=st.data())
def test_the_laws_of_mechanics_hold(name: str, data: st.DataObject) -> None:
    case = drawn(data, TREES[name])
    with jax.numpy_rank_promotion("allow"):  # dynamics/lagrange.py multiplies (nodes, 1) by (2,)
        found = jax.tree.map(np.asarray, facts(case))
    size = Size(case, found)
    for law in LAWS:
        law(case, found, size)


@eqx.filter_jit
def missing(case: Case, sizes: Any) -> Any:
    """Kinetic energy less the judge's, for deflections and rates made smaller and smaller."""
    first = case.mechanism.topology.base_dof + case.mechanism.topology.links

    def at(size: Any) -> Any:
        q, v = (x.at[first:].multiply(size) for x in (case.q, case.v))
        return dynamics.kinetic_energy(case.mechanism, q, v) - kinetic(case.mechanism, q, v)

    return jax.lax.map(at, sizes)


@pytest.mark.parametrize("name", TREES)
def test_foreshortening_is_kept_to_second_order(name: str) -> None:
    """Joints and loads beside the axis included: what is left out falls with the third power."""
    template = TREES[name]
    rng, sizes = np.random.default_rng(5), np.array([1e-1, 1e-2, 1e-3])
    state = [jnp.asarray(rng.uniform(-1, 1, size)) for size in (template.dof,) * 2]
    rest = [jnp.zeros(size) for size in (template.topology.links, 2, template.topology.base_dof, 2, 2)]
    numbers = random_numbers(template, 3, True)
    case = Case(eqx.tree_at(lambda m: m.numbers, template, numbers), *state, *rest)
    gap = np.abs(np.asarray(missing(case, jnp.asarray(sizes))))
    slopes = np.diff(np.log(gap)) / np.diff(np.log(sizes))
    assert np.all(slopes > 2.8), gap
    assert gap[0] > 1e-8
