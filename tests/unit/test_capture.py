"""Captures: every kind on rigid and elastic links, every mode of the base, and the mechanism that comes out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics

HAND, GRIP = "arm.link2.tip", "target.grip"
SECTION = carom.beam.Section(
    area=1e-3, second_moment=1e-7, mass_per_length=3.0, youngs_modulus=7e10, shear_modulus=2.6e10, shear_factor=0.85
)


def make(elastic=False, base=None, grip=(0.6, -0.3)):
    """An arm whose first joint is beside the base's centre, and an object with its centre of mass off its origin."""
    last = carom.Beam(1.5, SECTION, ("clamped", "free"), 2) if elastic else carom.Rod(1.5, 4.0)
    arm = carom.Mechanism(
        [
            carom.Link(carom.Body(20.0, 5.0), name="hub"),
            carom.Link(carom.Rod(1.0, 3.0), name="link1", at=(0.5, 0.1)),
            carom.Link(last, name="link2"),
        ],
        base=carom.Free() if base is None else base,
    )
    body = carom.Body(6.0, 2.0, com=(0.1, 0.2))
    target = carom.Mechanism([carom.Link(body, name="object", sites={"grip": grip})], base=carom.Free())
    return carom.side_by_side(arm=arm, target=target)


def meet(both, bend=0.0, seed=0):
    """A touching state with everything in motion."""
    top, rng = both.topology, np.random.default_rng(seed)
    q = jnp.asarray(rng.uniform(-1, 1, both.dof)).at[top.base_dof + top.links :].set(bend)
    apart = dynamics.site_position(both, q, HAND) - dynamics.site_position(both, q, GRIP)
    at = top.base_index(1)
    return q.at[at : at + 2].add(apart), jnp.asarray(rng.normal(size=both.dof))


def gap(both, q):
    """Relative position and rotation of the two sites, straight from their definition."""
    top = both.topology
    points = dynamics.site_position(both, q, HAND) - dynamics.site_position(both, q, GRIP)
    turned = q[top.angle_index(2)] - q[top.angle_index(3)]
    reach = both.numbers.site_reach[both.site(HAND).index]
    if reach is not None:
        turned = turned + reach.slope @ both.bending(q, "arm.link2")
    return jnp.append(points, turned)


CASES = [(elastic, kind, e) for elastic in (False, True) for kind in ("point", "weld") for e in (0.0, 0.6, 1.0)]


@pytest.mark.parametrize("elastic, kind, e", CASES)
def test_the_law_momentum_and_energy(elastic, kind, e):
    """Against another formalism's mass matrix and rows by automatic differentiation of positions."""
    both = make(elastic)
    q, v = meet(both, bend=0.01 if elastic else 0.0)
    c = carom.capture(both, HAND, GRIP, carom.State(q, v), kind=kind, restitution=e)
    count = 2 if kind == "point" else 3
    A = np.asarray(jax.jacfwd(lambda q: gap(both, q))(q))[:count]
    with jax.numpy_rank_promotion("allow"):
        M = np.asarray(dynamics.mass_matrix(both, q, "lagrange"))
    pushes = np.append(c.impulse, c.moment)[:count]
    np.testing.assert_allclose(A @ c.after, -e * (A @ v), atol=1e-12)
    np.testing.assert_allclose(M @ (c.after - v), A.T @ pushes, atol=1e-11)
    assert np.max(np.abs(c.momentum_change)) < 1e-11
    approach = np.asarray(A @ v)
    lost = 0.5 * (1 - e**2) * approach @ np.linalg.solve(A @ np.linalg.solve(M, A.T), approach)
    assert float(c.energy_lost) == pytest.approx(lost, abs=1e-10)
    np.testing.assert_allclose(c.relative_after[:count], -e * c.relative_before[:count], atol=1e-12)


@pytest.mark.parametrize("elastic", [False, True])
def test_point_then_weld_ends_as_weld_and_tells_the_losses_apart(elastic):
    both = make(elastic)
    q, v = meet(both)
    at_once = carom.capture(both, HAND, GRIP, carom.State(q, v), kind="weld")
    c = carom.capture(both, HAND, GRIP, carom.State(q, v), kind="point-then-weld")
    np.testing.assert_allclose(c.after, at_once.after, atol=1e-12)
    np.testing.assert_allclose(np.append(c.impulse, c.moment), np.append(at_once.impulse, at_once.moment), atol=1e-11)
    first, second = c.stages
    np.testing.assert_allclose(
        first.after, carom.capture(both, HAND, GRIP, carom.State(q, v), kind="point").after, atol=1e-13
    )
    assert float(first.energy_lost + second.energy_lost) == pytest.approx(float(at_once.energy_lost), rel=1e-12)
    assert min(float(s.energy_lost) for s in c.stages) > 1e-3
    assert "as the rotation is locked" in repr(c)


