"""Elastic links in cases that can be worked out by hand: one beam, a payload, a blow, a capture; and refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics

LENGTH, MU, EI, G = 1.2, 2.0, 30.0, 9.81
SLENDER = carom.beam.Section(area=1e-4, second_moment=3e-9, mass_per_length=MU, youngs_modulus=1e10)
THICK = carom.beam.Section(
    area=3e-3, second_moment=2e-6, mass_per_length=MU, youngs_modulus=1e8, shear_modulus=4e7, shear_factor=5 / 6
)
MASS = MU * LENGTH


def beam(ends, modes=1, **options):
    return carom.Beam(LENGTH, SLENDER, ends, modes, theory="euler-bernoulli", **options)


SIMPLE = ("simple", "simple")
CANTILEVER = ("clamped", "free")


# -- one beam ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formalism", ["explicit", "lagrange", "gibbs_appell"])
def test_a_beam_on_simple_ends_is_known_in_closed_form(formalism):
    """W = sin(pi x/l): J = m l^2/3 + m d^2/2, coupling m l/pi, modal mass m/2, stiffness E I pi^4/(2 l^3)."""
    arm = carom.Arm([beam(SIMPLE, air_damping=0.3, material_damping=2e6)])
    angle, d, rate, w = 0.4, 0.07, 1.3, -2.1
    q, v = jnp.array([angle, d]), jnp.array([rate, w])
    cos, sin = np.cos(angle), np.sin(angle)
    with jax.numpy_rank_promotion("allow"):  # dynamics/lagrange.py multiplies (nodes, 1) by (2,)
        matrix = dynamics.mass_matrix(arm, q, formalism)
        bias = dynamics.bias(arm, q, v, formalism)
        weight = dynamics.gravity_force(arm, q, G, formalism)
    coupling = MASS * LENGTH / np.pi
    expected = [[MASS * LENGTH**2 / 3 + MASS * d**2 / 2, coupling], [coupling, MASS / 2]]
    np.testing.assert_allclose(matrix, expected, rtol=1e-12)
    np.testing.assert_allclose(bias, [rate * MASS * d * w, -(rate**2) * MASS * d / 2], rtol=1e-11)
    lever = LENGTH / 2 * cos - 2 / np.pi * d * sin
    np.testing.assert_allclose(weight, [-MASS * G * lever, -MASS * G * 2 / np.pi * cos], rtol=1e-12)
    fourth = (np.pi / LENGTH) ** 4 * LENGTH / 2
    force = dynamics.generalized_force(arm, q, v)
    drag = 0.3 * LENGTH / 2 + 2e6 * SLENDER.second_moment * fourth
    np.testing.assert_allclose(force, [0.0, -EI * fourth * d - drag * w], rtol=1e-10)
    np.testing.assert_allclose(dynamics.elastic_energy_by_link(arm, q), [EI * fourth * d**2 / 2], rtol=1e-10)


@pytest.mark.parametrize("rotary", ["section", "link"])
def test_rotary_inertia_turns_with_the_section_or_with_the_link(rotary):
    """Timoshenko on simple ends: Theta = a cos(pi x/l), a = pi/l - mu omega^2 l/(k A G pi)."""
    arm = carom.Arm([carom.Beam(LENGTH, THICK, SIMPLE, rotary=rotary)])
    omega = float(carom.beam.modes(THICK, LENGTH, SIMPLE).frequency[0])
    a = np.pi / LENGTH - MU * omega**2 * LENGTH / (THICK.shear_stiffness * np.pi)
    turning = MU * THICK.second_moment / THICK.area * LENGTH
    expected = np.array([[MASS * LENGTH**2 / 3 + turning, MASS * LENGTH / np.pi], [MASS * LENGTH / np.pi, MASS / 2]])
    expected[1, 1] += turning * a**2 / 2 if rotary == "section" else 0.0
    np.testing.assert_allclose(dynamics.mass_matrix(arm, jnp.zeros(2)), expected, rtol=1e-11)
    assert turning * a**2 / 2 > 1e-3 * MASS / 2  # it matters


@pytest.mark.parametrize(
    ("at", "centre"), [((LENGTH, 0.0), (0.0, 0.0)), ((LENGTH, 0.0), (0.1, 0.05)), ((0.4, 0.0), (0.1, 0.0))]
)
def test_a_payload_turns_with_its_section(at, centre):
    """Body of mass m_p and inertia I_p, its centre at (x, y), welded where W and its slope are known."""
    mass, inertia, x0 = 0.7, 0.03, at[0]
    load = carom.Body(mass=mass, inertia=inertia, com=centre)
    arm = carom.Arm([carom.Link(beam(SIMPLE), sites={"load": (0.4, 0.0)})])
    bare, loaded = (np.asarray(dynamics.mass_matrix(m, jnp.zeros(2))) for m in (arm, arm.weld("link1", load, at=at)))
    W, slope = np.sin(np.pi * x0 / LENGTH), np.pi / LENGTH * np.cos(np.pi * x0 / LENGTH)
    x, y = x0 + centre[0], centre[1]
    ux, uy = -slope * centre[1], W + slope * centre[0]
    added = [
        [mass * (x**2 + y**2) + inertia, mass * (x * uy - y * ux) + inertia * slope],
        [mass * (x * uy - y * ux) + inertia * slope, mass * (ux**2 + uy**2) + inertia * slope**2],
    ]
    np.testing.assert_allclose(loaded - bare, added, atol=1e-12)


def test_welding_is_capturing_for_good():
    """With a free disk held at the tip, position and angle, both have the same kinetic energy, bent as they are."""
    disk = carom.Disk(radius=0.1, mass=0.8)
    arm = carom.Mechanism([carom.Rod(0.5, 1.0), beam(CANTILEVER, 2)], base=carom.Free())
    both = carom.side_by_side(arm=arm, disk=carom.Mechanism([disk], base=carom.Free()))
    q = jnp.array([0.1, -0.2, 0.3, 1.1, 0.05, -0.02])
    slope = np.asarray(arm.numbers.site_reach[arm.tip.index].slope)
    turn = np.concatenate([np.zeros(3), [1.0], slope])  # of the tip's section
    jacobian = np.asarray(dynamics.site_jacobian(arm, q, arm.tip))
    # (base, disk's base, angles, disk's angle, modes) from the arm's own rates
    hold = np.concatenate([np.eye(6)[:2], jacobian, np.eye(6)[2:4], turn[None], np.eye(6)[4:]])
    tip = dynamics.site_position(arm, q, arm.tip)
    whole = jnp.concatenate([q[:2], tip, q[2:4], jnp.array([turn @ q]), q[4:]])
    reduced = hold.T @ np.asarray(dynamics.mass_matrix(both, whole)) @ hold
    np.testing.assert_allclose(dynamics.mass_matrix(arm.weld("link2", disk), q), reduced, rtol=1e-12, atol=1e-12)


def test_foreshortening_brings_what_lies_beyond_the_tip_back_with_it():
    """A point fixed to the last section comes back by H(l) d^2/2 and by dx times the square of the slope, halved."""
    link = beam(CANTILEVER, foreshortening=True)
    tip, beyond, beside = (link.reach(*at) for at in ((LENGTH, 0.0), (LENGTH + 0.3, 0.0), (LENGTH, 0.2)))
    slope = tip.slope
    np.testing.assert_allclose(beyond.short - tip.short, 0.3 * np.outer(slope, slope), rtol=1e-12)
    np.testing.assert_allclose(beside.short, tip.short, rtol=1e-12)
    np.testing.assert_allclose(beyond.shape[:, 1], 1.0 + 0.3 * slope, rtol=1e-12)
    np.testing.assert_allclose(beside.shape[:, 0], -0.2 * slope, rtol=1e-12)
    stiff = beam(CANTILEVER).reach(LENGTH + 0.3, 0.0)
    assert not np.any(stiff.short)


def test_inverse_dynamics_ask_nothing_of_the_modes_that_the_joints_give():
    arm = carom.Arm([beam(CANTILEVER, 2), carom.Rod(1.0, 1.0)])
    q, v = jnp.array([0.3, 0.5, 0.02, -0.01]), jnp.array([0.3, -0.2, 0.1, 0.4])
    torques = [2.0, 3.0]
    a = dynamics.forward_dynamics(arm, q, v, torques=torques)
    np.testing.assert_allclose(dynamics.inverse_dynamics(arm, q, v, a), [*torques, 0.0, 0.0], atol=1e-9)


# -- blows ------------------------------------------------------------------------------------------------------------

BETA = np.array([1.8751040687119611, 4.694091132974175])  # cosh b cos b = -1


def cantilever(x):
    """W_j(x), tip at +1 in size, positive where it departs from zero: by hand, for x = eta/l."""
    b = BETA[None, :]
    sigma = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
    shape = lambda x: np.cosh(b * x) - np.cos(b * x) - sigma * (np.sinh(b * x) - np.sin(b * x))  # noqa: E731
    return shape(np.asarray(x)[:, None]) / np.abs(shape(np.ones((1, 1))))


def by_hand(angle, d):
    """Mass matrix of the cantilever as a link, and the gradient of its tip's height."""
    x, w = np.polynomial.legendre.leggauss(60)
    x, w = (x + 1) / 2, w / 2 * MASS
    W = cantilever(x)
    coupling, modal = (w * x * LENGTH) @ W, (W.T * w) @ W
    matrix = np.block(
        [[np.array([[MASS * LENGTH**2 / 3 + d @ modal @ d]]), coupling[None]], [coupling[:, None], modal]]
    )
    tip = cantilever([1.0])[0]
    row = np.concatenate([[np.cos(angle) * LENGTH - np.sin(angle) * (tip @ d)], np.cos(angle) * tip])
    return matrix, row


