"""Impulsive laws are what they state: `end` of one contact, `together` of several; Stronge's law for several."""

from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.impact import AbstractImpactLaw, RigidContact, RigidContacts
from carom.contact.impact._impulses import impulses_of
from carom.contact.impact._path import straight
from carom.hybrid._run import compiler_options

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
FLOOR = carom.Plane(height=0.0)
COUNT, DRAWS = 3, 400


class Soft(AbstractImpactLaw):
    """Leaves at a quarter of the approach speed, whatever it was asked for."""

    def end(self, path, restitution):
        return path.impulse(-0.25 * path.approach)

    @property
    def asked(self):
        return 0.8


class Shared(Soft):
    together = "newton"


class Lively(Soft):
    """Gives back twice what came."""

    def end(self, path, restitution):
        return path.impulse(-2.0 * path.approach)


def contact(law: Any, friction: Any = None, name: str = "foot") -> Any:
    return RigidContact(BALL.tip, FLOOR, law, friction, name=name)


def alone(law: Any, friction: Any = None) -> float:
    """Velocity after a blow on one contact with w = 2 that comes with 3 m/s."""
    rows = 1 if friction is None else 2
    w = [[jnp.asarray(2.0 if i == j else 0.0) for j in range(rows)] for i in range(rows)]
    speed = [jnp.asarray(-3.0), jnp.asarray(0.5)][:rows]
    on, asked = [jnp.asarray(True)], [jnp.asarray(law.asked)]
    (p, *_), _ = impulses_of((contact(law, friction),), w, speed, on, asked)
    return float(-3.0 + 2.0 * p)


@pytest.mark.parametrize("friction", (None, carom.Coulomb(1e-4)))
def test_a_law_of_ones_own_ends_its_blow_with_friction_or_without(friction):
    assert alone(Soft(), friction) == pytest.approx(0.75, rel=1e-12)
    assert alone(carom.Stronge(0.8), None) == pytest.approx(2.4, rel=1e-12)


def test_several_contacts_need_a_law_that_says_how_they_share_a_blow():
    with pytest.raises(carom.CaromError, match=r"contact 'a' is Soft, which is defined for one contact; there are 2"):
        RigidContacts(contact(Soft(), name="a"), contact(Soft(), name="b"))
    with pytest.raises(carom.CaromError, match=r"is Soft, whose end is stated along the path; use 'path', or Poisson"):
        RigidContacts(contact(Soft(), carom.Coulomb(0.1)), friction_rule="end velocity")
    RigidContacts(contact(Shared(), name="a"), contact(carom.Newton(0.5), name="b"), contact(0.0, name="c"))
    with pytest.raises(carom.CaromError, match=r"mix the laws Poisson and Shared; .* need one law"):
        RigidContacts(contact(Shared(), name="a"), contact(carom.Poisson(0.5), name="b"))


def test_a_law_of_ones_own_shares_a_blow_by_the_rule_that_it_states():
    """A ball that rebounds from one contact and brings the other one in, by Newton's rule for both."""
    both = (contact(Shared(), name="a"), contact(carom.Newton(0.5), name="b"))
    w, u = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([-3.0, -1.0])
    rows = [[jnp.asarray(x) for x in row] for row in w]
    asked = [jnp.asarray(c.law.asked) for c in both]
    p, found = impulses_of(both, rows, [jnp.asarray(x) for x in u], [jnp.asarray(True)] * 2, asked)
    assert found
    np.testing.assert_allclose(u + w @ np.asarray(p), [0.8 * 3.0, 0.5 * 1.0], rtol=1e-12)


def test_a_blow_that_creates_energy_is_not_blamed_on_newton():
    world = carom.World(BALL, contacts=carom.Contact(BALL.tip, FLOOR, Lively(), radius=0.1, name="foot"))
    with pytest.warns(carom.CaromWarning, match=r"created .* J \(1 such blows\); no blow should; check where its law"):
        carom.simulate(world, world.state(base=(0.0, 0.2)), until=0.2)


# -- Stronge's law for several contacts --------------------------------------------------------------------------------


