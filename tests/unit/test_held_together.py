"""What a decision calls resting, the condition that asks for it must not call moving: else the two go on for ever."""

import jax.numpy as jnp
import numpy as np

import carom
from carom.contact import Material

FAR = 1e3  # [m]
STEEL = Material(youngs_modulus=2e11, poisson_ratio=0.3, yield_strength=3e8)


def whirl(p):
    """A leg on a smooth floor, and rods that whirl about its upper end: they lift it and put it down."""
    links = [
        carom.Link(carom.Rod(length=0.5, mass=2.0), name="leg"),
        carom.Link(carom.Rod(length=0.4, mass=1.5), name="arm", parent="leg", at=(0.0, 0.0)),
        carom.Link(carom.Rod(length=0.3, mass=1.0), name="hand", parent="arm"),
        carom.Link(carom.Rod(length=0.3, mass=1.0), name="other", parent="arm", at=(0.0, 0.0)),
    ]
    m = carom.Mechanism(links, base=carom.Free())
    return carom.World(m, contacts=carom.Contact("leg.tip", carom.Plane(height=0.0), carom.Newton(0.3)), gravity=9.81)


def whirling(p):
    rates = p["rate"] * jnp.asarray([0.0, 1.0, -1.0, 2.0])
    return whirl(p).state([-jnp.pi / 2, 0.3, 1.0, -2.0], rates, base=(0.0, 0.5))


def test_what_is_lifted_leaves_at_once():
    """All of these lifted and were put back without end: the decision's rounding was larger than the condition's."""
    ends = carom.batch(whirl, {"rate": np.linspace(8.0, 30.0, 12)}, whirling, until=1.0)
    assert len(ends.finished) == 12


def sled(p):
    """A bar that lies flat on two rough feet; an arm that swings on it drags it to and fro."""
    links = [
        carom.Link(carom.Rod(length=0.4, mass=1.0), name="arm"),
        carom.Link(carom.Rod(length=0.4, mass=1.0), name="bar", parent="arm", sites={"heel": (-0.2, 0.0)}),
    ]
    m = carom.Mechanism(links, base=carom.Free())
    floor = carom.Plane(point=(p["x"], p["y"]), normal=(0.0, 1.0))
    feet = [
        carom.Contact(foot, floor, carom.Plastic(), carom.Coulomb(0.3, 0.4), name=foot) for foot in ("heel", "bar.tip")
    ]
    return carom.World(m, contacts=feet, gravity=9.81)


def sliding(p):
    """The arm's free end is the base; its other end is the joint on the bar."""
    x, y, rate = 0.4 * jnp.cos(1.4), 0.4 * jnp.sin(1.4), p["rate"]
    return sled(p).state(
        [1.4 - jnp.pi, 0.0],
        [rate, 0.0],
        base=jnp.stack([p["x"] + x, p["y"] + y]),
        base_velocity=jnp.stack([-rate * y, rate * x]),
    )


def test_feet_of_one_link_stick_together_wherever_they_are():
    """Where both hold, one was called sliding, which one was rounding's choice; stiction holds more than that."""
    rates = np.linspace(-8.0, 8.0, 150)[22:46]
    p = {"rate": np.tile(rates, 2), "x": np.repeat([0.0, FAR], 24), "y": np.repeat([0.0, FAR], 24)}
    ends = carom.batch(sled, p, sliding, until=2.0)
    here, away = np.asarray(ends.q)[:24], np.asarray(ends.q)[24:] - np.array([FAR, FAR, 0.0, 0.0])
    assert np.max(np.abs(here[:, 0])) > 1e-2  # it slides
    np.testing.assert_allclose(away, here, atol=1e-6)


def dropped(p):
    """A bar that falls flat, nearly, on two ends that yield, far from the world's origin."""
    bar = carom.Link(carom.Rod(length=0.6, mass=1.0), name="bar", sites={"heel": (0.0, 0.0)})
    m = carom.Mechanism([bar], base=carom.Free())
    law = carom.JacksonGreen(STEEL, STEEL, radius=0.01)
    floor = carom.Plane(point=(FAR + 0.0 * p["tilt"], FAR), normal=(0.0, 1.0))
    feet = [carom.Contact(foot, floor, law, name=foot) for foot in ("heel", "bar.tip")]
    return carom.World(m, contacts=feet, gravity=9.81)


def falling(p):
    return dropped(p).state([p["tilt"]], [0.3], base=jnp.stack([FAR + 0.0 * p["tilt"], FAR + 0.1 + p["tilt"]]))


def test_a_dent_is_not_made_and_left_without_end():
    """At the peak d = d_m: whether that is pressed on was decided by a rate of rounding, there and back."""
    ends = carom.batch(dropped, {"tilt": np.linspace(0.01, 0.3, 40)}, falling, until=0.5)
    assert len(ends.finished) == 40


def test_a_dent_is_not_looked_into_without_end():
    """A value that stands still in rounding, with rates that do not, seemed to hide a peak in every step."""
    tilts = np.linspace(0.01, 0.3, 6000)[[1088, 3069, 3070, 3071, 3072]]
    ends = carom.batch(dropped, {"tilt": tilts}, falling, until=0.5)
    assert len(ends.finished) == len(tilts)