STEEL = carom.beam.Section(area=1e-4, second_moment=3e-9, mass_per_length=MU, youngs_modulus=4e11)


def struck_world(restitution):
    arm = carom.Arm([carom.Beam(LENGTH, STEEL, CANTILEVER, 2, theory="euler-bernoulli")])
    floor = carom.Contact(arm.tip, carom.Plane(height=-0.5), restitution, name="floor")
    return carom.World(arm, contacts=floor, gravity=G)


START = {"angles": [0.1], "bending": [0.01, 0.002]}
HOW = {"until": 0.4, "settings": carom.Settings(rtol=1e-10, atol=1e-12)}


@pytest.fixture(scope="module")
def struck():
    world = struck_world(0.6)
    return carom.simulate(world, world.state(**START), **HOW)


def test_a_blow_at_the_tip_sets_the_modes_ringing(struck):
    first = next(e for e in struck.events if e.exit == "strike floor")
    matrix, row = by_hand(first.q[0], first.q[1:])
    np.testing.assert_allclose(dynamics.mass_matrix(struck.world.mechanism, first.q), matrix, rtol=1e-10, atol=1e-12)
    approach = row @ first.v
    impulse = -(1 + 0.6) * approach / (row @ np.linalg.solve(matrix, row))
    np.testing.assert_allclose(first.v_after, first.v + np.linalg.solve(matrix, row) * impulse, rtol=1e-9)
    assert first.memory["last impulse floor"] == pytest.approx(impulse, rel=1e-9)
    assert np.min(np.abs(first.v_after[1:] - first.v[1:])) > 0.1  # both modes
    lost = (1 - 0.6**2) * approach**2 / (row @ np.linalg.solve(matrix, row)) / 2
    change = 0.5 * (first.v_after @ matrix @ first.v_after - first.v @ matrix @ first.v)
    assert change == pytest.approx(-lost, rel=1e-9)
    works = struck.energy.works["rigid contacts: blows"]
    steps = np.diff(works)
    assert steps[np.flatnonzero(steps)[0]] == pytest.approx(-lost, rel=1e-8)
    assert struck.energy.max_error_percent < 1e-6