def drawn(coupled: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inverse inertia, velocities of contacts of which none recedes and some rest, and one restitution."""
    rng = np.random.default_rng(17)
    rows = rng.normal(size=(DRAWS, COUNT, 5))
    w = rows @ np.swapaxes(rows, 1, 2)
    u = -rng.exponential(size=(DRAWS, COUNT)) * rng.choice([0.0, 1.0, 1.0], size=(DRAWS, COUNT))
    u[:, 0] = -rng.exponential(size=DRAWS)
    return (w if coupled else w * np.eye(COUNT)), u, rng.choice([0.0, 0.3, 0.8, 1.0], size=DRAWS)


def struck(w: np.ndarray, u: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Impulses by carom's own path from contacts to a blow."""

    def one(w: Any, u: Any, e: Any) -> Any:
        contacts = tuple(contact(carom.Stronge(e), name=f"foot {i}") for i in range(COUNT))
        asked = [jnp.where(u[i] < 0.0, e, 0.0) for i in range(COUNT)]  # what rests asks for nothing
        on = [jnp.asarray(True)] * COUNT
        p, found = impulses_of(RigidContacts(*contacts).contacts, [list(row) for row in w], list(u), on, asked)
        return jnp.stack(p), found

    # One after the other, as in a run: side by side, the loops of all blows would last as long as the longest.
    whole = jax.jit(lambda *data: jax.lax.map(lambda x: one(*x), data), compiler_options=compiler_options())
    p, found = whole(jnp.asarray(w), jnp.asarray(u), jnp.asarray(e))
    assert np.all(found)
    return np.asarray(p)


def compressed(w: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Impulses of compression: of all sets of contacts that push, the one that fits."""
    for size in range(COUNT + 1):
        for chosen in map(list, combinations(range(COUNT), size)):
            p = np.zeros(COUNT)
            p[chosen] = np.linalg.solve(w[np.ix_(chosen, chosen)], -u[chosen])
            if min(p.min(), (u + w @ p).min()) > -1e-12:
                return p
    raise AssertionError("no set fits")


def test_the_energetic_law_holds_at_every_contact_that_shares_a_blow():
    """Work of every normal force in restitution is -e^2 times that in compression, and no energy is created."""
    w, u, e = drawn(coupled=True)
    whole = struck(w, u, e)
    for k in range(DRAWS):
        first = compressed(w[k], u[k])
        second, middle = whole[k] - first, u[k] + w[k] @ first
        after = middle + w[k] @ second
        taken, given = 0.5 * first * (u[k] + middle), 0.5 * second * (middle + after)
        scale = 0.5 * u[k] @ np.linalg.solve(w[k], u[k])
        np.testing.assert_allclose(given, -(e[k] ** 2) * taken, atol=1e-9 * scale, err_msg=f"blow {k}")
        assert np.sum(taken + given) <= 1e-12 * scale and after.min() >= -1e-9 * np.abs(u[k]).max()


def test_without_coupling_each_contact_ends_as_if_it_were_alone():
    w, u, e = drawn(coupled=False)
    inverse = np.diagonal(w, axis1=1, axis2=2)
    alone = jax.vmap(jax.vmap(lambda w, u, e: carom.Stronge(e).end(straight(w, u), e), in_axes=(0, 0, None)))
    np.testing.assert_allclose(struck(w, u, e), np.asarray(alone(inverse, u, e)), rtol=1e-12)


def test_stronges_law_is_refused_where_it_is_not_poissons():
    feet = [contact(carom.Stronge(0.5), name="a"), contact(carom.Stronge(0.4), name="b")]
    with pytest.raises(carom.CaromError, match=r"contact 'a' is 0.5 by Stronge, but .* has 0.4; .* need the same; use"):
        RigidContacts(*feet)
    rough = contact(carom.Stronge(0.5), carom.Coulomb(0.2), name="b")
    with pytest.raises(carom.CaromError, match=r"'a' is Stronge, which is defined for one contact where there is fric"):
        RigidContacts(feet[0], rough)
    with pytest.raises(carom.CaromError, match=r"contact 'a' is 0.5 by Stronge, but .* has 0; .* need the same"):
        RigidContacts(feet[0], contact(carom.Plastic(), name="b"))
    RigidContacts(feet[0], contact(carom.Poisson(0.5), name="b"))