@pytest.mark.parametrize("base, kept", [("attitude-held", [4]), ("free-flying", [0, 1, 4])])
@pytest.mark.parametrize("kind", ["point", "weld", "point-then-weld"])
def test_what_the_base_keeps_is_paid_for_from_outside(base, kept, kind):
    both = make()
    q, v = meet(both)
    c = carom.capture(both, HAND, GRIP, carom.State(q, v), kind=kind, base=base)
    np.testing.assert_allclose(np.asarray(c.after)[kept], np.asarray(v)[kept], atol=1e-13)
    assert np.max(np.abs(c.momentum_change)) > 0.01
    assert np.max(np.abs(c.momentum_error)) < 1e-11
    np.testing.assert_allclose(c.relative_after[:2], 0.0, atol=1e-12)
    free = carom.capture(both, HAND, GRIP, carom.State(q, v), kind=kind)
    assert np.max(np.abs(np.asarray(free.after - v)[kept])) > 1e-3


def test_a_fixed_pivot_takes_its_share():
    both = make(base=carom.Fixed())
    q, v = meet(both)
    c = carom.capture(both, HAND, GRIP, carom.State(q, v))
    assert np.all(np.isnan(c.momentum_error))
    assert "fixed pivot" in repr(c) and "VIOLATES" not in repr(c)


@pytest.mark.parametrize("elastic", [False, True])
def test_the_mechanism_after_it_moves_as_the_constrained_pair(elastic):
    """Accelerations of the new mechanism, against both bodies held together by constraints."""
    both = make(elastic)
    q, v = meet(both)  # straight: then the weld on the elastic link is exact
    for kind in ("point", "weld"):
        c = carom.capture(both, HAND, GRIP, carom.State(q, v), kind=kind)
        after = carom.after_capture(c)
        assert after.mechanism.dof == both.dof - (2 if kind == "point" else 3)
        for before, now in zip(c.momentum_after, dynamics.momentum(after.mechanism, after.q, after.v), strict=True):
            np.testing.assert_allclose(now, before, atol=1e-11)
        energy = dynamics.kinetic_energy(after.mechanism, after.q, after.v)
        assert float(energy) == pytest.approx(float(c.energy_after), rel=1e-12)
        if elastic and kind == "weld":
            continue  # no constraint of carom's follows the slope of a section
        held = [carom.Pin(HAND, GRIP)]
        if kind == "weld":
            held.append(carom.Locked("target.object", "arm.link2", float(q[-1] - q[-2])))
        pair = dynamics.constrained_dynamics(both, held, q, c.after, gravity=0.0).acceleration
        alone = dynamics.forward_dynamics(after.mechanism, after.q, after.v, gravity=0.0)
        keep = [i for i in range(both.dof) if i not in ((2, 3) if kind == "point" else (2, 3, both.dof - 1))]
        np.testing.assert_allclose(alone, np.asarray(pair)[keep], atol=1e-9)


def test_an_object_of_several_links_hangs_on_by_its_first():
    arm = carom.Mechanism([carom.Body(20.0, 5.0), carom.Link(carom.Rod(1.5, 4.0), name="link2")], base=carom.Free())
    boom = carom.Link(carom.Rod(2.0, 1.0), name="boom", at=(0.2, 0.4))
    links = [carom.Link(carom.Body(6.0, 2.0), name="bus", sites={"grip": (0.6, -0.3)}), boom]
    both = carom.side_by_side(arm=arm, target=carom.Mechanism(links, base=carom.Free()))
    q, v = meet(both, seed=3)
    c = carom.capture(both, HAND, GRIP, carom.State(q, v), kind="point")
    after = carom.after_capture(c)
    pair = dynamics.constrained_dynamics(both, [carom.Pin(HAND, GRIP)], q, c.after, gravity=0.0).acceleration
    alone = dynamics.forward_dynamics(after.mechanism, after.q, after.v, gravity=0.0)
    np.testing.assert_allclose(alone, np.asarray(pair)[[0, 1, 4, 5, 6, 7]], atol=1e-10)
    with pytest.raises(carom.CaromError, match="several links"):
        carom.after_capture(carom.capture(both, HAND, GRIP, carom.State(q, v), kind="weld"))


def test_an_elastic_arm_flies_on_with_what_it_caught():
    """The welded object bends the link; momentum stays, and kinetic energy goes into bending and back."""
    both = make(elastic=True)
    q, v = meet(both)
    c = carom.capture(both, HAND, GRIP, carom.State(q, 0.05 * v), kind="weld")
    after = carom.after_capture(c)
    settings = carom.Settings("dopri8", rtol=1e-11, atol=1e-13)
    run = carom.simulate(carom.World(after.mechanism, gravity=0.0), after.state, until=0.5, settings=settings)
    assert run.momentum.linear_drift < 1e-9 and run.momentum.angular_drift < 1e-9
    assert run.energy.max_error_percent < 1e-7
    assert np.max(np.abs(run.q[:, 5:])) > 1e-5, "it should bend"