def test_capture_at_the_tip_keeps_momentum_and_loses_what_the_rows_say():
    """The gripper closes: the relative velocity of two sites vanishes, by an impulse between them."""
    arm = carom.Mechanism([carom.Disk(radius=0.4, mass=3.0), beam(CANTILEVER, 2), beam(SIMPLE)], base=carom.Free())
    body = carom.Body(mass=0.9, inertia=0.2, com=(0.1, 0.3))
    target = carom.Mechanism([carom.Link(body, sites={"handle": (0.3, -0.1)})], base=carom.Free())
    both = carom.side_by_side(arm=arm, target=target)
    rng = np.random.default_rng(2)
    q, v = (jnp.asarray(rng.uniform(-s, s, both.dof)) for s in (0.3, 1.0))
    sites = "arm.link3.tip", "target.handle"
    tip, handle = (dynamics.site_position(both, q, s) for s in sites)
    q = q.at[2:4].add(tip - handle)  # the target's base: now the two sites meet
    matrix = np.asarray(dynamics.mass_matrix(both, q))
    rows = np.subtract(*(np.asarray(dynamics.site_jacobian(both, q, s)) for s in sites))
    apart = np.subtract(*(np.asarray(dynamics.site_velocity(both, q, v, s)) for s in sites))
    np.testing.assert_allclose(rows @ v, apart, rtol=1e-12)
    blocks = carom.contact.impact_blocks(matrix, rows)
    after = np.asarray(v - blocks.rows.T @ (rows @ v))
    np.testing.assert_allclose(rows @ after, 0.0, atol=1e-12)
    resistance = np.linalg.inv(rows @ np.linalg.solve(matrix, rows.T))
    np.testing.assert_allclose(after, v - np.linalg.solve(matrix, rows.T) @ resistance @ apart, rtol=1e-9, atol=1e-10)
    lost = 0.5 * (v @ matrix @ v - after @ matrix @ after)
    assert float(lost) == pytest.approx(0.5 * apart @ resistance @ apart, rel=1e-11)
    before, behind = dynamics.momentum(both, q, v), dynamics.momentum(both, q, jnp.asarray(after))
    np.testing.assert_allclose(behind.linear, before.linear, atol=1e-12)
    np.testing.assert_allclose(behind.angular, before.angular, atol=1e-12)
    assert float(lost) > 0.1 and np.max(np.abs(after[-3:] - v[-3:])) > 0.1  # the modes ring


