"""Steps with held inputs: their derivatives against closed forms and finite differences, across strikes."""

import jax
import numpy as np
import pytest

import carom
from carom.hybrid import outcome

G, E = 9.81, 0.7
FINEST = carom.Settings("dopri8", rtol=1e-12, atol=1e-13)


def bouncing_ball():
    """A ball of 1 kg on a vertical guide, with a force on it."""
    ball = carom.Mechanism([carom.Link(carom.PointMass(1.0), name="ball", joint=carom.Slider((0.0, 1.0)))])
    floor = carom.Contact("ball.tip", carom.Plane(0.0), carom.Newton(E), name="floor")
    return carom.World(ball, contacts=floor, gravity=G)


def hopper():
    """A body on a vertical guide, and a leg that slides in it on a spring and strikes without rebound."""
    body = carom.Link(carom.PointMass(4.0), name="body", joint=carom.Slider((0.0, 1.0)))
    leg = carom.Slider((0.0, -1.0), stiffness=400.0, damping=2.0, effort_limit=150.0)
    shin = carom.Link(carom.PointMass(0.5), name="leg", parent="body", at=(0.0, -0.5), joint=leg)
    robot = carom.Mechanism([body, shin])
    foot = carom.Contact("leg.tip", carom.Plane(0.0), carom.Newton(0.0), name="foot")
    return carom.World(robot, contacts=foot, gravity=G)


def differences(stepping, carry, u, size=1e-6):
    """A and B by central differences of whole steps."""
    x = stepping.x(carry)
    both = np.concatenate([x, u])

    def after(at):
        return stepping.x(stepping.step(stepping.at(carry, at[: len(x)]), at[len(x) :]))

    columns = [(after(both + d) - after(both - d)) / (2 * size) for d in size * np.eye(len(both))]
    found = np.stack(columns, axis=1)
    return found[:, : len(x)], found[:, len(x) :]


def test_a_bounce_puts_its_saltation_into_a_and_b():
    world, dt, u = bouncing_ball(), 0.1, 1.5
    stepping = carom.Stepping(world, "ball", dt, settings=FINEST)
    after, a, b = stepping.linear(stepping.begin(world.state(slides=[0.02])), [u])

    def closed(p):
        y, v, u = p
        pull = G - u
        t = (v + jax.numpy.sqrt(v * v + 2 * pull * y)) / pull
        up, rest = E * (pull * t - v), dt - t
        return jax.numpy.stack([up * rest - pull * rest**2 / 2, up - pull * rest])

    at = np.array([0.02, 0.0, u])
    exact = np.asarray(jax.jacfwd(closed)(at))
    assert int(after.events) == 1
    np.testing.assert_allclose(stepping.x(after), closed(at), atol=1e-11)
    np.testing.assert_allclose(a, exact[:, :2], rtol=1e-8)
    np.testing.assert_allclose(b, exact[:, 2:], rtol=1e-8)


@pytest.mark.parametrize(("slides", "u", "events"), [((0.53, 0.0), 30.0, "strike"), ((0.51, 0.0), -130.0, "release")])
def test_a_foot_that_strikes_or_leaves_has_the_derivatives_that_differences_have(slides, u, events):
    world = hopper()
    stepping = carom.Stepping(world, "leg", 0.05, settings=FINEST)
    begun = stepping.begin(world.state(slides=list(slides), slide_rates=[-0.4, 0.0]))
    carry = begun if events == "strike" else stepping.step(begun, [100.0])
    after, a, b = stepping.linear(carry, [u])
    assert int(after.events) > int(carry.events)
    there, here = differences(stepping, carry, np.array([u]))
    np.testing.assert_allclose(a, there, atol=2e-5)
    np.testing.assert_allclose(b, here, atol=2e-5)


@pytest.fixture(scope="module")
def hops():
    world = hopper()
    stepping = carom.Stepping(world, "leg", 0.05)
    u = 60.0 + 100.0 * np.sin(np.arange(12.0))[:, None]
    return stepping, stepping.begin(world.state(slides=[0.6, 0.0])), u


def test_a_rollout_is_its_steps_one_after_the_other(hops):
    stepping, carry, u = hops
    rolled = stepping.rollout(carry, u)
    a, b = stepping.linear_along(rolled)
    assert rolled.outcome == outcome.FINISHED and rolled.events[-1] >= 2
    np.testing.assert_allclose(rolled.t, 0.05 * np.arange(13), atol=1e-15)
    np.testing.assert_array_equal(rolled.u, np.clip(u, -150.0, 150.0))
    for k in range(12):
        np.testing.assert_array_equal(stepping.x(carry), rolled.x[k])
        carry, one_a, one_b = stepping.linear(carry, rolled.u[k])
        np.testing.assert_allclose(a[k], one_a, atol=1e-12)
        np.testing.assert_allclose(b[k], one_b, atol=1e-12)