@pytest.mark.parametrize("elastic", [False, True])
@pytest.mark.parametrize(
    "base, acts", [("free-flying", [0, 1, 2, 3, 4]), ("attitude-held", [2, 3, 4]), ("free-floating", [3, 4])]
)
def test_actuated_coordinates_get_the_accelerations_asked_for(base, acts, elastic):
    """Whatever the others do: a base without thrusters, links that bend, joints with springs, weight."""
    both = make(elastic)
    q, v = meet(both)
    after = carom.after_capture(carom.capture(both, HAND, GRIP, carom.State(q, v)))
    m, gravity = after.mechanism, (0.1, -0.2)
    control = carom.HoldPose(m, after.q + 0.3, kp=4.0, damping_ratio=0.5, base=base)
    efforts = control.efforts(m, after.q, after.v, gravity)
    assert np.all(np.asarray(efforts)[[i for i in range(m.dof) if i not in acts]] == 0.0)
    moved = dynamics.forward_dynamics(
        m, after.q, after.v, torques=efforts[2:5], base_force=efforts[:2], gravity=jnp.asarray(gravity)
    )
    asked = 4.0 * (m.to_relative(after.q + 0.3) - m.to_relative(after.q)) - 2.0 * m.to_relative(after.v)
    np.testing.assert_allclose(m.to_relative(moved)[np.asarray(acts)], asked[np.asarray(acts)], rtol=1e-9, atol=1e-9)


def test_pd_alone_is_what_it_says():
    both = make()
    q, v = meet(both)
    after = carom.after_capture(carom.capture(both, HAND, GRIP, carom.State(q, v)))
    m = after.mechanism
    control = carom.HoldPose(m, after.q, kp=3.0, kd=[1.0, 1.0, 2.0, 2.0, 2.0], linearise=False)
    moved = after.q + 0.1
    expected = 3.0 * m.to_relative(after.q - moved) - control.kd * m.to_relative(after.v)
    np.testing.assert_allclose(control.efforts(m, moved, after.v, 0.0), expected, atol=1e-12)


def test_it_can_be_traced_and_differentiated():
    both = make()
    q, v = meet(both)

    def lost(v):
        return carom.capture(both, HAND, GRIP, carom.State(q, v)).energy_lost

    assert float(jax.jit(lost)(v)) == pytest.approx(float(lost(v)), rel=1e-12)
    slope, step = jax.jacfwd(lost)(v), 1e-6
    numeric = [(lost(v + step * e) - lost(v - step * e)) / (2 * step) for e in np.eye(both.dof)]
    np.testing.assert_allclose(slope, numeric, rtol=1e-6, atol=1e-7)


def test_mistakes_get_a_sentence(unchecked):
    both = make()
    q, v = meet(both)

    def refused(words, *, mechanism=both, hand=HAND, grip=GRIP, q=q, v=v, **options):
        with pytest.raises(carom.CaromError, match=words):
            carom.capture(mechanism, hand, grip, carom.State(q, v), **options)

    refused("there is no kind of capture 'wedl'.*did you mean 'weld'", kind="wedl")
    refused("there is no base of capture 'free-falling'", base="free-falling")
    refused("restitution of capture is 1.4; it must lie in", restitution=1.4)
    refused("nothing to weld", restitution=0.5, kind="point-then-weld")
    refused("there is no site 'target.gripp'", grip="target.gripp")
    refused("belong to one tree", grip="arm.link1.tip")
    refused("1 m apart; a capture begins when they touch; move the object's base by", q=q.at[2].add(1.0))
    refused("mechanism of capture is a dict", mechanism={})
    refused("the start has 7 coordinates; the mechanism has 8", q=q[:-1], v=v[:-1])
    fixed = make(base=carom.Fixed())
    at, _ = meet(fixed)
    with pytest.raises(carom.CaromError, match="hangs on a fixed pivot, which holds itself"):
        carom.capture(fixed, HAND, GRIP, carom.State(at, jnp.zeros(6)), base="free-flying")


def test_what_cannot_go_on_gets_a_sentence(unchecked):
    both = make()
    q, v = meet(both)
    with pytest.raises(carom.CaromError, match="flies off"):
        carom.after_capture(carom.capture(both, HAND, GRIP, carom.State(q, v), restitution=0.5))
    with pytest.raises(carom.CaromError, match="not those of any capture"):
        carom.after_capture(carom.capture_by_pseudo_inverse(both, HAND, GRIP, carom.State(q, v)))
    with pytest.raises(carom.CaromError, match=r"it must be what carom\.capture returned"):
        carom.after_capture(q)
    swapped = carom.capture(both, GRIP, "arm.link2.tip", carom.State(q, v), kind="point")
    with pytest.raises(carom.CaromError, match="not the rigid first link of 'arm'"):
        carom.after_capture(swapped)
    m = carom.after_capture(carom.capture(both, HAND, GRIP, carom.State(q, v))).mechanism
    with pytest.raises(carom.CaromError, match="kp of 'hold' has shape"):
        carom.HoldPose(m, jnp.zeros(5), kp=[1.0, 2.0])
    with pytest.raises(carom.CaromError, match="there is no base of 'hold' 'floating'"):
        carom.HoldPose(m, jnp.zeros(5), base="floating")
    with pytest.raises(carom.CaromError, match="was built for 5 coordinates"):
        carom.HoldPose(m, jnp.zeros(5)).check(both, ())