# -- many runs -------------------------------------------------------------------------------------------------------


def test_a_batch_of_elastic_arms_equals_single_runs(struck):
    ends = carom.batch(struck_world, jnp.array([0.6, 0.3]), struck.start, **HOW)
    assert len(ends.failed) == 0
    np.testing.assert_allclose(ends.q[0], struck.q[-1], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ends.v[0], struck.v[-1], rtol=1e-8, atol=1e-9)
    other = carom.simulate(struck_world(0.3), struck.start, **HOW)
    np.testing.assert_allclose(ends.q[1], other.q[-1], rtol=1e-9, atol=1e-11)
    assert np.max(np.abs(ends.q[1] - ends.q[0])) > 1e-3


# -- refusals ---------------------------------------------------------------------------------------------------------


def refused(match):
    return pytest.raises(carom.CaromError, match=match)


@pytest.mark.parametrize(
    ("match", "make"),
    [
        ("left end of Beam is 'free'", lambda: beam(("free", "simple"))),
        ("left end of Beam is 'guided'", lambda: beam(("guided", "clamped"))),
        ("there is no right end of Beam 'loose'", lambda: beam(("clamped", "loose"))),
        ("Beam has 200 modes, whose integrals need", lambda: beam(CANTILEVER, 200)),
        ("count of modes is 0", lambda: beam(CANTILEVER, 0)),
        ("air_damping of Beam is -1", lambda: beam(CANTILEVER, air_damping=-1.0)),
        ("material_damping of Beam is -1", lambda: beam(CANTILEVER, material_damping=-1.0)),
        (r"damping_ratio of Beam is \[0.1, -0.1\]", lambda: beam(CANTILEVER, 2, damping_ratio=[0.1, -0.1])),
        ("damping_ratio of Beam is given with", lambda: beam(CANTILEVER, air_damping=1.0, damping_ratio=0.1)),
        ("rotary inertia of Beam .* 'both'", lambda: beam(CANTILEVER, rotary="both")),
        ("shear_modulus of Section is not given", lambda: carom.Beam(1.0, SLENDER, CANTILEVER)),
        (
            "second_moment of Section is 1e-09 but area",
            lambda: carom.beam.Section(
                area=1e-4, second_moment=1e-9, radius_of_gyration=0.1, mass_per_length=1.0, youngs_modulus=1e9
            ),
        ),
        ("quadrature nodes of Beam do not resolve its 8 modes", lambda: coarse()),
        ("welded to elastic link 'link1' at .*, where it has no site", lambda: astray()),
        ("welded to 'link2' is an elastic Beam", lambda: two().weld("link2", beam(CANTILEVER))),
        ("bending of mechanism has shape", lambda: two().coordinates([0.0, 0.0], bending=[0.1])),
        ("link 'link1' of equations is elastic", lambda: carom.equations(two())),
        (
            "formalism 'homogeneous' was asked for link 'link1', which is elastic",
            lambda: dynamics.mass_matrix(two(), jnp.zeros(4), "homogeneous"),
        ),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(match, make):
    with refused(match):
        make()


def two():
    return carom.Arm([beam(CANTILEVER, 2), carom.Rod(1.0, 1.0)])


def coarse():
    shapes = carom.beam.modes(SLENDER, LENGTH, CANTILEVER, 8, "euler-bernoulli")
    return carom.beam.modal_data(shapes, nodes=6)


def astray():
    return two().weld("link1", carom.Disk(radius=0.1, mass=1.0), at=(0.3, 0.0))


def test_a_bent_link_is_no_bar():
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    arm = carom.Arm([carom.Link(beam(SIMPLE), sites={"near": (0.0, 0.0)})])
    both = carom.side_by_side(arm=arm, ball=ball)
    bar = carom.Segment(both.site("arm.near"), both.site("arm.link1.tip"), radius=0.05)
    touch = carom.Contact(both.site("ball.link1.tip"), bar, carom.Hertz(1e6), radius=0.1)
    with refused("Segment of 'arm.link1', which is elastic"):
        world = carom.World(both, contacts=touch)
        carom.simulate(world, world.state(base=(5.0, 5.0)), until=0.01)


def test_a_beam_that_bends_too_far_is_reported():
    world = carom.World(carom.Arm([beam(CANTILEVER, 1)]), gravity=G)
    with pytest.warns(carom.CaromWarning, match="link 'link1' bends by up to 0.299 m, 25 % of its length"):
        carom.simulate(world, world.state(bending=[0.3]), until=1e-3)
    carom.simulate(world, world.state(bending=[0.1]), until=1e-3)
