"""Splines that cross themselves have no free side."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.contact.surfaces import _crossing as crossing_module

SPIKE = [(-5, 0), (-1, 0), (-0.1, 0), (-0.05, 0), (0, 1), (0.05, 0), (0.1, 0), (1, 0), (5, 0)]
CROSSING = [  # points, closed, what is said
    (SPIKE, False, r"between points\[3\] and points\[4\], and between points\[4\] and points\[5\]; a curve that"),
    ([(0, 0), (1, 1), (1, 0), (0, 1)], True, r"at \(0.5, 0.5\): between points\[0\] and points\[1\], and between"),
    ([(0, 0), (1, 0), (1, 1), (0.5, -0.5)], False, r"points\[0\] and points\[1\], and between points\[2\] and points"),
    ([(0, 0), (1, 0), (0.5, 0)], False, "crosses itself at"),  # runs back along itself
    (
        [(-1, 1), (-1.1, 0), (0, -1), (1.1, 0), (1, 1)],
        False,
        r"its straight end beyond points\[0\], and in its straight",
    ),
]


@pytest.mark.parametrize(("points", "closed", "said"), CROSSING)
def test_a_spline_that_crosses_itself_is_refused(points, closed, said):
    """A ball struck what was nowhere near the points: between them the curve had swung out and through itself."""
    with pytest.raises(carom.CaromError, match=said):
        carom.Spline(points, closed=closed)


def test_a_long_spline_is_looked_at_in_little_time(monkeypatch):
    """Pairs of chords that are compared grow with the points, not with their square; a duct comes near itself."""
    seen = []
    original = crossing_module._crossed
    monkeypatch.setattr(crossing_module, "_crossed", lambda *a: seen.append(len(a[2])) or original(*a))
    counts = []
    for n in (500, 5000):
        seen.clear()
        x = np.linspace(0.0, 0.01 * n, n)
        both = np.concatenate([np.stack([x, np.sin(x)], 1), np.stack([x[::-1], np.sin(x[::-1]) + 0.05], 1)])
        carom.Spline(both, closed=True)
        counts.append(sum(seen))
    assert counts[1] < 12 * max(counts[0], 100)


def test_traced_points_that_cross_are_left_alone():
    jax.eval_shape(lambda p: carom.Spline(p).gap(0.0, 1.0, 0.0), jnp.asarray(SPIKE, dtype=float))