def test_gains_act_about_the_states_that_they_are_given(hops):
    stepping, carry, u = hops
    plan = stepping.rollout(carry, u)
    gains = np.tile([[-200.0, 0.0, -30.0, 0.0]], (12, 1, 1))
    np.testing.assert_array_equal(stepping.rollout(carry, plan.u, gains, plan.x).x, plan.x)
    moved = stepping.at(carry, stepping.x(carry) + np.array([0.01, 0.01, 0.0, 0.0]))
    found = stepping.rollout(moved, u, gains, plan.x)
    asked = u[:, 0] + np.einsum("ki,ki->k", gains[:, 0], found.x[:-1] - plan.x[:-1])
    np.testing.assert_allclose(found.u[:, 0], np.clip(asked, -150.0, 150.0), atol=1e-9)


def test_a_step_is_the_run_of_the_same_world_with_that_force():
    world, dt = bouncing_ball(), 0.2
    stepping = carom.Stepping(world, dt=dt, settings=FINEST)
    forced = carom.World(
        world.mechanism,
        contacts=carom.Contact("ball.tip", carom.Plane(0.0), carom.Newton(E), name="floor"),
        control=carom.TorqueFunction(world.mechanism, lambda t, state, phase: {"ball": 2.0}),
        gravity=G,
    )
    start = world.state(slides=[0.3], slide_rates=[-1.0])
    rolled = stepping.rollout(stepping.begin(start), np.full((5, 1), 2.0))
    run = carom.simulate(forced, start, until=1.0, settings=FINEST)
    np.testing.assert_allclose(rolled.x[-1], [run.q[-1][0], run.v[-1][0]], atol=1e-9)
    assert rolled.events[-1] == len(run.events)


def test_a_run_that_cannot_go_on_keeps_its_outcome():
    world = bouncing_ball()
    stepping = carom.Stepping(world, "ball", 0.1)
    begun = stepping.begin(world.state(slides=[0.3]))
    lost = begun._replace(outcome=np.asarray(outcome.NO_MOTION))
    assert int(stepping.step(lost, [0.0]).outcome) == outcome.NO_MOTION


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"joints": "bal", "dt": 0.1}, "ball"),
        ({"joints": ("ball", "ball"), "dt": 0.1}, "joints of Stepping"),
        ({"joints": "ball", "dt": 0.0}, "dt"),
        ({"joints": 3, "dt": 0.1}, "joints of Stepping is 3; it must be a name, or a list of names"),
        ({"joints": "ball", "dt": 0.1, "settings": 3}, "settings of Stepping are a int"),
    ],
)
def test_bad_input_gets_a_sentence(given, words):
    with pytest.raises(carom.CaromError, match=words):
        carom.Stepping(bouncing_ball(), **given)


def test_a_free_base_has_no_joint_and_wrong_sizes_are_refused():
    disk = carom.World(carom.Mechanism([carom.Link(carom.Disk(0.1, 1.0), name="disk")], base=carom.Free()))
    with pytest.raises(carom.CaromError, match="first link of a free base"):
        carom.Stepping(disk, "disk", 0.1)
    stepping = carom.Stepping(bouncing_ball(), "ball", 0.1)
    carry = stepping.begin(bouncing_ball().state(slides=[0.3]))
    with pytest.raises(carom.CaromError, match="u of Stepping"):
        stepping.step(carry, [1.0, 2.0])
    with pytest.raises(carom.CaromError, match=r"u of rollout has shape \(3,\); it must have shape \(N, 1\)"):
        stepping.rollout(carry, [1.0, 2.0, 3.0])
    with pytest.raises(carom.CaromError, match="starts inside a surface"):
        stepping.begin(bouncing_ball().state(slides=[-0.3]))


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (3, "limits of rollout are 3; give the least and the largest"),
        ((1.0, -1.0), "limits of rollout leave 'ball' inputs from 1 to -1; the smaller one comes first"),
        (([[0.0], [0.0]], [[1.0], [np.nan]]), "the largest inputs in limits of rollout are .*; none may be nan"),
        ((0.0, [1.0, 2.0, 3.0]), "give one number for each of ball"),
    ],
)
def test_limits_of_a_rollout_that_leave_nothing_are_refused(limits, words):
    stepping = carom.Stepping(bouncing_ball(), "ball", 0.1)
    carry = stepping.begin(bouncing_ball().state(slides=[0.3]))
    with pytest.raises(carom.CaromError, match=words):
        stepping.rollout(carry, [[5.0], [5.0]], limits=limits)


def test_limits_of_a_rollout_cut_every_step_by_its_own():
    stepping = carom.Stepping(bouncing_ball(), "ball", 0.1)
    carry = stepping.begin(bouncing_ball().state(slides=[0.3]))
    rolled = stepping.rollout(carry, [[5.0], [5.0]], limits=([[0.0], [0.0]], [[1.0], [2.0]]))
    assert rolled.u.tolist() == [[1.0], [2.0]]
    with pytest.raises(carom.CaromError, match="carry of rollout is a State; begin with"):
        stepping.rollout(bouncing_ball().state(), [[5.0]])
