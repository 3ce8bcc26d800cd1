"""What holds for every blow on several contacts: energy, answers, mirror images, units, derivatives."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import native
from carom.contact.impact._path import Weights, path

from .random_blows import drawn, each, run, several


@pytest.mark.parametrize("contacts", (2, 3))
@pytest.mark.parametrize("ends", (False, True))
def test_no_blow_on_several_contacts_creates_energy(contacts, ends):
    data, energy = drawn(5, 600, contacts)
    impulses, found = each(ends=ends)(*(jnp.asarray(x) for x in data))
    assert np.mean(found) > 0.995  # rows of few degrees of freedom depend on each other, and some nearly
    found = np.asarray(found)
    w, u, _, _, limit = (x[found] for x in data)
    p, energy = np.asarray(impulses)[found], energy[found]
    gain = np.einsum("ni,ni->n", u, p) + np.einsum("ni,nij,nj->n", p, w, p) / 2
    after = u + np.einsum("nij,nj->ni", w, p)
    scale = energy + np.abs(u * p).sum(axis=1)
    assert np.max(gain / scale) < 1e-12
    assert np.min(after[:, :contacts] / np.abs(u).max(axis=1, keepdims=True)) > -1e-9
    normal, rubbed = p[:, :contacts], p[:, contacts:]
    size = np.abs(p).max(axis=1, keepdims=True)
    assert np.min(normal / size) > -1e-9 and np.max((np.abs(rubbed) - limit * normal) / size) < 1e-8


def test_one_degree_of_freedom_never_gains_and_always_has_an_answer():
    """A pendulum that strikes: u_t = c u_n, so the inverse inertia is singular; wedged, all is lost."""
    rng, n = np.random.default_rng(6), 1000
    rows = rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-3, 4, size=(n, 1))
    v = -np.sign(rows[:, 0]) * rng.exponential(size=n)
    u, w = rows * v[:, None], rows[:, :, None] * rows[:, None, :]
    mu, e = 3 * rng.random(n), rng.random(n)

    @carom.jit
    @native.rows
    def struck(w, u, mu, e):
        way = path(Weights(w[0, 0], w[0, 1], w[1, 1]), u[0], u[1], mu, mu)
        normal = [law(e).end(way, e) for law in (carom.Poisson, carom.Stronge, carom.Newton)]
        return jnp.stack([jnp.stack([p, way.friction(p)]) for p in normal]), way.found

    p, found = (np.asarray(x) for x in struck(w, u, mu, e))
    assert np.all(np.isfinite(p)) and np.all(found)
    after = v[:, None] + np.einsum("ni,nki->nk", rows, p)
    assert np.max(np.abs(after[:, :2] / v[:, None])) <= 1.0
    wedged = np.abs(rows[:, 0] / rows[:, 1]) <= mu
    assert 0.2 < np.mean(wedged) < 0.8
    assert np.max(np.abs(after[wedged] / v[wedged, None])) < 1e-12
    back = -after[~wedged] / v[~wedged, None]
    # It slides back: Stronge in closed form, with slopes 1 +- mu |c| of compression and restitution.
    c = np.abs(rows[~wedged, 1] / rows[~wedged, 0]) * mu[~wedged]
    np.testing.assert_allclose(back[:, 1], e[~wedged] * np.sqrt((1 - c) / (1 + c)), atol=1e-9)
    np.testing.assert_allclose(back[:, 0], e[~wedged] * (1 - c) / (1 + c), atol=1e-9)


def test_a_wedged_contact_that_its_surface_drives_in_has_no_answer():
    """One degree of freedom, a surface that rises: sliding stops while u_n < 0, and no impulse changes anything."""
    way = path(Weights(1.0, 1.0, 1.0), -2.0, -1.0, 1.5, 1.5)
    assert not bool(way.found)
    assert np.isfinite(float(carom.Stronge(0.5).end(way, 0.5)))


def test_a_mirror_image_has_mirrored_impulses():
    data, _ = drawn(7, 200, 2, 4)
    w, u, e, mu, limit = data
    swap = [1, 0, 3, 2]
    sign = np.array([1.0, 1.0, -1.0, -1.0])
    image = (w[:, swap][:, :, swap] * sign[:, None] * sign, u[:, swap] * sign, e[:, ::-1], mu[:, ::-1], limit[:, ::-1])
    p, mirrored = run(data), run(image)
    np.testing.assert_allclose(mirrored[:, swap] * sign, p, rtol=1e-9, atol=1e-9)
    # Blows that are their own images: the halves agree.
    alike = (w + image[0], u + image[1], *((x + x[:, ::-1]) / 2 for x in (e, mu, limit)))
    p = run(alike)
    np.testing.assert_allclose(p[:, swap] * sign, p, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("length, mass", ((1e3, 1e3), (1e3, 1.0), (1e-6, 1e-9)))
def test_units_do_not_matter(length, mass):
    """The same world in grams and millimetres: same decisions, impulses in g mm/s."""
    data, _ = drawn(8, 200, 2)
    w, u, e, mu, limit = data
    p, other = run(data), run((w / mass, u * length, e, mu, limit))
    np.testing.assert_allclose(other / (mass * length), p, rtol=1e-6, atol=1e-9 * np.abs(p).max())


@pytest.mark.slow
def test_derivatives_of_a_course_are_those_of_differences():
    """Forward and backward, through pieces, stops, both phases and what holds the energy back."""
    data, _ = drawn(9, 12, 2, 4)
    w, u, e, mu, limit = (jnp.asarray(x[:6]) for x in data)

    def weighed(x: Any, w: Any, e: Any, mu: Any, limit: Any) -> Any:
        p, _ = several(w, x, e, mu, limit)
        return p @ jnp.arange(1.0, 5.0)

    forward = jax.jit(jax.vmap(jax.jacfwd(weighed)))(u, w, e, mu, limit)
    backward = jax.jit(jax.vmap(jax.grad(weighed)))(u, w, e, mu, limit)
    plain, h = jax.jit(jax.vmap(weighed)), 1e-6
    steps = h * np.eye(4)[:, None, :]
    differences = np.stack(
        [(plain(u + d, w, e, mu, limit) - plain(u - d, w, e, mu, limit)) / (2 * h) for d in steps], axis=1
    )
    np.testing.assert_allclose(backward, forward, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(forward, differences, rtol=1e-5, atol=1e-6)
